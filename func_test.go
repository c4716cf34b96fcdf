package nabla

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/program"
)

// The functions below compute x0·x1 + x0², or that and x0 - x1.

func tracedLoss(x []Real) Real      { return x[0].Mul(x[1]).Add(x[0].Sq()) }
func plainLoss(x []float64) float64 { return x[0]*x[1] + x[0]*x[0] }
func tracedPair(x []Real) []Real    { return []Real{tracedLoss(x), x[0].Sub(x[1])} }
func plainPair(x []float64) []float64 {
	return []float64{plainLoss(x), x[0] - x[1]}
}

type (
	namedTraced func([]Real) Real
	namedPlain  func([]float64) []float64
	namedInto   func(y, x []Real)
)

// dualTangents is f and its derivative along v, by dual numbers.
func dualTangents(t *testing.T, f *engine.Function, x, v []float64) (y, dy []float64) {
	t.Helper()
	n, m := f.Dims()
	var tr core.Tracer
	tr.StartDual(n, 1, 0, false)
	defer tr.Close()
	xs, ys := make([]engine.Real, n), make([]engine.Real, m)
	engine.Inputs(&tr, xs, x)
	for i := range v {
		tr.Tangents(int32(i) + 1)[0] = v[i]
	}
	if err := f.Over(ys, xs); err != nil {
		t.Fatal(err)
	}
	y, dy = make([]float64, m), make([]float64, m)
	for i, r := range ys {
		y[i] = r.V
		if r.ID != 0 {
			dy[i] = tr.Tangents(r.ID)[0]
		}
	}
	return y, dy
}

// tapeGradient is the gradient of wᵀf at x, by a tape.
func tapeGradient(t *testing.T, f *engine.Function, x, w []float64) []float64 {
	t.Helper()
	n, m := f.Dims()
	var tr core.Tracer
	tr.StartTape(n, 0)
	defer tr.Close()
	xs, ys := make([]engine.Real, n), make([]engine.Real, m)
	engine.Inputs(&tr, xs, x)
	if err := f.Over(ys, xs); err != nil {
		t.Fatal(err)
	}
	ids := make([]int32, m)
	for i, r := range ys {
		ids[i] = r.ID
	}
	g := make([]float64, n)
	tr.SweepBack(g, ids, w, false)
	return g
}

func value(t *testing.T, f *engine.Function, x ...float64) []float64 {
	t.Helper()
	_, m := f.Dims()
	y := make([]float64, m)
	if err := f.Value(y, x); err != nil {
		t.Fatal(err)
	}
	return y
}

// near fails where got is further than tol from want, relative to it.
func near(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s = %v, want %v", what, got, want)
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tol*math.Max(1, math.Abs(want[i]))) {
			t.Errorf("%s = %v, want %v", what, got, want)
			return
		}
	}
}

func TestFunctionOfEveryShape(t *testing.T) {
	pair, one := []float64{10, -1}, []float64{10}
	for _, c := range []struct {
		name   string
		f      any
		x      []float64
		want   []float64
		traced bool
	}{
		{"func(Real) Real", func(x Real) Real { return x.Sq() }, []float64{3}, []float64{9}, true},
		{"func(float64) float64", func(x float64) float64 { return x * x }, []float64{3}, []float64{9}, false},
		{"func(Real) []Real", func(x Real) []Real { return []Real{x, x.Neg()} }, []float64{3}, []float64{3, -3}, true},
		{"func(float64) []float64", func(x float64) []float64 { return []float64{x, -x} }, []float64{3},
			[]float64{3, -3}, false},
		{"func([]Real) Real", tracedLoss, []float64{2, 3}, one, true},
		{"func([]float64) float64", plainLoss, []float64{2, 3}, one, false},
		{"func([]Real) []Real", tracedPair, []float64{2, 3}, pair, true},
		{"func([]float64) []float64", plainPair, []float64{2, 3}, pair, false},
		{"named traced", namedTraced(tracedLoss), []float64{2, 3}, one, true},
		{"named plain", namedPlain(plainPair), []float64{2, 3}, pair, false},
		{"in place traced", InPlace(2, func(y, x []Real) { copy(y, tracedPair(x)) }), []float64{2, 3}, pair, true},
		{"in place plain", InPlace(2, func(y, x []float64) { copy(y, plainPair(x)) }), []float64{2, 3}, pair, false},
		{"in place named", InPlace(2, namedInto(func(y, x []Real) { copy(y, tracedPair(x)) })), []float64{2, 3}, pair,
			true},
		{"returns its input", func(x []float64) []float64 { return x }, []float64{2, 3}, []float64{2, 3}, false},
		{"returns its traced input", func(x []Real) []Real { return x[1:] }, []float64{2, 3}, []float64{3}, true},
		{"no inputs", func(x []Real) Real { return Const(4) }, nil, []float64{4}, true},
		{"no outputs", func(x []float64) []float64 { return nil }, []float64{1}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := functionOf("Op", c.f, c.x, wantAny)
			if err != nil {
				t.Fatal(err)
			}
			if n, m := f.Dims(); n != len(c.x) || m != len(c.want) {
				t.Errorf("Dims() = %d, %d, want %d, %d", n, m, len(c.x), len(c.want))
			}
			if f.Traceable() != c.traced {
				t.Errorf("Traceable() = %v", f.Traceable())
			}
			for _, g := range []*engine.Function{f, f.Clone(), f.Clone().Clone()} {
				near(t, "value", value(t, g, c.x...), c.want, 0)
			}
			if !c.traced {
				return
			}
			p, err := f.Program(c.x)
			if err != nil {
				t.Fatal(err)
			}
			m := program.NewMachine(p)
			copy(m.Input(0), c.x)
			y := make([]float64, len(c.want))
			m.Run()
			m.Output(0, y)
			near(t, "replayed", y, c.want, 0)
		})
	}
}

func TestFunctionOfRefuses(t *testing.T) {
	var nilTraced func([]Real) Real
	var nilNamed namedPlain
	var nilFunc *Func
	for _, c := range []struct {
		name string
		f    any
		x    []float64
		want shapeWant
		msg  string
	}{
		{"nil", nil, nil, wantAny, "nabla: Op: the function is nil"},
		{"nil func", nilTraced, nil, wantAny, "nabla: Op: the function is nil (a func([]nabla.Real) nabla.Real)"},
		{"nil named func", nilNamed, nil, wantAny, "nabla: Op: the function is nil (a nabla.namedPlain)"},
		{"nil *Func", nilFunc, nil, wantAny, "nabla: Op: the *Func is nil"},
		{"empty *Func", new(Func), nil, wantAny, "nabla: Op: the *Func is empty; make it with InPlace"},
		{"no function", 3, nil, wantAny, "nabla: Op: got a int, want a function"},
		{"other function", strings.ToUpper, nil, wantAny,
			"its type func(string) string does not fit; want func([]nabla.Real)"},
		{"nil in place", InPlace[func(y, x []Real)](2, nil), nil, wantAny,
			"nabla: InPlace: the function is nil (a func([]nabla.Real, []nabla.Real))"},
		{"scalar for a Jacobian", tracedLoss, []float64{1, 2}, wantVector,
			"nabla: Op: function nabla.tracedLoss: it returns one number, want a slice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := functionOf("Op", c.f, c.x, c.want)
			var fe *FuncError
			if !errors.As(err, &fe) {
				t.Fatalf("error %v (%T), want a *FuncError", err, err)
			}
			if !strings.Contains(err.Error(), c.msg) {
				t.Errorf("error %q, want %q in it", err, c.msg)
			}
		})
	}
	for _, c := range []struct {
		name string
		f    any
		x    []float64
		want shapeWant
		err  ShapeError
	}{
		{"vector for a gradient", tracedPair, []float64{1, 2}, wantScalar,
			ShapeError{Op: "Op", Arg: "outputs of f", Got: 2, Want: 1}},
		{"in place for a gradient", InPlace(3, func(y, x []float64) {}), []float64{1, 2}, wantScalar,
			ShapeError{Op: "Op", Arg: "outputs of f", Got: 3, Want: 1}},
		{"one number wanted", func(x Real) Real { return x }, []float64{1, 2}, wantAny,
			ShapeError{Op: "Op", Arg: "len(x)", Got: 2, Want: 1}},
		{"negative length", InPlace(-2, func(y, x []Real) {}), []float64{1, 2}, wantAny,
			ShapeError{Op: "InPlace", Arg: "m", Got: -2, Want: 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := functionOf("Op", c.f, c.x, c.want)
			var se *ShapeError
			if !errors.As(err, &se) || *se != c.err {
				t.Errorf("error %v, want %v", err, &c.err)
			}
		})
	}
}

func TestFunctionOfFewOutputsLater(t *testing.T) {
	k := 3
	for name, f := range map[string]any{
		"plain":  func(x []float64) []float64 { return make([]float64, k) },
		"traced": func(x []Real) []Real { return make([]Real, k) },
	} {
		k = 3
		fn, err := functionOf("Op", f, []float64{1}, wantVector)
		if err != nil {
			t.Fatal(err)
		}
		k = 2
		err = fn.Value(make([]float64, 3), []float64{1})
		var se *ShapeError
		if want := (ShapeError{Op: "Op", Arg: "outputs of f", Got: 2, Want: 3}); !errors.As(err, &se) || *se != want {
			t.Errorf("%s: error %v, want %v", name, err, &want)
		}
	}
}

func TestFunctionOfPanicsInside(t *testing.T) {
	boom := errors.New("boom")
	for name, f := range map[string]any{
		"while outputs are counted": func(x []Real) []Real { panic(boom) },
		"plain":                     func(x []float64) float64 { panic(boom) },
	} {
		fn, err := functionOf("Op", f, []float64{1}, wantAny)
		if err == nil {
			err = fn.Value(make([]float64, 1), []float64{1})
		}
		var pe *PanicError
		if !errors.As(err, &pe) || !errors.Is(err, boom) ||
			!strings.Contains(pe.Function, "nabla.TestFunctionOfPanicsInside.func") {
			t.Errorf("%s: error %v, want a *PanicError with %v", name, err, boom)
		}
	}
}

func TestFunctionOfKeepsTheCallersInput(t *testing.T) {
	for name, f := range map[string]any{
		"scalar":   func(x []float64) float64 { x[0] = 9; return x[1] },
		"append":   func(x []float64) float64 { return append(x, 7)[0] },
		"slice":    func(x []float64) []float64 { clear(x); return x },
		"in place": InPlace(1, func(y, x []float64) { clear(x); y[0] = 0 }),
	} {
		back := []float64{1, 2, 3}
		x := back[:2]
		fn, err := functionOf("Op", f, x, wantAny)
		if err != nil {
			t.Fatal(err)
		}
		_, m := fn.Dims()
		if err := fn.Value(make([]float64, m), x); err != nil {
			t.Fatal(err)
		}
		near(t, name+": x", back, []float64{1, 2, 3}, 0)
	}
}

func TestInPlaceOutputNotWritten(t *testing.T) {
	for name, f := range map[string]*Func{
		"plain":             InPlace(2, func(y, x []float64) { y[0] = 1 }),
		"plain, read first": InPlace(2, func(y, x []float64) { y[0] = 1; y[1] += x[0] }),
		"traced":            InPlace(2, func(y, x []Real) { y[0] = x[0] }),
		"traced, read":      InPlace(2, func(y, x []Real) { y[0] = x[0]; y[1] = y[1].Add(x[0]) }),
	} {
		fn, err := functionOf("Op", f, []float64{1}, wantAny)
		if err != nil {
			t.Fatal(err)
		}
		err = fn.Value(make([]float64, 2), []float64{1})
		if !errors.Is(err, ErrOutputNotWritten) ||
			!strings.HasSuffix(name, "read") && !strings.Contains(err.Error(), "output 1") {
			t.Errorf("%s: error %v, want %v for output 1", name, err, ErrOutputNotWritten)
		}
	}
	nan := InPlace(1, func(y, x []float64) { y[0] = math.NaN() })
	fn, err := functionOf("Op", nan, []float64{1}, wantAny)
	if err != nil {
		t.Fatal(err)
	}
	if y := value(t, fn, 1); y[0] == y[0] {
		t.Errorf("a NaN of f's own came out as %v", y)
	}
}

func TestFunctionOfDoesNotAllocate(t *testing.T) {
	for name, f := range map[string]any{
		"plain scalar":    plainLoss,
		"traced scalar":   tracedLoss,
		"plain in place":  InPlace(1, func(y, x []float64) { y[0] = x[0] }),
		"traced in place": InPlace(1, func(y, x []Real) { y[0] = x[0] }),
		"returns input":   func(x []float64) []float64 { return x },
	} {
		x := []float64{2, 3}
		fn, err := functionOf("Op", f, x, wantAny)
		if err != nil {
			t.Fatal(err)
		}
		_, m := fn.Dims()
		y := make([]float64, m)
		if n := testing.AllocsPerRun(20, func() { _ = fn.Value(y, x) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

type holder struct{ a float64 }

func (h *holder) loss(x []float64) float64 { return h.a * x[0] }

func generic[T any](x []T) T { return x[0] }

func TestFunctionNames(t *testing.T) {
	h := &holder{2}
	for want, f := range map[string]any{
		"nabla.tracedLoss":          tracedLoss,
		"nabla.(*holder).loss":      h.loss,
		"nabla.generic[...]":        generic[Real],
		"nabla.TestFunctionNames.":  func(x []Real) Real { return x[0] },
		"nabla.TestFunctionNames.f": namedTraced(func(x []Real) Real { return x[0] }),
	} {
		fn, err := functionOf("Op", f, []float64{1}, wantAny)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(fn.Name(), want) {
			t.Errorf("name %q, want %q", fn.Name(), want)
		}
	}
}

func TestFunctionDerivatives(t *testing.T) {
	f, err := functionOf("Op", tracedPair, []float64{2, 3}, wantVector)
	if err != nil {
		t.Fatal(err)
	}
	y, dy := dualTangents(t, f, []float64{2, 3}, []float64{1, -1})
	near(t, "y", y, []float64{10, -1}, 0)
	near(t, "dy", dy, []float64{5, 2}, 0)
	near(t, "g", tapeGradient(t, f, []float64{2, 3}, []float64{1, 2}), []float64{9, 0}, 0)
}
