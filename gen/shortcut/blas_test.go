package shortcut_test

import (
	"fmt"
	"go/types"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/gen/shortcut"
	"github.com/nabla-ad/nabla/gen/tangent"
	"github.com/nabla-ad/nabla/internal/loaded"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// A span is an argument that is a slice of n of the numbers of a case. Other numbers are arguments themselves, in
// order: num.
type span int

type num struct{}

// A blasCase is a method of package blas/gonum with its arguments, whose numbers are spans and nums. The outputs are
// polynomials of degree 4 at most in these.
type blasCase struct {
	name string
	args []any
}

// blasCases returns methods that leave out products with zeros.
func blasCases() (out []blasCase) {
	add := func(name string, args ...any) { out = append(out, blasCase{name, args}) }
	for _, inc := range []int{1, 2} {
		v := span(1 + 2*inc)
		add("Daxpy", 3, num{}, v, inc, v, inc)
		add("Dscal", 3, num{}, v, inc)
		add("Dger", 3, 3, num{}, v, inc, v, inc, span(9), 3)
		for _, t := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			add("Dgbmv", byte(t), 3, 3, 1, 1, num{}, span(9), 3, v, inc, num{}, v, inc)
			for _, ul := range []blas.Uplo{blas.Upper, blas.Lower} {
				for _, d := range []blas.Diag{blas.Unit, blas.NonUnit} {
					add("Dtrmv", byte(ul), byte(t), byte(d), 3, span(9), 3, v, inc)
					add("Dtbmv", byte(ul), byte(t), byte(d), 3, 1, span(6), 2, v, inc)
					add("Dtpmv", byte(ul), byte(t), byte(d), 3, span(6), v, inc)
				}
				add("Dtrsv", byte(ul), byte(t), byte(blas.Unit), 3, span(9), 3, v, inc)
				add("Dtbsv", byte(ul), byte(t), byte(blas.Unit), 3, 1, span(6), 2, v, inc)
				add("Dtpsv", byte(ul), byte(t), byte(blas.Unit), 3, span(6), v, inc)
			}
		}
		for _, ul := range []blas.Uplo{blas.Upper, blas.Lower} {
			add("Dsymv", byte(ul), 3, num{}, span(9), 3, v, inc, num{}, v, inc)
			add("Dsbmv", byte(ul), 3, 1, num{}, span(6), 2, v, inc, num{}, v, inc)
			add("Dspmv", byte(ul), 3, num{}, span(6), v, inc, num{}, v, inc)
			add("Dsyr", byte(ul), 3, num{}, v, inc, span(9), 3)
			add("Dspr", byte(ul), 3, num{}, v, inc, span(6))
			add("Dsyr2", byte(ul), 3, num{}, v, inc, v, inc, span(9), 3)
			add("Dspr2", byte(ul), 3, num{}, v, inc, v, inc, span(6))
		}
	}
	return out
}

// size returns the number of numbers.
func (c *blasCase) size() (n int) {
	for _, a := range c.args {
		switch a := a.(type) {
		case span:
			n += int(a)
		case num:
			n++
		}
	}
	return n
}

// mask returns the parameters that hold numbers, the receiver being the first, and whether each is a number itself.
func (c *blasCase) mask() (mask activity.Mask, single []bool) {
	for i, a := range c.args {
		switch a.(type) {
		case span, num:
			_, is := a.(num)
			mask, single = mask.With(1+i), append(single, is)
		}
	}
	return mask, single
}

// numbers returns the arguments that hold numbers, with the numbers z.
func (c *blasCase) numbers(z []float64) (out []any) {
	for _, a := range c.args {
		switch a := a.(type) {
		case span:
			out = append(out, slices.Clone(z[:a]))
			z = z[a:]
		case num:
			out = append(out, z[0])
			z = z[1:]
		}
	}
	return out
}

// all returns all arguments, with the numbers z.
func (c *blasCase) all(z []float64) []any {
	out, numbers := []any{struct{}{}}, c.numbers(z)
	for _, a := range c.args {
		switch a.(type) {
		case span, num:
			a, numbers = numbers[0], numbers[1:]
		}
		out = append(out, a)
	}
	return out
}

// laned returns the arguments that hold numbers as shadows in lanes: an array for each element of a slice, and a number
// for each lane.
func (c *blasCase) laned(z [3][]float64) (out []any) {
	at := 0
	for _, a := range c.args {
		switch a := a.(type) {
		case span:
			list := make([][3]float64, a)
			for i := range list {
				list[i] = [3]float64{z[0][at+i], z[1][at+i], z[2][at+i]}
			}
			out = append(out, list)
			at += int(a)
		case num:
			out = append(out, z[0][at], z[1][at], z[2][at])
			at++
		}
	}
	return out
}

// memory returns the elements of the slices among values, in lane k if they are laned.
func memory(values []ir.Value, args []any, k int) (out []float64) {
	for i, a := range args {
		switch a.(type) {
		case []float64:
			out = append(out, ir.As[[]float64](values[i])...)
		case [][3]float64:
			for _, v := range ir.As[[][3]float64](values[i]) {
				out = append(out, v[k])
			}
		}
	}
	return out
}

// evalMemory evaluates f and returns the memory of the arguments from number from on as it is afterwards, in a lane if
// they are laned, and the results.
func evalMemory(t *testing.T, f *ir.Func, from, lane int, args []any, more ...ir.Value) (after, results []float64) {
	t.Helper()
	values := ir.ValuesOf(args...)
	out, err := ir.Eval(f, append(values, more...))
	if err != nil {
		t.Fatalf("%v\n%v", err, f)
	}
	for i, r := range f.Results {
		if types.Identical(r.Type, types.Typ[types.Float64]) {
			results = append(results, ir.As[float64](out[i]))
		}
	}
	return memory(values[from:], args[from:], lane), results
}

// plus returns the sum of x and h·v.
func plus(x []float64, h float64, v []float64) []float64 {
	out := slices.Clone(x)
	for i := range out {
		out[i] += h * v[i]
	}
	return out
}

// combine returns the sum of the lists, each times its factor.
func combine(factors []float64, lists ...[]float64) []float64 {
	out := make([]float64, len(lists[0]))
	for k, l := range lists {
		for i := range l {
			out[i] += factors[k] * l[i]
		}
	}
	return out
}

// TestBLAS compares first and second derivatives of methods of BLAS, by their source, at points with many zeros, in one
// and in several directions: tangents with differences, which are exact but for rounding, and the adjoint of the
// tangent with the tangent of the tangent.
func TestBLAS(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks large packages")
	}
	pkgs, err := lower.Load("../..", []string{"gonum.org/v1/gonum/blas/gonum"},
		lower.LoadOptions{Packages: loaded.Once})
	if err != nil {
		t.Fatal(err)
	}
	p := lower.New(pkgs, lower.Options{NoLibrary: true})
	receiver := pkgs[0].Types.Scope().Lookup("Implementation").Type()
	strict := func(string) bool { return true }
	for i, c := range blasCases() {
		if !longtest.Long() && i%8 != 0 {
			continue
		}
		o, _, _ := types.LookupFieldOrMethod(receiver, false, pkgs[0].Types, c.name)
		f, err := p.Func(o.(*types.Func))
		if err != nil {
			t.Fatal(err)
		}
		mask, _ := c.mask()
		g, err := shortcut.New(nil, strict).Complete(f, mask)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		d := newDerivatives(t, &c, f, g, mask, pkgs[0].Types)
		for seed := range uint64(4) {
			d.check(t, rand.New(rand.NewPCG(seed, uint64(i))))
		}
	}
}

// A derivatives holds the derivatives of a case: the tangent and its tangent, both in one direction and in three, and
// the adjoint of the tangent.
type derivatives struct {
	c                       *blasCase
	f, first, second        *ir.Func
	firstLanes, secondLanes *ir.Func
	adjoint                 *adjoint.Adjoint
}

// newDerivatives returns the derivatives of f, whose complete form is g.
func newDerivatives(t *testing.T, c *blasCase, f, g *ir.Func, mask activity.Mask, pkg *types.Package) *derivatives {
	t.Helper()
	d := &derivatives{c: c, f: f}
	build := func(lanes int, f *ir.Func, mask activity.Mask) *ir.Func {
		out, facts, err := tangent.NewLanes(lanes).Build(f, mask)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if facts.Params != mask {
			t.Fatalf("%s: shadows of %v, want %v", c.name, facts.Params, mask)
		}
		return out
	}
	d.first, d.firstLanes = build(1, g, mask), build(3, g, mask)
	both := mask
	for i := len(f.Params); i < len(d.first.Params); i++ {
		both = both.With(i)
	}
	d.second, d.secondLanes = build(1, d.first, both), build(3, d.first, both)
	var err error
	if d.adjoint, err = adjoint.New(pkg, "Work", adjoint.Options{}).Of(d.first, both); err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	return d
}

// check compares the derivatives at a random point.
func (d *derivatives) check(t *testing.T, r *rand.Rand) {
	t.Helper()
	n := d.c.size()
	point := make([]float64, n)
	var dir [3][]float64
	for k := range dir {
		dir[k] = make([]float64, n)
	}
	for i := range n {
		point[i] = []float64{0, 0, 0, 1, -0.75, 1.5}[r.IntN(6)]
		for k := range dir {
			dir[k][i] = float64(r.IntN(9)-4) / 4
		}
	}
	fail := func(what string, got, want []float64) {
		t.Helper()
		for i := range want {
			if !(math.Abs(got[i]-want[i]) <= 1e-9*(1+math.Abs(want[i]))) {
				t.Fatalf("%s at %v, %s: %v, want %v", d.c.name, point, what, got, want)
			}
		}
	}
	at := func(a, b float64, v, w []float64) []float64 {
		out, _ := evalMemory(t, d.f, 0, 0, d.c.all(plus(plus(point, a, v), b, w)))
		return out
	}
	const h = 0.5
	along := func(v []float64) []float64 {
		return combine([]float64{8 / (12 * h), -8 / (12 * h), -1 / (12 * h), 1 / (12 * h)},
			at(h, 0, v, v), at(-h, 0, v, v), at(2*h, 0, v, v), at(-2*h, 0, v, v))
	}
	mixed := func(h float64, v, w []float64) []float64 {
		q := 1 / (4 * h * h)
		return combine([]float64{q, -q, -q, q}, at(h, h, v, w), at(h, -h, v, w), at(-h, h, v, w), at(-h, -h, v, w))
	}
	all := d.c.all(point)
	np := len(all)
	v := dir[0]
	first, _ := evalMemory(t, d.first, np, 0, append(slices.Clone(all), d.c.numbers(v)...))
	fail("tangent", first, along(v))
	for k := range dir {
		got, _ := evalMemory(t, d.firstLanes, np, k, append(slices.Clone(d.c.all(point)), d.c.laned(dir)...))
		fail(fmt.Sprint("tangent in lane ", k), got, along(dir[k]))
	}
	// The tangent of the tangent, with the derivative of the direction v being dir[2].
	inner := append(d.c.all(point), d.c.numbers(v)...)
	ni := len(inner)
	second := func(w []float64) []float64 {
		return plus(combine([]float64{4. / 3, -1. / 3}, mixed(h, v, w), mixed(2*h, v, w)), 1, along(dir[2]))
	}
	outer := func(w []float64) []any { return append(d.c.numbers(w), d.c.numbers(dir[2])...) }
	w := dir[1]
	got, _ := evalMemory(t, d.second, ni, 0, append(slices.Clone(inner), outer(w)...))
	both := got
	fail("second tangent", got[len(got)/2:], second(w))
	fail("tangent beside the second", got[:len(got)/2], along(w))
	lanes := append(d.c.laned(dir), d.c.laned([3][]float64{dir[2], dir[2], dir[2]})...)
	for k := range dir {
		inner := append(d.c.all(point), d.c.numbers(v)...)
		got, _ := evalMemory(t, d.secondLanes, ni, k, append(inner, lanes...))
		fail(fmt.Sprint("second tangent in lane ", k), got[len(got)/2:], second(dir[k]))
	}
	d.transpose(t, r, point, v, append(slices.Clone(w), dir[2]...), both)
}

// transpose compares the adjoint of the tangent with the tangent of the tangent in a direction, dot.
func (d *derivatives) transpose(t *testing.T, r *rand.Rand, point, v, direction, dot []float64) {
	t.Helper()
	seeds, at := make([]float64, 0, len(dot)), 0
	var shadows []any
	_, single := d.c.mask()
	lists := append(d.c.numbers(point), d.c.numbers(v)...)
	for i, a := range lists {
		if single[i%len(single)] {
			continue
		}
		list := make([]float64, len(a.([]float64)))
		for k := range list {
			list[k] = r.NormFloat64()
		}
		seeds = append(seeds, list...)
		shadows = append(shadows, slices.Clone(list))
	}
	args := append(append(d.c.all(point), d.c.numbers(v)...), shadows...)
	a := d.adjoint.Func
	bars, results := evalMemory(t, a, len(args)-len(shadows), 0, args, ir.NewValue(a.Params[len(a.Params)-1].Type))
	left, size := 0.0, 0.0
	for i := range dot {
		left += seeds[i] * dot[i]
		size += math.Abs(seeds[i] * dot[i])
	}
	right := 0.0
	for i, x := range lists {
		if single[i%len(single)] {
			right += results[0] * direction[at]
			results = results[1:]
			at++
			continue
		}
		for range x.([]float64) {
			right += bars[0] * direction[at]
			bars = bars[1:]
			at++
		}
	}
	if !(math.Abs(left-right) <= 1e-9*(1+size)) {
		t.Fatalf("%s at %v: ⟨seeds, second⟩ is %v, ⟨adjoints, direction⟩ %v", d.c.name, point, left, right)
	}
}
