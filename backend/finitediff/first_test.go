package finitediff

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"
	"weak"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// plain makes a Function over float64.
func plain(n, m int, f func(y, x []float64)) *engine.Function {
	return engine.NewFunction(engine.Def{Name: "f", N: n, M: m, Plain: func(y, x []float64, _ engine.Context) error {
		f(y, x)
		return nil
	}})
}

func op1(op rules.Op, a engine.Real) engine.Real    { return core.Apply1(op, a) }
func op2(op rules.Op, a, b engine.Real) engine.Real { return core.Apply2(op, a, b) }
func num(v float64) engine.Real                     { return engine.Real{V: v} }

// traced makes a Function over Reals.
func traced(n, m int, f func(y, x []engine.Real)) *engine.Function {
	return engine.Derived("f", n, m, f)
}

func jacobianOf(t testing.TB, b Backend, f *engine.Function, x []float64) ([]float64, engine.Block) {
	t.Helper()
	n, m := f.Dims()
	p, err := b.PrepareJacobian(f, x)
	if err != nil {
		t.Fatal(err)
	}
	y, jac := make([]float64, m), engine.NewBlock(m, n)
	for i := range jac.Data {
		jac.Data[i] = math.NaN()
	}
	if err := p.ValueAndJacobian(y, jac, x); err != nil {
		t.Fatal(err)
	}
	return y, jac
}

// smooth is a table of functions with their derivatives, at points where f″ and f‴
// times the step and its square are not much larger than f′.
var smooth = []struct {
	name string
	f    func(x engine.Real) engine.Real
	df   func(x float64) float64
	xs   []float64
}{
	{"exp", func(x engine.Real) engine.Real { return op1(rules.Exp, x) }, math.Exp, []float64{-2, 0, 1e-9, 1, 3}},
	{"sin", func(x engine.Real) engine.Real { return op1(rules.Sin, x) }, math.Cos, []float64{-1, 0, 1e-12, 0.5, 3}},
	{"cube", func(x engine.Real) engine.Real { return op2(rules.Mul, x, op1(rules.Sq, x)) },
		func(x float64) float64 { return 3 * x * x }, []float64{1, -2, 1e6, 1e100, -3e50}},
	{"log", func(x engine.Real) engine.Real { return op1(rules.Log, x) },
		func(x float64) float64 { return 1 / x }, []float64{0.5, 1, 10, 1e8}},
	{"inv", func(x engine.Real) engine.Real { return op1(rules.Inv, x) },
		func(x float64) float64 { return -1 / x / x }, []float64{1, -3, 1e5}},
	{"linear huge", func(x engine.Real) engine.Real { return op2(rules.Mul, num(3e150), x) },
		func(float64) float64 { return 3e150 }, []float64{0, 1, 1e-300, -1e150}},
	{"linear tiny", func(x engine.Real) engine.Real { return op2(rules.Mul, num(3e-150), x) },
		func(float64) float64 { return 3e-150 }, []float64{0, 1, 1e300, math.MaxFloat64, -math.MaxFloat64}},
}

// far reports whether an error is larger than tol, or NaN.
func far(err, tol float64) bool { return !(math.Abs(err) <= tol) }

// order is the size of each method's truncation error with the default step, for
// functions whose derivatives are all of one size.
var order = [numMethods]float64{Central: cbrtEps * cbrtEps, Forward: sqrtEps, Backward: sqrtEps, Complex: epsilon}

// errorBound is the relative error that a method may have where |f| = y and
// |f′| = d: truncation of its order, and the rounding of two values over the step.
func errorBound(m Method, x, y, d float64) float64 {
	if m == Complex {
		return 4 * epsilon
	}
	s := settings{rel: cbrtEps, abs: cbrtEps}
	if m != Central {
		s = settings{rel: sqrtEps, abs: sqrtEps}
	}
	return 4*order[m] + 2*epsilon*math.Abs(y/d/s.step(x))
}

func TestFirstDerivativesAreWithinTheMethodsBound(t *testing.T) {
	for _, c := range smooth {
		f := traced(1, 1, func(y, x []engine.Real) { y[0] = c.f(x[0]) })
		for _, x := range c.xs {
			for m := Central; m < numMethods; m++ {
				y, jac := jacobianOf(t, Backend{Method: m}, f, []float64{x})
				got, want := jac.Data[0], c.df(x)
				if bound := errorBound(m, x, y[0], want); !(math.Abs(got-want) <= bound*math.Abs(want)) {
					t.Errorf("%s: %v at %v: got %v, want %v, relative error %.2g > %.2g", c.name, m, x, got, want,
						math.Abs(got/want-1), bound)
				}
			}
		}
	}
}

func TestMethodsDifferInAccuracyAsStated(t *testing.T) {
	f := traced(1, 1, func(y, x []engine.Real) { y[0] = op1(rules.Exp, x[0]) })
	last := math.Inf(1)
	for _, m := range []Method{Forward, Central, Complex} {
		_, jac := jacobianOf(t, Backend{Method: m}, f, []float64{1})
		err := math.Abs(jac.Data[0]-math.E) / math.E
		if err >= last/50 {
			t.Errorf("%v: error %g, the method before has %g", m, err, last)
		}
		last = err
	}
}

// rosenbrockMap has three outputs over four inputs, with column 2 zero in row 0.
func rosenbrockMap(y, x []engine.Real) {
	y[0] = op2(rules.Mul, x[0], op1(rules.Sin, x[1]))
	y[1] = op2(rules.Add, op1(rules.Exp, x[2]), op2(rules.Mul, x[3], x[0]))
	y[2] = op2(rules.Div, x[1], op2(rules.Add, num(2), op1(rules.Sq, x[2])))
}

func TestPushforwardAgreesWithJacobian(t *testing.T) {
	f := traced(4, 3, rosenbrockMap)
	x := []float64{1.5, -0.25, 0.75, 30}
	v := engine.NewBlock(4, 6)
	cols := [][]float64{{1, 0, 0, 0}, {0, 0, -2.5, 0}, {1, 2, 3, 4}, {0, 0, 0, 0}, {1e-200, -1e-200, 2e-200, 0},
		{3e300, 1e300, 0, -1e299}}
	for j, c := range cols {
		for i := range c {
			v.Row(i)[j] = c[i]
		}
	}
	for m := Central; m < numMethods; m++ {
		b := Backend{Method: m}
		y, jac := jacobianOf(t, b, f, x)
		p, err := b.PreparePushforward(f, x, v.B)
		if err != nil {
			t.Fatal(err)
		}
		y2, ydot := make([]float64, 3), engine.NewBlock(3, v.B)
		if err := p.Pushforward(y2, ydot, x, v); err != nil {
			t.Fatal(err)
		}
		for i := range y {
			if y[i] != y2[i] {
				t.Errorf("%v: value %d: %v and %v", m, i, y[i], y2[i])
			}
			for j, c := range cols {
				want, size := 0.0, 0.0
				for k := range c {
					want += jac.Row(i)[k] * c[k]
					size += 30 * math.Abs(jac.Row(i)[k]*c[k])
				}
				got := ydot.Row(i)[j]
				if tol := 10 * order[m] * size; !(math.Abs(got-want) <= tol) {
					t.Errorf("%v: y[%d] along %v: got %v, want %v", m, i, c, got, want)
				}
				if j == 0 && got != want {
					t.Errorf("%v: a basis vector gives %v, the column is %v", m, got, want)
				}
				// A batch is its tangents one by one, bit for bit.
				one := engine.NewBlock(3, 1)
				if err := p.Pushforward(y2, one, x, engine.Column(c)); err != nil {
					t.Fatal(err)
				}
				if one.Data[i] != got {
					t.Errorf("%v: tangent %v alone gives %v, in a batch %v", m, c, one.Data[i], got)
				}
			}
		}
	}
}

func TestEveryOptionChangesTheResult(t *testing.T) {
	f := func(int) *engine.Function {
		return traced(1, 1, func(y, x []engine.Real) { y[0] = op1(rules.Exp, op1(rules.Sin, x[0])) })
	}
	at := func(b Backend, x float64) float64 {
		_, jac := jacobianOf(t, b, f(0), []float64{x})
		return jac.Data[0]
	}
	upper := &Bounds{Upper: []float64{2}}
	for _, c := range []struct {
		a, b Backend
		x    float64
	}{
		{Backend{}, Backend{Method: Forward}, 2},
		{Backend{Method: Forward}, Backend{Method: Backward}, 2},
		{Backend{}, Backend{Method: Complex}, 2},
		{Backend{}, Backend{RelStep: 1e-4}, 2},
		{Backend{}, Backend{AbsStep: 1e-2}, 2},
		{Backend{RelStep: 1e-4}, Backend{RelStep: 1e-4, AbsStep: 1e-2}, 0.5},
		{Backend{Method: Complex}, Backend{Method: Complex, RelStep: 1e-3}, 2},
		{Backend{Method: Complex}, Backend{Method: Complex, AbsStep: 1e-2}, 0.5},
		{Backend{}, Backend{Bounds: upper}, 2},
		{Backend{Method: Forward}, Backend{Method: Forward, Bounds: upper}, 2},
	} {
		a, b := at(c.a, c.x), at(c.b, c.x)
		if a == b {
			t.Errorf("%s and %s both give %v", c.a.Name(), c.b.Name(), a)
		}
		if far(a-b, 1e-2) {
			t.Errorf("%s gives %v, %s gives %v", c.a.Name(), a, c.b.Name(), b)
		}
	}
	// One side at the bound is the other method exactly.
	if a, b := at(Backend{Method: Forward, Bounds: upper}, 2), at(Backend{Method: Backward}, 2); a != b {
		t.Errorf("Forward at its upper bound gives %v, Backward %v", a, b)
	}
}

func TestNameShowsSettings(t *testing.T) {
	for want, b := range map[string]Backend{
		"finitediff":                              {},
		"finitediff(forward)":                     {Method: Forward},
		"finitediff(relstep=1e-05)":               {RelStep: 1e-5},
		"finitediff(complex, absstep=0.5)":        {Method: Complex, AbsStep: 0.5},
		"finitediff(backward, bounds, workers=3)": {Method: Backward, Bounds: &Bounds{}, Workers: 3},
	} {
		if got := b.Name(); got != want {
			t.Errorf("Name is %q, want %q", got, want)
		}
	}
}

func TestSettingsAreChecked(t *testing.T) {
	f := plain(2, 1, func(y, x []float64) { y[0] = x[0] })
	for _, b := range []Backend{
		{Method: numMethods}, {RelStep: -1}, {AbsStep: math.NaN()}, {RelStep: math.Inf(1)}, {Workers: -1},
		{Bounds: &Bounds{Lower: []float64{1}}}, {Bounds: &Bounds{Lower: []float64{1, 1}, Upper: []float64{2, 0}}},
		{Bounds: &Bounds{Upper: []float64{math.NaN(), 0}}},
	} {
		if _, err := b.PrepareGradient(f, make([]float64, 2)); err == nil {
			t.Errorf("%+v: no error", b)
		}
		if _, err := b.PreparePushforward(f, make([]float64, 2), 1); err == nil {
			t.Errorf("%+v: no error", b)
		}
	}
	var shape *engine.ShapeError
	if _, err := (Backend{}).PrepareGradient(plain(2, 2, nil), make([]float64, 2)); !errors.As(err, &shape) {
		t.Errorf("gradient of two outputs: %v", err)
	}
	if _, err := (Backend{Method: Complex}).PrepareJacobian(f,
		make([]float64, 2)); !errors.Is(err, engine.ErrUnsupported) {
		t.Errorf("complex step of plain Go: %v", err)
	}
}

func TestEmptyInputsAndOutputs(t *testing.T) {
	for m := Central; m < numMethods; m++ {
		for _, size := range [][2]int{{0, 2}, {2, 0}, {0, 0}} {
			f := traced(size[0], size[1], func(y, x []engine.Real) {
				for i := range y {
					y[i] = num(float64(i + 1))
				}
			})
			y, _ := jacobianOf(t, Backend{Method: m, Workers: 2}, f, make([]float64, size[0]))
			p, err := Backend{Method: m}.PreparePushforward(f, make([]float64, size[0]), 2)
			if err != nil {
				t.Fatal(err)
			}
			ydot := engine.NewBlock(size[1], 2)
			for i := range ydot.Data {
				ydot.Data[i] = math.NaN()
			}
			if err := p.Pushforward(y, ydot, make([]float64, size[0]), engine.NewBlock(size[0], 2)); err != nil {
				t.Fatal(err)
			}
			for i, v := range y {
				if v != float64(i+1) || ydot.Row(i)[0] != 0 || ydot.Row(i)[1] != 0 {
					t.Errorf("%v, %v: y = %v, ydot = %v", m, size, y, ydot.Data)
				}
			}
		}
	}
}

func TestNaNAndInfGiveIEEEValues(t *testing.T) {
	f := traced(2, 2, func(y, x []engine.Real) { y[0], y[1] = op1(rules.Exp, x[0]), op1(rules.Sq, x[1]) })
	for m := Central; m < numMethods; m++ {
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			y, jac := jacobianOf(t, Backend{Method: m}, f, []float64{bad, 3})
			if want := math.Exp(bad); y[0] != want && want == want {
				t.Errorf("%v at %v: value %v", m, bad, y[0])
			}
			if m != Complex && !math.IsNaN(jac.Row(0)[0]) {
				t.Errorf("%v at %v: derivative %v, want NaN", m, bad, jac.Row(0)[0])
			}
			if got := jac.Row(1)[1]; far(got-6, 1e-6) {
				t.Errorf("%v at %v: the other component is %v", m, bad, got)
			}
			p, err := Backend{Method: m}.PreparePushforward(f, []float64{1, 3}, 1)
			if err != nil {
				t.Fatal(err)
			}
			ydot := engine.NewBlock(2, 1)
			if err := p.Pushforward(y, ydot, []float64{1, 3}, engine.Column([]float64{1, bad})); err != nil {
				t.Fatal(err)
			}
			if v := ydot.Data[1]; v-v == 0 {
				t.Errorf("%v along (1, %v): %v", m, bad, ydot.Data)
			}
		}
	}
}

func TestErrorsOfTheFunctionPassThrough(t *testing.T) {
	failure := errors.New("no value")
	for fail := 1; fail <= 7; fail++ {
		for _, workers := range []int{1, 3} {
			f := engine.NewFunction(engine.Def{Name: "f", N: 3, M: 1,
				Plain: func(y, x []float64, _ engine.Context) error {
					if fail == 1 || x[(fail-2)/2] != 1 {
						return fmt.Errorf("point %v: %w", x, failure)
					}
					y[0] = x[0]
					return nil
				}})
			p, err := Backend{Workers: workers}.PrepareGradient(f, []float64{1, 1, 1})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.ValueAndGradient(make([]float64, 3), []float64{1, 1, 1}); !errors.Is(err, failure) {
				t.Errorf("got %v", err)
			}
		}
	}
	f := plain(1, 1, func(y, x []float64) { panic("boom") })
	p, err := Backend{}.PrepareGradient(f, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	var pe *engine.PanicError
	if _, err := p.ValueAndGradient(make([]float64, 1), []float64{1}); !errors.As(err, &pe) {
		t.Errorf("got %v", err)
	}
}

func TestPointAndDestinationAreKept(t *testing.T) {
	x := []float64{1, 2, 3}
	keep := []float64{1, 2, 3}
	f := plain(3, 2, func(y, at []float64) {
		if &at[0] == &x[0] {
			t.Error("f got the user's slice")
		}
		y[0], y[1] = at[0]*at[1], at[2]
	})
	p, err := Backend{}.PrepareJacobian(f, x)
	if err != nil {
		t.Fatal(err)
	}
	// A block inside a wider matrix: the other columns stay.
	wide := make([]float64, 2*5)
	for i := range wide {
		wide[i] = -7
	}
	y := make([]float64, 2)
	if err := p.ValueAndJacobian(y, engine.Block{N: 2, B: 3, Stride: 5, Data: wide[1:]}, x); err != nil {
		t.Fatal(err)
	}
	for i := range x {
		if x[i] != keep[i] {
			t.Fatal("x was modified")
		}
	}
	for _, i := range []int{0, 4, 5, 9} {
		if wide[i] != -7 {
			t.Errorf("element %d of the matrix was overwritten", i)
		}
	}
	if far(wide[1]-2, 1e-9) || far(wide[8]-1, 1e-9) {
		t.Errorf("jacobian %v", wide)
	}
}

func TestDirectionOutOfACornerTakesColumns(t *testing.T) {
	f := traced(2, 1, func(y, x []engine.Real) { y[0] = op2(rules.Mul, op1(rules.Exp, x[0]), x[1]) })
	x := []float64{0, 2} // neither way along (1, 3) is inside
	b := Backend{Bounds: &Bounds{Lower: []float64{0, -9}, Upper: []float64{9, 2}}}
	p, err := b.PreparePushforward(f, x, 1)
	if err != nil {
		t.Fatal(err)
	}
	y, ydot := make([]float64, 1), make([]float64, 1)
	if err := p.Pushforward(y, engine.Column(ydot), x, engine.Column([]float64{1, 3})); err != nil {
		t.Fatal(err)
	}
	if far(ydot[0]-5, 1e-8) {
		t.Errorf("J·v = %v, want 5", ydot)
	}
}

func TestAStepTooSmallToMoveXIsTheSmallestThatDoes(t *testing.T) {
	f := traced(1, 1, func(y, x []engine.Real) { y[0] = op2(rules.Mul, num(4), x[0]) })
	for _, m := range []Method{Central, Forward, Backward} {
		for _, x := range []float64{1, -3, 1e200} {
			if _, jac := jacobianOf(t, Backend{Method: m, RelStep: 1e-20}, f, []float64{x}); jac.Data[0] != 4 {
				t.Errorf("%v at %v: %v, want 4", m, x, jac.Data)
			}
		}
	}
}

// TestCallsKeepNoSlices checks that a prepared object keeps no slices of its caller between calls.
func TestCallsKeepNoSlices(t *testing.T) {
	const n = 5
	g := plain(n, 1, costScalar)
	f := plain(n, n, func(y, x []float64) { copy(y, x) })
	x := costPoint()
	b := Backend{}
	push, err1 := b.PreparePushforward(f, x, 1)
	jac, err2 := b.PrepareJacobian(f, x)
	hess, err3 := b.PrepareHessian(g, x)
	hvp, err4 := b.PrepareHVP(g, x, 1)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func(x, y []float64, in, out engine.Block) error{
		"pushforward": func(x, y []float64, in, out engine.Block) error { return push.Pushforward(y, out, x, in) },
		"jacobian":    func(x, y []float64, _, out engine.Block) error { return jac.ValueAndJacobian(y, out, x) },
		"hessian": func(x, y []float64, _, out engine.Block) error {
			_, err := hess.ValueGradientAndHessian(y, out, x)
			return err
		},
		"hvp": func(x, y []float64, in, out engine.Block) error {
			_, err := hvp.ValueGradientAndHVP(y, out, x, in)
			return err
		},
	} {
		given := func() (held [4]weak.Pointer[float64]) {
			x, y, in, out := costPoint(), make([]float64, n), engine.NewBlock(n, n), engine.NewBlock(n, n)
			if name == "pushforward" || name == "hvp" {
				in, out = engine.NewBlock(n, 1), engine.NewBlock(n, 1)
			}
			in.Data[0] = 1
			if err := call(x, y, in, out); err != nil {
				t.Error(err)
			}
			for i, s := range [][]float64{x, y, in.Data, out.Data} {
				held[i] = weak.Make(&s[0])
			}
			return held
		}()
		runtime.GC()
		for i, p := range given {
			if p.Value() != nil {
				t.Errorf("%s holds on to its %s", name, []string{"x", "y or gradient", "tangents", "result"}[i])
			}
		}
	}
	runtime.KeepAlive([]any{push, jac, hess, hvp})
}
