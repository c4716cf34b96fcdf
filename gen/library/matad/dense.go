package matad

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// The methods of mat.Dense whose source is not followed.

// checkDense panics if a is not m, nor its transpose, and overlaps it.
func checkDense(m *mat.Dense, a mat.Matrix) {
	if !isDense(m, a) && !isDenseTransposed(m, a) {
		CheckOverlap(m.RawMatrix(), raw(a))
	}
}

// isFull reports whether a or its transpose is a Dense matrix.
func isFull(a mat.Matrix) bool {
	switch a.(type) {
	case *mat.Dense, Transposed:
		return true
	}
	return false
}

// isHalf reports whether a or its transpose is a symmetric or triangular matrix.
func isHalf(a mat.Matrix) bool {
	switch a.(type) {
	case *mat.SymDense, *mat.TriDense, TransposedTri:
		return true
	}
	return false
}

// workspace returns the memory of m if direct is set, and other memory of the same size otherwise.
func workspace(m *mat.Dense, direct bool) blas64.General {
	if direct {
		return m.RawMatrix()
	}
	r, c := m.Dims()
	return newGeneral(r, c)
}

// restore copies z, which is of the same size, to m.
func restore(m *mat.Dense, z blas64.General) {
	to := m.RawMatrix()
	for i := 0; i < z.Rows; i++ {
		copy(to.Data[i*to.Stride:i*to.Stride+z.Cols], z.Data[i*z.Stride:i*z.Stride+z.Cols])
	}
}

// DenseMul is the method Mul of mat.Dense.
func DenseMul(m *mat.Dense, a, b mat.Matrix) {
	r, k := a.Dims()
	rows, c := b.Dims()
	if k != rows {
		panic(mat.ErrShape)
	}
	receive(m, r, c)
	direct := !isDense(m, a) && !isDenseTransposed(m, a) && !isDense(m, b) && !isDenseTransposed(m, b)
	if direct {
		z := m.RawMatrix()
		// The products of Dense matrices with symmetric and triangular ones are not tested for overlap of the latter.
		if !isHalf(a) || !isFull(b) {
			CheckOverlap(z, raw(a))
		}
		if !isHalf(b) || !isFull(a) {
			CheckOverlap(z, raw(b))
		}
	}
	x, tx := operand(a)
	y, ty := operand(b)
	z := workspace(m, direct)
	Product(tx, ty, x, y, z)
	if !direct {
		restore(m, z)
	}
}

// matching tests the arguments of a method of m that computes each element of m from those of a and b, gives m its
// size, and reports whether it can do so in place.
func matching(m *mat.Dense, a, b mat.Matrix) bool {
	ar, ac := a.Dims()
	br, bc := b.Dims()
	if ar != br || ac != bc {
		panic(mat.ErrShape)
	}
	receive(m, ar, ac)
	checkDense(m, a)
	checkDense(m, b)
	return !isDenseTransposed(m, a) && !isDenseTransposed(m, b)
}

// elementwise stores op of the elements of a and b in m.
func elementwise(m *mat.Dense, a, b mat.Matrix, op func(x, y float64) float64) {
	direct := matching(m, a, b)
	x, tx := operand(a)
	y, ty := operand(b)
	z := workspace(m, direct)
	xr, xc := steps(x, tx)
	yr, yc := steps(y, ty)
	for i := 0; i < z.Rows; i++ {
		for j := 0; j < z.Cols; j++ {
			z.Data[i*z.Stride+j] = op(x.Data[i*xr+j*xc], y.Data[i*yr+j*yc])
		}
	}
	if !direct {
		restore(m, z)
	}
}

// DenseAdd is the method Add of mat.Dense.
func DenseAdd(m *mat.Dense, a, b mat.Matrix) {
	elementwise(m, a, b, func(x, y float64) float64 { return x + y })
}

// DenseSub is the method Sub of mat.Dense.
func DenseSub(m *mat.Dense, a, b mat.Matrix) {
	elementwise(m, a, b, func(x, y float64) float64 { return x - y })
}

// DenseMulElem is the method MulElem of mat.Dense.
func DenseMulElem(m *mat.Dense, a, b mat.Matrix) {
	elementwise(m, a, b, func(x, y float64) float64 { return x * y })
}

// DenseDivElem is the method DivElem of mat.Dense.
func DenseDivElem(m *mat.Dense, a, b mat.Matrix) {
	elementwise(m, a, b, func(x, y float64) float64 { return x / y })
}

// mapped tests the argument of a method of m that computes each element of m from that of a, gives m its size, and
// reports whether it can do so in place.
func mapped(m *mat.Dense, a mat.Matrix) bool {
	r, c := a.Dims()
	receive(m, r, c)
	switch a.(type) {
	case TransposedVec, TransposedTri: // not tested
	default:
		checkDense(m, a)
	}
	return !isDenseTransposed(m, a)
}

// DenseScale is the method Scale of mat.Dense.
func DenseScale(m *mat.Dense, f float64, a mat.Matrix) {
	direct := mapped(m, a)
	x, tx := operand(a)
	z := workspace(m, direct)
	xr, xc := steps(x, tx)
	for i := 0; i < z.Rows; i++ {
		for j := 0; j < z.Cols; j++ {
			z.Data[i*z.Stride+j] = x.Data[i*xr+j*xc] * f
		}
	}
	if !direct {
		restore(m, z)
	}
}

// DenseApply is the method Apply of mat.Dense.
func DenseApply(m *mat.Dense, fn func(i, j int, v float64) float64, a mat.Matrix) {
	direct := mapped(m, a)
	x, tx := operand(a)
	z := workspace(m, direct)
	xr, xc := steps(x, tx)
	if isFull(a) && tx == blas.Trans { // in the order of the memory of a
		for j := 0; j < z.Cols; j++ {
			for i := 0; i < z.Rows; i++ {
				z.Data[i*z.Stride+j] = fn(i, j, x.Data[i*xr+j*xc])
			}
		}
	} else {
		for i := 0; i < z.Rows; i++ {
			for j := 0; j < z.Cols; j++ {
				z.Data[i*z.Stride+j] = fn(i, j, x.Data[i*xr+j*xc])
			}
		}
	}
	if !direct {
		restore(m, z)
	}
}

// DenseCopy is the method Copy of mat.Dense.
func DenseCopy(m *mat.Dense, a mat.Matrix) (r, c int) {
	r, c = a.Dims()
	if isDense(m, a) {
		return r, c
	}
	to := m.RawMatrix()
	r, c = min(r, to.Rows), min(c, to.Cols)
	if r == 0 || c == 0 {
		return 0, 0
	}
	switch a.(type) {
	case *mat.Dense, *mat.VecDense: // may overlap
	case Transposed, TransposedVec:
		if from := raw(a); from.Stride != 1 {
			CheckOverlap(to, from)
		}
	default:
		CheckOverlap(to, raw(a))
	}
	x, t := operand(a)
	to.Rows, to.Cols = r, c
	off := 1
	if t == blas.NoTrans || x.Cols == 1 {
		off = Offset(to, x)
	}
	switch {
	case off > 0:
		copyElements(to, x, t)
	case off < 0: // from the end, since the memory may overlap
		xr, xc := steps(x, t)
		for i := r - 1; i >= 0; i-- {
			if t == blas.NoTrans {
				copy(to.Data[i*to.Stride:i*to.Stride+c], x.Data[i*x.Stride:i*x.Stride+c])
				continue
			}
			for j := c - 1; j >= 0; j-- {
				to.Data[i*to.Stride+j] = x.Data[i*xr+j*xc]
			}
		}
	}
	return r, c
}

// copyElements copies the first rows and columns of op(x) to z.
func copyElements(z, x blas64.General, t blas.Transpose) {
	if t == blas.Trans {
		for i := 0; i < z.Rows; i++ {
			for j := 0; j < z.Cols; j++ {
				z.Data[i*z.Stride+j] = x.Data[j*x.Stride+i]
			}
		}
		return
	}
	for i := 0; i < z.Rows; i++ {
		copy(z.Data[i*z.Stride:i*z.Stride+z.Cols], x.Data[i*x.Stride:i*x.Stride+z.Cols])
	}
}

// DenseCloneFrom is the method CloneFrom of mat.Dense.
func DenseCloneFrom(m *mat.Dense, a mat.Matrix) {
	r, c := a.Dims()
	z := newGeneral(r, c)
	switch a := a.(type) {
	case *mat.VecDense:
		blas64.Copy(a.RawVector(), blas64.Vector{N: r * c, Inc: 1, Data: z.Data})
	case TransposedVec:
		blas64.Copy(a.Of.RawVector(), blas64.Vector{N: r * c, Inc: 1, Data: z.Data})
	default:
		x, t := operand(a)
		copyElements(z, x, t)
	}
	m.SetRawMatrix(z)
}

// DenseStack is the method Stack of mat.Dense.
func DenseStack(m *mat.Dense, a, b mat.Matrix) {
	ar, ac := a.Dims()
	br, bc := b.Dims()
	if ac != bc || isDense(m, a) || isDense(m, b) {
		panic(mat.ErrShape)
	}
	receive(m, ar+br, ac)
	DenseCopy(m, a)
	DenseCopy(m.Slice(ar, ar+br, 0, bc).(*mat.Dense), b)
}

// DenseAugment is the method Augment of mat.Dense.
func DenseAugment(m *mat.Dense, a, b mat.Matrix) {
	ar, ac := a.Dims()
	br, bc := b.Dims()
	if ar != br || isDense(m, a) || isDense(m, b) {
		panic(mat.ErrShape)
	}
	receive(m, ar, ac+bc)
	DenseCopy(m, a)
	DenseCopy(m.Slice(0, br, ac, ac+bc).(*mat.Dense), b)
}

// DenseKronecker is the method Kronecker of mat.Dense.
func DenseKronecker(m *mat.Dense, a, b mat.Matrix) {
	ra, ca := a.Dims()
	rb, cb := b.Dims()
	receive(m, ra*rb, ca*cb)
	for i := 0; i < ra; i++ {
		for j := 0; j < ca; j++ {
			DenseScale(m.Slice(i*rb, (i+1)*rb, j*cb, (j+1)*cb).(*mat.Dense), a.At(i, j), b)
		}
	}
}

// DenseRankOne is the method RankOne of mat.Dense.
func DenseRankOne(m *mat.Dense, a mat.Matrix, alpha float64, x, y mat.Vector) {
	r, c := a.Dims()
	if x.Len() != r || y.Len() != c {
		panic(mat.ErrShape)
	}
	if isFull(a) && !isDense(m, a) {
		CheckOverlap(m.RawMatrix(), raw(a))
	}
	CheckOverlap(m.RawMatrix(), raw(x))
	CheckOverlap(m.RawMatrix(), raw(y))
	if !isDense(m, a) || !isStored(x) || !isStored(y) {
		receive(m, r, c)
		DenseCopy(m, a)
	}
	blas64.Ger(alpha, vector(x), vector(y), m.RawMatrix())
}

// DenseOuter is the method Outer of mat.Dense.
func DenseOuter(m *mat.Dense, alpha float64, x, y mat.Vector) {
	receive(m, x.Len(), y.Len())
	CheckOverlap(m.RawMatrix(), raw(x))
	CheckOverlap(m.RawMatrix(), raw(y))
	m.Zero()
	blas64.Ger(alpha, vector(x), vector(y), m.RawMatrix())
}

// DensePow is the method Pow of mat.Dense.
func DensePow(m *mat.Dense, a mat.Matrix, n int) {
	if n < 0 {
		panic("mat: illegal power")
	}
	r, c := a.Dims()
	if r != c {
		panic(mat.ErrShape)
	}
	receive(m, r, c)
	switch n {
	case 0:
		z := m.RawMatrix()
		for i := 0; i < r; i++ {
			for j := 0; j < r; j++ {
				z.Data[i*z.Stride+j] = 0
			}
			z.Data[i*z.Stride+i] = 1
		}
		return
	case 1:
		DenseCopy(m, a)
		return
	case 2:
		DenseMul(m, a, a)
		return
	}
	x, t := operand(a)
	w := newGeneral(r, r)
	copyElements(w, x, t)
	s := w
	for n--; n > 0; n >>= 1 {
		if n&1 != 0 {
			z := newGeneral(r, r)
			Product(blas.NoTrans, blas.NoTrans, w, s, z)
			w = z
		}
		if n != 1 {
			z := newGeneral(r, r)
			Product(blas.NoTrans, blas.NoTrans, s, s, z)
			s = z
		}
	}
	restore(m, w)
}

// DensePermuteRows is the method PermuteRows of mat.Dense.
func DensePermuteRows(m *mat.Dense, p []int, inverse bool) {
	z := m.RawMatrix()
	if len(p) != z.Rows {
		panic("mat: improper slice length")
	}
	x := newGeneral(z.Rows, z.Cols)
	copyElements(x, z, blas.NoTrans)
	for i, k := range p {
		to, from := i, k
		if inverse {
			to, from = k, i
		}
		for j := 0; j < z.Cols; j++ {
			z.Data[to*z.Stride+j] = x.Data[from*x.Stride+j]
		}
	}
}

// DensePermuteCols is the method PermuteCols of mat.Dense.
func DensePermuteCols(m *mat.Dense, p []int, inverse bool) {
	z := m.RawMatrix()
	if len(p) != z.Cols {
		panic("mat: improper slice length")
	}
	x := newGeneral(z.Rows, z.Cols)
	copyElements(x, z, blas.NoTrans)
	for j, k := range p {
		to, from := j, k
		if inverse {
			to, from = k, j
		}
		for i := 0; i < z.Rows; i++ {
			z.Data[i*z.Stride+to] = x.Data[i*x.Stride+from]
		}
	}
}
