package nabla_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/randfunc"
)

// The hunters are tried on mistakes that are made for them. Each has to be found within
// most programs.
const most = 1000

// hunted is how many of the first n programs show a mistake, and the first seed that does.
func hunted(n int, check func(seed uint64) error) (found int, first uint64) {
	for seed := range uint64(n) {
		if check(seed) != nil {
			if found++; found == 1 {
				first = seed
			}
		}
	}
	return found, first
}

// TestMistakeInCapturesIsFound: functions that capture data are taken for those that do not. Of the
// 1000 programs 79 show that, the first with seed 10.
func TestMistakeInCapturesIsFound(t *testing.T) {
	check := func(seed uint64) error { return checkProgram(fuzzProgram(randomData(seed))) }
	n := longtest.Cases(0, 30, 40, most)
	if found, first := hunted(n, check); found != 0 {
		t.Fatalf("%d of %d programs fail without the mistake, the first with seed %d", found, n, first)
	}
	defer nabla.TrustCapturesForTest()()
	found, first := hunted(n, check)
	t.Logf("%d of %d programs show it, the first with seed %d", found, n, first)
	if found < n/50 {
		t.Errorf("%d of %d programs show that captured data is taken to stay", found, n)
	}
}

// TestMistakeInReplaysIsFound: recordings that a sparse derivative did not make when it was prepared
// are taken to have its pattern. Of the 1000 programs 191 show that, the first with seed 0.
func TestMistakeInReplaysIsFound(t *testing.T) {
	check := func(seed uint64) error {
		r := rand.New(rand.NewPCG(seed, 21))
		data := make([]byte, 10+r.IntN(150))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		return fieldsOf(data, new(sparseCounts))
	}
	n := longtest.Cases(0, 30, 40, most)
	if found, first := hunted(n, check); found != 0 {
		t.Fatalf("%d of %d programs fail without the mistake, the first with seed %d", found, n, first)
	}
	defer nabla.TrustReplaysForTest()()
	found, first := hunted(n, check)
	t.Logf("%d of %d programs show it, the first with seed %d", found, n, first)
	if found < n/50 {
		t.Errorf("%d of %d programs show that other recordings are trusted", found, n)
	}
}

var hunting = regexp.MustCompile(`seed (\d+)`)

// TestMistakeInOwnershipIsFound: operations on numbers do not ask whether another goroutine opened the
// trace. Asking costs a nanosecond or two, a switch would as much, so the mistake is made in
// a copy of the source, for a test binary of its own. Which program is the first to show it
// is a matter of chance, as goroutines meet or do not: in six runs it was that of seed 24 at
// the latest.
func TestMistakeInOwnershipIsFound(t *testing.T) {
	longtest.Skip(t, "it builds a test binary for each mistake")
	for _, m := range []struct{ name, file, function string }{
		{"unary", "real.go", "func Unary("},
		{"binary", "real.go", "func Binary("},
		{"comparison", "guard.go", "func Compare("},
	} {
		t.Run(m.name, func(t *testing.T) {
			slip := mistake{"internal/core/" + m.file, m.function, "t.owner.Load() != goroutine()", "goroutine() == 0"}
			slip.mustBeFound(t, ".", "TestRandomGoroutines")
		})
	}
}

// TestMistakesOnEitherSideAreFound: the tests that compare two ways to the same derivatives find a mistake in each.
func TestMistakesOnEitherSideAreFound(t *testing.T) {
	longtest.Skip(t, "it builds a test binary for each mistake")
	const hyper, taylor, random = "TestHyperDualsOfRandomFunctions", "TestTaylorRandom", "TestRandomFunctions"
	mistakes := []struct {
		name, dir, test string
		mistake
	}{
		{"sum of second derivatives", ".", hyper, mistake{"internal/core/hyper_deferred.go", "addProduct(",
			"f*vb[j] + g*va[j]", "f * vb[j]"}},
		{"hyper-dual numbers", ".", hyper, mistake{"internal/core/hyper.go", "both(", "xy*s+yy*rowB[i]", "xy*s"}},
		{"forward over reverse", ".", hyper, mistake{"program/vjp.go", "func",
			"Run(v.total(plus)), Run(v.total(minus))", "Run(v.total(minus)), Run(v.total(plus))"}},
		{"series", ".", taylor, mistake{"internal/series/arithmetic.go", "add(", "v + sign*y[k]", "v + y[k]"}},
		{"nested duals", ".", taylor, mistake{"internal/core/dual.go", "dualBinary(", "s - tb[k]", "s + tb[k]"}},
		{"symbolic simplification", "program/expression", random, mistake{"program/expression/rules.go", "table",
			`"sub(neg(x), y)", "neg(add(x, y))"`, `"sub(neg(x), y)", "neg(sub(x, y))"`}},
		{"symbolic derivatives", "program/expression", random, mistake{"program/vjp.go", "func",
			"Run(v.total(plus)), Run(v.total(minus))", "Run(v.total(minus)), Run(v.total(plus))"}},
	}
	for _, m := range longtest.Part(mistakes, 1, 4) {
		t.Run(m.name, func(t *testing.T) { m.mustBeFound(t, m.dir, m.test) })
	}
}

// A mistake is a change of a source file: the first old after the text function becomes new.
type mistake struct{ file, function, old, new string }

// mustBeFound fails unless the test of random cases in directory dir fails within most of them with the mistake.
func (m mistake) mustBeFound(t *testing.T, dir, test string) {
	t.Helper()
	path, err := filepath.Abs(filepath.FromSlash(m.file))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(text), m.function)
	if !ok || !strings.Contains(after, m.old) {
		t.Fatalf("%s has no %q after %q", m.file, m.old, m.function)
	}
	mutant := filepath.Join(t.TempDir(), filepath.Base(path))
	text = []byte(before + m.function + strings.Replace(after, m.old, m.new, 1))
	if err := os.WriteFile(mutant, text, 0o666); err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{path: mutant}})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(overlay, list, 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "test", "-overlay", overlay, "-count=1", "-v", "-run", "^"+test+"$", "./"+dir, "-args",
		"-fuzzcases", fmt.Sprint(most))
	cmd.Env = append(os.Environ(), longtest.Variable+"=")
	out, err := cmd.CombinedOutput()
	if m := hunting.FindAllSubmatch(out, -1); err != nil && m != nil {
		t.Logf("seed %s shows it\n%s", m[len(m)-1][1], tail(out))
	} else {
		t.Errorf("no case shows it: %v\n%.2000s", err, out)
	}
}

// tail returns the last lines of out.
func tail(out []byte) []byte { return out[max(0, len(out)-300):] }

// TestRandomGoroutines is TestRandomFunctions of programs with goroutines alone.
func TestRandomGoroutines(t *testing.T) {
	for seed := range longtest.Seeds(20, 30, 700) {
		data := randomData(seed)
		data[0] = data[0]&^(96|24) | 8 // in goroutines, with one output
		if testing.Verbose() {         // a mistake may end the process
			fmt.Println("seed", seed)
		}
		if p, xs, v := fuzzProgram(data); v.goroutines {
			if err := checkProgram(p, xs, v); err != nil {
				t.Fatalf("seed %d: %v\n%s%s", seed, err, p, randfunc.Points(xs))
			}
		}
	}
}
