package nabla

import (
	"fmt"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/sparsity"
)

// A patternFinder finds the pattern of a derivative of f at x, or returns nil.
type patternFinder = func(f sparsity.Function, x []float64) (*sparsity.Pattern, error)

// patternOf returns the pattern of the kind of matrix of f at x, from those of its Jacobian and its Hessian, or nil if
// a finder returns that.
func patternOf(kind matrixKind, jac, hess patternFinder, f *engine.Function, x []float64) (*sparsity.Pattern, error) {
	switch kind {
	case jacobianMatrix:
		return jac(f, x)
	case hessianMatrix:
		return hess(f, x)
	}
	h, err := hess(f, x)
	if h == nil || err != nil {
		return nil, err
	}
	j, err := jac(f, x)
	if j == nil || err != nil {
		return nil, err
	}
	n, m := f.Dims()
	for _, c := range [...]struct {
		what string
		p    *sparsity.Pattern
		rows int
	}{{"Jacobian", j, m}, {"Hessian", h, n}} {
		if r, cols := c.p.Dims(); r != c.rows || cols != n {
			return nil, &PatternError{Op: "KKT", Row: -1,
				Reason: fmt.Sprintf("the pattern of the %s is %d×%d, want %d×%d", c.what, r, cols, c.rows, n)}
		}
	}
	return kktPattern(h, j)
}

// kktPattern returns the pattern of [H Jᵀ; J 0] for patterns of H, n×n, and of J, m×n.
func kktPattern(h, j *sparsity.Pattern) (*sparsity.Pattern, error) {
	m, n := j.Dims()
	ptr := make([]int, 1, n+m+1)
	idx := make([]int, 0, h.NNZ()+2*j.NNZ())
	for c := range n {
		idx = append(idx, h.Col(c)...)
		for _, r := range j.Col(c) {
			idx = append(idx, n+r)
		}
		ptr = append(ptr, len(idx))
	}
	t := j.Transpose()
	for r := range m {
		idx = append(idx, t.Col(r)...)
		ptr = append(ptr, len(idx))
	}
	return sparsity.New(n+m, n+m, ptr, idx)
}

// newSparseKKT prepares the KKT matrix of f at the first elements of xw, and sum is Σ wᵢ·fᵢ. See newSparseHessian.
func newSparseKKT(op string, plan *SparsePlan, sum, f *engine.Function, b *resolved,
	xw []float64) (*sparseMatrix, error) {
	n, _ := f.Dims()
	spec := b.sparse.products(sum, f, xw)
	spec.Detect = func(d sparsity.Detector, x []float64) (*sparsity.Pattern, error) {
		return patternOf(kktMatrix, d.Jacobian, d.Hessian, f, x[:n])
	}
	return b.sparse.hessianBy(op, plan, b, spec, kktMatrix)
}

// blocks returns the blocks J and H of a KKT matrix of n inputs, whose values are gathered from those of m.
func (m *sparseMatrix) blocks(n int) (jac, hess *sparseMatrix, err error) {
	p := m.plan.Pattern
	size, _ := p.Dims()
	var hAt, jAt, hIdx, jIdx []int
	hPtr, jPtr := []int{0}, []int{0}
	for c := range n {
		first := p.ColPtr()[c]
		for k, r := range p.Col(c) {
			if r < n {
				hIdx, hAt = append(hIdx, r), append(hAt, first+k)
			} else {
				jIdx, jAt = append(jIdx, r-n), append(jAt, first+k)
			}
		}
		hPtr, jPtr = append(hPtr, len(hIdx)), append(jPtr, len(jIdx))
	}
	h, err := sparsity.New(n, n, hPtr, hIdx)
	if err != nil {
		return nil, nil, err
	}
	j, err := sparsity.New(size-n, n, jPtr, jIdx)
	if err != nil {
		return nil, nil, err
	}
	return &sparseMatrix{plan: &SparsePlan{Pattern: j}, at: jAt}, &sparseMatrix{plan: &SparsePlan{Pattern: h}, at: hAt},
		nil
}
