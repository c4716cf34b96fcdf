package symbolic_test

import (
	"errors"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/symbolic"
	"github.com/nabla-ad/nabla/sparsity"
)

// chained is Σ sin(x[i]·x[i+1]).
func chained(x []nabla.Real) nabla.Real {
	var s nabla.Real
	for i := range len(x) - 1 {
		s = s.Add(nabla.Sin(x[i].Mul(x[i+1])))
	}
	return s
}

// differences has the outputs x[i+1]² - x[i].
func differences(x []nabla.Real) []nabla.Real {
	y := make([]nabla.Real, len(x)-1)
	for i := range y {
		y[i] = x[i+1].Sq().Sub(x[i])
	}
	return y
}

// TestSparse: the entries come from the expressions, with neither a detector nor a colouring.
func TestSparse(t *testing.T) {
	x := make([]float64, 60)
	for i := range x {
		x[i] = 0.1 * float64(i%9)
	}
	b := nabla.AutoSparse{Dense: symbolic.Backend{}}
	j, err := nabla.PrepareJacobian(differences, b, x)
	if err != nil {
		t.Fatal(err)
	}
	h, err := nabla.PrepareHessian(chained, b, x)
	if err != nil {
		t.Fatal(err)
	}
	for _, plan := range []*nabla.SparsePlan{j.Plan(), h.Plan()} {
		if plan.Detector != "symbolic" || plan.Coloring != nil || plan.Products() != 0 {
			t.Errorf("%v", plan)
		}
	}
	if n := j.Plan().Pattern.NNZ(); n != 118 {
		t.Errorf("%d entries of the Jacobian, want 118", n)
	}
	if n := h.Plan().Pattern.NNZ(); n != 60+118 {
		t.Errorf("%d entries of the Hessian, want 178", n)
	}
	gotJ, err := j.Sparse(nil, x)
	if err != nil {
		t.Fatal(err)
	}
	wantJ, err := nabla.Jacobian(differences, forwarddiff.Backend{}, x)
	if err != nil || !mat.EqualApprox(gotJ, wantJ, 1e-14) {
		t.Errorf("the Jacobian differs: %v", err)
	}
	gotH, err := h.Sparse(nil, x)
	if err != nil {
		t.Fatal(err)
	}
	wantH, err := nabla.Hessian(chained, forwarddiff.Hyper{}, x)
	if err != nil || !mat.EqualApprox(gotH, wantH, 1e-13) {
		t.Errorf("the Hessian differs: %v", err)
	}
}

// TestSparseCancels: a derivative that cancels is no entry.
func TestSparseCancels(t *testing.T) {
	f := func(x []nabla.Real) []nabla.Real {
		s := x[0].Add(x[1])
		return []nabla.Real{s.Sub(x[0]), s.Mul(x[2])}
	}
	const want = 4
	for _, b := range []symbolic.Backend{{}, {Exact: true}} {
		p, err := nabla.PrepareJacobian(f, nabla.AutoSparse{Dense: b}, []float64{1, 2, 3})
		if err != nil {
			t.Fatal(err)
		}
		if n := p.Plan().Pattern.NNZ(); n != want {
			t.Errorf("%s: %d entries, want %d", b.Name(), n, want)
		}
		j, err := p.Sparse(nil, []float64{1, 2, 3})
		if err != nil || !mat.Equal(j, mat.NewDense(2, 3, []float64{0, 1, 0, 3, 3, 3})) {
			t.Errorf("%s: %v, %v", b.Name(), j, err)
		}
	}
}

// TestMissingEntry: a pattern that lacks an entry is an error, and so is one that a change of the bound struct makes
// wrong.
func TestMissingEntry(t *testing.T) {
	empty := sparsity.Empty(1, 2)
	b := nabla.AutoSparse{Dense: symbolic.Backend{}, Detector: sparsity.Known{J: empty}}
	_, err := nabla.PrepareJacobian(func(x []nabla.Real) []nabla.Real { return []nabla.Real{x[0].Mul(x[1])} }, b,
		[]float64{1, 2})
	var missing *nabla.PatternError
	if !errors.As(err, &missing) || missing.Row != 0 {
		t.Error(err)
	}
	type data struct{ Both bool }
	d := &data{}
	f := nabla.Bind(func(x []nabla.Real, d *data) []nabla.Real {
		if d.Both {
			return []nabla.Real{x[0].Mul(x[1])}
		}
		return []nabla.Real{x[0].Sq()}
	}, d)
	p, err := nabla.PrepareJacobian(f, nabla.AutoSparse{Dense: symbolic.Backend{}}, []float64{3, 2})
	if err != nil {
		t.Fatal(err)
	}
	if j, err := p.Sparse(nil, []float64{3, 2}); err != nil || j.At(0, 0) != 6 {
		t.Error(j, err)
	}
	d.Both = true
	if _, err = p.Sparse(nil, []float64{3, 2}); !errors.As(err, &missing) || missing.Col != 1 || missing.Value != 3 {
		t.Error(err)
	}
}
