package nabla_test

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/sparsity"
)

// halted is x0²·s(x0) + x1·s(x0·x1) with s = StopGradient: its gradient is (2·x0·x0, x0·x1) and its Hessian that of
// c·x0² with c = x0, diag(2·x0, 0).
func halted(x []nabla.Real) nabla.Real {
	a := x[0].Sq().Mul(nabla.StopGradient(x[0]))
	return a.Add(x[1].Mul(nabla.StopGradient(x[0].Mul(x[1]))))
}

// TestStopGradient compares first and second derivatives of all exact engines and pairs with closed forms, at several
// points of one preparation, which is recorded once.
func TestStopGradient(t *testing.T) {
	for _, b := range append(orders, nil, nabla.AutoSparse{Dense: compiled}) {
		g, err := nabla.PrepareGradient(halted, b, []float64{1, 1})
		if err != nil {
			t.Fatal(nameOf(b), err)
		}
		h, err := nabla.PrepareHessian(halted, b, []float64{1, 1})
		if err != nil {
			t.Fatal(nameOf(b), err)
		}
		for _, x := range [][]float64{{1, 1}, {0.7, -1.3}, {-2, 3}, {0, 0.5}} {
			y, grad, err := g.ValueAndGradient(nil, x)
			if err != nil || !near(y, x[0]*x[0]*x[0]+x[1]*x[0]*x[1]) || !near(grad[0], 2*x[0]*x[0]) ||
				!near(grad[1], x[0]*x[1]) {
				t.Errorf("%s at %v: %v %v %v", nameOf(b), x, y, grad, err)
			}
			hess, err := h.Hessian(nil, x)
			if err != nil || !mat.EqualApprox(hess, mat.NewSymDense(2, []float64{2 * x[0], 0, 0, 0}), 1e-12) {
				t.Errorf("%s at %v: Hessian %v %v", nameOf(b), x, hess, err)
			}
		}
	}
	g, err := nabla.PrepareGradient(halted, compiled, []float64{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	for k := range 5 {
		if _, err := g.Gradient(nil, []float64{float64(k), 2}); err != nil || g.Recordings() != 1 {
			t.Errorf("%d recordings, %v", g.Recordings(), err)
		}
	}
}

// TestStopGradientIsStructural: the derivative is zero beside an infinite factor, and for values that are not finite.
func TestStopGradientIsStructural(t *testing.T) {
	for _, b := range orders {
		f := func(x []nabla.Real) nabla.Real { // √0 has an infinite derivative
			return nabla.StopGradient(nabla.Sqrt(x[0])).Add(nabla.Sqrt(nabla.StopGradient(x[0]))).Add(x[1])
		}
		for _, at := range []float64{0, math.Inf(1), math.NaN()} {
			g, err := nabla.Gradient(f, b, []float64{at, 2})
			if err != nil || g[0] != 0 || g[1] != 1 {
				t.Errorf("%s at %v: %v, %v", b.Name(), at, g, err)
			}
		}
		hess, err := nabla.Hessian(f, b, []float64{0, 2})
		if err != nil || mat.Norm(hess, 1) != 0 {
			t.Errorf("%s: %v, %v", b.Name(), hess, err)
		}
		third := func(x nabla.Real) nabla.Real {
			half := func(z nabla.Real) nabla.Real { return z.Mul(nabla.StopGradient(z)) }
			return nabla.DerivativeFunc(half, b)(x).Mul(x)
		}
		d, err := nabla.Derivative(third, forwarddiff.Backend{}, 3) // of s(x)·x
		if err != nil || d != 3 {
			t.Errorf("%s inside: %v, %v, want 3", b.Name(), d, err)
		}
	}
	if y := nabla.StopGradient(nabla.Const(2)).Value(); y != 2 {
		t.Errorf("of a constant: %v", y)
	}
	y, err := nabla.TaylorCoefficients(halted, []float64{2, 1}, []float64{1, 0}, 2)
	if err != nil || y[0] != 10 || y[1] != 8 || y[2] != 2 { // 4·2 + 2; 2·2·2; (2·2)/2
		t.Errorf("Taylor coefficients %v, %v", y, err)
	}
}

// TestStopGradientPatterns: patterns have no entries through it.
func TestStopGradientPatterns(t *testing.T) {
	for _, d := range []sparsity.Detector{sparsity.Global{}, sparsity.Local{}} {
		j, err := nabla.JacobianSparsity(func(x []nabla.Real) []nabla.Real {
			return []nabla.Real{x[0].Mul(nabla.StopGradient(x[1])), nabla.StopGradient(x[0].Add(x[1]))}
		}, d, []float64{1, 2})
		if err != nil || j.NNZ() != 1 || !j.Has(0, 0) {
			t.Errorf("%T: %v, %v", d, j, err)
		}
		h, err := nabla.HessianSparsity(halted, d, []float64{1, 2})
		if err != nil || h.NNZ() != 1 || !h.Has(0, 0) {
			t.Errorf("%T: %v, %v", d, h, err)
		}
	}
}

// TestStopGradientByDifferences: differences refuse, at preparation, or in the call that meets it on another branch,
// and are not confused by another goroutine.
func TestStopGradientByDifferences(t *testing.T) {
	later := func(x []nabla.Real) nabla.Real {
		if x[0].Greater(nabla.Const(1)) {
			return x[0].Mul(nabla.StopGradient(x[0]))
		}
		return x[0].Sq()
	}
	constant := func(x []nabla.Real) nabla.Real { return x[0].Mul(nabla.StopGradient(nabla.Const(3))) }
	for _, b := range []nabla.Backend{finitediff.Backend{}, finitediff.Adaptive{},
		nabla.SecondOrder{Outer: finitediff.Backend{}, Inner: forwarddiff.Backend{}},
		nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: finitediff.Backend{}}} {
		if _, err := nabla.Hessian(halted, b, []float64{1, 2}); !errors.Is(err, nabla.ErrUnsupported) {
			t.Errorf("%s: %v", b.Name(), err)
		}
		p, err := nabla.PrepareHessian(later, b, []float64{0.5})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Hessian(nil, []float64{0.25}); err != nil {
			t.Errorf("%s, on the branch without: %v", b.Name(), err)
		}
		if h, err := p.Hessian(nil, []float64{2}); !errors.Is(err, nabla.ErrUnsupported) {
			t.Errorf("%s, on another branch: %v, %v", b.Name(), h, err)
		}
		if _, err := nabla.Hessian(constant, b, []float64{2}); err != nil {
			t.Errorf("%s, of a constant: %v", b.Name(), err)
		}
	}
	for _, of := range []func(f func(x []nabla.Real) nabla.Real) func(x []nabla.Real) nabla.Real{
		func(f func(x []nabla.Real) nabla.Real) func(x []nabla.Real) nabla.Real {
			return nabla.DifferentiateWith(f, finitediff.Backend{})
		},
		func(f func(x []nabla.Real) nabla.Real) func(x []nabla.Real) nabla.Real {
			return func(x []nabla.Real) nabla.Real { return nabla.GradientFunc(f, finitediff.Backend{})(x)[0] }
		},
	} {
		_, err := nabla.Gradient(of(halted), forwarddiff.Backend{}, []float64{1, 2})
		if !errors.Is(err, nabla.ErrUnsupported) {
			t.Errorf("inside: %v", err)
		}
	}
	done, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			default:
				nabla.StopGradient(nabla.Const(1))
			}
		}
	}()
	for range 50 {
		if _, err := nabla.Gradient(wave, finitediff.Backend{}, []float64{1, 2, 3}); err != nil {
			t.Fatal("beside another goroutine:", err)
		}
	}
	close(done)
	<-stopped
}
