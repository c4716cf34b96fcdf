package nabla_test

import (
	"errors"
	"math"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/internal/engines"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// exact are the engines without truncation error.
var exact = append(engines.Exact(), forwarddiff.Backend{Chunk: 1}, forwarddiff.Backend{Workers: 3, Chunk: 1})

// orders are the exact engines and their compositions for second order.
var orders = func() []nabla.Backend {
	all := append([]nabla.Backend(nil), exact...)
	base := engines.Exact()
	for _, o := range base {
		for _, i := range base {
			all = append(all, nabla.SecondOrder{Outer: o, Inner: i})
		}
	}
	return all
}()

func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-12*math.Max(math.Abs(a), math.Abs(b)) || a != a && b != b
}

// TestPerturbationConfusion is the example of Siskind and Pearlmutter: d/dx of
// x·(d/dy (x+y)) is 1, not 2.
func TestPerturbationConfusion(t *testing.T) {
	for _, outer := range orders {
		for _, in := range exact {
			f := func(x nabla.Real) nabla.Real {
				g := func(y nabla.Real) nabla.Real { return x.Add(y) }
				return x.Mul(nabla.DerivativeFunc(g, in)(x))
			}
			d, err := nabla.Derivative(f, outer, 1)
			if err != nil || d != 1 {
				t.Errorf("%s outside %s: derivative %v, %v, want 1", outer.Name(), in.Name(), d, err)
			}
		}
	}
}

// TestNestedCapture differentiates a gradient that captures an active number, to
// second order: x0²·x1 with its inner derivative 2·x0·x1.
func TestNestedCapture(t *testing.T) {
	for _, outer := range orders {
		for _, in := range exact {
			f := func(x []nabla.Real) nabla.Real {
				inner := func(z []nabla.Real) nabla.Real { return z[0].Sq().Mul(x[1]) }
				return nabla.Sin(nabla.GradientFunc(inner, in)(x[:1])[0])
			}
			// f = sin(2·x0·x1)
			x := []float64{0.3, 0.7}
			s, c := math.Sincos(2 * x[0] * x[1])
			y, g, h, err := nabla.ValueGradientAndHessian(f, outer, x)
			if err != nil {
				t.Errorf("%s outside %s: %v", outer.Name(), in.Name(), err)
				continue
			}
			if !near(y, s) || !near(g[0], 2*x[1]*c) || !near(g[1], 2*x[0]*c) || !near(h.At(0, 0), -4*x[1]*x[1]*s) ||
				!near(h.At(0, 1), 2*c-4*x[0]*x[1]*s) || !near(h.At(1, 1), -4*x[0]*x[0]*s) {
				t.Errorf("%s outside %s: %v %v %v", outer.Name(), in.Name(), y, g, h)
			}
		}
	}
}

// TestThreeLevels takes a third derivative by nesting: (x⁴)”' = 24x.
func TestThreeLevels(t *testing.T) {
	for _, b := range exact {
		d1 := nabla.DerivativeFunc(func(x nabla.Real) nabla.Real { return x.Sq().Sq() }, b)
		d2 := nabla.DerivativeFunc(d1, b)
		if d, err := nabla.Derivative(d2, b, 1.5); err != nil || !near(d, 36) {
			t.Errorf("%s: %v, %v, want 36", b.Name(), d, err)
		}
		if d, err := nabla.SecondDerivative(d1, b, 1.5); err != nil || !near(d, 36) {
			t.Errorf("%s: second derivative of the derivative %v, %v, want 36", b.Name(), d, err)
		}
	}
}

// TestPushforwardFunc checks J(x)·v with x and v both active.
func TestPushforwardFunc(t *testing.T) {
	for _, b := range exact {
		g := func(x []nabla.Real) []nabla.Real { return []nabla.Real{x[0].Mul(x[1]), nabla.Exp(x[0])} }
		f := func(x []nabla.Real) nabla.Real {
			y := nabla.PushforwardFunc(g, b)(x, []nabla.Real{x[1], nabla.Const(1)})
			return y[0].Add(y[1]) // x1² + x0 + x1·exp(x0)
		}
		grad, err := nabla.Gradient(f, b, []float64{0.5, 2})
		if err != nil || !near(grad[0], 1+2*math.Exp(0.5)) || !near(grad[1], 4+math.Exp(0.5)) {
			t.Errorf("%s: %v %v", b.Name(), grad, err)
		}
	}
}

// TestDifferentiateWith takes first and second derivatives through a function that
// another engine differentiates: sin(x0·x1)·x0.
func TestDifferentiateWith(t *testing.T) {
	for _, outer := range orders {
		for _, in := range exact {
			box := nabla.DifferentiateWith(func(z []nabla.Real) nabla.Real { return nabla.Sin(z[0].Mul(z[1])) }, in)
			f := func(x []nabla.Real) nabla.Real { return box(x[:2]).Mul(x[0]) }
			x := []float64{0.6, 1.1}
			s, c := math.Sincos(x[0] * x[1])
			_, g, h, err := nabla.ValueGradientAndHessian(f, outer, x)
			if err != nil {
				t.Errorf("%s outside %s: %v", outer.Name(), in.Name(), err)
				continue
			}
			p := x[0] * x[1]
			if !near(g[0], s+p*c) || !near(g[1], x[0]*x[0]*c) ||
				!near(h.At(0, 0), 2*x[1]*c-x[1]*p*s) || !near(h.At(0, 1), 2*x[0]*c-x[0]*p*s) ||
				!near(h.At(1, 1), -x[0]*x[0]*x[0]*s) {
				t.Errorf("%s outside %s: %v %v", outer.Name(), in.Name(), g, h)
			}
		}
	}
}

// TestKinkInsideReplay holds that a replay meets an infinite derivative inside a
// nested one as a fresh run does, also where it was recorded elsewhere.
func TestKinkInsideReplay(t *testing.T) {
	inner := func(z []nabla.Real) nabla.Real {
		return nabla.Where(nabla.Lt(nabla.Const(0), z[0]), nabla.Sqrt(z[0]), nabla.Const(0)).Add(z[0].Sq())
	}
	f := func(x []nabla.Real) nabla.Real {
		return nabla.GradientFunc(inner, reversediff.Backend{})(x)[0].Mul(x[0])
	}
	p := mustGradient(t, f, nabla.Policy{Backend: compiled, NoStaleCheck: true}, 1)
	for range 3 {
		expect(t, p, []float64{1}, 2.5, []float64{4.25}, p.Recordings())
		fresh, want, err := nabla.ValueAndGradient(f, reversediff.Backend{}, []float64{0})
		if err != nil {
			t.Fatal(err)
		}
		expect(t, p, []float64{0}, fresh, want, 2)
	}
	// A function whose value is NaN is recorded once more because of it, and not at every call,
	// unless it may capture data that the NaN hides.
	fixed := nabla.Policy{Backend: compiled, FixedCaptures: true}
	p = mustGradient(t, func(x []nabla.Real) nabla.Real { return nabla.Log(x[0]) }, fixed, 1)
	for range 20 {
		if y, _, err := p.ValueAndGradient(nil, []float64{-1}); y == y || err != nil {
			t.Fatal(y, err)
		}
	}
	if p.Recordings() != 2 {
		t.Errorf("a NaN was recorded %d times, want once", p.Recordings()-1)
	}
}

// TestDifferentiateVectorWith takes first and second derivatives through a function with several outputs that another
// engine differentiates, at two lengths: z ↦ (z₀·z₁, …, sin z₀) has as many outputs as inputs.
func TestDifferentiateVectorWith(t *testing.T) {
	longtest.Serial(t)
	inner := func(z []nabla.Real) []nabla.Real {
		y := make([]nabla.Real, len(z))
		for i := range y[1:] {
			y[i] = z[i].Mul(z[i+1])
		}
		y[len(z)-1] = nabla.Sin(z[0])
		return y
	}
	plain := func(z []float64) []float64 {
		y := make([]float64, len(z))
		for i := range y[1:] {
			y[i] = z[i] * z[i+1]
		}
		y[len(z)-1] = math.Sin(z[0])
		return y
	}
	boxes := map[string]func(x []nabla.Real) []nabla.Real{
		"finitediff": nabla.DifferentiateVectorWith(plain, finitediff.Backend{}),
	}
	for _, in := range orders {
		boxes[in.Name()] = nabla.DifferentiateVectorWith(inner, in)
	}
	direct := func(z []nabla.Real) nabla.Real { return squaresOf(inner(z)).Mul(z[1]) }
	for name, box := range boxes {
		tol := 1e-12
		if name == "finitediff" {
			tol = 1e-5
		}
		f := func(x []nabla.Real) nabla.Real { return squaresOf(box(x)).Mul(x[1]) }
		for _, x := range [][]float64{{0.6, 1.1}, {0.6, 1.1, -0.4}} {
			y, g, h, err := nabla.ValueGradientAndHessian(direct, compiled, x)
			if err != nil {
				t.Fatal(err)
			}
			for _, outer := range orders {
				y2, g2, h2, err := nabla.ValueGradientAndHessian(f, outer, x)
				if err != nil {
					t.Errorf("%s outside %s: %v", outer.Name(), name, err)
				} else if math.Abs(y-y2) > tol || !floats.EqualApprox(g, g2, tol) || !mat.EqualApprox(h, h2, tol) {
					t.Errorf("%s outside %s: %v %v %v, want %v %v %v", outer.Name(), name, y2, g2, h2, y, g, h)
				}
			}
		}
	}
}

func squaresOf(y []nabla.Real) (s nabla.Real) {
	for _, v := range y {
		s = s.Add(v.Sq())
	}
	return s
}

// TestDifferentiateVectorWithErrors: the errors of a function with several outputs that another engine differentiates
// are those of the operator that differentiates the caller.
func TestDifferentiateVectorWithErrors(t *testing.T) {
	x := []float64{1, 2}
	gradient := func(box func(x []nabla.Real) []nabla.Real, b nabla.Backend) error {
		_, err := nabla.Gradient(func(x []nabla.Real) nabla.Real { return squaresOf(box(x)) }, b, x)
		return err
	}
	failed := errors.New("on purpose")
	returned := nabla.DifferentiateVectorWith(func(z []nabla.Real) ([]nabla.Real, error) { return z, failed },
		forwarddiff.Backend{})
	black := nabla.DifferentiateVectorWith(func(z []float64) []float64 { return z }, forwarddiff.Backend{})
	scalar := nabla.DifferentiateVectorWith(nabla.Bind(func(z []nabla.Real, _ *struct{ A float64 }) nabla.Real {
		return z[0]
	}, new(struct{ A float64 })), forwarddiff.Backend{})
	var calls atomic.Int64
	changing := nabla.DifferentiateVectorWith(func(z []float64) []float64 {
		return make([]float64, 2+calls.Add(1)/3)
	}, finitediff.Backend{})
	for _, b := range exact {
		var function *nabla.FuncError
		var shape *nabla.ShapeError
		if err := gradient(returned, b); !errors.Is(err, failed) {
			t.Errorf("%s: a returned error: %v", b.Name(), err)
		}
		if err := gradient(black, b); !errors.Is(err, nabla.ErrUnsupported) {
			t.Errorf("%s: a black box: %v, want an *UnsupportedError", b.Name(), err)
		}
		if err := gradient(scalar, b); !errors.As(err, &function) {
			t.Errorf("%s: a function of one output: %v, want a *FuncError", b.Name(), err)
		}
		if calls.Store(0); gradient(changing, b) == nil {
			calls.Store(6)
		}
		if err := gradient(changing, b); !errors.As(err, &shape) {
			t.Errorf("%s: another number of outputs: %v, want a *ShapeError", b.Name(), err)
		}
		box := nabla.DifferentiateVectorWith(func(z []nabla.Real) []nabla.Real {
			return []nabla.Real{z[0].Mul(z[1]), nabla.Sin(z[0])}
		}, tracker.Backend{})
		third := nabla.GradientFunc(func(x []nabla.Real) nabla.Real { return box(x)[0] }, reversediff.Backend{})
		_, err := nabla.Hessian(func(x []nabla.Real) nabla.Real { return squaresOf(third(x)) }, b, x)
		var unsupported *nabla.UnsupportedError
		if !errors.As(err, &unsupported) || unsupported.Remedy == "" {
			t.Errorf("%s: third derivatives: %v, want an *UnsupportedError with a remedy", b.Name(), err)
		}
	}
}

// TestDifferentiateVectorWithAllocations: gradients and products with the Hessian of a replayed function allocate
// nothing more through a part that another engine differentiates.
func TestDifferentiateVectorWithAllocations(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector allocates")
	}
	box := nabla.DifferentiateVectorWith(nabla.InPlace(2, func(y, z []nabla.Real) {
		y[0], y[1] = z[0].Mul(z[1]), nabla.Sin(z[0])
	}), compiled)
	f := func(x []nabla.Real) nabla.Real { return squaresOf(box(x)) }
	x, v, dst := []float64{1, 2}, []float64{1, -1}, make([]float64, 2)
	b := nabla.Policy{Backend: compiled, NoStaleCheck: true}
	g, err := nabla.PrepareGradient(f, b, x)
	if err != nil {
		t.Fatal(err)
	}
	h, err := nabla.PrepareHVP(f, b, x)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(50, func() { _, err = g.Gradient(dst, x) }); n != 0 || err != nil {
		t.Errorf("%v allocations for a gradient, %v", n, err)
	}
	if n := testing.AllocsPerRun(50, func() { _, err = h.HVP(dst, x, v) }); n != 0 || err != nil {
		t.Errorf("%v allocations for a product, %v", n, err)
	}
}
