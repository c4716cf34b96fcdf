package matad

import (
	"unsafe"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// The methods of mat.SVD. The shadow of a factorisation is that of the matrix A that it stands for, in the shadow of
// the memory of the singular vectors with more elements; so both kinds of vectors are always computed.

// An svd has the fields of mat.SVD, see library.Twin.
type svd struct {
	kind mat.SVDKind

	s  []float64
	u  blas64.General
	vt blas64.General
}

// SVDFactorize is the method Factorize of mat.SVD.
func SVDFactorize(f *mat.SVD, a mat.Matrix, kind mat.SVDKind) (ok bool) {
	(*svd)(unsafe.Pointer(f)).s = nil
	(*svd)(unsafe.Pointer(f)).kind = kind
	m, n := a.Dims()
	k := min(m, n)
	u, vt, s := newGeneral(m, k), newGeneral(k, n), make([]float64, k)
	if kind&mat.SVDFullU != 0 {
		u = newGeneral(m, m)
	}
	if kind&mat.SVDFullV != 0 {
		vt = newGeneral(n, n)
	}
	g, op := operand(a)
	t := blas.NoTrans
	if m < n {
		t = blas.Trans
		copyElements(blas64.General{Rows: m, Cols: n, Stride: vt.Stride, Data: vt.Data}, g, op)
	} else {
		copyElements(blas64.General{Rows: m, Cols: n, Stride: u.Stride, Data: u.Data}, g, op)
	}
	ok = FactorSVD(t, u, vt, s)
	(*svd)(unsafe.Pointer(f)).u = u
	(*svd)(unsafe.Pointer(f)).vt = vt
	(*svd)(unsafe.Pointer(f)).s = s
	if !ok {
		(*svd)(unsafe.Pointer(f)).kind = 0
	}
	return ok
}

// partsOf returns the memory of f as the operations take it, and panics if there is no factorisation.
func partsOf(f *mat.SVD) (t blas.Transpose, long, short blas64.General, s []float64) {
	s = (*svd)(unsafe.Pointer(f)).s
	if len(s) == 0 {
		panic(badFact)
	}
	long, short = (*svd)(unsafe.Pointer(f)).u, (*svd)(unsafe.Pointer(f)).vt
	if long.Rows < short.Cols {
		long.Cols = long.Rows
		short.Rows = long.Rows
		return blas.Trans, short, long, s
	}
	long.Cols = short.Cols
	short.Rows = short.Cols
	return blas.NoTrans, long, short, s
}

// SVDValues is the method Values of mat.SVD.
func SVDValues(f *mat.SVD, dst []float64) []float64 {
	t, long, short, s := partsOf(f)
	if dst == nil {
		dst = make([]float64, len(s))
	}
	if len(dst) != len(s) {
		panic(mat.ErrSliceLengthMismatch)
	}
	SingularValues(t, long, short, s, dst)
	return dst
}

// SVDCond is the method Cond of mat.SVD.
func SVDCond(f *mat.SVD) float64 {
	s := SVDValues(f, nil)
	return s[0] / s[len(s)-1]
}

// SVDUTo is the method UTo of mat.SVD. The last columns of a full U that is larger than the thin one have no
// derivative, since they are any that complete the basis.
func SVDUTo(f *mat.SVD, dst *mat.Dense) {
	t, long, short, s := partsOf(f)
	kind := (*svd)(unsafe.Pointer(f)).kind
	if kind&(mat.SVDThinU|mat.SVDFullU) == 0 {
		panic("svd: u not computed during factorization")
	}
	rows, cols := (*svd)(unsafe.Pointer(f)).u.Rows, (*svd)(unsafe.Pointer(f)).u.Cols
	if cols > len(s) {
		panic("nabla: the last columns of a full U have no derivative: factorise with mat.SVDThinU")
	}
	fit(dst, rows, cols)
	if t == blas.Trans {
		ShortVectors(t, long, short, s, dst.RawMatrix())
	} else {
		LongVectors(t, long, short, s, dst.RawMatrix())
	}
}

// SVDVTo is the method VTo of mat.SVD. The last columns of a full V that is larger than the thin one have no
// derivative.
func SVDVTo(f *mat.SVD, dst *mat.Dense) {
	t, long, short, s := partsOf(f)
	kind := (*svd)(unsafe.Pointer(f)).kind
	if kind&(mat.SVDThinV|mat.SVDFullV) == 0 {
		panic("svd: v not computed during factorization")
	}
	rows, cols := (*svd)(unsafe.Pointer(f)).vt.Cols, (*svd)(unsafe.Pointer(f)).vt.Rows
	if cols > len(s) {
		panic("nabla: the last columns of a full V have no derivative: factorise with mat.SVDThinV")
	}
	fit(dst, rows, cols)
	if t == blas.Trans {
		LongVectors(t, long, short, s, dst.RawMatrix())
	} else {
		ShortVectors(t, long, short, s, dst.RawMatrix())
	}
}
