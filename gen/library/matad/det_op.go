package matad

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Determinants and adjugates of matrices factorised by LU.

// LogDetLU returns the logarithm of the absolute value of the determinant of A, and its sign, which has no
// derivative.
//
//nabla:rule tangent=LogDetLUTangent pullback=LogDetLUPullback
func LogDetLU(lu blas64.General, swaps []int) (det, sign float64) { return logDet(lu, swaps) }

// logDet returns the logarithm of the absolute value of the determinant and its sign.
func logDet(lu blas64.General, swaps []int) (det, sign float64) {
	sign = 1
	logs := make([]float64, lu.Rows)
	for i := 0; i < lu.Rows; i++ {
		v := lu.Data[i*lu.Stride+i]
		if v < 0 {
			sign *= -1
		}
		if swaps[i] != i {
			sign *= -1
		}
		logs[i] = math.Log(math.Abs(v))
	}
	return floats.Sum(logs), sign
}

// LogDetLUTangent returns tr(A⁻¹·Ȧ) too.
func LogDetLUTangent(lu blas64.General, swaps []int, luDot blas64.General) (det, sign, detDot, signDot float64) {
	if luDot.Data != nil {
		detDot = trace(inverse(lu, swaps), shadow(luDot, lu))
	}
	det, sign = LogDetLU(lu, swaps)
	return det, sign, detDot, 0
}

// LogDetLUPullback adds det̄·A⁻ᵀ to Ā.
func LogDetLUPullback(lu blas64.General, swaps []int, luBar blas64.General, detBar, signBar float64) {
	if luBar.Data != nil {
		addTransposed(detBar, inverse(lu, swaps), shadow(luBar, lu))
	}
}

// DetLU returns the determinant of A. Its derivative is the adjugate, also where A has no inverse.
//
//nabla:rule tangent=DetLUTangent pullback=DetLUPullback
func DetLU(lu blas64.General, swaps []int) float64 {
	det, sign := logDet(lu, swaps)
	return math.Exp(det) * sign
}

// DetLUTangent returns tr(adj(A)·Ȧ) too.
func DetLUTangent(lu blas64.General, swaps []int, luDot blas64.General) (r, rDot float64) {
	if luDot.Data != nil {
		g := newGeneral(lu.Rows, lu.Cols)
		AdjugateLU(lu, swaps, g)
		rDot = trace(g, shadow(luDot, lu))
	}
	return DetLU(lu, swaps), rDot
}

// DetLUPullback adds r̄·adj(A)ᵀ to Ā.
func DetLUPullback(lu blas64.General, swaps []int, luBar blas64.General, rBar float64) {
	if luBar.Data != nil {
		g := newGeneral(lu.Rows, lu.Cols)
		AdjugateLU(lu, swaps, g)
		addTransposed(rBar, g, shadow(luBar, lu))
	}
}

// AdjugateLU sets X to the adjugate of A: det(A)·A⁻¹, and for a matrix without inverse, whose singular values are σ,
// det(U)·det(V)·V·D·Uᵀ, where d_i is the product of the σ_j for j other than i.
//
//nabla:rule tangent=AdjugateLUTangent pullback=AdjugateLUPullback writes=x
func AdjugateLU(lu blas64.General, swaps []int, x blas64.General) {
	if InverseLU(lu, swaps, x) {
		d := DetLU(lu, swaps)
		for i := 0; i < x.Rows; i++ {
			for j := 0; j < x.Cols; j++ {
				x.Data[i*x.Stride+j] *= d
			}
		}
		return
	}
	n := lu.Rows
	u, v, values, sign, ok := singular(lu, swaps)
	if !ok {
		for i := 0; i < n; i++ {
			for j := 0; j < n; j++ {
				x.Data[i*x.Stride+j] = math.NaN()
			}
		}
		return
	}
	values[n-1] = 0 // A has no inverse
	d := mat.NewDiagDense(n, nil)
	for i := range n {
		d.SetDiag(i, sign*productWithout(values, i, i))
	}
	var m, r mat.Dense
	m.Mul(v, d)
	r.Mul(&m, u.T())
	copyElements(x, r.RawMatrix(), blas.NoTrans)
}

// matrixLU returns A in new memory.
func matrixLU(lu blas64.General, swaps []int) blas64.General {
	g := newGeneral(lu.Rows, lu.Cols)
	for i := 0; i < g.Rows; i++ {
		for j := 0; j < g.Cols; j++ {
			for k := 0; k < min(i, j+1); k++ {
				g.Data[i*g.Stride+j] += lu.Data[i*lu.Stride+k] * lu.Data[k*lu.Stride+j]
			}
			if i <= j {
				g.Data[i*g.Stride+j] += lu.Data[i*lu.Stride+j]
			}
		}
	}
	for i := g.Rows - 1; i >= 0; i-- {
		if k := swaps[i]; k != i {
			for j := 0; j < g.Cols; j++ {
				p, q := i*g.Stride+j, k*g.Stride+j
				g.Data[p], g.Data[q] = g.Data[q], g.Data[p]
			}
		}
	}
	return g
}

// AdjugateLUTangent sets Ẋ to the derivative of the adjugate in direction Ȧ.
func AdjugateLUTangent(lu blas64.General, swaps []int, x, luDot, xDot blas64.General) {
	if xDot.Data != nil {
		d := shadow(xDot, x)
		clearAll(d)
		if luDot.Data != nil {
			addAll(1, adjugateAlong(lu, swaps, shadow(luDot, lu)), d)
		}
	}
	AdjugateLU(lu, swaps, x)
}

// AdjugateLUPullback adds the transpose of the derivative of the adjugate in direction X̄ᵀ to Ā, and sets X̄ = 0.
func AdjugateLUPullback(lu blas64.General, swaps []int, x, luBar, xBar blas64.General) {
	if xBar.Data == nil {
		return
	}
	d := shadow(xBar, x)
	if luBar.Data != nil {
		addTransposed(1, adjugateAlong(lu, swaps, transposed(d)), shadow(luBar, lu))
	}
	clearAll(d)
}
