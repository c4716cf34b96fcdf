package matad

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// The derivative of the exponential of A in the direction E is the upper right block of the exponential of
// [A E; 0 A], and its adjoint is the derivative at Aᵀ: Higham, "Functions of Matrices" (2008), theorem 3.6 and section
// 10.6. Derivatives of any order are of this form, and have the accuracy of the exponential.

// DenseExp is the method Exp of mat.Dense.
func DenseExp(m *mat.Dense, a mat.Matrix) {
	r, c := a.Dims()
	if r != c {
		panic(mat.ErrShape)
	}
	receive(m, r, r)
	if r == 1 {
		m.Set(0, 0, math.Exp(a.At(0, 0)))
		return
	}
	DenseCopy(m, a)
	y, z := newGeneral(r, r), newGeneral(r, r)
	copyElements(y, m.RawMatrix(), blas.NoTrans)
	Exponential(y, z)
	restore(m, z)
}

// Exponential sets C = exp(A), in other memory.
//
//nabla:rule tangent=ExponentialTangent pullback=ExponentialPullback writes=c
func Exponential(a, c blas64.General) {
	var x, m mat.Dense
	x.SetRawMatrix(a)
	m.SetRawMatrix(c)
	m.Exp(&x)
}

// ExponentialTangent sets C and Ċ.
func ExponentialTangent(a, c, aDot, cDot blas64.General) {
	if cDot.Data == nil || aDot.Data == nil {
		Exponential(a, c)
		if cDot.Data != nil {
			clearAll(shadow(cDot, c))
		}
		return
	}
	n := a.Rows
	e, f := along(a, shadow(aDot, a), blas.NoTrans)
	d := shadow(cDot, c)
	for i := 0; i < n; i++ {
		for j := 0; j < n; j++ {
			c.Data[i*c.Stride+j] = e.Data[i*e.Stride+j]
			d.Data[i*d.Stride+j] = f * e.Data[i*e.Stride+n+j]
		}
	}
}

// ExponentialPullback adds the derivative of exp(Aᵀ) in the direction C̄ to Ā, and sets C̄ = 0.
func ExponentialPullback(a, c, aBar, cBar blas64.General) {
	if cBar.Data == nil {
		return
	}
	n := a.Rows
	d := shadow(cBar, c)
	if aBar.Data != nil {
		e, f := along(a, d, blas.Trans)
		b := shadow(aBar, a)
		for i := 0; i < n; i++ {
			for j := 0; j < n; j++ {
				b.Data[i*b.Stride+j] += f * e.Data[i*e.Stride+n+j]
			}
		}
	}
	clearAll(d)
}

// along returns the exponential of [B E/f; 0 B] with B = op(A), and f: its upper right block times f is the derivative
// of exp(B) in the direction E, whatever f is.
func along(a, e blas64.General, t blas.Transpose) (x blas64.General, f float64) {
	n := a.Rows
	f = Magnitude(e)
	ar, ac := steps(a, t)
	b := newGeneral(2*n, 2*n)
	for i := 0; i < n; i++ {
		for j := 0; j < n; j++ {
			v := a.Data[i*ar+j*ac]
			b.Data[i*b.Stride+j] = v
			b.Data[(n+i)*b.Stride+n+j] = v
			b.Data[i*b.Stride+n+j] = e.Data[i*e.Stride+j] / f
		}
	}
	x = newGeneral(2*n, 2*n)
	Exponential(b, x)
	return x, f
}

// Magnitude returns a power of two that is at most the largest element of a in absolute value, and more than half of
// it; 1 if there is none.
//
//nabla:passive
func Magnitude(a blas64.General) float64 {
	var most float64
	for i := 0; i < a.Rows; i++ {
		for _, v := range a.Data[i*a.Stride : i*a.Stride+a.Cols] {
			most = max(most, math.Abs(v))
		}
	}
	if !(most > 0x1p-1000 && most < 0x1p1000) {
		return 1
	}
	_, k := math.Frexp(most)
	return math.Ldexp(1, k-1)
}
