package nabla_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/randfunc"
)

// TestTaylorRandom compares Taylor coefficients of random programs with nested derivatives by dual numbers, to order 3.
func TestTaylorRandom(t *testing.T) {
	c := longtest.Search{Few: 100, Usual: 1000, Many: 30_000, Check: func(seed uint64) (int, error) {
		p, xs := taylorProgram(seed)
		if p.Has(randfunc.Box) {
			return 0, fmt.Errorf("derivatives inside end at order 2: %w", longtest.ErrRefused)
		}
		return checkTaylor(p, xs)
	}, Describe: func(seed uint64, err error) string {
		p, xs := taylorProgram(seed)
		q, ys := randfunc.Shrink(p, xs, func(p *randfunc.Prog, xs [][]float64) bool {
			_, e := checkTaylor(p, xs)
			return e != nil && failureKind(e) == failureKind(err)
		})
		_, err = checkTaylor(q, ys)
		return fmt.Sprintf("%v\n%s%s", err, q, randfunc.Points(ys))
	}}.Run(t)
	if c.Compared < 5*c.Cases {
		t.Errorf("only %d coefficients are compared", c.Compared)
	}
}

// taylorProgram returns the program of a seed of TestTaylorRandom, with points.
func taylorProgram(seed uint64) (*randfunc.Prog, [][]float64) {
	o := randfunc.Options{M: 1, Nested: seed%4 == 0, Escapes: seed%4 == 1}
	return randfunc.New(randomData(seed+7_000_000), 2, o)
}

// checkTaylor compares the coefficients of p at the points, and returns how many of them are finite.
func checkTaylor(p *randfunc.Prog, xs [][]float64) (compared int, err error) {
	f := p.Real().Scalar
	v := make([]float64, p.N)
	for i := range v {
		v[i] = []float64{1, -0.5, 0.25, 0.75}[i]
	}
	const order = 3
	for _, x := range xs {
		for i := range x {
			x[i] += 0 // nested derivatives do not get -0
		}
		got, err := nabla.TaylorCoefficients(f, x, v, order)
		if err != nil {
			return compared, fmt.Errorf("taylor: at %v: %w", x, err)
		}
		want, err := nestedCoefficients(f, x, v)
		if err != nil {
			return compared, fmt.Errorf("forwarddiff: at %v: %w", x, err)
		}
		// How much the coefficients change with the input bounds how accurate they can be.
		spread := make([]float64, order+1)
		for _, e := range []float64{1e-12, -1e-12, 3e-13} {
			near := make([]float64, len(x))
			for i := range x {
				near[i] = x[i] + e*(1+math.Abs(x[i]))*float64(i+1)
			}
			c, err := nabla.TaylorCoefficients(f, near, v, order)
			if err != nil {
				return compared, fmt.Errorf("taylor: at %v: %w", near, err)
			}
			for k := range c {
				if d := math.Abs(c[k] - got[k]); !(d <= spread[k]) {
					spread[k] = d
				}
			}
		}
		for i := range x { // nested derivatives may be less accurate
			near := slices.Clone(x)
			near[i] += 1e-12 * (1 + math.Abs(x[i]))
			c, err := nestedCoefficients(f, near, v)
			if err != nil {
				return compared, fmt.Errorf("forwarddiff: at %v: %w", near, err)
			}
			for k := range c {
				if d := math.Abs(c[k] - want[k]); !(d <= spread[k]) {
					spread[k] = d
				}
			}
		}
		largest, tiny := 0.0, false
		for _, v := range x {
			tiny = tiny || v != 0 && math.Abs(v) < 1e-100
		}
		for k := range got {
			if w := math.Abs(want[k]); w <= 1e200 {
				largest = max(largest, w)
			}
		}
		for k := range got {
			g, w, s := got[k], want[k], spread[k]
			if g-g == 0 && w-w == 0 {
				compared++
				// Terms of coefficient k have the size of the power of coefficient 1, and may cancel.
				terms := math.Pow(max(math.Abs(got[1]), math.Abs(want[1])), float64(k))
				tol := 1e-9*max(math.Abs(g), math.Abs(w)) + 100*s + 1e-13*largest + 1e-14*terms + 1e-280
				if !(s <= 1e200) || terms-terms != 0 || math.Abs(g-w) <= tol {
					continue
				}
				return compared, differs("differs", k, x, g, w)
			}
			if k <= 1 && !sameNumber(g, w) {
				return compared, differs("has another singularity", k, x, g, w)
			}
			if g == 0 && w != w && !tiny { // powers of tiny numbers are 0
				return compared, differs("is 0 for NaN", k, x, g, w)
			}
			if g-g == 0 && math.IsInf(w, 0) && math.Abs(g) < 1e290 {
				return compared, differs("is finite for Inf", k, x, g, w)
			}
		}
	}
	return compared, nil
}

// differs returns the error for coefficient k.
func differs(how string, k int, x []float64, got, nested float64) error {
	return fmt.Errorf("coefficient %d %s: at %v: %v, nested %v", k, how, x, got, nested)
}

// nestedCoefficients returns the coefficients of f(x + t·v) to order 3 by derivatives of derivatives.
func nestedCoefficients(f func([]nabla.Real) nabla.Real, x, v []float64) ([]float64, error) {
	b := forwarddiff.Backend{}
	g := func(t nabla.Real) nabla.Real {
		at := make([]nabla.Real, len(x))
		for i := range at {
			at[i] = t.Scale(v[i]).AddConst(x[i])
		}
		return f(at)
	}
	y, dy, err := nabla.ValueAndDerivative(g, b, 0)
	if err != nil {
		return nil, err
	}
	second, third, err := nabla.ValueAndDerivative(nabla.DerivativeFunc(nabla.DerivativeFunc(g, b), b), b, 0)
	if err != nil {
		return nil, err
	}
	return []float64{y, dy, second / 2, third / 6}, nil
}
