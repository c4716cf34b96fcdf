package nabla_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
)

// stencil is y[i] = x[i-1]·x[i+1] + x[i]², with nothing beyond the ends.
func stencil(x []nabla.Real) []nabla.Real {
	y := make([]nabla.Real, len(x))
	for i := range y {
		y[i] = x[i].Sq()
		if i > 0 && i+1 < len(x) {
			y[i] = y[i].Add(x[i-1].Mul(x[i+1]))
		}
	}
	return y
}

// stencilPattern is written down, not found.
func stencilPattern(n int) *sparsity.Pattern {
	var is, js []int
	for i := range n {
		is, js = append(is, i), append(js, i)
		if i > 0 && i+1 < n {
			is, js = append(is, i, i), append(js, i-1, i+1)
		}
	}
	p, err := sparsity.FromEntries(n, n, is, js)
	if err != nil {
		panic(err)
	}
	return p
}

func TestDenseDetector(t *testing.T) {
	n := 23
	x := make([]float64, n)
	for i := range x {
		x[i] = 1 + float64(i)
	}
	so := nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{}}
	for _, b := range []nabla.Backend{forwarddiff.Backend{}, reversediff.Backend{}, reversediff.Backend{Compile: true},
		finitediff.Backend{}, so} {
		for _, direct := range []bool{false, true} {
			d := nabla.DenseDetector{Backend: b, Direct: direct}
			p, err := nabla.JacobianSparsity(stencil, d, x)
			if err != nil || !p.Equal(stencilPattern(n)) {
				t.Errorf("%s: %v\n%v", d.Name(), err, p)
			}
			if _, ok := b.(finitediff.Backend); ok {
				d.Tol = 0.5 // of second derivatives of 2 and -2, and noise
			}
			p, err = nabla.HessianSparsity(squaredDifferences, d, x[:9])
			if err != nil || !p.Equal(sparsity.Banded(9, 9, 1, 1)) {
				t.Errorf("%s: Hessian: %v\n%v", d.Name(), err, p)
			}
		}
	}
}

// TestDenseDetectorPoints: an entry that is zero at x is found at other points, a NaN is found
// immediately, and an entry not above Tol never.
func TestDenseDetectorPoints(t *testing.T) {
	f := func(x []nabla.Real) []nabla.Real {
		return []nabla.Real{x[0].Mul(x[1]), nabla.Sqrt(x[0].Sub(nabla.Const(1))), x[2].Scale(1e-9)}
	}
	x := []float64{0, 0, 1}
	for _, tt := range []struct {
		d    nabla.DenseDetector
		want [][2]int
	}{
		{nabla.DenseDetector{}, [][2]int{{1, 0}, {2, 2}}},
		{nabla.DenseDetector{Tol: 1e-6}, [][2]int{{1, 0}}},
		{nabla.DenseDetector{Points: [][]float64{{2, 3, 1}}}, [][2]int{{0, 0}, {0, 1}, {1, 0}, {2, 2}}},
	} {
		for _, tt.d.Direct = range []bool{false, true} {
			tt.d.Backend = forwarddiff.Backend{}
			p, err := nabla.JacobianSparsity(f, tt.d, x)
			if err != nil {
				t.Errorf("%s: %v", tt.d.Name(), err)
				continue
			}
			if p.NNZ() != len(tt.want) {
				t.Errorf("%s: %v", tt.d.Name(), p)
			}
			for _, e := range tt.want {
				if !p.Has(e[0], e[1]) {
					t.Errorf("%s: entry %v is missing", tt.d.Name(), e)
				}
			}
		}
	}
}

func TestDenseDetectorEmpty(t *testing.T) {
	none := func(x []nabla.Real) []nabla.Real { return nil }
	two := func(x []nabla.Real) []nabla.Real { return make([]nabla.Real, 2) }
	for _, b := range []nabla.Backend{forwarddiff.Backend{}, reversediff.Backend{}} {
		for _, direct := range []bool{false, true} {
			d := nabla.DenseDetector{Backend: b, Direct: direct}
			p, err := nabla.JacobianSparsity(two, d, nil)
			if r, c := p.Dims(); err != nil || r != 2 || c != 0 {
				t.Errorf("%s: no inputs: %v, %v", d.Name(), p, err)
			}
			p, err = nabla.JacobianSparsity(none, d, []float64{1, 2})
			if r, c := p.Dims(); err != nil || r != 0 || c != 2 {
				t.Errorf("%s: no outputs: %v, %v", d.Name(), p, err)
			}
			p, err = nabla.HessianSparsity(func([]nabla.Real) nabla.Real { return nabla.Const(1) }, d, nil)
			if r, c := p.Dims(); err != nil || r != 0 || c != 0 {
				t.Errorf("%s: Hessian without inputs: %v, %v", d.Name(), p, err)
			}
		}
	}
}

func TestDenseDetectorErrors(t *testing.T) {
	x := []float64{1, 2}
	for name, tt := range map[string]struct {
		d    nabla.DenseDetector
		want string
	}{
		"no backend": {nabla.DenseDetector{Backend: (*forwarddiff.Backend)(nil)}, "backend is nil"},
		"tolerance":  {nabla.DenseDetector{Backend: forwarddiff.Backend{}, Tol: -1}, "Tol is -1"},
		"NaN":        {nabla.DenseDetector{Backend: forwarddiff.Backend{}, Tol: math.NaN()}, "Tol is NaN"},
		"point": {nabla.DenseDetector{Backend: forwarddiff.Backend{}, Points: [][]float64{{1}}},
			"len of a point is 1, want 2"},
	} {
		if p, err := nabla.JacobianSparsity(stencil, tt.d, x); p != nil || err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := nabla.PrepareWeightedHessian(stencil,
		nabla.AutoSparse{Dense: forwarddiff.Backend{}, Detector: nabla.DenseDetector{Backend: forwarddiff.Backend{}}},
		x)
	if !errors.Is(err, nabla.ErrUnsupported) || !strings.Contains(err.Error(), "sparsity.Global") {
		t.Errorf("several outputs: %v", err)
	}
}

// TestSparsePlain: the Jacobian of a function over float64 needs no detector, a Hessian
// one that knows.
func TestSparsePlain(t *testing.T) {
	n := 40
	f := func(x []float64) []float64 {
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = v * v
			if i > 0 && i+1 < len(x) {
				y[i] += x[i-1] * x[i+1]
			}
		}
		return y
	}
	x := make([]float64, n) // where much is zero
	p, err := nabla.PrepareJacobian(f, nabla.AutoSparse{Dense: finitediff.Backend{}}, x)
	if err != nil {
		t.Fatal(err)
	}
	if plan := p.Plan(); !plan.Pattern.Equal(stencilPattern(n)) || plan.Products() != 3 ||
		!strings.Contains(plan.String(), "float64") {
		t.Errorf("%v", plan)
	}
	for i := range x {
		x[i] = float64(i % 5)
	}
	j, err := p.Sparse(nil, x)
	if err != nil || math.Abs(j.At(7, 6)-x[8]) > 1e-6 || math.Abs(j.At(7, 7)-2*x[7]) > 1e-6 {
		t.Errorf("%v, %v", j, err)
	}
	scalar := func(x []float64) float64 { return x[0] * x[0] * x[1] }
	if _, err := nabla.PrepareHessian(scalar, nabla.AutoSparse{Dense: finitediff.Backend{}},
		[]float64{1, 2}); !errors.Is(err, nabla.ErrUnsupported) {
		t.Errorf("a Hessian without a detector: %v", err)
	}
	known := sparsity.Known{H: sparsity.Full(2, 2)}
	h, err := nabla.Hessian(scalar, nabla.AutoSparse{Dense: finitediff.Backend{}, Detector: known}, []float64{1, 2})
	if _, ok := h.(*sparse.SymCSC); !ok || err != nil || math.Abs(h.At(0, 1)-2) > 1e-3 {
		t.Errorf("%v, %v", h, err)
	}
}
