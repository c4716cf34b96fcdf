package matad

import (
	"math"
	"unsafe"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// Operations on a Cholesky factor U, where A = Uᵀ·U. The memory of U has the factor, its shadow is that of the upper
// triangle of A, see the comment of the package. So FactorCholesky, which puts the factor into the place of A, leaves
// the shadow alone, and solutions, determinants and inverses need no derivative of the factor. ReadCholesky and
// MakeCholesky lead from such memory to that of an ordinary matrix U, and back.

// CholeskyCondition returns the condition number of A = Uᵀ·U, with an estimate of its norm.
//
//nabla:rule tangent=CholeskyConditionTangent pullback=CholeskyConditionPullback source=none writes=none
func CholeskyCondition(u blas64.Triangular) float64 {
	work := make([]float64, 3*u.N)
	norm := lapack64.Lantr(mat.CondNorm, u, work) * lapack64.Lantr(mat.CondNormTrans, u, work)
	return 1 / lapack64.Pocon(asSymmetric(u), norm, work, make([]int, u.N))
}

// CholeskyConditionTangent returns the condition number and 0.
func CholeskyConditionTangent(u, uDot blas64.Triangular) (r, rDot float64) {
	return CholeskyCondition(u), 0
}

// CholeskyConditionPullback adds nothing.
func CholeskyConditionPullback(u, uBar blas64.Triangular, rBar float64) {}

// FactorCholesky sets U to the factor of a matrix whose upper triangle is in A. It returns the condition number,
// which has no derivative, and whether A is positive definite.
//
//nabla:rule tangent=FactorCholeskyTangent pullback=FactorCholeskyPullback source=none writes=u
func FactorCholesky(a, u blas64.Triangular) (cond float64, ok bool) {
	copyTriangle(u, a)
	work := make([]float64, 3*u.N)
	norm := lapack64.Lansy(mat.CondNorm, asSymmetric(u), work)
	if _, ok = lapack64.Potrf(asSymmetric(u)); !ok {
		return 0, false
	}
	return 1 / lapack64.Pocon(asSymmetric(u), norm, work, make([]int, u.N)), true
}

// FactorCholeskyTangent copies Ȧ, which is the tangent of the factor.
func FactorCholeskyTangent(a, u, aDot, uDot blas64.Triangular) (cond float64, ok bool, condDot float64) {
	if uDot.Data != nil {
		d := ofTriangle(uDot, u)
		if aDot.Data != nil {
			copyTriangle(d, ofTriangle(aDot, a))
		} else {
			clearTriangle(d)
		}
	}
	cond, ok = FactorCholesky(a, u)
	return cond, ok, 0
}

// FactorCholeskyPullback adds the cotangent of the factor to Ā, and sets it to 0.
func FactorCholeskyPullback(a, u, aBar, uBar blas64.Triangular, condBar float64) {
	if uBar.Data == nil {
		return
	}
	d := ofTriangle(uBar, u)
	if aBar.Data != nil {
		addTriangle(1, d, ofTriangle(aBar, a))
	}
	clearTriangle(d)
}

// LogDetCholesky returns the logarithm of the determinant of A.
//
//nabla:rule tangent=LogDetCholeskyTangent pullback=LogDetCholeskyPullback source=none
func LogDetCholesky(u blas64.Triangular) (r float64) {
	for i := 0; i < u.N; i++ {
		r += 2 * math.Log(u.Data[i*u.Stride+i])
	}
	return r
}

// LogDetCholeskyTangent returns tr(A⁻¹·Ȧ) too.
func LogDetCholeskyTangent(u, uDot blas64.Triangular) (r, rDot float64) {
	if uDot.Data != nil {
		inv := newSymmetric(u.N)
		InverseCholesky(u, inv)
		rDot = pairing(inv, uDot.Data, u.Stride)
	}
	return LogDetCholesky(u), rDot
}

// pairing returns the sum of the products of the elements of two symmetric matrices.
func pairing(a blas64.Symmetric, data []float64, stride int) (r float64) {
	for i := 0; i < a.N; i++ {
		x, y := a.Data[i*a.Stride+i:i*a.Stride+a.N], data[i*stride+i:i*stride+a.N]
		r += 2*blas64.Dot(blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(y), Inc: 1, Data: y}) -
			x[0]*y[0]
	}
	return r
}

// LogDetCholeskyPullback adds the pairs of r̄·A⁻¹ to Ā.
func LogDetCholeskyPullback(u, uBar blas64.Triangular, rBar float64) {
	if uBar.Data == nil {
		return
	}
	inv := newSymmetric(u.N)
	InverseCholesky(u, inv)
	addDoubled(rBar, inv, ofTriangle(uBar, u))
}

// addDoubled adds f·(A + Aᵀ), where A is the symmetric matrix without the half of its diagonal, to a triangle.
func addDoubled(f float64, a blas64.Symmetric, t blas64.Triangular) {
	for i := 0; i < a.N; i++ {
		x, y := a.Data[i*a.Stride+i:i*a.Stride+a.N], t.Data[i*t.Stride+i:i*t.Stride+a.N]
		y[0] -= f * x[0]
		blas64.Axpy(2*f, blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(y), Inc: 1, Data: y})
	}
}

// SolveCholesky sets X = A⁻¹·B. X and B may be the same memory.
//
//nabla:rule tangent=SolveCholeskyTangent pullback=SolveCholeskyPullback source=none writes=x
func SolveCholesky(u blas64.Triangular, b, x blas64.General) {
	copyElements(x, b, blas.NoTrans)
	if x.Cols != 1 {
		lapack64.Potrs(u, x)
		return
	}
	v := blas64.Vector{N: x.Rows, Inc: x.Stride, Data: x.Data} // several times as fast
	blas64.Trsv(blas.Trans, u, v)
	blas64.Trsv(blas.NoTrans, u, v)
}

// SolveCholeskyTangent sets Ẋ = A⁻¹·(Ḃ - Ȧ·X).
func SolveCholeskyTangent(u blas64.Triangular, b, x blas64.General, uDot blas64.Triangular,
	bDot, xDot blas64.General) {
	if xDot.Data == nil {
		SolveCholesky(u, b, x)
		return
	}
	d := newGeneral(x.Rows, x.Cols)
	if bDot.Data != nil {
		copyElements(d, shadow(bDot, b), blas.NoTrans)
	}
	SolveCholesky(u, b, x)
	solutionTangent(u, x, d, uDot, xDot)
}

// solutionTangent sets Ẋ = A⁻¹·(D - Ȧ·X), where X is a solution and D the tangent of its right-hand side, which is
// overwritten.
func solutionTangent(u blas64.Triangular, x, d blas64.General, uDot blas64.Triangular, xDot blas64.General) {
	if uDot.Data != nil {
		AddSymProduct(-1, asSymmetric(ofTriangle(uDot, u)), x, d)
	}
	SolveCholesky(u, d, shadow(xDot, x))
}

// SolveCholeskyPullback adds W = A⁻¹·X̄ to B̄ and the pairs of -W·Xᵀ to Ā, and sets X̄ = 0.
func SolveCholeskyPullback(u blas64.Triangular, b, x blas64.General, uBar blas64.Triangular,
	bBar, xBar blas64.General) {
	if xBar.Data == nil {
		return
	}
	w := solutionPullback(u, x, uBar, xBar, func(y blas64.General) { SolveCholesky(u, b, y) })
	if bBar.Data != nil {
		addAll(1, w, shadow(bBar, b))
	}
}

// solutionPullback returns W = A⁻¹·X̄, the cotangent of the right-hand side of a solution X that solve computes, adds
// the pairs of -W·Xᵀ to Ā, and sets X̄ = 0.
func solutionPullback(u blas64.Triangular, x blas64.General, uBar blas64.Triangular, xBar blas64.General,
	solve func(x blas64.General)) blas64.General {
	d := shadow(xBar, x)
	w := newGeneral(x.Rows, x.Cols)
	SolveCholesky(u, d, w)
	clearAll(d)
	if uBar.Data != nil {
		y := newGeneral(x.Rows, x.Cols)
		solve(y)
		AddPairs(-1, w, y, asSymmetric(ofTriangle(uBar, u)))
	}
	return w
}

// addAll adds f·A to B.
func addAll(f float64, a, b blas64.General) {
	for i := 0; i < a.Rows; i++ {
		x, y := a.Data[i*a.Stride:i*a.Stride+a.Cols], b.Data[i*b.Stride:i*b.Stride+a.Cols]
		blas64.Axpy(f, blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(y), Inc: 1, Data: y})
	}
}

// InverseCholesky sets S = A⁻¹. It reports whether A has an inverse.
//
//nabla:rule tangent=InverseCholeskyTangent pullback=InverseCholeskyPullback source=none writes=s
func InverseCholesky(u blas64.Triangular, s blas64.Symmetric) (ok bool) {
	t := asTriangle(s)
	copyTriangle(t, u)
	_, ok = lapack64.Potri(t)
	return ok
}

// InverseCholeskyTangent sets Ṡ = -A⁻¹·Ȧ·A⁻¹.
func InverseCholeskyTangent(u blas64.Triangular, s blas64.Symmetric, uDot blas64.Triangular,
	sDot blas64.Symmetric) (ok bool) {
	if sDot.Data != nil {
		t := asTriangle(ofSymmetric(sDot, s))
		clearTriangle(t)
		if uDot.Data != nil {
			addPart(-1, between(u, symmetric(asSymmetric(ofTriangle(uDot, u)))), t)
		}
	}
	return InverseCholesky(u, s)
}

// between returns A⁻¹·M·A⁻¹ of a symmetric matrix M.
func between(u blas64.Triangular, m blas64.General) blas64.General {
	h := newGeneral(u.N, u.N)
	SolveCholesky(u, m, h)
	t := transposed(h)
	g := newGeneral(u.N, u.N)
	SolveCholesky(u, t, g)
	return g
}

// InverseCholeskyPullback adds the pairs of -A⁻¹·S̄·A⁻¹ to Ā, and sets S̄ = 0.
func InverseCholeskyPullback(u blas64.Triangular, s blas64.Symmetric, uBar blas64.Triangular, sBar blas64.Symmetric) {
	if sBar.Data == nil {
		return
	}
	t := asTriangle(ofSymmetric(sBar, s))
	if uBar.Data != nil {
		m := halved(t)
		clearTriangle(t)
		g := between(u, m)
		addDoubled(-1, blas64.Symmetric{Uplo: blas.Upper, N: u.N, Stride: g.Stride, Data: g.Data}, ofTriangle(uBar, u))
		return
	}
	clearTriangle(t)
}

// halved returns the symmetric matrix of which the triangle is the cotangent: with half of the elements beside the
// diagonal.
func halved(t blas64.Triangular) blas64.General {
	g := newGeneral(t.N, t.N)
	for i := 0; i < t.N; i++ {
		g.Data[i*t.N+i] = t.Data[i*t.Stride+i]
		for j := i + 1; j < t.N; j++ {
			v := t.Data[i*t.Stride+j] / 2
			g.Data[i*t.N+j] = v
			g.Data[j*t.N+i] = v
		}
	}
	return g
}

// ReadCholesky sets the upper triangle of T to the factor U. The shadow of T is that of U: with Φ, which takes the
// upper triangle and half of the diagonal, U̇ = Φ(U⁻ᵀ·Ȧ·U⁻¹)·U. The adjoint follows I. Murray, "Differentiation of
// the Cholesky decomposition", arXiv:1602.07527 (2016).
//
//nabla:rule tangent=ReadCholeskyTangent pullback=ReadCholeskyPullback source=none writes=t
func ReadCholesky(u, t blas64.Triangular) { copyTriangle(t, u) }

// ReadCholeskyTangent sets U̇.
func ReadCholeskyTangent(u, t, uDot, tDot blas64.Triangular) {
	if tDot.Data != nil {
		d := ofTriangle(tDot, t)
		clearTriangle(d)
		if uDot.Data != nil {
			f := newTriangle(u.N, blas.Upper)
			ReadCholesky(u, f)
			q := newTriangle(u.N, blas.Upper)
			addPart(1, inside(blas.Trans, f, symmetric(asSymmetric(ofTriangle(uDot, u)))), q)
			for i := 0; i < q.N; i++ {
				q.Data[i*q.Stride+i] /= 2
			}
			z := newGeneral(u.N, u.N)
			AddTriProduct(blas.NoTrans, 1, q, triangular(f), z)
			addPart(1, z, d)
		}
	}
	ReadCholesky(u, t)
}

// inside returns op(U)⁻¹·M·op(U)⁻ᵀ of a symmetric matrix M.
func inside(trans blas.Transpose, f blas64.Triangular, m blas64.General) blas64.General {
	h := newGeneral(f.N, f.N)
	TriSolve(trans, f, m, h)
	t := transposed(h)
	g := newGeneral(f.N, f.N)
	TriSolve(trans, f, t, g)
	return g
}

// ReadCholeskyPullback adds the pairs of U⁻¹·S·U⁻ᵀ/2 to Ā, where S is symmetric with the lower triangle of U·Ūᵀ.
func ReadCholeskyPullback(u, t, uBar, tBar blas64.Triangular) {
	if tBar.Data == nil {
		return
	}
	d := ofTriangle(tBar, t)
	if uBar.Data != nil {
		f := newTriangle(u.N, blas.Upper)
		ReadCholesky(u, f)
		p := newGeneral(u.N, u.N)
		AddTriProduct(blas.NoTrans, 1, f, transposed(triangular(d)), p)
		s := symmetric(asSymmetric(blas64.Triangular{Uplo: blas.Upper, N: u.N, Stride: u.N, Data: transposed(p).Data}))
		g := inside(blas.NoTrans, f, s)
		addDoubled(0.5, blas64.Symmetric{Uplo: blas.Upper, N: u.N, Stride: g.Stride, Data: g.Data}, ofTriangle(uBar, u))
	}
	clearTriangle(d)
}

// MakeCholesky copies T, the factor of A = Tᵀ·T, to the memory of a factor.
//
//nabla:rule tangent=MakeCholeskyTangent pullback=MakeCholeskyPullback source=none writes=u
func MakeCholesky(t, u blas64.Triangular) { copyTriangle(u, t) }

// MakeCholeskyTangent sets Ȧ = Ṫᵀ·T + Tᵀ·Ṫ.
func MakeCholeskyTangent(t, u, tDot, uDot blas64.Triangular) {
	if uDot.Data != nil {
		d := ofTriangle(uDot, u)
		clearTriangle(d)
		if tDot.Data != nil {
			g := newGeneral(t.N, t.N)
			AddTriProduct(blas.Trans, 1, ofTriangle(tDot, t), triangular(t), g)
			addPart(1, g, d)
			addPart(1, transposed(g), d)
		}
	}
	MakeCholesky(t, u)
}

// MakeCholeskyPullback adds the triangle of 2·T·M to T̄, where M is the symmetric matrix of which Ā is the cotangent,
// and sets Ā = 0.
func MakeCholeskyPullback(t, u, tBar, uBar blas64.Triangular) {
	if uBar.Data == nil {
		return
	}
	d := ofTriangle(uBar, u)
	if tBar.Data != nil {
		g := newGeneral(t.N, t.N)
		AddTriProduct(blas.NoTrans, 2, t, halved(d), g)
		clearTriangle(d)
		addPart(1, g, ofTriangle(tBar, t))
		return
	}
	clearTriangle(d)
}

// TriSolve sets X = op(T)⁻¹·B. It reports whether T has an inverse, and only then sets X. X and B may be the same
// memory.
//
//nabla:rule tangent=TriSolveTangent pullback=TriSolvePullback source=none writes=x
func TriSolve(trans blas.Transpose, t blas64.Triangular, b, x blas64.General) (ok bool) {
	copyElements(x, b, blas.NoTrans)
	return lapack64.Trtrs(trans, t, x)
}

// TriSolveTangent sets Ẋ = op(T)⁻¹·(Ḃ - op(Ṫ)·X).
func TriSolveTangent(trans blas.Transpose, t blas64.Triangular, b, x blas64.General, tDot blas64.Triangular,
	bDot, xDot blas64.General) (ok bool) {
	if xDot.Data == nil {
		return TriSolve(trans, t, b, x)
	}
	d := newGeneral(x.Rows, x.Cols)
	if bDot.Data != nil {
		copyElements(d, shadow(bDot, b), blas.NoTrans)
	}
	ok = TriSolve(trans, t, b, x)
	if tDot.Data != nil {
		AddTriProduct(trans, -1, ofTriangle(tDot, t), x, d)
	}
	TriSolve(trans, t, d, shadow(xDot, x))
	return ok
}

// TriSolvePullback adds W = op(T)⁻ᵀ·X̄ to B̄ and the triangle of -W·Xᵀ to op(T̄), and sets X̄ = 0.
func TriSolvePullback(trans blas.Transpose, t blas64.Triangular, b, x blas64.General, tBar blas64.Triangular,
	bBar, xBar blas64.General) {
	if xBar.Data == nil {
		return
	}
	d := shadow(xBar, x)
	w := newGeneral(x.Rows, x.Cols)
	TriSolve(other(trans), t, d, w)
	clearAll(d)
	if tBar.Data != nil {
		y := newGeneral(x.Rows, x.Cols)
		TriSolve(trans, t, b, y)
		addOuter(trans, -1, w, y, ofTriangle(tBar, t))
	}
	if bBar.Data != nil {
		addAll(1, w, shadow(bBar, b))
	}
}

// ElementCholesky returns an element of A.
//
//nabla:rule tangent=ElementCholeskyTangent pullback=ElementCholeskyPullback source=none
func ElementCholesky(u blas64.Triangular, i, j int) (r float64) {
	for k := 0; k <= min(i, j); k++ {
		r += u.Data[k*u.Stride+i] * u.Data[k*u.Stride+j]
	}
	return r
}

// ElementCholeskyTangent returns the element of Ȧ too.
func ElementCholeskyTangent(u blas64.Triangular, i, j int, uDot blas64.Triangular) (r, rDot float64) {
	if uDot.Data != nil {
		rDot = uDot.Data[min(i, j)*u.Stride+max(i, j)]
	}
	return ElementCholesky(u, i, j), rDot
}

// ElementCholeskyPullback adds to the element of Ā.
func ElementCholeskyPullback(u blas64.Triangular, i, j int, uBar blas64.Triangular, rBar float64) {
	if uBar.Data != nil {
		uBar.Data[min(i, j)*u.Stride+max(i, j)] += rBar
	}
}

// MatrixCholesky sets S = A.
//
//nabla:rule tangent=MatrixCholeskyTangent pullback=MatrixCholeskyPullback source=none writes=s
func MatrixCholesky(u blas64.Triangular, s blas64.Symmetric) {
	t := asTriangle(s)
	copyTriangle(t, u)
	for k := s.N - 1; k >= 0; k-- { // as dpot01 of LAPACK's tests
		v := blas64.Vector{N: k + 1, Inc: s.Stride, Data: s.Data[k:]}
		s.Data[k*s.Stride+k] = blas64.Dot(v, v)
		if k > 0 {
			t.N, v.N = k, k
			blas64.Trmv(blas.Trans, t, v)
		}
	}
}

// MatrixCholeskyTangent sets Ṡ = Ȧ.
func MatrixCholeskyTangent(u blas64.Triangular, s blas64.Symmetric, uDot blas64.Triangular, sDot blas64.Symmetric) {
	if sDot.Data != nil {
		d := asTriangle(ofSymmetric(sDot, s))
		if uDot.Data != nil {
			copyTriangle(d, ofTriangle(uDot, u))
		} else {
			clearTriangle(d)
		}
	}
	MatrixCholesky(u, s)
}

// MatrixCholeskyPullback adds S̄ to Ā, and sets S̄ = 0.
func MatrixCholeskyPullback(u blas64.Triangular, s blas64.Symmetric, uBar blas64.Triangular, sBar blas64.Symmetric) {
	if sBar.Data == nil {
		return
	}
	d := asTriangle(ofSymmetric(sBar, s))
	if uBar.Data != nil {
		g := newTriangle(u.N, blas.Upper)
		copyTriangle(g, d)
		clearTriangle(d)
		addTriangle(1, g, ofTriangle(uBar, u))
		return
	}
	clearTriangle(d)
}

// SolveBoth sets X = A⁻¹·B, both given by factors.
//
//nabla:rule tangent=SolveBothTangent pullback=SolveBothPullback source=none writes=x
func SolveBoth(u, v blas64.Triangular, x blas64.General) {
	copyElements(x, triangular(v), blas.Trans)
	blas64.Trsm(blas.Left, blas.Trans, 1, u, x)
	blas64.Trsm(blas.Left, blas.NoTrans, 1, u, x)
	blas64.Trmm(blas.Right, blas.NoTrans, 1, v, x)
}

// SolveBothTangent sets Ẋ = A⁻¹·(Ḃ - Ȧ·X).
func SolveBothTangent(u, v blas64.Triangular, x blas64.General, uDot, vDot blas64.Triangular, xDot blas64.General) {
	SolveBoth(u, v, x)
	if xDot.Data == nil {
		return
	}
	d := newGeneral(x.Rows, x.Cols)
	if vDot.Data != nil {
		copyElements(d, symmetric(asSymmetric(ofTriangle(vDot, v))), blas.NoTrans)
	}
	solutionTangent(u, x, d, uDot, xDot)
}

// SolveBothPullback adds the pairs of W = A⁻¹·X̄ to B̄ and those of -W·Xᵀ to Ā, and sets X̄ = 0.
func SolveBothPullback(u, v blas64.Triangular, x blas64.General, uBar, vBar blas64.Triangular, xBar blas64.General) {
	if xBar.Data == nil {
		return
	}
	w := solutionPullback(u, x, uBar, xBar, func(y blas64.General) { SolveBoth(u, v, y) })
	if vBar.Data != nil {
		b := ofTriangle(vBar, v)
		for i := 0; i < b.N; i++ {
			b.Data[i*b.Stride+i] += w.Data[i*w.Stride+i]
			for j := i + 1; j < b.N; j++ {
				b.Data[i*b.Stride+j] += w.Data[i*w.Stride+j] + w.Data[j*w.Stride+i]
			}
		}
	}
}

// UpdateCholesky adds alpha·x·xᵀ to A. It returns the condition number of the result, which has no derivative, and
// whether it is positive definite; otherwise it is not written.
//
//nabla:rule tangent=UpdateCholeskyTangent pullback=UpdateCholeskyPullback source=none writes=u
func UpdateCholesky(u blas64.Triangular, alpha float64, x blas64.Vector) (cond float64, ok bool) {
	var t mat.TriDense
	t.SetRawTriangular(u)
	var c mat.Cholesky
	(*cholesky)(unsafe.Pointer(&c)).chol = &t
	var v mat.VecDense
	v.SetRawVector(x)
	ok = c.SymRankOne(&c, alpha, &v)
	return c.Cond(), ok
}

// UpdateCholeskyTangent adds the tangent of alpha·x·xᵀ to Ȧ.
func UpdateCholeskyTangent(u blas64.Triangular, alpha float64, x blas64.Vector, uDot blas64.Triangular,
	alphaDot float64, xDot blas64.Vector) (cond float64, ok bool, condDot float64) {
	cond, ok = UpdateCholesky(u, alpha, x)
	if !ok || uDot.Data == nil {
		return cond, ok, 0
	}
	for i := 0; i < u.N; i++ {
		for j := i; j < u.N; j++ {
			p, q := x.Data[i*x.Inc], x.Data[j*x.Inc]
			d := alphaDot * p * q
			if xDot.Data != nil {
				d += alpha * (xDot.Data[i*x.Inc]*q + p*xDot.Data[j*x.Inc])
			}
			uDot.Data[i*u.Stride+j] += d
		}
	}
	return cond, ok, 0
}

// UpdateCholeskyPullback leaves Ā, and adds alpha·2·M·x to x̄, where M is the symmetric matrix of which Ā is the
// cotangent. It returns xᵀ·M·x.
func UpdateCholeskyPullback(u blas64.Triangular, alpha float64, x blas64.Vector, uBar blas64.Triangular,
	xBar blas64.Vector, condBar float64) (alphaBar float64) {
	if uBar.Data == nil || !updates(u, alpha, x) {
		return 0
	}
	m := make([]float64, u.N)
	for i := 0; i < u.N; i++ {
		for j := i; j < u.N; j++ {
			v := uBar.Data[i*u.Stride+j]
			m[i] += v * x.Data[j*x.Inc]
			m[j] += v * x.Data[i*x.Inc]
			alphaBar += v * x.Data[i*x.Inc] * x.Data[j*x.Inc]
		}
	}
	if xBar.Data != nil {
		for i, v := range m {
			xBar.Data[i*x.Inc] += alpha * v
		}
	}
	return alphaBar
}

// updates reports whether UpdateCholesky writes: for a negative factor it needs a result that is positive definite.
func updates(u blas64.Triangular, alpha float64, x blas64.Vector) bool {
	if alpha > 0 {
		return true
	}
	v := newGeneral(u.N, 1)
	copyElements(v, column(x), blas.NoTrans)
	w := newGeneral(u.N, 1)
	SolveCholesky(u, v, w)
	r := 0.0
	for i, p := range v.Data {
		r += p * w.Data[i]
	}
	return -alpha*r < 1
}
