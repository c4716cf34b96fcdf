package nabla_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
)

// errDomain is the error of the functions of this file, outOfDomain the one of a type of its own.
var errDomain = errors.New("outside of the domain")

type outOfDomain struct{ at float64 }

func (e *outOfDomain) Error() string { return fmt.Sprintf("%v at %g", errDomain, e.at) }
func (e *outOfDomain) Unwrap() error { return errDomain }

// refuses returns an error if v is negative.
func refuses(v float64) error {
	if v < 0 {
		return &outOfDomain{v}
	}
	return nil
}

// failure requires that err is the error that the function returned at -1.
func failure(t *testing.T, what string, err error) {
	t.Helper()
	var returned *nabla.ReturnedError
	var domain *outOfDomain
	if !errors.Is(err, errDomain) || !errors.As(err, &returned) || returned.Function == "" ||
		!errors.As(err, &domain) || domain.at > -0.9 || domain.at < -1.1 {
		t.Errorf("%s: %v, want a *ReturnedError with the error of the function", what, err)
	}
}

// errorForms are the forms of x ↦ ∏(xᵢ + xᵢ²) with an error for negative x₀, over Reals or plain numbers: as Funcs that
// all operators take.
func errorForms(plain bool) map[string]*nabla.Func {
	type data struct{ Least nabla.Real }
	type limits struct{ _ int }
	over := func(x []nabla.Real) (nabla.Real, error) {
		if x[0].Less(nabla.Const(0)) {
			return nabla.Real{}, refuses(x[0].Value())
		}
		return product(x), nil
	}
	numbers := func(x []float64) (float64, error) {
		y := 1.0
		for _, v := range x {
			y = y*v + v*v
		}
		return y, refuses(x[0])
	}
	if plain {
		return map[string]*nabla.Func{
			"InPlace": nabla.InPlace(1, func(y, x []float64) (err error) { y[0], err = numbers(x); return err }),
			"BindInPlace": nabla.BindInPlace(1, func(y, x []float64, p *limits) (err error) {
				y[0], err = numbers(x)
				return err
			}, &limits{}),
			"Bind": nabla.Bind(func(x []float64, p *limits) ([]float64, error) {
				y, err := numbers(x)
				return []float64{y}, err
			}, &limits{}),
			"BindMethod": nabla.BindMethod((*domain).plain, &domain{numbers: numbers}),
		}
	}
	return map[string]*nabla.Func{
		"InPlace": nabla.InPlace(1, func(y, x []nabla.Real) (err error) { y[0], err = over(x); return err }),
		"BindInPlace": nabla.BindInPlace(1, func(y, x []nabla.Real, p *data) (err error) {
			y[0], err = over(x)
			return err
		}, &data{}),
		"Bind": nabla.Bind(func(x []nabla.Real, p *data) ([]nabla.Real, error) {
			y, err := over(x)
			return []nabla.Real{y}, err
		}, &data{}),
		"BindMethod": nabla.BindMethod((*domain).over, &domain{reals: over}),
	}
}

// A domain has the functions of errorForms as methods.
type domain struct {
	reals   func(x []nabla.Real) (nabla.Real, error) `nabla:"fixed"`
	numbers func(x []float64) (float64, error)       `nabla:"fixed"`
}

func (d *domain) over(x []nabla.Real) ([]nabla.Real, error) {
	y, err := d.reals(x)
	return []nabla.Real{y}, err
}

func (d *domain) plain(x []float64) ([]float64, error) {
	y, err := d.numbers(x)
	return []float64{y}, err
}

// TestReturnedErrors: every operator on every engine returns the error of the function, when it is prepared at such a
// point and when it is called there, and works at other points afterwards.
func TestReturnedErrors(t *testing.T) {
	good, bad := []float64{1, 2}, []float64{-1, 2}
	eachOperator(t, func(t *testing.T, op operator, b nabla.Backend) {
		_, differences := b.(finitediff.Backend)
		for _, plain := range []bool{false, true} {
			if plain && (!differences || b == nabla.Backend(finitediff.Backend{Method: finitediff.Complex})) {
				continue
			}
			for name, f := range errorForms(plain) {
				p, err := op.prepare(f, b, good)
				if err != nil {
					t.Fatal(name, err)
				}
				v := tangentFor(op, 2)
				for range 3 {
					if err := p(nil, good, v); err != nil {
						t.Errorf("%s: %v", name, err)
					}
					failure(t, name, p(nil, bad, v))
				}
				if p, err = op.prepare(f, b, bad); err == nil { // an engine that does not run f to prepare
					err = p(nil, bad, v)
				}
				failure(t, name+" prepared there", err)
			}
		}
	})
}

// TestReturnedErrorsOfFunctions: functions of each type that operators take may return an error too.
func TestReturnedErrorsOfFunctions(t *testing.T) {
	scalar := func(x []nabla.Real) (nabla.Real, error) { return product(x), refuses(x[0].Value()) }
	vector := func(x []nabla.Real) ([]nabla.Real, error) { return x, refuses(x[0].Value()) }
	number := func(x nabla.Real) (nabla.Real, error) { return x.Sq(), refuses(x.Value()) }
	curve := func(x nabla.Real) ([]nabla.Real, error) { return []nabla.Real{x.Sq()}, refuses(x.Value()) }
	plainScalar := func(x []float64) (float64, error) { return x[0] * x[1], refuses(x[0]) }
	plainVector := func(x []float64) ([]float64, error) { return x, refuses(x[0]) }
	plainNumber := func(x float64) (float64, error) { return x * x, refuses(x) }
	plainCurve := func(x float64) ([]float64, error) { return []float64{x * x}, refuses(x) }
	for _, b := range allEngines {
		for _, x := range [][]float64{{1, 2}, {-1, 2}} {
			failed := 0
			check := func(what string, got any, err error) {
				if x[0] > 0 {
					if err != nil {
						t.Errorf("%s with %s: %v", what, b.Name(), err)
					}
					return
				}
				failed++
				failure(t, what+" with "+b.Name(), err)
			}
			run := func(over string, gradient, hessian, jacobian, derivative, curve func() (any, error)) {
				for name, f := range map[string]func() (any, error){"Gradient": gradient, "Hessian": hessian,
					"Jacobian": jacobian, "SecondDerivative": derivative, "CurveDerivative": curve} {
					got, err := f()
					check(name+" over "+over, got, err)
				}
			}
			run("Reals",
				func() (any, error) { return nabla.Gradient(scalar, b, x) },
				func() (any, error) { return nabla.Hessian(scalar, b, x) },
				func() (any, error) { return nabla.Jacobian(vector, b, x) },
				func() (any, error) { return nabla.SecondDerivative(number, b, x[0]) },
				func() (any, error) { return nabla.CurveDerivative(curve, b, x[0]) })
			if b == nabla.Backend(finitediff.Backend{}) {
				run("plain numbers",
					func() (any, error) { return nabla.Gradient(plainScalar, b, x) },
					func() (any, error) { return nabla.Hessian(plainScalar, b, x) },
					func() (any, error) { return nabla.Jacobian(plainVector, b, x) },
					func() (any, error) { return nabla.SecondDerivative(plainNumber, b, x[0]) },
					func() (any, error) { return nabla.CurveDerivative(plainCurve, b, x[0]) })
			}
			if x[0] < 0 && failed < 5 {
				t.Errorf("%s: %d calls failed", b.Name(), failed)
			}
		}
	}
}

// TestReturnedErrorInside: the error of an inner function comes back from the operator of the outer one.
func TestReturnedErrorInside(t *testing.T) {
	inner := func(x []nabla.Real) (nabla.Real, error) { return product(x), refuses(x[0].Value()) }
	outer := func(x []nabla.Real) nabla.Real {
		return nabla.Dot(x, nabla.GradientFunc(inner, forwarddiff.Backend{})(x))
	}
	for _, b := range allEngines {
		_, err := nabla.Gradient(outer, b, []float64{-1, 2})
		failure(t, b.Name(), err)
	}
}

// TestReturnedErrorNearPoint: a recording is compared with its function at points near x, and those at which the
// function returns an error are left out.
func TestReturnedErrorNearPoint(t *testing.T) {
	k := 2.0
	f := func(x []nabla.Real) (nabla.Real, error) {
		if v := fmt.Sprint(x[0]); v != "1" { // unlike Value, the text is not a guard
			return nabla.Real{}, fmt.Errorf("%s is not 1", v)
		}
		return x[0].Sq().Scale(k), nil
	}
	p, err := nabla.PrepareGradient(f, compiled, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	for range 40 {
		g, err := p.Gradient(nil, []float64{1})
		if err != nil || math.Abs(g[0]-4) > 1e-15 {
			t.Fatal(g, err)
		}
	}
}
