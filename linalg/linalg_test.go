package linalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/linalg"
)

func TestMain(m *testing.M) { longtest.Main(m) }

// An operation is one of the package with its reference. Both read as many matrices as shapes returns.
type operation struct {
	name      string
	shapes    func(n, m int) [][2]int
	of, plain func(a []*linalg.Matrix) []real
}

func square(n, _ int) [][2]int  { return [][2]int{{n, n}} }
func withRHS(n, m int) [][2]int { return [][2]int{{n, n}, {n, m}} }
func data(m *linalg.Matrix) []real {
	return m.Data
}

var operations = []operation{
	{"MatMul", func(n, m int) [][2]int { return [][2]int{{n, m}, {m, 2}} },
		func(a []*linalg.Matrix) []real { return data(linalg.MatMul(a[0], a[1])) },
		func(a []*linalg.Matrix) []real { return data(plainMul(a[0], a[1])) }},
	{"MatMul of one matrix", square,
		func(a []*linalg.Matrix) []real { return data(linalg.MatMul(a[0], linalg.MatMul(a[0].T(), a[0]))) },
		func(a []*linalg.Matrix) []real { return data(plainMul(a[0], plainMul(a[0].T(), a[0]))) }},
	{"MatVec", func(n, m int) [][2]int { return [][2]int{{n, m}, {m, 1}} },
		func(a []*linalg.Matrix) []real { return linalg.MatVec(a[0], a[1].Data) },
		func(a []*linalg.Matrix) []real { return data(plainMul(a[0], a[1])) }},
	{"row times matrix", func(n, m int) [][2]int { return [][2]int{{1, n}, {n, m}} },
		func(a []*linalg.Matrix) []real { return data(linalg.MatMul(a[0], a[1])) },
		func(a []*linalg.Matrix) []real { return data(plainMul(a[0], a[1])) }},
	{"row times column", func(n, _ int) [][2]int { return [][2]int{{n, 1}, {n, 1}} },
		func(a []*linalg.Matrix) []real { return data(linalg.MatMul(a[0].T(), a[1])) },
		func(a []*linalg.Matrix) []real { return data(plainMul(a[0].T(), a[1])) }},
	{"SolveLower", withRHS,
		func(a []*linalg.Matrix) []real { return data(linalg.SolveLower(a[0], a[1])) },
		func(a []*linalg.Matrix) []real { return data(plainLower(a[0], a[1])) }},
	{"SolveUpper", withRHS,
		func(a []*linalg.Matrix) []real { return data(linalg.SolveUpper(a[0], a[1])) },
		func(a []*linalg.Matrix) []real { return data(plainUpper(a[0], a[1])) }},
	{"SolveUpperVec of a transpose", func(n, _ int) [][2]int { return [][2]int{{n, n}, {n, 1}} },
		func(a []*linalg.Matrix) []real {
			return linalg.SolveUpperVec(a[0].T(), linalg.SolveLowerVec(a[0], a[1].Data))
		},
		func(a []*linalg.Matrix) []real { return data(plainUpper(a[0].T(), plainLower(a[0], a[1]))) }},
	{"Cholesky.Lower", square,
		func(a []*linalg.Matrix) []real { return data(linalg.NewCholesky(a[0]).Lower()) },
		func(a []*linalg.Matrix) []real { return data(plainCholesky(a[0])) }},
	{"Cholesky.Solve", withRHS,
		func(a []*linalg.Matrix) []real { return data(linalg.NewCholesky(a[0]).Solve(a[1])) },
		func(a []*linalg.Matrix) []real { return data(plainSolve(symmetric(a[0]), a[1])) }},
	{"Cholesky.SolveVec", func(n, _ int) [][2]int { return [][2]int{{n, n}, {n, 1}} },
		func(a []*linalg.Matrix) []real { return linalg.NewCholesky(a[0]).SolveVec(a[1].Data) },
		func(a []*linalg.Matrix) []real { return data(plainSolve(symmetric(a[0]), a[1])) }},
	{"Cholesky.LogDet", square,
		func(a []*linalg.Matrix) []real { return []real{linalg.NewCholesky(a[0]).LogDet()} },
		func(a []*linalg.Matrix) []real {
			_, _, det := plainLU(symmetric(a[0]))
			return []real{nabla.Log(det)}
		}},
	{"Cholesky.Inverse", square,
		func(a []*linalg.Matrix) []real { return data(linalg.NewCholesky(a[0]).Inverse()) },
		func(a []*linalg.Matrix) []real { return data(plainSolve(symmetric(a[0]), linalg.Identity(a[0].Rows))) }},
	{"Solve", withRHS,
		func(a []*linalg.Matrix) []real { return data(linalg.Solve(a[0], a[1])) },
		func(a []*linalg.Matrix) []real { return data(plainSolve(a[0], a[1])) }},
	{"LU.SolveTrans", withRHS,
		func(a []*linalg.Matrix) []real { return data(linalg.NewLU(a[0]).SolveTrans(a[1])) },
		func(a []*linalg.Matrix) []real { return data(plainSolve(a[0].T(), a[1])) }},
	{"SolveVec", func(n, _ int) [][2]int { return [][2]int{{n, n}, {n, 1}} },
		func(a []*linalg.Matrix) []real { return linalg.SolveVec(a[0], a[1].Data) },
		func(a []*linalg.Matrix) []real { return data(plainSolve(a[0], a[1])) }},
	{"Inverse", square,
		func(a []*linalg.Matrix) []real { return data(linalg.Inverse(a[0])) },
		func(a []*linalg.Matrix) []real { return data(plainSolve(a[0], linalg.Identity(a[0].Rows))) }},
	{"Det", square,
		func(a []*linalg.Matrix) []real { return []real{linalg.Det(a[0])} },
		func(a []*linalg.Matrix) []real {
			_, _, det := plainLU(a[0])
			return []real{det}
		}},
	{"LogDet", square,
		func(a []*linalg.Matrix) []real { log, sign := linalg.LogDet(a[0]); return []real{log, sign} },
		func(a []*linalg.Matrix) []real {
			_, _, det := plainLU(a[0])
			return []real{nabla.Log(det.Abs()), nabla.Copysign(nabla.Const(1), det)}
		}},
	{"Solve with pivots", withRHS,
		func(a []*linalg.Matrix) []real { return data(linalg.Solve(reversed(a[0]), reversed(a[1]))) },
		func(a []*linalg.Matrix) []real { return data(plainSolve(a[0], a[1])) }},
	{"LU.SolveTrans with pivots", withRHS,
		func(a []*linalg.Matrix) []real { return data(reversed(linalg.NewLU(reversed(a[0])).SolveTrans(a[1]))) },
		func(a []*linalg.Matrix) []real { return data(plainSolve(a[0].T(), a[1])) }},
	{"Inverse with pivots", square,
		func(a []*linalg.Matrix) []real { return data(linalg.Inverse(reversed(a[0]))) },
		func(a []*linalg.Matrix) []real {
			return data(plainSolve(a[0], reversed(linalg.Identity(a[0].Rows))))
		}},
	{"Det and LogDet with pivots", square,
		func(a []*linalg.Matrix) []real {
			lu := linalg.NewLU(reversed(linalg.Scale(nabla.Const(-1), a[0])))
			log, sign := lu.LogDet()
			return []real{lu.Det(), log, sign}
		},
		func(a []*linalg.Matrix) []real {
			_, _, det := plainLU(a[0])
			n := a[0].Rows
			if (n*(n-1)/2+n)%2 == 1 { // exchanged rows, and the sign of every row
				det = det.Neg()
			}
			return []real{det, nabla.Log(det.Abs()), nabla.Copysign(nabla.Const(1), det)}
		}},
	{"LeastSquares", func(n, m int) [][2]int { return [][2]int{{n + 2, n}, {n + 2, m}} },
		func(a []*linalg.Matrix) []real { return data(linalg.LeastSquares(conditioned(a[0]), a[1])) },
		func(a []*linalg.Matrix) []real { return data(plainLeastSquares(conditioned(a[0]), a[1])) }},
	{"LeastSquares with the least norm", func(n, m int) [][2]int { return [][2]int{{n, n + 1}, {n, m}} },
		func(a []*linalg.Matrix) []real { return data(linalg.LeastSquares(conditioned(a[0]), a[1])) },
		func(a []*linalg.Matrix) []real { return data(plainLeastNorm(conditioned(a[0]), a[1])) }},
	{"LeastSquaresVec of a square matrix", func(n, _ int) [][2]int { return [][2]int{{n, n}, {n, 1}} },
		func(a []*linalg.Matrix) []real { return linalg.LeastSquaresVec(a[0], a[1].Data) },
		func(a []*linalg.Matrix) []real { return data(plainSolve(a[0], a[1])) }},
	{"PseudoInverse", func(n, _ int) [][2]int { return [][2]int{{n + 2, n}, {n, n + 1}} },
		func(a []*linalg.Matrix) []real {
			p, q := linalg.PseudoInverse(conditioned(a[0])), linalg.PseudoInverse(conditioned(a[1]))
			return append(data(p), data(q)...)
		},
		func(a []*linalg.Matrix) []real {
			p := plainLeastSquares(conditioned(a[0]), linalg.Identity(a[0].Rows))
			return append(data(p), data(plainLeastNorm(conditioned(a[1]), linalg.Identity(a[1].Rows)))...)
		}},
	{"QR.Q and QR.R", func(n, _ int) [][2]int { return [][2]int{{n + 1, n}} },
		func(a []*linalg.Matrix) []real {
			f := linalg.NewQR(conditioned(a[0]))
			return append(data(f.Q()), data(f.R())...)
		},
		func(a []*linalg.Matrix) []real {
			q, r := plainQR(conditioned(a[0]))
			return append(data(q), data(r)...)
		}},
	{"QR.R", square,
		func(a []*linalg.Matrix) []real { return data(linalg.NewQR(reversed(a[0])).R()) },
		func(a []*linalg.Matrix) []real { _, r := plainQR(reversed(a[0])); return data(r) }},
	{"QR for all", func(n, m int) [][2]int { return [][2]int{{n + 1, n}, {n + 1, m}} },
		func(a []*linalg.Matrix) []real {
			f := linalg.NewQR(conditioned(a[0]))
			return append(data(f.SolveTrans(f.Solve(a[1]))), data(linalg.MatMul(f.Q().T(), a[1]))...)
		},
		func(a []*linalg.Matrix) []real {
			c := conditioned(a[0])
			x := plainLeastNorm(c.T(), plainLeastSquares(c, a[1]))
			q, _ := plainQR(c)
			return append(data(x), data(plainMul(q.T(), a[1]))...)
		}},
	{"one factorisation for all", withRHS,
		func(a []*linalg.Matrix) []real {
			c := linalg.NewCholesky(a[0])
			return append(data(c.Solve(linalg.MatMul(c.Lower(), a[1]))), c.LogDet())
		},
		func(a []*linalg.Matrix) []real {
			l := plainCholesky(a[0])
			_, _, det := plainLU(symmetric(a[0]))
			return append(data(plainUpper(l.T(), a[1])), nabla.Log(det))
		}},
}

// conditioned returns m with larger elements on the diagonal.
func conditioned(m *linalg.Matrix) *linalg.Matrix {
	out := m.Clone()
	for i := range min(m.Rows, m.Cols) {
		out.Set(i, i, m.At(i, i).Add(nabla.Const(1.5+0.5*float64(m.Cols))))
	}
	return out
}

// reversed returns the rows of m in reverse order.
func reversed(m *linalg.Matrix) *linalg.Matrix {
	out := linalg.New(m.Rows, m.Cols)
	for i := range m.Rows {
		copy(out.Row(m.Rows-1-i), m.Row(i))
	}
	return out
}

// count returns the number of elements of matrices with the given shapes.
func count(shapes [][2]int) (k int) {
	for _, s := range shapes {
		k += s[0] * s[1]
	}
	return k
}

// matrices returns the matrices with the given shapes whose elements are those of x, in order.
func matrices(x []real, shapes [][2]int) []*linalg.Matrix {
	var out []*linalg.Matrix
	for _, s := range shapes {
		m := linalg.New(s[0], s[1])
		copy(m.Data, x)
		x = x[len(m.Data):]
		out = append(out, m)
	}
	return out
}

// point returns elements such that square matrices are near multiples of the identity, hence positive definite.
func point(r *rand.Rand, shapes [][2]int) (x []float64) {
	for _, s := range shapes {
		for i := range s[0] {
			for j := range s[1] {
				v := r.Float64() - 0.5
				if s[0] == s[1] && i == j {
					v += 0.5 * float64(s[0]+1)
				}
				x = append(x, v)
			}
		}
	}
	return x
}

// scalarOf returns a function of the elements of the matrices.
func scalarOf(f func([]*linalg.Matrix) []real, shapes [][2]int) func(x []real) real {
	return func(x []real) real {
		sum := nabla.Const(0)
		for i, y := range f(matrices(x, shapes)) {
			sum = sum.Add(nabla.Sin(y).Scale(1 + 0.3*float64(i%5)))
		}
		return sum
	}
}

var list = []nabla.Backend{
	forwarddiff.Backend{},
	reversediff.Backend{},
	reversediff.Backend{Compile: true},
	tracker.Backend{},
	nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{Compile: true}},
	nabla.SecondOrder{Outer: reversediff.Backend{Compile: true}, Inner: reversediff.Backend{Compile: true}},
	nabla.SecondOrder{Outer: reversediff.Backend{}, Inner: forwarddiff.Backend{}},
}

func near(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
		return
	}
	size := 1.0
	for _, v := range want {
		size = math.Max(size, math.Abs(v))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tol*size) {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], want[i])
			return
		}
	}
}

// elements returns the elements of a matrix, row by row.
func elements(m mat.Matrix) (all []float64) {
	r, _ := m.Dims()
	for i := range r {
		all = append(all, mat.Row(nil, i, m)...)
	}
	return all
}

func name(b nabla.Backend) string { return fmt.Sprintf("%T%+v", b, b) }

// closeness holds the tolerances of the results of an operation.
type closeness struct{ value, gradient, hvp, hessian float64 }

// compare compares value, gradient, Hessian at x and Hessian-vector product with v, in every engine, with those of the
// reference. It returns the gradient of the reference.
func (o operation) compare(t *testing.T, shapes [][2]int, x, v []float64, tol closeness) (gradient []float64) {
	t.Helper()
	ref := reversediff.Backend{Compile: true}
	f, plain := scalarOf(o.of, shapes), scalarOf(o.plain, shapes)
	value, gradient, err := nabla.ValueAndGradient(plain, ref, x)
	if err != nil {
		t.Fatal(err)
	}
	wantH, err := nabla.Hessian(plain, ref, x)
	if err != nil {
		t.Fatal(err)
	}
	wantHV, err := nabla.HVP(plain, ref, x, v)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range list {
		what := func(s string) string { return fmt.Sprintf("%s, %s of %v, %s", o.name, s, shapes, name(b)) }
		y, g, err := nabla.ValueAndGradient(f, b, x)
		if err != nil {
			t.Fatal(what("gradient"), err)
		}
		near(t, what("value"), []float64{y}, []float64{value}, tol.value)
		near(t, what("gradient"), g, gradient, tol.gradient)
		hv, err := nabla.HVP(f, b, x, v)
		if err != nil {
			t.Fatal(what("HVP"), err)
		}
		near(t, what("HVP"), hv, wantHV, tol.hvp)
		h, err := nabla.Hessian(f, b, x)
		if err != nil {
			t.Fatal(what("Hessian"), err)
		}
		near(t, what("Hessian"), elements(h), elements(wantH), tol.hessian)
	}
	return gradient
}

// TestOperations compares value, Jacobian, gradient, Hessian and Hessian-vector product of every operation in every
// engine with those of the reference.
func TestOperations(t *testing.T) {
	longtest.Serial(t)
	for _, o := range operations {
		t.Run(o.name, func(t *testing.T) {
			for seed, size := range [][2]int{{0, 0}, {0, 2}, {1, 1}, {2, 0}, {1, 3}, {2, 2}, {3, 1}, {4, 3}} {
				r := rand.New(rand.NewPCG(1, uint64(seed)))
				shapes := o.shapes(size[0], size[1])
				x := point(r, shapes)
				v := point(r, shapes)
				wantG := o.compare(t, shapes, x, v, closeness{1e-12, 1e-11, 1e-9, 1e-9})
				f := scalarOf(o.of, shapes)
				if g, err := nabla.Gradient(f, finitediff.Backend{}, x); err != nil {
					t.Error(err)
				} else {
					near(t, "gradient by finite differences", g, wantG, 1e-6)
				}
			}
		})
	}
}

// TestLarge compares gradients at a size for which kernels work in blocks and in parallel.
func TestLarge(t *testing.T) {
	longtest.Serial(t)
	for _, o := range operations {
		shapes := o.shapes(70, 67)
		x := point(rand.New(rand.NewPCG(9, 9)), shapes)
		_, want, err := nabla.ValueAndGradient(scalarOf(o.plain, shapes), tracker.Backend{}, x)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range []nabla.Backend{tracker.Backend{}, reversediff.Backend{Compile: true}} {
			g, err := nabla.Gradient(scalarOf(o.of, shapes), b, x)
			if err != nil {
				t.Fatal(err)
			}
			near(t, o.name+" "+name(b), g, want, 1e-11)
		}
	}
}

// TestRandomSizes is TestOperations for random sizes and points, and the compiled engine.
func TestRandomSizes(t *testing.T) {
	longtest.Serial(t)
	b := reversediff.Backend{Compile: true}
	for seed := range longtest.Cases(0, 10, 20, 600) {
		r := rand.New(rand.NewPCG(11, uint64(seed)))
		o := operations[r.IntN(len(operations))]
		shapes := o.shapes(r.IntN(6), r.IntN(4))
		x, v := point(r, shapes), point(r, shapes)
		want, err := nabla.HVP(scalarOf(o.plain, shapes), b, x, v)
		if err != nil {
			t.Fatal(err)
		}
		got, err := nabla.HVP(scalarOf(o.of, shapes), b, x, v)
		if err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprintf("seed %d, %s of %v", seed, o.name, shapes), got, want, 1e-8)
	}
}
