package expression

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// Precedences of formulas: a formula is put into parentheses where one of a higher precedence is wanted.
const (
	textSum = iota
	textProduct
	textSign
	textPower
	textAtom
)

// textLongest is the number of operations in a formula from which on it gets a name.
const textLongest = 20

// A formula is the text of a node.
type formula struct {
	text  string
	level int
	size  int  // operations
	value bool // it is a number
}

// String returns the expression as text. A value that is used more than once, or would make a formula of more than 20
// operations, has a line of its own, as t1, before the formula:
//
//	t1 = x1*x2
//	sin(t1) + t1^2
//
// Functions are named as in package rules, and where(c, a, b) is a if the comparison c holds and b otherwise. Constants
// have all digits.
func (e Expression) String() string {
	if e.g == nil {
		return ""
	}
	on := e.g.reach([]int32{e.id})
	uses := make([]int, e.id+1)
	for id := range e.id + 1 {
		if on[id] {
			for _, a := range e.g.args(id) {
				uses[a]++
			}
		}
	}
	var b strings.Builder
	texts := make([]formula, e.id+1)
	named := 0
	for id := range e.id + 1 {
		if !on[id] {
			continue
		}
		f := e.g.formula(id, texts)
		comparison := e.g.nodes[id].op == program.Op(rules.Lt) || e.g.nodes[id].op == program.Op(rules.Le) ||
			e.g.nodes[id].op == program.Op(rules.Eq)
		if id != e.id && f.size > 0 && !comparison && (uses[id] > 1 || f.size >= textLongest) {
			name := e.g.unused("t", &named)
			fmt.Fprintf(&b, "%s = %s\n", name, f.text)
			f = formula{text: name, level: textAtom}
		}
		texts[id] = f
	}
	return b.String() + texts[e.id].text
}

// unused returns the next name made of prefix and a number that is no input.
func (g *graph) unused(prefix string, n *int) string {
next:
	for {
		*n++
		name := prefix + strconv.Itoa(*n)
		for _, in := range g.names {
			if in == name {
				continue next
			}
		}
		return name
	}
}

// formula returns the text of a node in terms of those of its arguments.
func (g *graph) formula(id int32, texts []formula) formula {
	n := &g.nodes[id]
	switch n.op {
	case program.Input:
		return formula{text: g.names[n.k], level: textAtom}
	case program.Const:
		v := math.Float64frombits(n.bits)
		f := formula{text: strconv.FormatFloat(v, 'g', -1, 64), level: textAtom, value: true}
		if math.Signbit(v) {
			f.level = textSum
		}
		return f
	}
	var a [3]formula
	size := 1
	for i, x := range g.args(id) {
		a[i] = texts[x]
		size += a[i].size
	}
	f := textOf(rules.Op(n.op), a)
	f.size = size
	return f
}

// in returns f, in parentheses if its precedence is below level.
func (f formula) in(level int) string {
	if f.level >= level {
		return f.text
	}
	return "(" + f.text + ")"
}

// textOf returns the formula of an operation.
func textOf(op rules.Op, a [3]formula) formula {
	switch op {
	case rules.Add:
		if rest, negative := strings.CutPrefix(a[1].text, "-"); negative && a[1].level == textSum {
			return formula{text: a[0].text + " - " + rest, level: textSum}
		}
		return formula{text: a[0].text + " + " + a[1].text, level: textSum}
	case rules.Sub:
		return formula{text: a[0].text + " - " + a[1].in(textProduct), level: textSum}
	case rules.Mul, rules.MulZ:
		if a[1].value { // numbers come first
			a[0], a[1] = a[1], a[0]
		}
		if a[0].value && a[0].level == textSum {
			return formula{text: a[0].text + "*" + a[1].in(textSign), level: textSum}
		}
		return formula{text: a[0].in(textProduct) + "*" + a[1].in(textSign), level: textProduct}
	case rules.Div, rules.DivZ:
		return formula{text: a[0].in(textProduct) + "/" + a[1].in(textPower), level: textProduct}
	case rules.Neg:
		return formula{text: "-" + a[0].in(textProduct), level: textSum}
	case rules.Inv:
		return formula{text: "1/" + a[0].in(textPower), level: textProduct}
	case rules.Sq:
		return formula{text: a[0].in(textAtom) + "^2", level: textPower}
	case rules.Pow:
		return formula{text: a[0].in(textAtom) + "^" + a[1].in(textAtom), level: textPower}
	case rules.Lt:
		return formula{text: a[0].text + " < " + a[1].text, level: -1}
	case rules.Le:
		return formula{text: a[0].text + " <= " + a[1].text, level: -1}
	case rules.Eq:
		return formula{text: a[0].text + " == " + a[1].text, level: -1}
	}
	name := op.String()
	if op == rules.Select {
		name = "where"
	}
	args := make([]string, op.Arity())
	for i := range args {
		args[i] = a[i].text
	}
	return formula{text: name + "(" + strings.Join(args, ", ") + ")", level: textAtom}
}
