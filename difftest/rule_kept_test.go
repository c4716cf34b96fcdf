package difftest_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/difftest"
)

// together is twist with ValueJVP and ValueVJP, made of its JVP and VJP.
func together() nabla.Rule {
	r := twist()
	value, jvp, vjp := r.Value, r.JVP, r.VJP
	r.ValueJVP = func(y, ydot, x, xdot []float64) {
		value(y, x)
		jvp(ydot, x, y, xdot)
	}
	r.ValueVJP = func(y, x []float64) func(xbar, ybar []float64) {
		value(y, x)
		return func(xbar, ybar []float64) { vjp(xbar, x, y, ybar) }
	}
	return r
}

// powers is x1 to the power of the integer x0.
func powers() nabla.Rule {
	d := func(x []float64) float64 {
		if x[0] != math.Trunc(x[0]) {
			panic("the degree is no integer")
		}
		return x[0] * math.Pow(x[1], x[0]-1)
	}
	return nabla.Rule{Name: "powers", NoTangent: []int{0},
		Value: func(y, x []float64) { d(x); y[0] = math.Pow(x[1], x[0]) },
		JVP:   func(ydot, x, y, xdot []float64) { ydot[0] = d(x) * xdot[1] },
		VJP:   func(xbar, x, y, ybar []float64) { xbar[1] += d(x) * ybar[0]; xbar[0] += 7 },
		ValueVJP: func(y, x []float64) func(xbar, ybar []float64) {
			y[0] = math.Pow(x[1], x[0])
			return func(xbar, ybar []float64) { xbar[1] += d(x) * ybar[0] }
		},
		VJPReal: func(xbar, x, y, ybar []nabla.Real) {
			xbar[1] = xbar[1].Add(x[0].Mul(nabla.Pow(x[1], x[0].AddConst(-1))).Mul(ybar[0]))
		},
		Points: [][]float64{{3, 1.5}, {2, -0.5}},
	}
}

// TestCorrectTogether: nothing is reported for correct rules with these fields.
func TestCorrectTogether(t *testing.T) {
	only := together()
	only.JVP, only.VJP, only.JVPReal, only.VJPReal = nil, nil, nil, nil
	difftest.CheckRule(t, only, []float64{1.5, 0.75}, []float64{-2, 3})
	all := together()
	all.Points = [][]float64{{1.5, 0.75}, {0, 0}}
	difftest.CheckRules(t, nabla.Rules{"x.Twist": all, "x.Powers": powers()})
}

// TestBrokenTogether: each way in which ValueJVP, ValueVJP and NoTangent may be wrong is reported.
func TestBrokenTogether(t *testing.T) {
	var shared [2]float64
	for name, c := range map[string]struct {
		change func(r *nabla.Rule)
		want   string
	}{
		"tangent": {func(r *nabla.Rule) {
			r.ValueJVP = func(y, ydot, x, xdot []float64) {
				r.Value(y, x)
				r.JVP(ydot, x, y, xdot)
				ydot[1] *= 2
			}
		}, "ValueJVP has ∂y[1]/∂x[0] = "},
		"value of ValueJVP": {func(r *nabla.Rule) {
			r.ValueJVP = func(y, ydot, x, xdot []float64) {
				r.Value(y, x)
				r.JVP(ydot, x, y, xdot)
				y[1] = math.Nextafter(y[1], 9)
			}
		}, "ValueJVP has the value y[1] = "},
		"unwritten": {func(r *nabla.Rule) {
			r.ValueJVP = func(y, ydot, x, xdot []float64) { clear(ydot); y[0] = 1 }
		}, "it does not write output 1 of 3 to y"},
		"pullback": {func(r *nabla.Rule) {
			r.ValueVJP = func(y, x []float64) func(xbar, ybar []float64) {
				r.Value(y, x)
				return func(xbar, ybar []float64) { r.VJP(xbar, x, y, ybar); xbar[0] += ybar[2] }
			}
		}, "ValueVJP has ∂y[2]/∂x[0] = 1"},
		"sets": {func(r *nabla.Rule) {
			r.ValueVJP = func(y, x []float64) func(xbar, ybar []float64) {
				r.Value(y, x)
				return func(xbar, ybar []float64) { clear(xbar); r.VJP(xbar, x, y, ybar) }
			}
		}, "it has to add to xbar, not to set it"},
		"value of ValueVJP": {func(r *nabla.Rule) {
			r.ValueVJP = func(y, x []float64) func(xbar, ybar []float64) {
				r.Value(y, x)
				y[0] = math.Nextafter(y[0], 9)
				return func(xbar, ybar []float64) { r.VJP(xbar, x, y, ybar) }
			}
		}, "ValueVJP has the value y[0] = "},
		"once": {func(r *nabla.Rule) {
			r.ValueVJP = func(y, x []float64) func(xbar, ybar []float64) {
				r.Value(y, x)
				n := 0.0
				return func(xbar, ybar []float64) {
					n++
					for i := range xbar {
						xbar[i] += (n - 1) * x[0]
					}
					r.VJP(xbar, x, y, ybar)
				}
			}
		}, "the pullback of ValueVJP gives "},
		"shared": {func(r *nabla.Rule) {
			r.ValueVJP = func(y, x []float64) func(xbar, ybar []float64) {
				r.Value(y, x)
				copy(shared[:], x)
				return func(xbar, ybar []float64) { r.VJP(xbar, shared[:], y, ybar) }
			}
		}, "after ValueVJP has been called at another point"},
		"writes y": {func(r *nabla.Rule) {
			r.ValueVJP = func(y, x []float64) func(xbar, ybar []float64) {
				r.Value(y, x)
				return func(xbar, ybar []float64) { r.VJP(xbar, x, y, ybar); y[0] = 0 }
			}
		}, "its pullback writes to y"},
		"index": {func(r *nabla.Rule) { r.NoTangent = []int{2} }, "NoTangent lists input 2, and there are 2 inputs"},
	} {
		if testing.Short() && name == "shared" {
			continue // its mistake is a race, which the detector reports
		}
		r := twist()
		r.JVPReal, r.VJPReal = nil, nil
		c.change(&r)
		var m messages
		difftest.CheckRule(&m, r, []float64{1.5, 0.75})
		if !strings.Contains(strings.Join(m, "\n"), c.want) {
			t.Errorf("%s: reported %q, want %q", name, m, c.want)
		}
	}
}

// TestCheckRulesReports: an empty table and a rule without points are reported, and wrong rules by their names.
func TestCheckRulesReports(t *testing.T) {
	wrong := together()
	wrong.Name, wrong.JVP, wrong.VJP, wrong.ValueVJP, wrong.Points = "", nil, nil, nil, [][]float64{{1.5, 0.75}}
	wrong.ValueJVP = func(y, ydot, x, xdot []float64) { wrong.Value(y, x); clear(ydot) }
	var m messages
	difftest.CheckRules(&m, nabla.Rules{})
	difftest.CheckRules(&m, nabla.Rules{"x.F": wrong, "x.G": {Name: "G"}})
	all := fmt.Sprint(m)
	for _, want := range []string{"the table of rules is empty", "rule x.F at [1.5 0.75]: ValueJVP has",
		"rule x.G has no Points"} {
		if !strings.Contains(all, want) {
			t.Errorf("reported %q, want %q", m, want)
		}
	}
}

// ExampleCheckRules is the test of a table of rules.
func ExampleCheckRules() {
	table := nabla.Rules{
		"math.Cbrt": {
			Name:   "Cbrt",
			Value:  func(y, x []float64) { y[0] = math.Cbrt(x[0]) },
			VJP:    func(xbar, x, y, ybar []float64) { xbar[0] += ybar[0] / (y[0] * y[0]) }, // a slip: 3 is missing
			Points: [][]float64{{8}},
		},
	}
	var t messages // a *testing.T
	difftest.CheckRules(&t, table)
	fmt.Println(t[0])
	// Output: rule math.Cbrt at [8]: VJP has ∂y[0]/∂x[0] = 0.25, and differences of Value give 0.0833333333
}
