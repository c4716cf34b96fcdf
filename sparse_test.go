package nabla_test

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/coloring"
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

// TestSparseHessianOfDifferences is the Hessian of the sum of squared differences: 2 on and -2 beside the
// diagonal, but 4 inside.
func TestSparseHessianOfDifferences(t *testing.T) {
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

// TestMissingEntryAtPrepare: a pattern that misses an entry is an error when it is prepared.
func TestMissingEntryAtPrepare(t *testing.T) {
	f := func(x []nabla.Real) []nabla.Real {
		return []nabla.Real{x[0].Mul(x[1]), x[1].Mul(x[2]), x[2].Sq()}
	}
	x := []float64{2, 3, 4}
	p, _ := sparsity.FromEntries(3, 3, []int{0, 1, 1, 2}, []int{0, 1, 2, 2})
	for _, e := range []nabla.Backend{forwarddiff.Backend{}, reversediff.Backend{}, reversediff.Backend{Compile: true},
		tracker.Backend{}, finitediff.Backend{}} {
		b := nabla.AutoSparse{Dense: e, Detector: sparsity.Known{J: p}}
		var pe *nabla.PatternError
		if _, err := nabla.PrepareJacobian(f, b, x); !errors.As(err, &pe) {
			t.Errorf("%s: %v", b.Name(), err)
		} else {
			t.Log(err)
		}
	}
}

// TestPartitionWithLeastWork: columns, rows or both together are grouped, whichever takes less work.
func TestPartitionWithLeastWork(t *testing.T) {
	n := 30
	x := make([]float64, n)
	for i := range x {
		x[i] = 1 + float64(i)/10
	}
	sum := func(x []nabla.Real) nabla.Real {
		var s nabla.Real
		for _, v := range x {
			s = s.Add(v.Sq())
		}
		return s
	}
	denseRow := func(x []nabla.Real) []nabla.Real { // and a diagonal
		y := make([]nabla.Real, n)
		for i := range y {
			y[i] = x[i].Sq()
		}
		y[0] = sum(x)
		return y
	}
	denseColumn := func(x []nabla.Real) []nabla.Real {
		y := make([]nabla.Real, n)
		for i := range y {
			y[i] = x[i].Sq().Mul(x[0])
		}
		return y
	}
	both := func(x []nabla.Real) []nabla.Real {
		y := denseColumn(x)
		y[0] = sum(x)
		return y
	}
	groups := coloring.Greedy{Orders: []coloring.Order{coloring.SmallestFirst{}}, Postprocess: true}
	compiled := reversediff.Backend{Compile: true}
	mixed := nabla.MixedMode{Forward: forwarddiff.Backend{}, Reverse: reversediff.Backend{}}
	for _, tt := range []struct {
		f                func([]nabla.Real) []nabla.Real
		b                nabla.AutoSparse
		forward, reverse int
	}{
		{denseRow, nabla.AutoSparse{Dense: forwarddiff.Backend{}}, n, 0},
		{denseRow, nabla.AutoSparse{Dense: tracker.Backend{}}, 0, 2},
		{denseRow, nabla.AutoSparse{Dense: mixed}, 1, 1},
		{denseColumn, nabla.AutoSparse{Dense: mixed}, 2, 0},
		{denseColumn, nabla.AutoSparse{Dense: compiled, Coloring: groups}, 2, 0},
		{denseRow, nabla.AutoSparse{Dense: compiled, Coloring: groups}, 1, 1},
		{both, nabla.AutoSparse{Dense: mixed}, 2, 1},
		{both, nabla.AutoSparse{Dense: compiled, Coloring: groups}, 2, 1},
		{both, nabla.AutoSparse{Dense: mixed, Decompression: coloring.Substitution}, 2, 1},
	} {
		tt.b.ReverseCost = 2
		p, err := nabla.PrepareJacobian(tt.f, tt.b, x)
		if err != nil {
			t.Errorf("%s: %v", tt.b.Name(), err)
			continue
		}
		c := p.Plan().Coloring
		if c == nil || c.Forward() != tt.forward || c.Reverse() != tt.reverse {
			t.Errorf("%s: %v, want %d forward and %d reverse products", tt.b.Name(), p.Plan(), tt.forward, tt.reverse)
		}
		j, err := p.Jacobian(nil, x)
		if err != nil {
			t.Errorf("%s: %v", tt.b.Name(), err)
			continue
		}
		want, err := nabla.Jacobian(tt.f, forwarddiff.Backend{}, x)
		if err != nil || !mat.EqualApprox(j, want, 1e-12) {
			t.Errorf("%s: wrong, %v", tt.b.Name(), err)
		}
	}
}

// TestDenseRowIsQuick: one dense row does not make the choice of an order quadratic.
func TestDenseRowIsQuick(t *testing.T) {
	n := 100_000
	f := func(x []nabla.Real) []nabla.Real {
		var s nabla.Real
		for _, v := range x {
			s = s.Add(v.Sq())
		}
		return []nabla.Real{s, x[0].Mul(x[1])}
	}
	p, err := nabla.PrepareJacobian(f, nabla.AutoSparse{Dense: tracker.Backend{}}, make([]float64, n))
	if err != nil || p.Plan().Products() != 2 {
		t.Errorf("%v, %v", p.Plan(), err)
	}
}
