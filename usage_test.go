package nabla_test

import (
	"cmp"
	"math"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/tracker"
)

// The programs that users write, each on every engine.

// within compares with tolerance tol, or with that of finite differences for their engines.
func within(t *testing.T, what string, b nabla.Backend, got, want []float64, tol float64) {
	t.Helper()
	if strings.Contains(b.Name(), "finitediff") {
		tol = 1e-5
	}
	if len(got) != len(want) {
		t.Errorf("%s with %s: %d numbers, want %d", what, b.Name(), len(got), len(want))
		return
	}
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= tol*max(1, math.Abs(w))) {
			t.Errorf("%s with %s: number %d is %v, want %v", what, b.Name(), i, got[i], w)
		}
	}
}

// TestNewtonIterations has the callbacks of gonum/optimize: the first error is kept.
func TestNewtonIterations(t *testing.T) {
	rosenbrock := func(x []nabla.Real) nabla.Real {
		return nabla.Const(1).Sub(x[0]).Sq().Add(x[1].Sub(x[0].Sq()).Sq().Scale(100))
	}
	for _, b := range allEngines {
		x, g := []float64{-1.2, 1}, make([]float64, 2)
		gp, err := nabla.PrepareGradient(rosenbrock, b, x)
		if err != nil {
			t.Fatal(err)
		}
		hp, err := nabla.PrepareHessian(rosenbrock, b, x)
		if err != nil {
			t.Fatal(err)
		}
		var first error
		grad := func(dst, x []float64) { _, e := gp.Gradient(dst, x); first = cmp.Or(first, e) }
		hess := func(dst *mat.SymDense, x []float64) { _, e := hp.Dense(dst, x); first = cmp.Or(first, e) }
		h := new(mat.SymDense)
		for range 20 {
			grad(g, x)
			hess(h, x)
			var chol mat.Cholesky
			if !chol.Factorize(h) {
				t.Fatalf("the Hessian with %s is not positive: %v", b.Name(), h)
			}
			step := mat.NewVecDense(2, nil)
			if err := chol.SolveVecTo(step, mat.NewVecDense(2, g)); err != nil {
				t.Fatal(err)
			}
			floats.Sub(x, step.RawVector().Data)
		}
		if first != nil {
			t.Fatal(first)
		}
		within(t, "minimum", b, x, []float64{1, 1}, 1e-10)
	}
}

type minibatch struct {
	X, Y nabla.Vec
	Cols int
	Buf  nabla.Scratch
}

// logLoss is the logistic loss of the rows of X with labels Y.
func logLoss(w []nabla.Real, b *minibatch) nabla.Real {
	terms, s := b.Buf.Reals(), nabla.Const(0)
	for i := range b.Y.Len() {
		for j := range b.Cols {
			terms[j] = w[j].Mul(b.X.At(i*b.Cols + j))
		}
		z := nabla.Sum(terms...)
		s = s.Add(nabla.Softplus(z)).Sub(z.Mul(b.Y.At(i)))
	}
	return s
}

// TestMiniBatches has workers, each with a clone bound to a struct of its own, that
// take batches of differing lengths from one channel.
func TestMiniBatches(t *testing.T) {
	const cols = 4
	rows := func(k, n int) (x, y []float64) {
		for i := range n {
			for j := range cols {
				x = append(x, math.Sin(float64(1+k+3*i+7*j)))
			}
			y = append(y, float64((i+k)%2))
		}
		return x, y
	}
	w := []float64{.1, -.2, .3, .4}
	for _, b := range allEngines {
		x, y := rows(0, 5)
		prep, err := nabla.PrepareGradient(nabla.Bind(logLoss,
			&minibatch{nabla.VecOf(x), nabla.VecOf(y), cols, nabla.NewScratch(cols)}), b, w)
		if err != nil {
			t.Fatal(err)
		}
		feed := make(chan int)
		var wg sync.WaitGroup
		for range 3 {
			own, g := &minibatch{Cols: cols, Buf: nabla.NewScratch(cols)}, make([]float64, cols)
			p := prep.Clone()
			if err := p.Rebind(own); err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				for k := range feed {
					x, y := rows(k, 3+k%4)
					own.X, own.Y = nabla.VecOf(x), nabla.VecOf(y)
					if _, err := p.Gradient(g, w); err != nil {
						t.Errorf("batch %d with %s: %v", k, b.Name(), err)
						continue
					}
					want := make([]float64, cols)
					for i, y := range y {
						row := x[cols*i : cols*i+cols]
						floats.AddScaled(want, 1/(1+math.Exp(-floats.Dot(w, row)))-y, row)
					}
					within(t, "batch", b, g, want, 1e-13)
				}
			})
		}
		for k := range 30 {
			feed <- k
		}
		close(feed)
		wg.Wait()
	}
}

// TestGradientInsideAFunction has a gradient that captures an active number, and a black box, in a
// differentiated function, for every pair of engines.
func TestGradientInsideAFunction(t *testing.T) {
	black := nabla.DifferentiateWith(func(x []float64) float64 { return math.Hypot(x[0], x[1]) }, finitediff.Backend{})
	for _, b := range allEngines {
		for _, in := range allEngines {
			hyper := func(x []nabla.Real) nabla.Real {
				inner := func(z []nabla.Real) nabla.Real { return z[0].Sq().Mul(x[1]) }
				return nabla.GradientFunc(inner, in)(x[:1])[0].Add(black(x))
			}
			g, err := nabla.Gradient(hyper, b, []float64{3, 4})
			if err != nil {
				t.Fatal(err)
			}
			within(t, "bilevel over "+in.Name(), b, g, []float64{8 + .6, 6 + .8}, 1e-5)
		}
	}
}

// invert is Gauss-Jordan elimination with pivoting: the inverse of an n×n matrix and
// its determinant.
func invert(a []nabla.Real, n int) (inv []nabla.Real, det nabla.Real) {
	m, w := make([]nabla.Real, 2*n*n), 2*n
	for i := range n {
		copy(m[i*w:], a[i*n:i*n+n])
		m[i*w+n+i] = nabla.Const(1)
	}
	det = nabla.Const(1)
	for k := range n {
		p := k
		for i := k + 1; i < n; i++ {
			if m[i*w+k].Abs().Greater(m[p*w+k].Abs()) {
				p = i
			}
		}
		if p != k {
			for j := range w {
				m[k*w+j], m[p*w+j] = m[p*w+j], m[k*w+j]
			}
			det = det.Neg()
		}
		pivot := m[k*w+k]
		det = det.Mul(pivot)
		for j := range w {
			m[k*w+j] = m[k*w+j].Div(pivot)
		}
		for i := range n {
			if f := m[i*w+k]; i != k {
				for j := range w {
					m[i*w+j] = m[i*w+j].Sub(f.Mul(m[k*w+j]))
				}
			}
		}
	}
	for i := range n {
		inv = append(inv, m[i*w+n:i*w+w]...)
	}
	return inv, det
}

// TestEliminationWithPivoting has a function whose branches follow the data, prepared where none of
// the later points is: ∇log|det X| is the transposed inverse, its derivative along V
// is -(X⁻¹VX⁻¹)ᵀ, and ∂X⁻¹ᵢⱼ/∂Xₖₗ is -X⁻¹ᵢₖ·X⁻¹ₗⱼ.
func TestEliminationWithPivoting(t *testing.T) {
	const n = 3
	logdet := func(x []nabla.Real) nabla.Real { _, d := invert(x, n); return nabla.Log(d.Abs()) }
	inverse := func(x []nabla.Real) []nabla.Real { inv, _ := invert(x, n); return inv }
	eye := []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}
	v := []float64{1, -2, .5, 3, 0, 1, -1, 2, .25}
	for _, b := range append(allEngines, nabla.Backend(nabla.SecondOrder{Outer: compiled, Inner: tracker.Backend{}}),
		nabla.SecondOrder{Outer: tracker.Backend{}, Inner: forwarddiff.Backend{}}) {
		gp, err := nabla.PrepareGradient(logdet, b, eye)
		if err != nil {
			t.Fatal(err)
		}
		hp, err := nabla.PrepareHVP(logdet, b, eye)
		if err != nil {
			t.Fatal(err)
		}
		jp, err := nabla.PrepareJacobian(inverse, b, eye)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range [][]float64{
			{2, 1, 0, 1, 3, 1, 0, 1, 4},
			{.5, 2, 1, 3, -1, 2, 1, 1, 4},
			{0, 1, 2, 1, 0, -3, 4, 2, 1},
			{2, 1, 0, 1, 3, 1, 0, 1, 4},
		} {
			var inv, tmp, hv mat.Dense
			if err := inv.Inverse(mat.NewDense(n, n, x)); err != nil {
				t.Fatal(err)
			}
			tmp.Mul(&inv, mat.NewDense(n, n, v))
			hv.Mul(&tmp, &inv)
			var grad, along, jac []float64
			for i := range n {
				for j := range n {
					grad = append(grad, inv.At(j, i))
					along = append(along, -hv.At(j, i))
					for k := range n {
						for l := range n {
							jac = append(jac, -inv.At(i, k)*inv.At(l, j))
						}
					}
				}
			}
			g, err := gp.Gradient(nil, x)
			if err != nil {
				t.Fatal(err)
			}
			within(t, "gradient", b, g, grad, 1e-13)
			h, err := hp.HVP(nil, x, v)
			if err != nil {
				t.Fatal(err)
			}
			within(t, "Hessian-vector product", b, h, along, 1e-12)
			j, err := jp.Dense(nil, x)
			if err != nil {
				t.Fatal(err)
			}
			within(t, "Jacobian", b, j.RawMatrix().Data, jac, 1e-13)
		}
	}
}
