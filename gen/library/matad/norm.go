package matad

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"
)

// norm returns a norm of the matrix a: 1 is the maximum of the absolute sums of columns, 2 the root of the sum of
// squares, infinity the maximum of the absolute sums of rows.
func norm(a blas64.General, of float64) float64 {
	switch of {
	case 1:
		work := make([]float64, a.Cols)
		for i := 0; i < a.Rows; i++ {
			for j := 0; j < a.Cols; j++ {
				work[j] += math.Abs(a.Data[i*a.Stride+j])
			}
		}
		var v float64
		for _, s := range work {
			v = math.Max(v, s)
		}
		return v
	case 2:
		if a.Stride == a.Cols {
			return blas64.Nrm2(blas64.Vector{N: a.Rows * a.Cols, Inc: 1, Data: a.Data})
		}
		rows := make([]float64, a.Rows)
		for i := 0; i < a.Rows; i++ {
			rows[i] = blas64.Nrm2(blas64.Vector{N: a.Cols, Inc: 1, Data: a.Data[i*a.Stride : i*a.Stride+a.Cols]})
		}
		return blas64.Nrm2(blas64.Vector{N: a.Rows, Inc: 1, Data: rows})
	case math.Inf(1):
		var v float64
		for i := 0; i < a.Rows; i++ {
			var s float64
			for j := 0; j < a.Cols; j++ {
				s += math.Abs(a.Data[i*a.Stride+j])
			}
			v = math.Max(v, s)
		}
		return v
	}
	panic(mat.ErrNormOrder)
}

// DenseNorm is the method Norm of mat.Dense.
func DenseNorm(m *mat.Dense, of float64) float64 {
	if m.IsEmpty() {
		panic(mat.ErrZeroLength)
	}
	return norm(m.RawMatrix(), of)
}

// VecDenseNorm is the method Norm of mat.VecDense.
func VecDenseNorm(v *mat.VecDense, of float64) float64 {
	if v.IsEmpty() {
		panic(mat.ErrZeroLength)
	}
	x := v.RawVector()
	switch of {
	case 1:
		return blas64.Asum(x)
	case 2:
		return blas64.Nrm2(x)
	case math.Inf(1):
		most := math.Abs(x.Data[0])
		for i := 1; i < x.N; i++ {
			if s := math.Abs(x.Data[i*x.Inc]); s > most {
				most = s
			}
		}
		return most
	}
	panic(mat.ErrNormOrder)
}

// Norm is mat.Norm.
func Norm(a mat.Matrix, of float64) float64 {
	sized(a)
	switch a := a.(type) {
	case *mat.VecDense:
		return VecDenseNorm(a, of)
	case TransposedVec:
		return VecDenseNorm(a.Of, swapped(of))
	case Transposed:
		return norm(a.Of.RawMatrix(), swapped(of))
	case TransposedTri:
		return norm(triangular(a.Of.RawTriangular()), swapped(of))
	}
	x, _ := operand(a)
	return norm(x, of)
}

// swapped returns the norm of a matrix that is the given norm of its transpose.
func swapped(of float64) float64 {
	switch of {
	case 1:
		return math.Inf(1)
	case math.Inf(1):
		return 1
	}
	return of
}

// Max is mat.Max.
func Max(a mat.Matrix) float64 {
	sized(a)
	x, _ := operand(a)
	most := math.Inf(-1)
	for i := 0; i < x.Rows; i++ {
		for j := 0; j < x.Cols; j++ {
			if v := x.Data[i*x.Stride+j]; v > most {
				most = v
			}
		}
	}
	return most
}

// Min is mat.Min.
func Min(a mat.Matrix) float64 {
	sized(a)
	x, _ := operand(a)
	least := math.Inf(1)
	for i := 0; i < x.Rows; i++ {
		for j := 0; j < x.Cols; j++ {
			if v := x.Data[i*x.Stride+j]; v < least {
				least = v
			}
		}
	}
	return least
}

// Equal is mat.Equal.
func Equal(a, b mat.Matrix) bool {
	r, c := a.Dims()
	if br, bc := b.Dims(); r != br || c != bc {
		return false
	}
	for i := 0; i < r; i++ {
		for j := 0; j < c; j++ {
			if a.At(i, j) != b.At(i, j) {
				return false
			}
		}
	}
	return true
}

// EqualApprox is mat.EqualApprox.
func EqualApprox(a, b mat.Matrix, epsilon float64) bool {
	r, c := a.Dims()
	if br, bc := b.Dims(); r != br || c != bc {
		return false
	}
	for i := 0; i < r; i++ {
		for j := 0; j < c; j++ {
			if !scalar.EqualWithinAbsOrRel(a.At(i, j), b.At(i, j), epsilon, epsilon) {
				return false
			}
		}
	}
	return true
}
