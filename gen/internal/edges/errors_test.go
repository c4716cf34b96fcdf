package edges

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
)

// failing lists operators of functions that return an error too, and of their forms.
var failing = []struct {
	name  string
	plain bool // there is no form over Reals
	of    func(b nabla.Backend, x []float64) ([]float64, error)
}{
	{"gradient", false, func(b nabla.Backend, x []float64) ([]float64, error) { return nabla.Gradient(RootSum, b, x) }},
	{"prepared gradient", false, func(b nabla.Backend, x []float64) ([]float64, error) {
		p, err := nabla.PrepareGradient(RootSum, b, []float64{4, 5, 6})
		if err != nil {
			return nil, err
		}
		var g []float64
		for range 4 { // calls 3 and 5 do not compare values
			if g, err = p.Gradient(g, []float64{4, 5, 6}); err != nil {
				return nil, err
			}
		}
		return p.Gradient(nil, x)
	}},
	{"hvp", false, func(b nabla.Backend, x []float64) ([]float64, error) {
		p, err := nabla.PrepareHVP(RootSum, b, []float64{4, 5, 6})
		if err != nil {
			return nil, err
		}
		var hv []float64
		for range 4 {
			if hv, err = p.HVP(hv, []float64{4, 5, 6}, []float64{1, 2, 3}); err != nil {
				return nil, err
			}
		}
		return p.HVP(nil, x, []float64{1, 2, 3})
	}},
	{"hessian", false, func(b nabla.Backend, x []float64) ([]float64, error) {
		return numbers(nabla.Hessian(RootSum, b, x))
	}},
	{"gradient of a bound function", true, func(b nabla.Backend, x []float64) ([]float64, error) {
		return nabla.Gradient(nabla.Bind(RootSumOf, &Limits{0, 9}), b, x)
	}},
	{"hvp of a bound function", true, func(b nabla.Backend, x []float64) ([]float64, error) {
		return nabla.HVP(nabla.Bind(RootSumOf, &Limits{0, 9}), b, x, []float64{3, 2, 1})
	}},
	{"gradient of a method", false, func(b nabla.Backend, x []float64) ([]float64, error) {
		return nabla.Gradient(nabla.BindMethod((*Limits).Total, &Limits{0, 9}), b, x)
	}},
	{"jacobian", false, func(b nabla.Backend, x []float64) ([]float64, error) {
		return numbers(nabla.Jacobian(Roots, b, x))
	}},
	{"jacobian in place", false, func(b nabla.Backend, x []float64) ([]float64, error) {
		return numbers(nabla.Jacobian(nabla.InPlace(3, RootsInPlace), b, x))
	}},
	{"pushforward", false, func(b nabla.Backend, x []float64) ([]float64, error) {
		return nabla.Pushforward(Roots, b, x, []float64{1, 2, 3})
	}},
	{"pullback", false, func(b nabla.Backend, x []float64) ([]float64, error) {
		return nabla.Pullback(nabla.InPlace(3, RootsInPlace), b, x, []float64{1, 2, 3})
	}},
	{"derivative", false, func(b nabla.Backend, x []float64) ([]float64, error) {
		d, err := nabla.Derivative(CubicRoot, b, x[0])
		return []float64{d}, err
	}},
	{"second derivative", false, func(b nabla.Backend, x []float64) ([]float64, error) {
		d, err := nabla.SecondDerivative(CubicRoot, b, x[0])
		return []float64{d}, err
	}},
	{"curve", false, func(b nabla.Backend, x []float64) ([]float64, error) {
		return nabla.CurveDerivative(RootCurve, b, x[0])
	}},
	{"constant", false, func(b nabla.Backend, x []float64) ([]float64, error) {
		return nabla.Gradient(FlatRoot, b, x)
	}},
}

// numbers returns the elements of a matrix.
func numbers(m mat.Matrix, err error) (list []float64, _ error) {
	if err != nil {
		return nil, err
	}
	r, c := m.Dims()
	for i := range r {
		for j := range c {
			list = append(list, m.At(i, j))
		}
	}
	return list, nil
}

// TestReturnedErrors: generated code of functions that return an error too, and its form over Reals, has the
// derivatives of finite differences, and the error of the function where it returns one.
func TestReturnedErrors(t *testing.T) {
	good, bad := []float64{1, 2, 3}, []float64{-1, 2, 3}
	for _, c := range failing {
		want, err := c.of(finitediff.Backend{}, good)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for k, b := range []nabla.Backend{source.Reverse{}, source.Forward{}, nabla.AutoSparse{Dense: source.Reverse{}},
			forwarddiff.Backend{}, reversediff.Backend{Compile: true}} {
			got, err := c.of(b, good)
			if overReals := k >= 3; c.plain && overReals {
				if !errors.Is(err, nabla.ErrUnsupported) {
					t.Errorf("%s with %s: %v, want that it is unsupported", c.name, b.Name(), err)
				}
				continue
			}
			if err != nil || len(got) != len(want) {
				t.Errorf("%s with %s: %v, %v", c.name, b.Name(), got, err)
				continue
			}
			for i, w := range want {
				if math.Abs(got[i]-w) > 1e-4 {
					t.Errorf("%s with %s: %v, want %v", c.name, b.Name(), got, want)
					break
				}
			}
			got, err = c.of(b, bad)
			var returned *nabla.ReturnedError
			var number *DomainError
			if got != nil && got[0] != 0 || !errors.Is(err, ErrDomain) || !errors.As(err, &returned) ||
				c.plain && (!errors.As(err, &number) || number.At != -1) {
				t.Errorf("%s with %s outside of the domain: %v, %v", c.name, b.Name(), got, err)
			}
		}
	}
	_, err := RootSumAdjoint(bad, nil, 1, nil)
	if err != ErrDomain {
		t.Errorf("the adjoint returns %v, want the error of the function", err)
	}
}
