package nabla

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/program"
)

type stage struct {
	Gain Real
	W    Vec
	On   bool
}

type model struct {
	T      Real
	W      Vec
	Stages [2]stage
	Pair   [2]Real
	Name   string
	Power  int
	shift  float64
	Buf    Scratch
	Table  []float64 `nabla:"fixed"`
	_      int
}

func newModel() *model {
	return &model{
		T: Const(2), W: VecOf([]float64{1, 2, 3}),
		Stages: [2]stage{{Const(5), VecOf([]float64{7}), true}, {Const(11), VecOf(nil), false}},
		Pair:   [2]Real{Const(13), Const(17)},
		Power:  1, shift: 0.5, Buf: NewScratch(2), Table: []float64{1, 2},
	}
}

// run is T·W·x + Σ Gain·x0 + Pair0·Pair1 + shift + Stages0.W0, with a part of it
// kept in scratch.
func (m *model) run(x []Real) Real {
	buf := m.Buf.Reals()
	buf[0] = buf[0].Add(m.T.Mul(m.W.Slice(0, len(x)).Dot(x)))
	buf[1] = m.Stages[0].Gain.Add(m.Stages[1].Gain).Mul(x[0])
	s := Sum(buf...).Add(m.Pair[0].Mul(m.Pair[1])).AddConst(m.shift)
	for range m.Power {
		s = s.Add(m.Stages[0].W.At(0))
	}
	return s
}

func loss(x []Real, m *model) Real { return m.run(x) }

// want is run over plain numbers and its gradient.
func (m *model) want(x []float64) (y float64, g []float64) {
	g = make([]float64, len(x))
	for i, v := range x {
		g[i] = m.T.v * m.W.v.Data[i]
		y += g[i] * v
	}
	k := m.Stages[0].Gain.v + m.Stages[1].Gain.v
	g[0] += k
	y += k*x[0] + m.Pair[0].v*m.Pair[1].v + m.shift + float64(m.Power)*m.Stages[0].W.v.Data[0]
	return y, g
}

func mustFunction(t *testing.T, f any, x []float64) *engine.Function {
	t.Helper()
	fn, err := functionOf("Op", f, x, wantAny)
	if err != nil {
		t.Fatal(err)
	}
	return fn
}

// gradientOf replays a recording: it derives the value and the gradient.
func gradientOf(p *program.Program, strong bool) *program.Program {
	return program.Simplify(program.VJP(p, program.VJPOptions{Unit: true, Strong: strong}))
}

func compiled(t *testing.T, f *engine.Function, x []float64) *engine.Compiled {
	t.Helper()
	c, err := engine.NewCompiled(f, x, 1, 0, gradientOf)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func replay(t *testing.T, c *engine.Compiled, x []float64) (float64, []float64) {
	t.Helper()
	m, err := c.Run(x, engine.Block{})
	if err != nil {
		t.Fatal(err)
	}
	y, g := make([]float64, 1), make([]float64, len(x))
	m.Output(0, y)
	m.Output(1, g)
	return y[0], g
}

func TestBoundStructIsReadAtEveryCall(t *testing.T) {
	x := []float64{0.5, -1}
	for name, bind := range map[string]func(m *model) *Func{
		"Bind":       func(m *model) *Func { return Bind(loss, m) },
		"BindMethod": func(m *model) *Func { return BindMethod((*model).run, m) },
		"BindMethod slice": func(m *model) *Func {
			return BindMethod(func(m *model, x []Real) []Real { return []Real{m.run(x)} }, m)
		},
		"BindInPlace": func(m *model) *Func {
			return BindInPlace(1, func(y, x []Real, m *model) { y[0] = m.run(x) }, m)
		},
		"Bind slice": func(m *model) *Func {
			return Bind(func(x []Real, m *model) []Real { return []Real{m.run(x)} }, m)
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			f := mustFunction(t, bind(m), x)
			c := compiled(t, f, x)
			records := 1
			check := func(what string, again int) {
				t.Helper()
				records += again
				y, g := m.want(x)
				near(t, what+": value", value(t, f, x...), []float64{y}, 1e-14)
				near(t, what+": tape", tapeGradient(t, f, x, []float64{1}), g, 1e-14)
				_, dy := dualTangents(t, f, x, []float64{0, 1})
				near(t, what+": dual", dy, g[1:], 1e-14)
				ry, rg := replay(t, c, x)
				near(t, what+": replayed value", []float64{ry}, []float64{y}, 1e-14)
				near(t, what+": replayed gradient", rg, g, 1e-14)
				if c.Recordings() != records {
					t.Errorf("%s: %d recordings, want %d", what, c.Recordings(), records)
				}
			}
			check("as bound", 0)
			m.T = Const(-3)
			check("a Real changed", 0)
			m.W.v.Data[1] = 8
			check("a number behind a Vec changed", 0)
			m.W = VecOf([]float64{4, 5, 6})
			check("a Vec replaced", 0)
			m.Stages[1].Gain, m.Pair[0] = Const(1), Const(-1)
			check("a nested Real changed", 0)
			m.W = VecOf([]float64{4, 5, 6, 7})
			check("a Vec grew", 1)
			m.shift = 2
			check("a float changed", 1)
			m.shift = 0.5
			m.W = VecOf([]float64{4, 5, 6})
			check("back to what was recorded", 0)
			m.Power = 3
			check("an int changed", 1)
			m.Name = "other"
			check("a string changed", 1)
			m.Stages[1].On = true
			check("a nested bool changed", 1)
			m.Buf = NewScratch(3)
			check("scratch grew", 1)
		})
	}
}

func TestBindPlainGetsTheStructItself(t *testing.T) {
	type data struct {
		W     []float64
		Calls int
		Any   map[string]int
	}
	d := &data{W: []float64{2, 3}}
	dot := func(x []float64, d *data) float64 {
		d.Calls++
		return d.W[0]*x[0] + d.W[1]*x[1]
	}
	x := []float64{5, 7}
	for name, f := range map[string]*Func{
		"Bind":             Bind(dot, d),
		"Bind slice":       Bind(func(x []float64, d *data) []float64 { return []float64{dot(x, d)} }, d),
		"BindInPlace":      BindInPlace(1, func(y, x []float64, d *data) { y[0] = dot(x, d) }, d),
		"BindMethod":       BindMethod(func(d *data, x []float64) float64 { return dot(x, d) }, d),
		"BindMethod slice": BindMethod(func(d *data, x []float64) []float64 { return []float64{dot(x, d)} }, d),
	} {
		d.W[0] = 2
		fn := mustFunction(t, f, x)
		near(t, name, value(t, fn, x...), []float64{31}, 0)
		d.W[0] = 4
		before := d.Calls
		near(t, name, value(t, fn, x...), []float64{41}, 0)
		if d.Calls != before+1 {
			t.Errorf("%s: the function did not get the struct that was bound", name)
		}
		near(t, name, value(t, fn.Clone(), x...), []float64{41}, 0)
		if d.Calls != before+1 {
			t.Errorf("%s: a clone got the struct that was bound", name)
		}
		if err := fn.Rebind(&data{W: []float64{1, 1}}); err != nil {
			t.Fatal(err)
		}
		near(t, name+" rebound", value(t, fn, x...), []float64{12}, 0)
	}
}

type pointerName *struct{ T Real }

func TestBindNamedPointer(t *testing.T) {
	p := pointerName(&struct{ T Real }{Const(3)})
	f := mustFunction(t, Bind(func(x []Real, p pointerName) Real { return x[0].Mul(p.T) }, p), []float64{2})
	near(t, "value", value(t, f.Clone(), 2), []float64{6}, 0)
}

func TestBindRefusesFields(t *testing.T) {
	bind := map[string]struct {
		f         *Func
		field, ty string
	}{
		"slice": {Bind(func(x []Real, p *struct{ W []float64 }) Real { return x[0] }, new(struct{ W []float64 })), "W",
			"[]float64"},
		"reals": {Bind(func(x []Real, p *struct{ Tmp []Real }) Real { return x[0] }, new(struct{ Tmp []Real })), "Tmp",
			"[]nabla.Real"},
		"map": {Bind(func(x []Real, p *struct{ m map[int]bool }) Real { return x[0] }, new(struct{ m map[int]bool })),
			"m", "map[int]bool"},
		"nested": {Bind(func(x []Real, p *struct {
			A struct{ B [2]struct{ C *int } }
		}) Real {
			return x[0]
		},
			new(struct {
				A struct{ B [2]struct{ C *int } }
			})), "A.B[0].C", "*int"},
		"func": {Bind(func(x []Real, p *struct{ F func() }) Real { return x[0] }, new(struct{ F func() })), "F",
			"func()"},
		"chan": {Bind(func(x []Real, p *struct{ C chan int }) Real { return x[0] }, new(struct{ C chan int })),
			"C", "chan int"},
		"interface": {Bind(func(x []Real, p *struct{ E error }) Real { return x[0] }, new(struct{ E error })), "E",
			"error"},
		"vectors": {Bind(func(x []Real, p *struct{ V []Vec }) Real { return x[0] }, new(struct{ V []Vec })), "V",
			"[]nabla.Vec"},
	}
	for name, c := range bind {
		_, err := functionOf("Op", c.f, []float64{1}, wantAny)
		var ce *ContextError
		if !errors.As(err, &ce) || ce.Field != c.field || ce.Type != c.ty || ce.Changed {
			t.Errorf("%s: error %v, want field %s of type %s", name, err, c.field, c.ty)
		} else if !strings.Contains(err.Error(), "nabla.Vec, nabla.Real or nabla.Scratch") {
			t.Errorf("%s: error %q names no way out", name, err)
		}
	}
	ok := Bind(func(x []Real, p *struct {
		W []float64    `nabla:"fixed"`
		M map[int]bool `nabla:"fixed"`
		V Vec          `nabla:"fixed"`
	}) Real {
		return x[0]
	}, new(struct {
		W []float64    `nabla:"fixed"`
		M map[int]bool `nabla:"fixed"`
		V Vec          `nabla:"fixed"`
	}))
	if f := mustFunction(t, ok, []float64{1}); f.Params() != 0 {
		t.Errorf("fixed fields gave %d parameters", f.Params())
	}
}

func TestBindRefuses(t *testing.T) {
	var none *model
	var nilFunc func([]Real, *model) Real
	for name, c := range map[string]struct {
		f   *Func
		msg string
	}{
		"nil struct": {Bind(loss, none),
			"nabla: Bind: function nabla.loss: the bound struct is nil (a *nabla.model)"},
		"nil function": {Bind(nilFunc, newModel()), "nabla: Bind: the function is nil"},
		"no pointer": {Bind(func(x []Real, k int) Real { return x[0] }, 3),
			"the bound value is a int, want a pointer to a struct"},
		"no struct": {BindInPlace(1, func(y, x []Real, k *int) {}, new(int)),
			"the bound value is a *int, want a pointer to a struct"},
		"by value": {BindMethod(func(m model, x []Real) Real { return x[0] }, model{}),
			"the bound value is a nabla.model, want a pointer to a struct"},
		"other tag": {Bind(func(x []Real, p *struct {
			A int `nabla:"fixd"`
		}) Real {
			return x[0]
		}, new(struct {
			A int `nabla:"fixd"`
		})), `field A of the bound struct has the tag nabla:"fixd", want nabla:"fixed" or none`},
	} {
		_, err := functionOf("Op", c.f, []float64{1}, wantAny)
		var fe *FuncError
		if !errors.As(err, &fe) || !strings.Contains(err.Error(), c.msg) {
			t.Errorf("%s: error %v, want %q in it", name, err, c.msg)
		}
	}
	_, err := functionOf("Op", BindInPlace(-1, func(y, x []Real, m *model) {}, newModel()), []float64{1}, wantAny)
	var se *ShapeError
	if want := (ShapeError{Op: "BindInPlace", Arg: "m", Got: -1, Want: 0}); !errors.As(err, &se) || *se != want {
		t.Errorf("error %v, want %v", err, &want)
	}
}

func TestBindReportsLostWrites(t *testing.T) {
	for field, write := range map[string]func(m *model, x Real){
		"T":              func(m *model, x Real) { m.T = x },
		"Pair[1]":        func(m *model, x Real) { m.Pair[1] = Const(1) },
		"W":              func(m *model, x Real) { m.W = m.W.Slice(0, 2) },
		"Stages[0].W":    func(m *model, x Real) { m.Stages[0].W = VecOf([]float64{7}) },
		"Stages[1].Gain": func(m *model, x Real) { m.Stages[1].Gain = m.T },
		"Stages[1].On":   func(m *model, x Real) { m.Stages[1].On = true },
		"Name":           func(m *model, x Real) { m.Name = "x" },
		"Power":          func(m *model, x Real) { m.Power++ },
		"shift":          func(m *model, x Real) { m.shift = math.NaN() },
		"Buf":            func(m *model, x Real) { m.Buf = NewScratch(2) },
		"Table":          func(m *model, x Real) { m.Table = m.Table[:1] },
	} {
		m := newModel()
		on := false
		f := mustFunction(t, Bind(func(x []Real, m *model) Real {
			if on {
				write(m, x[0])
			}
			return x[0]
		}, m), []float64{1})
		for what, call := range map[string]func() error{
			"value": func() error { return f.Value(make([]float64, 1), []float64{1}) },
			"recording": func() error {
				_, err := f.Program([]float64{1})
				return err
			},
		} {
			on = false
			if err := call(); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			on = true
			err := call()
			var ce *ContextError
			if !errors.As(err, &ce) || ce.Field != field || !ce.Changed {
				t.Errorf("%s: error %v, want one about field %s", what, err, field)
			}
			on = false
			if err := call(); err != nil {
				t.Errorf("%s after an error: %v", what, err)
			}
		}
	}
}

func TestScratchIsZeroAndPrivate(t *testing.T) {
	m := &struct{ Buf Scratch }{NewScratch(3)}
	var seen [][]Real
	f := mustFunction(t, Bind(func(x []Real, m *struct{ Buf Scratch }) Real {
		b := m.Buf.Reals()
		seen = append(seen, b)
		s := Sum(b...)
		b[0], b[2] = x[0], x[0]
		return s.Add(x[0])
	}, m), []float64{1})
	g := f.Clone()
	for range 2 {
		near(t, "value", value(t, f, 4), []float64{4}, 0)
		near(t, "value of the clone", value(t, g, 5), []float64{5}, 0)
	}
	if &seen[0][0] != &seen[2][0] || &seen[0][0] == &seen[1][0] || &seen[0][0] == &m.Buf.Reals()[0] {
		t.Error("scratch is not one for each function")
	}
	if len(seen[0]) != 3 || m.Buf.Reals()[0].id != 0 || m.Buf.Reals()[0].v != 0 {
		t.Error("the scratch of the bound struct was used")
	}
}

func TestRebind(t *testing.T) {
	x := []float64{0.5, -1}
	m := newModel()
	f := mustFunction(t, Bind(loss, m), x)
	g := f.Clone()
	other := newModel()
	other.T, other.Buf = Const(-1), NewScratch(4)
	if err := g.Rebind(other); err != nil {
		t.Fatal(err)
	}
	h := g.Clone()
	m.T = Const(9)
	for what, c := range map[string]struct {
		f *engine.Function
		m *model
	}{"the function": {f, m}, "the rebound clone": {g, other}, "its clone": {h, other}} {
		y, grad := c.m.want(x)
		near(t, what, value(t, c.f, x...), []float64{y}, 1e-14)
		near(t, what, tapeGradient(t, c.f, x, []float64{1}), grad, 1e-14)
	}
	for _, c := range []struct {
		q   any
		msg string
	}{
		{nil, "nabla: Rebind: the struct is a <nil>, want a *nabla.model as at Prepare"},
		{3, "the struct is a int, want a *nabla.model"},
		{*newModel(), "the struct is a nabla.model, want a *nabla.model"},
		{(*model)(nil), "the struct is nil (a *nabla.model)"},
	} {
		err := f.Rebind(c.q)
		var fe *FuncError
		if !errors.As(err, &fe) || !strings.Contains(err.Error(), c.msg) {
			t.Errorf("error %v, want %q", err, c.msg)
		}
	}
	y, _ := m.want(x)
	near(t, "after refusals", value(t, f, x...), []float64{y}, 1e-14)
}

func TestClonesInParallel(t *testing.T) {
	x := []float64{0.5, -1}
	m := newModel()
	y, g := m.want(x)
	f := mustFunction(t, Bind(loss, m), x)
	var wg sync.WaitGroup
	for range 4 {
		f := f.Clone()
		wg.Go(func() {
			for range 50 {
				near(t, "value", value(t, f, x...), []float64{y}, 1e-14)
				near(t, "gradient", tapeGradient(t, f, x, []float64{1}), g, 1e-14)
				_, rg := replay(t, compiled(t, f, x), x)
				near(t, "replayed gradient", rg, g, 1e-14)
			}
		})
	}
	wg.Wait()
}

func TestBindDoesNotAllocate(t *testing.T) {
	x, y := []float64{0.5, -1}, []float64{0}
	f := mustFunction(t, Bind(loss, newModel()), x)
	ctx := f.Context()
	if n := testing.AllocsPerRun(20, func() { _ = f.Value(y, x) }); n != 0 {
		t.Errorf("Value: %v allocations", n)
	}
	var tr core.Tracer
	params, frozen := make([]float64, ctx.Params()), make([]byte, 0, 512)
	if n := testing.AllocsPerRun(20, func() {
		tr.StartRecording(2, ctx.Params(), core.RecordOptions{})
		ctx.Read(params)
		frozen = ctx.Snapshot(frozen[:0])
		_ = ctx.Enter(&tr, tr.Parameters())
		_ = ctx.Leave()
	}); n != 0 {
		t.Errorf("a call of the context: %v allocations", n)
	}
	near(t, "parameters", params, []float64{2, 1, 2, 3, 5, 7, 11, 13, 17}, 0)
	type plain struct{ W [2]float64 }
	g := mustFunction(t, Bind(func(x []float64, p *plain) float64 { return p.W[0] * x[0] }, new(plain)), x)
	if n := testing.AllocsPerRun(20, func() { _ = g.Value(y, x) }); n != 0 {
		t.Errorf("plain Value: %v allocations", n)
	}
}

// someBackend is an engine of which only the reverse of a program is asked.
type someBackend struct{}

func (someBackend) Name() string { return "some" }

// A number of an outer trace in a field of the struct is captured by the inner
// derivative: d/dx of d/dz (z²·x) is 2z.
func TestBindInsideADifferentiatedFunction(t *testing.T) {
	type outer struct {
		X, C Real
		V    Vec
	}
	outerF := func(x []Real) []Real {
		p := &outer{X: x[0], C: Const(3), V: VecOf([]float64{7})}
		inner := Bind(func(z []Real, p *outer) Real {
			return z[0].Sq().Mul(p.X).Add(p.C.Mul(z[0])).Add(p.V.At(0).Mul(z[0]))
		}, p)
		return GradientFunc(inner, someBackend{})(x[1:])
	}
	x := []float64{5, 2}
	f := mustFunction(t, outerF, x)
	near(t, "inner gradient", value(t, f, x...), []float64{30}, 0)
	y, dy := dualTangents(t, f, x, []float64{1, 0})
	near(t, "dual", append(y, dy...), []float64{30, 4}, 0)
	near(t, "tape", tapeGradient(t, f, x, []float64{1}), []float64{4, 10}, 0)
	_, g := replay(t, compiled(t, f, x), x)
	near(t, "replayed", g, []float64{4, 10}, 0)
}

func TestVecMethods(t *testing.T) {
	data := []float64{1, 2, 3, 4}
	v := VecOf(data)
	data[3] = 5
	if v.Len() != 4 || v.At(3).v != 5 || v.Slice(1, 3).Len() != 2 || v.Slice(1, 4).At(2).v != 5 {
		t.Error("a Vec is not a view of its numbers")
	}
	if d := v.Slice(0, 2).Dot([]Real{Const(10), Const(100)}); d.v != 210 {
		t.Errorf("Dot = %v, want 210", d)
	}
	defer func() {
		want := ShapeError{Op: "Vec.Dot", Arg: "len(x)", Got: 1, Want: 4}
		if e, ok := recover().(*ShapeError); !ok || *e != want {
			t.Errorf("panic %v, want %v", e, &want)
		}
	}()
	v.Dot(make([]Real, 1))
}

// A recording that cannot capture must not take an active number for a parameter.
func TestBindActiveNumberInAnOutermostRecording(t *testing.T) {
	type outer struct{ X, C Real }
	mul := func(z []Real, p *outer) Real { return z[0].Mul(p.X).Mul(p.C) }
	var got error
	f := mustFunction(t, func(x []Real) Real {
		inner := mustFunction(t, Bind(mul, &outer{x[0], Const(2)}), []float64{1})
		_, got = inner.Program([]float64{1})
		return x[0]
	}, []float64{1})
	dualTangents(t, f, []float64{1}, []float64{1})
	if !errors.Is(got, ErrForeignReal) {
		t.Errorf("error %v, want %v", got, ErrForeignReal)
	}
}
