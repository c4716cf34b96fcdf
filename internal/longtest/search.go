package longtest

import (
	"errors"
	"flag"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"
)

// The flags of all tests that search random cases for mistakes:
//
//	go test . -run TestTaylorRandom -v -timeout 0 -args -fuzzcases 100000 -fuzzfrom 5000
var (
	searchCases = flag.Int("fuzzcases", 0,
		"random cases that a test looks at; 0 is as many as the length of the tests asks for")
	searchFrom = flag.Uint64("fuzzfrom", 0, "the seed of the first random case")
)

// Seeds returns the seeds of random cases: from -fuzzfrom on, -fuzzcases of them or, if that is not given, as many as
// [Cases] says.
func Seeds(few, usual, many int) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		from := *searchFrom
		for i := range uint64(Cases(*searchCases, few, usual, many)) {
			if !yield(from + i) {
				return
			}
		}
	}
}

// ErrRefused is wrapped by the errors of cases that have nothing to compare, such as a function that is not supported.
var ErrRefused = errors.New("refused")

// A Search is a test of random cases. The case of a seed is always the same.
type Search struct {
	// Few, Usual and Many are the numbers of cases in the three lengths of the tests.
	Few, Usual, Many int

	// Check tests the case of a seed and returns the number of comparisons that it made. The error is the first
	// mistake, or wraps ErrRefused. Its text up to the first colon is the kind of the mistake.
	Check func(seed uint64) (compared int, err error)

	// Describe returns a description of the mistake err in the case of a seed, such as the smallest case that shows it.
	// Nil is the error alone.
	Describe func(seed uint64, err error) string
}

// A Tally counts the cases of a search.
type Tally struct {
	Cases, Compared, Differ, Refused int // Compared is the number of comparisons, the others are cases
}

func (c Tally) String() string {
	return fmt.Sprintf("%d functions, %d comparisons, %d differ, %d refused", c.Cases, c.Compared, c.Differ, c.Refused)
}

// Progress and failures of a search are reported this often, and at most for so many kinds.
const (
	reportEvery = 20 * time.Second
	mostKinds   = 5
)

// Run searches the cases of [Seeds]. It reports the first mistake of each kind, of five kinds at most, and logs the
// counts now and then and at the end.
func (s Search) Run(t testing.TB) Tally {
	t.Helper()
	c := Tally{}
	kinds := map[string]int{}
	last := time.Now()
	for seed := range Seeds(s.Few, s.Usual, s.Many) {
		compared, err := s.Check(seed)
		c.Cases++
		c.Compared += compared
		switch {
		case errors.Is(err, ErrRefused):
			c.Refused++
		case err != nil:
			c.Differ++
			kind, _, _ := strings.Cut(err.Error(), ":")
			if kinds[kind]++; kinds[kind] > 1 || len(kinds) > mostKinds {
				t.Fail()
				break
			}
			text := err.Error()
			if s.Describe != nil {
				text = s.Describe(seed, err)
			}
			t.Errorf("seed %d: %s", seed, text)
		}
		if time.Since(last) >= reportEvery {
			t.Log(c)
			last = time.Now()
		}
	}
	for kind, k := range kinds {
		t.Logf("%d × %s", k, kind)
	}
	t.Log(c)
	return c
}
