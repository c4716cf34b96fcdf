package nabla_test

import (
	"errors"
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
)

func squaredDifferences(x []nabla.Real) nabla.Real {
	var s nabla.Real
	for i := 1; i < len(x); i++ {
		s = s.Add(x[i].Sub(x[i-1]).Sq())
	}
	return s
}

// TestListing2 is the Hessian of the sum of squared differences: 2 on and -2 beside the
// diagonal, but 4 inside.
func TestListing2(t *testing.T) {
	n := 40
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i * i)
	}
	so := nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{Compile: true}}
	for _, b := range []nabla.Backend{
		nabla.AutoSparse{Dense: so}, nabla.AutoSparse{Dense: reversediff.Backend{Compile: true}},
		nabla.AutoSparse{Dense: reversediff.Backend{}}, nabla.AutoSparse{Dense: forwarddiff.Backend{}},
		nabla.AutoSparse{Dense: tracker.Backend{}}, nabla.AutoSparse{Dense: finitediff.Backend{}},
		nabla.AutoSparse{Dense: nabla.MixedMode{Forward: forwarddiff.Backend{}, Reverse: tracker.Backend{}}},
		nabla.AutoSparse{Dense: so, Workers: 3}, nabla.AutoSparse{Dense: so, Detector: sparsity.Local{}},
	} {
		p, err := nabla.PrepareHessian(squaredDifferences, b, x)
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		h, err := p.Hessian(nil, x)
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		s := h.(*sparse.SymCSC)
		if s.NNZ() != 3*n-2 {
			t.Errorf("%s: %d entries", b.Name(), s.NNZ())
		}
		t.Log(b.Name(), p.Plan())
		for i := range n {
			for j := range n {
				want := 0.0
				switch {
				case i == j && (i == 0 || i == n-1):
					want = 2
				case i == j:
					want = 4
				case i-j == 1 || j-i == 1:
					want = -2
				}
				tol := 1e-12
				if b.Name() == "sparse(finitediff)" {
					tol = 1
				}
				if got := h.At(i, j); !(math.Abs(got-want) <= tol) {
					t.Errorf("%s: (%d, %d) is %v, want %v", b.Name(), i, j, got, want)
				}
			}
		}
	}
}

// TestWrongPattern: a pattern that misses an entry is an error when it is prepared.
func TestWrongPattern(t *testing.T) {
	f := func(x []nabla.Real) []nabla.Real {
		return []nabla.Real{x[0].Mul(x[1]), x[1].Mul(x[2]), x[2].Sq()}
	}
	x := []float64{2, 3, 4}
	p, _ := sparsity.FromEntries(3, 3, []int{0, 1, 1, 2}, []int{0, 1, 2, 2})
	for _, e := range []nabla.Backend{forwarddiff.Backend{}, reversediff.Backend{}, reversediff.Backend{Compile: true}, tracker.Backend{}, finitediff.Backend{}} {
		b := nabla.AutoSparse{Dense: e, Detector: sparsity.Known{J: p}}
		var pe *nabla.PatternError
		if _, err := nabla.PrepareJacobian(f, b, x); !errors.As(err, &pe) {
			t.Errorf("%s: %v", b.Name(), err)
		} else {
			t.Log(err)
		}
	}
}
