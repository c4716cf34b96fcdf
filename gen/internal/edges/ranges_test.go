package edges

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/backend/tracker"

	"gonum.org/v1/gonum/mat"
)

// engines holds the engines with exact derivatives; the first three push tangents.
var engines = []nabla.Backend{
	source.Forward{}, forwarddiff.Backend{}, forwarddiff.Backend{Chunk: 1},
	source.Reverse{}, reversediff.Backend{}, reversediff.Backend{Compile: true}, tracker.Backend{},
}

// secondOrderEngines holds engines for second derivatives: each engine alone, and pairs.
var secondOrderEngines = append([]nabla.Backend{
	nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{Compile: true}},
	nabla.SecondOrder{Outer: reversediff.Backend{Compile: true}, Inner: forwarddiff.Backend{}},
	nabla.SecondOrder{Outer: tracker.Backend{}, Inner: reversediff.Backend{}},
	nabla.SecondOrder{Outer: source.Reverse{}, Inner: source.Forward{}},
	nabla.SecondOrder{Outer: source.Forward{}, Inner: source.Reverse{}},
}, engines...)

// A row is a row of testdata/ranges.json.
type row struct {
	name          string
	out, in, x, y float64
	two           bool
	grad, hess    []float64
}

func rows(t *testing.T) (list []row) {
	text, err := os.ReadFile("testdata/ranges.json")
	if err != nil {
		t.Fatal(err)
	}
	var raw [][]any
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	numbers := func(v any) (out []float64) {
		for _, s := range v.([]any) {
			x, err := strconv.ParseFloat(s.(string), 64)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, x)
		}
		return out
	}
	for _, r := range raw {
		w := row{name: r[0].(string), out: math.Ldexp(1, int(r[1].(float64))), in: math.Ldexp(1, int(r[2].(float64))),
			x: r[3].(float64)}
		w.y, w.two = r[4].(float64)
		w.grad, w.hess = numbers(r[5]), numbers(r[6])
		list = append(list, w)
	}
	return list
}

// outOfTolerance reports whether derivatives disagree with references. References below the normal numbers may be 0.
func outOfTolerance(got, want []float64) bool {
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= 2e-12*math.Abs(w)+1e-290) {
			return true
		}
	}
	return false
}

// check compares first or second derivatives of f, a function of at least one number, with the references.
func (r *row) check(b nabla.Backend, f any, x []float64, second bool) error {
	if !second {
		g, err := gradient(f, b, x)
		if err == nil && outOfTolerance(g[:len(r.grad)], r.grad) {
			err = fmt.Errorf("gradient %v, want %v", g, r.grad)
		}
		return err
	}
	h, err := hessian(f, b, x)
	if err != nil {
		return err
	}
	var got []float64
	for i := range r.grad {
		for j := range r.grad {
			got = append(got, h.At(i, j))
		}
	}
	if outOfTolerance(got, r.hess) {
		err = fmt.Errorf("Hessian %v, want %v", got, r.hess)
	}
	return err
}

func gradient(f any, b nabla.Backend, x []float64) ([]float64, error) {
	if g, ok := f.(*nabla.Func); ok {
		return nabla.Gradient(g, b, x)
	}
	return nabla.Gradient(f.(func([]nabla.Real) nabla.Real), b, x)
}

func hessian(f any, b nabla.Backend, x []float64) (mat.Symmetric, error) {
	if g, ok := f.(*nabla.Func); ok {
		return nabla.Hessian(g, b, x)
	}
	return nabla.Hessian(f.(func([]nabla.Real) nabla.Real), b, x)
}

// reals maps the names of the references to functions over Reals.
var reals = map[string]any{
	"inv": nabla.Inv, "sq": nabla.Real.Sq, "sqrt": nabla.Sqrt, "cbrt": nabla.Cbrt, "log": nabla.Log, "log2": nabla.Log2,
	"log10": nabla.Log10, "log1p": nabla.Log1p, "asinh": nabla.Asinh, "acosh": nabla.Acosh, "atan": nabla.Atan,
	"exp": nabla.Exp, "expm1": nabla.Expm1, "sin": nabla.Sin, "cos": nabla.Cos, "tan": nabla.Tan, "asin": nabla.Asin,
	"acos": nabla.Acos, "atanh": nabla.Atanh, "sinh": nabla.Sinh, "cosh": nabla.Cosh, "tanh": nabla.Tanh,
	"erf":  nabla.Erf,
	"erfc": nabla.Erfc, "gamma": nabla.Gamma,
	"lgamma": func(u nabla.Real) nabla.Real { l, _ := nabla.Lgamma(u); return l }, "y0": nabla.Y0,
	"logistic": nabla.Logistic,
	"softplus": nabla.Softplus, "logerfc": func(u nabla.Real) nabla.Real { return nabla.Log(nabla.Erfc(u)) },
	"div": func(u, y nabla.Real) nabla.Real { return y.Div(u) }, "over": nabla.Real.Div, "mul": nabla.Real.Mul,
	"hypot": nabla.Hypot, "atan2": nabla.Atan2, "pow": nabla.Pow,
	"xlogy": func(u, y nabla.Real) nabla.Real { return nabla.XLogY(y, u) },
}

// TestRanges compares first and second derivatives near the ends of the range, of functions scaled so that their
// derivatives are ordinary numbers, with references: for all engines, over Reals and over plain numbers.
func TestRanges(t *testing.T) {
	bad, count := map[string]int{}, 0
	report := func(r *row, what string, b nabla.Backend, err error) {
		count++
		if err == nil {
			return
		}
		if bad[r.name]++; bad[r.name] <= 3 {
			t.Errorf("%s by %s: %g·%s(%g·%g, %g): %v", what, b.Name(), r.out, r.name, r.in, r.x, r.y, err)
		}
	}
	for _, r := range rows(t) {
		real := func(x []nabla.Real) nabla.Real {
			u := x[0].Scale(r.in)
			switch f := reals[r.name].(type) {
			case func(u nabla.Real) nabla.Real:
				return f(u).Scale(r.out)
			case func(u, y nabla.Real) nabla.Real:
				return f(u, x[1]).Scale(r.out)
			}
			t.Fatalf("no function %s", r.name)
			return u
		}
		x := []float64{r.x, r.y}
		if !r.two {
			x = x[:1]
		}
		for _, b := range engines {
			if !runsGeneratedCode(b) {
				report(&r, "Reals", b, r.check(b, real, x, false))
			}
		}
		for _, b := range secondOrderEngines {
			if !runsGeneratedCode(b) {
				report(&r, "Reals", b, r.check(b, real, x, true))
			}
		}
		op := slices.Index(Names, r.name)
		if op < 0 { // a function that package math does not have
			continue
		}
		f := nabla.Bind(Scaled, &Call{Op: op, In: r.in, Out: r.out})
		for _, b := range []nabla.Backend{source.Forward{}, source.Reverse{}, reversediff.Backend{Compile: true}} {
			report(&r, "plain", b, r.check(b, f, []float64{r.x, r.y}, false))
			report(&r, "plain", b, r.check(b, f, []float64{r.x, r.y}, true))
		}
	}
	if t.Logf("%d checks, %v wrong", count, bad); count < 10000 {
		t.Errorf("%d checks only", count)
	}
}

// runsGeneratedCode reports whether b runs generated code.
func runsGeneratedCode(b nabla.Backend) bool { return strings.Contains(b.Name(), "source") }
