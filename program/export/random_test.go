package export_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// exact are operations whose values in C do not depend on the library: arithmetic that IEEE 754 defines, comparisons,
// and functions that round to integers.
var exact = func() (ops []rules.Op) {
	for _, name := range strings.Fields(`neg inv sq sqrt abs sign floor ceil trunc round roundtoeven logb finite cosatan
		add sub mul div max min mod remainder copysign nextafter powscale mulz divz lt le eq select fma`) {
		op, ok := rules.Lookup(name)
		if !ok {
			panic(name)
		}
		ops = append(ops, op)
	}
	return ops
}()

// all are all operations.
var all = func() (ops []rules.Op) {
	for op := rules.Invalid + 1; op < rules.NumOps; op++ {
		ops = append(ops, op)
	}
	return ops
}()

// special are constants and arguments at which operations have special cases.
var special = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 2, -2, 3, 10, 1e-3, 1e300, 1e-300, 5e-324, math.Inf(1),
	math.Inf(-1), math.NaN(), math.MaxFloat64, 7, -0.25, 1.5}

// A generator writes a random program in the text form, with lanes, all kinds of operands, constants and guards.
type generator struct {
	*rand.Rand
	ops   []rules.Op
	text  strings.Builder
	slots int
	at    []float64 // where guards hold
}

func (g *generator) number() float64 {
	if g.IntN(4) == 0 {
		return special[g.IntN(len(special))]
	}
	return math.Round(g.NormFloat64()*1024) / 512
}

func (g *generator) operand(n int) string {
	switch kind := g.IntN(4); {
	case n == 1 || kind == 0:
		return fmt.Sprintf("%%%d", g.slot())
	case kind == 1 && g.slots >= 2*n:
		first := g.IntN(g.slots - 2*n + 1)
		return fmt.Sprintf("%%%d:+%d", first, 1+g.IntN(2))
	case kind == 2 && g.slots >= n:
		return fmt.Sprintf("%%%d:-1", n-1+g.IntN(g.slots-n+1))
	}
	return g.list(n)
}

func (g *generator) list(n int) string {
	var slots []string
	for range n {
		slots = append(slots, fmt.Sprintf("%%%d", g.slot()))
	}
	return "[" + strings.Join(slots, " ") + "]"
}

// slot prefers recent ones.
func (g *generator) slot() int { return max(g.IntN(g.slots), g.IntN(g.slots)) }

func (g *generator) assign(n int, format string, args ...any) {
	fmt.Fprintf(&g.text, "%%%d:%d = %s\n", g.slots, n, fmt.Sprintf(format, args...))
	g.slots += n
}

func parsed(t testing.TB, text string) *program.Program {
	t.Helper()
	p, err := program.Parse(text, nil)
	if err == nil {
		err = program.Check(p)
	}
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return p
}

// evaluated runs p at x, group after group.
func evaluated(p *program.Program, x, params []float64) ([]float64, bool) {
	m := program.NewMachine(p)
	at := 0
	for i, g := range p.Ins {
		copy(m.Input(i), x[at:at+g.N])
		at += g.N
	}
	copy(m.Params(), params)
	if !m.Run() {
		return nil, false
	}
	var y []float64
	for i, g := range p.Outs {
		out := make([]float64, g.N)
		m.Output(i, out)
		y = append(y, out...)
	}
	return y, true
}

// guard writes a guard with the outcome that it has at g.at.
func (g *generator) guard(t testing.TB) {
	a, b := g.slot(), g.slot()
	kind := program.GuardLt + program.Op(g.IntN(5))
	y, ok := evaluated(parsed(t, fmt.Sprintf("%sout y [%%%d %%%d]", g.text.String(), a, b)), g.at, nil)
	if !ok {
		t.Fatalf("a guard fails at %v in\n%s", g.at, g.text.String())
	}
	for _, outcome := range []int{0, 1} {
		line := fmt.Sprintf("%s %%%d %%%d = %d\n", kind, a, b, outcome)
		if _, ok := evaluated(parsed(t, fmt.Sprintf("%%0 = input a\n%%1 = input b\n%s %%0 %%1 = %d\n", kind, outcome)),
			y, nil); ok {
			g.text.WriteString(line)
			return
		}
	}
	t.Fatalf("%s has no outcome at %v", kind, y)
}

// program returns a random program of about the given number of statements, in which guards hold at the second result.
func randomProgram(t testing.TB, seed uint64, ops []rules.Op, size int) (*program.Program, []float64) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 7)), ops: ops}
	n, k := 1+g.IntN(4), g.IntN(3)
	for range n + k {
		g.at = append(g.at, g.number())
	}
	g.assign(n, "input x")
	g.assign(k, "input %q", "for v1")
	for range size {
		lanes := 1 + g.IntN(4)*g.IntN(2)
		switch kind := g.IntN(16); {
		case kind == 0:
			var list []string
			for range lanes {
				list = append(list, fmt.Sprint(g.number()))
			}
			g.assign(lanes, "const %s", strings.Join(list, " "))
		case kind == 1:
			g.guard(t)
		case kind == 2:
			terms := 1 + g.IntN(20)
			g.assign(lanes, "sum %d %s", terms, g.operand(lanes*terms))
		default:
			op := g.ops[g.IntN(len(g.ops))]
			s := op.String()
			for range op.Arity() {
				s += " " + g.operand(lanes)
			}
			g.assign(lanes, "%s", s)
		}
	}
	fmt.Fprintf(&g.text, "out y %s\n", g.list(1+g.IntN(3)))
	if g.IntN(2) == 0 {
		fmt.Fprintf(&g.text, "out math %s\nout y %s\n", g.list(1), g.list(g.IntN(2)))
	}
	return parsed(t, g.text.String()), g.at
}
