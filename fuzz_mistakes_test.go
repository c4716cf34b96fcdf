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
	const check = "t.owner.Load() != goroutine()"
	for _, m := range []struct{ name, file, function string }{
		{"unary", "real.go", "func Unary("},
		{"binary", "real.go", "func Binary("},
		{"comparison", "guard.go", "func Compare("},
	} {
		t.Run(m.name, func(t *testing.T) {
			dir := t.TempDir()
			path, err := filepath.Abs(filepath.Join("internal", "core", m.file))
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			before, after, ok := strings.Cut(string(text), m.function)
			if !ok || !strings.Contains(after, check) {
				t.Fatalf("%s has no %s…) that asks %q", m.file, m.function, check)
			}
			mutant := filepath.Join(dir, m.file)
			text = []byte(before + m.function + strings.Replace(after, check, "goroutine() == 0", 1))
			if err := os.WriteFile(mutant, text, 0o666); err != nil {
				t.Fatal(err)
			}
			list, err := json.Marshal(map[string]any{"Replace": map[string]string{path: mutant}})
			if err != nil {
				t.Fatal(err)
			}
			overlay := filepath.Join(dir, "overlay.json")
			if err := os.WriteFile(overlay, list, 0o666); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("go", "test", "-overlay", overlay, "-count=1", "-v", "-run", "^TestRandomGoroutines$",
				".", "-args", "-fuzzcases", fmt.Sprint(most))
			cmd.Env = append(os.Environ(), longtest.Variable+"=")
			out, err := cmd.CombinedOutput()
			if m := hunting.FindAllSubmatch(out, -1); err != nil && m != nil {
				t.Logf("seed %s shows it", m[len(m)-1][1])
			} else {
				t.Errorf("no program shows it: %v\n%.2000s", err, out)
			}
		})
	}
}

// TestRandomGoroutines is TestRandomFunctions of programs with goroutines alone.
func TestRandomGoroutines(t *testing.T) {
	n := uint64(longtest.Cases(*fuzzCases, 20, 30, 700))
	for seed := *fuzzFrom; seed < *fuzzFrom+n; seed++ {
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
