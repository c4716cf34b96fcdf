package randprog

import (
	"fmt"
	"strings"
)

// control returns a control statement.
func (g *generator) control() *Node {
	if g.ctx.depth > 5 {
		return g.jump()
	}
	switch g.IntN(14) {
	case 0, 1:
		return stmt("if $0 {\n$1}", g.cond(1), g.block())
	case 2:
		e, c := g.float(1), g.float(0)
		return stmt("if v := float64($0); v > $1 {\n$2} else {\n$3}", e, c, g.block(), g.block())
	case 3, 4, 5, 6, 7:
		if g.ctx.depth < 6 && g.ctx.tripWeight <= 12 {
			return g.loop()
		}
	case 8, 9:
		return g.jump()
	case 10:
		return g.switchStmt()
	case 11:
		return g.closure()
	case 12:
		if g.has(Pointer) {
			return stmt("if $0 "+g.oneOf("&&", "||")+" $1.push($2, 1) > $3 {\n$4}", g.cond(1), g.pick(Pointer),
				g.float(0), g.float(0), g.block())
		}
	case 13:
		if g.has(Pointer) {
			return stmt("if $0 || $1.next() > 3 || $1.next() == 2 {\n$2} else if $3 {\n$4}", g.cond(1), g.pick(Pointer),
				g.block(), g.cond(0), g.block())
		}
	}
	return nil
}

// A head is the beginning of a loop; %i is its index, %v a second variable.
type head struct {
	text   string
	rounds int
	index  bool   // %i is an index that stays in [0, 8)
	value  bool   // %v is a float
	begin  string // first statements of the body
	before string // statements before the loop
	over   Kind   // kind of $0
	// iterator is set for loops over functions.
	iterator bool
}

// heads holds the beginnings of loops: with rounds, the number of iterations is at most that.
var heads = []head{
	{text: "for %i := 0; %i < %n; %i++", rounds: 3, index: true},
	{text: "for %i := range %n", rounds: 3, index: true},
	{text: "for %i := %n; %i >= 0; %i--", rounds: 3, index: true},
	{text: "for %i := %n - 1; %i > -1; %i -= 2", rounds: 2, index: true},
	{text: "for %i := 1; %i <= n&3; %i += 2", rounds: 2, index: true},
	{text: "for %i := 0; %i < len($0) && %i < 4; %i++", rounds: 4, index: true, over: Slice},
	{text: "for %i := 0; %i < len($0); %i++", rounds: 5, over: Slice},
	{text: "for %i := len($0) - 1; %i >= 0; %i--", rounds: 5, over: Slice},
	{text: "for %i, %v := range $0", rounds: 5, value: true, over: Slice},
	{text: "for _, %v := range $0", rounds: 5, value: true, over: Slice},
	{text: "for %i, %v := range $0", rounds: 3, index: true, value: true, over: Array},
	{text: "for %i := range $0", rounds: 3, index: true, over: Array},
	{text: "for %i, %v := range &$0", rounds: 3, index: true, value: true, over: Array},
	{text: "for _, %v := range [3]float64{$0, 0.5, 1}", rounds: 3, value: true, over: Float},
	{text: "for %i := range $0", rounds: 5, over: Slice},
	{text: "for range %n", rounds: 3},
	{text: "for %i := range upto(%n)", rounds: 4, index: true, iterator: true},
	{text: "for %i, %v := range backward($0)", rounds: 5, index: true, value: true, over: Array, iterator: true},
	{text: "for %v := range asked(&$0[0], $0)", rounds: 5, value: true, over: Slice, iterator: true},
	{text: "for %v := range positive(backward([3]float64{$0, 0.5, -1}))", rounds: 3, value: true, over: Float,
		iterator: true},
	{text: "for %i := uint8(250); %i >= 250; %i++", rounds: 6},
	{text: "for %i, %v := 0, float64($0); %i < 3 && %v > -2; %i, %v = %i+1, %v-1", rounds: 3, index: true, value: true,
		over: Float},
	{text: "for %i := 0; %i < n&3; %i++", rounds: 2, index: true, begin: "if $0[0] > 0.5 {\n%i++\n}\n", over: Slice},
	{text: "for %i := 0; %i < %n; ", rounds: 3, begin: "%i += 1 + n&1\n"},
	{text: "for %i < 4 && $0[0] > -2", rounds: 3, before: "%i := 0\n", begin: "%i++\n$0[0] -= 0.25\n", over: Slice},
	{text: "for", rounds: 3, before: "%i := 0\n", begin: "if %i++; %i > %n {\nbreak\n}\n"},
	{text: "for ok := true; ok; ok = %i < 3", rounds: 3, before: "%i := 0\n", begin: "%i += 1 + n&1\n"},
	{text: "for %i, %v := range $0", rounds: 3, before: "var %i int\nvar %v []float64\n", over: Rows},
}

// loop returns a loop of any kind.
func (g *generator) loop() *Node {
	h := heads[g.IntN(len(heads))]
	if h.over != "" && !g.has(h.over) || g.old && h.iterator {
		return nil
	}
	leave := g.enter()
	i, v, label := g.name("i"), g.name("v"), strings.ToUpper(g.name("l"))
	fill := strings.NewReplacer("%i", i, "%v", v, "%n", fmt.Sprint(2+g.IntN(3))).Replace
	if h.over == Rows {
		h.text = strings.Replace(h.text, ":=", "=", 1)
	}
	var kids []*Node
	switch h.over {
	case "":
		kids = append(kids, node(Int, "0"))
	case Float:
		kids = append(kids, g.float(0))
	default:
		kids = append(kids, g.pick(h.over))
	}
	g.ctx.tripWeight *= h.rounds
	g.ctx.loops = append(g.ctx.loops, label)
	over := kids[0].Text
	switch h.over {
	case Slice:
		// The body rarely assigns the slice that the loop ranges over, so its length stays.
		var rest []string
		for _, s := range g.ctx.assignable {
			if s != over || g.chance(20) {
				rest = append(rest, s)
			}
		}
		g.ctx.assignable = rest
		if strings.Contains(h.text, "%i") && h.before == "" && h.begin == "" && !strings.Contains(over, "[") {
			g.declare(Float, over+"["+i+"]", over+"[len("+over+")-1-"+i+"]")
		}
	case Rows:
		g.declare(Slice, v)
	}
	if h.index {
		g.ctx.indices = append(g.ctx.indices, i)
	}
	if h.value {
		g.declare(Float, v)
	}
	begin := h.begin
	if strings.Contains(h.text, "%i") && h.before == "" {
		begin += "_ = %i\n"
	}
	if h.value {
		begin += "_ = %v\n"
	}
	body := g.block()
	leave()
	text := fill(h.text) + " {\n" + fill(begin) + "$1}"
	if g.opts.Checkpoints && g.chance(2) {
		text = g.oneOf("//nabla:checkpoint\n", "//nabla:checkpoint levels=3\n", "//nabla:checkpoint snapshots=1\n",
			"//nabla:checkpoint snapshots=2 steps=2\n", "//nabla:checkpoint memory=1KiB\n") + text
	}
	if h.over == Rows {
		text += "\n_, _ = " + i + ", " + v
	}
	n := stmt(text, kids[0], body)
	n.Label = label
	if h.index && !h.value {
		n.or("for "+i+" := range 2 {\n_ = "+i+"\n$1}", "for "+i+" := range 1 {\n_ = "+i+"\n$1}")
	}
	if h.before != "" {
		// The label must be directly before the loop.
		return stmt("{\n"+fill(h.before)+"$0\n}", n)
	}
	return n
}

// jump returns a conditional exit or panic.
func (g *generator) jump() *Node {
	switch k := g.IntN(8); {
	case k == 0 && g.opts.Panics && !g.inFunction():
		return stmt("if $0 {\npanic(\"bad value\")\n}", g.cond(1))
	case k == 1:
		return stmt("if $0 > 1e9 || math.IsNaN($0) {\npanic(\"not tame\")\n}", g.float(0))
	case k < 4 && len(g.ctx.loops) > 0:
		l := g.ctx.loops[g.IntN(len(g.ctx.loops))]
		return g.conditional(stmt(g.oneOf("break", "continue") + " " + l))
	case k < 6 && len(g.ctx.loops) > 0:
		return g.conditional(stmt(g.oneOf("break", "continue")))
	case k < 7 && len(g.ctx.breaks) > 0:
		return g.conditional(stmt("break " + g.ctx.breaks[g.IntN(len(g.ctx.breaks))]))
	case g.ctx.depth > 1:
		return g.conditional(g.ctx.ret())
	}
	return nil
}

// conditional puts n under a condition, or two nested ones: the end of a block may then not be reached, although none
// of its statements is an exit.
func (g *generator) conditional(n *Node) *Node {
	n = stmt("if $0 {\n$1}", g.cond(1), node(Block, "", n))
	if g.chance(2) {
		n = stmt("if $0 {\n$1}", g.cond(0), node(Block, "", n))
	}
	return n
}

// inFunction reports whether the statement is in a closure or in a function other than F.
func (g *generator) inFunction() bool { return g.ctx.inClosure || g.ctx.self != nil }

// switchStmt returns a switch.
func (g *generator) switchStmt() *Node {
	leave := g.enter()
	defer leave()
	label := strings.ToUpper(g.name("w"))
	tag := g.chance(2)
	n := stmt("switch {\n")
	if tag {
		n.Text = "switch t := ($0) % 5; t {\n"
		n.Kids = append(n.Kids, g.integer(1))
	}
	n.Label = label
	g.ctx.breaks = append(g.ctx.breaks, label)
	add := func(k *Node) string {
		n.Kids = append(n.Kids, k)
		return fmt.Sprintf("$%d", len(n.Kids)-1)
	}
	for i := range 3 {
		switch {
		case i == 1 && g.chance(2):
			n.Text += "default:\n"
		case tag:
			more := g.oneOf("n", "len(x)+3", "int(tree(0.5, 2)) + 7")
			if !g.has(Slice) || g.ctx.vars[Slice][0] != "x" || g.ctx.self != nil {
				more = "7"
			}
			n.Text += fmt.Sprintf("case %d, %d, %s:\n", i, -i-1, []string{more, "n+5", fmt.Sprint(i + 20)}[i])
		default:
			n.Text += "case " + add(g.cond(1)) + ":\n"
		}
		n.Text += add(g.block())
		if i < 2 && g.chance(3) {
			n.Text += "fallthrough\n"
		} else if g.chance(4) {
			n.Text += "break\n"
		}
	}
	n.Text += "}"
	return n
}

// closure returns a closure that may write captured variables, and calls of it.
func (g *generator) closure() *Node {
	if g.ctx.inClosure {
		return nil
	}
	f, v, arg := g.name("f"), g.name("f"), g.name("c")
	to := g.pick(Float)
	first := g.float(1)
	leave := g.enter()
	g.ctx.loops, g.ctx.breaks, g.ctx.assignable, g.ctx.inClosure = nil, nil, nil, true
	g.ctx.tripWeight *= 2
	g.ctx.ret = func() *Node { return stmt("return $0", g.float(1)) }
	g.declare(Float, arg)
	body := g.block()
	add := g.tame(1)
	leave()
	text := f + " := func(" + arg + " float64) float64 {\n$1"
	if g.chance(2) {
		text += "$0 += $2\n"
	}
	text += "return $0*0.5 + " + arg + "*0.5\n}\n" + v + " := " + f + "($3)\n" + v + " = (" + v + " + " + f +
		"(0.5))*0.5"
	g.declare(Float, v)
	return stmt(text, to, body, add, first)
}
