package matad

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// Operations on M = Q·R, a matrix with at least as many rows as columns. M is op(A) for the matrix A in the memory of a
// factorisation, which holds reflections and R, with tau as LAPACK takes them: op transposes for the factorisation L·Q
// of a matrix with more columns than rows. The shadow of that memory is that of A, and tau has none.
//
// The pseudo-inverse of M is M⁺ = R⁻¹·Q₁ᵀ, with the first columns Q₁ of Q. Its derivatives are from Golub and Pereyra,
// "The Differentiation of Pseudo-Inverses and Nonlinear Least Squares Problems Whose Variables Separate", SIAM Journal
// on Numerical Analysis 10 (1973), those of Q₁ and R from Walter and Lehmann, "Algorithmic Differentiation of Linear
// Algebra Functions with Application in Optimum Experimental Design", arXiv:1001.1654 (2010). A triangle R with a zero
// on the diagonal gives infinite or NaN derivatives.

// addTo adds f·A to B.
func addTo(b blas64.General, f float64, a blas64.General) {
	for i := 0; i < b.Rows; i++ {
		for j := 0; j < b.Cols; j++ {
			b.Data[i*b.Stride+j] += f * a.Data[i*a.Stride+j]
		}
	}
}

// addOuterTo adds f·X·Yᵀ to op(A).
func addOuterTo(t blas.Transpose, a blas64.General, f float64, x, y blas64.General) {
	if t == blas.Trans {
		x, y = y, x
	}
	blas64.Gemm(blas.NoTrans, blas.Trans, f, x, y, 1, a)
}

// upper returns the triangle R of the factors in a, which is the transpose of a lower one if t is Trans.
func upper(a blas64.General, t blas.Transpose) blas64.Triangular {
	if t == blas.Trans {
		return blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: a.Rows, Stride: a.Stride, Data: a.Data}
	}
	return blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: a.Cols, Stride: a.Stride, Data: a.Data}
}

// reflect overwrites C with Qᵀ·C, or with Q·C if back is set.
func reflect(t blas.Transpose, back bool, a blas64.General, tau []float64, c blas64.General) {
	if c.Cols == 0 || len(tau) == 0 {
		return
	}
	space := []float64{0}
	if t == blas.Trans { // A = L·Qᵀ
		dir := blas.NoTrans
		if back {
			dir = blas.Trans
		}
		lapack64.Ormlq(blas.Left, dir, a, tau, c, space, -1)
		space = make([]float64, int(space[0]))
		lapack64.Ormlq(blas.Left, dir, a, tau, c, space, len(space))
		return
	}
	dir := blas.Trans
	if back {
		dir = blas.NoTrans
	}
	lapack64.Ormqr(blas.Left, dir, a, tau, c, space, -1)
	space = make([]float64, int(space[0]))
	lapack64.Ormqr(blas.Left, dir, a, tau, c, space, len(space))
}

// FactorQR overwrites A by the factors of op(A). The shadow of the memory remains that of A.
//
//nabla:rule tangent=FactorQRTangent pullback=FactorQRPullback source=none writes=a,tau
func FactorQR(t blas.Transpose, a blas64.General, tau []float64) {
	if len(tau) == 0 {
		return
	}
	space := []float64{0}
	if t == blas.Trans {
		lapack64.Gelqf(a, tau, space, -1)
		space = make([]float64, int(space[0]))
		lapack64.Gelqf(a, tau, space, len(space))
		return
	}
	lapack64.Geqrf(a, tau, space, -1)
	space = make([]float64, int(space[0]))
	lapack64.Geqrf(a, tau, space, len(space))
}

// FactorQRTangent computes the factors.
func FactorQRTangent(t blas.Transpose, a blas64.General, tau []float64, aDot blas64.General, tauDot []float64) {
	FactorQR(t, a, tau)
	clear(tauDot)
}

// FactorQRPullback leaves the cotangent of A as it is.
func FactorQRPullback(t blas.Transpose, a blas64.General, tau []float64, aBar blas64.General, tauBar []float64) {
	clear(tauBar)
}

// ConditionQR returns the condition number of R. It has no derivative; see ConditionNumber.
//
//nabla:rule tangent=ConditionQRTangent pullback=ConditionQRPullback source=none writes=none
func ConditionQR(t blas.Transpose, a blas64.General) float64 {
	r := upper(a, t)
	return 1 / lapack64.Trcon(mat.CondNorm, r, make([]float64, 3*r.N), make([]int, r.N))
}

// ConditionQRTangent returns the condition number and 0.
func ConditionQRTangent(t blas.Transpose, a, aDot blas64.General) (r, rDot float64) {
	return ConditionQR(t, a), 0
}

// ConditionQRPullback adds nothing.
func ConditionQRPullback(t blas.Transpose, a, aBar blas64.General, rBar float64) {}

// SingularQR reports whether R has a zero on the diagonal.
//
//nabla:rule tangent=SingularQRTangent pullback=SingularQRPullback source=none writes=none
func SingularQR(t blas.Transpose, a blas64.General) bool {
	for i := 0; i < min(a.Rows, a.Cols); i++ {
		if a.Data[i*a.Stride+i] == 0 {
			return true
		}
	}
	return false
}

// SingularQRTangent is SingularQR.
func SingularQRTangent(t blas.Transpose, a, aDot blas64.General) bool { return SingularQR(t, a) }

// SingularQRPullback adds nothing.
func SingularQRPullback(t blas.Transpose, a, aBar blas64.General) {}

// SolveQR sets X = M⁺·B, the solution of M·X = B with the least squares, or with trans set X = M⁺ᵀ·B, the solution of
// Mᵀ·X = B with the least norm.
//
//nabla:rule tangent=SolveQRTangent pullback=SolveQRPullback source=none writes=x
func SolveQR(t blas.Transpose, trans bool, a blas64.General, tau []float64, b, x blas64.General) {
	r := upper(a, t)
	if trans {
		clearAll(x)
		top := blas64.General{Rows: r.N, Cols: x.Cols, Stride: x.Stride, Data: x.Data}
		copyElements(top, b, blas.NoTrans)
		blas64.Trsm(blas.Left, other(t), 1, r, top)
		reflect(t, true, a, tau, x)
		return
	}
	w := copyOf(b)
	reflect(t, false, a, tau, w)
	copyElements(x, w, blas.NoTrans)
	blas64.Trsm(blas.Left, t, 1, r, x)
}

// SolveQRTangent sets X, and with E = B - M·X and Z = M⁺·X sets Ẋ = M⁺·(Ḃ - Ṁ·X + M⁺ᵀ·Ṁᵀ·E), or with trans set
// Ẋ = M⁺ᵀ·(Ḃ - Ṁᵀ·X) + (I - M·M⁺)·Ṁ·Z.
func SolveQRTangent(t blas.Transpose, trans bool, a blas64.General, tau []float64, b, x, aDot blas64.General,
	tauDot []float64, bDot, xDot blas64.General) {
	SolveQR(t, trans, a, tau, b, x)
	if xDot.Data == nil {
		return
	}
	d := shadow(xDot, x)
	if aDot.Data == nil && bDot.Data == nil {
		clearAll(d)
		return
	}
	rhs := newGeneral(b.Rows, b.Cols)
	if bDot.Data != nil {
		copyElements(rhs, shadow(bDot, b), blas.NoTrans)
	}
	if aDot.Data == nil {
		SolveQR(t, trans, a, tau, rhs, d)
		return
	}
	da := shadow(aDot, a)
	tall, n := max(a.Rows, a.Cols), min(a.Rows, a.Cols)
	if trans {
		blas64.Gemm(other(t), blas.NoTrans, -1, da, x, 1, rhs)
		SolveQR(t, true, a, tau, rhs, d)
		if tall > n {
			z, v := newGeneral(n, x.Cols), newGeneral(tall, x.Cols)
			SolveQR(t, false, a, tau, x, z)
			Product(t, blas.NoTrans, da, z, v)
			addTo(d, 1, v)
			u := newGeneral(n, x.Cols)
			SolveQR(t, false, a, tau, v, u)
			MultiplyQR(t, false, -1, a, tau, u, d)
		}
		return
	}
	blas64.Gemm(t, blas.NoTrans, -1, da, x, 1, rhs)
	if tall > n {
		e, v, w := copyOf(b), newGeneral(n, x.Cols), newGeneral(tall, x.Cols)
		MultiplyQR(t, false, -1, a, tau, x, e)
		Product(other(t), blas.NoTrans, da, e, v)
		SolveQR(t, true, a, tau, v, w)
		addTo(rhs, 1, w)
	}
	SolveQR(t, false, a, tau, rhs, d)
}

// SolveQRPullback adds W = M⁺ᵀ·X̄ to B̄ and E·(M⁺·W)ᵀ - W·Xᵀ to M̄, or with trans set W = M⁺·X̄ to B̄ and
// (X̄ - M·W)·Zᵀ - X·Wᵀ to M̄, and sets X̄ = 0.
func SolveQRPullback(t blas.Transpose, trans bool, a blas64.General, tau []float64, b, x, aBar blas64.General,
	tauBar []float64, bBar, xBar blas64.General) {
	if xBar.Data == nil {
		return
	}
	d := shadow(xBar, x)
	w := newGeneral(b.Rows, b.Cols)
	SolveQR(t, !trans, a, tau, d, w)
	if bBar.Data != nil {
		addTo(shadow(bBar, b), 1, w)
	}
	if aBar.Data != nil {
		da := shadow(aBar, a)
		tall, n := max(a.Rows, a.Cols), min(a.Rows, a.Cols)
		y, z := newGeneral(x.Rows, x.Cols), newGeneral(n, x.Cols)
		SolveQR(t, trans, a, tau, b, y)
		if trans {
			addOuterTo(t, da, -1, y, w)
			if tall > n {
				e := copyOf(d)
				MultiplyQR(t, false, -1, a, tau, w, e)
				SolveQR(t, false, a, tau, y, z)
				addOuterTo(t, da, 1, e, z)
			}
		} else {
			addOuterTo(t, da, -1, w, y)
			if tall > n {
				e := copyOf(b)
				MultiplyQR(t, false, -1, a, tau, y, e)
				SolveQR(t, false, a, tau, w, z)
				addOuterTo(t, da, 1, e, z)
			}
		}
	}
	clearAll(d)
}

// MultiplyQR adds f·M·B to C, or f·Mᵀ·B with trans set, for a constant f.
//
//nabla:rule tangent=MultiplyQRTangent pullback=MultiplyQRPullback source=none passive=f writes=c
func MultiplyQR(t blas.Transpose, trans bool, f float64, a blas64.General, tau []float64, b, c blas64.General) {
	r := upper(a, t)
	w := newGeneral(max(a.Rows, a.Cols), b.Cols)
	copyElements(blas64.General{Rows: b.Rows, Cols: b.Cols, Stride: w.Stride, Data: w.Data}, b, blas.NoTrans)
	top := blas64.General{Rows: r.N, Cols: b.Cols, Stride: w.Stride, Data: w.Data}
	if trans {
		reflect(t, false, a, tau, w)
		blas64.Trmm(blas.Left, other(t), f, r, top)
	} else {
		blas64.Trmm(blas.Left, t, f, r, top)
		reflect(t, true, a, tau, w)
	}
	addTo(c, 1, w)
}

// MultiplyQRTangent adds f·(op(Ȧ)·B + op(A)·Ḃ) to Ċ.
func MultiplyQRTangent(t blas.Transpose, trans bool, f float64, a blas64.General, tau []float64, b, c,
	aDot blas64.General, tauDot []float64, bDot, cDot blas64.General) {
	if cDot.Data != nil {
		d := shadow(cDot, c)
		if aDot.Data != nil {
			op := t
			if trans {
				op = other(t)
			}
			blas64.Gemm(op, blas.NoTrans, f, shadow(aDot, a), b, 1, d)
		}
		if bDot.Data != nil {
			MultiplyQR(t, trans, f, a, tau, shadow(bDot, b), d)
		}
	}
	MultiplyQR(t, trans, f, a, tau, b, c)
}

// MultiplyQRPullback adds f·op(A)ᵀ·C̄ to B̄ and f·C̄·Bᵀ to the cotangent of op(A).
func MultiplyQRPullback(t blas.Transpose, trans bool, f float64, a blas64.General, tau []float64, b, c,
	aBar blas64.General, tauBar []float64, bBar, cBar blas64.General) {
	if cBar.Data == nil {
		return
	}
	d := shadow(cBar, c)
	if aBar.Data != nil {
		if trans {
			addOuterTo(t, shadow(aBar, a), f, b, d)
		} else {
			addOuterTo(t, shadow(aBar, a), f, d, b)
		}
	}
	if bBar.Data != nil {
		MultiplyQR(t, !trans, f, a, tau, d, shadow(bBar, b))
	}
}

// ThinQ sets Q to the first columns of the orthogonal factor of M.
//
//nabla:rule tangent=ThinQTangent pullback=ThinQPullback source=none writes=q
func ThinQ(t blas.Transpose, a blas64.General, tau []float64, q blas64.General) {
	clearAll(q)
	for i := 0; i < q.Cols; i++ {
		q.Data[i*q.Stride+i] = 1
	}
	reflect(t, true, a, tau, q)
}

// scaledQ returns Ṁ·R⁻¹ and C = Qᵀ·Ṁ·R⁻¹.
func scaledQ(t blas.Transpose, a blas64.General, tau []float64, q, aDot blas64.General) (d, c blas64.General) {
	n := q.Cols
	inv := newGeneral(n, n)
	SolveQR(t, false, a, tau, q, inv)
	d, c = newGeneral(q.Rows, n), newGeneral(n, n)
	Product(t, blas.NoTrans, aDot, inv, d)
	Product(blas.Trans, blas.NoTrans, q, d, c)
	return d, c
}

// addScaledQ adds (X - Q·S)·R⁻ᵀ to M̄ for the symmetric matrix S with the lower triangle of L; X may be without data.
func addScaledQ(t blas.Transpose, a blas64.General, tau []float64, q, aBar, x, l blas64.General) {
	n := q.Cols
	s := newGeneral(n, n)
	for i := 0; i < n; i++ {
		for j := 0; j <= i; j++ {
			v := l.Data[i*l.Stride+j]
			s.Data[i*n+j] = v
			s.Data[j*n+i] = v
		}
	}
	w := newGeneral(q.Rows, n)
	if x.Data != nil {
		addTo(w, 1, x)
	}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, q, s, 1, w)
	inv := newGeneral(n, n)
	SolveQR(t, false, a, tau, q, inv)
	addOuterTo(t, aBar, 1, w, inv)
}

// ThinQTangent sets Q and Q̇ = Q·(Ω - C) + Ṁ·R⁻¹, where Ω is antisymmetric with the elements of C below the diagonal.
func ThinQTangent(t blas.Transpose, a blas64.General, tau []float64, q, aDot blas64.General, tauDot []float64,
	qDot blas64.General) {
	ThinQ(t, a, tau, q)
	if qDot.Data == nil {
		return
	}
	e := shadow(qDot, q)
	if aDot.Data == nil {
		clearAll(e)
		return
	}
	d, c := scaledQ(t, a, tau, q, shadow(aDot, a))
	Product(blas.NoTrans, blas.NoTrans, q, fold(c), e)
	for i := 0; i < e.Rows; i++ {
		for j := 0; j < e.Cols; j++ {
			e.Data[i*e.Stride+j] = d.Data[i*d.Stride+j] - e.Data[i*e.Stride+j]
		}
	}
}

// fold returns C - Ω: the upper triangle of C, with the elements below the diagonal added to those above.
func fold(c blas64.General) blas64.General {
	s := newGeneral(c.Rows, c.Cols)
	for i := 0; i < c.Rows; i++ {
		s.Data[i*s.Stride+i] = c.Data[i*c.Stride+i]
		for j := i + 1; j < c.Cols; j++ {
			s.Data[i*s.Stride+j] = c.Data[i*c.Stride+j] + c.Data[j*c.Stride+i]
		}
	}
	return s
}

// ThinQPullback adds (Q̄ - Q·S)·R⁻ᵀ to M̄, where S is symmetric with the lower triangle of Q̄ᵀ·Q, and sets Q̄ = 0.
func ThinQPullback(t blas.Transpose, a blas64.General, tau []float64, q, aBar blas64.General, tauBar []float64,
	qBar blas64.General) {
	if qBar.Data == nil {
		return
	}
	g := shadow(qBar, q)
	if aBar.Data != nil {
		p, l := newGeneral(q.Rows, q.Cols), newGeneral(q.Cols, q.Cols)
		ThinQ(t, a, tau, p)
		Product(blas.Trans, blas.NoTrans, g, p, l)
		addScaledQ(t, a, tau, p, shadow(aBar, a), g, l)
	}
	clearAll(g)
}

// UpperR sets R to the triangular factor of M.
//
//nabla:rule tangent=UpperRTangent pullback=UpperRPullback source=none writes=r
func UpperR(t blas.Transpose, a blas64.General, tau []float64, r blas64.General) {
	row, col := steps(a, t)
	for i := 0; i < r.Rows; i++ {
		clear(r.Data[i*r.Stride : i*r.Stride+i])
		for j := i; j < r.Cols; j++ {
			r.Data[i*r.Stride+j] = a.Data[i*row+j*col]
		}
	}
}

// UpperRTangent sets R and Ṙ = (C - Ω)·R.
func UpperRTangent(t blas.Transpose, a blas64.General, tau []float64, r, aDot blas64.General, tauDot []float64,
	rDot blas64.General) {
	UpperR(t, a, tau, r)
	if rDot.Data == nil {
		return
	}
	e := shadow(rDot, r)
	if aDot.Data == nil {
		clearAll(e)
		return
	}
	q := newGeneral(max(a.Rows, a.Cols), r.Cols)
	ThinQ(t, a, tau, q)
	_, c := scaledQ(t, a, tau, q, shadow(aDot, a))
	Product(blas.NoTrans, blas.NoTrans, fold(c), r, e)
}

// UpperRPullback adds Q·S·R⁻ᵀ to M̄, where S is symmetric with the lower triangle of R·R̄ᵀ, and sets R̄ = 0.
func UpperRPullback(t blas.Transpose, a blas64.General, tau []float64, r, aBar blas64.General, tauBar []float64,
	rBar blas64.General) {
	if rBar.Data == nil {
		return
	}
	g := shadow(rBar, r)
	if aBar.Data != nil {
		n := r.Cols
		q, p, h, l := newGeneral(max(a.Rows, a.Cols), n), newGeneral(n, n), newGeneral(n, n), newGeneral(n, n)
		ThinQ(t, a, tau, q)
		UpperR(t, a, tau, p)
		for i := 0; i < n; i++ {
			for j := i; j < n; j++ {
				h.Data[i*n+j] = -g.Data[i*g.Stride+j]
			}
		}
		Product(blas.NoTrans, blas.Trans, p, h, l)
		addScaledQ(t, a, tau, q, shadow(aBar, a), blas64.General{}, l)
	}
	clearAll(g)
}

// fullQ returns the orthogonal factor of M. If M is not square its last columns depend on the reflections that are
// chosen, and the derivative is that of computing them, one by one.
func fullQ(t blas.Transpose, a blas64.General, tau []float64) blas64.General {
	rows, n := max(a.Rows, a.Cols), min(a.Rows, a.Cols)
	q := newGeneral(rows, rows)
	if rows == n {
		ThinQ(t, a, tau, q)
		return q
	}
	m, one := newGeneral(rows, n), newGeneral(n, n)
	for i := 0; i < n; i++ {
		one.Data[i*n+i] = 1
	}
	for i := 0; i < rows; i++ {
		q.Data[i*rows+i] = 1
	}
	MultiplyQR(t, false, 1, a, tau, one, m)
	v := make([]float64, rows)
	for k := 0; k < n; k++ {
		// The reflection I - τ·v·vᵀ maps column k of M to a multiple of a unit vector.
		square := 0.0
		for i := k + 1; i < rows; i++ {
			square += m.Data[i*n+k] * m.Data[i*n+k]
		}
		if square == 0 {
			continue
		}
		alpha := m.Data[k*n+k]
		beta := -math.Copysign(math.Sqrt(alpha*alpha+square), alpha)
		factor := (beta - alpha) / beta
		v[k] = 1
		for i := k + 1; i < rows; i++ {
			v[i] = m.Data[i*n+k] / (alpha - beta)
		}
		for j := 0; j < n; j++ {
			dot := 0.0
			for i := k; i < rows; i++ {
				dot += v[i] * m.Data[i*n+j]
			}
			for i := k; i < rows; i++ {
				m.Data[i*n+j] -= factor * dot * v[i]
			}
		}
		for j := 0; j < rows; j++ {
			dot := 0.0
			for i := k; i < rows; i++ {
				dot += q.Data[j*rows+i] * v[i]
			}
			for i := k; i < rows; i++ {
				q.Data[j*rows+i] -= factor * dot * v[i]
			}
		}
	}
	p := newGeneral(rows, rows)
	ReflectedQ(t, a, tau, q, p)
	return p
}

// ReflectedQ sets Q to the orthogonal factor of M by the reflections in A, as a function of H, which is the same but
// for rounding errors, unless columns of M depend on each other: its derivatives are those of H.
//
//nabla:rule tangent=ReflectedQTangent pullback=ReflectedQPullback source=none writes=q
func ReflectedQ(t blas.Transpose, a blas64.General, tau []float64, h, q blas64.General) {
	ThinQ(t, a, tau, q)
}

// ReflectedQTangent sets Q and Q̇ = Ḣ.
func ReflectedQTangent(t blas.Transpose, a blas64.General, tau []float64, h, q, aDot blas64.General, tauDot []float64,
	hDot, qDot blas64.General) {
	ReflectedQ(t, a, tau, h, q)
	if qDot.Data == nil {
		return
	}
	if hDot.Data == nil {
		clearAll(shadow(qDot, q))
		return
	}
	copyElements(shadow(qDot, q), shadow(hDot, h), blas.NoTrans)
}

// ReflectedQPullback adds Q̄ to H̄ and sets Q̄ = 0.
func ReflectedQPullback(t blas.Transpose, a blas64.General, tau []float64, h, q, aBar blas64.General, tauBar []float64,
	hBar, qBar blas64.General) {
	if qBar.Data == nil {
		return
	}
	d := shadow(qBar, q)
	if hBar.Data != nil {
		addTo(shadow(hBar, h), 1, d)
	}
	clearAll(d)
}
