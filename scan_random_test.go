package nabla_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/randfunc"
)

// randomScan returns a loop whose step is a random function.
func randomScan(seed uint64) (scanCase, [][]float64) {
	p, xs := randfunc.New(randomData(seed), 3, randfunc.Options{M: 2, Escapes: seed%8 == 0, Nested: seed%4 == 1})
	state := min(p.N, p.M)
	step := func(s *nabla.ScanStep) {
		y := p.Real().Vector(append(append([]nabla.Real{}, s.State...), s.Params...))
		copy(s.Next, y)
		copy(s.Outputs, y[state:])
	}
	return scanCase{s: nabla.Scan{Step: step, Outputs: p.M - state}, n: 1 + int(seed%5), state: state,
		params: p.N - state}, xs
}

// TestScanOfRandomSteps compares loops of random steps, with branches, kinks and singular points, with the unrolled
// loop, at several points with the same prepared object. Values are the same bit for bit. Derivatives agree to rounding
// if all are finite: at singular points a zero derivative of a loop is no structural zero.
func TestScanOfRandomSteps(t *testing.T) {
	longtest.Serial(t)
	first := []nabla.Backend{reversediff.Backend{Compile: true}, tracker.Backend{}, forwarddiff.Backend{}}
	second := []nabla.Backend{
		reversediff.Backend{Compile: true}, forwarddiff.Hyper{},
		nabla.SecondOrder{Outer: tracker.Backend{}, Inner: reversediff.Backend{}},
	}
	compared := 0
	for seed := range longtest.Seeds(20, 60, 1500) {
		c, xs := randomScan(seed)
		c.s.Memory = int64(1+seed%3) * 8 * (4*int64(c.state) + 1)
		run, plain := c.s.Func(), unrolled(c.s)
		jacobians := func(run nabla.ScanFunc, b nabla.Backend) *nabla.JacobianPrep {
			p, err := nabla.PrepareJacobian(c.over(run), b, xs[0])
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, b.Name(), err)
			}
			return p
		}
		hessians := func(run nabla.ScanFunc, b nabla.Backend) *nabla.HessianPrep {
			p, err := nabla.PrepareHessian(c.sum(run), b, xs[0])
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, b.Name(), err)
			}
			return p
		}
		numbers := make([]bool, len(xs)) // whether all values are
		for _, b := range first {
			p, q := jacobians(run, b), jacobians(plain, b)
			for k, x := range xs {
				y1, j1, err1 := p.ValueAndJacobian(nil, nil, x)
				y2, j2, err2 := q.ValueAndJacobian(nil, nil, x)
				if err1 != nil || err2 != nil {
					t.Fatalf("seed %d, %s at %v: %v, %v", seed, b.Name(), x, err1, err2)
				}
				for i := range y1 {
					if math.Float64bits(y1[i]) != math.Float64bits(y2[i]) && y1[i] == y1[i] {
						t.Errorf("seed %d, %s at %v: values %v, want %v", seed, b.Name(), x, y1, y2)
					}
				}
				numbers[k] = calm(mat.NewVecDense(len(y2), y2))
				if calm(j2) {
					compared++
					if !closeUpTo(j1, j2, 1e-11) {
						t.Errorf("seed %d, %s at %v: Jacobian\n%v, want\n%v", seed, b.Name(), x, mat.Formatted(j1),
							mat.Formatted(j2))
					}
				}
			}
		}
		for _, b := range second {
			p, q := hessians(run, b), hessians(plain, b)
			for k, x := range xs {
				h1, err1 := p.Dense(nil, x)
				h2, err2 := q.Dense(nil, x)
				if err1 != nil || err2 != nil {
					t.Fatalf("seed %d, %s at %v: %v, %v", seed, b.Name(), x, err1, err2)
				}
				if numbers[k] && calm(h2) && !slices.ContainsFunc(x, atZero) {
					compared++
					if !closeUpTo(h1, h2, 1e-11) {
						t.Errorf("seed %d, %s at %v: Hessian\n%v, want\n%v", seed, b.Name(), x, mat.Formatted(h1),
							mat.Formatted(h2))
					}
				}
			}
		}
	}
	t.Logf("%d derivatives compared", compared)
}

// atZero reports whether v is 0 or nearly so, where functions have singular points.
func atZero(v float64) bool { return math.Abs(v) < 1e-300 }

// calm reports whether all elements of m are finite and so small that products of them are.
func calm(m mat.Matrix) bool {
	r, c := m.Dims()
	for i := range r {
		for j := range c {
			if !(math.Abs(m.At(i, j)) < 1e12) {
				return false
			}
		}
	}
	return true
}
