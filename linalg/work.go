package linalg

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// A work is memory for one call of an operation.
type work struct {
	f []float64
	i []int
}

var works = sync.Pool{New: func() any { return new(work) }}

// borrow returns a work with at least n numbers; the caller puts it back into works.
func borrow(n int) *work {
	w := works.Get().(*work)
	if cap(w.f) < n {
		w.f = make([]float64, n)
	}
	w.f = w.f[:n]
	return w
}

// ints returns memory for n ints.
func (w *work) ints(n int) []int {
	if cap(w.i) < n {
		w.i = make([]int, n)
	}
	return w.i[:n]
}

// unpack writes the lower triangle p into the lower triangle of the n×n matrix a. It leaves the rest as it is.
func unpack(a, p []float64, n int) {
	for i := range n {
		copy(a[i*n:i*n+i+1], p[tri(i, 0):])
	}
}

// unpackSymmetric writes the symmetric matrix with lower triangle p to a.
func unpackSymmetric(a, p []float64, n int) {
	unpack(a, p, n)
	for i := range n {
		for j := range i {
			a[j*n+i] = a[i*n+j]
		}
	}
}

// pack writes the lower triangle of the n×n matrix a to p.
func pack(p, a []float64, n int) {
	for i := range n {
		copy(p[tri(i, 0):tri(i+1, 0)], a[i*n:])
	}
}

// dense returns a as an r×c matrix of package blas64.
func dense(a []float64, r, c int) blas64.General {
	return blas64.General{Rows: r, Cols: c, Stride: max(1, c), Data: a}
}

func lowerOf(a []float64, n int) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: n, Stride: max(1, n), Data: a}
}

func symmetricOf(a []float64, n int) blas64.Symmetric {
	return blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: max(1, n), Data: a}
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

func transposeIf(t bool) blas.Transpose {
	if t {
		return blas.Trans
	}
	return blas.NoTrans
}

func hasNaN(x []float64) bool { return slices.ContainsFunc(x, math.IsNaN) }

func fillNaN(y []float64) {
	for i := range y {
		y[i] = math.NaN()
	}
}
