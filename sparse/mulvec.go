package sparse

import (
	"slices"

	"gonum.org/v1/gonum/mat"
)

// This file has the products of a CSC matrix with a vector: m·x adds a multiple of each column to the result, mᵀ·x
// computes an inner product with each column. The cost is linear in the entries and the shape.

// MulVec stores m·x in dst and returns it. x has one element per column, dst one per row; a nil dst is allocated. Only
// stored entries are multiplied: off the pattern 0·Inf is 0. It panics with a *[ShapeError] if a length is wrong, and
// with an *[OverlapError] if dst and x share memory. It does not allocate unless dst is nil.
func (m *CSC) MulVec(dst, x []float64) []float64 {
	rows, cols := m.Dims()
	dst = product("CSC.MulVec", dst, x, rows, cols)
	m.mulVec(dst, 1, x, 1)
	return dst
}

// MulVecTrans stores mᵀ·x in dst and returns it, like [CSC.MulVec] for the transpose: x has one element per row, dst
// one per column.
func (m *CSC) MulVecTrans(dst, x []float64) []float64 {
	rows, cols := m.Dims()
	dst = product("CSC.MulVecTrans", dst, x, cols, rows)
	m.mulVecTrans(dst, 1, x, 1)
	return dst
}

// product checks the arguments of a rows×cols product and returns dst, allocated if it is nil.
func product(op string, dst, x []float64, rows, cols int) []float64 {
	checkLen(op, "x", len(x), cols)
	if dst == nil {
		return make([]float64, rows)
	}
	checkLen(op, "dst", len(dst), rows)
	if overlap(dst, x) {
		panic(&OverlapError{op})
	}
	return dst
}

// MulVecTo stores m·x, or mᵀ·x if trans is set, in dst, as the method of gonum's mat.BandDense does: an empty dst is
// sized, dst may be x, and it panics with mat.ErrShape if the lengths do not match. It allocates if dst and x share
// memory, or if x is not a mat.RawVectorer. gonum has no vectors without elements: a product without elements panics
// with mat.ErrZeroLength.
func (m *CSC) MulVecTo(dst *mat.VecDense, trans bool, x mat.Vector) {
	rows, cols := m.Dims()
	if trans {
		mulVecTo(dst, x, cols, rows, m.mulVecTrans)
	} else {
		mulVecTo(dst, x, rows, cols, m.mulVec)
	}
}

// mulVecTo calls mul with the elements of dst and x and their increments, after sizing dst and copying an x that is not
// a raw vector or that overlaps dst.
func mulVecTo(dst *mat.VecDense, x mat.Vector, rows, cols int,
	mul func(dst []float64, dinc int, x []float64, xinc int)) {
	if x.Len() != cols {
		panic(mat.ErrShape)
	}
	switch {
	case rows == 0:
		panic(mat.ErrZeroLength)
	case dst.IsEmpty():
		dst.ReuseAsVec(rows)
	case dst.Len() != rows:
		panic(mat.ErrShape)
	}
	to := dst.RawVector()
	if raw, ok := x.(mat.RawVectorer); ok {
		from := raw.RawVector()
		if overlap(to.Data, from.Data) {
			from.Data = slices.Clone(from.Data)
		}
		mul(to.Data, to.Inc, from.Data, from.Inc)
		return
	}
	from := make([]float64, cols) // a copy, since x may be a view of dst
	for i := range from {
		from[i] = x.AtVec(i)
	}
	mul(to.Data, to.Inc, from, 1)
}

// mulVec stores m·x in dst, with increments dinc and xinc.
func (m *CSC) mulVec(dst []float64, dinc int, x []float64, xinc int) {
	rows, cols := m.Dims()
	for i := range rows {
		dst[i*dinc] = 0
	}
	for j := range cols {
		xj := x[j*xinc]
		idx, data := m.col(j)
		for k, i := range idx {
			dst[i*dinc] += data[k] * xj
		}
	}
}

// mulVecTrans stores mᵀ·x in dst, with increments dinc and xinc.
func (m *CSC) mulVecTrans(dst []float64, dinc int, x []float64, xinc int) {
	_, cols := m.Dims()
	for j := range cols {
		sum := 0.0
		idx, data := m.col(j)
		for k, i := range idx {
			sum += data[k] * x[i*xinc]
		}
		dst[j*dinc] = sum
	}
}
