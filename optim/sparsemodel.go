package optim

import (
	"gonum.org/v1/gonum/floats"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/sparse"
)

// sparseModel is a model with a sparse Jacobian.
type sparseModel struct {
	m, n   int
	jac    *sparse.CSC
	solver LinearSolver
	direct *augmented // nil if the linear problems are solved by iteration
	chosen bool
	failed int // number of problems left to the iteration

	solve *lsmr
	b     []float64
	// Of the problem being solved: J·D⁻¹ restricted to free.
	scaled []float64
	scale  []float64
	free   []bool
}

func newSparse(m, n int, solver LinearSolver) *sparseModel {
	s := &sparseModel{m: m, n: n, solver: solver, scaled: make([]float64, n), b: make([]float64, m)}
	s.solve = newLSMR(m, n)
	s.solve.product = s.product
	return s
}

func (s *sparseModel) update(p *nabla.JacobianPrep, x []float64) (err error) {
	s.jac, err = p.Sparse(s.jac, x)
	return err
}

func (s *sparseModel) nonFinite() (row int, v float64) {
	if i := nonFinite(s.jac.Data()); i >= 0 {
		return s.jac.RowIndex()[i], s.jac.Data()[i]
	}
	return -1, 0
}

func (s *sparseModel) norms(dst []float64) {
	at, data := s.jac.ColPtr(), s.jac.Data()
	for j := range dst {
		dst[j] = floats.Norm(data[at[j]:at[j+1]], 2)
	}
}

func (s *sparseModel) apply(dst, v []float64)      { s.jac.MulVec(dst, v) }
func (s *sparseModel) transposed(dst, w []float64) { s.jac.MulVecTrans(dst, w) }

// product multiplies by J·D⁻¹ or its transpose, with zeros in place of the columns that are not free.
func (s *sparseModel) product(dst, v []float64, trans bool) {
	if trans {
		s.jac.MulVecTrans(dst, v)
		s.unscale(dst)
		return
	}
	copy(s.scaled, v)
	s.unscale(s.scaled)
	s.jac.MulVec(dst, s.scaled)
}

// unscale stores D⁻¹·v in v, with zeros for the elements that are not free.
func (s *sparseModel) unscale(v []float64) {
	for j, f := range s.free {
		if f {
			v[j] /= s.scale[j]
		} else {
			v[j] = 0
		}
	}
}

// damped solves the problem by a factorisation, if that was chosen and is possible for these numbers, otherwise by
// LSMR.
func (s *sparseModel) damped(p, r []float64, root float64, scale []float64, free []bool, accuracy float64) {
	if !s.chosen {
		s.chosen = true
		if s.solver != IterativeSolver {
			s.direct = newAugmented(s.jac, s.solver == DirectSolver)
		}
	}
	s.scale, s.free = scale, free
	for i, v := range r {
		s.b[i] = -v
	}
	if s.direct == nil || !s.direct.step(p, s, root, accuracy) {
		if s.failed++; s.failed == 3 { // of the problems of this run
			s.direct = nil
		}
		s.solve.run(p, s.b, lsmrLimits{damp: root, reduction: accuracy, iterations: 4 * (s.m + s.n)})
	}
	s.unscale(p)
}
