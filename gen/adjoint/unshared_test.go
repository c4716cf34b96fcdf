package adjoint_test

import (
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/ir"
)

// TestExchangedSlices checks adjoints of functions that exchange slices between loops whose reversal adds to
// neighbouring elements and loads them, and in which of their functions these additions and loads are carried from one
// iteration to the next.
func TestExchangedSlices(t *testing.T) {
	// Step sets the elements of v, and exchange exchanges both slices.
	const step = `
	for s1, n1 i int = 1; i < len(u) - 1; i += 1 {
		v[i] = u[i - 1] * u[i] + 0.5 * u[i + 1]
	}`
	const exchange = `
	let w []float64 = u
	u = v
	v = w
`
	const buffers = `
	let u []float64 = make([]float64, len(x))
	let v []float64 = make([]float64, len(x))
	copy(u, x)
`
	repeated := func(body string) string {
		return "for t1, m1 t int = 0; t < k; t += 1 {" + body + "}\n"
	}
	const sum = `
	for s2, n2 j int = 0; j < len(u); j += 1 {
		r += u[j] * u[j]
	}
`
	const head = "func F(x []float64, k int) (r float64) exit {\n"
	const callee = "func g(x []float64, k int) (r float64) exit {\n"
	const exchanging = "func g(u []float64, v []float64, k int) (r float64) exit {\n"
	for _, c := range []struct {
		name, text string
		carried    string // the functions
	}{
		{"variables", head + buffers + repeated(step+exchange) + sum + "}", "F_adjoint"},
		{"a coefficient", head + buffers + "let y []float64 = x[0:]\n" +
			repeated(strings.Replace(step, "0.5 *", "y[i] *", 1)+exchange) + sum + "}",
			"F_adjoint in part"},
		{"joined", head + buffers + repeated(step+exchange+"if t > 2 {\nu = v\n}\n") + sum + "}", ""},
		{"variables of a callee", callee + buffers + repeated(step+exchange) + sum + "}\n" + head +
			"r = call g(x, k)\n}", "g_reverse"},
		{"parameters of a callee", exchanging + repeated(step+exchange) + sum + "}\n" + head + buffers +
			"r = call g(u, v, k)\n}", ""}, // activity has one class for both
		{"parameters", strings.Replace(exchanging, "func g", "func F", 1) + repeated(step+exchange) + sum + "}",
			"F_adjoint"},
		{"one argument twice", exchanging + repeated(step+exchange) + sum + "}\n" + head + buffers +
			"r = call g(u, u, k)\n}", ""},
		{"overlapping arguments", exchanging + repeated(step+exchange) + sum + "}\n" + head + buffers +
			"r = call g(u, u[1:], k)\n}", ""},
		{"results of a callee", "func g(x []float64, k int) (u []float64, v []float64) exit {\n" +
			"u = make([]float64, len(x))\nv = make([]float64, len(x))\ncopy(u, x)\n" + repeated(step+exchange) + "}\n" +
			head + "let u []float64\nlet v []float64\nu, v = call g(x, k)\n" + sum + "}", "g_reverse"},
		{"results", "func F(x []float64, k int) (u []float64, v []float64) exit {\n" +
			"u = make([]float64, len(x))\nv = make([]float64, len(x))\ncopy(u, x)\n" + repeated(step+exchange) + "}",
			"F_adjoint"},
	} {
		funcs, err := ir.Parse(c.text, nil)
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.name, err, c.text)
		}
		f := funcs[len(funcs)-1]
		m := activity.Mask{}.With(0)
		x := []any{[]float64{0.7, 1.3, 2.1, 0.4, 0.9}}
		one := []any{[]float64{0.7}}
		if len(f.Params) == 3 {
			m = m.With(1)
			x = append(x, []float64{0.1, 0.2, 0.3, 0.4, 0.5})
			one = append(one, []float64{0.2})
		}
		disabled := adjoint.Optimizations["inlining"]
		for _, k := range []int{0, 1, 5} {
			check(t, f, m, disabled, append(slices.Clip(x), k)...)
		}
		check(t, f, m, disabled, append(one, 2)...)
		a, err := programWithout(disabled).Of(f, m)
		if err != nil {
			t.Fatal(err)
		}
		var carried []string
		for _, g := range reached(a.Func) {
			sums, loads := strings.Contains(g.String(), "carry"), strings.Contains(g.String(), "let now ")
			switch {
			case sums && loads:
				carried = append(carried, g.Name)
			case sums || loads:
				carried = append(carried, g.Name+" in part")
			}
		}
		if got := strings.Join(carried, " "); got != c.carried {
			t.Errorf("%s: additions are carried in %q, want %q", c.name, got, c.carried)
		}
	}
}

// TestExchangedArguments checks that nothing is carried past arguments that may be one slice.
func TestExchangedArguments(t *testing.T) {
	funcs, err := ir.Parse(`func F(u []float64, v []float64, k int) (r float64) exit {
	for t1, m1 t int = 0; t < k; t += 1 {
		for s1, n1 i int = 1; i < len(u) - 1; i += 1 {
			v[i] = u[i - 1] - 2 * u[i] + 0.5 * u[i + 1]
		}
		let w []float64 = u
		u = v
		v = w
	}
	for s2, n2 j int = 0; j < len(u); j += 1 {
		r += u[j] * 0.5
	}
}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, overlap := range []bool{false, true} {
		p := adjoint.New(types.NewPackage("w", "w"), "Work", adjoint.Options{Overlap: overlap})
		a, err := p.Of(funcs[0], activity.Mask{}.With(0).With(1))
		if err != nil {
			t.Fatal(err)
		}
		if carried := strings.Contains(a.Func.String(), "carry"); carried == overlap {
			t.Errorf("overlap %t: carried is %t\n%v", overlap, carried, a.Func)
		}
	}
}
