package rt_test

import (
	"math"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/rt"
	"github.com/nabla-ad/nabla/rules"
)

// TestAllOperations checks that each operation of package rules that package math does not have is a function here,
// with the same value.
func TestAllOperations(t *testing.T) {
	funcs := map[string]any{
		"neg":       rt.Neg,
		"inv":       rt.Inv,
		"sq":        rt.Sq,
		"lgamma":    rt.Lgamma,
		"gammasign": rt.Gammasign,
		"digamma":   rt.Digamma,
		"logistic":  rt.Logistic,
		"softplus":  rt.Softplus,
		"sign":      rt.Sign,
		"finite":    rt.Finite,
		"stop":      rt.Stop,
		"sechsq":    rt.Sechsq,
		"cosatan":   rt.Cosatan,
		"add":       rt.Add,
		"sub":       rt.Sub,
		"mul":       rt.Mul,
		"div":       rt.Div,
		"xlogy":     rt.Xlogy,
		"logaddexp": rt.Logaddexp,
		"jn":        rt.Jn,
		"yn":        rt.Yn,
		"polygamma": rt.Polygamma,
		"powdx":     rt.Powdx,
		"powdp":     rt.Powdp,
		"powscale":  rt.Powscale,
		"hypotdx":   rt.Hypotdx,
		"mulz":      rt.Mulz,
		"divz":      rt.Divz,
		"lt":        rt.Lt,
		"le":        rt.Le,
		"eq":        rt.Eq,
		"select":    rt.Select,
	}
	const x, y, z = 1.3, 0.7, 2.1
	for op := rules.Invalid + 1; op < rules.NumOps; op++ {
		r := rules.Info(op)
		if strings.HasPrefix(r.Value, "math.") {
			continue
		}
		var got, want float64
		switch f := funcs[r.Name].(type) {
		case func(x float64) float64:
			got, want = f(x), rules.Value1(op, x)
		case func(x, y float64) float64:
			got, want = f(x, y), rules.Value2(op, x, y)
		case func(x, y, z float64) float64:
			got, want = f(x, y, z), rules.Value3(op, x, y, z)
		default:
			t.Errorf("no function %s", r.Name)
		}
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s is %v, want %v", r.Name, got, want)
		}
	}
	if rt.Value(3) != 3 {
		t.Error("a value changes")
	}
}
