package matad

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Operations on symmetric and triangular matrices. A symmetric matrix stores its upper triangle; so does its shadow,
// whose element (i, j) is the derivative with respect to the number that is both a_ij and a_ji. If such a matrix
// stands for half of M + Mᵀ, a cotangent M̄ becomes that of the triangle by adding the elements (i, j) and (j, i):
// pairs.

// ofSymmetric returns the shadow s of a symmetric matrix with the size and stride of its primal.
func ofSymmetric(s, of blas64.Symmetric) blas64.Symmetric {
	return blas64.Symmetric{Uplo: blas.Upper, N: of.N, Stride: of.Stride, Data: s.Data}
}

// ofTriangle returns the shadow s of a triangular matrix with the size, stride and kind of its primal.
func ofTriangle(s, of blas64.Triangular) blas64.Triangular {
	return blas64.Triangular{Uplo: of.Uplo, Diag: of.Diag, N: of.N, Stride: of.Stride, Data: s.Data}
}

// newSymmetric returns a symmetric matrix of zeros.
func newSymmetric(n int) blas64.Symmetric {
	return blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: make([]float64, n*n)}
}

// newTriangle returns a triangular matrix of zeros.
func newTriangle(n int, uplo blas.Uplo) blas64.Triangular {
	return blas64.Triangular{Uplo: uplo, Diag: blas.NonUnit, N: n, Stride: n, Data: make([]float64, n*n)}
}

// row returns the stored elements of row i of a triangle.
func row(uplo blas.Uplo, n, stride int, data []float64, i int) []float64 {
	if uplo == blas.Lower {
		return data[i*stride : i*stride+i+1]
	}
	return data[i*stride+i : i*stride+n]
}

// addTriangle adds f·A to B; both store the same triangle.
func addTriangle(f float64, a, b blas64.Triangular) {
	for i := 0; i < a.N; i++ {
		x, y := row(a.Uplo, a.N, a.Stride, a.Data, i), row(a.Uplo, b.N, b.Stride, b.Data, i)
		blas64.Axpy(f, blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(y), Inc: 1, Data: y})
	}
}

// addPart adds f times the triangle of G that T stores to T.
func addPart(f float64, g blas64.General, t blas64.Triangular) {
	addTriangle(f, blas64.Triangular{Uplo: t.Uplo, N: g.Rows, Stride: g.Stride, Data: g.Data}, t)
}

// clearTriangle sets the stored elements of a to 0.
func clearTriangle(a blas64.Triangular) {
	for i := 0; i < a.N; i++ {
		clear(row(a.Uplo, a.N, a.Stride, a.Data, i))
	}
}

// asTriangle returns the triangle that a symmetric matrix stores.
func asTriangle(a blas64.Symmetric) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: a.N, Stride: a.Stride, Data: a.Data}
}

// asSymmetric returns the symmetric matrix that stores an upper triangle.
func asSymmetric(a blas64.Triangular) blas64.Symmetric {
	return blas64.Symmetric{Uplo: blas.Upper, N: a.N, Stride: a.Stride, Data: a.Data}
}

// asGeneral returns all memory of a triangle as a matrix.
func asGeneral(a blas64.Triangular) blas64.General {
	return blas64.General{Rows: a.N, Cols: a.N, Stride: a.Stride, Data: a.Data}
}

// copyTriangle copies the triangle that b stores from a.
func copyTriangle(b, a blas64.Triangular) {
	for i := 0; i < b.N; i++ {
		copy(row(b.Uplo, b.N, b.Stride, b.Data, i), row(b.Uplo, a.N, a.Stride, a.Data, i))
	}
}

// transposed returns the transpose of a in new memory.
func transposed(a blas64.General) blas64.General {
	g := newGeneral(a.Cols, a.Rows)
	copyElements(g, a, blas.Trans)
	return g
}

// copyOf returns a copy of a in new memory.
func copyOf(a blas64.General) blas64.General {
	g := newGeneral(a.Rows, a.Cols)
	copyElements(g, a, blas.NoTrans)
	return g
}

// AddSymProduct adds f·A·B to C, for a constant f.
//
//nabla:rule tangent=AddSymProductTangent pullback=AddSymProductPullback passive=f writes=c
func AddSymProduct(f float64, a blas64.Symmetric, b, c blas64.General) {
	blas64.Symm(blas.Left, f, a, b, 1, c)
}

// AddSymProductTangent adds f·(Ȧ·B + A·Ḃ) to Ċ.
func AddSymProductTangent(f float64, a blas64.Symmetric, b, c blas64.General, aDot blas64.Symmetric,
	bDot, cDot blas64.General) {
	if cDot.Data != nil {
		d := shadow(cDot, c)
		if aDot.Data != nil {
			AddSymProduct(f, ofSymmetric(aDot, a), b, d)
		}
		if bDot.Data != nil {
			AddSymProduct(f, a, shadow(bDot, b), d)
		}
	}
	AddSymProduct(f, a, b, c)
}

// AddSymProductPullback adds f·A·C̄ to B̄, and f times the pairs of C̄·Bᵀ to Ā.
func AddSymProductPullback(f float64, a blas64.Symmetric, b, c blas64.General, aBar blas64.Symmetric,
	bBar, cBar blas64.General) {
	if cBar.Data == nil {
		return
	}
	d := shadow(cBar, c)
	if bBar.Data != nil {
		AddSymProduct(f, a, d, shadow(bBar, b))
	}
	if aBar.Data != nil {
		AddPairs(f, d, b, ofSymmetric(aBar, a))
	}
}

// AddPairs adds f times the pairs of X·Yᵀ to A, for a constant f: x_i·y_j + x_j·y_i to a_ij and x_i·y_i to a_ii, with
// the rows of X and Y.
//
//nabla:rule tangent=AddPairsTangent pullback=AddPairsPullback passive=f writes=a
func AddPairs(f float64, x, y blas64.General, a blas64.Symmetric) {
	if x.Cols == 0 {
		return
	}
	diag := make([]float64, a.N)
	for i := range diag {
		r, s := x.Data[i*x.Stride:i*x.Stride+x.Cols], y.Data[i*y.Stride:i*y.Stride+y.Cols]
		diag[i] = a.Data[i*a.Stride+i] + f*blas64.Dot(blas64.Vector{N: x.Cols, Inc: 1, Data: r},
			blas64.Vector{N: y.Cols, Inc: 1, Data: s})
	}
	if x.Cols == 1 {
		blas64.Syr2(f, blas64.Vector{N: a.N, Inc: x.Stride, Data: x.Data},
			blas64.Vector{N: a.N, Inc: y.Stride, Data: y.Data}, a)
	} else {
		blas64.Syr2k(blas.NoTrans, f, x, y, 1, a)
	}
	for i, v := range diag {
		a.Data[i*a.Stride+i] = v
	}
}

// bilinear calls add, which adds a product of X and Y, for the tangent of each of the two.
func bilinear(x, y, xDot, yDot blas64.General, add func(x, y blas64.General)) {
	if xDot.Data != nil {
		add(shadow(xDot, x), y)
	}
	if yDot.Data != nil {
		add(x, shadow(yDot, y))
	}
}

// AddPairsTangent adds f times the pairs of Ẋ·Yᵀ and of X·Ẏᵀ to Ȧ.
func AddPairsTangent(f float64, x, y blas64.General, a blas64.Symmetric, xDot, yDot blas64.General,
	aDot blas64.Symmetric) {
	if aDot.Data != nil {
		d := ofSymmetric(aDot, a)
		bilinear(x, y, xDot, yDot, func(x, y blas64.General) { AddPairs(f, x, y, d) })
	}
	AddPairs(f, x, y, a)
}

// AddPairsPullback adds f·Ā·Y to X̄ and f·Ā·X to Ȳ.
func AddPairsPullback(f float64, x, y blas64.General, a blas64.Symmetric, xBar, yBar blas64.General,
	aBar blas64.Symmetric) {
	if aBar.Data == nil {
		return
	}
	d := ofSymmetric(aBar, a)
	if xBar.Data != nil {
		AddSymProduct(f, d, y, shadow(xBar, x))
	}
	if yBar.Data != nil {
		AddSymProduct(f, d, x, shadow(yBar, y))
	}
}

// AddTriProduct adds f·op(T)·B to C, for a constant f.
//
//nabla:rule tangent=AddTriProductTangent pullback=AddTriProductPullback passive=f writes=c
func AddTriProduct(trans blas.Transpose, f float64, t blas64.Triangular, b, c blas64.General) {
	g := copyOf(b)
	blas64.Trmm(blas.Left, trans, f, t, g)
	for i := 0; i < c.Rows; i++ {
		for j := 0; j < c.Cols; j++ {
			c.Data[i*c.Stride+j] += g.Data[i*g.Stride+j]
		}
	}
}

// AddTriProductTangent adds f·(op(Ṫ)·B + op(T)·Ḃ) to Ċ.
func AddTriProductTangent(trans blas.Transpose, f float64, t blas64.Triangular, b, c blas64.General,
	tDot blas64.Triangular, bDot, cDot blas64.General) {
	if cDot.Data != nil {
		d := shadow(cDot, c)
		if tDot.Data != nil {
			AddTriProduct(trans, f, ofTriangle(tDot, t), b, d)
		}
		if bDot.Data != nil {
			AddTriProduct(trans, f, t, shadow(bDot, b), d)
		}
	}
	AddTriProduct(trans, f, t, b, c)
}

// AddTriProductPullback adds f·op(T)ᵀ·C̄ to B̄, and f times the triangle of C̄·Bᵀ to op(T̄).
func AddTriProductPullback(trans blas.Transpose, f float64, t blas64.Triangular, b, c blas64.General,
	tBar blas64.Triangular, bBar, cBar blas64.General) {
	if cBar.Data == nil {
		return
	}
	d := shadow(cBar, c)
	if bBar.Data != nil {
		AddTriProduct(other(trans), f, t, d, shadow(bBar, b))
	}
	if tBar.Data != nil {
		addOuter(trans, f, d, b, ofTriangle(tBar, t))
	}
}

// addOuter adds f times the triangle of X·Yᵀ to op(T).
func addOuter(trans blas.Transpose, f float64, x, y blas64.General, t blas64.Triangular) {
	if trans == blas.Trans {
		AddOuter(f, y, x, t)
	} else {
		AddOuter(f, x, y, t)
	}
}

// AddOuter adds f times the triangle of X·Yᵀ that T stores to T, for a constant f.
//
//nabla:rule tangent=AddOuterTangent pullback=AddOuterPullback passive=f writes=t
func AddOuter(f float64, x, y blas64.General, t blas64.Triangular) {
	if x.Cols == 1 {
		for i := 0; i < t.N; i++ {
			from, to := i, t.N
			if t.Uplo == blas.Lower {
				from, to = 0, i+1
			}
			v := f * x.Data[i*x.Stride]
			for j := from; j < to; j++ {
				t.Data[i*t.Stride+j] += v * y.Data[j*y.Stride]
			}
		}
		return
	}
	g := newGeneral(t.N, t.N)
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, x, y, 0, g)
	addPart(f, g, t)
}

// AddOuterTangent adds f times the triangles of Ẋ·Yᵀ and X·Ẏᵀ to Ṫ.
func AddOuterTangent(f float64, x, y blas64.General, t blas64.Triangular, xDot, yDot blas64.General,
	tDot blas64.Triangular) {
	if tDot.Data != nil {
		d := ofTriangle(tDot, t)
		bilinear(x, y, xDot, yDot, func(x, y blas64.General) { AddOuter(f, x, y, d) })
	}
	AddOuter(f, x, y, t)
}

// AddOuterPullback adds f·T̄·Y to X̄ and f·T̄ᵀ·X to Ȳ.
func AddOuterPullback(f float64, x, y blas64.General, t blas64.Triangular, xBar, yBar blas64.General,
	tBar blas64.Triangular) {
	if tBar.Data == nil {
		return
	}
	d := ofTriangle(tBar, t)
	if xBar.Data != nil {
		AddTriProduct(blas.NoTrans, f, d, y, shadow(xBar, x))
	}
	if yBar.Data != nil {
		AddTriProduct(blas.Trans, f, d, x, shadow(yBar, y))
	}
}
