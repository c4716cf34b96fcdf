package optim_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/optim"
)

// power returns aⁿ for n from 2.
func power(a nabla.Real, n int) nabla.Real { return a.Pow(constant(float64(n))) }

// hockSchittkowski has problems of Hock and Schittkowski (1981) with their minima. The constraints are equations unless
// there are bounds.
var hockSchittkowski = []struct {
	start
	set   optim.ConstrainedSettings
	value float64
}{
	{start{"6", func(x reals) reals {
		return reals{x[0].AddConst(-1).Sq(), x[1].Sub(x[0].Sq()).Scale(10)}
	}, []float64{-1.2, 1}}, optim.ConstrainedSettings{}, 0},
	{start{"7", func(x reals) reals {
		q := x[0].Sq().AddConst(1)
		return reals{nabla.Log(q).Sub(x[1]), q.Sq().Add(x[1].Sq()).AddConst(-4)}
	}, []float64{2, 2}}, optim.ConstrainedSettings{}, -math.Sqrt(3)},
	{start{"26", func(x reals) reals {
		return reals{x[0].Sub(x[1]).Sq().Add(x[1].Sub(x[2]).Sq().Sq()),
			x[1].Sq().AddConst(1).Mul(x[0]).Add(x[2].Sq().Sq()).AddConst(-3)}
	}, []float64{-2.6, 2, 2}}, optim.ConstrainedSettings{}, 0},
	{start{"27", func(x reals) reals {
		return reals{x[0].AddConst(-1).Sq().Scale(0.01).Add(x[1].Sub(x[0].Sq()).Sq()), x[0].Add(x[2].Sq()).AddConst(1)}
	}, []float64{2, 2, 2}}, optim.ConstrainedSettings{}, 0.04},
	{start{"39", func(x reals) reals {
		return reals{x[0].Neg(), x[1].Sub(x[0].Sq().Mul(x[0])).Sub(x[2].Sq()), x[0].Sq().Sub(x[1]).Sub(x[3].Sq())}
	}, same(4, 2)}, optim.ConstrainedSettings{}, -1},
	{start{"40", func(x reals) reals {
		return reals{x[0].Mul(x[1]).Mul(x[2]).Mul(x[3]).Neg(), x[0].Sq().Mul(x[0]).Add(x[1].Sq()).AddConst(-1),
			x[0].Sq().Mul(x[3]).Sub(x[2]), x[3].Sq().Sub(x[1])}
	}, same(4, 0.8)}, optim.ConstrainedSettings{}, -0.25},
	{start{"42", func(x reals) reals {
		f := constant(0)
		for i, v := range x {
			f = f.Add(v.AddConst(-float64(i + 1)).Sq())
		}
		return reals{f, x[0].AddConst(-2), x[2].Sq().Add(x[3].Sq()).AddConst(-2)}
	}, same(4, 1)}, optim.ConstrainedSettings{}, 28 - 10*math.Sqrt2},
	{start{"78", func(x reals) reals {
		return reals{x[0].Mul(x[1]).Mul(x[2]).Mul(x[3]).Mul(x[4]), nabla.Dot(x, x).AddConst(-10),
			x[1].Mul(x[2]).Sub(x[3].Mul(x[4]).Scale(5)), power(x[0], 3).Add(power(x[1], 3)).AddConst(1)}
	}, []float64{-2, 1.5, 2, -1, -1}}, optim.ConstrainedSettings{}, -2.91970041},
	{start{"43", func(x reals) reals {
		a, b, c, d := x[0], x[1], x[2], x[3]
		return reals{
			a.Sq().Add(b.Sq()).Add(c.Sq().Scale(2)).Add(d.Sq()).Sub(a.Scale(5)).Sub(b.Scale(5)).Sub(c.Scale(21)).
				Add(d.Scale(7)),
			nabla.Dot(x, x).Add(a).Sub(b).Add(c).Sub(d),
			a.Sq().Add(b.Sq().Scale(2)).Add(c.Sq()).Add(d.Sq().Scale(2)).Sub(a).Sub(d),
			a.Sq().Scale(2).Add(b.Sq()).Add(c.Sq()).Add(a.Scale(2)).Sub(b).Sub(d),
		}
	}, same(4, 0)}, optim.ConstrainedSettings{ConstraintUpper: []float64{8, 10, 5}}, -44},
	{start{"71", hs71, []float64{1, 5, 5, 1}}, hs71Bounds, 17.0140173},
	{start{"35", func(x reals) reals {
		a, b, c := x[0], x[1], x[2]
		return reals{a.Scale(-8).Sub(b.Scale(6)).Sub(c.Scale(4)).AddConst(9).Add(a.Sq().Scale(2)).Add(b.Sq().Scale(2)).
			Add(c.Sq()).Add(a.Mul(b).Scale(2)).Add(a.Mul(c).Scale(2)), a.Add(b).Add(c.Scale(2))}
	}, same(3, 0.5)}, optim.ConstrainedSettings{Lower: same(3, 0), ConstraintUpper: []float64{3}}, 1. / 9},
}

func hs71(x reals) reals {
	return reals{x[0].Mul(x[3]).Mul(x[0].Add(x[1]).Add(x[2])).Add(x[2]), x[0].Mul(x[1]).Mul(x[2]).Mul(x[3]),
		nabla.Dot(x, x)}
}

var hs71Bounds = optim.ConstrainedSettings{Lower: same(4, 1), Upper: same(4, 5),
	ConstraintLower: []float64{25, 40}, ConstraintUpper: []float64{math.Inf(1), 40}}

// TestHockSchittkowski compares minima with the published ones, and checks the conditions of Karush, Kuhn and Tucker
// with the multipliers: the gradient of the Lagrangian, signs, and complementarity.
func TestHockSchittkowski(t *testing.T) {
	for _, p := range hockSchittkowski {
		for _, b := range []nabla.Backend{compiled, nabla.AutoSparse{Dense: compiled}} {
			set := p.set
			res, err := optim.Constrained(p.f, b, p.x, &set)
			if err != nil || math.Abs(res.Value-p.value) > 1e-6*max(1, math.Abs(p.value)) || res.Violation > 1e-8 {
				t.Errorf("problem %s with %s: %+v, %v, want the value %v", p.name, b.Name(), res, err, p.value)
				continue
			}
			m, err := nabla.Jacobian(p.f, forwarddiff.Backend{}, res.X)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range res.X {
				g := m.At(0, i)
				for j, l := range res.Multipliers {
					g -= l * m.At(j+1, i)
				}
				if set.Lower != nil && v == set.Lower[i] {
					g = min(g, 0)
				}
				if set.Upper != nil && v == set.Upper[i] {
					g = max(g, 0)
				}
				if math.Abs(g) > 1e-5 {
					t.Errorf("problem %s: component %d of the gradient of the Lagrangian is %v", p.name, i, g)
				}
			}
			for j, l := range res.Multipliers {
				var lower, upper float64 // an equation with 0
				if set.ConstraintLower != nil || set.ConstraintUpper != nil {
					lower, upper = math.Inf(-1), math.Inf(1)
				}
				if set.ConstraintLower != nil {
					lower = set.ConstraintLower[j]
				}
				if set.ConstraintUpper != nil {
					upper = set.ConstraintUpper[j]
				}
				c := res.Constraints[j]
				if c < lower-1e-8 || c > upper+1e-8 {
					t.Errorf("problem %s: constraint %d is %v, not in [%v, %v]", p.name, j, c, lower, upper)
				}
				if c > lower+1e-6 && l > 1e-6 || c < upper-1e-6 && l < -1e-6 {
					t.Errorf("problem %s: constraint %d is %v in [%v, %v], its multiplier %v", p.name, j, c, lower,
						upper, l)
				}
			}
		}
	}
}

// TestMultipliersAreDerivatives: the minimum changes with a bound by the multiplier.
func TestMultipliersAreDerivatives(t *testing.T) {
	at := func(product float64) (*optim.ConstrainedResult, float64) {
		set := hs71Bounds
		set.ConstraintLower = []float64{product, 40}
		set.GTol = 1e-9
		res, err := optim.Constrained(hs71, compiled, []float64{1, 5, 5, 1}, &set)
		if err != nil {
			t.Fatal(err)
		}
		return res, res.Value
	}
	const h = 1e-2
	res, _ := at(25)
	_, up := at(25 + h)
	_, down := at(25 - h)
	if slope := (up - down) / (2 * h); math.Abs(slope-res.Multipliers[0]) > 1e-4 {
		t.Errorf("the multiplier is %v, and the minimum changes by %v", res.Multipliers[0], slope)
	}
}

// TestConstrainedErrors has the errors that the solver documents.
func TestConstrainedErrors(t *testing.T) {
	x0 := []float64{1, 5, 5, 1}
	// x² + 1 = 0 has no solution; the violation is least at 0.
	var infeasible *optim.InfeasibleError
	res, err := optim.Constrained(func(x reals) reals { return reals{x[0], x[0].Sq().AddConst(1)} }, compiled,
		[]float64{3}, nil)
	if !errors.As(err, &infeasible) || math.Abs(infeasible.Violation-1) > 1e-6 || math.Abs(res.X[0]) > 1e-3 {
		t.Errorf("a constraint without solution: %+v, %v", res, err)
	}
	var limit *optim.ConvergenceError
	set := hs71Bounds
	set.MaxEvaluations = 3
	if res, err := optim.Constrained(hs71, compiled, x0, &set); !errors.As(err, &limit) ||
		res.Status != optim.EvaluationLimit || res.Evaluations != 3 {
		t.Errorf("limit of 3: %+v, %v", res, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	set = hs71Bounds
	set.Context = ctx
	set.Progress = func(it optim.Iteration) error {
		if it.Number == 2 {
			cancel()
		}
		return nil
	}
	if res, err := optim.Constrained(hs71, compiled, x0, &set); !errors.Is(err, context.Canceled) ||
		floats.HasNaN(res.X) || res.Status != optim.Stopped {
		t.Errorf("cancelled: %+v, %v", res, err)
	}
	var bad *optim.NonFiniteError
	if _, err := optim.Constrained(func(x reals) reals { return reals{nabla.Log(x[0])} }, compiled, []float64{-1},
		nil); !errors.As(err, &bad) {
		t.Errorf("a logarithm: %v", err)
	}
	var setting *optim.SettingError
	for _, change := range []func(s *optim.ConstrainedSettings){
		func(s *optim.ConstrainedSettings) { s.GTol = -1 },
		func(s *optim.ConstrainedSettings) { s.CTol = math.NaN() },
		func(s *optim.ConstrainedSettings) { s.MaxEvaluations = -1 },
		func(s *optim.ConstrainedSettings) { s.Lower = same(3, 1) },
		func(s *optim.ConstrainedSettings) { s.ConstraintLower = same(3, 1) },
		func(s *optim.ConstrainedSettings) { s.ConstraintUpper = []float64{24, 40} },
		func(s *optim.ConstrainedSettings) { s.ConstraintLower = []float64{math.NaN(), 40} },
	} {
		set := hs71Bounds
		change(&set)
		if _, err := optim.Constrained(hs71, compiled, x0, &set); !errors.As(err, &setting) {
			t.Errorf("%+v: %v", set, err)
		}
	}
	if _, err := optim.Constrained(func(x reals) reals { return nil }, compiled, x0, nil); err == nil {
		t.Error("a function without outputs is accepted")
	}
	// Without constraints it is Bounded.
	res, err = optim.Constrained(func(x reals) reals { return reals{objective(rosenbrock)(x)} }, compiled,
		[]float64{-1.2, 1}, &optim.ConstrainedSettings{Upper: []float64{0.5, 9}})
	if err != nil || math.Abs(res.Value-0.25) > 1e-9 {
		t.Errorf("without constraints: %+v, %v", res, err)
	}
}
