package ode

import (
	"errors"

	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparse/direct"
	"github.com/nabla-ad/nabla/sparsity"
)

// A sparseShift is the matrix s·I - J over the union of the pattern of J, without the columns of the parameters and the
// time, and the diagonal.
type sparseShift struct {
	of   *sparsity.Pattern // the pattern of J
	a    *sparse.CSC
	from []int // the entries of J that the first len(from) entries of the state's columns come from
	to   []int // and the entries of a that these are
	diag []int // the entries of a on the diagonal
	lu   direct.LU
}

func newSparseShift(of *sparsity.Pattern, n int) (*sparseShift, error) {
	m := &sparseShift{of: of}
	var rows, cols []int
	for k := range n {
		rows, cols = append(rows, k), append(cols, k)
		for _, i := range of.Col(k) {
			rows, cols = append(rows, i), append(cols, k)
		}
	}
	p, err := sparsity.FromEntries(n, n, rows, cols)
	if err != nil {
		return nil, err
	}
	m.a = sparse.NewCSC(p, nil)
	for k := range n {
		d, _ := p.Index(k, k)
		m.diag = append(m.diag, d)
		for e := of.ColPtr()[k]; e < of.ColPtr()[k+1]; e++ {
			to, _ := p.Index(of.RowIndex()[e], k)
			m.from, m.to = append(m.from, e), append(m.to, to)
		}
	}
	return m, nil
}

// column writes column k of j to dst.
func (m *sparseShift) column(dst []float64, j *sparse.CSC, k int) {
	clear(dst)
	for e := j.ColPtr()[k]; e < j.ColPtr()[k+1]; e++ {
		dst[j.RowIndex()[e]] = j.Data()[e]
	}
}

// factorize factorises s·I - J.
func (m *sparseShift) factorize(s float64, j *sparse.CSC) error {
	data, values := m.a.Data(), j.Data()
	clear(data)
	for k, e := range m.from {
		data[m.to[k]] = -values[e]
	}
	for _, d := range m.diag {
		data[d] += s
	}
	err := m.lu.Refactorize(m.a)
	if e := new(direct.SingularError); errors.As(err, &e) {
		return errSingular
	}
	return err
}

func (m *sparseShift) solve(dst, b []float64, trans bool) error {
	if trans {
		return m.lu.SolveTrans(dst, b)
	}
	return m.lu.Solve(dst, b)
}
