package matad

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Operations on a symmetric matrix A = V·diag(λ)·Vᵀ, by the memory of a factorisation, which holds V and λ. The shadow
// of the memory of V has that of A in its upper triangle, with a number for both elements (i, j) and (j, i), and λ has
// none.
//
// The derivatives are from Giles, section 3.1. Those of eigenvectors are divided by the differences of eigenvalues, and
// are infinite or NaN where two are equal; if they nearly are, derivatives have the relative error 2⁻⁵²·|A|/difference.
// First derivatives of eigenvalues need no differences; where some are equal they are those for the eigenvectors that
// were computed, and only that of a symmetric function, such as the sum of the equal ones, is one of A.
//
// The source of the factorisations is not differentiated: it leaves out steps where elements are exactly 0, and its
// derivatives there are those of fewer steps.

// spread returns the symmetric matrix with the upper triangle of a.
func spread(a blas64.General) blas64.General {
	return symmetric(blas64.Symmetric{Uplo: blas.Upper, N: a.Rows, Stride: a.Stride, Data: a.Data})
}

// gather adds the elements (i, j) and (j, i) of G to those of the upper triangle of A.
func gather(a, g blas64.General) {
	for i := 0; i < a.Rows; i++ {
		a.Data[i*a.Stride+i] += g.Data[i*g.Stride+i]
		for j := i + 1; j < a.Cols; j++ {
			a.Data[i*a.Stride+j] += g.Data[i*g.Stride+j] + g.Data[j*g.Stride+i]
		}
	}
}

// divideByGaps divides element (i, j) of T by λ_j - λ_i and sets the diagonal to 0.
func divideByGaps(t blas64.General, values []float64) {
	for i, a := range values {
		for j, b := range values {
			if i == j {
				t.Data[i*t.Stride+j] = 0
			} else {
				t.Data[i*t.Stride+j] /= b - a
			}
		}
	}
}

// FactorEigen overwrites the symmetric matrix in the upper triangle of V by its eigenvectors and computes its
// eigenvalues. It reports whether the iteration converged. The shadow of the memory remains that of the matrix.
//
//nabla:rule tangent=FactorEigenTangent pullback=FactorEigenPullback source=none writes=v,values
func FactorEigen(v blas64.General, values []float64) (ok bool) {
	a := blas64.Symmetric{Uplo: blas.Upper, N: v.Rows, Stride: v.Stride, Data: v.Data}
	space := []float64{0}
	lapack64.Syev(lapack.EVCompute, a, values, space, -1)
	space = make([]float64, int(space[0]))
	return lapack64.Syev(lapack.EVCompute, a, values, space, len(space))
}

// FactorEigenTangent computes eigenvectors and eigenvalues.
func FactorEigenTangent(v blas64.General, values []float64, vDot blas64.General, valuesDot []float64) (ok bool) {
	ok = FactorEigen(v, values)
	clear(valuesDot)
	return ok
}

// FactorEigenPullback leaves the cotangent of the matrix as it is.
func FactorEigenPullback(v blas64.General, values []float64, vBar blas64.General, valuesBar []float64) {
	clear(valuesBar)
}

// EigenValues copies the eigenvalues to dst.
//
//nabla:rule tangent=EigenValuesTangent pullback=EigenValuesPullback source=none writes=dst
func EigenValues(v blas64.General, values, dst []float64) { copy(dst, values) }

// EigenValuesTangent sets λ and λ̇ = diag(Vᵀ·Ȧ·V).
func EigenValuesTangent(v blas64.General, values, dst []float64, vDot blas64.General, valuesDot, dstDot []float64) {
	EigenValues(v, values, dst)
	clear(dstDot)
	if dstDot == nil || vDot.Data == nil {
		return
	}
	q, w := newGeneral(v.Rows, v.Cols), newGeneral(v.Rows, v.Cols)
	EigenVectors(v, values, q)
	Product(blas.NoTrans, blas.NoTrans, spread(shadow(vDot, v)), q, w)
	for i := 0; i < q.Rows; i++ {
		for j := 0; j < q.Cols; j++ {
			dstDot[j] += q.Data[i*q.Stride+j] * w.Data[i*w.Stride+j]
		}
	}
}

// EigenValuesPullback adds V·diag(λ̄)·Vᵀ to Ā and sets λ̄ = 0.
func EigenValuesPullback(v blas64.General, values, dst []float64, vBar blas64.General, valuesBar, dstBar []float64) {
	if dstBar == nil {
		return
	}
	if vBar.Data != nil {
		q, w, g := newGeneral(v.Rows, v.Cols), newGeneral(v.Rows, v.Cols), newGeneral(v.Rows, v.Cols)
		EigenVectors(v, values, q)
		for i := 0; i < q.Rows; i++ {
			for j := 0; j < q.Cols; j++ {
				w.Data[i*w.Stride+j] = q.Data[i*q.Stride+j] * dstBar[j]
			}
		}
		Product(blas.NoTrans, blas.Trans, w, q, g)
		gather(shadow(vBar, v), g)
	}
	clear(dstBar)
}

// EigenVectors copies the eigenvectors to Q.
//
//nabla:rule tangent=EigenVectorsTangent pullback=EigenVectorsPullback source=none writes=q
func EigenVectors(v blas64.General, values []float64, q blas64.General) {
	copyElements(q, v, blas.NoTrans)
}

// EigenVectorsTangent sets V and V̇ = V·(F∘(Vᵀ·Ȧ·V)) with F_ij = 1/(λ_j - λ_i), and 0 on the diagonal.
func EigenVectorsTangent(v blas64.General, values []float64, q, vDot blas64.General, valuesDot []float64,
	qDot blas64.General) {
	EigenVectors(v, values, q)
	if qDot.Data == nil {
		return
	}
	d := shadow(qDot, q)
	if vDot.Data == nil {
		clearAll(d)
		return
	}
	n := v.Rows
	w, t, lambda := newGeneral(n, n), newGeneral(n, n), make([]float64, n)
	EigenValues(v, values, lambda)
	Product(blas.NoTrans, blas.NoTrans, spread(shadow(vDot, v)), q, w)
	Product(blas.Trans, blas.NoTrans, q, w, t)
	divideByGaps(t, lambda)
	Product(blas.NoTrans, blas.NoTrans, q, t, d)
}

// EigenVectorsPullback adds V·(F∘(Vᵀ·V̄))·Vᵀ to Ā and sets V̄ = 0.
func EigenVectorsPullback(v blas64.General, values []float64, q, vBar blas64.General, valuesBar []float64,
	qBar blas64.General) {
	if qBar.Data == nil {
		return
	}
	d := shadow(qBar, q)
	if vBar.Data != nil {
		n := v.Rows
		p, t, w, g, lambda := newGeneral(n, n), newGeneral(n, n), newGeneral(n, n), newGeneral(n, n), make([]float64, n)
		EigenVectors(v, values, p)
		EigenValues(v, values, lambda)
		Product(blas.Trans, blas.NoTrans, p, d, t)
		divideByGaps(t, lambda)
		Product(blas.NoTrans, blas.NoTrans, p, t, w)
		Product(blas.NoTrans, blas.Trans, w, p, g)
		gather(shadow(vBar, v), g)
	}
	clearAll(d)
}

// EigenElement returns element (i, j) of A.
//
//nabla:rule tangent=EigenElementTangent pullback=EigenElementPullback source=none
func EigenElement(v blas64.General, values []float64, i, j int) float64 {
	s := 0.0
	for k, w := range values {
		s += w * v.Data[i*v.Stride+k] * v.Data[j*v.Stride+k]
	}
	return s
}

// EigenElementTangent returns a_ij and its tangent.
func EigenElementTangent(v blas64.General, values []float64, i, j int, vDot blas64.General,
	valuesDot []float64) (a, aDot float64) {
	if vDot.Data != nil {
		aDot = vDot.Data[min(i, j)*v.Stride+max(i, j)]
	}
	return EigenElement(v, values, i, j), aDot
}

// EigenElementPullback adds the cotangent of a_ij to Ā.
func EigenElementPullback(v blas64.General, values []float64, i, j int, vBar blas64.General, valuesBar []float64,
	aBar float64) {
	if vBar.Data != nil {
		vBar.Data[min(i, j)*v.Stride+max(i, j)] += aBar
	}
}
