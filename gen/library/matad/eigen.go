package matad

import (
	"unsafe"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// The methods of mat.EigenSym. The shadow of a factorisation is that of the matrix A that it stands for, in the shadow
// of the memory of its eigenvectors; so these are always computed.

// An eigenSym has the fields of mat.EigenSym, see library.Twin.
type eigenSym struct {
	vectorsComputed bool

	values  []float64
	vectors *mat.Dense
}

const (
	badFact   = "mat: use without successful factorization"
	noVectors = "mat: eigenvectors not computed"
)

// EigenSymFactorize is the method Factorize of mat.EigenSym.
func EigenSymFactorize(e *mat.EigenSym, a mat.Symmetric, vectors bool) (ok bool) {
	(*eigenSym)(unsafe.Pointer(e)).vectorsComputed = false
	n := a.SymmetricDim()
	if n == 0 {
		panic(mat.ErrZeroLength)
	}
	v, values := newGeneral(n, n), make([]float64, n)
	switch a := a.(type) {
	case *mat.SymDense:
		g := a.RawSymmetric()
		for i := 0; i < n; i++ {
			copy(v.Data[i*n+i:(i+1)*n], g.Data[i*g.Stride+i:i*g.Stride+n])
		}
	default:
		for i := 0; i < n; i++ {
			for j := i; j < n; j++ {
				v.Data[i*n+j] = a.At(i, j)
			}
		}
	}
	if !FactorEigen(v, values) {
		(*eigenSym)(unsafe.Pointer(e)).values = nil
		(*eigenSym)(unsafe.Pointer(e)).vectors = nil
		return false
	}
	(*eigenSym)(unsafe.Pointer(e)).vectorsComputed = vectors
	(*eigenSym)(unsafe.Pointer(e)).values = values
	(*eigenSym)(unsafe.Pointer(e)).vectors = mat.NewDense(n, n, v.Data)
	return true
}

// memoryOf returns the memory of the eigenvectors, and panics if there is no factorisation.
func memoryOf(e *mat.EigenSym) blas64.General {
	if e.SymmetricDim() == 0 {
		panic(badFact)
	}
	return (*eigenSym)(unsafe.Pointer(e)).vectors.RawMatrix()
}

// EigenSymAt is the method At of mat.EigenSym.
func EigenSymAt(e *mat.EigenSym, i, j int) float64 {
	if !(*eigenSym)(unsafe.Pointer(e)).vectorsComputed {
		panic(noVectors)
	}
	n := e.SymmetricDim()
	if i < 0 || n <= i {
		panic(mat.ErrRowAccess)
	}
	if j < 0 || n <= j {
		panic(mat.ErrColAccess)
	}
	return EigenElement((*eigenSym)(unsafe.Pointer(e)).vectors.RawMatrix(), (*eigenSym)(unsafe.Pointer(e)).values, i, j)
}

// EigenSymValues is the method Values of mat.EigenSym.
func EigenSymValues(e *mat.EigenSym, dst []float64) []float64 {
	v := memoryOf(e)
	if dst == nil {
		dst = make([]float64, v.Rows)
	}
	if len(dst) != v.Rows {
		panic(mat.ErrSliceLengthMismatch)
	}
	EigenValues(v, (*eigenSym)(unsafe.Pointer(e)).values, dst)
	return dst
}

// EigenSymRawValues is the method RawValues of mat.EigenSym. The slice is a copy.
func EigenSymRawValues(e *mat.EigenSym) []float64 {
	n := e.SymmetricDim()
	if n == 0 {
		return nil
	}
	dst := make([]float64, n)
	EigenValues((*eigenSym)(unsafe.Pointer(e)).vectors.RawMatrix(), (*eigenSym)(unsafe.Pointer(e)).values, dst)
	return dst
}

// EigenSymVectorsTo is the method VectorsTo of mat.EigenSym.
func EigenSymVectorsTo(e *mat.EigenSym, dst *mat.Dense) {
	v := memoryOf(e)
	if !(*eigenSym)(unsafe.Pointer(e)).vectorsComputed {
		panic(noVectors)
	}
	fit(dst, v.Rows, v.Cols)
	EigenVectors(v, (*eigenSym)(unsafe.Pointer(e)).values, dst.RawMatrix())
}

// EigenSymRawQ is the method RawQ of mat.EigenSym. The matrix is a copy.
func EigenSymRawQ(e *mat.EigenSym) mat.Matrix {
	if e.SymmetricDim() == 0 || !(*eigenSym)(unsafe.Pointer(e)).vectorsComputed {
		return nil
	}
	v := (*eigenSym)(unsafe.Pointer(e)).vectors.RawMatrix()
	dst := mat.NewDense(v.Rows, v.Cols, nil)
	EigenVectors(v, (*eigenSym)(unsafe.Pointer(e)).values, dst.RawMatrix())
	return dst
}
