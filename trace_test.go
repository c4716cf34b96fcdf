package nabla_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/problems"
	"github.com/nabla-ad/nabla/internal/randfunc"
)

// halved is a rule whose derivative is infinite at 0 and whose value is NaN below.
var halved = nabla.Rule{
	Name:  "halved",
	Value: func(y, x []float64) { y[0] = math.Sqrt(x[0] + 0*x[1]) },
	JVP: func(ydot, x, y, xdot []float64) {
		ydot[0] = (xdot[0] + 0*x[1]) / (2 * y[0])
	},
	VJP: func(xbar, x, y, ybar []float64) { xbar[0] += ybar[0] / (2 * y[0]) },
}.Func()

// TestTrace requires the operation and the line that is marked with its name.
func TestTrace(t *testing.T) {
	data := []float64{1, math.NaN()}
	source, err := os.ReadFile("trace_test.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(source), "\n")
	for _, tt := range []struct {
		name string
		f    func(x []nabla.Real) []nabla.Real
		x    []float64
		want string // what String says, without place
		bad  nabla.NonFinite
	}{
		{"log", func(x []nabla.Real) []nabla.Real {
			s := nabla.Exp(x[0])
			l := nabla.Log(x[1].Sub(x[0])) // log
			return []nabla.Real{s, l.Mul(s).Add(l)}
		}, []float64{3, 2}, "log(-1) = NaN", nabla.NonFinite{Op: "log", Output: 1, Input: -1, Arg: -1, Index: 2}},
		{"exp", func(x []nabla.Real) []nabla.Real {
			a := nabla.Exp(x[0]) // exp
			return []nabla.Real{a.Div(a.AddConst(1))}
		}, []float64{1000}, "exp(1000) = +Inf", nabla.NonFinite{Op: "exp", Input: -1, Arg: -1}},
		{"div", func(x []nabla.Real) []nabla.Real {
			r := nabla.Const(0)
			for i := range x {
				r = r.Add(x[i].Sub(x[0]).Div(x[i].Sub(x[1]))) // div
			}
			return []nabla.Real{r}
		}, []float64{1, 2, 3}, "div(1, 0) = +Inf", nabla.NonFinite{Op: "div", Input: -1, Arg: -1, Index: 6}},
		{"data", func(x []nabla.Real) []nabla.Real {
			s := x[0]
			for _, d := range data {
				s = s.Mul(nabla.Const(d)) // data
			}
			return []nabla.Real{nabla.Sin(s)}
		}, []float64{2}, "mul(2, NaN) = NaN: argument 1 is a constant that is not finite",
			nabla.NonFinite{Op: "mul", Input: -1, Arg: 1, Index: 1}},
		{"input", func(x []nabla.Real) []nabla.Real { return []nabla.Real{nabla.Exp(x[0].Mul(x[1]))} },
			[]float64{1, math.Inf(1)}, "input 1 is +Inf", nabla.NonFinite{Input: 1, Arg: -1}},
		{"constant", func(x []nabla.Real) []nabla.Real { return []nabla.Real{x[0], nabla.Const(data[1])} },
			[]float64{1}, "output 1 is the constant NaN", nabla.NonFinite{Output: 1, Input: -1, Arg: -1}},
		{"norm", func(x []nabla.Real) []nabla.Real {
			n := nabla.Sqrt(x[0].Sq().Add(x[1].Sq())) // norm
			return []nabla.Real{x[0], n.Scale(3)}
		}, []float64{0, 0}, "sqrt(0) = 0: its derivative with respect to argument 0, times 3, the derivative of " +
			"output 1 with respect to the result, is not finite",
			nabla.NonFinite{Op: "sqrt", Output: 1, Derivative: true, Input: 0, Cotangent: 3, Index: 3}},
		{"overflow", func(x []nabla.Real) []nabla.Real {
			small := x[0].Scale(1e200) // overflow
			return []nabla.Real{small.Scale(1e200)}
		}, []float64{1e-300}, "mul(1e-300, 1e+200) = 1e-100: its derivative with respect to argument 0, times " +
			"1e+200, the derivative of output 0 with respect to the result, is not finite",
			nabla.NonFinite{Op: "mul", Derivative: true, Cotangent: 1e200}},
		{"rule", func(x []nabla.Real) []nabla.Real {
			return halved(x[0], x[1]) // rule
		}, []float64{-1, 0}, "halved(-1, 0) = NaN", nabla.NonFinite{Op: "halved", Input: -1, Arg: -1}},
		{"rule derivative", func(x []nabla.Real) []nabla.Real {
			return []nabla.Real{halved(x[0].Sq(), x[1])[0].Scale(2)} // rule derivative
		}, []float64{0, 0}, "halved(0, 0) = 0: its derivative with respect to argument 0, times 2, the derivative of " +
			"output 0 with respect to the result, is not finite",
			nabla.NonFinite{Op: "halved", Derivative: true, Cotangent: 2, Index: 1}},
		{"max", func(x []nabla.Real) []nabla.Real {
			return []nabla.Real{nabla.Sqrt(nabla.Max(x[0], x[1]))} // max
		}, []float64{-1, 0}, "sqrt(0) = 0: its derivative with respect to argument 0, times 1, the derivative of " +
			"output 0 with respect to the result, is not finite",
			nabla.NonFinite{Op: "sqrt", Derivative: true, Input: 1, Cotangent: 1, Index: 1}},
		{"where", func(x []nabla.Real) []nabla.Real {
			return []nabla.Real{nabla.Where(nabla.Lt(nabla.Const(0), x[0]), nabla.Log(x[0]), x[0])}
		}, []float64{-1}, "", nabla.NonFinite{}},
		{"square", func(x []nabla.Real) []nabla.Real { return []nabla.Real{nabla.Exp(x[0].Sq())} }, []float64{0}, "",
			nabla.NonFinite{}},
		{"logistic", func(x []nabla.Real) []nabla.Real {
			return []nabla.Real{nabla.Const(1).Div(nabla.Exp(x[0].Neg()).AddConst(1))}
		}, []float64{-700}, "", nabla.NonFinite{}},
	} {
		bad, err := nabla.Trace(tt.f, tt.x)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if tt.want == "" {
			if bad != nil || !strings.Contains(bad.String(), "finite") {
				t.Errorf("%s: %v", tt.name, bad)
			}
			continue
		}
		if bad == nil {
			t.Errorf("%s: nothing is found", tt.name)
			continue
		}
		got, want := *bad, tt.bad
		got.Args, got.Values, got.Function, got.File, got.Line = nil, nil, "", "", 0
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) || !strings.Contains(bad.String(), tt.want) {
			t.Errorf("%s: got %v\n%+v\nwant %s\n%+v", tt.name, bad, got, tt.want, want)
		}
		if tt.bad.Op == "" {
			continue
		}
		if filepath.Base(bad.File) != "trace_test.go" || !strings.HasSuffix(lines[bad.Line-1], "// "+tt.name) ||
			!strings.Contains(bad.Function, "nabla_test.TestTrace") {
			t.Errorf("%s: found in %s, %s:%d", tt.name, bad.Function, bad.File, bad.Line)
		}
	}
}

// TestTraceAgrees: an operation is found if and only if a value or derivative of the tracker is not finite.
func TestTraceAgrees(t *testing.T) {
	found := 0
	for seed := range uint64(longtest.Cases(0, 50, 300, 10_000)) {
		o := randfunc.Options{M: 1 + int(seed%3)}
		p, xs := randfunc.New(randomData(seed), 3, o)
		f := p.Real().Vector
		for _, x := range xs {
			want := false
			y, jac, err := nabla.ValueAndJacobian(f, tracker.Backend{}, x)
			bad, err2 := nabla.Trace(f, x)
			if err != nil || err2 != nil {
				if (err == nil) != (err2 == nil) {
					t.Errorf("seed %d at %v: errors %v, %v", seed, x, err, err2)
				}
				continue
			}
			for i, v := range y {
				want = want || math.IsNaN(v) || math.IsInf(v, 0)
				for j := range x {
					v := jac.At(i, j)
					want = want || math.IsNaN(v) || math.IsInf(v, 0)
				}
			}
			if (bad != nil) != want {
				t.Errorf("seed %d at %v: found %v; values %v, derivatives %v", seed, x, bad, y, jac)
			}
			if want {
				found++
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d points are not finite", found)
	}
}

// TestTracePlain traces a function over float64 through its generated code: the place is that of its source.
func TestTracePlain(t *testing.T) {
	x := make([]float64, 4)
	bad, err := nabla.Trace(problems.RosenbrockPlain, x)
	if err != nil || bad != nil {
		t.Errorf("got %v, %v", bad, err)
	}
	x[2] = 1e200
	bad, err = nabla.Trace(problems.RosenbrockPlain, x)
	if err != nil || bad == nil || bad.Op != "sq" || !strings.HasSuffix(bad.File, "problems/rosenbrock.go") ||
		!strings.HasSuffix(bad.Function, "problems.RosenbrockPlain") ||
		!strings.Contains(bad.String(), "(in problems.RosenbrockPlain,") {
		t.Fatalf("got %v, %v", bad, err)
	}
	if text := "s += 100*(a*a) + b*b"; !strings.Contains(bad.String(), text) && filepath.IsAbs(bad.File) {
		t.Errorf("no %s in %v", text, bad)
	}
	codeless := func(x []float64) float64 { return x[0] }
	if _, err := nabla.Trace(codeless, x); !errors.Is(err, nabla.ErrUnsupported) {
		t.Errorf("a function without code: %v", err)
	}
	failing := func(x []nabla.Real) (nabla.Real, error) { return nabla.Real{}, os.ErrClosed }
	if _, err := nabla.Trace(failing, x); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a function that fails: %v", err)
	}
}

// TestTraceManyArguments: the constant argument of a rule that is not finite is found among hundreds.
func TestTraceManyArguments(t *testing.T) {
	sum := nabla.Rule{
		Name: "sum",
		Value: func(y, x []float64) {
			y[0] = 0
			for _, v := range x {
				y[0] += v
			}
		},
		VJP: func(xbar, x, y, ybar []float64) {
			for i := range xbar {
				xbar[i] += ybar[0]
			}
		},
	}.Func()
	f := func(x []nabla.Real) nabla.Real {
		args := make([]nabla.Real, 300)
		args[0], args[257] = x[0], nabla.Const(math.Inf(1))
		return sum(args...)[0]
	}
	bad, err := nabla.Trace(f, []float64{1})
	if err != nil || bad == nil || bad.Op != "sum" || bad.Arg != 257 || len(bad.Args) != 300 {
		t.Errorf("got %v, %v", bad, err)
	}
}
