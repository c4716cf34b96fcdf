package ode_test

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/ode"
)

// lorenzFlow is a function of the states at two times of a solution with steps of one size.
func lorenzFlow(t *testing.T, b nabla.Backend, m ode.Method, h float64, times []float64) func([]nabla.Real) nabla.Real {
	t.Helper()
	set := fixed(m, h)
	set.Times = times
	q, err := ode.Prepare(lorenz, b, lorenzStart, lorenzParameters, set)
	if err != nil {
		t.Fatal(err)
	}
	flow := q.Flow(0, 0.4)
	return func(x []nabla.Real) nabla.Real {
		s := nabla.Const(1)
		for i, v := range flow(x[:3], x[3:]) {
			s = s.Add(v.Scale(0.1 * float64(i+1)))
			s = s.Mul(nabla.Cos(v.Scale(0.05)))
		}
		return s
	}
}

// TestSecondDerivatives: they are those of the steps that were taken, however coarse, in all pairs of engines: of the
// steps written out over Reals, and for Rodas, of differences of the gradient.
func TestSecondDerivatives(t *testing.T) {
	x := append(append([]float64(nil), lorenzStart...), lorenzParameters...)
	v := []float64{0.3, -1, 0.5, 0.2, 1, -0.4}
	const h = 0.04
	over := func(outer, inner nabla.Backend) nabla.Backend { return nabla.SecondOrder{Outer: outer, Inner: inner} }
	compiled := reversediff.Backend{Compile: true}
	for _, times := range [][]float64{nil, {0.16, 0.4}} {
		written := func(x []nabla.Real) nabla.Real {
			states := unrolled(x, 10, h)
			if times != nil {
				states = append(append([]nabla.Real(nil), unrolled(x, 4, h)...), states...)
			}
			s := nabla.Const(1)
			for i, v := range states {
				s = s.Add(v.Scale(0.1 * float64(i+1)))
				s = s.Mul(nabla.Cos(v.Scale(0.05)))
			}
			return s
		}
		want, err := nabla.HVP(written, over(forwarddiff.Backend{}, tracker.Backend{}), x, v)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range methods {
			for _, b := range []nabla.Backend{nil, nabla.AutoSparse{Dense: forwarddiff.Backend{}}} {
				if b != nil && m != ode.Rodas {
					continue
				}
				f := lorenzFlow(t, b, m, h, times)
				expect, tol := want, 1e-11
				if m == ode.Rodas {
					expect, tol = differences(t, f, x, v), 1e-6
				}
				var first []float64
				for _, pair := range []nabla.Backend{nil, over(forwarddiff.Backend{}, compiled),
					over(forwarddiff.Backend{}, tracker.Backend{}), over(compiled, forwarddiff.Backend{}),
					over(tracker.Backend{}, tracker.Backend{}), over(forwarddiff.Backend{}, forwarddiff.Backend{})} {
					got, err := nabla.HVP(f, pair, x, v)
					if err != nil {
						t.Fatalf("%v, %v: %v", m, pair, err)
					}
					if first == nil {
						first = got
					}
					for i, y := range got {
						size := 1 + math.Abs(expect[i])
						if math.Abs(y-expect[i]) > tol*size || math.Abs(y-first[i]) > 1e-11*size {
							t.Errorf("%v, %v, times %v: element %d is %v, want %v, and %v by another pair", m, pair,
								times, i, y, expect[i], first[i])
						}
					}
				}
			}
		}
	}
}

// differences returns the product of the Hessian with v by central differences of the gradient.
func differences(t *testing.T, f func([]nabla.Real) nabla.Real, x, v []float64) []float64 {
	t.Helper()
	const step = 1e-5
	shifted := func(by float64) []float64 {
		at := make([]float64, len(x))
		for i := range at {
			at[i] = x[i] + by*v[i]
		}
		g, err := nabla.Gradient(f, reversediff.Backend{}, at)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	above, below := shifted(step), shifted(-step)
	for i := range above {
		above[i] = (above[i] - below[i]) / (2 * step)
	}
	return above
}
