package matad

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// Operations on an LU factorisation A = P·L·U with row swaps. The memory has the factors, its shadow is that of A, as
// for a Cholesky factor.

// LUNorm returns the norm of A, as Factorize does. It serves condition numbers and has no derivative.
//
//nabla:rule tangent=LUNormTangent pullback=LUNormPullback source=none writes=none
func LUNorm(a blas64.General) float64 {
	return lapack64.Lange(mat.CondNorm, a, make([]float64, a.Cols))
}

// LUNormTangent returns the norm and 0.
func LUNormTangent(a, aDot blas64.General) (r, rDot float64) { return LUNorm(a), 0 }

// LUNormPullback adds nothing.
func LUNormPullback(a, aBar blas64.General, rBar float64) {}

// LUCondition returns the condition number of A, whose norm is an estimate if it is given as a negative number. It has
// no derivative; see ConditionNumber.
//
//nabla:rule tangent=LUConditionTangent pullback=LUConditionPullback source=none writes=none
func LUCondition(lu blas64.General, norm float64) float64 {
	n := lu.Cols
	work := make([]float64, 4*n)
	if norm < 0 {
		u := blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: n, Stride: lu.Stride, Data: lu.Data}
		l := blas64.Triangular{Uplo: blas.Lower, Diag: blas.Unit, N: n, Stride: lu.Stride, Data: lu.Data}
		norm = lapack64.Lantr(mat.CondNorm, u, work) * lapack64.Lantr(mat.CondNorm, l, work)
	}
	return 1 / lapack64.Gecon(mat.CondNorm, lu, norm, work, make([]int, n))
}

// LUConditionTangent returns the condition number and 0.
func LUConditionTangent(lu blas64.General, norm float64, luDot blas64.General, normDot float64) (r, rDot float64) {
	return LUCondition(lu, norm), 0
}

// LUConditionPullback adds nothing.
func LUConditionPullback(lu blas64.General, norm float64, luBar blas64.General, rBar float64) (normBar float64) {
	return 0
}

// ConditionNumber returns cond, an estimate of the condition number of the matrix A whose factors are in memory that
// has the shadow of A. Its derivative with respect to A is not known: it is NaN, so that cond can be compared with a
// limit, but no derivative of a result that depends on it is a number.
//
//nabla:rule tangent=ConditionNumberTangent pullback=ConditionNumberPullback source=none
func ConditionNumber(a []float64, cond float64) float64 { return cond }

// ConditionNumberTangent returns cond, and NaN for its derivative in a direction in which A changes.
func ConditionNumberTangent(a []float64, cond float64, aDot []float64, condDot float64) (y, yDot float64) {
	for _, v := range aDot {
		if v != 0 {
			return cond, math.NaN()
		}
	}
	return cond, condDot
}

// ConditionNumberPullback sets the cotangent of A to NaN if that of the result is not 0.
func ConditionNumberPullback(a []float64, cond float64, aBar []float64, yBar float64) (condBar float64) {
	if yBar != 0 {
		for i := range aBar {
			aBar[i] = math.NaN()
		}
	}
	return yBar
}

// FactorLU replaces A by its factors. It reports whether A has an inverse.
//
//nabla:rule tangent=FactorLUTangent pullback=FactorLUPullback
func FactorLU(a blas64.General, swaps []int) (ok bool) { return lapack64.Getrf(a, swaps) }

// FactorLUTangent leaves Ȧ, which is the tangent of the factors.
func FactorLUTangent(a blas64.General, swaps []int, aDot blas64.General) (ok bool) {
	return FactorLU(a, swaps)
}

// FactorLUPullback leaves Ā.
func FactorLUPullback(a blas64.General, swaps []int, aBar blas64.General) {}

// inverse returns A⁻¹ in new memory, NaNs if there is none.
func inverse(lu blas64.General, swaps []int) blas64.General {
	g := newGeneral(lu.Rows, lu.Cols)
	if !InverseLU(lu, swaps, g) {
		for i := range g.Data {
			g.Data[i] = math.NaN()
		}
	}
	return g
}

// trace returns the trace of A·B.
func trace(a, b blas64.General) (r float64) {
	for i := 0; i < b.Rows; i++ {
		r += blas64.Dot(blas64.Vector{N: b.Cols, Inc: a.Stride, Data: a.Data[i:]},
			blas64.Vector{N: b.Cols, Inc: 1, Data: b.Data[i*b.Stride : i*b.Stride+b.Cols]})
	}
	return r
}

// addTransposed adds f·Aᵀ to B.
func addTransposed(f float64, a, b blas64.General) {
	for i := 0; i < b.Rows; i++ {
		blas64.Axpy(f, blas64.Vector{N: b.Cols, Inc: a.Stride, Data: a.Data[i:]},
			blas64.Vector{N: b.Cols, Inc: 1, Data: b.Data[i*b.Stride : i*b.Stride+b.Cols]})
	}
}

// singular returns U, V and the singular values of A, and det(U)·det(V). It reports whether they were found.
func singular(lu blas64.General, swaps []int) (u, v *mat.Dense, values []float64, sign float64, ok bool) {
	var a mat.Dense
	a.SetRawMatrix(matrixLU(lu, swaps))
	var s mat.SVD
	if !s.Factorize(&a, mat.SVDFull) {
		return nil, nil, nil, 0, false
	}
	u, v, sign = new(mat.Dense), new(mat.Dense), 1
	s.UTo(u)
	s.VTo(v)
	if mat.Det(u)*mat.Det(v) < 0 {
		sign = -1
	}
	return u, v, s.Values(nil), sign, true
}

// productWithout returns the product of the values other than those with index i and j.
func productWithout(values []float64, i, j int) float64 {
	p := 1.0
	for k, w := range values {
		if k != i && k != j {
			p *= w
		}
	}
	return p
}

// adjugateAlong returns the derivative of the adjugate of A in direction E, the second derivative of the determinant:
// det(A)·(tr(A⁻¹·E)·A⁻¹ - A⁻¹·E·A⁻¹). The terms cancel as det(A) goes to 0, so that if A has nearly no inverse or none
// it is det(U)·det(V)·V·G·Uᵀ, where G is the derivative of the adjugate of diag(σ) in direction F = Uᵀ·E·V: products of
// all σ but two, times elements of F.
func adjugateAlong(lu blas64.General, swaps []int, e blas64.General) blas64.General {
	const largest = 1e3 // condition number: the difference of the terms is right to about 2⁻⁵² times its square
	n := lu.Rows
	r := newGeneral(n, n)
	if LUCondition(lu, -1) < largest {
		b := inverse(lu, swaps)
		det := DetLU(lu, swaps)
		addAll(det*trace(b, e), b, r)
		p := newGeneral(n, n)
		Product(blas.NoTrans, blas.NoTrans, b, e, p)
		q := newGeneral(n, n)
		Product(blas.NoTrans, blas.NoTrans, p, b, q)
		addAll(-det, q, r)
		return r
	}
	u, v, values, sign, ok := singular(lu, swaps)
	if !ok {
		for i := range r.Data {
			r.Data[i] = math.NaN()
		}
		return r
	}
	var f, g, x mat.Dense
	x.SetRawMatrix(e)
	f.Mul(u.T(), &x)
	f.Mul(&f, v)
	g.ReuseAs(n, n)
	for i := range n {
		for j := range n {
			if i != j {
				p := sign * productWithout(values, i, j)
				g.Set(i, j, -p*f.At(i, j))
				g.Set(i, i, g.At(i, i)+p*f.At(j, j))
			}
		}
	}
	f.Mul(v, &g)
	g.Mul(&f, u.T())
	copyElements(r, g.RawMatrix(), blas.NoTrans)
	return r
}

// InverseLU sets X = A⁻¹. It reports whether there is an inverse, and only then sets it.
//
//nabla:rule tangent=InverseLUTangent pullback=InverseLUPullback writes=x
func InverseLU(lu blas64.General, swaps []int, x blas64.General) (ok bool) {
	copyElements(x, lu, blas.NoTrans)
	work := []float64{0}
	lapack64.Getri(x, swaps, work, -1)
	work = make([]float64, int(work[0]))
	return lapack64.Getri(x, swaps, work, len(work))
}

// InverseLUTangent sets Ẋ = -A⁻¹·Ȧ·A⁻¹.
func InverseLUTangent(lu blas64.General, swaps []int, x, luDot, xDot blas64.General) (ok bool) {
	ok = InverseLU(lu, swaps, x)
	if xDot.Data != nil {
		d := shadow(xDot, x)
		clearAll(d)
		if luDot.Data != nil {
			p := newGeneral(lu.Rows, lu.Cols)
			Product(blas.NoTrans, blas.NoTrans, x, shadow(luDot, lu), p)
			q := newGeneral(lu.Rows, lu.Cols)
			Product(blas.NoTrans, blas.NoTrans, p, x, q)
			addAll(-1, q, d)
		}
	}
	return ok
}

// InverseLUPullback adds -A⁻ᵀ·X̄·A⁻ᵀ to Ā, and sets X̄ = 0.
func InverseLUPullback(lu blas64.General, swaps []int, x, luBar, xBar blas64.General) {
	if xBar.Data == nil {
		return
	}
	d := shadow(xBar, x)
	if luBar.Data != nil {
		b := newGeneral(lu.Rows, lu.Cols)
		InverseLU(lu, swaps, b)
		p := newGeneral(lu.Rows, lu.Cols)
		Product(blas.Trans, blas.NoTrans, b, d, p)
		clearAll(d)
		q := newGeneral(lu.Rows, lu.Cols)
		Product(blas.NoTrans, blas.Trans, p, b, q)
		addAll(-1, q, shadow(luBar, lu))
		return
	}
	clearAll(d)
}

// SolveLU sets X = op(A)⁻¹·B. X and B may be the same memory.
//
//nabla:rule tangent=SolveLUTangent pullback=SolveLUPullback writes=x
func SolveLU(trans blas.Transpose, lu blas64.General, swaps []int, b, x blas64.General) {
	copyElements(x, b, blas.NoTrans)
	lapack64.Getrs(trans, lu, x, swaps)
}

// SolveLUTangent sets Ẋ = op(A)⁻¹·(Ḃ - op(Ȧ)·X).
func SolveLUTangent(trans blas.Transpose, lu blas64.General, swaps []int, b, x, luDot, bDot, xDot blas64.General) {
	if xDot.Data == nil {
		SolveLU(trans, lu, swaps, b, x)
		return
	}
	d := newGeneral(x.Rows, x.Cols)
	if bDot.Data != nil {
		copyElements(d, shadow(bDot, b), blas.NoTrans)
	}
	SolveLU(trans, lu, swaps, b, x)
	if luDot.Data != nil {
		blas64.Gemm(trans, blas.NoTrans, -1, shadow(luDot, lu), x, 1, d)
	}
	SolveLU(trans, lu, swaps, d, shadow(xDot, x))
}

// SolveLUPullback adds W = op(A)⁻ᵀ·X̄ to B̄ and -W·Xᵀ to op(Ā), and sets X̄ = 0.
func SolveLUPullback(trans blas.Transpose, lu blas64.General, swaps []int, b, x, luBar, bBar, xBar blas64.General) {
	if xBar.Data == nil {
		return
	}
	d := shadow(xBar, x)
	w := newGeneral(x.Rows, x.Cols)
	SolveLU(other(trans), lu, swaps, d, w)
	clearAll(d)
	if luBar.Data != nil {
		y := newGeneral(x.Rows, x.Cols)
		SolveLU(trans, lu, swaps, b, y)
		if trans == blas.Trans {
			blas64.Gemm(blas.NoTrans, blas.Trans, -1, y, w, 1, shadow(luBar, lu))
		} else {
			blas64.Gemm(blas.NoTrans, blas.Trans, -1, w, y, 1, shadow(luBar, lu))
		}
	}
	if bBar.Data != nil {
		addAll(1, w, shadow(bBar, b))
	}
}

// ElementLU returns an element of A. Piv is the permutation of its rows.
//
//nabla:rule tangent=ElementLUTangent pullback=ElementLUPullback
func ElementLU(lu blas64.General, piv []int, i, j int) (r float64) {
	i = piv[i]
	for k := 0; k < min(i, j+1); k++ {
		r += lu.Data[i*lu.Stride+k] * lu.Data[k*lu.Stride+j]
	}
	if i <= j {
		r += lu.Data[i*lu.Stride+j]
	}
	return r
}

// ElementLUTangent returns the element of Ȧ too.
func ElementLUTangent(lu blas64.General, piv []int, i, j int, luDot blas64.General) (r, rDot float64) {
	if luDot.Data != nil {
		rDot = luDot.Data[i*lu.Stride+j]
	}
	return ElementLU(lu, piv, i, j), rDot
}

// ElementLUPullback adds to the element of Ā.
func ElementLUPullback(lu blas64.General, piv []int, i, j int, luBar blas64.General, rBar float64) {
	if luBar.Data != nil {
		luBar.Data[i*lu.Stride+j] += rBar
	}
}

// ReadLU sets L and U. Their shadows are those of the factors: with X = L⁻¹·PᵀȦ·U⁻¹ the tangents are L times the part
// of X below the diagonal, and the rest of X times U. Piv is the permutation of the rows of A.
//
//nabla:rule tangent=ReadLUTangent pullback=ReadLUPullback writes=l,u
func ReadLU(lu blas64.General, piv []int, l, u blas64.Triangular) {
	for i := 0; i < lu.Rows; i++ {
		copy(l.Data[i*l.Stride:i*l.Stride+i], lu.Data[i*lu.Stride:i*lu.Stride+i])
		l.Data[i*l.Stride+i] = 1
		copy(u.Data[i*u.Stride+i:i*u.Stride+u.N], lu.Data[i*lu.Stride+i:i*lu.Stride+u.N])
	}
}

// ReadLUTangent sets L̇ and U̇.
func ReadLUTangent(lu blas64.General, piv []int, l, u blas64.Triangular, luDot blas64.General,
	lDot, uDot blas64.Triangular) {
	n := lu.Rows
	below, above := newTriangle(n, blas.Lower), newTriangle(n, blas.Upper)
	e, f := newTriangle(n, blas.Lower), newTriangle(n, blas.Upper)
	ReadLU(lu, piv, e, f)
	if luDot.Data != nil {
		a := newGeneral(n, n)
		for i := range n {
			copy(a.Data[piv[i]*n:piv[i]*n+n], luDot.Data[i*lu.Stride:i*lu.Stride+n])
		}
		x := newGeneral(n, n)
		TriSolve(blas.NoTrans, e, a, x)
		y := newGeneral(n, n)
		TriSolve(blas.Trans, f, transposed(x), y)
		x = transposed(y)
		addPart(1, x, above)
		for i := range n {
			copy(below.Data[i*n:i*n+i], x.Data[i*n:i*n+i])
		}
	}
	if lDot.Data != nil {
		d := ofTriangle(lDot, l)
		g := newGeneral(n, n)
		AddTriProduct(blas.NoTrans, 1, e, triangular(below), g)
		clearTriangle(d)
		addPart(1, g, d)
	}
	if uDot.Data != nil {
		d := ofTriangle(uDot, u)
		g := newGeneral(n, n)
		AddTriProduct(blas.NoTrans, 1, above, triangular(f), g)
		clearTriangle(d)
		addPart(1, g, d)
	}
	ReadLU(lu, piv, l, u)
}

// ReadLUPullback adds P·L⁻ᵀ·X̄·U⁻ᵀ to Ā, where X̄ has the part of Lᵀ·L̄ below the diagonal and the rest of Ū·Uᵀ, and
// sets L̄ and Ū to 0.
func ReadLUPullback(lu blas64.General, piv []int, l, u blas64.Triangular, luBar blas64.General,
	lBar, uBar blas64.Triangular) {
	n := lu.Rows
	x := newGeneral(n, n)
	e, f := newTriangle(n, blas.Lower), newTriangle(n, blas.Upper)
	ReadLU(lu, piv, e, f)
	if lBar.Data != nil {
		d := ofTriangle(lBar, l)
		p := newGeneral(n, n)
		AddTriProduct(blas.Trans, 1, e, triangular(d), p)
		for i := range n {
			copy(x.Data[i*n:i*n+i], p.Data[i*n:i*n+i])
		}
		clearTriangle(d)
	}
	if uBar.Data != nil {
		d := ofTriangle(uBar, u)
		p := newGeneral(n, n)
		AddTriProduct(blas.NoTrans, 1, f, transposed(triangular(d)), p)
		q := transposed(p)
		for i := range n {
			copy(x.Data[i*n+i:i*n+n], q.Data[i*n+i:i*n+n])
		}
		clearTriangle(d)
	}
	if luBar.Data != nil {
		y := newGeneral(n, n)
		TriSolve(blas.Trans, e, x, y)
		z := newGeneral(n, n)
		TriSolve(blas.NoTrans, f, transposed(y), z)
		y = transposed(z)
		for i := range n {
			blas64.Axpy(1, blas64.Vector{N: n, Inc: 1, Data: y.Data[piv[i]*n : piv[i]*n+n]},
				blas64.Vector{N: n, Inc: 1, Data: luBar.Data[i*lu.Stride : i*lu.Stride+n]})
		}
	}
}

// UpdateLU adds alpha·x·yᵀ to A without new pivots. Swaps is where its memory is.
//
//nabla:rule tangent=UpdateLUTangent pullback=UpdateLUPullback writes=lu
func UpdateLU(lu blas64.General, swaps []int, alpha float64, x, y blas64.Vector) {
	n := lu.Rows
	xs, ys := make([]float64, n), make([]float64, n)
	for i := range n {
		xs[i], ys[i] = x.Data[i*x.Inc], y.Data[i*y.Inc]
	}
	for i, v := range swaps {
		xs[i], xs[v] = xs[v], xs[i]
	}
	omega := alpha
	for j := 0; j < n; j++ { // as L. Deng, Multiple-rank updates to matrix factorizations (2010), algorithm a1
		ys[j] /= lu.Data[j*lu.Stride+j]
		theta := 1 + xs[j]*ys[j]*omega
		beta := omega * ys[j] / theta
		gamma := omega * xs[j]
		omega -= beta * gamma
		lu.Data[j*lu.Stride+j] *= theta
		for i := j + 1; i < n; i++ {
			xs[i] -= lu.Data[i*lu.Stride+j] * xs[j]
			t := ys[i]
			ys[i] -= lu.Data[j*lu.Stride+i] * ys[j]
			lu.Data[i*lu.Stride+j] += beta * xs[i]
			lu.Data[j*lu.Stride+i] += gamma * t
		}
	}
}

// UpdateLUTangent adds the tangent of alpha·x·yᵀ to Ȧ.
func UpdateLUTangent(lu blas64.General, swaps []int, alpha float64, x, y blas64.Vector, luDot blas64.General,
	alphaDot float64, xDot, yDot blas64.Vector) {
	if luDot.Data != nil {
		for i := 0; i < lu.Rows; i++ {
			for j := 0; j < lu.Cols; j++ {
				p, q := x.Data[i*x.Inc], y.Data[j*y.Inc]
				d := alphaDot * p * q
				if xDot.Data != nil {
					d += alpha * xDot.Data[i*x.Inc] * q
				}
				if yDot.Data != nil {
					d += alpha * p * yDot.Data[j*y.Inc]
				}
				luDot.Data[i*lu.Stride+j] += d
			}
		}
	}
	UpdateLU(lu, swaps, alpha, x, y)
}

// UpdateLUPullback leaves Ā, adds alpha·Ā·y to x̄ and alpha·Āᵀ·x to ȳ, and returns xᵀ·Ā·y.
func UpdateLUPullback(lu blas64.General, swaps []int, alpha float64, x, y blas64.Vector, luBar blas64.General,
	xBar, yBar blas64.Vector) (alphaBar float64) {
	if luBar.Data == nil {
		return 0
	}
	n := lu.Rows
	p, q := make([]float64, n), make([]float64, n)
	for i := range n {
		for j := range n {
			v := luBar.Data[i*lu.Stride+j]
			p[i] += v * y.Data[j*y.Inc]
			q[j] += v * x.Data[i*x.Inc]
		}
		alphaBar += p[i] * x.Data[i*x.Inc]
	}
	if xBar.Data != nil {
		for i, v := range p {
			xBar.Data[i*x.Inc] += alpha * v
		}
	}
	if yBar.Data != nil {
		for i, v := range q {
			yBar.Data[i*y.Inc] += alpha * v
		}
	}
	return alphaBar
}

// InverseTri sets X = T⁻¹. It reports whether there is an inverse.
//
//nabla:rule tangent=InverseTriTangent pullback=InverseTriPullback writes=x
func InverseTri(t, x blas64.Triangular) (ok bool) {
	copyTriangle(x, t)
	return lapack64.Trtri(x)
}

// InverseTriTangent sets Ẋ = -T⁻¹·Ṫ·T⁻¹.
func InverseTriTangent(t, x, tDot, xDot blas64.Triangular) (ok bool) {
	if xDot.Data != nil {
		d := ofTriangle(xDot, x)
		clearTriangle(d)
		if tDot.Data != nil {
			addPart(-1, aroundTri(blas.NoTrans, t, triangular(ofTriangle(tDot, t))), d)
		}
	}
	return InverseTri(t, x)
}

// aroundTri returns op(T)⁻¹·M·op(T)⁻¹.
func aroundTri(trans blas.Transpose, t blas64.Triangular, m blas64.General) blas64.General {
	h := newGeneral(t.N, t.N)
	TriSolve(trans, t, m, h)
	g := newGeneral(t.N, t.N)
	TriSolve(other(trans), t, transposed(h), g)
	return transposed(g)
}

// InverseTriPullback adds the triangle of -T⁻ᵀ·X̄·T⁻ᵀ to T̄, and sets X̄ = 0.
func InverseTriPullback(t, x, tBar, xBar blas64.Triangular) {
	if xBar.Data == nil {
		return
	}
	d := ofTriangle(xBar, x)
	if tBar.Data != nil {
		m := triangular(d)
		clearTriangle(d)
		addPart(-1, aroundTri(blas.Trans, t, m), ofTriangle(tBar, t))
		return
	}
	clearTriangle(d)
}
