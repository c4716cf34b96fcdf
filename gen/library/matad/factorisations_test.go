package matad

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/internal/longtest"
)

// A random makes random matrices. Two that are made from the same seed make the same ones.
type random struct{ *rand.Rand }

// size is a number of rows: small, so that sizes agree often.
func (r random) size() int { return 1 + r.IntN(3) }

// dense returns a matrix, which may be a view, or singular.
func (r random) dense(rows, cols int) *mat.Dense {
	m := mat.NewDense(rows+r.IntN(2), cols+r.IntN(2), nil)
	d := m.RawMatrix().Data
	for i := range d {
		d[i] = float64(r.IntN(9)-4) / 2
	}
	return m.Slice(0, rows, 0, cols).(*mat.Dense)
}

// vec returns a vector, which may be a column of a matrix.
func (r random) vec(n int) *mat.VecDense {
	if r.IntN(2) == 0 {
		return r.dense(n, 2).ColView(1).(*mat.VecDense)
	}
	v := mat.NewVecDense(n, nil)
	for i := range n {
		v.SetVec(i, r.NormFloat64())
	}
	return v
}

// sym returns a symmetric matrix, often a positive definite one, which may be a view.
func (r random) sym(n int) *mat.SymDense {
	s := mat.NewSymDense(n+1, nil)
	for i := range n + 1 {
		for j := range i {
			s.SetSym(i, j, r.NormFloat64())
		}
		s.SetSym(i, i, float64(5*n)*r.Float64()-1)
	}
	if r.IntN(2) == 0 {
		return s.SliceSym(1, n+1).(*mat.SymDense)
	}
	return s.SliceSym(0, n).(*mat.SymDense)
}

// tri returns a triangular matrix, which may be singular.
func (r random) tri(n int) *mat.TriDense {
	t := mat.NewTriDense(n, mat.TriKind(r.IntN(2) == 0), nil)
	d := t.RawTriangular().Data
	for i := range d {
		d[i] = float64(r.IntN(7) - 3)
	}
	return t
}

// The receivers of results: empty, of a size that fits or of another one.
func (r random) denseTo(rows, cols int) *mat.Dense {
	switch r.IntN(4) {
	case 0:
		return r.dense(rows, cols)
	case 1:
		return r.dense(r.size(), r.size())
	}
	return new(mat.Dense)
}

func (r random) vecTo(n int) *mat.VecDense {
	switch r.IntN(4) {
	case 0:
		return r.vec(n)
	case 1:
		return r.vec(r.size())
	}
	return new(mat.VecDense)
}

func (r random) symTo(n int) *mat.SymDense {
	switch r.IntN(4) {
	case 0:
		return r.sym(n)
	case 1:
		return r.sym(r.size())
	}
	return new(mat.SymDense)
}

func (r random) triTo(n int) *mat.TriDense {
	switch r.IntN(4) {
	case 0:
		return r.tri(n)
	case 1:
		return r.tri(r.size())
	}
	return new(mat.TriDense)
}

// other is n or another size.
func (r random) other(n int) int {
	if r.IntN(8) == 0 {
		return r.size()
	}
	return n
}

// operand returns an r×c matrix of any type that has one of this size.
func (r random) operand(rows, cols int) mat.Matrix {
	k := r.IntN(5)
	switch {
	case k == 0 && rows == cols:
		return r.sym(rows)
	case k == 1 && rows == cols:
		return r.tri(rows)
	case k == 2 && cols == 1:
		return r.vec(rows)
	case k == 3 && rows == cols:
		return mat.NewDiagDense(rows, r.dense(1, rows+1).RawMatrix().Data[:rows])
	}
	return r.dense(rows, cols)
}

// cholesky returns a factorisation, which may have failed or be empty.
func (r random) cholesky(n int) *mat.Cholesky {
	c := new(mat.Cholesky)
	if k := r.IntN(10); k > 0 {
		c.Factorize(r.sym(n))
	}
	if r.IntN(3) == 0 {
		c.Factorize(r.sym(n))
	}
	return c
}

func (r random) lu(n int) *mat.LU {
	f := new(mat.LU)
	if k := r.IntN(10); k > 0 {
		f.Factorize(r.operand(n, n))
	}
	return f
}

// A comparison has a function of matad and the original, which return everything that they compute. They are given
// random numbers of the same seed.
type comparison struct{ matad, original func(r random) []any }

func list(v ...any) []any { return v }

// both makes a comparison of one function that calls either.
func both[F any](matad, original F, call func(f F, r random) []any) comparison {
	return comparison{func(r random) []any { return call(matad, r) }, func(r random) []any { return call(original, r) }}
}

var comparisons = map[string]comparison{
	"Cholesky.Factorize": both(CholeskyFactorize, (*mat.Cholesky).Factorize,
		func(f func(*mat.Cholesky, mat.Symmetric) bool, r random) []any {
			c := r.cholesky(r.size())
			return list(f(c, r.sym(r.size())), c)
		}),
	"Cholesky.At": both(CholeskyAt, (*mat.Cholesky).At,
		func(f func(*mat.Cholesky, int, int) float64, r random) []any {
			return list(f(r.cholesky(2), r.IntN(4)-1, r.IntN(3)))
		}),
	"Cholesky.LogDet": both(CholeskyLogDet, (*mat.Cholesky).LogDet,
		func(f func(*mat.Cholesky) float64, r random) []any {
			return list(f(r.cholesky(r.size())))
		}),
	"Cholesky.SolveTo": both(CholeskySolveTo, (*mat.Cholesky).SolveTo,
		func(f func(*mat.Cholesky, *mat.Dense, mat.Matrix) error, r random) []any {
			n, k := r.size(), r.size()
			c, z := r.cholesky(n), r.denseTo(n, k)
			if r.IntN(3) == 0 {
				return list(f(c, z, z), z)
			}
			return list(f(c, z, r.operand(r.other(n), k)), z)
		}),
	"Cholesky.SolveVecTo": both(CholeskySolveVecTo, (*mat.Cholesky).SolveVecTo,
		func(f func(*mat.Cholesky, *mat.VecDense, mat.Vector) error, r random) []any {
			n := r.size()
			c, z := r.cholesky(n), r.vecTo(n)
			if r.IntN(3) == 0 && !z.IsEmpty() {
				return list(f(c, z, z), z)
			}
			return list(f(c, z, r.vec(r.other(n))), z)
		}),
	"Cholesky.SolveCholTo": both(CholeskySolveCholTo, (*mat.Cholesky).SolveCholTo,
		func(f func(*mat.Cholesky, *mat.Dense, *mat.Cholesky) error, r random) []any {
			n := r.size()
			z := r.denseTo(n, n)
			return list(f(r.cholesky(n), z, r.cholesky(r.other(n))), z)
		}),
	"Cholesky.InverseTo": both(CholeskyInverseTo, (*mat.Cholesky).InverseTo,
		func(f func(*mat.Cholesky, *mat.SymDense) error, r random) []any {
			n := r.size()
			z := r.symTo(n)
			return list(f(r.cholesky(n), z), z)
		}),
	"Cholesky.ToSym": both(CholeskyToSym, (*mat.Cholesky).ToSym,
		func(f func(*mat.Cholesky, *mat.SymDense), r random) []any {
			n := r.size()
			z := r.symTo(n)
			f(r.cholesky(n), z)
			return list(z)
		}),
	"Cholesky.UTo": both(CholeskyUTo, (*mat.Cholesky).UTo, factorTo),
	"Cholesky.LTo": both(CholeskyLTo, (*mat.Cholesky).LTo, factorTo),
	"Cholesky.SetFromU": both(CholeskySetFromU, (*mat.Cholesky).SetFromU,
		func(f func(*mat.Cholesky, mat.Triangular), r random) []any {
			c, t := r.cholesky(r.size()), r.tri(r.size())
			if r.IntN(4) == 0 {
				c.Reset()
			}
			f(c, t)
			return list(c)
		}),
	"Cholesky.Scale": both(CholeskyScale, (*mat.Cholesky).Scale,
		func(f func(*mat.Cholesky, float64, *mat.Cholesky), r random) []any {
			n := r.size()
			c := new(mat.Cholesky)
			if r.IntN(2) == 0 {
				c = r.cholesky(r.other(n))
			}
			f(c, float64(r.IntN(5)), r.cholesky(n))
			return list(c)
		}),
	"Cholesky.SymRankOne": both(CholeskySymRankOne, (*mat.Cholesky).SymRankOne,
		func(f func(*mat.Cholesky, *mat.Cholesky, float64, mat.Vector) bool, r random) []any {
			n := r.size()
			orig := r.cholesky(n)
			c := orig
			if r.IntN(2) == 0 {
				c = new(mat.Cholesky)
			}
			return list(f(c, orig, r.NormFloat64(), r.vec(r.other(n))), c, orig)
		}),
	"Cholesky.ExtendVecSym": both(CholeskyExtendVecSym, (*mat.Cholesky).ExtendVecSym,
		func(f func(*mat.Cholesky, *mat.Cholesky, mat.Vector) bool, r random) []any {
			n := r.size()
			a, v := r.cholesky(n), r.vec(r.other(n+1))
			v.SetVec(v.Len()-1, 9)
			c := new(mat.Cholesky)
			return list(f(c, a, v), c, a)
		}),
	"LU.Factorize": both(LUFactorize, (*mat.LU).Factorize, func(f func(*mat.LU, mat.Matrix), r random) []any {
		g, n := r.lu(r.size()), r.size()
		f(g, r.operand(n, r.other(n)))
		return list(g)
	}),
	"LU.At": both(LUAt, (*mat.LU).At, func(f func(*mat.LU, int, int) float64, r random) []any {
		return list(f(r.lu(2), r.IntN(4)-1, r.IntN(3)))
	}),
	"LU.Det": both(LUDet, (*mat.LU).Det,
		func(f func(*mat.LU) float64, r random) []any {
			return list(f(r.lu(r.size())))
		}),
	"LU.LogDet": both(LULogDet, (*mat.LU).LogDet, func(f func(*mat.LU) (float64, float64), r random) []any {
		det, sign := f(r.lu(r.size()))
		return list(det, sign)
	}),
	"LU.LTo": both(LULTo, (*mat.LU).LTo, func(f func(*mat.LU, *mat.TriDense) *mat.TriDense, r random) []any {
		n := r.size()
		return list(f(r.lu(n), r.triTo(n)))
	}),
	"LU.UTo": both(LUUTo, (*mat.LU).UTo, func(f func(*mat.LU, *mat.TriDense), r random) []any {
		n := r.size()
		z := r.triTo(n)
		f(r.lu(n), z)
		return list(z)
	}),
	"LU.RankOne": both(LURankOne, (*mat.LU).RankOne,
		func(f func(*mat.LU, *mat.LU, float64, mat.Vector, mat.Vector), r random) []any {
			n := r.size()
			orig := r.lu(n)
			g := orig
			if r.IntN(2) == 0 {
				g = r.lu(r.other(n))
			}
			f(g, orig, r.NormFloat64(), r.vec(r.other(n)), r.vec(r.other(n)))
			return list(g)
		}),
	"LU.SolveTo": both(LUSolveTo, (*mat.LU).SolveTo,
		func(f func(*mat.LU, *mat.Dense, bool, mat.Matrix) error, r random) []any {
			n, k := r.size(), r.size()
			g, z := r.lu(n), r.denseTo(n, k)
			if r.IntN(3) == 0 {
				return list(f(g, z, r.IntN(2) == 0, z), z)
			}
			return list(f(g, z, r.IntN(2) == 0, r.operand(r.other(n), k)), z)
		}),
	"LU.SolveVecTo": both(LUSolveVecTo, (*mat.LU).SolveVecTo,
		func(f func(*mat.LU, *mat.VecDense, bool, mat.Vector) error, r random) []any {
			n := r.size()
			g, z := r.lu(n), r.vecTo(n)
			if r.IntN(3) == 0 && !z.IsEmpty() {
				return list(f(g, z, r.IntN(2) == 0, z), z)
			}
			return list(f(g, z, r.IntN(2) == 0, r.vec(r.other(n))), z)
		}),
	"Det": both(Det, mat.Det, func(f func(mat.Matrix) float64, r random) []any {
		n := r.size()
		return list(f(r.operand(n, r.other(n))))
	}),
	"LogDet": both(LogDet, mat.LogDet, func(f func(mat.Matrix) (float64, float64), r random) []any {
		n := r.size()
		det, sign := f(r.operand(n, r.other(n)))
		return list(det, sign)
	}),
	"Dense.Inverse": both(DenseInverse, (*mat.Dense).Inverse,
		func(f func(*mat.Dense, mat.Matrix) error, r random) []any {
			n := r.size()
			z := r.denseTo(n, n)
			var err error
			switch k := r.IntN(6); {
			case k < 2 && !z.IsEmpty():
				err = f(z, z)
			case k == 2:
				both := r.dense(n+1, n+1)
				z = both.Slice(0, n, 0, n).(*mat.Dense)
				err = f(z, both.Slice(r.IntN(2), n+1, 1, n+1))
			default:
				err = f(z, r.operand(n, r.other(n)))
			}
			if c, ok := err.(mat.Condition); ok && math.IsInf(float64(c), 1) {
				return list(err) // the original leaves what it had
			}
			return list(err, z)
		}),
	"Dense.Solve": both(DenseSolve, (*mat.Dense).Solve,
		func(f func(*mat.Dense, mat.Matrix, mat.Matrix) error, r random) []any {
			n, k := r.size(), r.size()
			z := r.denseTo(n, k)
			a := r.operand(n, n)
			switch r.IntN(4) {
			case 0:
				return list(f(z, a, a), z)
			case 1:
				return list(f(z, a, z), z)
			}
			err := f(z, a, r.operand(r.other(n), k))
			if _, ok := a.(*mat.TriDense); ok && err != nil {
				return list(err)
			}
			return list(err, z)
		}),
	"VecDense.SolveVec": both(VecDenseSolveVec, (*mat.VecDense).SolveVec,
		func(f func(*mat.VecDense, mat.Matrix, mat.Vector) error, r random) []any {
			n := r.size()
			z := r.vecTo(n)
			a := r.operand(n, n)
			if r.IntN(3) == 0 && !z.IsEmpty() {
				return list(f(z, a, z), z)
			}
			return list(f(z, a, r.vec(r.other(n))), z)
		}),
	"TriDense.SolveTo": both(TriDenseSolveTo, (*mat.TriDense).SolveTo,
		func(f func(*mat.TriDense, *mat.Dense, bool, mat.Matrix) error, r random) []any {
			n, k := r.size(), r.size()
			z := r.denseTo(n, k)
			return list(f(r.tri(n), z, r.IntN(2) == 0, r.operand(r.other(n), k)), z)
		}),
	"TriDense.InverseTri": both(TriDenseInverseTri, (*mat.TriDense).InverseTri,
		func(f func(*mat.TriDense, mat.Triangular) error, r random) []any {
			n := r.size()
			z := r.triTo(n)
			if err := f(z, r.tri(n)); err != nil {
				return list(err)
			}
			return list(z)
		}),
	"TriDense.Copy": both(TriDenseCopy, (*mat.TriDense).Copy,
		func(f func(*mat.TriDense, mat.Matrix) (int, int), r random) []any {
			z := r.triTo(2)
			rows, cols := f(z, r.operand(r.size(), r.size()))
			return list(rows, cols, z)
		}),
	"TriDense.ScaleTri": both(TriDenseScaleTri, (*mat.TriDense).ScaleTri,
		func(f func(*mat.TriDense, float64, mat.Triangular), r random) []any {
			n := r.size()
			z := r.triTo(n)
			if r.IntN(3) == 0 && !z.IsEmpty() {
				f(z, 3, z)
			} else {
				f(z, 2, r.tri(n))
			}
			return list(z)
		}),
	"TriDense.MulTri": both(TriDenseMulTri, (*mat.TriDense).MulTri,
		func(f func(*mat.TriDense, mat.Triangular, mat.Triangular), r random) []any {
			n := r.size()
			z, a, b := r.triTo(n), r.tri(n), r.tri(r.other(n))
			if r.IntN(3) == 0 && !z.IsEmpty() {
				a = z
			}
			f(z, a, b)
			return list(z)
		}),
	"TriDense.Norm": both(TriDenseNorm, (*mat.TriDense).Norm,
		func(f func(*mat.TriDense, float64) float64, r random) []any {
			return list(f(r.triTo(2), r.order()))
		}),
	"SymDense.Norm": both(SymDenseNorm, (*mat.SymDense).Norm,
		func(f func(*mat.SymDense, float64) float64, r random) []any {
			return list(f(r.symTo(2), r.order()))
		}),
	"DiagDense.Norm": both(DiagDenseNorm, (*mat.DiagDense).Norm,
		func(f func(*mat.DiagDense, float64) float64, r random) []any {
			return list(f(mat.NewDiagDense(2, []float64{r.NormFloat64(), r.NormFloat64()}), r.order()))
		}),
	"DiagDense.DiagFrom": both(DiagDenseDiagFrom, (*mat.DiagDense).DiagFrom,
		func(f func(*mat.DiagDense, mat.Matrix), r random) []any {
			d := new(mat.DiagDense)
			if r.IntN(2) == 0 {
				d = mat.NewDiagDense(2, nil)
			}
			f(d, r.operand(r.size(), r.size()+1))
			return list(d)
		}),
	"SymDense.AddSym": both(SymDenseAddSym, (*mat.SymDense).AddSym,
		func(f func(*mat.SymDense, mat.Symmetric, mat.Symmetric), r random) []any {
			n := r.size()
			z := r.symTo(n)
			a, b := r.symmetric(z, n), r.symmetric(z, r.other(n))
			f(z, a, b)
			return list(z)
		}),
	"SymDense.CopySym": both(SymDenseCopySym, (*mat.SymDense).CopySym,
		func(f func(*mat.SymDense, mat.Symmetric) int, r random) []any {
			z := r.symTo(2)
			return list(f(z, r.symmetric(z, r.size())), z)
		}),
	"SymDense.ScaleSym": both(SymDenseScaleSym, (*mat.SymDense).ScaleSym,
		func(f func(*mat.SymDense, float64, mat.Symmetric), r random) []any {
			n := r.size()
			z := r.symTo(n)
			f(z, 1.5, r.symmetric(z, n))
			return list(z)
		}),
	"SymDense.SubsetSym": both(SymDenseSubsetSym, (*mat.SymDense).SubsetSym,
		func(f func(*mat.SymDense, mat.Symmetric, []int), r random) []any {
			z := r.symTo(3)
			f(z, r.symmetric(z, 3), []int{r.IntN(3), r.IntN(3), 0})
			return list(z)
		}),
	"SymDense.SymRankOne": both(SymDenseSymRankOne, (*mat.SymDense).SymRankOne,
		func(f func(*mat.SymDense, mat.Symmetric, float64, mat.Vector), r random) []any {
			n := r.size()
			z := r.symTo(n)
			f(z, r.symmetric(z, n), r.NormFloat64(), r.vec(r.other(n)))
			return list(z)
		}),
	"SymDense.RankTwo": both(SymDenseRankTwo, (*mat.SymDense).RankTwo,
		func(f func(*mat.SymDense, mat.Symmetric, float64, mat.Vector, mat.Vector), r random) []any {
			n := r.size()
			z := r.symTo(n)
			f(z, r.symmetric(z, n), r.NormFloat64(), r.vec(r.other(n)), r.vec(n))
			return list(z)
		}),
	"SymDense.SymRankK": both(SymDenseSymRankK, (*mat.SymDense).SymRankK,
		func(f func(*mat.SymDense, mat.Symmetric, float64, mat.Matrix), r random) []any {
			n := r.size()
			z := r.symTo(n)
			f(z, r.symmetric(z, n), r.NormFloat64(), r.operand(r.other(n), r.size()))
			return list(z)
		}),
	"SymDense.SymOuterK": both(SymDenseSymOuterK, (*mat.SymDense).SymOuterK,
		func(f func(*mat.SymDense, float64, mat.Matrix), r random) []any {
			n := r.size()
			z := r.symTo(n)
			if r.IntN(4) == 0 && !z.IsEmpty() {
				f(z, 2, z)
			} else {
				f(z, r.NormFloat64(), r.operand(n, r.size()))
			}
			return list(z)
		}),
}

// order is one of the norms, or none.
func (r random) order() float64 { return []float64{1, 2, math.Inf(1), 3}[r.IntN(4)] }

// symmetric returns a symmetric matrix of any type, which may be z.
func (r random) symmetric(z *mat.SymDense, n int) mat.Symmetric {
	switch r.IntN(5) {
	case 0:
		if !z.IsEmpty() {
			return z
		}
	case 1:
		return mat.NewDiagDense(n, r.dense(1, n+1).RawMatrix().Data[:n])
	}
	return r.sym(n)
}

func factorTo(f func(*mat.Cholesky, *mat.TriDense), r random) []any {
	n := r.size()
	z := r.triTo(n)
	f(r.cholesky(n), z)
	return list(z)
}

// numbers returns the visible contents of v as numbers.
func numbers(v any) (out []float64) {
	out = []float64{}
	switch v := v.(type) {
	case float64:
		return []float64{v}
	case mat.Matrix:
		if c, ok := v.(*mat.Cholesky); ok {
			if c.IsEmpty() {
				return out
			}
			out = append(out, c.Cond())
			out = append(out, numbers(c.RawU())...)
		}
		if f, ok := v.(*mat.LU); ok {
			if n, _ := f.Dims(); n == 0 {
				return out
			}
			out = append(out, f.Cond())
		}
		r, c := v.Dims()
		out = append(out, float64(r), float64(c))
		for i := range r {
			for j := range c {
				out = append(out, v.At(i, j))
			}
		}
	default:
		return nil
	}
	return out
}

// TestMethods compares functions with the methods in whose place they are differentiated: results, errors and panics.
func TestMethods(t *testing.T) {
	n := longtest.Cases(0, 100, 100, 8000)
	for name, p := range comparisons {
		t.Run(name, func(t *testing.T) {
			ran := 0
			for seed := range uint64(n) {
				run := func(f func(random) []any) (out []any, failure any) {
					defer func() { failure = recover() }()
					return f(random{rand.New(rand.NewPCG(seed, 7))}), nil
				}
				got, failed := run(p.matad)
				want, fails := run(p.original)
				if fmt.Sprint(failed) != fmt.Sprint(fails) {
					t.Fatalf("seed %d: panics with %v, the original with %v", seed, failed, fails)
				}
				if fails == nil {
					ran++
				}
				for i := range want {
					a, b := numbers(got[i]), numbers(want[i])
					if a == nil && fmt.Sprint(got[i]) != fmt.Sprint(want[i]) || len(a) != len(b) {
						t.Fatalf("seed %d: result %d is %v, want %v", seed, i, got[i], want[i])
					}
					for j := range b {
						if a[j] != b[j] && !(math.Abs(a[j]-b[j]) <= 1e-9*(1+math.Abs(b[j]))) &&
							!(math.IsNaN(a[j]) && math.IsNaN(b[j])) {
							t.Fatalf("seed %d: result %d is %v, want %v", seed, i, a, b)
						}
					}
				}
			}
			if ran < n/10 {
				t.Errorf("only %d of %d calls return", ran, n)
			}
		})
	}
}
