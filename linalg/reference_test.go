package linalg_test

import (
	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/linalg"
)

// The reference of the tests: the same operations by loops over scalars, whose derivatives are those of elementary
// operations.

type real = nabla.Real

func plainMul(a, b *linalg.Matrix) *linalg.Matrix {
	out := linalg.New(a.Rows, b.Cols)
	for i := range a.Rows {
		for j := range b.Cols {
			sum := nabla.Const(0)
			for k := range a.Cols {
				sum = sum.Add(a.At(i, k).Mul(b.At(k, j)))
			}
			out.Set(i, j, sum)
		}
	}
	return out
}

// plainCholesky returns the factor of the lower triangle of a.
func plainCholesky(a *linalg.Matrix) *linalg.Matrix {
	n := a.Rows
	l := linalg.New(n, n)
	for i := range n {
		for j := range i + 1 {
			sum := a.At(i, j)
			for k := range j {
				sum = sum.Sub(l.At(i, k).Mul(l.At(j, k)))
			}
			if i == j {
				l.Set(i, i, nabla.Sqrt(sum))
			} else {
				l.Set(i, j, sum.Div(l.At(j, j)))
			}
		}
	}
	return l
}

// plainLower solves L·X = B.
func plainLower(l, b *linalg.Matrix) *linalg.Matrix {
	x := b.Clone()
	for c := range b.Cols {
		for i := range l.Rows {
			sum := x.At(i, c)
			for k := range i {
				sum = sum.Sub(l.At(i, k).Mul(x.At(k, c)))
			}
			x.Set(i, c, sum.Div(l.At(i, i)))
		}
	}
	return x
}

// plainUpper solves U·X = B.
func plainUpper(u, b *linalg.Matrix) *linalg.Matrix {
	x := b.Clone()
	for c := range b.Cols {
		for i := u.Rows - 1; i >= 0; i-- {
			sum := x.At(i, c)
			for k := i + 1; k < u.Rows; k++ {
				sum = sum.Sub(u.At(i, k).Mul(x.At(k, c)))
			}
			x.Set(i, c, sum.Div(u.At(i, i)))
		}
	}
	return x
}

// plainLU returns L, U and det A without pivoting.
func plainLU(a *linalg.Matrix) (l, u *linalg.Matrix, det real) {
	n := a.Rows
	l, u, det = linalg.Identity(n), a.Clone(), nabla.Const(1)
	for k := range n {
		det = det.Mul(u.At(k, k))
		for i := k + 1; i < n; i++ {
			f := u.At(i, k).Div(u.At(k, k))
			l.Set(i, k, f)
			for j := k; j < n; j++ {
				u.Set(i, j, u.At(i, j).Sub(f.Mul(u.At(k, j))))
			}
		}
	}
	return l, u, det
}

func plainSolve(a, b *linalg.Matrix) *linalg.Matrix {
	l, u, _ := plainLU(a)
	return plainUpper(u, plainLower(l, b))
}

// symmetric returns the symmetric matrix of the lower triangle of a.
func symmetric(a *linalg.Matrix) *linalg.Matrix {
	s := a.Clone()
	for i := range a.Rows {
		for j := range i {
			s.Set(j, i, a.At(i, j))
		}
	}
	return s
}

// plainLeastSquares solves the normal equations.
func plainLeastSquares(a, b *linalg.Matrix) *linalg.Matrix {
	return plainSolve(plainMul(a.T(), a), plainMul(a.T(), b))
}

// plainLeastNorm returns Aᵀ·(A·Aᵀ)⁻¹·B.
func plainLeastNorm(a, b *linalg.Matrix) *linalg.Matrix {
	return plainMul(a.T(), plainSolve(plainMul(a, a.T()), b))
}

// plainQR returns Q and R by the method of Gram and Schmidt.
func plainQR(a *linalg.Matrix) (q, r *linalg.Matrix) {
	q, r = a.Clone(), linalg.New(a.Cols, a.Cols)
	for j := range a.Cols {
		for k := range j {
			r.Set(k, j, nabla.Dot(q.Col(k), q.Col(j)))
			for i := range a.Rows {
				q.Set(i, j, q.At(i, j).Sub(r.At(k, j).Mul(q.At(i, k))))
			}
		}
		norm := nabla.Sqrt(nabla.Dot(q.Col(j), q.Col(j)))
		r.Set(j, j, norm)
		for i := range a.Rows {
			q.Set(i, j, q.At(i, j).Div(norm))
		}
	}
	return q, r
}
