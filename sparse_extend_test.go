package nabla_test

import (
	"errors"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
)

// extended is a derivative of one of the functions with two ways, and the means to add entries to its pattern.
type extended struct {
	name   string
	call   waysCall
	extend func(x []float64) (int, error)
	plan   func() *nabla.SparsePlan
	want   func(x []float64, second bool) []float64
}

func extendedOperators(t *testing.T, b nabla.AutoSparse, x []float64) []extended {
	t.Helper()
	k := &twoWays{way: "input"}
	j, e1 := nabla.PrepareJacobian(nabla.Bind(waysVector, k), b, x)
	h, e2 := nabla.PrepareHessian(nabla.Bind(waysScalar, k), b, x)
	w, e3 := nabla.PrepareWeightedHessian(nabla.Bind(waysVector, k), b, x)
	kkt, e4 := nabla.PrepareKKT(nabla.Bind(waysVector, k), b, x)
	if err := errors.Join(e1, e2, e3, e4); err != nil {
		t.Fatalf("%s: %v", b.Name(), err)
	}
	weights := []float64{2, -3, 5}
	return []extended{
		{"Jacobian", func(x []float64) ([]float64, error) {
			d, err := j.Dense(nil, x)
			if err != nil {
				return nil, err
			}
			return elements(d), nil
		}, j.Extend, j.Plan, waysJacobian},
		{"Hessian", func(x []float64) ([]float64, error) {
			d, err := h.Dense(nil, x)
			if err != nil {
				return nil, err
			}
			return elements(d), nil
		}, h.Extend, h.Plan, func(_ []float64, second bool) []float64 { return waysHessian(second) }},
		{"WeightedHessian", func(x []float64) ([]float64, error) {
			d, err := w.Hessian(nil, x, weights)
			if err != nil {
				return nil, err
			}
			return elements(d), nil
		}, w.Extend, w.Plan, func(_ []float64, second bool) []float64 { return waysWeighted(weights, second) }},
		{"KKT", func(x []float64) ([]float64, error) {
			j, h, err := kkt.KKT(nil, nil, x, weights)
			if err != nil {
				return nil, err
			}
			return append(elements(j), elements(h)...), nil
		}, kkt.Extend, kkt.Plan, waysKKT},
	}
}

// TestExtend: after a PatternError the entries of the other branch are added, and both branches are right.
func TestExtend(t *testing.T) {
	first, second := []float64{0.5, 2, 3, 5}, []float64{-0.5, 2, 3, 5}
	for _, b := range waysBackends() {
		for _, o := range extendedOperators(t, b, first) {
			var pe *nabla.PatternError
			if _, err := o.call(second); !errors.As(err, &pe) {
				t.Errorf("%s by %s: %v, want a *PatternError", o.name, b.Name(), err)
				continue
			}
			before := o.plan().Pattern.NNZ()
			added, err := o.extend(second)
			if err != nil || added < 1 || o.plan().Pattern.NNZ() != before+added {
				t.Errorf("%s by %s: %d entries added to %d: %v, %v", o.name, b.Name(), added, before, o.plan(), err)
				continue
			}
			for range 5 {
				for _, x := range [][]float64{first, second, second, first} {
					got, err := o.call(x)
					if want := o.want(x, x[0] < 0); err != nil || !floats.EqualApprox(got, want, 1e-6) {
						t.Fatalf("%s by %s at %v: %v, %v, want %v", o.name, b.Name(), x, got, err, want)
					}
				}
			}
			if added, err := o.extend(first); added != 0 || err != nil {
				t.Errorf("%s by %s: %d entries are added again: %v", o.name, b.Name(), added, err)
			}
		}
	}
}

// TestExtendDiagonal: engines that compute diagonals by products of the whole pattern need the entries of both
// branches.
func TestExtendDiagonal(t *testing.T) {
	first, second := []float64{0.5, 2, 3, 5}, []float64{-0.5, 2, 3, 5}
	extended := 0
	for _, b := range waysBackends() {
		p, err := nabla.PrepareHessianDiagonal(nabla.Bind(waysScalar, &twoWays{way: "input"}), b, first)
		if err != nil {
			t.Fatal(b.Name(), err)
		}
		var pe *nabla.PatternError
		if _, err := p.HessianDiagonal(nil, second); !errors.As(err, &pe) {
			continue // it computes single entries
		}
		if added, err := p.Extend(second); err != nil || added < 1 {
			t.Errorf("%s: %d entries added: %v", b.Name(), added, err)
			continue
		}
		extended++
		for _, x := range [][]float64{first, second, first} {
			h := waysHessian(x[0] < 0)
			want := []float64{h[0], h[5], h[10], h[15]}
			if got, err := p.HessianDiagonal(nil, x); err != nil || !floats.EqualApprox(got, want, 1e-6) {
				t.Errorf("%s at %v: %v, %v, want %v", b.Name(), x, got, err, want)
			}
		}
	}
	if extended == 0 {
		t.Error("no engine computes the diagonal by products")
	}
}

// TestExtendErrors: a failed extension changes nothing.
func TestExtendErrors(t *testing.T) {
	first, second := []float64{0.5, 2, 3, 5}, []float64{-0.5, 2, 3, 5}
	f := nabla.Bind(waysVector, &twoWays{way: "input"})
	dense, err := nabla.PrepareJacobian(f, forwarddiff.Backend{}, first)
	if err != nil {
		t.Fatal(err)
	}
	var ue *nabla.UnsupportedError
	if _, err := dense.Extend(second); !errors.As(err, &ue) || ue.Remedy == "" {
		t.Errorf("without an AutoSparse: %v", err)
	}
	fails := errors.New("no pattern today")
	d := &failing{}
	p, err := nabla.PrepareJacobian(f, nabla.AutoSparse{Dense: forwarddiff.Backend{}, Detector: d}, first)
	if err != nil {
		t.Fatal(err)
	}
	j, err := p.Sparse(nil, first)
	if err != nil {
		t.Fatal(err)
	}
	var se *nabla.ShapeError
	if _, err := p.Extend(first[:2]); !errors.As(err, &se) {
		t.Errorf("for a short x: %v", err)
	}
	d.err = fails
	if _, err := p.Extend(second); !errors.Is(err, fails) {
		t.Errorf("with a detector that fails: %v", err)
	}
	if got, err := p.Sparse(j, first); err != nil || got != j {
		t.Errorf("after a failed extension: %v, %v", got, err)
	}
	d.err = nil
	if added, err := p.Extend(second); err != nil || added < 1 {
		t.Errorf("%d entries added: %v", added, err)
	}
	var pe *nabla.PatternError
	if _, err := p.Sparse(j, first); !errors.As(err, &pe) {
		t.Errorf("a matrix of the old pattern: %v", err)
	}
	want := waysJacobian(second, true)
	if j, err := p.Sparse(new(sparse.CSC), second); err != nil || !floats.EqualApprox(elements(j), want, 1e-12) {
		t.Errorf("%v, %v", j, err)
	}
}

// failing is sparsity.Recorded until it has an error.
type failing struct {
	sparsity.Recorded
	err error
}

func (d *failing) Jacobian(f sparsity.Function, x []float64) (*sparsity.Pattern, error) {
	if d.err != nil {
		return nil, d.err
	}
	return d.Recorded.Jacobian(f, x)
}
