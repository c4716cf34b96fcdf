package optim

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
)

// Bounded minimises f from x0 subject to lower ≤ x ≤ upper by the projected Newton method of Bertsekas (1982): unknowns
// near a bound beyond which the negative gradient points move to it, the others along the Newton direction of the exact
// Hessian among them, and the step is searched along its projection to the bounds. If that Hessian is not positive
// definite, a multiple of the identity is added. A nil slice of bounds, or an infinite one, does not bind. x0 is
// projected to the bounds; an upper bound must be above the lower one.
//
// f is prepared twice on b, for values and for Hessians, which are dense and symmetric, of n² numbers. Errors are those
// of [NewtonCG].
func Bounded[F nabla.ScalarFunc](f F, b nabla.Backend, x0, lower, upper []float64,
	s *MinimizeSettings) (*MinimizeResult, error) {
	d, err := newDescent("Bounded", x0, s)
	if err != nil {
		return nil, err
	}
	if d.box, err = newBox(d.op, lower, upper, len(x0)); err != nil {
		return nil, err
	}
	d.box.project(d.res.X)
	if d.prep, err = nabla.PrepareGradient(f, b, d.res.X); err != nil {
		return nil, err
	}
	h, err := nabla.PrepareHessian(f, b, d.res.X)
	if err != nil {
		return nil, err
	}
	if err := d.start(); err != nil {
		return d.result(Stopped, err)
	}
	return d.result(d.bounded(newFreeNewton(len(x0)), func(dst *mat.SymDense, x []float64) error {
		_, err := h.Dense(dst, x)
		return err
	}))
}

// bounded runs the method from the point of d. hessian writes the Hessian at x to dst.
func (d *descent) bounded(matrix *freeNewton, hessian func(dst *mat.SymDense, x []float64) error) (Status, error) {
	n := len(d.res.X)
	hess := matrix.hess
	a := arc{box: d.box, p: make([]float64, n), free: make([]bool, n)}
	shift := 0.0
	for {
		if s, err := d.step(shift); s != Stopped || err != nil {
			return s, err
		}
		x, g := d.res.X, d.res.Gradient
		d.res.Hessians++
		if err := hessian(hess, x); err != nil {
			return Stopped, err
		}
		if i := nonFinite(hess.RawSymmetric().Data); i >= 0 {
			return Stopped, &NonFiniteError{d.op, "element of the Hessian in row", i / n, hess.At(i/n, i%n),
				slices.Clone(x)}
		}
		width := 0.0 // of the bounds, ε of Bertsekas: the length of the projected step along the gradient
		for i := range x {
			lo, up := d.box.at(i)
			step := x[i] - min(max(x[i]-g[i]/max(1, math.Abs(hess.At(i, i))), lo), up)
			width += step * step
		}
		d.box.active(a.free, x, g, min(1e-3, math.Sqrt(width)))
		a.x, a.g, a.trial = x, g, d.trial
		shift = matrix.direction(a.p, g, a.free)
		a.direct()
		for alpha := 1.0; ; alpha /= 2 {
			slope := a.at(alpha)
			value, err := d.valueAt(d.trial)
			if err != nil {
				return Stopped, err
			}
			accepted, precision, err := d.acceptable(value, slope, d.res.Value-value >= decrease*slope)
			if err != nil {
				return Stopped, err
			}
			if accepted {
				d.accept(value)
				break
			}
			switch {
			case precision:
				return d.precision(a.at(1))
			case d.evaluations >= d.limit:
				return EvaluationLimit, nil
			case alpha*floats.Norm(a.p, 2) <= eps*floats.Norm(x, 2):
				return d.stuck()
			}
		}
	}
}

// A freeNewton computes Newton directions of free unknowns.
type freeNewton struct {
	hess  *mat.SymDense
	index []int
	data  []float64
	rhs   []float64
}

func newFreeNewton(n int) *freeNewton {
	return &freeNewton{mat.NewSymDense(n, nil), make([]int, 0, n), make([]float64, n*n), make([]float64, n)}
}

// direction stores -(H_F + τ·I)⁻¹·g_F in the free elements of p and returns τ, 0 if the Hessian H_F of the free
// unknowns is positive definite and otherwise the first of a geometric sequence with which the Cholesky factorisation
// succeeds (Nocedal and Wright 2006, algorithm 3.3).
func (m *freeNewton) direction(p, g []float64, free []bool) (tau float64) {
	hess := m.hess
	m.index = m.index[:0]
	for i, f := range free {
		if f {
			m.index = append(m.index, i)
		}
	}
	k := len(m.index)
	if k == 0 {
		return 0
	}
	a := blas64.Symmetric{Uplo: blas.Upper, N: k, Stride: k, Data: m.data[:k*k]}
	norm, smallest := 0.0, math.Inf(1)
	for _, i := range m.index {
		for _, j := range m.index {
			norm = math.Hypot(norm, hess.At(i, j))
		}
		smallest = min(smallest, hess.At(i, i))
	}
	least := 1e-3 * norm
	if norm == 0 {
		least = 1
	}
	if smallest <= 0 {
		tau = -smallest + least
	}
	for {
		for r, i := range m.index {
			for c := r; c < k; c++ {
				a.Data[r*k+c] = hess.At(i, m.index[c])
			}
			a.Data[r*k+r] += tau
		}
		if t, ok := lapack64.Potrf(a); ok {
			for r, i := range m.index {
				m.rhs[r] = -g[i]
			}
			lapack64.Potrs(t, blas64.General{Rows: k, Cols: 1, Stride: 1, Data: m.rhs[:k]})
			break
		}
		tau = max(2*tau, least)
	}
	for r, i := range m.index {
		p[i] = m.rhs[r]
	}
	return tau
}
