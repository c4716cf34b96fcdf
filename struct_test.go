package nabla

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

type layer[T any] struct {
	W    [][]T
	B    [2]T
	size int
	gain T
}

type netParams[T any] struct {
	Layers []layer[T]
	Scale  T
	Index  []int
	Next   *netParams[T]
	Tied   *layer[T]
	Name   string
	Tol    float64
	Memo   map[string]int
	Once   *sync.Once
}

func newNet() *netParams[float64] {
	tied := &layer[float64]{gain: 11}
	return &netParams[float64]{
		Layers: []layer[float64]{
			{W: [][]float64{{1, 2}, {3}}, B: [2]float64{4, 5}, size: 2, gain: 6},
			{gain: 7},
		},
		Scale: 8, Index: []int{0, 1}, Name: "net", Tol: 0.5,
		Next: &netParams[float64]{Scale: 9, Tied: tied, Index: []int{3}}, Tied: tied,
		Memo: map[string]int{"a": 1}, Once: new(sync.Once),
	}
}

var netNames = []string{
	"Layers[0].W[0][0]", "Layers[0].W[0][1]", "Layers[0].W[1][0]", "Layers[0].B[0]", "Layers[0].B[1]", "Layers[0].gain",
	"Layers[1].B[0]", "Layers[1].B[1]", "Layers[1].gain", "Scale", "Next.Scale",
	"Next.Tied.B[0]", "Next.Tied.B[1]", "Next.Tied.gain",
}

var netNumbers = []float64{1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 9, 0, 0, 11}

// netLoss reads every kind of field, and writes to the structure besides.
func netLoss(p *netParams[Real]) Real {
	s := p.Scale.Mul(p.Next.Scale).Mul(p.Tied.gain).Mul(p.Next.Tied.gain)
	for k, l := range p.Layers {
		for _, w := range l.W {
			s = s.Add(Dot(w, w).Scale(float64(l.size)))
		}
		s = s.Add(l.gain.Mul(l.B[1]).AddConst(float64(p.Index[k])))
	}
	s = s.AddConst(p.Tol + float64(len(p.Name)+p.Next.Index[0]+p.Memo["a"]))
	p.Index[0], p.Next.Index[0], p.Layers[0].size, p.Name, p.Tol = 100, 100, 100, "", 100
	p.Layers[0].W[0] = nil
	p.Layers, p.Next, p.Scale = nil, nil, Const(100)
	return s
}

// netWant is netLoss and its gradient over the numbers in order.
func netWant(x []float64) (y float64, g []float64) {
	g = make([]float64, len(x))
	y = x[9]*x[10]*x[13]*x[13] + 2*(x[0]*x[0]+x[1]*x[1]+x[2]*x[2]) + x[5]*x[4] + x[8]*x[7] + 1 + 0.5 + 3 + 3 + 1
	for i := range 3 {
		g[i] = 4 * x[i]
	}
	g[4], g[5], g[7], g[8] = x[5], x[4], x[8], x[7]
	g[9], g[10], g[13] = x[10]*x[13]*x[13], x[9]*x[13]*x[13], 2*x[9]*x[10]*x[13]
	return y, g
}

func TestStruct(t *testing.T) {
	s := newNet()
	f, layout, err := Struct(netLoss, s)
	if err != nil {
		t.Fatal(err)
	}
	x := layout.Flatten(nil, s)
	near(t, "numbers", x, netNumbers, 0)
	if layout.Len() != len(netNames) {
		t.Fatalf("Len() = %d, want %d", layout.Len(), len(netNames))
	}
	for i, want := range netNames {
		if got := layout.Name(i); got != want {
			t.Errorf("Name(%d) = %q, want %q", i, got, want)
		}
	}
	// Later changes of s have no effect.
	s.Index[0], s.Layers[0].size, s.Layers[0].W[0], s.Next.Tied, s.Tol = 9, 9, nil, nil, 9
	fn := mustFunction(t, f, x)
	for _, g := range []struct {
		name string
		x    []float64
	}{{"first", x}, {"second", []float64{1, -1, 2, 0.5, -2, 3, 1, 1, -1, 2, 1, 4, 5, 6}}} {
		y, grad := netWant(g.x)
		for range 2 {
			near(t, g.name+": value", value(t, fn, g.x...), []float64{y}, 1e-14)
			near(t, g.name+": value of a clone", value(t, fn.Clone().Clone(), g.x...), []float64{y}, 1e-14)
		}
		near(t, g.name+": tape", tapeGradient(t, fn, g.x, []float64{1}), grad, 1e-14)
		_, dy := dualTangents(t, fn, g.x, []float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})
		near(t, g.name+": dual", dy, grad[13:], 1e-14)
		_, rg := replay(t, compiled(t, fn, x), g.x)
		near(t, g.name+": replayed", rg, grad, 1e-14)
	}
	y := make([]float64, 1)
	if n := testing.AllocsPerRun(10, func() { _ = fn.Value(y, x) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	var se *ShapeError
	if _, err := functionOf("Op", f, x[1:], wantAny); !errors.As(err, &se) ||
		*se != (ShapeError{Op: "Op", Arg: "len(x)", Got: 13, Want: 14}) {
		t.Errorf("error %v", err)
	}
}

func TestUnflatten(t *testing.T) {
	s := newNet()
	_, layout, err := Struct(netLoss, s)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, layout.Len())
	for i := range x {
		x[i] = float64(100 + i)
	}
	empty := new(netParams[float64])
	layout.Unflatten(empty, x)
	near(t, "into an empty struct", layout.Flatten(nil, empty), x, 0)
	if empty.Tied != empty.Next.Tied || empty.Layers[0].size != 2 ||
		empty.Next.Index != nil && empty.Next.Index[0] != 3 {
		t.Errorf("structure of an empty struct: %+v", empty)
	}
	if empty.Layers[0].gain != 105 || empty.Tied.gain != 113 {
		t.Errorf("numbers of an empty struct: %+v", empty)
	}
	full := newNet()
	w, tied := full.Layers[0].W[0], full.Tied
	full.Layers[0].size, full.Name, full.Layers[0].W[1] = 77, "mine", []float64{1, 2, 3}
	layout.Unflatten(full, x)
	near(t, "into a full struct", layout.Flatten(make([]float64, len(x)), full), x, 0)
	if w[0] != 100 || full.Tied != tied || full.Layers[0].size != 77 || full.Name != "mine" ||
		len(full.Layers[0].W[1]) != 1 {
		t.Errorf("a full struct was not filled in place: %+v", full)
	}
	empty.Layers[0].W[0][0] = -1
	near(t, "the struct of the layout", layout.Flatten(nil, s), netNumbers, 0)
	empty.Layers[0].W[0] = nil
	again := new(netParams[float64])
	layout.Unflatten(again, x)
	near(t, "into another empty struct", layout.Flatten(nil, again), x, 0)
}

func TestLayoutPanics(t *testing.T) {
	s := newNet()
	_, layout, err := Struct(netLoss, s)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		call func(s *netParams[float64])
		msg  string
	}{
		"short dst": {func(s *netParams[float64]) { layout.Flatten(make([]float64, 2), s) },
			"nabla: Layout.Flatten: len(dst) is 2, want 14"},
		"short x": {func(s *netParams[float64]) { layout.Unflatten(s, make([]float64, 3)) },
			"nabla: Layout.Unflatten: len(x) is 3, want 14"},
		"other length": {func(s *netParams[float64]) { s.Layers[0].W[0] = nil; layout.Flatten(nil, s) },
			"len(Layers[0].W[0]) is 0, want 2"},
		"numbers more": {func(s *netParams[float64]) { s.Layers[1].W = make([][]float64, 1); layout.Flatten(nil, s) },
			"len(Layers[1].W) is 1, want 0"},
		"nil pointer": {func(s *netParams[float64]) { s.Next = nil; layout.Flatten(nil, s) },
			"field Next is nil, want a pointer"},
		"a pointer": {func(s *netParams[float64]) { s.Next.Next = s; layout.Flatten(nil, s) },
			"field Next.Next is a pointer, want nil"},
		"no name": {func(s *netParams[float64]) { layout.Name(14) }, "there is no number 14, want one of 14"},
	} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), c.msg) {
					t.Errorf("%s: panic %v, want %q", name, r, c.msg)
				}
			}()
			c.call(newNet())
		}()
	}
}

type plainNet struct {
	W     []float64
	Level metres
	K     int
	Ring  *plainNet
}

type metres float64

func TestStructPlain(t *testing.T) {
	s := &plainNet{W: []float64{1, 2}, Level: 3, K: 4}
	s.Ring = s // a loop is followed once
	f, layout, err := StructPlain(func(p *plainNet) float64 {
		k := p.K
		p.K++
		return p.W[0]*float64(p.Ring.Level) + p.Ring.W[1]*float64(k)
	}, s)
	if err != nil {
		t.Fatal(err)
	}
	x := layout.Flatten(nil, s)
	near(t, "numbers", x, []float64{1, 2, 3}, 0)
	fn := mustFunction(t, f, x)
	for range 2 {
		near(t, "value", value(t, fn, 10, 20, 30), []float64{380}, 0)
	}
	fresh := new(plainNet)
	layout.Unflatten(fresh, []float64{7, 8, 9})
	if fresh.Ring == nil || fresh.Ring.Level != 9 || fresh.W[1] != 8 {
		t.Errorf("%+v", fresh)
	}
}

func TestStructRefuses(t *testing.T) {
	type in struct {
		A []float64
		M map[string]float64
	}
	type out struct {
		A []Real
		M map[string]Real
	}
	type renamed struct {
		B []Real
		M map[string]float64
	}
	type longer struct {
		A []Real
		M map[string]float64
		C int
	}
	type array2 struct{ A [2]float64 }
	type array3 struct{ A [3]Real }
	type shared struct{ A, B []float64 }
	type sharedR struct{ A, B []Real }
	type scratched struct {
		A  []float64
		In []struct {
			N   int       `nabla:"fixed"`
			Own []float64 `nabla:"fixed"`
		}
	}
	back := []float64{1, 2, 3}
	for name, c := range map[string]struct {
		err error
		msg string
	}{
		"nil struct": {structErr(Struct(netLoss, (*netParams[float64])(nil))),
			"nabla: Struct: function nabla.netLoss: the struct is nil (a *nabla.netParams[float64])"},
		"nil function": {structErr(Struct[in, out, Real](nil, new(in))), "nabla: Struct: the function is nil"},
		"one type":     {structErr(Struct(func(*in) Real { return Real{} }, new(in))), "have one type, nabla.in"},
		"a tag": {structErr(StructPlain(func(*scratched) float64 { return 0 }, new(scratched))),
			"In.Own has a nabla tag"},
		"map": {structErr(Struct(func(*out) Real { return Real{} }, new(in))),
			`map[string]float64 in the struct does not match map[string]nabla.Real in the function's struct at "M"`},
		"name": {structErr(Struct(func(*renamed) Real { return Real{} }, new(in))),
			`nabla.in in the struct does not match nabla.renamed in the function's struct at "A"`},
		"more fields": {structErr(Struct(func(*longer) Real { return Real{} }, new(in))),
			`nabla.in in the struct does not match nabla.longer`},
		"array": {structErr(Struct(func(*array3) Real { return Real{} }, new(array2))),
			`[2]float64 in the struct does not match [3]nabla.Real in the function's struct at "A"`},
		"overlap": {structErr(Struct(func(*sharedR) Real { return Real{} }, &shared{back, back[1:]})),
			"fields A and B of the struct share memory"},
		"nil bound": {structErr(BindStruct(func(*sharedR, *model) Real { return Real{} }, new(shared), nil)),
			"the bound struct is nil (a *nabla.model)"},
	} {
		var fe *FuncError
		if !errors.As(c.err, &fe) || !strings.Contains(c.err.Error(), c.msg) {
			t.Errorf("%s: error %v, want %q in it", name, c.err, c.msg)
		}
	}
	type table struct{ W []float64 }
	var ce *ContextError
	if err := structErr(BindStruct(func(*sharedR, *table) Real { return Real{} }, new(shared),
		new(table))); !errors.As(err, &ce) || ce.Field != "W" {
		t.Errorf("error %v, want a *ContextError about W", err)
	}
	// Two equal slices are one.
	_, l, err := Struct(func(p *sharedR) Real { return Sum(p.A...).Add(Sum(p.B...)) }, &shared{back, back})
	if err != nil || l.Len() != 3 {
		t.Errorf("two equal slices: %v", err)
	}
}

func structErr[S any](_ *Func, _ *Layout[S], err error) error { return err }

func TestBindStruct(t *testing.T) {
	type params[T any] struct {
		A T
		W []T
	}
	type data struct {
		X   Vec
		Buf Scratch
	}
	d := &data{X: VecOf([]float64{2, 3}), Buf: NewScratch(1)}
	f, layout, err := BindStruct(func(p *params[Real], d *data) Real {
		b := d.Buf.Reals()
		b[0] = b[0].Add(d.X.Dot(p.W))
		return b[0].Mul(p.A)
	}, &params[float64]{W: []float64{1, 1}}, d)
	if err != nil {
		t.Fatal(err)
	}
	x := layout.Flatten(nil, &params[float64]{A: 5, W: []float64{1, 10}})
	fn := mustFunction(t, f, x)
	c := compiled(t, fn, x)
	near(t, "value", value(t, fn, x...), []float64{160}, 0)
	near(t, "gradient", tapeGradient(t, fn, x, []float64{1}), []float64{32, 10, 15}, 0)
	d.X.v.Data[0] = 4
	_, g := replay(t, c, x)
	near(t, "replayed with other data", g, []float64{34, 20, 15}, 0)
	if c.Recordings() != 1 {
		t.Errorf("%d recordings", c.Recordings())
	}
	if err := fn.Rebind(&data{X: VecOf([]float64{1, 0}), Buf: NewScratch(1)}); err != nil {
		t.Fatal(err)
	}
	near(t, "value rebound", value(t, fn, x...), []float64{5}, 0)
}

func TestStructClonesInParallel(t *testing.T) {
	s := newNet()
	f, layout, err := Struct(netLoss, s)
	if err != nil {
		t.Fatal(err)
	}
	x := layout.Flatten(nil, s)
	y, grad := netWant(x)
	fn := mustFunction(t, f, x)
	var wg sync.WaitGroup
	for range 4 {
		fn := fn.Clone()
		wg.Go(func() {
			for range 50 {
				near(t, "value", value(t, fn, x...), []float64{y}, 1e-14)
				near(t, "gradient", tapeGradient(t, fn, x, []float64{1}), grad, 1e-14)
			}
		})
	}
	wg.Wait()
}
