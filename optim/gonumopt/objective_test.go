package gonumopt_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/optim"
	"github.com/nabla-ad/nabla/optim/gonumopt"
	"github.com/nabla-ad/nabla/sums"
)

var background = context.Background()

// A reading has a time and a value.
type reading struct{ T, Y nabla.Real }

func residual(x reals, r *reading) reals {
	return reals{x[0].Mul(nabla.Exp(x[1].Mul(r.T))).Sub(r.Y)}
}

func square(x reals, r *reading) nabla.Real { return residual(x, r)[0].Sq().Scale(0.5) }

// readings follow 2·exp(-t) up to small deviations.
func readings() (list []reading) {
	for i := range 50 {
		t := float64(i) / 10
		list = append(list, reading{nabla.Const(t), nabla.Const(2*math.Exp(-t) + 0.01*math.Sin(7*t))})
	}
	return list
}

// TestObjective minimises a sum by all methods, against least squares of all residuals together.
func TestObjective(t *testing.T) {
	list := readings()
	all := func(x reals) (r reals) {
		for i := range list {
			r = append(r, residual(x, &list[i])[0])
		}
		return r
	}
	x0 := []float64{1, -0.5}
	want, err := optim.LeastSquares(all, nil, x0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		gaussNewton bool
		method      optimize.Method
	}{
		"LBFGS": {false, &optimize.LBFGS{}}, "BFGS": {false, &optimize.BFGS{}}, "Newton": {false, &optimize.Newton{}},
		"Gauss–Newton": {true, &optimize.Newton{}}, "NelderMead": {false, &optimize.NelderMead{}},
	} {
		term := sums.Loss(square, nil, sums.Options[reading]{})
		if c.gaussNewton {
			term = sums.Residuals(residual, nil, sums.Options[reading]{})
		}
		o := sums.NewObjective(background, sums.NewLocal(term, sums.Slice(list), nil), c.gaussNewton)
		res, err := optimize.Minimize(gonumopt.Objective(o), x0, &optimize.Settings{GradientThreshold: 1e-10}, c.method)
		tol := 1e-8
		if name == "NelderMead" {
			tol = 1e-3
		}
		if err != nil || !floats.EqualApprox(res.X, want.X, tol) {
			t.Fatalf("%s: %v, want %v, %v", name, res, want.X, err)
		}
		if evaluations := res.Stats.FuncEvaluations + res.Stats.HessEvaluations; o.Passes() > evaluations+1 ||
			o.Last().Rows != 50 {
			t.Errorf("%s: %d passes for %+v", name, o.Passes(), res.Stats)
		}
	}
}

// shrinking is a source that has a row less in each pass.
type shrinking struct{ rows *int }

func (s shrinking) Parts() ([]iter.Seq2[*reading, error], error) {
	*s.rows--
	return sums.Slice(readings()[:*s.rows]).Parts()
}

// TestObjectiveFails: an error of a pass is that of Minimize.
func TestObjectiveFails(t *testing.T) {
	rows := 50
	term := sums.Loss(square, nil, sums.Options[reading]{})
	o := sums.NewObjective(background, sums.NewLocal[reading](term, shrinking{&rows}, nil), false)
	x0 := []float64{1, -0.5}
	res, err := optimize.Minimize(gonumopt.Objective(o), x0, nil, &optimize.LBFGS{})
	var count *sums.CountError
	if !errors.As(err, &count) || count.WantRows != 49 || count.Rows != 48 || res == nil ||
		res.Status != optimize.Failure {
		t.Errorf("rows vanish: %v, %v", res, err)
	}
	if s := o.Last(); s == nil || s.Rows != 48 {
		t.Errorf("the sum beside the error: %v", s)
	}
	if h := o.HVP(make([]float64, 2), x0, x0); !errors.Is(h, o.Err()) || !math.IsNaN(o.Func(x0)) {
		t.Errorf("after an error: %v", h)
	}
}
