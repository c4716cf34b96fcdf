package linalg

import (
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
)

// A Matrix is a dense matrix of Reals, row by row: element (i, j) is Data[i*Cols+j]. Elements are set like those of any
// slice, and several may be the same Real. Functions of this package do not modify their arguments, and their results
// have memory of their own.
type Matrix struct {
	Rows, Cols int
	Data       []nabla.Real
}

// New returns an r×c matrix of zeros.
func New(r, c int) *Matrix {
	if r < 0 || c < 0 {
		fail("New", ErrShape, "%d×%d", r, c)
	}
	return &Matrix{r, c, make([]nabla.Real, r*c)}
}

// Identity returns the n×n identity matrix.
func Identity(n int) *Matrix {
	m := New(n, n)
	for i := range n {
		m.Set(i, i, nabla.Const(1))
	}
	return m
}

// Const returns a copy of m, whose elements are constants.
func Const(m mat.Matrix) *Matrix {
	r, c := m.Dims()
	out := New(r, c)
	for i := range r {
		for j := range c {
			out.Set(i, j, nabla.Const(m.At(i, j)))
		}
	}
	return out
}

// At returns element (i, j). It panics if there is none.
func (m *Matrix) At(i, j int) nabla.Real { return m.Row(i)[j] }

// Set sets element (i, j) to v. It panics if there is none.
func (m *Matrix) Set(i, j int, v nabla.Real) { m.Row(i)[j] = v }

// Row returns row i, which shares memory with m.
func (m *Matrix) Row(i int) []nabla.Real { return m.Data[i*m.Cols : (i+1)*m.Cols : (i+1)*m.Cols] }

// Col returns a copy of column j.
func (m *Matrix) Col(j int) []nabla.Real {
	out := make([]nabla.Real, m.Rows)
	for i := range out {
		out[i] = m.At(i, j)
	}
	return out
}

// T returns the transpose of m, a copy.
func (m *Matrix) T() *Matrix {
	out := New(m.Cols, m.Rows)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			out.Set(j, i, v)
		}
	}
	return out
}

// Clone returns a copy of m.
func (m *Matrix) Clone() *Matrix {
	out := New(m.Rows, m.Cols)
	copy(out.Data, m.Data)
	return out
}

// Add returns a + b.
func Add(a, b *Matrix) *Matrix {
	return elementwise("Add", a, b, nabla.Real.Add)
}

// Sub returns a - b.
func Sub(a, b *Matrix) *Matrix {
	return elementwise("Sub", a, b, nabla.Real.Sub)
}

func elementwise(op string, a, b *Matrix, f func(a, b nabla.Real) nabla.Real) *Matrix {
	check(op, a)
	check(op, b)
	if a.Rows != b.Rows || a.Cols != b.Cols {
		fail(op, ErrShape, "%d×%d and %d×%d", a.Rows, a.Cols, b.Rows, b.Cols)
	}
	out := New(a.Rows, a.Cols)
	for i, v := range a.Data {
		out.Data[i] = f(v, b.Data[i])
	}
	return out
}

// Scale returns c·a.
func Scale(c nabla.Real, a *Matrix) *Matrix {
	check("Scale", a)
	out := New(a.Rows, a.Cols)
	for i, v := range a.Data {
		out.Data[i] = c.Mul(v)
	}
	return out
}

// check requires that m has as many elements as its shape says.
func check(op string, m *Matrix) {
	if m.Rows < 0 || m.Cols < 0 || len(m.Data) != m.Rows*m.Cols {
		fail(op, ErrShape, "a %d×%d matrix has %d elements", m.Rows, m.Cols, len(m.Data))
	}
}

// square requires that m is square and returns its size.
func square(op string, m *Matrix) int {
	check(op, m)
	if m.Rows != m.Cols {
		fail(op, ErrShape, "the %d×%d matrix is not square", m.Rows, m.Cols)
	}
	return m.Rows
}

// rightSide requires that b fits an n×n matrix and returns its number of columns.
func rightSide(op string, n int, b *Matrix) int {
	check(op, b)
	if b.Rows != n {
		fail(op, ErrShape, "%d×%d and a right-hand side of %d×%d", n, n, b.Rows, b.Cols)
	}
	return b.Cols
}

// column returns v as a matrix of one column that shares its memory.
func column(v []nabla.Real) *Matrix { return &Matrix{len(v), 1, v} }

// array returns the elements of m.
func (m *Matrix) array() array { return traced(reps(m.Data)) }

// matrix returns a as an r×c matrix.
func (a array) matrix(r, c int) *Matrix { return &Matrix{r, c, reals(a.r)} }
