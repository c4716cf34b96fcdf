package matad

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// The methods of mat.VecDense whose own source is not differentiated. Those that access elements are in at.go, norms
// in norm.go, and SolveVec in lu.go.

// isStored reports whether x or its transpose is a mat.VecDense.
func isStored(x mat.Vector) bool {
	switch x.(type) {
	case *mat.VecDense, TransposedVec:
		return true
	}
	return false
}

// VecDenseCloneFromVec is the method CloneFromVec of mat.VecDense.
func VecDenseCloneFromVec(v *mat.VecDense, a mat.Vector) {
	if isVec(v, a) {
		return
	}
	n := a.Len()
	data := v.RawVector().Data
	if n <= cap(data) {
		data = data[:n]
	} else {
		data = make([]float64, n)
	}
	v.SetRawVector(blas64.Vector{N: n, Inc: 1, Data: data})
	switch a := a.(type) {
	case *mat.VecDense:
		blas64.Copy(a.RawVector(), v.RawVector())
	default:
		for i := 0; i < n; i++ {
			data[i] = a.AtVec(i)
		}
	}
}

// VecDenseCopyVec is the method CopyVec of mat.VecDense.
func VecDenseCopyVec(v *mat.VecDense, a mat.Vector) int {
	n := min(v.Len(), a.Len())
	if isVec(v, a) {
		return n
	}
	switch a := a.(type) {
	case *mat.VecDense:
		src, dst := a.RawVector(), v.RawVector()
		src.N, dst.N = n, n
		blas64.Copy(src, dst)
	default:
		z := v.RawVector()
		for i := 0; i < n; i++ {
			z.Data[i*z.Inc] = a.AtVec(i)
		}
	}
	return n
}

// VecDenseScaleVec is the method ScaleVec of mat.VecDense.
func VecDenseScaleVec(v *mat.VecDense, alpha float64, a mat.Vector) {
	if !isVec(v, a) {
		receiveVec(v, a.Len())
		switch a := a.(type) {
		case *mat.VecDense:
			CheckOverlapVec(v.RawVector(), a.RawVector())
		}
	}
	x, z := vector(a), v.RawVector()
	for i := 0; i < z.N; i++ {
		z.Data[i*z.Inc] = alpha * x.Data[i*x.Inc]
	}
}

// pair tests the arguments of a method of v that computes each element of v from those of a and b, and gives v its
// length.
func pair(v *mat.VecDense, a, b mat.Vector) {
	n := a.Len()
	if n != b.Len() {
		panic(mat.ErrShape)
	}
	receiveVec(v, n)
	if !isStored(a) || !isStored(b) {
		return
	}
	if !isVec(v, a) {
		CheckOverlapVec(v.RawVector(), vector(a))
	}
	if !isVec(v, b) {
		CheckOverlapVec(v.RawVector(), vector(b))
	}
}

// elementwiseVec stores op of the elements of a and b in v.
func elementwiseVec(v *mat.VecDense, a, b mat.Vector, op func(x, y float64) float64) {
	pair(v, a, b)
	x, y, z := vector(a), vector(b), v.RawVector()
	for i := 0; i < z.N; i++ {
		z.Data[i*z.Inc] = op(x.Data[i*x.Inc], y.Data[i*y.Inc])
	}
}

// VecDenseAddVec is the method AddVec of mat.VecDense.
func VecDenseAddVec(v *mat.VecDense, a, b mat.Vector) {
	elementwiseVec(v, a, b, func(x, y float64) float64 { return x + y })
}

// VecDenseSubVec is the method SubVec of mat.VecDense.
func VecDenseSubVec(v *mat.VecDense, a, b mat.Vector) {
	elementwiseVec(v, a, b, func(x, y float64) float64 { return x - y })
}

// VecDenseMulElemVec is the method MulElemVec of mat.VecDense.
func VecDenseMulElemVec(v *mat.VecDense, a, b mat.Vector) {
	elementwiseVec(v, a, b, func(x, y float64) float64 { return x * y })
}

// VecDenseDivElemVec is the method DivElemVec of mat.VecDense.
func VecDenseDivElemVec(v *mat.VecDense, a, b mat.Vector) {
	pair(v, a, b)
	x, y, z := vector(a), vector(b), v.RawVector()
	if isStored(a) && isStored(b) && (x.Inc != 1 || y.Inc != 1 || z.Inc != 1) {
		// The original divides twice, which matters if v is a or b.
		for i := 0; i < z.N; i++ {
			z.Data[i*z.Inc] = x.Data[i*x.Inc] / y.Data[i*y.Inc]
		}
	}
	for i := 0; i < z.N; i++ {
		z.Data[i*z.Inc] = x.Data[i*x.Inc] / y.Data[i*y.Inc]
	}
}

// VecDenseAddScaledVec is the method AddScaledVec of mat.VecDense. That has other branches for some alpha, whose values
// are the same but which have no derivative with respect to alpha.
func VecDenseAddScaledVec(v *mat.VecDense, a mat.Vector, alpha float64, b mat.Vector) {
	if alpha == 1 || alpha == -1 {
		pair(v, a, b)
	} else {
		if a.Len() != b.Len() {
			panic(mat.ErrShape)
		}
		if isStored(a) && !isVec(v, a) {
			CheckOverlapVec(v.RawVector(), vector(a))
		}
		if isStored(b) && !isVec(v, b) {
			CheckOverlapVec(v.RawVector(), vector(b))
		}
		receiveVec(v, a.Len())
	}
	x, y, z := vector(a), vector(b), v.RawVector()
	if alpha == 0 {
		for i := 0; i < z.N; i++ {
			p := alpha * y.Data[i*y.Inc]
			if p != p { // the element is not finite
				p = 0
			}
			z.Data[i*z.Inc] = x.Data[i*x.Inc] + p
		}
		return
	}
	for i := 0; i < z.N; i++ {
		z.Data[i*z.Inc] = x.Data[i*x.Inc] + alpha*y.Data[i*y.Inc]
	}
}

// VecDenseMulVec is the method MulVec of mat.VecDense.
func VecDenseMulVec(v *mat.VecDense, a mat.Matrix, b mat.Vector) {
	r, c := a.Dims()
	br, bc := b.Dims()
	if c != br || bc != 1 {
		panic(mat.ErrShape)
	}
	if isStored(b) && !isVec(v, b) {
		CheckOverlapVec(v.RawVector(), vector(b))
	}
	receiveVec(v, r)
	direct := !isVec(v, a) && !isVecTransposed(v, a) && !isVec(v, b)
	if direct {
		switch a := a.(type) {
		case *mat.VecDense:
			checkFactor(v, a, b)
		case TransposedVec:
			checkFactor(v, a.Of, b)
		case *mat.Dense, Transposed, *mat.SymDense, *mat.TriDense, TransposedTri:
			CheckOverlap(raw(a), column(v.RawVector()))
		}
	}
	x, t := operand(a)
	z := v.RawVector()
	if !direct {
		z = blas64.Vector{N: r, Inc: 1, Data: make([]float64, r)}
	}
	ProductVec(t, x, vector(b), z)
	if !direct {
		blas64.Copy(z, v.RawVector())
	}
}

// checkFactor panics if the vector a overlaps v, which is set to the product of a and b. A number b scales a, and the
// vectors are tested as such.
func checkFactor(v, a *mat.VecDense, b mat.Vector) {
	if b.Len() == 1 {
		CheckOverlapVec(v.RawVector(), a.RawVector())
		return
	}
	CheckOverlap(column(a.RawVector()), column(v.RawVector()))
}

// Functions of package mat whose source is not followed.

// Dot is mat.Dot.
func Dot(a, b mat.Vector) float64 {
	n := a.Len()
	if n != b.Len() {
		panic(mat.ErrShape)
	}
	if n == 0 {
		panic(mat.ErrZeroLength)
	}
	switch a := a.(type) {
	case *mat.VecDense:
		switch b := b.(type) {
		case *mat.VecDense:
			return blas64.Dot(a.RawVector(), b.RawVector())
		}
	}
	var sum float64
	for i := 0; i < n; i++ {
		sum += a.At(i, 0) * b.At(i, 0)
	}
	return sum
}

// Inner is mat.Inner.
func Inner(x mat.Vector, a mat.Matrix, y mat.Vector) float64 {
	r, c := a.Dims()
	if x.Len() != r || y.Len() != c {
		panic(mat.ErrShape)
	}
	if r == 0 || c == 0 {
		return 0
	}
	g, t := operand(a)
	z := blas64.Vector{N: r, Inc: 1, Data: make([]float64, r)}
	ProductVec(t, g, vector(y), z)
	return blas64.Dot(vector(x), z)
}

// Col is mat.Col.
func Col(dst []float64, j int, a mat.Matrix) []float64 {
	r, c := a.Dims()
	if j < 0 || j >= c {
		panic(mat.ErrColAccess)
	}
	if dst == nil {
		dst = make([]float64, r)
	} else if len(dst) != r {
		panic(mat.ErrColLength)
	}
	for i := 0; i < r; i++ {
		dst[i] = a.At(i, j)
	}
	return dst
}

// Row is mat.Row.
func Row(dst []float64, i int, a mat.Matrix) []float64 {
	r, c := a.Dims()
	if i < 0 || i >= r {
		panic(mat.ErrColAccess)
	}
	if dst == nil {
		dst = make([]float64, c)
	} else if len(dst) != c {
		panic(mat.ErrRowLength)
	}
	for j := 0; j < c; j++ {
		dst[j] = a.At(i, j)
	}
	return dst
}

// sized panics if a has no elements.
func sized(a mat.Matrix) {
	if r, c := a.Dims(); r == 0 || c == 0 {
		panic(mat.ErrZeroLength)
	}
}

// Sum is mat.Sum.
func Sum(a mat.Matrix) float64 {
	sized(a)
	x, _ := operand(a)
	var sum float64
	for i := 0; i < x.Rows; i++ {
		for j := 0; j < x.Cols; j++ {
			sum += x.Data[i*x.Stride+j]
		}
	}
	return sum
}

// Trace is mat.Trace.
func Trace(a mat.Matrix) float64 {
	sized(a)
	r, c := a.Dims()
	if r != c {
		panic(mat.ErrSquare)
	}
	var sum float64
	for i := 0; i < r; i++ {
		sum += a.At(i, i)
	}
	return sum
}
