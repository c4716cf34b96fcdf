package lower_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"github.com/nabla-ad/nabla/gen/internal/randprog"
	"github.com/nabla-ad/nabla/internal/dependent"
	"github.com/nabla-ad/nabla/internal/longtest"
)

var (
	programs = flag.Int("programs", 0,
		"how many random functions are lowered; 0 is as many as the length of the tests asks for")
	firstSeed = flag.Uint64("seed", 1, "of the first random function")
)

// randomMain is a program that calls random functions and prints their outcomes.
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

// outcome is the result of a call: results, modified arguments, or a panic.
type outcome struct {
	Panic  string
	Floats []uint64
	Ints   []int
}

// is reports whether an outcome is that of the evaluator, bit for bit.
func (w outcome) is(o *randprog.Outcome) bool {
	got := outcome{Panic: o.Panic, Ints: o.Ints}
	for _, x := range o.Floats {
		if x != x {
			x = math.NaN()
		}
		got.Floats = append(got.Floats, math.Float64bits(x))
	}
	return reflect.DeepEqual(got, w)
}

// TestRandom runs random functions as Go and as intermediate form.
func TestRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a package")
	}
	opts := randprog.Options{Exact: true, Panics: true}
	var list []*randprog.Program
	for i := range longtest.Cases(*programs, 60, 60, 200) {
		opts.Containers = i%3 == 2
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
			if !w.is(o) {
				t.Fatalf("seed %d, input %d: got %v, want %v\n%s\n%s", list[i].Seed, k, o, w, c.Source(), c.F)
			}
		}
	}
	t.Logf("%d functions, %d runs, %d panics, on %s", len(list), runs, panics, runtime.GOARCH)
}

// compiled returns the outcomes of the programs when they are compiled by Go.
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
	files := map[string]string{
		"go.mod": "module rnd\n\ngo 1.26\n", "calls.go": randprog.Calls(list), "run_test.go": randomMain,
		"in.json": string(text),
	}
	for i, src := range randprog.Batch(list) {
		files[fmt.Sprintf("rnd%d.go", i)] = src
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "test", "-vet=off", "-count=1", "-ldflags=-w", "-trimpath", ".")
	cmd.Dir, cmd.Env = dir, dependent.Environ()
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

// TestOldLoops requires that some random program fails if the loops of old files get a variable for each iteration.
func TestOldLoops(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a package")
	}
	for seed := *firstSeed; seed < *firstSeed+1000; seed++ {
		p := randprog.New(seed, randprog.Options{Exact: true, Panics: true})
		if !p.Old {
			continue
		}
		mistaken := *p
		mistaken.Old = false
		list := []*randprog.Program{p, &mistaken}
		cases, err := randprog.Load(list, 5)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 5 {
			got, err := cases[0].Run(k)
			if err != nil {
				t.Fatal(err)
			}
			wrong, err := cases[1].Run(k)
			if err == nil && reflect.DeepEqual(got, wrong) {
				continue
			}
			want := compiled(t, list[:1], cases[:1])[0][k]
			if !want.is(got) || err == nil && want.is(wrong) {
				t.Fatalf("seed %d, input %d: %v for Go 1.21, %v otherwise, want %v and something else\n%s", seed, k,
					got, wrong, want, p.Source())
			}
			t.Logf("found by seed %d", seed)
			return
		}
	}
	t.Error("no program of 1000 fails")
}
