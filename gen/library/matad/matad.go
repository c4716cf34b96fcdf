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
//
// Norms have the derivatives of the functions that they are made of: that of |x| at 0 is 0, that of the Frobenius norm
// of a matrix of zeros is 0, and where several elements, rows or columns attain a maximum it is that of one.
// Sums of products may be added up in another order than in mat, so that values differ by rounding.
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
func (t TransposedVec) Dims() (r, c int) {
	c, r = t.Of.Dims()
	return r, c
}

// At returns the element in row i and column j.
func (t TransposedVec) At(i, j int) float64 { return t.Of.At(j, i) }

// AtVec returns the element i.
func (t TransposedVec) AtVec(i int) float64 { return t.Of.AtVec(i) }

// Len returns the number of elements.
func (t TransposedVec) Len() int { return t.Of.Len() }

// T returns the vector.
func (t TransposedVec) T() mat.Matrix { return t.Of }

// TVec returns the vector.
func (t TransposedVec) TVec() mat.Vector { return t.Of }

// A TransposedTri is the transpose of a triangular matrix.
type TransposedTri struct{ Of *mat.TriDense }

// Dims returns the numbers of rows and columns.
func (t TransposedTri) Dims() (r, c int) { return t.Of.Dims() }

// At returns the element in row i and column j.
func (t TransposedTri) At(i, j int) float64 { return t.Of.At(j, i) }

// T returns the matrix of which t is the transpose.
func (t TransposedTri) T() mat.Matrix { return t.Of }

// TTri returns the matrix of which t is the transpose.
func (t TransposedTri) TTri() mat.Triangular { return t.Of }

// Triangle returns the number of rows, and the other triangle than that of the matrix of which t is the transpose.
func (t TransposedTri) Triangle() (n int, kind mat.TriKind) {
	n, kind = t.Of.Triangle()
	return n, !kind
}

// DenseT is the method T of mat.Dense.
func DenseT(m *mat.Dense) mat.Matrix { return Transposed{m} }

// VecDenseT is the method T of mat.VecDense.
func VecDenseT(v *mat.VecDense) mat.Matrix { return TransposedVec{v} }

// VecDenseTVec is the method TVec of mat.VecDense.
func VecDenseTVec(v *mat.VecDense) mat.Vector { return TransposedVec{v} }

// TriDenseT is the method T of mat.TriDense.
func TriDenseT(t *mat.TriDense) mat.Matrix { return TransposedTri{t} }

// TriDenseTTri is the method TTri of mat.TriDense.
func TriDenseTTri(t *mat.TriDense) mat.Triangular { return TransposedTri{t} }

// operand returns a as BLAS takes it: memory, and whether a is the transpose of that. The memory is that of a if it
// stores all elements, and new otherwise.
func operand(a mat.Matrix) (blas64.General, blas.Transpose) {
	switch a := a.(type) {
	case *mat.Dense:
		return a.RawMatrix(), blas.NoTrans
	case Transposed:
		return a.Of.RawMatrix(), blas.Trans
	case *mat.VecDense:
		return column(a.RawVector()), blas.NoTrans
	case TransposedVec:
		return column(a.Of.RawVector()), blas.Trans
	case *mat.SymDense:
		return symmetric(a.RawSymmetric()), blas.NoTrans
	case *mat.TriDense:
		return triangular(a.RawTriangular()), blas.NoTrans
	case TransposedTri:
		return triangular(a.Of.RawTriangular()), blas.Trans
	case *mat.DiagDense:
		return diagonal(a.RawSymBand()), blas.NoTrans
	}
	return elements(a), blas.NoTrans
}

// newGeneral returns an r×c matrix of zeros.
func newGeneral(r, c int) blas64.General {
	return blas64.General{Rows: r, Cols: c, Stride: c, Data: make([]float64, r*c)}
}

// column returns a vector as a matrix of one column.
func column(x blas64.Vector) blas64.General {
	return blas64.General{Rows: x.N, Cols: 1, Stride: x.Inc, Data: x.Data}
}

// symmetric returns the elements of a in new memory.
func symmetric(a blas64.Symmetric) blas64.General {
	g := newGeneral(a.N, a.N)
	for i := 0; i < a.N; i++ {
		for j := i; j < a.N; j++ {
			v := a.Data[i*a.Stride+j]
			g.Data[i*a.N+j] = v
			g.Data[j*a.N+i] = v
		}
	}
	return g
}

// triangular returns the elements of a in new memory.
func triangular(a blas64.Triangular) blas64.General {
	g := newGeneral(a.N, a.N)
	for i := 0; i < a.N; i++ {
		from, to := i, a.N
		if a.Uplo == blas.Lower {
			from, to = 0, i+1
		}
		for j := from; j < to; j++ {
			g.Data[i*a.N+j] = a.Data[i*a.Stride+j]
		}
	}
	return g
}

// diagonal returns the elements of a matrix with one band in new memory.
func diagonal(a blas64.SymmetricBand) blas64.General {
	g := newGeneral(a.N, a.N)
	for i := 0; i < a.N; i++ {
		g.Data[i*a.N+i] = a.Data[i*a.Stride]
	}
	return g
}

// elements returns the elements of a in new memory.
func elements(a mat.Matrix) blas64.General {
	r, c := a.Dims()
	g := newGeneral(r, c)
	for i := 0; i < r; i++ {
		for j := 0; j < c; j++ {
			g.Data[i*c+j] = a.At(i, j)
		}
	}
	return g
}

// vector returns x as BLAS takes it: its memory if that is known, and new memory otherwise.
func vector(x mat.Vector) blas64.Vector {
	switch x := x.(type) {
	case *mat.VecDense:
		return x.RawVector()
	case TransposedVec:
		return x.Of.RawVector()
	}
	n := x.Len()
	v := blas64.Vector{N: n, Inc: 1, Data: make([]float64, n)}
	for i := 0; i < n; i++ {
		v.Data[i] = x.AtVec(i)
	}
	return v
}

// steps returns by how much the index of an element of op(a) grows from row to row and from column to column.
func steps(a blas64.General, t blas.Transpose) (row, col int) {
	if t == blas.Trans {
		return 1, a.Stride
	}
	return a.Stride, 1
}

// isDense reports whether a is m.
func isDense(m *mat.Dense, a mat.Matrix) bool {
	switch a := a.(type) {
	case *mat.Dense:
		return a == m
	}
	return false
}

// isDenseTransposed reports whether a is the transpose of m.
func isDenseTransposed(m *mat.Dense, a mat.Matrix) bool {
	switch a := a.(type) {
	case Transposed:
		return a.Of == m
	}
	return false
}

// isVec reports whether a is v.
func isVec(v *mat.VecDense, a mat.Matrix) bool {
	switch a := a.(type) {
	case *mat.VecDense:
		return a == v
	}
	return false
}

// isVecTransposed reports whether a is the transpose of v.
func isVecTransposed(v *mat.VecDense, a mat.Matrix) bool {
	switch a := a.(type) {
	case TransposedVec:
		return a.Of == v
	}
	return false
}

// raw returns the memory of a as mat takes it where it tests whether matrices overlap, and no memory if a is of a type
// that it does not know.
func raw(a mat.Matrix) blas64.General {
	switch a := a.(type) {
	case *mat.Dense:
		return a.RawMatrix()
	case Transposed:
		return a.Of.RawMatrix()
	case *mat.VecDense:
		return column(a.RawVector())
	case TransposedVec:
		return column(a.Of.RawVector())
	case *mat.SymDense:
		s := a.RawSymmetric()
		return blas64.General{Rows: s.N, Cols: s.N, Stride: s.Stride, Data: s.Data}
	case *mat.TriDense:
		t := a.RawTriangular()
		return blas64.General{Rows: t.N, Cols: t.N, Stride: t.Stride, Data: t.Data}
	case TransposedTri:
		t := a.Of.RawTriangular()
		return blas64.General{Rows: t.N, Cols: t.N, Stride: t.Stride, Data: t.Data}
	case *mat.DiagDense:
		d := a.RawSymBand()
		return blas64.General{Rows: d.N, Cols: 1, Stride: d.Stride, Data: d.Data}
	}
	return blas64.General{}
}

// receive gives m the size r×c if it is empty, and panics if it has another size.
func receive(m *mat.Dense, r, c int) {
	if r == 0 || c == 0 {
		panic(mat.ErrZeroLength)
	}
	if m.IsEmpty() {
		m.ReuseAs(r, c)
		return
	}
	if have, of := m.Dims(); have != r || of != c {
		panic(mat.ErrShape)
	}
}

// receiveVec gives v the length n if it is empty, and panics if it has another length.
func receiveVec(v *mat.VecDense, n int) {
	if n == 0 {
		panic(mat.ErrZeroLength)
	}
	if v.IsEmpty() {
		v.ReuseAsVec(n)
		return
	}
	if v.Len() != n {
		panic(mat.ErrShape)
	}
}
