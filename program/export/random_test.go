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
	ops     []rules.Op
	text    strings.Builder
	slots   int
	at      []float64 // where guards hold
	vectors [][2]int  // first slots and lengths of statements of many lanes
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

// randomProgram returns a random program of about the given number of statements, in which guards hold at the second
// result. Every other one has few lanes, which read any slots; the others compute with vectors.
func randomProgram(t testing.TB, seed uint64, ops []rules.Op, size int) (*program.Program, []float64) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 7)), ops: ops}
	if seed%2 == 1 {
		return g.vectorProgram(t, size), g.at
	}
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
			g.constants(lanes)
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

func (g *generator) constants(lanes int) {
	var list []string
	v := g.number()
	for range lanes {
		if g.IntN(3) > 0 {
			v = g.number()
		}
		list = append(list, fmt.Sprint(v))
	}
	g.assign(lanes, "const %s", strings.Join(list, " "))
}

// vectorProgram returns a program that computes with vectors: most statements read whole vectors, shifted, reversed,
// strided or in any order, or one number in all lanes.
func (g *generator) vectorProgram(t testing.TB, size int) *program.Program {
	long := 3 + g.IntN(40)
	if g.IntN(8) == 0 {
		long += 80
	}
	groups := 1 + g.IntN(2)
	for k := range groups {
		n := long + g.IntN(3)
		for range n {
			g.at = append(g.at, g.number())
		}
		g.vector(n, fmt.Sprintf("input g%d", k))
	}
	for range size {
		lanes := long
		if g.IntN(4) == 0 {
			lanes -= g.IntN(3)
		}
		switch kind := g.IntN(20); {
		case kind == 0:
			g.constants(lanes)
			g.vectors = append(g.vectors, [2]int{g.slots - lanes, lanes}, [2]int{g.slots - lanes, lanes})
		case kind == 1:
			g.guard(t)
		case kind == 2: // the sum of a vector, with something more
			n := 1 + g.IntN(long)
			terms := g.words(g.spread(n))
			for range g.IntN(3) {
				at := g.IntN(len(terms) + 1)
				terms = append(terms[:at], append([]string{g.slotName()}, terms[at:]...)...)
			}
			g.assign(1, "sum %d [%s]", len(terms), strings.Join(terms, " "))
		case kind == 3: // of several vectors, term by term
			a, b := g.words(g.spread(lanes)), g.words(g.spread(lanes))
			var terms []string
			for i := range min(len(a), len(b)) {
				terms = append(terms, a[i], b[i])
			}
			g.assign(1, "sum %d [%s]", len(terms), strings.Join(terms, " "))
		case kind == 4:
			terms := []int{1, 2, 3, 5, 18, 70}[g.IntN(6)]
			if lanes*terms > 900 {
				terms = 2
			}
			g.vector(lanes, fmt.Sprintf("sum %d %s", terms, g.spread(lanes*terms)))
		case kind == 5:
			g.vector(1+g.IntN(3), g.operation(1))
		case kind == 6 && g.IntN(3) == 0:
			g.guards(t, lanes)
		default:
			g.vector(lanes, g.operation(lanes))
		}
	}
	g.results()
	return parsed(t, g.text.String())
}

// guards writes a guard of many lanes with the outcomes that it has at g.at.
func (g *generator) guards(t testing.TB, n int) {
	a, b := g.spread(n), g.spread(n)
	kind := program.GuardLt + program.Op(g.IntN(5))
	y, ok := evaluated(parsed(t, fmt.Sprintf("%s%%%d:%d = sum 1 %s\n%%%d:%d = sum 1 %s\nout y %s\n", g.text.String(),
		g.slots, n, a, g.slots+n, n, b, g.addresses(2*n, func(i int) int { return g.slots + i }))), g.at, nil)
	if !ok {
		t.Fatalf("a guard fails at %v in\n%s", g.at, g.text.String())
	}
	outcomes := ""
	for i := range n {
		_, ok := evaluated(parsed(t, fmt.Sprintf("%%0 = input a\n%%1 = input b\n%s %%0 %%1 = 1\n", kind)),
			[]float64{y[i], y[n+i]}, nil)
		if ok {
			outcomes += "1"
		} else {
			outcomes += "0"
		}
	}
	fmt.Fprintf(&g.text, "%s %s %s = %s\n", kind, a, b, outcomes)
}

// vector assigns a statement and remembers it as a vector.
func (g *generator) vector(n int, format string) {
	g.vectors = append(g.vectors, [2]int{g.slots, n})
	g.assign(n, "%s", format)
}

// operation returns a random operation on vectors.
func (g *generator) operation(lanes int) string {
	op := g.ops[g.IntN(len(g.ops))]
	s := op.String()
	for range op.Arity() {
		if g.IntN(8) == 0 {
			s += " " + g.slotName()
		} else {
			s += " " + g.spread(lanes)
		}
	}
	return s
}

func (g *generator) slotName() string { return fmt.Sprintf("%%%d", g.slot()) }

// spread returns an operand of n addresses in one vector, if there is one.
func (g *generator) spread(n int) string {
	v := g.vectors[max(g.IntN(len(g.vectors)), g.IntN(len(g.vectors)))]
	first, length := v[0], v[1]
	switch kind := g.IntN(12); {
	case n == 1:
		return fmt.Sprintf("%%%d", first+g.IntN(length))
	case kind < 7 && length >= n:
		return fmt.Sprintf("%%%d:+1", first+g.IntN(length-n+1)*(g.IntN(4)/3))
	case kind == 7 && length >= n:
		return fmt.Sprintf("%%%d:-1", first+length-1-g.IntN(length-n+1))
	case kind == 8 && length >= 2*n:
		return fmt.Sprintf("%%%d:+2", first+g.IntN(length-2*n+1))
	case kind == 9: // again and again
		from := g.IntN(length)
		return g.addresses(n, func(i int) int { return first + (from+i)%length })
	case kind == 10:
		each := 1 + g.IntN(3)
		return g.addresses(n, func(i int) int { return first + i/each%length })
	}
	return g.addresses(n, func(int) int { return first + g.IntN(length) })
}

func (g *generator) addresses(n int, at func(i int) int) string {
	var slots []string
	for i := range n {
		slots = append(slots, fmt.Sprintf("%%%d", at(i)))
	}
	return "[" + strings.Join(slots, " ") + "]"
}

// words returns addresses of an operand, of one with a stride some.
func (g *generator) words(operand string) []string {
	name, stride, ok := strings.Cut(operand, ":")
	if !ok {
		return strings.Fields(strings.Trim(operand, "[]"))
	}
	var slot, by int
	fmt.Sscan(name[1:], &slot)
	fmt.Sscan(stride, &by)
	var list []string
	for range 1 + g.IntN(30) {
		list = append(list, fmt.Sprintf("%%%d", slot))
		if slot += by; slot < 0 || slot >= g.slots {
			break
		}
	}
	return list
}

// results writes outputs: numbers, vectors in any order, constants, several times.
func (g *generator) results() {
	outs := ""
	if g.IntN(2) == 0 {
		outs = fmt.Sprintf("out y %s\n", g.list(1+g.IntN(2)))
	}
	for k := range 1 + g.IntN(2) {
		var slots []string
		for range 1 + g.IntN(3) {
			v := g.vectors[max(g.IntN(len(g.vectors)), g.IntN(len(g.vectors)))]
			switch g.IntN(4) {
			case 0:
				slots = append(slots, strings.Fields(strings.Trim(g.list(g.IntN(4)), "[]"))...)
			case 1:
				slots = append(slots, slots...)
				if g.IntN(2) == 0 { // mostly constants
					one, two := g.slots, g.slots+1
					g.assign(2, "const %v %v", g.number(), g.number())
					for i := range 4 + g.IntN(60) {
						slot := one
						if i%3 == 1 {
							slot = two
						}
						if g.IntN(10) == 0 {
							slot = g.slot()
						}
						slots = append(slots, fmt.Sprintf("%%%d", slot))
					}
				}
			case 2:
				for range g.IntN(40) {
					slots = append(slots, fmt.Sprintf("%%%d", v[0]+g.IntN(v[1])))
				}
			default:
				for i := range v[1] {
					slots = append(slots, fmt.Sprintf("%%%d", v[0]+i))
				}
			}
		}
		if len(slots) > 200 {
			slots = slots[:200]
		}
		if k == 0 && outs == "" && len(slots) == 0 {
			slots = append(slots, g.slotName())
		}
		outs += fmt.Sprintf("out z%d [%s]\n", k, strings.Join(slots, " "))
	}
	g.text.WriteString(outs)
}
