package nabla_test

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
)

// TestErrorEstimates compares derivatives and their estimates with closed forms, for functions over numbers and Reals.
func TestErrorEstimates(t *testing.T) {
	x := []float64{0.5, -2}
	over := func(x []nabla.Real) nabla.Real { return nabla.Exp(x[0]).Mul(x[1]) }
	plain := func(x []float64) float64 { return math.Exp(x[0]) * x[1] }
	want := []float64{-2 * math.Exp(0.5), math.Exp(0.5)}
	check := func(what string, got, e, want float64) {
		t.Helper()
		if wrong := math.Abs(got - want); !(wrong <= e) || !(e <= 1e-10*math.Abs(want)) {
			t.Errorf("%s: %v with error %v, want %v", what, got, e, want)
		}
	}
	b := finitediff.Adaptive{}
	first, err := nabla.PrepareGradient(over, b, x)
	if err != nil {
		t.Fatal(err)
	}
	second, err := nabla.PrepareGradient(plain, nabla.Policy{Backend: b}, x)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*nabla.GradientPrep{first, second, first.Clone()} {
		g, e, err := p.GradientWithError(nil, nil, x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			check("gradient", g[i], e[i], want[i])
		}
	}
	j, err := nabla.PrepareJacobian(nabla.InPlace(2, func(y, x []float64) { y[0], y[1] = plain(x), x[1]*x[1] }), b, x)
	if err != nil {
		t.Fatal(err)
	}
	jac, e, err := j.JacobianWithError(new(mat.Dense), nil, x)
	if err != nil {
		t.Fatal(err)
	}
	check("Jacobian", jac.At(0, 0), e.At(0, 0), want[0])
	check("Jacobian", jac.At(0, 1), e.At(0, 1), want[1])
	check("Jacobian", jac.At(1, 1), e.At(1, 1), -4)
	d, err := nabla.PrepareDerivative(math.Sin, b, 1)
	if err != nil {
		t.Fatal(err)
	}
	dy, bound, err := d.DerivativeWithError(1)
	if err != nil {
		t.Fatal(err)
	}
	check("derivative", dy, bound, math.Cos(1))

	g, eg := make([]float64, 2), make([]float64, 2)
	if n := testing.AllocsPerRun(10, func() {
		_, _, err1 := first.GradientWithError(g, eg, x)
		_, _, err2 := j.JacobianWithError(jac, e, x)
		_, _, err3 := d.DerivativeWithError(0.3)
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	var alias *nabla.AliasError
	if _, _, err := first.GradientWithError(g, g, x); !errors.As(err, &alias) {
		t.Errorf("estimates over the gradient: %v", err)
	}
	if _, _, err := first.GradientWithError(x, eg, x); !errors.As(err, &alias) {
		t.Errorf("a gradient over x: %v", err)
	}
	if _, _, err := j.JacobianWithError(jac, jac, x); !errors.As(err, &alias) {
		t.Errorf("estimates over the Jacobian: %v", err)
	}
	var shape *nabla.ShapeError
	if _, _, err := first.GradientWithError(g, eg[:1], x); !errors.As(err, &shape) {
		t.Errorf("too few estimates: %v", err)
	}
}

// TestEnginesWithoutEstimates requires an error with a remedy.
func TestEnginesWithoutEstimates(t *testing.T) {
	x := []float64{1, 2}
	f := func(x []nabla.Real) nabla.Real { return x[0].Mul(x[1]) }
	for _, b := range []nabla.Backend{forwarddiff.Backend{}, finitediff.Backend{}, nil,
		nabla.AutoSparse{Dense: finitediff.Adaptive{}}} {
		g, err := nabla.PrepareGradient(f, b, x)
		if err != nil {
			t.Fatal(err)
		}
		_, _, first := g.GradientWithError(nil, nil, x)
		j, err := nabla.PrepareJacobian(func(x []nabla.Real) []nabla.Real { return []nabla.Real{f(x)} }, b, x)
		if err != nil {
			t.Fatal(err)
		}
		_, _, second := j.JacobianWithError(nil, nil, x)
		if _, sparse := b.(nabla.AutoSparse); sparse {
			first = second // of a gradient it has them
		}
		for _, err := range []error{first, second} {
			var unsupported *nabla.UnsupportedError
			if !errors.As(err, &unsupported) || unsupported.Remedy == "" {
				t.Errorf("%v: %v, want an *UnsupportedError with a remedy", b, err)
			}
		}
	}
}
