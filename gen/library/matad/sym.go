package matad

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// The methods of mat.SymDense, mat.TriDense and mat.DiagDense whose own source is not differentiated.

// isSym reports whether a is s.
func isSym(s *mat.SymDense, a mat.Matrix) bool {
	switch a := a.(type) {
	case *mat.SymDense:
		return a == s
	}
	return false
}

// memory returns the memory of s.
func memory(s *mat.SymDense) blas64.General { return asGeneral(asTriangle(s.RawSymmetric())) }

// checkSym panics if a overlaps s and is another matrix.
func checkSym(s *mat.SymDense, a mat.Matrix) {
	if !isSym(s, a) {
		CheckOverlap(memory(s), raw(a))
	}
}

// stored returns the triangle of a: its memory if that is known, and new memory otherwise.
func stored(a mat.Symmetric) blas64.Triangular {
	switch a := a.(type) {
	case *mat.SymDense:
		return asTriangle(a.RawSymmetric())
	}
	t := newTriangle(a.SymmetricDim(), blas.Upper)
	copySymmetric(t, a)
	return t
}

// SymDenseAddSym is the method AddSym of mat.SymDense.
func SymDenseAddSym(s *mat.SymDense, a, b mat.Symmetric) {
	n := a.SymmetricDim()
	if n != b.SymmetricDim() {
		panic(mat.ErrShape)
	}
	receiveSym(s, n)
	checkSym(s, a)
	checkSym(s, b)
	x, y, z := stored(a), stored(b), s.RawSymmetric()
	for i := 0; i < n; i++ {
		for j := i; j < n; j++ {
			z.Data[i*z.Stride+j] = x.Data[i*x.Stride+j] + y.Data[i*y.Stride+j]
		}
	}
}

// SymDenseCopySym is the method CopySym of mat.SymDense.
func SymDenseCopySym(s *mat.SymDense, a mat.Symmetric) int {
	n := min(a.SymmetricDim(), s.SymmetricDim())
	t := asTriangle(s.RawSymmetric())
	t.N = n
	switch a := a.(type) {
	case *mat.SymDense:
		x := asTriangle(a.RawSymmetric())
		x.N = n
		copyTriangle(t, x)
	default:
		copySymmetric(t, a)
	}
	return n
}

// SymDenseScaleSym is the method ScaleSym of mat.SymDense.
func SymDenseScaleSym(s *mat.SymDense, f float64, a mat.Symmetric) {
	n := a.SymmetricDim()
	receiveSym(s, n)
	switch a := a.(type) {
	case *mat.SymDense:
		checkSym(s, a)
	}
	x, z := stored(a), s.RawSymmetric()
	for i := 0; i < n; i++ {
		for j := i; j < n; j++ {
			z.Data[i*z.Stride+j] = f * x.Data[i*x.Stride+j]
		}
	}
}

// SymDenseSubsetSym is the method SubsetSym of mat.SymDense.
func SymDenseSubsetSym(s *mat.SymDense, a mat.Symmetric, set []int) {
	n := len(set)
	receiveSym(s, n)
	switch a := a.(type) {
	case *mat.SymDense:
		checkSym(s, a)
	}
	x, z := stored(a), s.RawSymmetric()
	if isSym(s, a) {
		y := newTriangle(x.N, blas.Upper)
		copyTriangle(y, x)
		x = y
	}
	for i := 0; i < n; i++ {
		for j := i; j < n; j++ {
			r, c := set[i], set[j]
			z.Data[i*z.Stride+j] = x.Data[min(r, c)*x.Stride+max(r, c)]
		}
	}
}

// receiveSum gives s the size of a if it is empty, and the elements of a.
func receiveSum(s *mat.SymDense, a mat.Symmetric) {
	if isSym(s, a) {
		return
	}
	switch a := a.(type) {
	case *mat.SymDense:
		checkSym(s, a)
	}
	receiveSym(s, a.SymmetricDim())
	copySymmetric(asTriangle(s.RawSymmetric()), a)
}

// SymDenseSymRankOne is the method SymRankOne of mat.SymDense.
func SymDenseSymRankOne(s *mat.SymDense, a mat.Symmetric, alpha float64, x mat.Vector) {
	n := x.Len()
	if a.SymmetricDim() != n {
		panic(mat.ErrShape)
	}
	receiveSym(s, n)
	receiveSum(s, a)
	v := vector(x)
	CheckOverlap(memory(s), column(v))
	z := s.RawSymmetric()
	for i := 0; i < n; i++ {
		p := alpha * v.Data[i*v.Inc]
		for j := i; j < n; j++ {
			z.Data[i*z.Stride+j] += p * v.Data[j*v.Inc]
		}
	}
}

// SymDenseRankTwo is the method RankTwo of mat.SymDense.
func SymDenseRankTwo(s *mat.SymDense, a mat.Symmetric, alpha float64, x, y mat.Vector) {
	n := s.SymmetricDim()
	if x.Len() != n || y.Len() != n {
		panic(mat.ErrShape)
	}
	v, w := vector(x), vector(y)
	CheckOverlap(memory(s), column(v))
	CheckOverlap(memory(s), column(w))
	receiveSum(s, a)
	z := s.RawSymmetric()
	for i := 0; i < n; i++ {
		p, q := alpha*v.Data[i*v.Inc], alpha*w.Data[i*w.Inc]
		for j := i; j < n; j++ {
			z.Data[i*z.Stride+j] += p*w.Data[j*w.Inc] + q*v.Data[j*v.Inc]
		}
	}
}

// gram returns X·Xᵀ in new memory.
func gram(x mat.Matrix) blas64.Symmetric {
	g, t := operand(x)
	if t == blas.Trans {
		g = transposed(g)
	}
	s := newSymmetric(g.Rows)
	Gram(g, s)
	return s
}

// SymDenseSymRankK is the method SymRankK of mat.SymDense.
func SymDenseSymRankK(s *mat.SymDense, a mat.Symmetric, alpha float64, x mat.Matrix) {
	n := a.SymmetricDim()
	if r, _ := x.Dims(); r != n {
		panic(mat.ErrShape)
	}
	g := gram(x)
	receiveSum(s, a)
	addTriangle(alpha, asTriangle(g), asTriangle(s.RawSymmetric()))
}

// SymDenseSymOuterK is the method SymOuterK of mat.SymDense.
func SymDenseSymOuterK(s *mat.SymDense, alpha float64, x mat.Matrix) {
	n, _ := x.Dims()
	if s.IsEmpty() {
		s.ReuseAsSym(n)
	} else {
		if s.SymmetricDim() != n {
			panic(mat.ErrShape)
		}
		switch x := x.(type) {
		case *mat.Dense, *mat.SymDense, *mat.TriDense:
			checkSym(s, x)
		}
	}
	g, z := gram(x), s.RawSymmetric()
	for i := 0; i < n; i++ {
		for j := i; j < n; j++ {
			z.Data[i*z.Stride+j] = alpha * g.Data[i*g.Stride+j]
		}
	}
}

// SymDenseNorm is the method Norm of mat.SymDense.
func SymDenseNorm(s *mat.SymDense, of float64) float64 {
	if s.IsEmpty() {
		panic(mat.ErrZeroLength)
	}
	return norm(symmetric(s.RawSymmetric()), of)
}

// Gram sets S = X·Xᵀ.
//
//nabla:rule tangent=GramTangent pullback=GramPullback writes=s
func Gram(x blas64.General, s blas64.Symmetric) {
	blas64.Syrk(blas.NoTrans, 1, x, 0, s)
}

// GramTangent sets Ṡ = Ẋ·Xᵀ + X·Ẋᵀ.
func GramTangent(x blas64.General, s blas64.Symmetric, xDot blas64.General, sDot blas64.Symmetric) {
	if sDot.Data != nil {
		d := ofSymmetric(sDot, s)
		clearTriangle(asTriangle(d))
		if xDot.Data != nil {
			AddPairs(1, shadow(xDot, x), x, d)
			for i := 0; i < d.N; i++ {
				d.Data[i*d.Stride+i] *= 2
			}
		}
	}
	Gram(x, s)
}

// GramPullback adds 2·M·X to X̄, where M is the symmetric matrix of which S̄ is the cotangent, and sets S̄ = 0.
func GramPullback(x blas64.General, s blas64.Symmetric, xBar blas64.General, sBar blas64.Symmetric) {
	if sBar.Data == nil {
		return
	}
	d := asTriangle(ofSymmetric(sBar, s))
	if xBar.Data != nil {
		g := newTriangle(d.N, blas.Upper)
		copyTriangle(g, d)
		for i := 0; i < g.N; i++ {
			g.Data[i*g.Stride+i] *= 2
		}
		clearTriangle(d)
		AddSymProduct(1, asSymmetric(g), x, shadow(xBar, x))
		return
	}
	clearTriangle(d)
}

// TriDenseCopy is the method Copy of mat.TriDense.
func TriDenseCopy(t *mat.TriDense, a mat.Matrix) (r, c int) {
	z := t.RawTriangular()
	r, c = a.Dims()
	r, c = min(r, z.N), min(c, z.N)
	if r == 0 || c == 0 {
		return 0, 0
	}
	switch a := a.(type) {
	case *mat.TriDense:
		x := a.RawTriangular()
		if x.Uplo != z.Uplo {
			for i := 0; i < r; i++ {
				z.Data[i*z.Stride+i] = x.Data[i*x.Stride+i]
			}
			return r, c
		}
		copyPart(z, asGeneral(x), r, c)
	case *mat.Dense:
		copyPart(z, a.RawMatrix(), r, c)
	default:
		for i := 0; i < r; i++ {
			from, to := i, c
			if z.Uplo == blas.Lower {
				from, to = 0, i+1
			}
			for j := from; j < to; j++ {
				z.Data[i*z.Stride+j] = a.At(i, j)
			}
		}
	}
	return r, c
}

// copyPart copies the part of the first r rows and c columns of x that z stores.
func copyPart(z blas64.Triangular, x blas64.General, r, c int) {
	for i := 0; i < r; i++ {
		if z.Uplo == blas.Lower {
			copy(z.Data[i*z.Stride:i*z.Stride+i+1], x.Data[i*x.Stride:i*x.Stride+i+1])
		} else {
			copy(z.Data[i*z.Stride+i:i*z.Stride+c], x.Data[i*x.Stride+i:i*x.Stride+c])
		}
	}
}

// checkTri panics if a overlaps t and is another matrix.
func checkTri(t *mat.TriDense, a mat.Matrix) {
	switch a := a.(type) {
	case *mat.TriDense:
		if a != t {
			CheckOverlap(raw(t), raw(a))
		}
	}
}

// TriDenseScaleTri is the method ScaleTri of mat.TriDense.
func TriDenseScaleTri(t *mat.TriDense, f float64, a mat.Triangular) {
	n, kind := a.Triangle()
	if n == 0 {
		panic(mat.ErrZeroLength)
	}
	receiveTri(t, n, kind)
	checkTri(t, a)
	z := t.RawTriangular()
	copyTriangular(z, a)
	for i := 0; i < n; i++ {
		r := row(z.Uplo, n, z.Stride, z.Data, i)
		for j := range r {
			r[j] *= f
		}
	}
}

// TriDenseMulTri is the method MulTri of mat.TriDense.
func TriDenseMulTri(t *mat.TriDense, a, b mat.Triangular) {
	n, kind := a.Triangle()
	nb, kindb := b.Triangle()
	if n != nb {
		panic(mat.ErrShape)
	}
	if kind != kindb {
		panic(mat.ErrTriangle)
	}
	checkTri(t, b)
	checkTri(t, a)
	if n == 0 {
		panic(mat.ErrZeroLength)
	}
	receiveTri(t, n, kind)
	z := t.RawTriangular()
	x, y := newTriangle(n, z.Uplo), newTriangle(n, z.Uplo)
	copyTriangular(x, a)
	copyTriangular(y, b)
	g := newGeneral(n, n)
	AddTriProduct(blas.NoTrans, 1, x, triangular(y), g)
	copyPart(z, g, n, n)
}

// TriDenseNorm is the method Norm of mat.TriDense.
func TriDenseNorm(t *mat.TriDense, of float64) float64 {
	if t.IsEmpty() {
		panic(mat.ErrZeroLength)
	}
	return norm(triangular(t.RawTriangular()), of)
}

// DiagDenseNorm is the method Norm of mat.DiagDense.
func DiagDenseNorm(d *mat.DiagDense, of float64) float64 {
	if d.IsEmpty() {
		panic(mat.ErrZeroLength)
	}
	b := d.RawSymBand()
	v := blas64.Vector{N: b.N, Inc: b.Stride, Data: b.Data}
	switch of {
	case 1, math.Inf(1):
		r := 0.0
		for i := 0; i < v.N; i++ {
			r = max(r, math.Abs(v.Data[i*v.Inc]))
		}
		return r
	case 2:
		return blas64.Nrm2(v)
	}
	panic(mat.ErrNormOrder)
}

// DiagDenseDiagFrom is the method DiagFrom of mat.DiagDense.
func DiagDenseDiagFrom(d *mat.DiagDense, m mat.Matrix) {
	n := min(m.Dims())
	if n == 0 {
		panic(mat.ErrZeroLength)
	}
	if d.IsEmpty() {
		d.Reset()
		*d = *mat.NewDiagDense(n, nil)
	} else if d.Diag() != n {
		panic(mat.ErrShape)
	}
	for i := 0; i < n; i++ {
		d.SetDiag(i, m.At(i, i))
	}
}
