package nabla_test

import (
	"errors"
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/symbolic"
	"github.com/nabla-ad/nabla/internal/problems"
)

// TestProblems differentiates the test problems with every engine and compares with
// their references: exact engines within 1e-12 of the largest component, differences
// within the bound of the problem.
func TestProblems(t *testing.T) {
	for _, e := range problems.Entries() {
		p, err := e.New(100)
		if err != nil {
			t.Fatal(err)
		}
		var f any = p.Func
		switch {
		case p.Func != nil:
		case p.M == 1:
			f = p.Traced
		default:
			f = nabla.InPlace(p.M, p.TracedVector)
		}
		for _, b := range append([]nabla.Backend{finitediff.Backend{}}, exact...) {
			if f, ok := b.(forwarddiff.Backend); testing.Short() && (!ok || f.Workers == 0) {
				continue // the others say nothing about races
			}
			tol := 1e-12
			if b == (finitediff.Backend{}) {
				tol = p.Difference
			}
			for i := range min(len(p.Cases), 20) {
				c := p.Select(i)
				got, err := derivativeOf(f, p.M, b, c.X)
				if branch := new(symbolic.BranchError); errors.As(err, &branch) {
					break // it compares numbers, and is no expression
				}
				if err != nil {
					t.Fatalf("%s with %s: %v", p.Name, b.Name(), err)
				}
				size := 0.0
				for _, v := range c.Derivative {
					size = math.Max(size, math.Abs(v))
				}
				for k, want := range c.Derivative {
					if !(math.Abs(got[k]-want) <= tol*size) {
						t.Errorf("%s, case %d with %s: component %d is %v, want %v", p.Name, i, b.Name(), k, got[k],
							want)
						break
					}
				}
			}
		}
	}
}

// derivativeOf is the gradient or, row by row, the Jacobian.
func derivativeOf(f any, m int, b nabla.Backend, x []float64) ([]float64, error) {
	if m > 1 {
		p, err := nabla.PrepareJacobian(f.(*nabla.Func), b, x)
		if err != nil {
			return nil, err
		}
		j, err := p.Dense(nil, x)
		if err != nil {
			return nil, err
		}
		return j.RawMatrix().Data, nil
	}
	var p *nabla.GradientPrep
	var err error
	switch f := f.(type) {
	case *nabla.Func:
		p, err = nabla.PrepareGradient(f, b, x)
	case func([]nabla.Real) nabla.Real:
		p, err = nabla.PrepareGradient(f, b, x)
	}
	if err != nil {
		return nil, err
	}
	return p.Gradient(nil, x)
}
