package flatten_test

import (
	"errors"
	"go/types"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/flatten"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/problems"
)

// reached are f and the functions that it calls.
func reached(f *ir.Func) []*ir.Func {
	list := []*ir.Func{f}
	for i := 0; i < len(list); i++ {
		ir.Walk(list[i].Body, func(s ir.Stmt) bool {
			if c, ok := s.(*ir.Call); ok && c.Callee.Func != nil && !slices.Contains(list, c.Callee.Func) {
				list = append(list, c.Callee.Func)
			}
			return true
		})
	}
	return list
}

// outcome is what a function gives and leaves in its arguments, or how it panics.
func outcome(t *testing.T, f *ir.Func, args []any) string {
	t.Helper()
	for i, a := range args {
		if x, ok := a.([]float64); ok {
			args[i] = slices.Clone(x)
		}
	}
	values := ir.ValuesOf(args...)
	m := ir.Machine{Steps: 300_000, Rules: map[string]func([]ir.Value) []ir.Value{
		"math.Lgamma": func(args []ir.Value) []ir.Value {
			v, sign := math.Lgamma(ir.As[float64](args[0]))
			return ir.ValuesOf(v, sign)
		},
	}}
	results, err := m.Eval(f, values)
	var b strings.Builder
	var limit *ir.LimitError
	if errors.As(err, &limit) { // after a number of steps that differs
		return "limit"
	}
	if err != nil {
		b.WriteString(err.Error())
	}
	for i, v := range results {
		b.WriteString(v.Text(f.Results[i].Type) + "\n")
	}
	for i, v := range values {
		b.WriteString(v.Text(f.Params[i].Type) + "\n")
	}
	return b.String()
}

// check compares a function with its flat form and gives that.
func check(t *testing.T, f *ir.Func, args ...any) *ir.Func {
	t.Helper()
	before := f.String()
	g := flatten.New().Of(f)
	for _, h := range reached(g) {
		if err := ir.Check(h); err != nil {
			t.Fatalf("%v\n%v", err, h)
		}
	}
	if f.String() != before {
		t.Fatalf("%s was changed", f.Name)
	}
	if got, want := outcome(t, g, args), outcome(t, f, args); got != want {
		t.Errorf("%s gives %s, want %s\n%v", f.Name, got, want, g)
	}
	return g
}

func load(t *testing.T, pattern string) (p *lower.Program, all []*types.Func) {
	t.Helper()
	pkgs, err := lower.Load(".", []string{pattern}, lower.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	scope := pkgs[0].Types.Scope()
	for _, name := range scope.Names() {
		if fn, ok := scope.Lookup(name).(*types.Func); ok && fn.Signature().TypeParams().Len() == 0 {
			all = append(all, fn)
		}
	}
	return lower.New(pkgs, lower.Options{}), all
}

// TestFuncs: the functions that other stages are tested with.
func TestFuncs(t *testing.T) {
	for _, dir := range []string{"tangent", "print"} {
		p, all := load(t, "../"+dir+"/testdata/funcs")
		r := rand.New(rand.NewPCG(1, 2))
		for _, fn := range all {
			f, err := p.Func(fn)
			if err != nil {
				continue // refused
			}
		calls:
			for range 8 {
				var args []any
				for _, v := range f.Params {
					switch v.Type.String() {
					case "float64":
						args = append(args, r.NormFloat64()*2)
					case "float32":
						args = append(args, float32(r.NormFloat64()))
					case "int":
						args = append(args, r.IntN(7)-1)
					case "[]float64":
						x := make([]float64, 6)
						for i := range x {
							x[i] = r.NormFloat64() + 1
						}
						args = append(args, x)
					default:
						break calls
					}
				}
				check(t, f, args...)
			}
		}
	}
}

func TestProblems(t *testing.T) {
	const path = "github.com/nabla-ad/nabla/problems"
	p, _ := load(t, path)
	r := rand.New(rand.NewPCG(3, 4))
	draw := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = 2*r.Float64() - 1
		}
		return x
	}
	for _, tt := range []struct {
		name string
		args []any
	}{
		{"RosenbrockPlain", []any{draw(20)}},
		{"BrusselatorPlain", []any{make([]float64, 18), draw(18), 3}},
		{"LogPosteriorPlain", []any{draw(2 * (1 + 3 + 6)), &problems.Mixture{D: 3, K: 2, Points: draw(15), Gamma: 1}}},
		{"ReprojectionPlain", []any{make([]float64, 2), draw(15), &problems.Feature{Z: draw(2)}}},
		{"LogisticLossPlain", []any{draw(4), &problems.Regression{X: draw(20), Y: []float64{1, 0, 0, 1, 1}, Cols: 4}}},
		{"LorenzPlain", []any{[]float64{1, 1, 1, 10, 28, 8.0 / 3}}},
		{"RecurrentLossPlain", []any{draw(2*8*3 + 9), &problems.Recurrent{Layers: 2, Bits: 3, State: draw(12), Text: draw(12)}}},
	} {
		f, err := p.Func(p.Lookup(path, tt.name))
		if err != nil {
			t.Fatal(err)
		}
		g := check(t, f, tt.args...)
		if tt.name == "LorenzPlain" {
			if text := g.String(); strings.Contains(text, "call") || strings.Contains(text, "[3]float64") {
				t.Errorf("calls or arrays are left:\n%s", text)
			}
		}
	}
}

// TestForms: what is replaced, and what has to stay.
func TestForms(t *testing.T) {
	const text = `
func half(a [2]float64, h float64) (r [2]float64) exit {
	a[0] = a[0] * h
	r = [2]float64{a[0], a[1] * h}
}

func again(x float64, n int) (r float64) exit {
	r = x
	if n > 0 {
		r = call again(x, n - 1)
	}
}

func swap(x float64, y float64) (r float64, s float64) exit {
	let a [2]float64 = [2]float64{x, y}
	a = [2]float64{a[1], a[0]}
	let b [2]float64
	let c [2]float64 = a
	b = call half(a, 0.5)
	a = b
	for loop, next i int = 1; i > -1; i += -1 {
		let t float64 = a[i]
		a[i] += t * c[1 - i]
	}
	r = a[0] - b[1]
	s = call again(a[1], 3)
}

func kept(x float64, n int) (r float64) exit {
	let a [3]float64
	let b [3]float64 = [3]float64{1: x}
	let c [2]float64 = [2]float64{x, x}
	let p *float64 = &c[1]
	let d [2]float64 = [2]float64{x}
	let e [1][2]float64
	a[n] = x
	*p = 3.0
	e[0] = d
	d[0] = 7.0
	let f [3]float64 = b
	b[1] = 2.0
	let g [3]float64 = f
	if b == g {
		leave exit
	}
	r = a[1] + f[1] * c[1] + e[0][0] + d[0] + b[1]
}

func order(x []float64) (r float64) exit {
	let a [2]float64
	a[0] = x[0]
	let v float64 = a[0]
	x[0] = 5.0
	let w float64 = v
	a[1] = w + x[0]
	for loop, next i int = 0; i < 2; i += 1 {
		if a[i] > 2.0 {
			a[i] = 1.0
		}
		r += a[i] * float64(i)
	}
	let z float64 = 0.0
	for loop1, next1 j int = 0; j < 2; j += 1 {
		let q float64 = z
		z = z + q + a[0]
	}
	let y float64
	y = y + w
	r = r + z + y
}
`
	funcs, err := ir.Parse(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]string{"swap": "[2]", "order": "[2]"}
	args := map[string][]any{"swap": {1.5, -0.25}, "kept": {1.5, 1}, "order": {[]float64{3}}, "half": {[2]float64{3, 4}, 0.25}, "again": {1.0, 2}}
	for _, f := range funcs {
		g := check(t, f, args[f.Name]...)
		if bad := left[f.Name]; bad != "" && strings.Contains(g.String(), bad) {
			t.Errorf("%s is left in\n%v", bad, g)
		}
		if f.Name == "swap" && !strings.Contains(g.String(), "call again") {
			t.Errorf("the recursive function is called no more:\n%v", g)
		}
	}
	check(t, funcs[3], 1.5, 7) // an index out of range
}
