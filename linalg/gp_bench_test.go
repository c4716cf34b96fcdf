package linalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/timing/timingtest"
	"github.com/nabla-ad/nabla/linalg"
)

// A process is a Gaussian process with three inputs and observations y. Its parameters are the logarithms of three
// length scales, of the amplitude and of the noise.
type process struct {
	x [][3]float64
	y []float64
}

func newProcess(n int) *process {
	r := rand.New(rand.NewPCG(7, 7))
	p := &process{}
	for range n {
		x := [3]float64{r.Float64(), r.Float64(), r.Float64()}
		p.x = append(p.x, x)
		p.y = append(p.y, math.Sin(5*x[0])+x[1]*x[2]+0.1*r.NormFloat64())
	}
	return p
}

// logLikelihood is the logarithm of the marginal likelihood, without its constant: -yᵀ·K⁻¹·y/2 - log det K/2 for
// K[i][j] = a·exp(-Σ (x[i][d]-x[j][d])²/l[d]²/2) + noise·δ[i][j].
func (p *process) logLikelihood(theta []nabla.Real) nabla.Real {
	n := len(p.x)
	var w [3]nabla.Real
	for d := range w {
		w[d] = nabla.Exp(theta[d].Scale(-2)).Scale(-0.5)
	}
	a, noise := nabla.Exp(theta[3]), nabla.Exp(theta[4])
	k := linalg.New(n, n)
	y := make([]nabla.Real, n)
	for i := range n {
		for j := range i {
			var e nabla.Real
			for d := range w {
				h := p.x[i][d] - p.x[j][d]
				e = e.Add(w[d].Scale(h * h))
			}
			k.Set(i, j, a.Mul(nabla.Exp(e)))
		}
		k.Set(i, i, a.Add(noise))
		y[i] = nabla.Const(p.y[i])
	}
	c := linalg.NewCholesky(k)
	return nabla.Dot(y, c.SolveVec(y)).Add(c.LogDet()).Scale(-0.5)
}

// plain is logLikelihood with gonum/mat over float64, in memory that is used again.
func (p *process) plain(k *mat.SymDense, c *mat.Cholesky, alpha *mat.VecDense, theta []float64) float64 {
	var w [3]float64
	for d := range w {
		w[d] = -0.5 * math.Exp(-2*theta[d])
	}
	a, noise := math.Exp(theta[3]), math.Exp(theta[4])
	for i := range p.x {
		for j := range i {
			e := 0.0
			for d := range w {
				h := p.x[i][d] - p.x[j][d]
				e += w[d] * (h * h)
			}
			k.SetSym(i, j, a*math.Exp(e))
		}
		k.SetSym(i, i, a+noise)
	}
	if !c.Factorize(k) {
		return math.NaN()
	}
	y := mat.NewVecDense(len(p.y), p.y)
	if err := c.SolveVecTo(alpha, y); err != nil {
		return math.NaN()
	}
	return -0.5 * (mat.Dot(y, alpha) + c.LogDet())
}

// BenchmarkGaussianProcess compares the compiled gradient of the log likelihood with respect to five parameters with
// the plain evaluation.
func BenchmarkGaussianProcess(b *testing.B) {
	theta := []float64{0.1, -0.2, 0.3, 0.2, -2}
	compiled := nabla.Policy{Backend: reversediff.Backend{Compile: true}, FixedCaptures: true}
	for _, n := range []int{100, 200, 300} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			p := newProcess(n)
			g, err := nabla.PrepareGradient(p.logLikelihood, compiled, theta)
			if err != nil {
				b.Fatal(err)
			}
			dst := make([]float64, len(theta))
			k, alpha := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
			var c mat.Cholesky
			timingtest.Ratio(b, func() {
				if _, err := g.Gradient(dst, theta); err != nil {
					b.Fatal(err)
				}
			}, func() { p.plain(k, &c, alpha, theta) })
		})
	}
}

// TestGaussianProcess compares value and gradient of the log likelihood with gonum/mat and its differences.
func TestGaussianProcess(t *testing.T) {
	longtest.Serial(t)
	const n = 40
	p := newProcess(n)
	theta := []float64{0.1, -0.2, 0.3, 0.2, -2}
	y, g, err := nabla.ValueAndGradient(p.logLikelihood, reversediff.Backend{Compile: true}, theta)
	if err != nil {
		t.Fatal(err)
	}
	var c mat.Cholesky
	plain := func(theta []float64) float64 {
		return p.plain(mat.NewSymDense(n, nil), &c, mat.NewVecDense(n, nil), theta)
	}
	near(t, "value", []float64{y}, []float64{plain(theta)}, 1e-12)
	want := fd.Gradient(nil, plain, theta, &fd.Settings{Formula: fd.Central})
	near(t, "gradient", g, want, 1e-7)
}
