package sparse

import (
	"slices"

	"gonum.org/v1/gonum/mat"
)

// MulVec stores m·x in dst and returns it. x has as many elements as m columns, dst
// as many as m rows; a nil dst is allocated. Only stored entries are multiplied: off
// the pattern 0·Inf is 0. It panics with a *[ShapeError] if a length is wrong, and with
// an *[OverlapError] if dst and x share memory. It does not allocate otherwise.
func (m *CSC) MulVec(dst, x []float64) []float64 {
	rows, cols := m.Dims()
	dst = product("CSC.MulVec", dst, x, rows, cols)
	m.mulVec(dst, 1, x, 1)
	return dst
}

// MulVecTrans stores mᵀ·x in dst and returns it: [CSC.MulVec] for the transpose, with
// the lengths exchanged.
func (m *CSC) MulVecTrans(dst, x []float64) []float64 {
	rows, cols := m.Dims()
	dst = product("CSC.MulVecTrans", dst, x, cols, rows)
	m.mulVecTrans(dst, 1, x, 1)
	return dst
}

// product checks the arguments of a product and allocates a nil dst.
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

// MulVecTo stores m·x, or mᵀ·x if trans, in dst, as the method of gonum's
// mat.BandDense does: an empty dst is sized, dst may be x, and it panics with mat.ErrShape
// if the lengths do not match. It allocates if dst and x share memory, or
// if x is no mat.RawVectorer. gonum has no vectors without elements: a product without
// any panics with mat.ErrZeroLength.
func (m *CSC) MulVecTo(dst *mat.VecDense, trans bool, x mat.Vector) {
	rows, cols := m.Dims()
	if trans {
		mulVecTo(dst, x, cols, rows, m.mulVecTrans)
	} else {
		mulVecTo(dst, x, rows, cols, m.mulVec)
	}
}

// mulVecTo calls mul with the elements of dst and x, one every dinc and xinc.
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
	from := make([]float64, cols) // x may be a view of dst
	for i := range from {
		from[i] = x.AtVec(i)
	}
	mul(to.Data, to.Inc, from, 1)
}

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
