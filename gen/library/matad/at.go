package matad

import (
	"unsafe"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// The methods that read and write elements, which package mat has twice, under build constraints: code that is
// derived from these functions has none.

// Twins: elements are reached without a copy of the header of the matrix, which a reverse sweep would need.

// A dense has the fields of mat.Dense.
type dense struct {
	mat              blas64.General
	capRows, capCols int
}

// A vecDense has the fields of mat.VecDense.
type vecDense struct{ mat blas64.Vector }

// A symDense has the fields of mat.SymDense.
type symDense struct {
	mat blas64.Symmetric
	cap int
}

// DenseAt is the method At of mat.Dense.
func DenseAt(m *mat.Dense, i, j int) float64 {
	if uint(i) >= uint((*dense)(unsafe.Pointer(m)).mat.Rows) {
		panic(mat.ErrRowAccess)
	}
	if uint(j) >= uint((*dense)(unsafe.Pointer(m)).mat.Cols) {
		panic(mat.ErrColAccess)
	}
	return (*dense)(unsafe.Pointer(m)).mat.Data[i*(*dense)(unsafe.Pointer(m)).mat.Stride+j]
}

// DenseSet is the method Set of mat.Dense.
func DenseSet(m *mat.Dense, i, j int, v float64) {
	if uint(i) >= uint((*dense)(unsafe.Pointer(m)).mat.Rows) {
		panic(mat.ErrRowAccess)
	}
	if uint(j) >= uint((*dense)(unsafe.Pointer(m)).mat.Cols) {
		panic(mat.ErrColAccess)
	}
	(*dense)(unsafe.Pointer(m)).mat.Data[i*(*dense)(unsafe.Pointer(m)).mat.Stride+j] = v
}

// VecDenseAt is the method At of mat.VecDense.
func VecDenseAt(v *mat.VecDense, i, j int) float64 {
	if uint(i) >= uint((*vecDense)(unsafe.Pointer(v)).mat.N) {
		panic(mat.ErrRowAccess)
	}
	if j != 0 {
		panic(mat.ErrColAccess)
	}
	return (*vecDense)(unsafe.Pointer(v)).mat.Data[i*(*vecDense)(unsafe.Pointer(v)).mat.Inc]
}

// VecDenseAtVec is the method AtVec of mat.VecDense.
func VecDenseAtVec(v *mat.VecDense, i int) float64 {
	if uint(i) >= uint((*vecDense)(unsafe.Pointer(v)).mat.N) {
		panic(mat.ErrRowAccess)
	}
	return (*vecDense)(unsafe.Pointer(v)).mat.Data[i*(*vecDense)(unsafe.Pointer(v)).mat.Inc]
}

// VecDenseSetVec is the method SetVec of mat.VecDense.
func VecDenseSetVec(v *mat.VecDense, i int, val float64) {
	if uint(i) >= uint((*vecDense)(unsafe.Pointer(v)).mat.N) {
		panic(mat.ErrVectorAccess)
	}
	(*vecDense)(unsafe.Pointer(v)).mat.Data[i*(*vecDense)(unsafe.Pointer(v)).mat.Inc] = val
}

// SymDenseAt is the method At of mat.SymDense.
func SymDenseAt(s *mat.SymDense, i, j int) float64 {
	if uint(i) >= uint((*symDense)(unsafe.Pointer(s)).mat.N) {
		panic(mat.ErrRowAccess)
	}
	if uint(j) >= uint((*symDense)(unsafe.Pointer(s)).mat.N) {
		panic(mat.ErrColAccess)
	}
	return (*symDense)(unsafe.Pointer(s)).mat.Data[min(i, j)*(*symDense)(unsafe.Pointer(s)).mat.Stride+max(i, j)]
}

// SymDenseSetSym is the method SetSym of mat.SymDense.
func SymDenseSetSym(s *mat.SymDense, i, j int, v float64) {
	if uint(i) >= uint((*symDense)(unsafe.Pointer(s)).mat.N) {
		panic(mat.ErrRowAccess)
	}
	if uint(j) >= uint((*symDense)(unsafe.Pointer(s)).mat.N) {
		panic(mat.ErrColAccess)
	}
	(*symDense)(unsafe.Pointer(s)).mat.Data[min(i, j)*(*symDense)(unsafe.Pointer(s)).mat.Stride+max(i, j)] = v
}

// inTriangle reports whether t stores element (i, j), and panics if t has no such element.
func inTriangle(t *mat.TriDense, i, j int) bool {
	n, kind := t.Triangle()
	if uint(i) >= uint(n) {
		panic(mat.ErrRowAccess)
	}
	if uint(j) >= uint(n) {
		panic(mat.ErrColAccess)
	}
	return i == j || (i < j) == (kind == mat.Upper)
}

// TriDenseAt is the method At of mat.TriDense.
func TriDenseAt(t *mat.TriDense, i, j int) float64 {
	if !inTriangle(t, i, j) {
		return 0
	}
	a := t.RawTriangular()
	return a.Data[i*a.Stride+j]
}

// TriDenseSetTri is the method SetTri of mat.TriDense.
func TriDenseSetTri(t *mat.TriDense, i, j int, v float64) {
	if !inTriangle(t, i, j) {
		panic(mat.ErrTriangleSet)
	}
	a := t.RawTriangular()
	a.Data[i*a.Stride+j] = v
}

// DiagDenseAt is the method At of mat.DiagDense.
func DiagDenseAt(d *mat.DiagDense, i, j int) float64 {
	a := d.RawSymBand()
	if uint(i) >= uint(a.N) {
		panic(mat.ErrRowAccess)
	}
	if uint(j) >= uint(a.N) {
		panic(mat.ErrColAccess)
	}
	if i != j {
		return 0
	}
	return a.Data[i*a.Stride]
}

// DiagDenseSetDiag is the method SetDiag of mat.DiagDense.
func DiagDenseSetDiag(d *mat.DiagDense, i int, v float64) {
	a := d.RawSymBand()
	if uint(i) >= uint(a.N) {
		panic(mat.ErrRowAccess)
	}
	a.Data[i*a.Stride] = v
}
