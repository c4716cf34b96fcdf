package gen_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/internal/randprog"
	"github.com/nabla-ad/nabla/internal/longtest"
)

var (
	programs = flag.Int("programs", 0,
		"random programs of TestRandomEngines; 0 is as many as the length of the tests asks for")
	seed = flag.Uint64("seed", 0, "the first seed of TestRandomEngines")
)

// batch is the number of random programs that are compiled together, and longest the length of their source. Beyond it
// most of the time would go into the compilation of a few programs.
const batch, longest = 100, 2000

// TestRandomEngines generates and compiles derivatives of random programs over float64 and compares, at two points,
// gradients, products with the Jacobian and products with the Hessian of all engines and of one of their pairs: source
// engines run the generated code, the others its form over Reals, and reports have finite differences beside them. Many
// programs take
//
//	go test ./gen -run TestRandomEngines -timeout 2h -args -programs 20000 -seed 1
func TestRandomEngines(t *testing.T) {
	if *programs == 0 {
		longtest.Skip(t, "builds programs")
	}
	next := *seed
	for left := longtest.Cases(*programs, 0, 0, 60); left > 0; left -= batch {
		next = randomBatch(t, next, min(batch, left))
	}
}

// randomBatch compares the engines on n programs, whose seeds begin with first, and returns the next seed.
func randomBatch(t *testing.T, first uint64, n int) (next uint64) {
	t.Helper()
	var list []*randprog.Program
	for next = first; len(list) < n; next++ {
		o := randprog.Options{Complex: next%4 == 1, Containers: next%4 == 2, Short: true}
		if p := randprog.New(next, o); len(p.Source()) <= longest {
			list = append(list, p)
		}
	}
	files := map[string]string{"go.mod": "module golden/rnd\n\ngo 1.26\n"}
	for i, text := range randprog.Batch(list) {
		// There are no derivatives in single precision over Reals.
		text = strings.Replace(text, "type small = float32", "type small = float64", 1)
		files[fmt.Sprintf("programs%d.go", i)] = text
	}
	calls, _, _ := strings.Cut(randprog.Calls(list), "var calls = ")
	var table strings.Builder
	for i, p := range list {
		in := p.Input(i % 4)
		calls += wrapper(i, in)
		fmt.Fprintf(&table, "\t{%d, Whole_%d, %#v},\n", p.Seed, i, in.Floats())
	}
	files["calls.go"] = calls
	files["engines_test.go"] = strings.Replace(read(t, "testdata/randomengines_test.txt"), "TABLE\n", table.String(), 1)
	dir := module(t, files)
	if _, err := generate(t, dir, ".").Write(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "test", "-vet=off", "-ldflags=-w", "-gcflags=-N -l -dwarf=false", "-trimpath",
		"-count=1", "-v", ".")
	cmd.Dir, cmd.Env = dir, environ
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("seeds %d to %d: %v\n%s", first, next-1, err, out)
	}
	for line := range strings.Lines(string(out)) {
		if _, counts, ok := strings.Cut(line, "counts: "); ok {
			t.Logf("seeds %d to %d: %s", first, next-1, strings.TrimSpace(counts))
		}
	}
	if err := os.RemoveAll(dir); err != nil { // there may be hundreds
		t.Error(err)
	}
	return next
}

// wrapper returns the source of a function Whole, numbered i, of all numbers of an input: the sum of the outputs of
// program i with weights.
func wrapper(i int, in *randprog.Input) string {
	windows := strings.TrimPrefix(fmt.Sprintf("%#v", in.Windows), "[][3]int")
	return fmt.Sprintf(`//nabla:differentiate
func Whole_%[1]d(x []float64) float64 {
	mem := make([]float64, %[2]d)
	copy(mem, x)
	outputs, _ := Call_%[1]d(mem, x[%[2]d:], [][3]int%[3]s, %[4]d)
	sum := 0.0
	for i, v := range outputs {
		sum += (float64(i%%5) - 1.7) * v
	}
	return sum
}

`, i, len(in.Mem), strings.ReplaceAll(windows, "[3]int", ""), in.N)
}
