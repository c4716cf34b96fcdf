package sparse

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Norm returns a norm of m, and is called by mat.Norm: 1 is the largest column sum of magnitudes, 2 the Frobenius norm,
// math.Inf(1) the largest row sum of magnitudes. The cost is linear in the entries and the shape. It panics with
// mat.ErrNormOrder for another norm, and with mat.ErrZeroLength if there are no rows or no columns.
func (m *CSC) Norm(norm float64) float64 {
	rows, cols := m.Dims()
	if rows == 0 || cols == 0 {
		panic(mat.ErrZeroLength)
	}
	switch norm {
	case 1:
		largest := 0.0
		for j := range cols {
			sum := 0.0
			for _, v := range m.data[m.ColPtr()[j]:m.ColPtr()[j+1]] {
				sum += math.Abs(v)
			}
			largest = math.Max(largest, sum)
		}
		return largest
	case 2:
		var f frobenius
		for _, v := range m.data {
			f.add(v)
		}
		return f.norm()
	case math.Inf(1):
		sums := make([]float64, rows)
		for k, i := range m.RowIndex() {
			sums[i] += math.Abs(m.data[k])
		}
		return largest(sums)
	}
	panic(mat.ErrNormOrder)
}

// largest returns the largest of nonnegative numbers, 0 if there are none. As in math.Max, NaN exceeds all numbers but
// +Inf.
func largest(s []float64) float64 {
	l := 0.0
	for _, v := range s {
		l = math.Max(l, v)
	}
	return l
}

// A frobenius is a sum of squares in the form scale²·sum, which avoids overflow and underflow of the squares, as in
// LAPACK's dlassq.
type frobenius struct{ scale, sum float64 }

// add adds v².
func (f *frobenius) add(v float64) {
	switch a := math.Abs(v); {
	case a == 0:
	case a == f.scale: // separate, since Inf/Inf is NaN
		f.sum++
	case a > f.scale:
		f.sum = 1 + f.sum*(f.scale/a)*(f.scale/a)
		f.scale = a
	default:
		f.sum += (a / f.scale) * (a / f.scale)
	}
}

// norm returns the square root of the sum.
func (f *frobenius) norm() float64 { return f.scale * math.Sqrt(f.sum) }

// Trace returns the sum of the diagonal, and is called by mat.Trace. It panics with mat.ErrSquare if m is not square,
// and with mat.ErrZeroLength if there are no rows or no columns.
func (m *CSC) Trace() float64 {
	rows, cols := m.Dims()
	if rows == 0 || cols == 0 {
		panic(mat.ErrZeroLength)
	}
	if rows != cols {
		panic(mat.ErrSquare)
	}
	return trace(m)
}

// trace returns the sum of the diagonal of a square matrix.
func trace(m mat.Matrix) float64 {
	rows, _ := m.Dims()
	sum := 0.0
	for i := range rows {
		sum += m.At(i, i)
	}
	return sum
}
