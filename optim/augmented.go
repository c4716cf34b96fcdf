package optim

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"

	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparse/direct"
	"github.com/nabla-ad/nabla/sparsity"
)

// augmented solves damped linear least-squares problems with a sparse matrix A by a factorisation of the augmented
// system (Björck 1996, §2.5): with the damping δ,
//
//	[δI   A ] [s]   [ b ]
//	[Aᵀ  -δI] [p] = [-c ]
//
// has the solution of (AᵀA + δ²I)p = Aᵀb + δc, and s = (b - A·p)/δ. The matrix is quasi-definite, so that it has a
// factorisation in any order of elimination, rows of A with many entries do not fill it as they would fill AᵀA, and the
// accuracy is that of A instead of AᵀA.
type augmented struct {
	kkt    *sparse.SymCSC // the upper triangle: a diagonal, then the columns of A, each with its diagonal entry below
	ldl    direct.LDL
	x, rhs []float64
	last   []float64
}

// leastDamping is the smallest δ that is factorised, for columns with norms of at most 1. A problem with less damping
// is the limit of problems with this one.
const leastDamping = 1e-7

// mostRepeats is the number of solutions after which a problem whose limit is not reached is left to LSMR: singular
// values of J·D⁻¹ are far below leastDamping.
const mostRepeats = 12

// newAugmented returns the solver for the pattern of the matrix j, or nil if a factorisation would cost much more than
// some hundred iterations of LSMR, unless always is set.
func newAugmented(j *sparse.CSC, always bool) *augmented {
	m, n := j.Dims()
	ptr, idx := make([]int, m+n+1), make([]int, 0, m+n+j.NNZ())
	for i := range m {
		idx = append(idx, i)
		ptr[i+1] = len(idx)
	}
	for c := range n {
		idx = append(append(idx, j.Pattern().Col(c)...), m+c)
		ptr[m+c+1] = len(idx)
	}
	p, err := sparsity.New(m+n, m+n, ptr, idx)
	if err != nil {
		panic(err) // the columns are ascending
	}
	a := &augmented{x: make([]float64, m+n), rhs: make([]float64, m+n), last: make([]float64, n)}
	if a.kkt, err = sparse.NewSymCSC(p, blas.Upper, nil); err != nil {
		panic(err)
	}
	if !always {
		// An iteration takes four operations for each entry and some for each element, but waits for memory.
		const iterations, fill = 300, 60
		size := float64(j.NNZ() + m + n)
		entries, operations, err := a.ldl.Analyze(a.kkt)
		if err != nil || operations > 4*iterations*size || float64(entries) > fill*size {
			return nil
		}
	}
	return a
}

// step stores in p the minimiser of ‖J·D⁻¹·p - b‖² + root²‖p‖² of the problem in s, to a relative accuracy. It reports
// whether that was possible. The proximal point iteration takes the damping that the factorisation adds away again.
func (a *augmented) step(p []float64, s *sparseModel, root, accuracy float64) bool {
	delta := max(root, leastDamping)
	a.fill(s, delta)
	if a.ldl.Factorize(a.kkt) != nil {
		return false
	}
	m := s.m
	copy(a.rhs, s.b)
	clear(p)
	excess := delta*delta - root*root
	for range mostRepeats {
		for j, v := range p {
			a.rhs[m+j] = -excess / delta * v
		}
		if _, err := a.ldl.SolveRefined(a.x, a.kkt, a.rhs); err != nil {
			return false
		}
		copy(a.last, p)
		copy(p, a.x[m:])
		if excess == 0 || floats.Distance(p, a.last, 2) <= 0.1*accuracy*floats.Norm(p, 2) {
			return !math.IsNaN(floats.Norm(p, 2))
		}
	}
	return false
}

// fill stores the numbers of the system for J·D⁻¹, with zeros in the columns that are not free.
func (a *augmented) fill(s *sparseModel, delta float64) {
	data := a.kkt.Data()
	for i := range s.m {
		data[i] = delta
	}
	at, ptr, from := s.m, s.jac.ColPtr(), s.jac.Data()
	for j, free := range s.free {
		for _, v := range from[ptr[j]:ptr[j+1]] {
			data[at] = 0
			if free {
				data[at] = v / s.scale[j]
			}
			at++
		}
		data[at] = -delta
		at++
	}
}
