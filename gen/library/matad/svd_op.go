package matad

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Operations on M = U·diag(s)·Vᵀ, a matrix with at least as many rows as columns, U having as many columns as M. M is
// op(A) for a matrix A, and the memory of a factorisation holds U = op(L) and V = op(S)ᵀ in matrices L, of the shape of
// A, and S, and s: op transposes if A has more columns than rows. The shadow of L is that of A, and S and s have none.
//
// The derivatives are from Giles, section 3.2, and Townsend, "Differentiating the Singular Value Decomposition" (2016).
// Those of singular vectors are divided by the differences of the squares of singular values, and if M is not square
// those of U by singular values too. They are infinite or NaN where such a number is 0; where it nearly is, they have
// the relative error 2⁻⁵²·|A|/difference. First derivatives of singular values need no differences; where some are
// equal, or 0, they are those for the vectors that were computed, and only that of a symmetric function of the equal
// ones is one of A.

// divideBySquares divides element (i, j) of T by s_j² - s_i² and sets the diagonal to 0.
func divideBySquares(t blas64.General, s []float64) {
	for i, a := range s {
		for j, b := range s {
			if i == j {
				t.Data[i*t.Stride+j] = 0
			} else {
				t.Data[i*t.Stride+j] /= (b - a) * (b + a)
			}
		}
	}
}

// FactorSVD overwrites U and Vᵀ by the singular vectors of A and computes its singular values. A is in the first
// columns of U, or in the first rows of Vᵀ if t is Trans, and the shadow of that memory remains that of A. It reports
// whether the iteration converged.
//
//nabla:rule tangent=FactorSVDTangent pullback=FactorSVDPullback source=none writes=u,vt,s
func FactorSVD(t blas.Transpose, u, vt blas64.General, s []float64) (ok bool) {
	long := u
	if t == blas.Trans {
		long = vt
	}
	long.Rows, long.Cols = u.Rows, vt.Cols
	a := copyOf(long)
	jobU, jobVT := lapack.SVDStore, lapack.SVDStore
	if u.Cols > len(s) {
		jobU = lapack.SVDAll
	}
	if vt.Rows > len(s) {
		jobVT = lapack.SVDAll
	}
	space := []float64{0}
	lapack64.Gesvd(jobU, jobVT, a, u, vt, s, space, -1)
	space = make([]float64, int(space[0]))
	return lapack64.Gesvd(jobU, jobVT, a, u, vt, s, space, len(space))
}

// FactorSVDTangent computes singular vectors and values.
func FactorSVDTangent(t blas.Transpose, u, vt blas64.General, s []float64, uDot, vtDot blas64.General,
	sDot []float64) (ok bool) {
	ok = FactorSVD(t, u, vt, s)
	clear(sDot)
	return ok
}

// FactorSVDPullback leaves the cotangent of A as it is.
func FactorSVDPullback(t blas.Transpose, u, vt blas64.General, s []float64, uBar, vtBar blas64.General,
	sBar []float64) {
	clear(sBar)
}

// SingularValues copies s to dst.
//
//nabla:rule tangent=SingularValuesTangent pullback=SingularValuesPullback source=none writes=dst
func SingularValues(t blas.Transpose, long, short blas64.General, s, dst []float64) { copy(dst, s) }

// bothVectors returns U and V.
func bothVectors(t blas.Transpose, long, short blas64.General, s []float64) (u, v blas64.General) {
	k := len(s)
	u, v = newGeneral(max(long.Rows, long.Cols), k), newGeneral(k, k)
	LongVectors(t, long, short, s, u)
	ShortVectors(t, long, short, s, v)
	return u, v
}

// SingularValuesTangent sets s and ṡ = diag(Uᵀ·Ṁ·V).
func SingularValuesTangent(t blas.Transpose, long, short blas64.General, s, dst []float64,
	longDot, shortDot blas64.General, sDot, dstDot []float64) {
	SingularValues(t, long, short, s, dst)
	clear(dstDot)
	if dstDot == nil || longDot.Data == nil {
		return
	}
	u, v := bothVectors(t, long, short, s)
	w := newGeneral(u.Rows, u.Cols)
	Product(t, blas.NoTrans, shadow(longDot, long), v, w)
	for i := 0; i < u.Rows; i++ {
		for j := 0; j < u.Cols; j++ {
			dstDot[j] += u.Data[i*u.Stride+j] * w.Data[i*w.Stride+j]
		}
	}
}

// SingularValuesPullback adds U·diag(s̄)·Vᵀ to M̄ and sets s̄ = 0.
func SingularValuesPullback(t blas.Transpose, long, short blas64.General, s, dst []float64,
	longBar, shortBar blas64.General, sBar, dstBar []float64) {
	if dstBar == nil {
		return
	}
	if longBar.Data != nil {
		u, v := bothVectors(t, long, short, s)
		for i := 0; i < u.Rows; i++ {
			for j := 0; j < u.Cols; j++ {
				u.Data[i*u.Stride+j] *= dstBar[j]
			}
		}
		addOuterTo(t, shadow(longBar, long), 1, u, v)
	}
	clear(dstBar)
}

// LongVectors sets Q to U.
//
//nabla:rule tangent=LongVectorsTangent pullback=LongVectorsPullback source=none writes=q
func LongVectors(t blas.Transpose, long, short blas64.General, s []float64, q blas64.General) {
	copyElements(q, long, t)
}

// inner returns V, Ṁ·V, P = Uᵀ·Ṁ·V and s.
func inner(t blas.Transpose, long, short blas64.General, s []float64, u, aDot blas64.General) (w, p blas64.General,
	values []float64) {
	k := len(s)
	v := newGeneral(k, k)
	w, p, values = newGeneral(u.Rows, k), newGeneral(k, k), make([]float64, k)
	ShortVectors(t, long, short, s, v)
	SingularValues(t, long, short, s, values)
	Product(t, blas.NoTrans, aDot, v, w)
	Product(blas.Trans, blas.NoTrans, u, w, p)
	return w, p, values
}

// LongVectorsTangent sets U and U̇ = U·(F∘(P·S + S·Pᵀ)) + (Ṁ·V - U·P)·S⁻¹ with P = Uᵀ·Ṁ·V, S = diag(s) and
// F_ij = 1/(s_j² - s_i²), 0 on the diagonal. The second term is 0 if M is square.
func LongVectorsTangent(t blas.Transpose, long, short blas64.General, s []float64, q, longDot, shortDot blas64.General,
	sDot []float64, qDot blas64.General) {
	LongVectors(t, long, short, s, q)
	if qDot.Data == nil {
		return
	}
	d := shadow(qDot, q)
	if longDot.Data == nil {
		clearAll(d)
		return
	}
	k := len(s)
	w, p, values := inner(t, long, short, s, q, shadow(longDot, long))
	x := newGeneral(k, k)
	for i := 0; i < k; i++ {
		for j := 0; j < k; j++ {
			x.Data[i*k+j] = p.Data[i*k+j]*values[j] + values[i]*p.Data[j*k+i]
		}
	}
	divideBySquares(x, values)
	Product(blas.NoTrans, blas.NoTrans, q, x, d)
	if q.Rows > k {
		blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, q, p, 1, w)
		addDivided(d, w, values)
	}
}

// addDivided adds W·S⁻¹ to D.
func addDivided(d, w blas64.General, s []float64) {
	for i := 0; i < d.Rows; i++ {
		for j := 0; j < d.Cols; j++ {
			d.Data[i*d.Stride+j] += w.Data[i*w.Stride+j] / s[j]
		}
	}
}

// pulled returns U·(F∘(K - Kᵀ))·S for K = Uᵀ·Ū, and K.
func pulled(u, uBar blas64.General, values []float64) (w, k blas64.General) {
	n := len(values)
	k, w = newGeneral(n, n), newGeneral(u.Rows, n)
	x := newGeneral(n, n)
	Product(blas.Trans, blas.NoTrans, u, uBar, k)
	for i := 0; i < n; i++ {
		for j := 0; j < n; j++ {
			x.Data[i*n+j] = (k.Data[i*n+j] - k.Data[j*n+i]) * values[j]
		}
	}
	divideBySquares(x, values)
	Product(blas.NoTrans, blas.NoTrans, u, x, w)
	return w, k
}

// LongVectorsPullback adds (U·(F∘(K - Kᵀ))·S + (Ū - U·K)·S⁻¹)·Vᵀ to M̄ for K = Uᵀ·Ū, and sets Ū = 0.
func LongVectorsPullback(t blas.Transpose, long, short blas64.General, s []float64, q, longBar, shortBar blas64.General,
	sBar []float64, qBar blas64.General) {
	if qBar.Data == nil {
		return
	}
	d := shadow(qBar, q)
	if longBar.Data != nil {
		u, v := bothVectors(t, long, short, s)
		values := make([]float64, len(s))
		SingularValues(t, long, short, s, values)
		w, k := pulled(u, d, values)
		if u.Rows > len(s) {
			e := copyOf(d)
			blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, u, k, 1, e)
			addDivided(w, e, values)
		}
		addOuterTo(t, shadow(longBar, long), 1, w, v)
	}
	clearAll(d)
}

// ShortVectors sets Q to V.
//
//nabla:rule tangent=ShortVectorsTangent pullback=ShortVectorsPullback source=none writes=q
func ShortVectors(t blas.Transpose, long, short blas64.General, s []float64, q blas64.General) {
	copyElements(q, short, other(t))
}

// ShortVectorsTangent sets V and V̇ = V·(F∘(Pᵀ·S + S·P)).
func ShortVectorsTangent(t blas.Transpose, long, short blas64.General, s []float64, q, longDot, shortDot blas64.General,
	sDot []float64, qDot blas64.General) {
	ShortVectors(t, long, short, s, q)
	if qDot.Data == nil {
		return
	}
	d := shadow(qDot, q)
	if longDot.Data == nil {
		clearAll(d)
		return
	}
	k := len(s)
	u := newGeneral(max(long.Rows, long.Cols), k)
	LongVectors(t, long, short, s, u)
	_, p, values := inner(t, long, short, s, u, shadow(longDot, long))
	x := newGeneral(k, k)
	for i := 0; i < k; i++ {
		for j := 0; j < k; j++ {
			x.Data[i*k+j] = p.Data[j*k+i]*values[j] + values[i]*p.Data[i*k+j]
		}
	}
	divideBySquares(x, values)
	Product(blas.NoTrans, blas.NoTrans, q, x, d)
}

// ShortVectorsPullback adds U·(V·(F∘(K - Kᵀ))·S)ᵀ to M̄ for K = Vᵀ·V̄, and sets V̄ = 0.
func ShortVectorsPullback(t blas.Transpose, long, short blas64.General, s []float64, q, longBar,
	shortBar blas64.General, sBar []float64, qBar blas64.General) {
	if qBar.Data == nil {
		return
	}
	d := shadow(qBar, q)
	if longBar.Data != nil {
		u, v := bothVectors(t, long, short, s)
		values := make([]float64, len(s))
		SingularValues(t, long, short, s, values)
		w, _ := pulled(v, d, values)
		addOuterTo(t, shadow(longBar, long), 1, u, w)
	}
	clearAll(d)
}
