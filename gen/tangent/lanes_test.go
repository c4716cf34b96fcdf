package tangent_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/internal/natives"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/simplify"
	"github.com/nabla-ad/nabla/gen/tangent"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/problems"
)

const funcs = "github.com/nabla-ad/nabla/gen/tangent/testdata/funcs"

// sideBySide returns a shadow of lane type whose lanes are dirs, values of one shape. Values other than floats are
// those of the first.
func sideBySide(dirs []reflect.Value) reflect.Value {
	first := dirs[0]
	part := func(of func(v reflect.Value) reflect.Value) reflect.Value {
		list := make([]reflect.Value, len(dirs))
		for i, d := range dirs {
			list[i] = of(d)
		}
		return sideBySide(list)
	}
	switch first.Kind() {
	case reflect.Float64, reflect.Float32:
		out := reflect.New(reflect.ArrayOf(len(dirs), first.Type())).Elem()
		for i, d := range dirs {
			out.Index(i).Set(d)
		}
		return out
	case reflect.Slice, reflect.Array:
		var out reflect.Value
		of := sideBySide([]reflect.Value{reflect.New(first.Type().Elem()).Elem()}).Type() // of one lane
		if k := first.Type().Elem().Kind(); k == reflect.Float64 {
			of = reflect.ArrayOf(len(dirs), of.Elem())
		}
		if first.Kind() == reflect.Slice {
			out = reflect.MakeSlice(reflect.SliceOf(of), first.Len(), first.Len())
		} else {
			out = reflect.New(reflect.ArrayOf(first.Len(), of)).Elem()
		}
		for i := range first.Len() {
			out.Index(i).Set(part(func(v reflect.Value) reflect.Value { return v.Index(i) }))
		}
		return out
	}
	return first
}

// numbersOf returns all floats in values. If n is not 0, values are of lane type, and those of lane k are returned.
func numbersOf(t *testing.T, values []ir.Value, like []any, n, k int) (out []float64) {
	t.Helper()
	for i, v := range values {
		switch like[i].(type) {
		case float64:
			out = append(out, ir.As[float64](v))
		case []float64:
			if n == 0 {
				out = append(out, ir.As[[]float64](v)...)
				continue
			}
			p := reflect.New(reflect.SliceOf(reflect.ArrayOf(n, reflect.TypeFor[float64]())))
			v.Into(p.Interface())
			for j := range p.Elem().Len() {
				out = append(out, p.Elem().Index(j).Index(k).Float())
			}
		}
	}
	return out
}

// results returns zero values of Go types that correspond to the results of f.
func results(t *testing.T, f *ir.Func) (like []any) {
	t.Helper()
	for _, v := range f.Results {
		switch v.Type.String() {
		case "float64":
			like = append(like, 0.0)
		case "[]float64":
			like = append(like, []float64(nil))
		default:
			t.Fatalf("result of type %v", v.Type)
		}
	}
	return like
}

// checkLanes compares the tangent of f for n lanes with n tangents.
func checkLanes(t *testing.T, p *tangent.Program, f *ir.Func, n int, m activity.Mask, args ...any) {
	t.Helper()
	single, facts, err := tangent.New().Build(f, m)
	if err != nil {
		t.Fatal(err)
	}
	g, _, err := p.Build(f, m)
	if err != nil {
		t.Fatal(err)
	}
	checkAll(t, g)
	r := rand.New(rand.NewPCG(7, uint64(n)))
	dirs := make([][]any, n) // of each lane
	for k := range dirs {
		for i, a := range args {
			if !facts.Params.Has(i) {
				continue
			}
			d := random(r, a)
			if v := reflect.ValueOf(d); !m.Has(i) || k%3 == 2 { // some do not move
				d = variable(d).Interface()
				if v.Kind() == reflect.Slice {
					clear(d.([]float64))
				} else {
					d = 0.0
				}
			}
			dirs[k] = append(dirs[k], d)
		}
	}
	eval := func(f *ir.Func, args []any) (values, out []ir.Value) {
		own := make([]any, len(args))
		for i, a := range args {
			own[i] = variable(a).Interface()
		}
		values = ir.ValuesOf(own...)
		machine := ir.Machine{Steps: 1 << 30, Rules: natives.Rules()}
		out, err := machine.Eval(f, values)
		if err != nil {
			t.Fatalf("%v\n%v", err, f)
		}
		return values, out
	}
	all := append([]any{}, args...)
	var scalars int
	for i := range dirs[0] {
		list := make([]reflect.Value, n)
		for k := range dirs {
			list[k] = reflect.ValueOf(dirs[k][i])
		}
		if _, ok := dirs[0][i].(float64); ok && n > 1 {
			for k := range dirs {
				all = append(all, dirs[k][i])
			}
			scalars++
			continue
		}
		if n == 1 {
			all = append(all, dirs[0][i])
		} else {
			all = append(all, sideBySide(list).Interface())
		}
	}
	like := results(t, f)
	values, out := eval(g, all)
	for k := range n {
		v, o := eval(single, append(append([]any{}, args...), dirs[k]...))
		want := numbersOf(t, v[:len(args)], args, 0, 0)
		want = append(want, numbersOf(t, o[:len(like)], like, 0, 0)...)
		got := numbersOf(t, values[:len(args)], args, 0, 0)
		got = append(got, numbersOf(t, out[:len(like)], like, 0, 0)...)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: values %v, want %v\n%v", f.Name, got, want, g)
		}
		want, got = nil, nil
		// The shadows of arguments and results.
		at, from := len(args), len(args)
		for i := range dirs[k] {
			switch dirs[k][i].(type) {
			case float64: // passed by value
				if at++; n > 1 {
					at += n - 1
				}
			default:
				width := n
				if n == 1 {
					width = 0
				}
				got = append(got, numbersOf(t, values[at:at+1], dirs[k][i:i+1], width, k)...)
				want = append(want, numbersOf(t, v[from:from+1], dirs[k][i:i+1], 0, 0)...)
				at++
			}
			from++
		}
		at, from = len(like), len(like)
		for i, l := range like {
			if !facts.Results.Has(i) {
				continue
			}
			want = append(want, numbersOf(t, o[from:from+1], []any{l}, 0, 0)...)
			from++
			if _, ok := l.(float64); ok {
				got = append(got, ir.As[float64](out[at+k]))
				at += n
			} else {
				width := n
				if n == 1 {
					width = 0
				}
				got = append(got, numbersOf(t, out[at:at+1], []any{l}, width, k)...)
				at++
			}
		}
		if at != len(out) || from != len(o) || len(got) != len(want) {
			t.Fatalf("%s has %d results, %d for one lane; %d numbers, want %d", g.Name, len(out), len(o), len(got),
				len(want))
		}
		size := 1.0
		for _, x := range want {
			size = max(size, math.Abs(x))
		}
		for i := range want {
			if d := math.Abs(got[i] - want[i]); !(d <= 1e-12*size) && !(got[i] != got[i] && want[i] != want[i]) &&
				got[i] != want[i] {
				t.Fatalf("%s, lane %d of %d: number %d is %v, want %v\n%v", f.Name, k, n, i, got[i], want[i], g)
			}
		}
	}
}

// checkAll checks a function and those that it calls.
func checkAll(t *testing.T, f *ir.Func) {
	t.Helper()
	seen := map[*ir.Func]bool{}
	var visit func(f *ir.Func)
	visit = func(f *ir.Func) {
		if seen[f] {
			return
		}
		seen[f] = true
		if err := ir.Check(f); err != nil {
			t.Fatalf("%v\n%v", err, f)
		}
		ir.Walk(f.Body, func(s ir.Stmt) bool {
			if c, ok := s.(*ir.Call); ok && c.Callee.Func != nil {
				visit(c.Callee.Func)
			}
			return true
		})
	}
	visit(f)
}

var widths = []int{1, 2, 4, 6}

func TestLanes(t *testing.T) {
	p := load(t, "./testdata/funcs")
	x := func() []float64 { return []float64{0.7, 1.3, 2.1, 0.4} }
	for _, n := range widths {
		tangents := tangent.NewLanes(n)
		for _, tt := range []struct {
			name string
			m    activity.Mask
			args []any
		}{
			{"Scalars", activity.Bits(3), []any{1.2, 0.7}}, {"Scalars", activity.Bits(1), []any{1.2, 0.7}},
			{"Scalars", activity.Bits(2), []any{1.2, 0.7}},
			{"More", activity.Bits(3), []any{0.6, 1.7}}, {"More", activity.Bits(1), []any{-0.6, 1.7}},
			{"Least", activity.Bits(7), []any{1.5, 2.5, 0.5}}, {"Least", activity.Bits(7), []any{0.5, -2.5, 1.5}},
			{"Least", activity.Bits(4), []any{0.5, -2.5, 1.5}},
			{"Sum", activity.Bits(1), []any{x()}}, {"InPlace", activity.Bits(1), []any{x()}},
			{"Views", activity.Bits(1), []any{x()}}, {"Appends", activity.Bits(1), []any{x()}},
			{"Branches", activity.Bits(1), []any{x(), 2}},
			{"Branches", activity.Bits(1), []any{[]float64{1.1, 3.2, -0.5, 4}, 1}},
			{"Structs", activity.Bits(3), []any{1.5, 0.8}}, {"Structs", activity.Bits(2), []any{1.5, 0.8}},
			{"Several", activity.Bits(3), []any{1.5, 0.8}}, {"Several", activity.Bits(2), []any{1.5, 0.8}},
			{"Calls", activity.Bits(1), []any{x()}}, {"Captured", activity.Bits(1), []any{x()}},
			{"Matrix", activity.Bits(1), []any{x()}},
			{"Passive", activity.Bits(1), []any{x(), []float64{1, 2, 3, 4, 5}}},
			{"Passive", activity.Bits(3), []any{x(), []float64{1, 2, 3, 4, 5}}},
			{"Passive", activity.Bits(2), []any{x(), []float64{1, 2, 3, 4, 5}}},
			{"Small", activity.Bits(1), []any{1.5}}, {"Kink", activity.Bits(1), []any{2.0}},
			{"Kink", activity.Bits(1), []any{0.0}},
			{"Lists", activity.Bits(1), []any{x()}}, {"Tags", activity.Bits(1), []any{x()}},
			{"Arrays", activity.Bits(1), []any{x()}},
			{"Addressed", activity.Bits(3), []any{1.2, 0.7}}, {"Addressed", activity.Bits(3), []any{1.2, 1.7}},
			{"Addressed", activity.Bits(1), []any{1.2, 0.7}}, {"Addressed", activity.Bits(2), []any{1.2, 0.7}},
			{"Straight", activity.Bits(1), []any{x(), 2}}, {"Straight", activity.Bits(1), []any{x(), 3}},
		} {
			f := function(t, p, funcs, tt.name)
			t.Run(fmt.Sprint(tt.name, n), func(t *testing.T) { checkLanes(t, tangents, f, n, tt.m, tt.args...) })
			if n == 4 {
				t.Run(tt.name+"Flat", func(t *testing.T) { checkLanes(t, tangents, simple(f), n, tt.m, tt.args...) })
			}
		}
	}
}

// TestMoreTangents differentiates vectorised functions again.
func TestMoreTangents(t *testing.T) {
	p := load(t, "./testdata/funcs")
	x := func() []float64 { return []float64{0.7, 1.3, 2.1, 0.4} }
	for _, tt := range []struct {
		name string
		m    activity.Mask
		args []any
	}{
		{"Lists", activity.Bits(1), []any{x()}}, {"Tags", activity.Bits(1), []any{x()}},
		{"Arrays", activity.Bits(1), []any{x()}}, {"Straight", activity.Bits(1), []any{x(), 2}},
		{"Straight", activity.Bits(1), []any{x(), 3}},
		{"Addressed", activity.Bits(3), []any{1.2, 0.7}}, {"Addressed", activity.Bits(3), []any{1.2, 1.7}},
	} {
		f := function(t, p, funcs, tt.name)
		t.Run(tt.name, func(t *testing.T) { check(t, f, tt.m, tt.args...) })
		t.Run(tt.name+"Flat", func(t *testing.T) { check(t, simple(f), tt.m, tt.args...) })
	}
}

func TestLanesOfProblems(t *testing.T) {
	const path = "github.com/nabla-ad/nabla/internal/problems"
	p := load(t, path)
	r := rand.New(rand.NewPCG(11, 12))
	draw := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = 2*r.Float64() - 1
		}
		return x
	}
	hand := &problems.Hand{Skin: draw(9), Weights: draw(3 * 22), Points: draw(6),
		Triangles: [][3]int{{0, 1, 2}, {2, 0, 1}}}
	for i := range 22 {
		hand.Parents = append(hand.Parents, max(i-1, -1))
	}
	for _, field := range []string{"Base", "Inverse"} {
		v := reflect.ValueOf(hand).Elem().FieldByName(field)
		v.Set(reflect.MakeSlice(v.Type(), 22, 22))
		floats(v, func(v reflect.Value) { v.SetFloat(r.NormFloat64()) })
	}
	for _, n := range longtest.Sample(widths, 1) {
		tangents := tangent.NewLanes(n)
		for _, tt := range []struct {
			name string
			m    activity.Mask
			args []any
		}{
			{"SumSquaresPlain", activity.Bits(1), []any{draw(20)}},
			{"RosenbrockPlain", activity.Bits(1), []any{draw(20)}},
			{"BrusselatorPlain", activity.Bits(3), []any{make([]float64, 18), draw(18), 3}},
			{"BrusselatorPlain", activity.Bits(2), []any{make([]float64, 18), draw(18), 3}},
			{"LogPosteriorPlain", activity.Bits(1),
				[]any{draw(2 * (1 + 3 + 6)), &problems.Mixture{D: 3, K: 2, Points: draw(15), Gamma: 1}}},
			{"ReprojectionPlain", activity.Bits(3), []any{make([]float64, 2), draw(15), &problems.Feature{Z: draw(2)}}},
			{"LogisticLossPlain", activity.Bits(1),
				[]any{draw(4), &problems.Regression{X: draw(20), Y: []float64{1, 0, 0, 1, 1}, Cols: 4}}},
			{"LorenzPlain", activity.Bits(1), []any{[]float64{1, 1, 1, 10, 28, 8.0 / 3}}},
			{"HandPlain", activity.Bits(3), []any{make([]float64, 6), draw(26 + 4), hand}},
			{"RecurrentLossPlain", activity.Bits(1),
				[]any{draw(2*8*3 + 9), &problems.Recurrent{Layers: 2, Bits: 3, State: draw(12), Text: draw(12)}}},
		} {
			if tt.name == "LorenzPlain" && n != 6 { // a thousand steps
				continue
			}
			f := function(t, p, path, tt.name)
			t.Run(fmt.Sprint(tt.name, n), func(t *testing.T) { checkLanes(t, tangents, f, n, tt.m, tt.args...) })
			if n == 6 {
				t.Run(tt.name+"Flat", func(t *testing.T) { checkLanes(t, tangents, simple(f), n, tt.m, tt.args...) })
			}
		}
	}
}

// TestFewLanes requires an error for fewer than one direction.
func TestFewLanes(t *testing.T) {
	f := function(t, load(t, "./testdata/funcs"), funcs, "Sum")
	var e *tangent.Error
	if g, _, err := tangent.NewLanes(0).Build(f, activity.Bits(1)); g != nil || !errors.As(err, &e) {
		t.Errorf("%v, %v", g, err)
	}
}

// TestInfinitePartials: an infinite partial derivative does not affect a lane with a tangent of zero, and partial
// derivatives marked as bounded are finite for all finite arguments.
func TestInfinitePartials(t *testing.T) {
	p := load(t, "./testdata/funcs")
	g, _, err := tangent.NewLanes(2).Build(function(t, p, funcs, "Infinite"), activity.Bits(3))
	if err != nil {
		t.Fatal(err)
	}
	// (a, b) = (0, 800): the roots of a, and exp(b), have infinite derivatives.
	got, err := ir.Eval(g, ir.ValuesOf(0.0, 800.0, 1.0, 0.0, 0.0, 0.0))
	if err != nil || !math.IsInf(ir.As[float64](got[1]), 1) || ir.As[float64](got[2]) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	got, err = ir.Eval(g, ir.ValuesOf(0.0, 800.0, 0.0, 0.0, 0.0, 1.0))
	if err != nil || ir.As[float64](got[1]) != 0 || !math.IsInf(ir.As[float64](got[2]), 1) {
		t.Errorf("%v, %v", got, err)
	}
}

// simple returns f after the passes of simplify.Primal.
func simple(f *ir.Func) *ir.Func {
	g, _ := ir.Clone(f, nil)
	simplify.Primal(g, f.Object.Pkg())
	return g
}

// TestCapacityInLanes: a function that appends and reads a capacity has a tangent in one direction only, since shadows
// with lanes get other capacities.
func TestCapacityInLanes(t *testing.T) {
	for _, tt := range []struct {
		text    string
		refused bool
	}{
		{"func F(x []float64) (r []float64) exit {\n\tlet y []float64 = x\n\ty = append(y, 1)\n\tr = y[:cap(y)]\n}",
			true},
		{"func F(x []float64) (r []float64) exit {\n\tlet y []float64 = x\n\ty = append(y, 1)\n\tr = y\n}", false},
		{"func F(x []float64) (r []float64) exit {\n\tr = x[:cap(x)]\n}", false},
	} {
		funcs, err := ir.Parse(tt.text, nil)
		if err != nil {
			t.Fatal(err)
		}
		f := funcs[len(funcs)-1]
		if _, _, err := tangent.New().Build(f, activity.Bits(1)); err != nil {
			t.Errorf("%v\n%s", err, f)
		}
		_, _, err = tangent.NewLanes(4).Build(f, activity.Bits(1))
		var e *tangent.Error
		if got := errors.As(err, &e) && strings.Contains(err.Error(), "capacity"); got != tt.refused {
			t.Errorf("%v, want refused: %v\n%s", err, tt.refused, f)
		}
	}
}
