package implicit_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/implicit"
	"github.com/nabla-ad/nabla/linalg"
	"gonum.org/v1/gonum/mat"
)

var engines = []nabla.Backend{nil, forwarddiff.Backend{}, forwarddiff.Hyper{}, reversediff.Backend{},
	reversediff.Backend{Compile: true}, tracker.Backend{}, finitediff.Backend{}}

func name(b nabla.Backend) string {
	if b == nil {
		return "nil"
	}
	return b.Name()
}

// kepler is Kepler's equation E - e·sin(E) = M for z = E, M, e.
func kepler(z []nabla.Real) []nabla.Real {
	return []nabla.Real{z[0].Sub(z[2].Mul(nabla.Sin(z[0]))).Sub(z[1])}
}

func solveKepler(x, p []float64) error {
	for range 100 {
		step := (x[0] - p[1]*math.Sin(x[0]) - p[0]) / (1 - p[1]*math.Cos(x[0]))
		if x[0] -= step; math.Abs(step) < 1e-15 {
			break
		}
	}
	return nil
}

// unrolledKepler takes ten Newton steps over Reals.
func unrolledKepler(p []nabla.Real) nabla.Real {
	x := p[0]
	for range 10 {
		f := x.Sub(p[1].Mul(nabla.Sin(x))).Sub(p[0])
		x = x.Sub(f.Div(nabla.Const(1).Sub(p[1].Mul(nabla.Cos(x)))))
	}
	return x
}

// TestRoot: first, second and third derivatives agree with the closed form and the unrolled solver, in all engines.
func TestRoot(t *testing.T) {
	p := []float64{1, 0.3}
	for _, free := range []bool{false, true} {
		set := &implicit.Settings{Start: []float64{1}, MatrixFree: free}
		f, err := implicit.Root(kepler, nil, 1, p, solveKepler, set)
		if err != nil {
			t.Fatal(err)
		}
		anomaly := f.Real()
		loss := func(p []nabla.Real) nabla.Real { return nabla.Exp(anomaly(p)[0]).Mul(p[1]) }
		unrolled := func(p []nabla.Real) nabla.Real { return nabla.Exp(unrolledKepler(p)).Mul(p[1]) }
		want, err := nabla.Gradient(unrolled, forwarddiff.Backend{}, p)
		if err != nil {
			t.Fatal(err)
		}
		wantH, err := nabla.Hessian(unrolled, forwarddiff.Backend{}, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range engines {
			tol := 1e-12
			if (b == finitediff.Backend{}) {
				tol = 1e-8
			}
			g, err := nabla.Gradient(loss, b, p)
			if err != nil {
				t.Fatalf("%s: %v", name(b), err)
			}
			h, err := nabla.Hessian(loss, b, p)
			if err != nil {
				t.Fatalf("%s: %v", name(b), err)
			}
			for i := range p {
				if math.Abs(g[i]-want[i]) > tol {
					t.Errorf("%s: derivative %d is %v, unrolled %v", name(b), i, g[i], want[i])
				}
				for j := range p {
					if math.Abs(h.At(i, j)-wantH.At(i, j)) > 1e3*tol {
						t.Errorf("%s: second derivative %d, %d is %v, unrolled %v", name(b), i, j, h.At(i, j),
							wantH.At(i, j))
					}
				}
			}
		}
		third := func(f func([]nabla.Real) nabla.Real) float64 {
			h := nabla.HessianFunc(f, forwarddiff.Backend{})
			d, err := nabla.Gradient(func(p []nabla.Real) nabla.Real { return h(p)[0][1] }, forwarddiff.Backend{}, p)
			if err != nil {
				t.Fatal(err)
			}
			return d[0]
		}
		if got, want := third(loss), third(unrolled); math.Abs(got-want) > 1e-9 {
			t.Errorf("third derivative %v, unrolled %v", got, want)
		}
		// dE/dM = 1/(1-e·cos E)
		x, err := f.Solve(nil, p)
		if err != nil {
			t.Fatal(err)
		}
		d, err := f.Pullback(nil, x, p, []float64{1})
		if want := 1 / (1 - p[1]*math.Cos(x[0])); err != nil || math.Abs(d[0]-want) > 1e-14 {
			t.Errorf("dE/dM = %v, want %v, error %v", d, want, err)
		}
	}
}

// TestFixedPoint: the limit of x = cos(x·a) + b.
func TestFixedPoint(t *testing.T) {
	g := func(z []nabla.Real) []nabla.Real { return []nabla.Real{nabla.Cos(z[0].Mul(z[1])).Add(z[2])} }
	p := []float64{0.6, 0.2}
	f, err := implicit.FixedPoint(g, nil, 1, p, func(x, p []float64) error {
		for range 200 {
			x[0] = math.Cos(x[0]*p[0]) + p[1]
		}
		return nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	x, err := f.Solve(nil, p)
	if err != nil {
		t.Fatal(err)
	}
	d, err := f.Pullback(nil, x, p, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	s := math.Sin(x[0] * p[0])
	for i, want := range []float64{-s * x[0] / (1 + s*p[0]), 1 / (1 + s*p[0])} {
		if math.Abs(d[i]-want) > 1e-13 {
			t.Errorf("derivative %d is %v, want %v", i, d[i], want)
		}
	}
}

// ridge is ½|Ax-b|² + ½·p|x|² for a fixed A, and the parameters p and b.
var design = mat.NewDense(4, 3, []float64{1, 2, 0, -1, 1, 3, 0.5, 0, 1, 2, -1, 1})

func ridge(z []nabla.Real) nabla.Real {
	sum := nabla.Const(0)
	for i := range 4 {
		r := z[4+i].Neg()
		for j := range 3 {
			r = r.Add(z[j].Scale(design.At(i, j)))
		}
		sum = sum.Add(r.Sq())
	}
	for j := range 3 {
		sum = sum.Add(z[3].Mul(z[j].Sq()))
	}
	return sum.Scale(0.5)
}

// ridgeSolution is (AᵀA + p)⁻¹Aᵀb over Reals.
func ridgeSolution(p []nabla.Real) []nabla.Real {
	a := linalg.New(3, 3)
	rhs := make([]nabla.Real, 3)
	for i := range 3 {
		for j := range 3 {
			v := nabla.Const(mat.Dot(design.ColView(i), design.ColView(j)))
			if i == j {
				v = v.Add(p[0])
			}
			a.Set(i, j, v)
		}
		for k := range 4 {
			rhs[i] = rhs[i].Add(p[1+k].Scale(design.At(k, i)))
		}
	}
	return linalg.SolveVec(a, rhs)
}

// TestMinimizer: ridge regression by its penalty and its data, against the closed form, to second order; a saddle is
// refused.
func TestMinimizer(t *testing.T) {
	p := []float64{0.7, 1, -2, 0.5, 3}
	solve := func(x, p []float64) error {
		a := mat.NewDense(3, 3, nil)
		a.Mul(design.T(), design)
		for i := range 3 {
			a.Set(i, i, a.At(i, i)+p[0])
		}
		v := mat.NewVecDense(3, nil)
		v.MulVec(design.T(), mat.NewVecDense(4, p[1:]))
		return mat.NewVecDense(3, x).SolveVec(a, v)
	}
	for _, free := range []bool{false, true} {
		f, err := implicit.Minimizer(ridge, nil, 3, p, solve, &implicit.Settings{MatrixFree: free})
		if err != nil {
			t.Fatal(err)
		}
		argmin := f.Real()
		test := func(x []nabla.Real) nabla.Real { return nabla.Sin(x[0]).Add(x[1].Mul(x[2])) }
		loss := func(p []nabla.Real) nabla.Real { return test(argmin(p)) }
		closed := func(p []nabla.Real) nabla.Real { return test(ridgeSolution(p)) }
		for _, b := range engines[:6] {
			want, err := nabla.Hessian(closed, forwarddiff.Backend{}, p)
			if err != nil {
				t.Fatal(err)
			}
			got, err := nabla.Hessian(loss, b, p)
			if err != nil {
				t.Fatalf("%s: %v", name(b), err)
			}
			g, err := nabla.Gradient(loss, b, p)
			if err != nil {
				t.Fatal(err)
			}
			wantG, err := nabla.Gradient(closed, forwarddiff.Backend{}, p)
			if err != nil {
				t.Fatal(err)
			}
			for i := range p {
				if math.Abs(g[i]-wantG[i]) > 1e-11 {
					t.Errorf("%s: derivative %d is %v, want %v", name(b), i, g[i], wantG[i])
				}
				for j := range p {
					if math.Abs(got.At(i, j)-want.At(i, j)) > 1e-10 {
						t.Errorf("%s: second derivative %d, %d is %v, want %v", name(b), i, j, got.At(i, j),
							want.At(i, j))
					}
				}
			}
		}
	}
	saddle := func(z []nabla.Real) nabla.Real { return z[0].Sq().Sub(z[1].Sq()).Add(z[0].Mul(z[2])) }
	f, err := implicit.Minimizer(saddle, nil, 2, []float64{0.5}, func(x, p []float64) error {
		x[0], x[1] = -p[0]/2, 0
		return nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = nabla.Gradient(func(p []nabla.Real) nabla.Real { return f.Real()(p)[0] }, nil, []float64{0.5})
	if e := new(implicit.NotMinimumError); !errors.As(err, &e) {
		t.Errorf("error %v, want a NotMinimumError", err)
	}
}

// heat is the residual of -u” + p·u³ = q on n inner points, with the parameters p and q.
func heat(n int) func(z []nabla.Real) []nabla.Real {
	return func(z []nabla.Real) []nabla.Real {
		r := make([]nabla.Real, n)
		h2 := 1 / float64((n+1)*(n+1))
		for i := range n {
			v := z[i].Scale(2).Add(z[n].Mul(z[i].Mul(z[i].Sq())).Scale(h2)).Sub(z[n+1].Scale(h2))
			if i > 0 {
				v = v.Sub(z[i-1])
			}
			if i+1 < n {
				v = v.Sub(z[i+1])
			}
			r[i] = v
		}
		return r
	}
}

// solveHeat is Newton's method with the tridiagonal matrix.
func solveHeat(n int) implicit.Solver {
	return func(u, p []float64) error {
		h2 := 1 / float64((n+1)*(n+1))
		diagonal, rhs := make([]float64, n), make([]float64, n)
		for range 30 {
			for i := range n {
				rhs[i] = 2*u[i] + p[0]*u[i]*u[i]*u[i]*h2 - p[1]*h2
				if i > 0 {
					rhs[i] -= u[i-1]
				}
				if i+1 < n {
					rhs[i] -= u[i+1]
				}
				diagonal[i] = 2 + 3*p[0]*u[i]*u[i]*h2
			}
			for i := 1; i < n; i++ {
				diagonal[i] -= 1 / diagonal[i-1]
				rhs[i] += rhs[i-1] / diagonal[i-1]
			}
			for i := n - 1; i >= 0; i-- {
				if i+1 < n {
					rhs[i] += rhs[i+1]
				}
				rhs[i] /= diagonal[i]
				u[i] -= rhs[i]
			}
		}
		return nil
	}
}

// TestSparse: dense, sparse and matrix-free solutions agree, and with differences.
func TestSparse(t *testing.T) {
	const n = 20
	p := []float64{5, 8}
	loss := func(f *implicit.Function) func(p []nabla.Real) nabla.Real {
		u := f.Real()
		return func(p []nabla.Real) nabla.Real { return nabla.Dot(u(p), u(p)) }
	}
	var want []float64
	var wantH mat.Symmetric
	for i, c := range []struct {
		b   nabla.Backend
		set implicit.Settings
	}{
		{forwarddiff.Backend{}, implicit.Settings{}},
		{nabla.AutoSparse{Dense: forwarddiff.Backend{}}, implicit.Settings{}},
		{reversediff.Backend{Compile: true}, implicit.Settings{MatrixFree: true}},
		{nil, implicit.Settings{}},
	} {
		f, err := implicit.Root(heat(n), c.b, n, p, solveHeat(n), &c.set)
		if err != nil {
			t.Fatal(err)
		}
		g, err := nabla.Gradient(loss(f), reversediff.Backend{}, p)
		if err != nil {
			t.Fatal(err)
		}
		h, err := nabla.Hessian(loss(f), forwarddiff.Backend{}, p)
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		if i == 0 {
			want, wantH = g, h
			d, err := nabla.Gradient(func(p []float64) float64 {
				u, err := f.Solve(nil, p)
				if err != nil {
					t.Fatal(err)
				}
				return mat.Dot(mat.NewVecDense(n, u), mat.NewVecDense(n, u))
			}, finitediff.Backend{}, p)
			if err != nil || math.Abs(d[0]-g[0])+math.Abs(d[1]-g[1]) > 1e-8 {
				t.Errorf("%v, differences give %v, error %v", g, d, err)
			}
		}
		for k := range p {
			if math.Abs(g[k]-want[k]) > 1e-10 || math.Abs(h.At(k, 0)-wantH.At(k, 0)) > 1e-9 {
				t.Errorf("%d: %v and %v, want %v and %v", i, g, h.At(k, 0), want, wantH.At(k, 0))
			}
		}
	}
}

// TestLinearSolve: random systems whose matrix and right-hand side depend on the parameters, against linalg, to second
// order.
func TestLinearSolve(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		n := 1 + rng.IntN(5)
		a, b := make([]float64, n*n), make([]float64, n)
		for i := range a {
			a[i] = rng.NormFloat64()
		}
		for i := range b {
			a[i*n+i] += 4
			b[i] = rng.NormFloat64()
		}
		entry := func(p []nabla.Real, i, j int) nabla.Real {
			return nabla.Sin(p[0].Scale(a[i*n+j])).Mul(p[1]).AddConst(a[i*n+j])
		}
		equations := func(z []nabla.Real) []nabla.Real {
			r := make([]nabla.Real, n)
			for i := range n {
				for j := range n {
					r[i] = r[i].Add(entry(z[n:], i, j).Mul(z[j]))
				}
				r[i] = r[i].Sub(nabla.Cos(z[n].Scale(b[i])))
			}
			return r
		}
		p := []float64{0.3, 0.2}
		f, err := implicit.LinearSolve(equations, nil, n, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		x := f.Real()
		closed := func(p []nabla.Real) []nabla.Real {
			m, rhs := linalg.New(n, n), make([]nabla.Real, n)
			for i := range n {
				for j := range n {
					m.Set(i, j, entry(p, i, j))
				}
				rhs[i] = nabla.Cos(p[0].Scale(b[i]))
			}
			return linalg.SolveVec(m, rhs)
		}
		sum := func(f func([]nabla.Real) []nabla.Real) func(p []nabla.Real) nabla.Real {
			return func(p []nabla.Real) nabla.Real { y := f(p); return nabla.Dot(y, y) }
		}
		want, err := nabla.Hessian(sum(closed), forwarddiff.Backend{}, p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := nabla.Hessian(sum(x), nil, p)
		if err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(got, want, 1e-10) {
			t.Errorf("n = %d: %v, want %v", n, mat.Formatted(got), mat.Formatted(want))
		}
	}
}

// TestRefusals: what is no solution has no derivative, with an error that says so.
func TestRefusals(t *testing.T) {
	gradient := func(f *implicit.Function, p []float64) error {
		_, err := nabla.Gradient(func(p []nabla.Real) nabla.Real { return f.Real()(p)[0] }, nil, p)
		return err
	}
	square := func(z []nabla.Real) []nabla.Real { return []nabla.Real{z[0].Sq().Sub(z[1])} }
	root := func(solve implicit.Solver) *implicit.Function {
		f, err := implicit.Root(square, nil, 1, []float64{2}, solve, &implicit.Settings{Name: "root"})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	err := gradient(root(func(x, p []float64) error { x[0] = 1.4; return nil }), []float64{2})
	if e := new(implicit.UnconvergedError); !errors.As(err, &e) || !strings.Contains(err.Error(), "root: unknown 0") {
		t.Errorf("error %v, want an UnconvergedError", err)
	}
	exact := func(x, p []float64) error { x[0] = math.Sqrt(p[0]); return nil }
	if err := gradient(root(exact), []float64{0}); !errors.As(err, new(*implicit.SingularError)) {
		t.Errorf("error %v, want a SingularError", err)
	}
	if err := gradient(root(exact), []float64{-1}); !errors.As(err, new(*implicit.NonFiniteError)) {
		t.Errorf("error %v, want a NonFiniteError", err)
	}
	purpose := errors.New("on purpose")
	if err := gradient(root(func(x, p []float64) error { return purpose }), []float64{2}); !errors.Is(err, purpose) ||
		!errors.As(err, new(*implicit.SolverError)) {
		t.Errorf("error %v, want a SolverError", err)
	}
	if _, err := implicit.Root(square, nil, 2, []float64{2}, exact, nil); !errors.As(err, new(*implicit.LengthError)) {
		t.Errorf("error %v, want a LengthError", err)
	}
	for _, set := range []*implicit.Settings{{Tolerance: math.NaN()}, {Tolerance: -1}} {
		_, err := implicit.Root(square, nil, 1, []float64{2}, exact, set)
		if !errors.As(err, new(*implicit.SettingError)) {
			t.Errorf("error %v, want a SettingError", err)
		}
	}
	if _, err := implicit.Root(square, nil, 1, []float64{2}, nil, nil); !errors.As(err, new(*implicit.SettingError)) {
		t.Errorf("error %v, want a SettingError", err)
	}
	if _, err := root(exact).Solve(nil, []float64{1, 2}); !errors.As(err, new(*implicit.LengthError)) {
		t.Errorf("error %v, want a LengthError", err)
	}
}

// A slope is data of equations.
type slope struct{ By nabla.Real }

// TestBound: a change of data that leaves the solution as it is changes the derivative: x = 1 solves
// (x-1) + c·(p-1) = 0 at p = 1 for any c.
func TestBound(t *testing.T) {
	for _, free := range []bool{false, true} {
		c := new(slope)
		f := nabla.Bind(func(z []nabla.Real, c *slope) []nabla.Real {
			return []nabla.Real{z[0].AddConst(-1).Add(c.By.Mul(z[1].AddConst(-1)))}
		}, c)
		r, err := implicit.Root(f, nil, 1, []float64{1}, func(x, p []float64) error {
			x[0] = 1 - c.By.Value()*(p[0]-1)
			return nil
		}, &implicit.Settings{MatrixFree: free})
		if err != nil {
			t.Fatal(err)
		}
		root := r.Real()
		for _, by := range []float64{2, 5, -1} {
			c.By = nabla.Const(by)
			for _, b := range engines[:6] {
				g, err := nabla.Gradient(func(p []nabla.Real) nabla.Real { return root(p)[0] }, b, []float64{1})
				if err != nil || math.Abs(g[0]+by) > 1e-12 {
					t.Errorf("%s: %v, want %v, error %v", name(b), g, -by, err)
				}
			}
			if g, err := r.Pullback(nil, []float64{1}, []float64{1}, []float64{1}); err != nil || g[0] != -by {
				t.Errorf("pullback %v, want %v, error %v", g, -by, err)
			}
		}
	}
}

// TestConcurrent: goroutines share a function.
func TestConcurrent(t *testing.T) {
	f, err := implicit.Root(kepler, nil, 1, []float64{1, 0.3}, solveKepler, nil)
	if err != nil {
		t.Fatal(err)
	}
	anomaly := f.Real()
	var group sync.WaitGroup
	for k := range 4 {
		group.Go(func() {
			for i := range 20 {
				p := []float64{0.1 * float64(i+k), 0.2}
				g, err := nabla.Gradient(func(p []nabla.Real) nabla.Real { return anomaly(p)[0] }, tracker.Backend{}, p)
				x := []float64{0}
				_ = solveKepler(x, p)
				if want := 1 / (1 - p[1]*math.Cos(x[0])); err != nil || math.Abs(g[0]-want) > 1e-12 {
					t.Errorf("%v: %v, want %v, error %v", p, g, want, err)
				}
			}
		})
	}
	group.Wait()
}

// The derivative of a root by its parameter.
func ExampleRoot() {
	square := func(z []nabla.Real) []nabla.Real { return []nabla.Real{z[0].Sq().Sub(z[1])} } // x² = p
	f, err := implicit.Root(square, nil, 1, []float64{4}, func(x, p []float64) error {
		x[0] = math.Sqrt(p[0]) // any solver
		return nil
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	root := f.Real()
	cube := func(p []nabla.Real) nabla.Real { x := root(p)[0]; return x.Mul(x).Mul(x) }
	y, g, err := nabla.ValueAndGradient(cube, nil, []float64{4})
	fmt.Println(y, g, err)
	// Output: 8 [3] <nil>
}

// A regression whose penalty is chosen by its effect on other data: the derivative of a minimizer.
func ExampleMinimizer() {
	fit := func(z []nabla.Real) nabla.Real { // ½(2x-3)² + ½·p·x²
		return z[0].Scale(2).AddConst(-3).Sq().Add(z[1].Mul(z[0].Sq())).Scale(0.5)
	}
	f, err := implicit.Minimizer(fit, nil, 1, []float64{1}, func(x, p []float64) error {
		x[0] = 6 / (4 + p[0])
		return nil
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := f.Solve(nil, []float64{1})
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := f.Pullback(nil, x, []float64{1}, []float64{1})
	fmt.Printf("%.2f %.2f %v\n", x, d, err)
	// Output: [1.20] [-0.24] <nil>
}

// TestScale: equations and unknowns of very different magnitudes have derivatives, and singular ones do not, though
// rounding errors hide it.
func TestScale(t *testing.T) {
	units := []float64{1e-9, 1, 1e9}
	linear := func(third float64) func([]nabla.Real) []nabla.Real {
		return func(z []nabla.Real) []nabla.Real {
			out := make([]nabla.Real, 3)
			for i, row := range [][]float64{{0.1, 0.2, 0.3}, {0.4, 0.5, 0.9}, {0.7, 0.8, third}} {
				for k, v := range row {
					out[i] = out[i].Add(z[k].Scale(v * units[i] / units[2-k]))
				}
				out[i] = out[i].Sub(z[3].Scale(units[i]))
			}
			return out
		}
	}
	f, err := implicit.LinearSolve(linear(1), nil, 3, []float64{1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	xdot, err := f.Pushforward(nil, []float64{0, 0, 0}, []float64{0}, []float64{1})
	want := []float64{-10, 10, 0} // solves for units of 1, by hand
	for i, u := range []float64{units[2], units[1], units[0]} {
		if err != nil || !(math.Abs(xdot[i]/u-want[i]) < 1e-11) {
			t.Fatalf("tangent %v (%v), want %v times %v", xdot, err, want, []float64{units[2], units[1], units[0]})
		}
	}
	f, err = implicit.LinearSolve(linear(1.5), nil, 3, []float64{1}, nil) // the last column is the sum of the others
	if err != nil {
		t.Fatal(err)
	}
	xdot, err = f.Pushforward(nil, []float64{0, 0, 0}, []float64{0}, []float64{1})
	if !errors.As(err, new(*implicit.SingularError)) {
		t.Errorf("tangent %v, error %v, want a SingularError", xdot, err)
	}
	least := func(x []nabla.Real) nabla.Real {
		sum := nabla.Const(0)
		for i := range 3 {
			d := x[0].Add(x[1].Scale(float64(i) / 3)).Add(x[2].Scale(1 + float64(i)/3)).Sub(x[3].Scale(float64(i)))
			sum = sum.Add(d.Mul(d))
		}
		return sum
	}
	f, err = implicit.Minimizer(least, nil, 3, []float64{0}, func(x, p []float64) error { return nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	xdot, err = f.Pushforward(nil, []float64{0, 0, 0}, []float64{0}, []float64{1})
	if !errors.As(err, new(*implicit.NotMinimumError)) {
		t.Errorf("tangent %v, error %v, want a NotMinimumError", xdot, err)
	}
}
