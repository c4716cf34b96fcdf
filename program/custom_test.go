package program

import (
	"math"

	"github.com/nabla-ad/nabla/internal/core"
)

// The custom rules of the tests are written by hand to any order that a test
// needs: "f" maps (a, b) to (a·b, sin a), and its derivatives are polynomials in
// its inputs and sin and cos of the first.

// A formula is a function of n inputs with its Jacobian, row by row, as formulas
// again.
type formula struct {
	name  string
	n     int
	value func(x []float64) []float64
	// partial is ∂y/∂x_j as a formula of the same inputs with the same outputs.
	partial func(j int) formula
}

var _ core.Custom = formula{}

func (f formula) Name() string { return f.name }

func (f formula) Outputs(n int) int {
	if n != f.n {
		return -1
	}
	return len(f.value(make([]float64, n)))
}

func (f formula) Value(y, x []float64) { copy(y, f.value(x)) }

func (f formula) JVP(ydot, x, y, xdot []float64) {
	clear(ydot)
	for j := range x {
		for i, v := range f.partial(j).value(x) {
			ydot[i] += v * xdot[j]
		}
	}
}

func (f formula) VJP(xbar, x, y, ybar []float64) {
	for j := range x {
		for i, v := range f.partial(j).value(x) {
			xbar[j] += v * ybar[i]
		}
	}
}

func (f formula) Tangent(n int) core.Custom { return f.tangent() }

// tangent is (x, xdot) ↦ Σ_j ∂f/∂x_j·xdot_j.
func (f formula) tangent() formula {
	return formula{
		name: f.name + ".jvp", n: 2 * f.n,
		value: func(z []float64) []float64 {
			y := make([]float64, f.Outputs(f.n))
			f.JVP(y, z[:f.n], nil, z[f.n:])
			return y
		},
		partial: func(k int) formula {
			if k >= f.n { // linear in xdot
				return f.partial(k - f.n).widen(2 * f.n)
			}
			return f.partial(k).tangent()
		},
	}
}

// widen is f of the first inputs of n.
func (f formula) widen(n int) formula {
	return formula{
		name: f.name, n: n,
		value: func(z []float64) []float64 { return f.value(z[:f.n]) },
		partial: func(k int) formula {
			if k < f.n {
				return f.partial(k).widen(n)
			}
			return formula{f.name, n, func([]float64) []float64 { return make([]float64, f.Outputs(f.n)) }, nil}
		},
	}
}

func (f formula) Cotangent(n int) core.Custom { return f.cotangent() }

// cotangent is (x, ybar) ↦ Jᵀ·ybar.
func (f formula) cotangent() formula {
	m := f.Outputs(f.n)
	return formula{
		name: f.name + ".vjp", n: f.n + m,
		value: func(z []float64) []float64 {
			xbar := make([]float64, f.n)
			f.VJP(xbar, z[:f.n], nil, z[f.n:])
			return xbar
		},
		partial: func(k int) formula {
			if k < f.n {
				return f.partial(k).cotangent()
			}
			return formula{
				name: f.name + ".row", n: f.n + m,
				value: func(z []float64) []float64 {
					row := make([]float64, f.n)
					for j := range row {
						row[j] = f.partial(j).value(z[:f.n])[k-f.n]
					}
					return row
				},
			}
		},
	}
}

// ruleF is (a, b) ↦ (a·b, sin a): part 0 is the function itself, part 1 the
// derivative with respect to a, and so on.
func ruleF(da, db int) formula {
	return formula{
		name: "f", n: 2,
		value: func(x []float64) []float64 {
			ab := 0.0
			switch {
			case da == 0 && db == 0:
				ab = x[0] * x[1]
			case da == 1 && db == 0:
				ab = x[1]
			case da == 0 && db == 1:
				ab = x[0]
			case da == 1 && db == 1:
				ab = 1
			}
			s := 0.0
			if db == 0 {
				s = math.Sin(x[0] + float64(da)*math.Pi/2)
			}
			return []float64{ab, s}
		},
		partial: func(j int) formula {
			if j == 0 {
				return ruleF(da+1, db)
			}
			return ruleF(da, db+1)
		},
	}
}

// ruleG is x ↦ exp(x/4), which is its own derivative but for the factor.
func ruleG(order int) formula {
	return formula{
		name: "g", n: 1,
		value:   func(x []float64) []float64 { return []float64{math.Exp(x[0]/4) * math.Pow(0.25, float64(order))} },
		partial: func(int) formula { return ruleG(order + 1) },
	}
}

// ruleSink has two inputs and no outputs.
func ruleSink() formula {
	return formula{
		name: "sink", n: 2,
		value:   func([]float64) []float64 { return nil },
		partial: func(int) formula { return ruleSink() },
	}
}

// ruleH is x ↦ -0·x, which writes -0 for every positive x: its derivative is
// zero, but depends on the values.
type ruleH struct{ n int }

func (h ruleH) Name() string                 { return "h" }
func (h ruleH) Value(y, x []float64)         { y[0] = negZero * x[h.n-1] }
func (h ruleH) JVP(ydot, x, y, xd []float64) { ydot[0] = negZero * xd[0] }
func (h ruleH) VJP(xbar, x, y, yb []float64) { xbar[0] += negZero * yb[0] }
func (h ruleH) Tangent(int) core.Custom      { return ruleH{2} }
func (h ruleH) Cotangent(int) core.Custom    { return ruleH{2} }

func (h ruleH) Outputs(n int) int {
	if n != h.n {
		return -1
	}
	return 1
}

// testCustoms holds the rules by name, with the first derivatives that printed
// programs call.
var testCustoms = map[string]core.Custom{
	"f": ruleF(0, 0), "f.jvp": ruleF(0, 0).tangent(), "f.vjp": ruleF(0, 0).cotangent(),
	"sq": ruleSq(0, false), "sq.jvp": ruleSq(0, false).tangent(), "sq.vjp": ruleSq(0, false).cotangent(),
	"sink": ruleSink(),
	"none": formula{name: "none", value: func([]float64) []float64 { return nil }},
	"two":  formula{name: "two", value: func([]float64) []float64 { return []float64{2, 3} }},
	"h":    ruleH{1}, "h.jvp": ruleH{2}, "h.vjp": ruleH{2},
	"g": ruleG(0), "g.jvp": ruleG(0).tangent(), "g.vjp": ruleG(0).cotangent(),
}
