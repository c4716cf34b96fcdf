package race_test

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nabla-ad/nabla/internal/race"
	"github.com/nabla-ad/nabla/internal/timing/timingtest"
)

var errBroken = errors.New("broken")

// A car is a candidate with the value 5 and the derivative (4, 13), whose calls advance a clock.
type car struct {
	name      string
	prepares  time.Duration
	takes     func(call int) time.Duration
	spoil     func(call int, d []float64) error // unless nil, changes the derivative
	tolerance float64
	refuses   error
	value     float64 // 0 is 5

	calls int
}

func (c *car) candidate(clock *timingtest.Clock) race.Candidate {
	return race.Candidate{Name: c.name, Tolerance: c.tolerance, Prepare: func() (race.Call, error) {
		clock.Advance(c.prepares)
		return func(y, d []float64) error {
			c.calls++
			if c.takes != nil {
				clock.Advance(c.takes(c.calls))
			}
			y[0], d[0], d[1] = cmp.Or(c.value, 5), 4, 13
			if c.spoil != nil {
				return c.spoil(c.calls, d)
			}
			return nil
		}, c.refuses
	}}
}

// run holds a race with a clock that only the cars advance.
func run(clock *timingtest.Clock, cars ...*car) ([]race.Candidate, []race.Result, []int, error) {
	rules := race.Standard
	rules.Now = clock.Now
	var candidates []race.Candidate
	for _, c := range cars {
		candidates = append(candidates, c.candidate(clock))
	}
	results, ranking, err := rules.Run(candidates, 1, 2)
	return candidates, results, ranking, err
}

func always(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

func off(by float64) func(int, []float64) error {
	return func(_ int, d []float64) error { d[0] *= 1 + by; return nil }
}

// TestHeldUp: a candidate that other load on the machine holds up in its first sample is timed like the others.
func TestHeldUp(t *testing.T) {
	clock := new(timingtest.Clock)
	_, results, ranking, err := run(clock, &car{name: "steady", takes: always(3 * time.Microsecond)},
		&car{name: "held up", takes: func(call int) time.Duration {
			if call == 2 { // after that of the preparation
				return 20 * time.Millisecond
			}
			return 2 * time.Microsecond
		}})
	if err != nil || !slices.Equal(ranking, []int{1, 0}) || results[1].PerCall != 2000 || results[1].Samples != 15 {
		t.Errorf("ranking %v, %+v, %v", ranking, results, err)
	}
}

// TestRun: results, ranking and reasons of candidates that are fast, slow, wrong, or fail at each stage.
func TestRun(t *testing.T) {
	clock := new(timingtest.Clock)
	cars := []*car{
		{name: "slow", takes: always(50 * time.Millisecond), prepares: time.Millisecond},
		{name: "steady", takes: always(3 * time.Microsecond), prepares: 7 * time.Millisecond},
		{name: "wrong", takes: always(time.Nanosecond), spoil: off(1)},
		{name: "fast", takes: always(2 * time.Microsecond)},
		{name: "refuses", refuses: errBroken},
		{name: "fails at once", spoil: func(int, []float64) error { return errBroken }},
		{name: "fails later", spoil: func(call int, _ []float64) error {
			if call > 5 {
				return errBroken
			}
			return nil
		}},
		{name: "wrong later", takes: always(2500 * time.Nanosecond), spoil: func(call int, d []float64) error {
			if call > 100 {
				d[0]++
			}
			return nil
		}},
	}
	candidates, results, ranking, err := run(clock, cars...)
	if err != nil || !slices.Equal(ranking, []int{3, 1, 0}) {
		t.Fatalf("ranking %v, %v", ranking, err)
	}
	for i, want := range map[int]race.Result{
		0: {Prepare: time.Millisecond, PerCall: 50e6, Samples: 1}, // far slower than the fastest
		1: {Prepare: 7 * time.Millisecond, PerCall: 3000, Samples: 15},
		3: {PerCall: 2000, Samples: 15},
	} {
		if results[i] != want {
			t.Errorf("%s: %+v, want %+v", cars[i].name, results[i], want)
		}
	}
	if cars[0].calls != 3 {
		t.Errorf("the slow one was called %d times, want 3", cars[0].calls)
	}
	for i, want := range map[int]struct {
		is  error
		say string
	}{
		2: {race.ErrDisagree, "component 0 is 8, and 4 by slow"},
		4: {errBroken, "broken"},
		5: {errBroken, "broken"},
		6: {errBroken, "broken"},
		7: {race.ErrDisagree, "after many calls at one point component 0 is 5, and 4 in the first call"},
	} {
		r := results[i]
		if !errors.Is(r.Err, want.is) || !strings.Contains(r.Err.Error(), want.say) {
			t.Errorf("%s: %v, want %q", cars[i].name, r.Err, want.say)
		}
		if r.Err = nil; r != (race.Result{}) {
			t.Errorf("%s was rejected and has measurements: %+v", cars[i].name, r)
		}
	}
	all := race.Failures(candidates, results)
	if !errors.Is(all, race.ErrDisagree) || !errors.Is(all, errBroken) ||
		!strings.Contains(all.Error(), "; refuses: broken; fails at once: broken; ") {
		t.Errorf("failures: %v", all)
	}
	if err := race.Failures(candidates[:2], results[:2]); err != nil {
		t.Errorf("failures of those that work: %v", err)
	}
}

// TestNoiseHitsAllAlike slows the machine down while the candidates are timed, with outliers: the faster one is found.
func TestNoiseHitsAllAlike(t *testing.T) {
	clock := new(timingtest.Clock)
	noisy := func(base time.Duration) func(int) time.Duration {
		return func(int) time.Duration {
			d := base
			if clock.Elapsed() > 20*time.Millisecond { // another process woke up
				d *= 3
			}
			if clock.Elapsed()%(7*time.Millisecond) < 100*time.Microsecond {
				d *= 20
			}
			return d
		}
	}
	_, results, ranking, err := run(clock, &car{name: "a", takes: noisy(1200 * time.Nanosecond)},
		&car{name: "b", takes: noisy(1000 * time.Nanosecond)})
	if err != nil || !slices.Equal(ranking, []int{1, 0}) || results[1].Spread <= 0 {
		t.Errorf("%v, %v, %+v", err, ranking, results)
	}
}

// TestRoundsBeginWithAnother: in each round another candidate is timed first.
func TestRoundsBeginWithAnother(t *testing.T) {
	clock := new(timingtest.Clock)
	var order []byte
	named := func(name byte) *car {
		return &car{name: string(name), takes: func(int) time.Duration {
			order = append(order, name)
			return time.Millisecond // a sample is a call
		}}
	}
	if _, _, _, err := run(clock, named('a'), named('b'), named('c')); err != nil {
		t.Fatal(err)
	}
	// The call after the preparation, the first sample, then 15 rounds.
	want := "abc" + "abc" + strings.Repeat("abcbcacab", 5)
	if string(order) != want {
		t.Errorf("called in the order %s, want %s", order, want)
	}
}

// TestSamplesOfLongCalls: if a call takes long, there are fewer samples, of one call each.
func TestSamplesOfLongCalls(t *testing.T) {
	for _, c := range []struct {
		takes          time.Duration
		calls, samples int
	}{
		{time.Second, 5, 3},
		{50 * time.Millisecond, 6, 4},
		{13 * time.Millisecond, 17, 15},
		{time.Millisecond, 17, 15},
	} {
		slow := &car{takes: always(c.takes)}
		_, results, _, err := run(new(timingtest.Clock), slow)
		if err != nil || slow.calls != c.calls || results[0].Samples != c.samples ||
			results[0].PerCall != float64(c.takes) {
			t.Errorf("%v: %d calls, %+v, %v", c.takes, slow.calls, results[0], err)
		}
	}
	standing := new(car) // no time passes: the loop has a limit
	if _, results, _, err := run(new(timingtest.Clock), standing); err != nil || results[0].PerCall != 0 ||
		standing.calls > 20*race.Standard.LargestLoop {
		t.Errorf("%d calls, %+v, %v", standing.calls, results[0], err)
	}
}

// TestMajority: which candidates are rejected, and when there is no majority.
func TestMajority(t *testing.T) {
	right, wrong := car{name: "right"}, car{name: "wrong", spoil: off(1)}
	by := func(by, tolerance float64) car { return car{name: "off", spoil: off(by), tolerance: tolerance} }
	nan := car{name: "nan", spoil: off(math.NaN())}
	inf := car{name: "inf", spoil: off(math.Inf(1))}
	partial := car{name: "partial", spoil: func(_ int, d []float64) error { d[1] = math.NaN(); return nil }}
	for _, c := range []struct {
		title    string
		cars     []car
		rejected string // names, "draw" where there is no majority
	}{
		{"no candidates", nil, ""},
		{"one alone", []car{wrong}, ""},
		{"one against one", []car{right, wrong}, "draw"},
		{"two against one", []car{wrong, right, right}, "wrong"},
		{"two that are wrong alike", []car{wrong, right, wrong}, "right"},
		{"within rounding", []car{right, by(1e-12, 0)}, ""},
		{"at the tolerance of exact ones", []car{right, by(0.9e-8, 0)}, ""},
		{"beyond the tolerance of exact ones", []car{right, right, by(1.1e-8, 0)}, "off"},
		{"within the tolerance of an approximation", []car{right, right, by(1e-4, 1e-3)}, ""},
		{"beyond it", []car{right, right, by(1e-2, 1e-3)}, "off"},
		{"an approximation decides between two", []car{by(1e-2, 0), right, by(1e-4, 1e-3)}, "off"},
		{"another value", []car{right, right, {name: "value", value: 5 + 1e-7}}, "value"},
		{"another small value", []car{{value: 1e-12}, {value: 1e-12}, {name: "value", value: 2e-12}}, "value"},
		{"NaN", []car{right, right, nan}, "nan"},
		{"NaN agrees with itself", []car{nan, nan}, ""},
		{"an infinity", []car{right, right, inf}, "inf"},
		{"an infinity agrees with itself", []car{inf, inf}, ""},
		{"a second element", []car{right, partial, right}, "partial"},
	} {
		var cars []*car
		for _, p := range c.cars { // copies: a candidate may be in the list twice
			cars = append(cars, &p)
		}
		_, results, ranking, err := run(new(timingtest.Clock), cars...)
		var rejected []string
		for i, r := range results {
			if r.Err != nil {
				rejected = append(rejected, cars[i].name)
			}
		}
		if c.rejected == "draw" {
			if !errors.Is(err, race.ErrDisagree) || len(ranking) > 0 || len(rejected) != len(cars) {
				t.Errorf("%s: rejected %q, ranking %v, %v", c.title, rejected, ranking, err)
			}
			continue
		}
		if err != nil || strings.Join(rejected, " ") != c.rejected || len(ranking)+len(rejected) != len(cars) {
			t.Errorf("%s: rejected %q, ranking %v, %v", c.title, rejected, ranking, err)
		}
	}
}

// TestDifference: the reference is the first of the most accurate candidates.
func TestDifference(t *testing.T) {
	_, results, _, err := run(new(timingtest.Clock), &car{name: "a", spoil: off(1e-4), tolerance: 1e-3},
		&car{name: "b"}, &car{name: "c", spoil: off(1e-9)})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{4e-4 / 13, 0, 4e-9 / 13} {
		if got := results[i].Difference; math.Abs(got-want) > 1e-6*want {
			t.Errorf("candidate %d: %v, want %v", i, got, want)
		}
	}
}
