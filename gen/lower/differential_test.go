package lower_test

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"github.com/nabla-ad/nabla/gen/internal/randprog"
)

var (
	programs  = flag.Int("programs", 60, "how many random functions are lowered")
	firstSeed = flag.Uint64("seed", 1, "of the first random function")
)

// randomMain calls random functions and writes what they do.
const randomMain = `package rnd

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"testing"
)

type input struct {
	Mem     []float64
	Windows [][3]int
	Numbers []float64
	N       int
}

type outcome struct {
	Panic  string
	Floats []uint64
	Ints   []int
}

func run(f func(mem, numbers []float64, w [][3]int, n int) ([]float64, []int), in input) (o outcome) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case runtime.Error:
			o = outcome{Panic: "runtime"}
		default:
			o = outcome{Panic: fmt.Sprint(e)}
		}
	}()
	floats, ints := f(in.Mem, in.Numbers, in.Windows, in.N)
	for _, x := range floats {
		if x != x {
			x = math.NaN()
		}
		o.Floats = append(o.Floats, math.Float64bits(x))
	}
	o.Ints = ints
	return o
}

func TestRun(t *testing.T) {
	text, err := os.ReadFile("in.json")
	if err != nil {
		t.Fatal(err)
	}
	var inputs [][]input
	if err := json.Unmarshal(text, &inputs); err != nil {
		t.Fatal(err)
	}
	all := make([][]outcome, len(inputs))
	for i, list := range inputs {
		for _, in := range list {
			all[i] = append(all[i], run(calls[i], in))
		}
	}
	if text, err = json.Marshal(all); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("out.json", text, 0o666); err != nil {
		t.Fatal(err)
	}
}
`

// outcome is what a call gives and leaves.
type outcome struct {
	Panic  string
	Floats []uint64
	Ints   []int
}

// TestRandom runs random functions as Go and as intermediate form.
func TestRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a package")
	}
	opts := randprog.Options{Exact: true, Panics: true}
	var list []*randprog.Program
	for i := range *programs {
		list = append(list, randprog.New(*firstSeed+uint64(i), opts))
	}
	cases, err := randprog.Load(list, 5)
	if err != nil {
		t.Fatal(err)
	}
	want := compiled(t, list, cases)
	panics, runs := 0, 0
	for i, c := range cases {
		verify(t, c.F)
		for k, w := range want[i] {
			runs++
			if w.Panic != "" {
				panics++
			}
			o, err := c.Run(k)
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", list[i].Seed, err, c.Source())
			}
			got := outcome{Panic: o.Panic, Ints: o.Ints}
			for _, x := range o.Floats {
				if x != x {
					x = math.NaN()
				}
				got.Floats = append(got.Floats, math.Float64bits(x))
			}
			if !reflect.DeepEqual(got, w) {
				t.Fatalf("seed %d, input %d: got %v, want %v\n%s\n%s", list[i].Seed, k, got, w, c.Source(), c.F)
			}
		}
	}
	t.Logf("%d functions, %d runs, %d panics, on %s", *programs, runs, panics, runtime.GOARCH)
}

// compiled is what the programs do when they are compiled.
func compiled(t *testing.T, list []*randprog.Program, cases []*randprog.Case) (out [][]outcome) {
	t.Helper()
	var inputs [][]*randprog.Input
	for _, c := range cases {
		inputs = append(inputs, c.Inputs)
	}
	text, err := json.Marshal(inputs)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module rnd\n\ngo 1.26\n", "rnd.go": randprog.Batch(list), "calls.go": randprog.Calls(list),
		"run_test.go": randomMain, "in.json": string(text),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "test", "-vet=off", "-count=1", ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out[:min(len(out), 4000)])
	}
	text, err = os.ReadFile(filepath.Join(dir, "out.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
