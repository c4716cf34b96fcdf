package lower_test

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/gen/lower/testdata/iterators"
	"github.com/nabla-ad/nabla/internal/loaded"
)

// TestRangeFunc runs loops over functions as Go and as intermediate form.
func TestRangeFunc(t *testing.T) {
	const path = "github.com/nabla-ad/nabla/gen/lower/testdata/iterators"
	p := program(t, path)
	for name, f := range map[string]any{
		"Plain": iterators.Plain, "Breaks": iterators.Breaks, "Returns": iterators.Returns,
		"Condition": iterators.Condition,
		"Labels":    iterators.Labels, "Too": iterators.Too, "Generic": iterators.Generic, "Adapted": iterators.Adapted,
		"Collected": iterators.Collected, "HandedOn": iterators.HandedOn, "Again": iterators.Again,
		"Literals": iterators.Literals,
		"State":    iterators.State, "Assigned": iterators.Assigned, "Methods": iterators.Methods,
		"Dynamic": iterators.Dynamic,
		"Deep":    iterators.Deep, "Declares": iterators.Declares, "PerIteration": iterators.PerIteration,
		"Panics": iterators.Panics, "Order": iterators.Order, "Infinite": iterators.Infinite, "Equal": iterators.Equal,
		"Instances": iterators.Instances, "NestedLeaves": iterators.NestedLeaves,
	} {
		t.Run(name, func(t *testing.T) {
			g, err := p.Func(p.Lookup(path, name))
			if err != nil {
				t.Fatal(err)
			}
			verify(t, g)
			h, _ := ir.Clone(g, nil)
			ir.Normalize(h)
			for _, x := range [][]float64{{1, 0.5, -0.25, 2}, {0.25}, {-0.5, 3, 1, 1, 1.75}, {1.5, 0.5, -3},
				{0.5, 0.25, 0.125, 0.75, -1.5, 0.5}} {
				for n := range 8 {
					want := callOf(f, x, n)
					for _, g := range []*ir.Func{g, h} {
						results, err := ir.Eval(g, ir.ValuesOf(x, n))
						if got := outcomeOf(results, err); got != want {
							t.Fatalf("%v, %d: got %s, want %s\n%s", x, n, got, want, g)
						}
					}
				}
			}
		})
	}
}

const runtimePanic = "panic: of the runtime"

// callOf returns the outcome of a call of a function of a slice and an int as text.
func callOf(f any, x []float64, n int) (out string) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case runtime.Error:
			out = runtimePanic
			if strings.Contains(e.Error(), "range function") {
				out = fmt.Sprint("panic: ", e)
			}
		default:
			out = fmt.Sprint("panic: ", e)
		}
	}()
	for _, v := range reflect.ValueOf(f).Call([]reflect.Value{reflect.ValueOf(append([]float64(nil), x...)),
		reflect.ValueOf(n)}) {
		out += text(v.Interface())
	}
	return out
}

func outcomeOf(results []ir.Value, err error) (out string) {
	if p, ok := err.(*ir.PanicError); ok {
		if p.Runtime() {
			return runtimePanic
		}
		return p.Error()
	}
	if err != nil {
		return err.Error()
	}
	for i, v := range results {
		if i == 0 {
			out += text(ir.As[float64](v))
		} else {
			out += text(ir.As[int](v))
		}
	}
	return out
}

func text(x any) string {
	if f, ok := x.(float64); ok {
		return fmt.Sprintf(" %x", math.Float64bits(f))
	}
	return fmt.Sprint(" ", x)
}

// TestRangeFuncElsewhere checks that a body inlined into a function of another package refers only
// to names that are accessible there.
func TestRangeFuncElsewhere(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module two\n\ngo 1.26\n",
		"mesh/mesh.go": `package mesh

type Mesh struct {
	x []float64
	N int
}

func (m *Mesh) Points(yield func(float64) bool) {
	for _, v := range m.x {
		if !yield(v) {
			return
		}
	}
}

func (m *Mesh) Indices() func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := range m.N {
			if !yield(double(i)) {
				return
			}
		}
	}
}

func double(i int) int { return 2 * i }

func (m *Mesh) Sum() (s float64) {
	for v := range m.Points {
		s += v
	}
	return s
}
`,
		"a.go": `package two

import "two/mesh"

func Hidden(m *mesh.Mesh) (s float64) {
	for v := range m.Points {
		s += v
	}
	return s
}

func Indices(m *mesh.Mesh) (s float64) {
	for i := range m.Indices() {
		s += float64(i)
	}
	return s
}

func Sum(m *mesh.Mesh) float64 { return m.Sum() }
`,
	} {
		write(t, filepath.Join(dir, name), text)
	}
	pkgs, err := lower.Load(dir, []string{"./..."}, lower.LoadOptions{Packages: loaded.Packages})
	if err != nil {
		t.Fatal(err)
	}
	p := lower.New(pkgs, lower.Options{})
	for _, name := range []string{"Hidden", "Indices", "Sum"} {
		f, err := p.Func(p.Lookup("two", name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		verify(t, f)
	}
}
