package difftest_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/sparsity"
)

// messages is a T that stores failures.
type messages []string

func (*messages) Helper() {}
func (m *messages) Errorf(format string, args ...any) {
	*m = append(*m, fmt.Sprintf(format, args...))
}

// twist is x ↦ (x₀²x₁, sin(x₀)x₁³, exp x₁) in all forms.
func twist() nabla.Rule {
	return nabla.Rule{
		Name: "twist", Out: func(int) int { return 3 },
		Value: func(y, x []float64) {
			y[0], y[1], y[2] = x[0]*x[0]*x[1], math.Sin(x[0])*x[1]*x[1]*x[1], math.Exp(x[1])
		},
		JVP: func(ydot, x, y, v []float64) {
			s, c := math.Sincos(x[0])
			ydot[0] = 2*x[0]*x[1]*v[0] + x[0]*x[0]*v[1]
			ydot[1] = c*x[1]*x[1]*x[1]*v[0] + 3*s*x[1]*x[1]*v[1]
			ydot[2] = y[2] * v[1]
		},
		VJP: func(xbar, x, y, w []float64) {
			s, c := math.Sincos(x[0])
			xbar[0] += 2*x[0]*x[1]*w[0] + c*x[1]*x[1]*x[1]*w[1]
			xbar[1] += x[0]*x[0]*w[0] + 3*s*x[1]*x[1]*w[1] + y[2]*w[2]
		},
		JVPReal: func(ydot, x, y, v []nabla.Real) {
			s, c := nabla.Sincos(x[0])
			ydot[0] = x[0].Mul(x[1]).Scale(2).Mul(v[0]).Add(x[0].Sq().Mul(v[1]))
			ydot[1] = c.Mul(x[1].PowConst(3)).Mul(v[0]).Add(s.Mul(x[1].Sq()).Scale(3).Mul(v[1]))
			ydot[2] = y[2].Mul(v[1])
		},
		VJPReal: func(xbar, x, y, w []nabla.Real) {
			s, c := nabla.Sincos(x[0])
			xbar[0] = xbar[0].Add(x[0].Mul(x[1]).Scale(2).Mul(w[0])).Add(c.Mul(x[1].PowConst(3)).Mul(w[1]))
			xbar[1] = xbar[1].Add(x[0].Sq().Mul(w[0])).Add(s.Mul(x[1].Sq()).Scale(3).Mul(w[1])).Add(y[2].Mul(w[2]))
		},
		Pattern: func(int) *sparsity.Pattern {
			p, _ := sparsity.FromEntries(3, 2, []int{0, 1, 0, 1, 2}, []int{0, 0, 1, 1, 1})
			return p
		},
	}
}

// ExampleCheckRule is the test of a rule.
func ExampleCheckRule() {
	hypot := nabla.Rule{
		Name:  "hypot",
		Value: func(y, x []float64) { y[0] = math.Hypot(x[0], x[1]) },
		VJP: func(xbar, x, y, ybar []float64) {
			xbar[0] += x[0] / y[0] * ybar[0]
			xbar[1] += x[0] / y[0] * ybar[0] // a slip: x[1]
		},
	}
	var t messages // a *testing.T
	difftest.CheckRule(&t, hypot, []float64{3, 4})
	fmt.Println(t[0])
	// Output: rule hypot at [3 4]: VJP has ∂y[0]/∂x[1] = 0.6, and differences of Value give 0.8
}

// TestCorrectRules requires that CheckRule reports nothing for correct rules.
func TestCorrectRules(t *testing.T) {
	with := func(change func(r *nabla.Rule)) nabla.Rule { r := twist(); change(&r); return r }
	points := [][]float64{{1.5, 0.75}, {0, 0}, {-2, 3}, {1e-3, -1e-4}, {20, 5}}
	difftest.CheckRule(t, twist(), points...)
	for _, only := range []func(r *nabla.Rule){
		func(r *nabla.Rule) { r.VJP, r.JVPReal, r.VJPReal = nil, nil, nil },
		func(r *nabla.Rule) { r.JVP, r.JVPReal, r.VJPReal = nil, nil, nil },
		func(r *nabla.Rule) { r.JVP, r.VJP, r.VJPReal = nil, nil, nil },
		func(r *nabla.Rule) { r.JVP, r.VJP, r.JVPReal = nil, nil, nil },
	} {
		difftest.CheckRule(t, with(only), points...)
	}
	sum := nabla.Rule{
		Name: "sum", Linear: true, Value: func(y, x []float64) {
			y[0] = 0
			for _, v := range x {
				y[0] += v
			}
		}, VJP: func(xbar, _, _, ybar []float64) {
			for i := range xbar {
				xbar[i] += ybar[0]
			}
		}, JVPReal: func(ydot, _, _, xdot []nabla.Real) { ydot[0] = nabla.Sum(xdot...) },
	}
	difftest.CheckRule(t, sum, []float64{1, 2, 3}, []float64{-1e8, 1e-8}, nil, make([]float64, 50))
	wild := nabla.Rule{
		Name: "wild", Value: func(y, x []float64) { y[0] = math.Sin(x[0]) * 1e-12 },
		JVP: func(ydot, x, _, xdot []float64) { ydot[0] = math.Cos(x[0]) * 1e-12 * xdot[0] },
	}
	difftest.CheckRule(t, wild, []float64{1}, []float64{1e3}, []float64{-30})
	solved := nabla.Rule{ // to ten digits or so, by Newton's method
		Name: "sqrt", Value: func(y, x []float64) {
			v := max(x[0], 1)
			for range 100 {
				if next := (v + x[0]/v) / 2; math.Abs(next-v) < 1e-5*v {
					v = next
					break
				} else {
					v = next
				}
			}
			y[0] = v
		}, JVP: func(ydot, x, y, xdot []float64) { ydot[0] = xdot[0] / (2 * y[0]) },
	}
	difftest.CheckRule(t, solved, []float64{2}, []float64{300})
	empty := nabla.Rule{
		Name: "nothing", Out: func(int) int { return 0 },
		Value: func(y, x []float64) {}, VJP: func(xbar, x, y, ybar []float64) {},
	}
	difftest.CheckRule(t, empty, []float64{1, 2})
}

// TestBrokenRules has a rule for each kind of mistake, and requires the message for it.
func TestBrokenRules(t *testing.T) {
	var kept, shared []float64
	calls := 0
	count := func() int { calls++; return calls }
	scratch := make([]float64, 3) // of all calls
	var lock sync.Mutex           // that it is no data race
	for _, c := range []struct {
		words  string
		change func(r *nabla.Rule)
	}{
		{"has no Value", func(r *nabla.Rule) { r.Value = nil }},
		{"has no derivative", func(r *nabla.Rule) { r.JVP, r.VJP, r.JVPReal, r.VJPReal = nil, nil, nil, nil }},
		{"Out(2) is -1", func(r *nabla.Rule) { r.Out = func(int) int { return -1 } }},
		{"Out(2) changes", func(r *nabla.Rule) { r.Out = func(int) int { return 3 + count()%2 } }},
		{"Out panicked: no", func(r *nabla.Rule) { r.Out = func(int) int { panic("no") } }},

		{"Value panicked: no", func(r *nabla.Rule) { r.Value = func(_, _ []float64) { panic("no") } }},
		{"Value does not write output 2 of 3",
			value(func(y, x []float64) { y[2] = math.Float64frombits(0x7ff8_6e61_626c_6100) })},
		{"Value writes to x, which it may only read: element 1 was 0.75 and is 9",
			value(func(_, x []float64) { x[1] = 9 })},
		{"Value gives", value(func(y, _ []float64) { y[0] += float64(count()) })},
		{"depend on the arguments only", value(func(y, _ []float64) { y[0] += float64(count()) })},
		{"keep nothing of a call but copies", func(r *nabla.Rule) {
			inner := r.Value
			r.Value = func(y, x []float64) {
				if kept == nil {
					kept = x
				}
				inner(y, x)
				y[0] += kept[0] // the first x there was
			}
		}},
		{"Value keeps a slice that it was given, and writes to it", value(func(y, _ []float64) {
			if shared != nil {
				shared[1] = 3
			}
			shared = y
		})},
		{"in several goroutines at once", func(r *nabla.Rule) {
			inner := r.Value
			r.Value = func(y, x []float64) {
				lock.Lock()
				inner(scratch, x)
				lock.Unlock()
				runtime.Gosched()
				lock.Lock()
				copy(y, scratch)
				lock.Unlock()
			}
		}},

		{"JVP has ∂y[1]/∂x[0] = ", func(r *nabla.Rule) {
			inner := r.JVP
			r.JVP = func(ydot, x, y, v []float64) { inner(ydot, x, y, v); ydot[1] = -ydot[1] }
		}},
		{"JVP does not write output 0", func(r *nabla.Rule) {
			inner := r.JVP
			r.JVP = func(ydot, x, y, v []float64) {
				a := ydot[0]
				inner(ydot, x, y, v)
				ydot[0] = a
			}
		}},
		{"JVP writes to xdot", func(r *nabla.Rule) {
			inner := r.JVP
			r.JVP = func(ydot, x, y, v []float64) { inner(ydot, x, y, v); v[0] = 8 }
		}},
		{"JVP writes to y", func(r *nabla.Rule) {
			inner := r.JVP
			r.JVP = func(ydot, x, y, v []float64) { inner(ydot, x, y, v); y[0] = 8 }
		}},
		{"JVP is not linear", func(r *nabla.Rule) {
			inner := r.JVP
			r.JVP = func(ydot, x, y, v []float64) { inner(ydot, x, y, v); ydot[0] += 2 * v[0] * v[1] }
		}},
		{"JVP gives", func(r *nabla.Rule) {
			inner := r.JVP
			r.JVP = func(ydot, x, y, v []float64) { inner(ydot, x, y, v); ydot[0] += float64(count()) }
		}},
		{"JVP panicked: no", func(r *nabla.Rule) { r.JVP = func(_, _, _, _ []float64) { panic("no") } }},

		{"VJP has ∂y[2]/∂x[1] = ", func(r *nabla.Rule) {
			inner := r.VJP
			r.VJP = func(xbar, x, y, w []float64) { inner(xbar, x, y, w); xbar[1] -= y[2] * w[2] / 100 }
		}},
		{"VJP makes of xbar[0]", func(r *nabla.Rule) {
			inner := r.VJP
			r.VJP = func(xbar, x, y, w []float64) { clear(xbar); inner(xbar, x, y, w) }
		}},
		{"VJP writes to ybar", func(r *nabla.Rule) {
			inner := r.VJP
			r.VJP = func(xbar, x, y, w []float64) { inner(xbar, x, y, w); w[2] = 8 }
		}},
		{"VJP has ∂y[0]/∂x[0] = 2.2500001, and JVP has", func(r *nabla.Rule) { // too little for differences
			inner := r.VJP
			r.VJP = func(xbar, x, y, w []float64) { inner(xbar, x, y, w); xbar[0] += 1e-7 * w[0] }
		}},

		{"JVPReal has ∂y[0]/∂x[1] = ", func(r *nabla.Rule) {
			inner := r.JVPReal
			r.JVPReal = func(ydot, x, y, v []nabla.Real) { inner(ydot, x, y, v); ydot[0] = ydot[0].Add(v[1]) }
		}},
		{"JVPReal does not write output 2", func(r *nabla.Rule) {
			inner := r.JVPReal
			r.JVPReal = func(ydot, x, y, v []nabla.Real) { a := ydot[2]; inner(ydot, x, y, v); ydot[2] = a }
		}},
		{"JVPReal writes to x", func(r *nabla.Rule) {
			inner := r.JVPReal
			r.JVPReal = func(ydot, x, y, v []nabla.Real) { inner(ydot, x, y, v); x[0] = v[0] }
		}},
		{"of JVPReal along", func(r *nabla.Rule) {
			inner := r.JVPReal
			r.JVPReal = func(ydot, x, y, v []nabla.Real) {
				inner(ydot, []nabla.Real{nabla.Const(x[0].Value()), x[1]}, y, v)
			}
		}},
		{"second derivatives would be wrong", func(r *nabla.Rule) {
			inner := r.VJPReal
			r.VJPReal = func(xbar, x, y, w []nabla.Real) {
				inner(xbar, x, []nabla.Real{y[0], y[1], nabla.Const(y[2].Value())}, w)
			}
		}},
		{"VJPReal makes of xbar[", func(r *nabla.Rule) {
			inner := r.VJPReal
			r.VJPReal = func(xbar, x, y, w []nabla.Real) { clear(xbar); inner(xbar, x, y, w) }
		}},

		{"Pattern(2) is 2×2, want 3×2",
			func(r *nabla.Rule) { r.Pattern = func(int) *sparsity.Pattern { return sparsity.Full(2, 2) } }},
		{"Pattern(2) has no entry (0, 1)", func(r *nabla.Rule) {
			r.Pattern = func(int) *sparsity.Pattern { return sparsity.Banded(3, 2, 2, 0) }
		}},
		{"Linear is set", func(r *nabla.Rule) { r.Linear = true }},
		{"differences of Value find no ∂y[0]/∂x[0]", func(r *nabla.Rule) {
			r.Value = func(y, x []float64) { y[0], y[1], y[2] = 0, 0, 0; y[0] = math.Sin(1e300 * x[0]) }
		}},
	} {
		kept, shared, calls = nil, nil, 0
		r := twist()
		c.change(&r)
		var said messages
		difftest.CheckRule(&said, r, []float64{1.5, 0.75})
		if !slices.ContainsFunc(said,
			func(m string) bool { return strings.Contains(m, c.words) && strings.Contains(m, "rule twist") }) {
			t.Errorf("want a message with %q, got %q", c.words, said)
		}
	}
	var said messages
	difftest.CheckRule(&said, twist())
	if len(said) != 1 || !strings.Contains(said[0], "given no point") {
		t.Errorf("without points: %q", said)
	}
}

// value makes Value do something more.
func value(more func(y, x []float64)) func(r *nabla.Rule) {
	return func(r *nabla.Rule) {
		inner := r.Value
		r.Value = func(y, x []float64) { inner(y, x); more(y, x) }
	}
}
