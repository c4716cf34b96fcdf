package program

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// inlinedF is ruleF with derivatives over numbers, and recordableF is ruleF as a function over numbers. Either reads
// values if reads is set, so that it cannot be inlined.
type inlinedF struct {
	formula
	reads bool
}

type recordableF struct {
	formula
	reads bool
}

// passiveF is ruleF without a derivative.
type passiveF struct{ formula }

func (passiveF) Passive()                    {}
func (passiveF) JVP(ydot, _, _, _ []float64) { clear(ydot) }
func (passiveF) VJP(_, _, _, _ []float64)    {}

// nestedF is ruleF as a function over numbers that calls a rule.
type nestedF struct{ formula }

func (nestedF) Over(y, x []core.Rep) {
	y[0], y[1] = core.Apply2(rules.Mul, x[0], x[1]), core.Call(ruleSin(0), x[:1])[0]
}

// ruleSin is the sine, or one of its derivatives.
func ruleSin(order int) formula {
	return formula{
		name: "sin", n: 1,
		value:   func(x []float64) []float64 { return []float64{math.Sin(x[0] + float64(order)*math.Pi/2)} },
		partial: func(int) formula { return ruleSin(order + 1) },
	}
}

// inlinedSq is (a, b) ↦ (a², 5) with derivatives over numbers, of which some are constants.
type inlinedSq struct{ formula }

func (inlinedSq) PushOver(x, _, xdot []core.Rep) []core.Rep {
	return []core.Rep{core.Apply2(rules.Mul, core.Apply2(rules.Add, x[0], x[0]), xdot[0]), {}}
}

func (inlinedSq) PullOver(x, _, ybar []core.Rep) []core.Rep {
	return []core.Rep{core.Apply2(rules.Mul, core.Apply2(rules.Add, x[0], x[0]), ybar[0]), {}}
}

// ruleSq is the function of inlinedSq, or its derivative of an order; with byB set, one by b.
func ruleSq(order int, byB bool) formula {
	return formula{
		name: "sq", n: 2,
		value: func(x []float64) []float64 {
			switch {
			case byB:
				return []float64{0, 0}
			case order == 0:
				return []float64{x[0] * x[0], 5}
			}
			return []float64{[]float64{2 * x[0], 2, 0}[min(order, 3)-1], 0}
		},
		partial: func(j int) formula { return ruleSq(order+1, byB || j == 1) },
	}
}

// formsOfF are ruleF in all forms, and another rule of as many inputs and outputs.
var formsOfF = []Custom{
	ruleF(0, 0), inlinedF{ruleF(0, 0), false}, inlinedF{ruleF(0, 0), true}, recordableF{ruleF(0, 0), false},
	recordableF{ruleF(0, 0), true}, nestedF{ruleF(0, 0)}, passiveF{ruleF(0, 0)}, inlinedSq{ruleSq(0, false)},
}

// read reads the value of x if reads is set.
func read(reads bool, x core.Rep) {
	if reads {
		core.Compare(core.OpGuardLt, x, core.Rep{V: 1e300}, true)
	}
}

// weighted returns a·x + b·y.
func weighted(a, x, b, y core.Rep) core.Rep {
	return core.Apply2(rules.Add, core.Apply2(rules.Mul, a, x), core.Apply2(rules.Mul, b, y))
}

func (f inlinedF) PushOver(x, _, xdot []core.Rep) []core.Rep {
	read(f.reads, x[0])
	return []core.Rep{weighted(x[1], xdot[0], x[0], xdot[1]),
		core.Apply2(rules.Mul, core.Apply1(rules.Cos, x[0]), xdot[0])}
}

func (f inlinedF) PullOver(x, _, ybar []core.Rep) []core.Rep {
	read(f.reads, x[0])
	return []core.Rep{weighted(x[1], ybar[0], core.Apply1(rules.Cos, x[0]), ybar[1]),
		core.Apply2(rules.Mul, x[0], ybar[0])}
}

func (f recordableF) Over(y, x []core.Rep) {
	read(f.reads, x[0])
	y[0], y[1] = core.Apply2(rules.Mul, x[0], x[1]), core.Apply1(rules.Sin, x[0])
}

// TestInlinedCalls compares derivatives of first and second order of a program whose calls are inlined with those of
// the same program with calls, for one lane and several, and counts the calls that are left.
func TestInlinedCalls(t *testing.T) {
	const text = `%0:3 = input x
%3:2 = call "f" [%0 %1]
%5 = mul %3 %2
%6:2 = call "f" [%5 %4]
%8 = add %6 %7
out y [%8 %3]
`
	base := mustParse(t, text)
	x := []float64{0.7, -1.3, 0.4}
	derive := map[string]func(p *Program, k int, strong bool) *Program{
		"JVP": func(p *Program, k int, strong bool) *Program {
			return JVP(p, JVPOptions{Lanes: k, Strong: strong})
		},
		"VJP": func(p *Program, k int, strong bool) *Program {
			return VJP(p, VJPOptions{Lanes: k, Strong: strong})
		},
		"JVP of VJP": func(p *Program, k int, strong bool) *Program {
			g := VJP(Join(p, "y", 0), VJPOptions{Strong: strong})
			return JVP(g, JVPOptions{Lanes: k, Strong: strong})
		},
		"VJP of JVP": func(p *Program, k int, strong bool) *Program {
			return VJP(JVP(p, JVPOptions{Strong: strong}), VJPOptions{Lanes: k, Strong: strong})
		},
	}
	for form, c := range map[string]struct {
		rule    core.Custom
		inlined bool
	}{
		"inlined":                  {inlinedF{ruleF(0, 0), false}, true},
		"recordable":               {recordableF{ruleF(0, 0), false}, true},
		"inlined, reads values":    {inlinedF{ruleF(0, 0), true}, false},
		"recordable, reads values": {recordableF{ruleF(0, 0), true}, false},
		"neither":                  {ruleF(0, 0), false},
	} {
		p := *base
		p.Customs = make([]Custom, len(base.Customs))
		for i := range p.Customs {
			p.Customs[i] = c.rule
		}
		for name, d := range derive {
			for _, k := range []int{1, 3} {
				for _, strong := range []bool{false, true} {
					what := fmt.Sprintf("%s: %s with %d lanes, strong %v", form, name, k, strong)
					got, want := d(&p, k, strong), d(base, k, strong)
					mustCheck(t, what, got)
					var ins [][]float64
					for _, g := range want.Ins {
						in := make([]float64, g.N)
						for i := range in {
							in[i] = math.Sin(float64(3*len(ins) + i + 1))
						}
						ins = append(ins, in)
					}
					copy(ins[0], x)
					compare(t, what, run(t, what, got, ins, nil), run(t, what, want, ins, nil), toward(1))
					left := strings.Count(Simplify(got).String(), "call")
					if inlined := left == 2; inlined != c.inlined {
						t.Errorf("%s: %d calls are left", what, left)
					}
				}
			}
		}
	}
}
