package program

import (
	"math"
	"slices"
	"strings"
	"testing"
)

var inf, nan, negZero = math.Inf(1), math.NaN(), math.Copysign(0, -1)

// kinks are functions of one number at points where a partial derivative is
// infinite.
var kinks = []struct {
	name, text       string
	x                float64
	reverse, forward float64 // in plain mode
	strong           float64 // in both
}{
	{"where(x>0, sqrt(x), 0) at 0", `
%0 = input x
%1 = const 0
%2 = lt %1 %0
%3 = sqrt %0
%4 = select %2 %3 %1
out y [%4]`, 0, nan, 0, 0},
	{"the same at 4", `
%0 = input x
%1 = const 0
%2 = lt %1 %0
%3 = sqrt %0
%4 = select %2 %3 %1
out y [%4]`, 4, 0.25, 0.25, 0.25},
	{"the same in the middle of a chain", `
%0 = input x
%1 = const 0
%2 = lt %1 %0
%3 = sqrt %0
%4 = neg %3
%5 = mul %4 %4
%6 = sub %5 %3
%7 = sin %0
%8 = select %2 %6 %7
out y [%8]`, 0, nan, 1, 1},
	{"sqrt(x)*sqrt(x) at 0", `
%0 = input x
%1 = sqrt %0
%2 = mul %1 %1
out y [%2]`, 0, nan, nan, nan},
	{"sqrt(x)*sqrt(x) at -0", `
%0 = input x
%1 = sqrt %0
%2 = mul %1 %1
out y [%2]`, negZero, nan, nan, nan},
	{"sqrt(x) at 0", `
%0 = input x
%1 = sqrt %0
out y [%1]`, 0, inf, inf, inf},
	{"min(sqrt(x), log(x)) at 1", `
%0 = input x
%1 = sqrt %0
%2 = log %0
%3 = min %1 %2
out y [%3]`, 1, 1, 1, 1},
	{"max(x, sqrt(x)) at 0: a tie takes the first", `
%0 = input x
%1 = sqrt %0
%2 = max %0 %1
out y [%2]`, 0, nan, 1, 1},
	{"max(sqrt(x), x) at 0", `
%0 = input x
%1 = sqrt %0
%2 = max %1 %0
out y [%2]`, 0, inf, inf, inf},
	{"min(x, sqrt(x)) at 0", `
%0 = input x
%1 = sqrt %0
%2 = min %0 %1
out y [%2]`, 0, nan, 1, 1},
	{"max(2x, 3x) at 0", `
%0 = input x
%1 = const 2
%2 = const 3
%3 = mul %0 %1
%4 = mul %0 %2
%5 = max %3 %4
out y [%5]`, 0, 2, 2, 2},
	{"a tie of three", `
%0 = input x
%1 = neg %0
%2 = max %1 %0
%3 = max %2 %0
out y [%3]`, 0, -1, -1, -1},
	{"through a custom rule", `
%0 = input x
%1 = const 0
%2 = lt %1 %0
%3 = sqrt %0
%4 = call "g" [%3]
%5 = select %2 %4 %1
out y [%5]`, 0, nan, 0, 0},
	{"through a custom rule with two outputs", `
%0 = input x
%1 = const 0
%2 = lt %1 %0
%3 = sqrt %0
%4:2 = call "f" [%3 %0]
%6 = add %4 %5
%7 = select %2 %6 %0
out y [%7]`, 0, nan, 1, 1},
	{"a custom rule whose derivative is 0 is no structural zero", `
%0 = input x
%1 = sqrt %0
%2 = const -0
%3:2 = call "f" [%1 %2]
out y [%3]`, 0, nan, nan, nan},
	{"a rule that writes -0, inside", `
%0 = input x
%1 = call "h" [%0]
%2 = sqrt %1
out y [%2]`, 0, nan, nan, nan},
	{"a rule that writes -0, outside", `
%0 = input x
%1 = sqrt %0
%2 = call "h" [%1]
out y [%2]`, 0, nan, nan, nan},
	{"sqrt(g(where(x>0, x, 0)) - 1) at 0", `
%0 = input x
%1 = const 0
%2 = lt %1 %0
%3 = select %2 %0 %1
%4 = call "g" [%3]
%5 = const 1
%6 = sub %4 %5
%7 = sqrt %6
out y [%7]`, 0, 0, nan, 0},
	{"sqrt(where(x>0, x, 0) - where(x>0, 2x, 0)) at 0", `
%0 = input x
%1 = const 0
%2 = lt %1 %0
%3 = select %2 %0 %1
%4 = add %0 %0
%5 = select %2 %4 %1
%6 = sub %3 %5
%7 = sqrt %6
out y [%7]`, 0, 0, nan, 0},
	{"sqrt(-where(x>0, x, 0)) at 0", `
%0 = input x
%1 = const 0
%2 = lt %1 %0
%3 = select %2 %0 %1
%4 = neg %3
%5 = sqrt %4
out y [%5]`, 0, 0, nan, 0},
	{"a lane that nothing reaches", `
%0 = input x
%1 = const 4
%2:2 = sqrt [%0 %1]
%4:2 = mul %2:+1 %0
out y [%5]`, 0, 2, 2, 2},
	{"2x at +Inf", `
%0 = input x
%1 = const 2
%2 = mul %1 %0
out y [%2]`, inf, 2, 2, 2},
}

func TestStructuralZeros(t *testing.T) {
	for _, c := range kinks {
		t.Run(c.name, func(t *testing.T) {
			p := mustParse(t, strings.TrimSpace(c.text))
			if strings.Contains(c.text, `call "f"`) { // in the forms that are inlined
				for _, f := range []Custom{inlinedF{ruleF(0, 0), false}, recordableF{ruleF(0, 0), false}} {
					q := *p
					q.Customs = slices.Repeat([]Custom{f}, len(p.Customs))
					x, want := []float64{c.x}, [][]float64{{c.strong}}
					got := run(t, "VJP", VJP(&q, VJPOptions{Unit: true, Strong: true}), [][]float64{x}, nil)
					compare(t, "VJP", got[1:], want, sameNumber)
					got = run(t, "JVP", JVP(&q, JVPOptions{Strong: true}), [][]float64{x, {1}}, nil)
					compare(t, "JVP", got[1:], want, sameNumber)
				}
			}
			for _, cut := range passes[:4] {
				for _, pass := range passes {
					for _, k := range []int{1, 3} {
						for _, strong := range []bool{false, true} {
							ones := make([]float64, k)
							for j := range k {
								ones[j] = 1
							}
							p := cut.do(p)
							check := func(what string, want float64, q *Program, ins ...[]float64) {
								t.Helper()
								wants := make([]float64, k)
								for j := range k {
									wants[j] = want
								}
								got := run(t, what, pass.do(q), ins, nil)
								compare(t, what, got[1:], [][]float64{wants},
									func(a, b float64) bool { return closeTo(a, b, 1, 1e-12) })
								if t.Failed() {
									t.Fatalf("%s, strong %v:\n%s", pass, strong, pass.do(q))
								}
							}
							reverse, forward := c.strong, c.strong
							if !strong {
								reverse, forward = c.reverse, c.forward
							}
							x := []float64{c.x}
							check("VJP", reverse, VJP(p, VJPOptions{Lanes: k, Strong: strong}), x, ones)
							check("unit VJP", reverse, VJP(p, VJPOptions{Lanes: k, Strong: strong, Unit: true}), x)
							check("JVP", forward, JVP(p, JVPOptions{Lanes: k, Strong: strong}), x, ones)
						}
					}
				}
			}
		})
	}
}

// Where a structural zero meets an infinite second derivative it stays zero too.
func TestStructuralZerosSecondOrder(t *testing.T) {
	for _, c := range []struct {
		name, text string
		x, want    float64
	}{
		{"where(x>0, sqrt(x), x^2) at 0", `
%0 = input x
%1 = const 0
%2 = lt %1 %0
%3 = sqrt %0
%4 = sq %0
%5 = select %2 %3 %4
out y [%5]`, 0, 2},
		{"the same at 4", `
%0 = input x
%1 = const 0
%2 = lt %1 %0
%3 = sqrt %0
%4 = sq %0
%5 = select %2 %3 %4
out y [%5]`, 4, -1.0 / 32},
		{"where(x>0, x*log(x), x^2) at 0", `
%0 = input x
%1 = const 0
%2 = lt %1 %0
%3 = log %0
%4 = mul %0 %3
%5 = sq %0
%6 = select %2 %4 %5
out y [%6]`, 0, 2},
		{"sqrt(x)*sqrt(x) at 0", `
%0 = input x
%1 = sqrt %0
%2 = mul %1 %1
out y [%2]`, 0, nan},
		{"where(x>0, g(sqrt(x)), x^2) at 0", `
%0 = input x
%1 = const 0
%2 = lt %1 %0
%3 = sqrt %0
%4 = call "g" [%3]
%5 = sq %0
%6 = select %2 %4 %5
out y [%6]`, 0, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustParse(t, strings.TrimSpace(c.text))
			for _, pass := range passes {
				second := func(what string, q *Program, ins ...[]float64) {
					t.Helper()
					got := run(t, what, pass.do(q), ins, nil)
					compare(t, what, got[len(got)-1:], [][]float64{{c.want}},
						func(a, b float64) bool { return closeTo(a, b, 1, 1e-12) })
				}
				x, one := []float64{c.x}, []float64{1}
				g := pass.do(Join(VJP(p, VJPOptions{Strong: true, Unit: true}), "y", 1))
				second("JVP of VJP", JVP(g, JVPOptions{Strong: true}), x, one)
				second("VJP of VJP", VJP(g, VJPOptions{Strong: true, Unit: true}), x)
				d := Join(JVP(p, JVPOptions{Strong: true}), "y", 1)
				second("JVP of JVP", Join(JVP(d, JVPOptions{Strong: true}), "y", 1), x, one, one)
				second("VJP of JVP", Join(VJP(d, VJPOptions{Strong: true, Unit: true}), "y", 1), x, one)
			}
		})
	}
}

// Strong mode differs from plain mode in zeros alone.
func TestStrongIsPlain(t *testing.T) {
	each(t, 150, kinked.withLanes(), strongIsPlain)
}

// TestSigned: derivatives that are zero because nothing depends on a number are -0 if asked for, those that happen to
// be zero are not.
func TestSigned(t *testing.T) {
	p, err := Parse(`
%0:4 = input x
%4 = mul %0 %1
%5 = exp %2
%6 = const 0
%7 = lt %6 %6
%8 = select %7 %5 %4
out y [%8]`, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, signed := range []bool{false, true} {
		m := NewMachine(Join(VJP(p, VJPOptions{Strong: true, Signed: signed, Unit: true}), "xbar", 1))
		copy(m.Input(0), []float64{3, 0, 1, 2})
		xbar := make([]float64, 4)
		if !m.Run() {
			t.Fatal("a guard failed")
		}
		m.Output(0, xbar)
		want := []float64{0, 3, 0, 0}
		if signed {
			want[2], want[3] = negZero, negZero
		}
		for i, v := range xbar {
			if math.Float64bits(v) != math.Float64bits(want[i]) {
				t.Errorf("signed %v: cotangents %v, want %v", signed, xbar, want)
			}
		}
		m = NewMachine(Join(JVP(p, JVPOptions{Strong: true, Signed: signed}), "ydot", 1))
		copy(m.Input(0), []float64{3, 0, 1, 2})
		for _, c := range []struct{ xdot, want float64 }{{2, 0}, {negZero, 0}} {
			copy(m.Input(1), []float64{c.xdot, negZero, 5, 7})
			if signed && c.xdot == 0 {
				c.want = negZero
			}
			ydot := make([]float64, 1)
			if m.Run(); math.Float64bits(c.want) != bitsOf(m, ydot) {
				t.Errorf("signed %v: tangent %v for %v, want %v", signed, ydot[0], c.xdot, c.want)
			}
		}
	}
}

// bitsOf returns the bits of the only output of m.
func bitsOf(m *Machine, y []float64) uint64 {
	m.Output(0, y)
	return math.Float64bits(y[0])
}

// TestStrongDirections: in strong mode a direction of structural zeros, -0, has such tangents where a partial
// derivative is infinite, also those of rules that are inlined, and another direction has not.
func TestStrongDirections(t *testing.T) {
	p := mustParse(t, "%0:2 = input x\n%2:2 = call \"f\" [%0 %1]\nout y [%2 %3]\n")
	for _, f := range formsOfF[:4] {
		p.Customs[0] = f
		for _, strong := range []bool{false, true} {
			q := JVP(p, JVPOptions{Lanes: 2, Strong: strong})
			got := run(t, "JVP", q, [][]float64{{3, inf}, {negZero, 1, negZero, 0}}, nil)[1]
			if zero := got[0] == 0; zero != strong || !math.IsInf(got[1], 1) {
				t.Errorf("%T, strong %t: tangents %v", f, strong, got)
			}
		}
	}
}
