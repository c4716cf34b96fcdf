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
