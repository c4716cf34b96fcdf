package nabla_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/randfunc"
)

// TestTraceHessian requires the operation of a second derivative, its term, and the line that is marked with its name.
func TestTraceHessian(t *testing.T) {
	source, err := os.ReadFile("trace_hessian_test.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(source), "\n")
	type reals = []nabla.Real
	for _, tt := range []struct {
		name string
		f    func(x reals) reals
		x    []float64
		want string // what String says, without place
		bad  nabla.NonFinite
	}{
		{"power", func(x reals) reals {
			d := x[1].Sub(x[0]).Scale(2)
			p := d.PowConst(1.5) // power
			return reals{x[0].Mul(x[1]), p.Scale(3)}
		}, []float64{1, 1}, "pow(0, 1.5) = 0: its second derivative with respect to arguments 0 and 0, times 3, the " +
			"derivative of output 1 with respect to the result, and -2, that of argument 0 with respect to input 0, " +
			"is not finite in the second derivative with respect to inputs 0 and 0",
			nabla.NonFinite{Op: "pow", Output: 1, Input: 0, Cotangent: 3, Input2: 0, Tangent: -2, Index: 2}},
		{"hypot", func(x reals) reals {
			p := nabla.Hypot(x[0], x[1]) // hypot
			return reals{p.Mul(x[2])}
		}, []float64{0, 0, 2}, "hypot(0, 0) = 0: its second derivative with respect to arguments 0 and 0, times 2",
			nabla.NonFinite{Op: "hypot", Cotangent: 2, Tangent: 1}},
		{"ratio", func(x reals) reals {
			return reals{x[0].Div(x[1]).Scale(2)} // ratio
		}, []float64{0, 1e-160}, "div(0, 1e-160) = 0: its second derivative with respect to arguments 1 and 0, " +
			"times 2, the derivative of output 0 with respect to the result, and 1, that of argument 0 with " +
			"respect to input 0, is not finite in the second derivative with respect to inputs 1 and 0",
			nabla.NonFinite{Op: "div", Arg: 1, Input: 1, Cotangent: 2, Tangent: 1}},
		{"overflow", func(x reals) reals {
			a := x[0].Scale(1e160) // overflow
			return reals{a.Sq()}
		}, []float64{0}, "mul(0, 1e+160) = 0: its derivative with respect to argument 0, times 2e+160, the " +
			"derivative of output 0 with respect to the result and input 0, is not finite",
			nabla.NonFinite{Op: "mul", Arg2: -1, Cotangent: 2e160}},
		{"rule", func(x reals) reals {
			return reals{threeHalves(x[1], x[0])[0]} // rule
		}, []float64{1, 0}, "threehalves(0, 1) = 0: its second derivative with respect to arguments 0 and 0, times 1",
			nabla.NonFinite{Op: "threehalves", Input: 1, Input2: 1, Cotangent: 1, Tangent: 1}},
		// Nothing but x[1] moves the power.
		{"sum", func(x reals) reals {
			return reals{x[0].Add(x[1].PowConst(1.5))} // sum
		}, []float64{1, 0}, "pow(0, 1.5) = 0",
			nabla.NonFinite{Op: "pow", Input: 1, Input2: 1, Cotangent: 1, Tangent: 1}},
		{"chosen", func(x reals) reals {
			return reals{nabla.Max(x[0], x[1]).PowConst(1.5)} // chosen
		}, []float64{-1, 0}, "pow(0, 1.5) = 0",
			nabla.NonFinite{Op: "pow", Input: 1, Input2: 1, Cotangent: 1, Tangent: 1, Index: 1}},
		{"pure", func(x reals) reals {
			return reals{x[0], pureHalves(x[0].Scale(2), x[1])[0].Scale(3)} // pure
		}, []float64{0, 1}, "threehalves(0, 1) = 0: its second derivative with respect to arguments 0 and 0, times 3",
			nabla.NonFinite{Op: "threehalves", Output: 1, Cotangent: 3, Tangent: 2, Index: 1}},
		{"outputs", func(x reals) reals {
			y := bothHalves(x[0], x[1]) // outputs
			return reals{y[0].Add(y[1])}
		}, []float64{0, 1}, "bothhalves(0, 1) = 0, 1: a second derivative of output 0 with respect to argument 0 is " +
			"not finite in the second derivative with respect to inputs 0 and 0",
			nabla.NonFinite{Op: "bothhalves", Tangent: 1}},
		{"second", func(x reals) reals {
			y := bothHalves(x[0], x[1])
			return reals{y[1].PowConst(1.5)} // second
		}, []float64{4, 0}, "pow(0, 1.5) = 0", nabla.NonFinite{Op: "pow", Input: 1, Cotangent: 1, Index: 2}},
		{"through", func(x reals) reals {
			y := bothHalves(pureHalves(x[0], x[1])[0].Scale(0.5), x[1])
			return reals{y[0].Add(nabla.Const(-8)).PowConst(1.5)} // through
		}, []float64{4, 1}, "pow(0, 1.5) = 0", nabla.NonFinite{Op: "pow", Cotangent: 1, Tangent: 4.5, Index: 5}},
		{"where", func(x reals) reals {
			return reals{nabla.Where(nabla.Lt(nabla.Const(0), x[0]), x[0].PowConst(1.5), x[0])}
		}, []float64{0}, "", nabla.NonFinite{}},
		{"max", func(x reals) reals {
			return reals{nabla.Max(x[0].PowConst(1.5), x[1])}
		}, []float64{0, 1}, "", nabla.NonFinite{}},
		{"structural", func(x reals) reals {
			return reals{nabla.StopGradient(x[0]).PowConst(1.5).Add(nabla.Floor(x[0]).PowConst(1.5).Mul(x[1]))}
		}, []float64{0, 1}, "", nabla.NonFinite{}},
		{"cube", func(x reals) reals { return reals{nabla.Cbrt(x[0]).PowConst(6)} }, []float64{1}, "",
			nabla.NonFinite{}},
		{"first", func(x reals) reals {
			return reals{nabla.Sqrt(x[0])} // first
		}, []float64{0}, "sqrt(0) = 0: its derivative with respect to argument 0, times 1, the derivative of",
			nabla.NonFinite{Op: "sqrt", Cotangent: 1}},
		{"value", func(x reals) reals {
			return reals{nabla.Log(x[0]).PowConst(1.5)} // value
		}, []float64{0}, "log(0) = -Inf", nabla.NonFinite{Op: "log", Input: -1, Arg: -1}},
	} {
		bad, err := nabla.TraceHessian(tt.f, tt.x)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		finite := true
		for k := range tt.f(make(reals, len(tt.x))) {
			output := func(x reals) nabla.Real { return tt.f(x)[k] }
			finite = allFinite(t, output, tt.x, secondOrder) && finite
		}
		if finite != (tt.bad.Op == "") {
			t.Errorf("%s: all derivatives of the engines are finite: %v", tt.name, finite)
		}
		if tt.bad.Op == "" {
			if bad != nil {
				t.Errorf("%s: %v", tt.name, bad)
			}
			continue
		}
		if bad == nil {
			t.Errorf("%s: nothing is found", tt.name)
			continue
		}
		tt.bad.Derivative = tt.name != "value"
		tt.bad.Second = tt.bad.Derivative && tt.name != "first"
		got := *bad
		got.Args, got.Values, got.Function, got.File, got.Line = nil, nil, "", "", 0
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", tt.bad) || !strings.Contains(bad.String(), tt.want) {
			t.Errorf("%s: got %v\n%+v\nwant %s\n%+v", tt.name, bad, got, tt.want, tt.bad)
		}
		if filepath.Base(bad.File) != "trace_hessian_test.go" || !strings.HasSuffix(lines[bad.Line-1], "// "+tt.name) {
			t.Errorf("%s: found in %s, %s:%d", tt.name, bad.Function, bad.File, bad.Line)
		}
	}
}

// rootCubed is a rule over Reals, x^1.5 of its first argument, whose second derivative is infinite at 0.
var rootCubed = nabla.Rule{
	Name:  "threehalves",
	Value: func(y, x []float64) { y[0] = math.Sqrt(x[0]) * x[0] },
	JVPReal: func(ydot, x, y, xdot []nabla.Real) {
		ydot[0] = nabla.Sqrt(x[0]).Scale(1.5).Mul(xdot[0])
	},
	VJPReal: func(xbar, x, y, ybar []nabla.Real) {
		xbar[0] = nabla.Sqrt(x[0]).Scale(1.5).Mul(ybar[0])
	},
}

// bothHalves is a rule with two outputs, x^1.5 of each argument.
var bothHalves = nabla.Rule{
	Name: "bothhalves",
	Out:  func(n int) int { return n },
	Value: func(y, x []float64) {
		for i, v := range x {
			y[i] = math.Sqrt(v) * v
		}
	},
	VJPReal: func(xbar, x, y, ybar []nabla.Real) {
		for i, v := range x {
			xbar[i] = nabla.Sqrt(v).Scale(1.5).Mul(ybar[i])
		}
	},
}.Func()

// threeHalves is rootCubed, pureHalves the same as a rule whose operations programs inline.
var threeHalves, pureHalves = rootCubed.Func(), pure(rootCubed).Func()

func pure(r nabla.Rule) nabla.Rule {
	r.Pure = true
	return r
}

// TestTraceHessianAgrees: an operation is found if and only if a value or a derivative to second order of an engine is
// not finite, for random functions.
func TestTraceHessianAgrees(t *testing.T) {
	found := [3]int{}
	for seed := range uint64(longtest.Cases(0, 10, 40, 3000)) {
		p, xs := randfunc.New(randomData(seed+1000), 3, randfunc.Options{M: 1, Nested: seed%2 == 1})
		f := p.Real().Scalar
		random := rand.New(rand.NewPCG(seed, 5))
		for range 5 {
			x := make([]float64, 3)
			for i := range x {
				x[i] = []float64{0, 1, -1, 2, 0.5}[random.IntN(5)]
			}
			xs = append(xs, x)
		}
		for _, x := range xs {
			if o := p.Oracle(x); o.Big {
				continue // overflow depends on the order of products
			}
			bad, err := nabla.TraceHessian(f, x)
			if err != nil {
				t.Errorf("seed %d at %v: %v", seed, x, err)
				continue
			}
			finite := allFinite(t, f, x, secondOrder)
			if (bad == nil) != finite {
				t.Errorf("seed %d at %v: found %v; all finite: %v\n%v", seed, x, bad, finite, p)
			}
			if bad != nil {
				found[order(bad)]++
			}
		}
	}
	t.Log("values, first and second derivatives:", found)
	if found[0] == 0 {
		t.Errorf("only %v values, first and second derivatives are not finite", found)
	}
}

// order returns the order of the derivative that is not finite.
func order(n *nabla.NonFinite) int {
	switch {
	case n.Second:
		return 2
	case n.Derivative:
		return 1
	}
	return 0
}

// allFinite reports whether value, gradient and Hessian of all engines are finite.
func allFinite(t *testing.T, f func(x []nabla.Real) nabla.Real, x []float64, engines []nabla.Backend) bool {
	t.Helper()
	finite := true
	for _, b := range engines {
		y, g, h, err := nabla.ValueGradientAndHessian(f, b, x)
		if err != nil {
			t.Errorf("%s at %v: %v", b.Name(), x, err)
			continue
		}
		finite = finite && y-y == 0
		for i := range x {
			finite = finite && g[i]-g[i] == 0
			for j := range x {
				finite = finite && h.At(i, j)-h.At(i, j) == 0
			}
		}
	}
	return finite
}

// TestTraceHessianSpecialPoints: at the special points of every function, an operation is found if and only if an
// engine has a value or derivative that is not finite. In functions of one operation it is that one.
func TestTraceHessianSpecialPoints(t *testing.T) {
	longtest.Serial(t)
	points := []float64{0, math.Copysign(0, -1), 1, -1, 2, -2, 0.5, -2.5, 1e300, math.Inf(1), math.NaN()}
	found := [3]int{}
	for name, p := range randfunc.Singles() {
		if p.N > 2 {
			continue
		}
		f := p.Real().Scalar
		var engines []*nabla.HessianPrep
		for _, b := range secondOrder {
			prep, err := nabla.PrepareHessian(f, b, []float64{0.7, 0.3}[:p.N])
			if err != nil {
				t.Fatal(err)
			}
			engines = append(engines, prep)
		}
		x := make([]float64, p.N)
		for k := range len(points) * len(points) {
			if x[0] = points[k%len(points)]; p.N == 1 && k >= len(points) {
				break
			}
			if p.N == 2 {
				x[1] = points[k/len(points)]
			}
			finite := true
			for _, prep := range engines {
				y, g, h, err := prep.ValueGradientAndHessian(nil, nil, x)
				if err != nil {
					t.Fatal(err)
				}
				finite = finite && y-y == 0
				for i := range x {
					finite = finite && g[i]-g[i] == 0
					for j := range x {
						finite = finite && h.At(i, j)-h.At(i, j) == 0
					}
				}
			}
			bad, err := nabla.TraceHessian(f, x)
			if err != nil || (bad == nil) != finite {
				t.Errorf("%s%v: found %v, %v; all finite: %v", name, x, bad, err, finite)
			}
			if bad != nil {
				found[order(bad)]++
			}
		}
	}
	t.Log("values, first and second derivatives:", found)
	if found[0] < 100 || found[1] < 20 || found[2] < 10 {
		t.Errorf("only %v values, first and second derivatives are not finite", found)
	}
}

// A cutChain is a function of steps with one operation each, some of which are cut: their results have no derivative,
// and are 1 where they are not finite.
type cutChain struct {
	steps []int // operation of each step
	a, b  []int // numbers that it takes
	cut   map[int]bool
	index []int // operations before each step, -1 for one of constants, from the last run
}

var chainOps = []struct {
	unary bool
	f     func(a, b nabla.Real) nabla.Real
}{
	{false, nabla.Real.Add}, {false, nabla.Real.Mul}, {false, nabla.Real.Sub}, {false, nabla.Real.Div},
	{false, nabla.Hypot}, {false, nabla.XLogY},
	{true, func(a, _ nabla.Real) nabla.Real { return nabla.Sqrt(a) }},
	{true, func(a, _ nabla.Real) nabla.Real { return a.PowConst(1.5) }},
	{true, func(a, _ nabla.Real) nabla.Real { return nabla.Sin(a) }},
	{true, func(a, _ nabla.Real) nabla.Real { return nabla.Log(a) }},
	{true, func(a, _ nabla.Real) nabla.Real { return nabla.Abs(a) }},
}

func (c *cutChain) run(x []nabla.Real) nabla.Real {
	numbers := append([]nabla.Real(nil), x...)
	constant, operations := make([]bool, len(x)), 0
	c.index = nil
	for k, i := range c.steps {
		a, b := c.a[k], c.b[k]
		y, still, index := chainOps[i].f(numbers[a], numbers[b]), constant[a] && (chainOps[i].unary || constant[b]), -1
		if !still {
			index = operations
			operations++
		}
		c.index = append(c.index, index)
		if c.cut[k] || still {
			if !still {
				operations++
			}
			y = nabla.StopGradient(y)
			if v := y.Value(); v-v != 0 {
				y, still = nabla.Const(1), true
			}
		}
		numbers, constant = append(numbers, y), append(constant, still)
	}
	sum := nabla.Const(0)
	for _, y := range numbers[max(len(x), len(numbers)-2):] {
		sum = sum.Add(y)
	}
	return sum
}

// TestTraceHessianCut: an operation that is found is not found again once it is cut, and when all that are found are
// cut, value, gradient and Hessian of the engines are finite. Often one cut is enough.
func TestTraceHessianCut(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	cuts, seconds, alone := 0, 0, 0
	for range longtest.Cases(0, 100, 300, 20_000) {
		c := &cutChain{cut: map[int]bool{}}
		n := 1 + random.IntN(3)
		for k := range 1 + random.IntN(6) {
			c.steps = append(c.steps, random.IntN(len(chainOps)))
			c.a, c.b = append(c.a, random.IntN(n+k)), append(c.b, random.IntN(n+k))
		}
		x := make([]float64, n)
		for i := range x {
			x[i] = []float64{0, 1, 2, -1, 0.5}[random.IntN(5)]
		}
		for {
			bad, err := nabla.TraceHessian(c.run, x)
			if err != nil {
				t.Fatal(err)
			}
			k := -1
			if bad != nil {
				k = slices.Index(c.index, bad.Index)
			}
			if finite := allFinite(t, c.run, x, secondOrder[:3]); (bad == nil) != finite {
				t.Errorf("%+v at %v: found %v, all finite: %v", c, x, bad, finite)
			}
			if bad == nil {
				break
			}
			if k < 0 || c.cut[k] {
				t.Fatalf("%+v at %v: found %v, step %d", c, x, bad, k)
			}
			if bad.Second {
				seconds++
			}
			c.cut[k] = true
			cuts++
		}
		if len(c.cut) == 1 {
			alone++
		}
	}
	t.Log(cuts, "cuts,", seconds, "of second derivatives,", alone, "functions with one")
	if !testing.Short() && (cuts < 50 || seconds < 10 || alone < 20) {
		t.Errorf("only %d cuts, %d of second derivatives, %d functions with one", cuts, seconds, alone)
	}
}
