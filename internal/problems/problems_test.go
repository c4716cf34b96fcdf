package problems

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
)

// oneOfEach returns one problem of each name, a small one if the size is free.
func oneOfEach(t *testing.T) []*Problem {
	t.Helper()
	var all []*Problem
	for _, e := range Entries() {
		n := e.Sizes[0]
		if e.Free {
			n = 7
		}
		p, err := e.New(n)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// compilerFuses reports whether the compiler turns x*y + z into one instruction that rounds once. The operands are
// variables so that it is not evaluated at compile time.
func compilerFuses() bool {
	x, y, z := 1+epsilon, 1-epsilon, -1+0*epsilon
	return x*y+z != 0
}

var epsilon = 0x1p-30

func TestShape(t *testing.T) {
	for _, p := range oneOfEach(t) {
		if (p.Plain == nil) == (p.PlainVector == nil) || (p.Traced == nil) == (p.TracedVector == nil) ||
			(p.M == 1) != (p.Plain != nil) || (p.Plain == nil) != (p.Traced == nil) {
			t.Errorf("%s: functions do not fit M = %d", p.Name, p.M)
		}
		if p.Title == "" || p.Formula == "" || p.Source == "" ||
			p.Tolerance <= 0 || p.Difference <= 0 || len(p.Cases) == 0 {
			t.Errorf("%s: something is empty", p.Name)
		}
		for i, c := range p.Cases {
			if len(c.X) != p.N || len(c.Value) != p.M || len(c.Derivative) != p.N*p.M {
				t.Errorf("%s: lengths of case %d", p.Name, i)
			}
		}
	}
}

// testPoints returns a problem's cases and random points near the first one.
func testPoints(p *Problem) (at [][]float64, cases []int) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < len(p.Cases); i += 97 {
		at, cases = append(at, p.Cases[i].X), append(cases, i)
	}
	for range 5 {
		x := make([]float64, p.N)
		for i, v := range p.Cases[0].X {
			x[i] = v * (0.9 + 0.2*r.Float64())
		}
		at, cases = append(at, x), append(cases, 0)
	}
	return at, cases
}

// TestTracedIsPlain compares the two forms of each function. Unless operations are fused they agree to the bit.
func TestTracedIsPlain(t *testing.T) {
	tol := 0.0
	if compilerFuses() {
		tol = 1e-9
	}
	for _, p := range oneOfEach(t) {
		t.Run(p.Name, func(t *testing.T) {
			at, cases := testPoints(p)
			want, got := make([]float64, p.M), make([]nabla.Real, p.M)
			for k, x := range at {
				p.Select(cases[k])
				xs := make([]nabla.Real, p.N)
				for i, v := range x {
					xs[i] = nabla.Const(v)
				}
				p.Eval(want, x)
				p.EvalTraced(got, xs)
				for i := range got {
					checkNear(
						t,
						fmt.Sprintf("point %d: output %d", k, i),
						got[i].Value(),
						want[i],
						math.Abs(want[i]),
						tol,
					)
				}
			}
		})
	}
}

// TestValue compares the functions with their known values.
func TestValue(t *testing.T) {
	for _, p := range oneOfEach(t) {
		y := make([]float64, p.M)
		for i := range p.Cases {
			c := p.Select(i)
			p.Eval(y, c.X)
			for j := range y {
				checkNear(
					t,
					fmt.Sprintf("%s: case %d: output %d", p.Name, i, j),
					y[j],
					c.Value[j],
					largest(c.Value),
					1e-11,
				)
			}
		}
	}
}

// differences returns the derivative of f by textbook differences, forward or central.
func differences(p *Problem, x []float64, central bool) []float64 {
	jac := make([]float64, p.M*p.N)
	x = append([]float64(nil), x...)
	step := 0x1p-26 // √ε
	if central {
		step = 6.1e-6 // ε^(1/3)
	}
	up, down := make([]float64, p.M), make([]float64, p.M)
	for j, v := range x {
		h := step * max(1, math.Abs(v))
		x[j] = v + h
		hi := x[j]
		p.Eval(up, x)
		x[j] = v
		if central {
			x[j] = v - h
		}
		lo := x[j]
		p.Eval(down, x)
		x[j] = v
		for i := range up {
			jac[i*p.N+j] = (up[i] - down[i]) / (hi - lo)
		}
	}
	return jac
}

// TestDifferences compares the derivatives with finite differences, and Problem.Difference with their accuracy.
func TestDifferences(t *testing.T) {
	all := oneOfEach(t)
	all = append(all, T1(1000), T2(1000), T3(1000))
	for _, p := range all {
		t.Run(fmt.Sprintf("%s/n=%d", p.Name, p.N), func(t *testing.T) {
			for i := range p.Cases {
				c := p.Select(i)
				for _, central := range []bool{false, true} {
					worst := 0.0
					for j, v := range differences(p, c.X, central) {
						worst = max(worst, math.Abs(v-c.Derivative[j])/largest(c.Derivative))
					}
					if worst > p.Difference/2 {
						t.Errorf("case %d, central %v: differences are off by %.2g", i, central, worst)
					}
				}
			}
		})
	}
}

// TestHandwrittenAtOtherPoints checks the handwritten adjoints at points other than the problem's.
func TestHandwrittenAtOtherPoints(t *testing.T) {
	p := T3(6)
	x := []float64{0.3, -0.7, 1.1, 0.2, -0.4, 0.9}
	for i, v := range differences(p, x, true) {
		checkNear(t, fmt.Sprintf("Rosenbrock %d", i), rosenbrockGradient(x)[i], v, 100, 1e-7)
	}
	l := T8()
	x = []float64{1.2, 0.7, 2, 9, 20, 2}
	g := lorenzGradient(x)
	for i, v := range differences(l, x, true) {
		checkNear(t, fmt.Sprintf("Lorenz %d", i), g[i], v, largest(g), 1e-5)
	}
	// A camera without rotation takes the branch for small angles.
	b := T6()
	c := b.Select(0)
	x = append([]float64(nil), c.X...)
	x[0], x[1], x[2] = 0, 0, 0
	_, jac := reprojectionJacobian(x, []float64{0.1, 0.2})
	y, xs := make([]nabla.Real, 2), make([]nabla.Real, 15)
	for i, v := range x {
		xs[i] = nabla.Const(v)
	}
	b.TracedVector(y, xs)
	want := make([]float64, 2)
	b.PlainVector(want, x)
	checkNear(t, "still camera", y[0].Value(), want[0], 1, 0)
	for i, v := range differences(b, x, true) {
		if j := i % 15; j < 14 { // the weight's column has the feature in it
			checkNear(t, fmt.Sprintf("still camera %d", i), jac[i], v, largest(jac), 1e-4)
		}
	}
}

func TestLookup(t *testing.T) {
	if _, err := Lookup("T9"); err == nil ||
		!strings.Contains(err.Error(),
			`"T9"; there are T1, T2, T3, T4, T5, gmm, T6, ba, T7, T8, T4-modulo, T8-arrays, lstm, hand, hand_triangles, listing2`) {
		t.Errorf("Lookup of T9: %v", err)
	}
	if e, err := Lookup("listing2"); err != nil || !e.Sparse {
		t.Errorf("Lookup of listing2: %+v, %v", e, err)
	}
	e, err := Lookup("T3")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.New(1); err == nil || !strings.Contains(err.Error(), "T3 with n = 1, want at least 2") {
		t.Errorf("T3 with n = 1: %v", err)
	}
	for _, n := range []int{1, 2, 3} {
		if p := T1(n); p.N != n || len(p.Cases[0].X) != n {
			t.Errorf("T1(%d) has %d inputs", n, p.N)
		}
	}
}

// TestSparse compares the elements with the dense derivative or, if there is none, with differences in a few
// directions.
func TestSparse(t *testing.T) {
	for _, e := range append(Entries(), Hessians()...) {
		sizes := e.Sizes
		if e.Free {
			sizes = append([]int{2, 7}, sizes...)
		}
		for _, n := range sizes {
			p, err := e.New(n)
			if err != nil {
				t.Fatal(err)
			}
			c := p.Select(0)
			if e.Sparse != (c.Elements != nil) || p.N != n || c.Derivative == nil && !e.Sparse {
				t.Errorf("%s n=%d: %d inputs, %d elements, %d in the dense derivative", e.Name, n, p.N, len(c.Elements),
					len(c.Derivative))
			}
			if !e.Sparse {
				continue
			}
			all := p.Dense(c)
			if len(all) != p.Rows()*p.N || c.Derivative != nil && &all[0] != &c.Derivative[0] {
				t.Fatalf("%s n=%d: %d elements of the dense derivative", e.Name, n, len(all))
			}
			sum := 0.0
			for _, v := range all {
				sum += v
			}
			for _, el := range c.Elements {
				sum -= el.Value
			}
			checkNear(t, e.Name+": what the elements leave over", sum, 0, largest(all), 1e-9)
			alongDirections(t, p, c, all)
		}
	}
}

// alongDirections compares products of the derivative with central differences.
func alongDirections(t *testing.T, p *Problem, c Case, all []float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, uint64(p.N)))
	f, m := p.Eval, p.Rows()
	if p.Hessian {
		f = func(y, x []float64) { copy(y, diffSquaresGradient(x)) }
	}
	up, down, scale := make([]float64, m), make([]float64, m), largest(all)
	for range 3 {
		const h = 1e-5
		v, hi, lo := make([]float64, p.N), make([]float64, p.N), make([]float64, p.N)
		for j := range v {
			v[j] = 2*r.Float64() - 1
			hi[j], lo[j] = c.X[j]+h*v[j], c.X[j]-h*v[j]
		}
		f(up, hi)
		f(down, lo)
		for i := range m {
			want := (up[i] - down[i]) / (2 * h)
			got := 0.0
			for j, d := range v {
				got += all[i*p.N+j] * d
			}
			checkNear(t, fmt.Sprintf("%s n=%d: row %d", p.Name, p.N, i), got, want, scale, 1e-6)
		}
	}
}

// diffSquaresGradient returns the gradient of [DiffSquares], written by hand.
func diffSquaresGradient(x []float64) []float64 {
	g := make([]float64, len(x))
	for i := range len(x) - 1 {
		d := x[i+1] - x[i]
		g[i] -= 2 * d
		g[i+1] += 2 * d
	}
	return g
}

var sink float64

func BenchmarkPlain(b *testing.B) {
	for _, e := range Entries() {
		for _, n := range e.Sizes {
			p, err := e.New(n)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/n=%d", p.Name, p.N), func(b *testing.B) {
				b.ReportAllocs()
				c := p.Select(0)
				y := make([]float64, p.M)
				for b.Loop() {
					p.Eval(y, c.X)
				}
				sink = y[0]
			})
		}
	}
}
