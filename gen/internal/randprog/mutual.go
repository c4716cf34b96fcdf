package randprog

import "fmt"

// A cycle is two functions of a program that call each other, of type func(x []float64, a float64, k int) []float64.
// The depth of the recursion is k. Each returns its argument, a part of it, or new memory, and may write to the
// argument, so that facts about one of them rest on facts about the other.
type cycle struct{ first, second string }

// mutual adds a cycle to the functions of the program.
func (g *generator) mutual() {
	c := &cycle{g.name("m") + "@", g.name("m") + "@"}
	fresh := g.chance(2) // both functions may return new memory, or only the first
	for i, names := range [][2]string{{c.first, c.second}, {c.second, c.first}} {
		g.ctx = context{vars: map[Kind][]string{}, tripWeight: 4, budget: 1 + g.IntN(3), depth: 1, self: new(helper),
			indices: []string{"n&3", "k&3"}}
		g.declare(Float, "a")
		g.local(Slice, "x")
		value := func() *Node {
			if i > 0 && !fresh {
				return node(Slice, "x")
			}
			return node(Slice, g.oneOf("x", "x[len(x)/2:]", g.clippedText("append([]float64(nil), x...)"),
				"[]float64{$0, x[0]}"), g.float(1))
		}
		g.ctx.ret = func() *Node { return stmt("return $0", value()) }
		again := stmt(g.oneOf("x = $0", "if a > 0 {\nx = $0\n}", "y := $0\n$1[0] = (y[0] + $1[0])*0.5",
			"if k&1 == 0 {\nreturn $0\n}"),
			node(Slice, fmt.Sprintf(g.oneOf("%s($0, $1, k-1)", "%s($0, a*0.5, k-1)"), names[1]), g.view(), g.float(1)),
			node(Slice, g.oneOf("x", "y")))
		body := node(Block, "")
		if fresh || i == 0 {
			body = g.block()
		}
		text := "func " + names[0] + "(x []float64, a float64, k int) []float64 {\nn := k\n_ = n\n$0" +
			"if k > 0 {\n$1\n}\n$2return $3\n}"
		change := stmt(
			g.oneOf("", "x[0] = math.Sin(x[0]) + a*0.25\n", "for i := range x {\nx[i] *= 0.5 + 0.25*math.Sin(a)\n}\n"),
		)
		g.functions = append(g.functions, node(Decl, text, body, again, change, value()))
	}
	g.cycle = c
}

// mutualCall returns calls of the functions in the cycle: a single one, whose result becomes a slice variable or a new
// one, or two marked loops, each of which hands on a slice through one of the functions.
func (g *generator) mutualCall() *Node {
	depth := g.oneOf("1", "2", "n&1")
	f := g.oneOf(g.cycle.first, g.cycle.second)
	if len(g.ctx.assignable) == 0 || g.ctx.tripWeight > 4 || g.chance(3) {
		return g.define(Slice, g.name("s"), f+"($0, $1, "+depth+")", g.view(), g.float(1))
	}
	loop := func(f string) string {
		return g.oneOf("//nabla:checkpoint\n", "//nabla:checkpoint snapshots=2\n") + "for range " + g.oneOf("2", "5") +
			" {\n$0 = " + f + "($0, $1, " + depth + ")\n}\n"
	}
	text := loop(f)
	if f == g.cycle.first {
		text += loop(g.cycle.second)
	} else {
		text += loop(g.cycle.first)
	}
	return stmt("{\n"+text+"}", node(Slice, g.oneOf(g.ctx.assignable...)), g.tame(1))
}
