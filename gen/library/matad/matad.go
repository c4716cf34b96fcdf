// Package matad has the derivatives of gonum's package mat.
//
// The source of its functions is differentiated in place of that of the methods and functions of mat, which share
// scratch memory, look into interfaces by type and end in assembly: DenseMul is the method Mul of mat.Dense, which
// has the same results and panics as the original does. They are written in terms of a few operations on whole
// matrices, such as [Product], which have derivatives of the same kind: a tangent and a pullback that call BLAS and
// LAPACK.
//
// The shadow of a matrix is a matrix of the same type. It has a number for each number that is stored: element (i, j)
// of a symmetric matrix is stored once, so its cotangent is the sum of those of the elements (i, j) and (j, i).
package matad

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// A Transposed is the transpose of a Dense matrix. It is the result of the method T, in place of a mat.Transpose, whose
// matrix is of an interface type.
type Transposed struct{ Of *mat.Dense }

// Dims returns the numbers of rows and columns.
func (t Transposed) Dims() (r, c int) {
	c, r = t.Of.Dims()
	return r, c
}

// At returns the element in row i and column j.
func (t Transposed) At(i, j int) float64 { return t.Of.At(j, i) }

// T returns the matrix of which t is the transpose.
func (t Transposed) T() mat.Matrix { return t.Of }

// A TransposedVec is the transpose of a vector.
type TransposedVec struct{ Of *mat.VecDense }

// Dims returns the numbers of rows and columns.
func (t TransposedVec) Dims() (r, c int) { return 1, t.Of.Len() }

// At returns the element in row i and column j.
func (t TransposedVec) At(i, j int) float64 { return t.Of.At(j, i) }

// T returns the vector.
func (t TransposedVec) T() mat.Matrix { return t.Of }

// DenseT is the method T of mat.Dense.
func DenseT(m *mat.Dense) mat.Matrix { return Transposed{m} }

// VecDenseT is the method T of mat.VecDense.
func VecDenseT(v *mat.VecDense) mat.Matrix { return TransposedVec{v} }

// operand returns a as BLAS takes it: memory, and whether a is the transpose of that. The memory is that of a if it
// stores all elements, and a copy if it is the receiver m of the operation, which is written.
func operand(m *mat.Dense, a mat.Matrix) (blas64.General, blas.Transpose) {
	switch a := a.(type) {
	case *mat.Dense:
		return unshared(m, a), blas.NoTrans
	case Transposed:
		return unshared(m, a.Of), blas.Trans
	case *mat.VecDense:
		return column(a), blas.NoTrans
	case TransposedVec:
		return column(a.Of), blas.Trans
	}
	return elements(a), blas.NoTrans
}

// unshared returns the memory of a, or a copy of it if a is m.
func unshared(m, a *mat.Dense) blas64.General {
	g := a.RawMatrix()
	if m != a {
		return g
	}
	c := blas64.General{Rows: g.Rows, Cols: g.Cols, Stride: g.Cols, Data: make([]float64, g.Rows*g.Cols)}
	for i := 0; i < g.Rows; i++ {
		copy(c.Data[i*c.Stride:i*c.Stride+c.Cols], g.Data[i*g.Stride:i*g.Stride+g.Cols])
	}
	return c
}

// column returns a vector as a matrix of one column.
func column(v *mat.VecDense) blas64.General {
	x := v.RawVector()
	return blas64.General{Rows: x.N, Cols: 1, Stride: x.Inc, Data: x.Data}
}

// elements returns the elements of a in new memory.
func elements(a mat.Matrix) blas64.General {
	r, c := a.Dims()
	g := blas64.General{Rows: r, Cols: c, Stride: c, Data: make([]float64, r*c)}
	for i := 0; i < r; i++ {
		for j := 0; j < c; j++ {
			g.Data[i*c+j] = a.At(i, j)
		}
	}
	return g
}

// dims returns the numbers of rows and columns of op(a).
func dims(a blas64.General, t blas.Transpose) (r, c int) {
	if t == blas.Trans {
		return a.Cols, a.Rows
	}
	return a.Rows, a.Cols
}

// receive gives m the size r×c if it is empty, and panics if it has another size.
func receive(m *mat.Dense, r, c int) {
	if m.IsEmpty() {
		m.ReuseAs(r, c)
		return
	}
	if have, of := m.Dims(); have != r || of != c {
		panic(mat.ErrShape)
	}
}

// DenseMul is the method Mul of mat.Dense.
func DenseMul(m *mat.Dense, a, b mat.Matrix) {
	_, k := a.Dims()
	if rows, _ := b.Dims(); k != rows {
		panic(mat.ErrShape)
	}
	x, tx := operand(m, a)
	y, ty := operand(m, b)
	r, _ := dims(x, tx)
	_, c := dims(y, ty)
	receive(m, r, c)
	z := m.RawMatrix()
	CheckOverlap(z, x)
	CheckOverlap(z, y)
	Product(tx, ty, x, y, z)
}
