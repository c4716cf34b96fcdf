package lower_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/gen/simplify"
)

var (
	programs  = flag.Int("programs", 60, "how many random functions are lowered")
	firstSeed = flag.Uint64("seed", 1, "of the first random function")
)

// P is the struct of random functions.
type P struct {
	A, B float64
	V    [3]float64
	X    []float64
	N    int
}

// randomMain calls random functions and prints what they do.
const randomMain = `package rnd

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"testing"
)

type outcome struct {
	Panic   string
	Numbers []uint64
}

func numbers(fs ...float64) (out []uint64) {
	for _, f := range fs {
		if f != f {
			f = math.NaN()
		}
		out = append(out, math.Float64bits(f))
	}
	return out
}

func run(f func(a, b float64, x, y []float64, n int, p P, q *P) (float64, int, []float64), n int) (o outcome) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case runtime.Error:
			o = outcome{Panic: "runtime"}
		default:
			o = outcome{Panic: fmt.Sprint(e)}
		}
	}()
	x := []float64{0.5, -1.25, 2, 0.75, 1}[:3+n%3]
	y := []float64{-0.5, 0.25, 3, 1}[:4-n%3]
	if n%4 == 3 {
		y = x[1:]
	}
	q := &P{A: 0.5, B: -1, V: [3]float64{1, 2, -0.5}, X: x[:1]}
	r, k, out := f(0.7-float64(n), 0.3*float64(n), x, y, n, P{A: 1.5, B: 0.25, V: [3]float64{0.1, -2, 1}, X: []float64{1}, N: 2}, q)
	o.Numbers = append(o.Numbers, numbers(r)...)
	o.Numbers = append(o.Numbers, uint64(k), uint64(len(out)))
	o.Numbers = append(o.Numbers, numbers(out...)...)
	o.Numbers = append(o.Numbers, numbers(x...)...)
	o.Numbers = append(o.Numbers, numbers(y...)...)
	o.Numbers = append(o.Numbers, numbers(q.A, q.B, q.V[0], q.V[1], q.V[2])...)
	o.Numbers = append(o.Numbers, numbers(q.X...)...)
	o.Numbers = append(o.Numbers, uint64(q.N))
	return o
}

func TestRun(t *testing.T) {
	var all [][]outcome
	for _, f := range functions {
		var os []outcome
		for n := range 5 {
			os = append(os, run(f, n))
		}
		all = append(all, os)
	}
	f, err := os.Create("out.json")
	if err != nil {
		t.Fatal(err)
	}
	json.NewEncoder(f).Encode(all)
	f.Close()
}
`

type outcome struct {
	Panic   string
	Numbers []uint64
}

// TestRandom runs random functions as Go and as intermediate form.
func TestRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a package")
	}
	dir := t.TempDir()
	var src, table strings.Builder
	src.WriteString(randomHead)
	table.WriteString("package rnd\n\nvar functions = []func(a, b float64, x, y []float64, n int, p P, q *P) (float64, int, []float64){\n")
	for i := range *programs {
		name := fmt.Sprintf("F%d", i)
		src.WriteString("\n" + newWriter(*firstSeed+uint64(i)).function(name))
		table.WriteString("\t" + name + ",\n")
	}
	table.WriteString("}\n")
	for name, text := range map[string]string{
		"go.mod": "module rnd\n\ngo 1.26\n", "rnd.go": src.String(), "table.go": table.String(), "run_test.go": randomMain,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "test", "-vet=off", "-count=1", ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out[:min(len(out), 4000)], "")
	}
	var want [][]outcome
	text, err := os.ReadFile(filepath.Join(dir, "out.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	pkgs, err := lower.Load(dir, []string{"."}, lower.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// The evaluator can name everything, so that the standard library is tested too.
	p := lower.New(pkgs, lower.Options{Own: func(string) bool { return true }})
	globals := map[string]ir.Value{"rnd.table": ir.ValueOf([4]float64{0.5, -1, 0.25, 2})}
	panics, runs := 0, 0
	for i := range *programs {
		f, err := p.Func(p.Lookup("rnd", fmt.Sprintf("F%d", i)))
		if err != nil {
			t.Errorf("seed %d: %v", *firstSeed+uint64(i), err)
			continue
		}
		verify(t, f)
		simple, _ := ir.Clone(f, nil)
		simplify.Primal(simple, nil)
		verify(t, simple)
		for n, w := range want[i] {
			runs++
			if w.Panic != "" {
				panics++
			}
			got := evalRandom(f, n, globals)
			a, _ := json.Marshal(w)
			b, _ := json.Marshal(got)
			if !bytes.Equal(a, b) {
				t.Errorf("seed %d, n = %d: got %s, want %s\n%s\n%s", *firstSeed+uint64(i), n, b, a,
					newWriter(*firstSeed+uint64(i)).function("F"), f)
				break
			}
			if got := evalRandom(simple, n, globals); !reflect.DeepEqual(got, w) {
				t.Errorf("seed %d, n = %d, simplified: got %v, want %v\n%s\n%s", *firstSeed+uint64(i), n, got, w, f, simple)
				break
			}
		}
		if t.Failed() {
			break
		}
	}
	t.Logf("%d functions, %d runs, %d panics, on %s", *programs, runs, panics, runtime.GOARCH)
}

func bits(fs ...float64) (out []uint64) {
	for _, f := range fs {
		if f != f {
			f = math.NaN()
		}
		out = append(out, math.Float64bits(f))
	}
	return out
}

// evalRandom is what run in the compiled package does.
func evalRandom(f *ir.Func, n int, globals map[string]ir.Value) (o outcome) {
	x := []float64{0.5, -1.25, 2, 0.75, 1}[:3+n%3]
	y := []float64{-0.5, 0.25, 3, 1}[:4-n%3]
	if n%4 == 3 {
		y = x[1:]
	}
	q := &P{A: 0.5, B: -1, V: [3]float64{1, 2, -0.5}, X: x[:1]}
	args := ir.ValuesOf(0.7-float64(n), 0.3*float64(n), x, y, n, P{A: 1.5, B: 0.25, V: [3]float64{0.1, -2, 1}, X: []float64{1}, N: 2}, q)
	m := ir.Machine{Globals: globals}
	rs, err := m.Eval(f, args)
	var pe *ir.PanicError
	switch {
	case errors.As(err, &pe):
		if pe.Runtime() {
			return outcome{Panic: "runtime"}
		}
		return outcome{Panic: pe.Text}
	case err != nil:
		return outcome{Panic: "error: " + err.Error()}
	}
	out := ir.As[[]float64](rs[2])
	x, y, q = ir.As[[]float64](args[2]), ir.As[[]float64](args[3]), ir.As[*P](args[6])
	o.Numbers = append(o.Numbers, bits(ir.As[float64](rs[0]))...)
	o.Numbers = append(o.Numbers, uint64(ir.As[int](rs[1])), uint64(len(out)))
	o.Numbers = append(o.Numbers, bits(out...)...)
	o.Numbers = append(o.Numbers, bits(x...)...)
	o.Numbers = append(o.Numbers, bits(y...)...)
	o.Numbers = append(o.Numbers, bits(q.A, q.B, q.V[0], q.V[1], q.V[2])...)
	o.Numbers = append(o.Numbers, bits(q.X...)...)
	o.Numbers = append(o.Numbers, uint64(q.N))
	return o
}
