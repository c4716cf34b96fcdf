package reversediff_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/reversediff"
)

// TestRecordingsOfSparseHessian counts the program without value and gradient, and with
// them from the first call on that asks for them.
func TestRecordingsOfSparseHessian(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real {
		if x[0].Less(nabla.Const(0)) {
			return x[0].Sq().Mul(x[0]).Neg()
		}
		return x[0].Sq().Mul(x[0]).Add(x[1].Sq())
	}
	p, err := nabla.PrepareHessian(f, nabla.AutoSparse{Dense: reversediff.Backend{Compile: true}}, []float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	count := func(what string, want int) {
		t.Helper()
		if n := p.Recordings(); n != want {
			t.Errorf("%s: %d recordings, want %d", what, n, want)
		}
	}
	if p.Plan().Coloring != nil {
		t.Fatal("the entries are not a program")
	}
	before := p.Recordings()
	if h, err := p.Hessian(nil, []float64{2, 2}); err != nil || h.At(0, 0) != 12 {
		t.Error(h, err)
	}
	count("without a gradient", before)
	y, g, h, err := p.ValueGradientAndHessian(nil, nil, []float64{2, 2})
	if err != nil || y != 12 || g[0] != 12 || h.At(1, 1) != 2 {
		t.Error(y, g, h, err)
	}
	count("with a gradient", before+1)
	if _, _, _, err := p.ValueGradientAndHessian(nil, nil, []float64{3, 2}); err != nil {
		t.Error(err)
	}
	count("again", before+1)
}
