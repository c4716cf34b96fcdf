package constrain_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/constrain"
	"github.com/nabla-ad/nabla/constrain/internal/coded"
	"gonum.org/v1/gonum/mat"
)

// A mapping is a map of the package with its form over Reals and its inverse, for vectors of n numbers.
type mapping struct {
	name  string
	n     int
	plain func(u []float64) (x []float64, logJ float64)
	real  func(u []nabla.Real) (x []nabla.Real, logJ nabla.Real)
	free  func(x []float64) (u []float64)
	// independent are the indices of the results that determine the others; nil for all.
	independent []int
}

func number(name string, plain func(u float64) (x, j float64), real func(u nabla.Real) (x, j nabla.Real),
	free func(x float64) float64) mapping {
	return mapping{name, 1, func(u []float64) ([]float64, float64) {
		x, j := plain(u[0])
		return []float64{x}, j
	}, func(u []nabla.Real) ([]nabla.Real, nabla.Real) {
		x, j := real(u[0])
		return []nabla.Real{x}, j
	}, func(x []float64) []float64 { return []float64{free(x[0])} }, nil}
}

var mappings = []mapping{
	number("Positive", constrain.Positive, constrain.PositiveReal, constrain.FreePositive),
	number("Above", func(u float64) (x, j float64) { return constrain.Above(u, 3) },
		func(u nabla.Real) (x, j nabla.Real) { return constrain.AboveReal(u, 3) },
		func(x float64) float64 { return constrain.FreeAbove(x, 3) }),
	number("Below", func(u float64) (x, j float64) { return constrain.Below(u, -3) },
		func(u nabla.Real) (x, j nabla.Real) { return constrain.BelowReal(u, -3) },
		func(x float64) float64 { return constrain.FreeBelow(x, -3) }),
	number("Between", func(u float64) (x, j float64) { return constrain.Between(u, -1, 4) },
		func(u nabla.Real) (x, j nabla.Real) { return constrain.BetweenReal(u, -1, 4) },
		func(x float64) float64 { return constrain.FreeBetween(x, -1, 4) }),
	{"Ordered", 5, func(u []float64) ([]float64, float64) {
		x := make([]float64, 5)
		return x, constrain.Ordered(x, u)
	}, func(u []nabla.Real) ([]nabla.Real, nabla.Real) {
		x := make([]nabla.Real, 5)
		return x, constrain.OrderedReal(x, u)
	}, func(x []float64) []float64 {
		u := make([]float64, 5)
		constrain.FreeOrdered(u, x)
		return u
	}, nil},
	{"Simplex", 4, func(u []float64) ([]float64, float64) {
		x := make([]float64, 5)
		return x, constrain.Simplex(x, u)
	}, func(u []nabla.Real) ([]nabla.Real, nabla.Real) {
		x := make([]nabla.Real, 5)
		return x, constrain.SimplexReal(x, u)
	}, func(x []float64) []float64 {
		u := make([]float64, 4)
		constrain.FreeSimplex(u, x)
		return u
	}, []int{0, 1, 2, 3}},
	{"Correlation", 6, func(u []float64) ([]float64, float64) {
		l := make([]float64, 16)
		return l, constrain.Correlation(l, u, 4)
	}, func(u []nabla.Real) ([]nabla.Real, nabla.Real) {
		l := make([]nabla.Real, 16)
		return l, constrain.CorrelationReal(l, u, 4)
	}, func(l []float64) []float64 {
		u := make([]float64, 6)
		constrain.FreeCorrelation(u, l, 4)
		return u
	}, []int{4, 8, 9, 12, 13, 14}},
}

// points are zero, where branches meet, and random ones.
func points(n int) [][]float64 {
	rng := rand.New(rand.NewPCG(1, 2))
	list := [][]float64{make([]float64, n)}
	for range 20 {
		u := make([]float64, n)
		for i := range u {
			u[i] = 1.5 * rng.NormFloat64()
		}
		list = append(list, u)
	}
	return list
}

// TestMaps: the logarithm is that of the determinant of the Jacobian, both forms agree, and Free is the inverse.
func TestMaps(t *testing.T) {
	for _, m := range mappings {
		for _, u := range points(m.n) {
			x, logJ := m.plain(u)
			all, err := nabla.Jacobian(func(u []nabla.Real) []nabla.Real {
				x, _ := m.real(u)
				return x
			}, forwarddiff.Backend{}, u)
			if err != nil {
				t.Fatal(err)
			}
			square := mat.NewDense(m.n, m.n, nil)
			for i := range m.n {
				from := i
				if m.independent != nil {
					from = m.independent[i]
				}
				for j := range m.n {
					square.Set(i, j, all.At(from, j))
				}
			}
			if det, _ := mat.LogDet(square); !near(det, logJ, 1e-12) {
				t.Errorf("%s at %v: logarithm %v, that of the Jacobian is %v", m.name, u, logJ, det)
			}
			over, _, err := nabla.ValueAndJacobian(func(u []nabla.Real) []nabla.Real {
				x, j := m.real(u)
				return append(x, j)
			}, forwarddiff.Backend{}, u)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range append(x, logJ) {
				if !near(over[i], v, 1e-14) {
					t.Errorf("%s at %v: result %d is %v, over Reals %v", m.name, u, i, v, over[i])
				}
			}
			for i, v := range m.free(x) {
				if !near(v, u[i], 1e-9) {
					t.Errorf("Free%s: %v, want %v", m.name, v, u[i])
				}
			}
		}
	}
}

func near(a, b, tol float64) bool { return math.Abs(a-b) <= tol*max(1, math.Abs(a), math.Abs(b)) }

// TestRanges: results are in their ranges, also for large arguments, where the logarithm is finite.
func TestRanges(t *testing.T) {
	for _, v := range []float64{-700, -40, -1, 0, 1, 40, 700} {
		if x, j := constrain.Between(v, -1, 4); x < -1 || x > 4 || math.IsInf(j, 0) || math.IsNaN(j) {
			t.Errorf("Between(%v) = %v, %v", v, x, j)
		}
		x := make([]float64, 3)
		j := constrain.Simplex(x, []float64{v, -v})
		if sum := x[0] + x[1] + x[2]; math.Abs(sum-1) > 1e-15 || min(x[0], x[1], x[2]) < 0 || math.IsInf(j, 0) ||
			math.IsNaN(j) {
			t.Errorf("Simplex(%v, %v) = %v, %v", v, -v, x, j)
		}
		l := make([]float64, 4)
		if j := constrain.Correlation(l, []float64{v}, 2); math.Abs(math.Hypot(l[2], l[3])-1) > 1e-15 ||
			math.IsInf(j, 0) || math.IsNaN(j) {
			t.Errorf("Correlation(%v) = %v, %v", v, l, j)
		}
	}
	x := make([]float64, 4)
	constrain.Simplex(x, make([]float64, 3))
	for _, v := range x {
		if math.Abs(v-0.25) > 1e-16 {
			t.Errorf("Simplex(0) = %v, want equal parts", x)
		}
	}
}

// TestGenerated: derivatives of generated code through all maps agree with those over Reals, also at zero and in pairs.
func TestGenerated(t *testing.T) {
	for _, u := range points(coded.Inputs) {
		want, err := nabla.Gradient(coded.AllReal, forwarddiff.Backend{}, u)
		if err != nil {
			t.Fatal(err)
		}
		h, err := nabla.Hessian(coded.AllReal, reversediff.Backend{Compile: true}, u)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range []nabla.Backend{source.Forward{}, source.Reverse{}} {
			_, got, hessian, err := nabla.ValueGradientAndHessian(coded.All, b, u)
			if err != nil {
				t.Fatal(err)
			}
			for i := range u {
				if !near(got[i], want[i], 1e-11) {
					t.Errorf("%s: derivative %d at %v: %v, want %v", b.Name(), i, u, got[i], want[i])
				}
				for j := range u {
					if !near(hessian.At(i, j), h.At(i, j), 1e-9) {
						t.Errorf("%s: derivative %d, %d at %v: %v, want %v", b.Name(), i, j, u, hessian.At(i, j),
							h.At(i, j))
					}
				}
			}
		}
	}
}

// TestLengths: slices of a wrong length are errors of the operators, which name the argument.
func TestLengths(t *testing.T) {
	x := make([]float64, 4)
	for arg, f := range map[string]func(){
		"Ordered x":         func() { constrain.Ordered(x, x[:3]) },
		"FreeOrdered u":     func() { constrain.FreeOrdered(x[:3], x) },
		"Simplex x":         func() { constrain.Simplex(x, x) },
		"FreeSimplex u":     func() { constrain.FreeSimplex(x, x) },
		"Correlation l":     func() { constrain.Correlation(x[:3], x[:1], 2) },
		"Correlation u":     func() { constrain.Correlation(x, x[:2], 2) },
		"FreeCorrelation l": func() { constrain.FreeCorrelation(x[:1], x[:3], 2) },
		"FreeCorrelation u": func() { constrain.FreeCorrelation(x[:3], x, 2) },
	} {
		func() {
			defer func() {
				e, ok := recover().(*constrain.LengthError)
				if !ok || e.Func+" "+e.Arg != arg {
					t.Errorf("%s: %v", arg, e)
				}
			}()
			f()
		}()
	}
	_, err := nabla.Gradient(func(u []nabla.Real) nabla.Real {
		return constrain.SimplexReal(make([]nabla.Real, 2), u)
	}, nil, []float64{1, 2})
	if e := new(constrain.LengthError); !errors.As(err, &e) || e.Want != 3 {
		t.Errorf("error %v, want a LengthError", err)
	}
}

// A density of a positive number and a part, in unconstrained numbers.
func Example() {
	logDensity := func(u []nabla.Real) nabla.Real {
		sigma, j := constrain.PositiveReal(u[0])
		part, k := constrain.BetweenReal(u[1], 0, 1)
		exponential := sigma.Neg()
		beta := nabla.Log(part).Add(nabla.Log1p(part.Neg())) // beta(2, 2), up to a constant
		return exponential.Add(beta).Add(j).Add(k)
	}
	u := []float64{constrain.FreePositive(2), constrain.FreeBetween(0.5, 0, 1)}
	g, err := nabla.Gradient(logDensity, nil, u)
	fmt.Printf("%.3f %v\n", g, err)
	// Output: [-1.000 0.000] <nil>
}

// Plain Go functions, with the logarithm of the determinant.
func ExampleSimplex() {
	x := make([]float64, 3)
	logJ := constrain.Simplex(x, []float64{0, 0})
	fmt.Printf("%.4f %.4f\n", x, logJ)
	// Output: [0.3333 0.3333 0.3333] -3.2958
}
