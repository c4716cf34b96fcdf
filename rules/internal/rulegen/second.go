package rulegen

import (
	"fmt"
	"strings"

	"github.com/nabla-ad/nabla/rules"
)

// This file differentiates the partial derivatives of the table once more, symbolically. A nil expression is
// structurally zero.

// seconds writes the second partial derivatives, and the table of those that are not structurally zero.
func (g *generator) seconds() {
	fmt.Fprintf(g, "// curvedIn holds bit %d, %d or %d for a second derivative by x twice, by x and y, or by y twice\n"+
		"// that is not structurally zero.\nvar curvedIn = [NumOps]Curvature{\n", 1, 2, 4)
	for _, arity := range []int{1, 2} {
		for _, o := range opsOf(arity) {
			bits := 0
			for k, e := range secondsOf(o) {
				if e != nil {
					bits |= 1 << k
				}
			}
			if bits != 0 {
				fmt.Fprintf(g, "%s: %d,\n", g.idents[o], bits)
			}
		}
	}
	g.WriteString("}\n\n")
	const zero = "\n// It is 0 if it is structurally zero; see [Curved]."
	g.secondFunction(1, "Second1(o Op, x, v float64) float64",
		"Second1 returns d²v/dx² of an op with one argument, given its value v at x."+zero,
		func(o rules.Op) []*rules.Expr { s := secondsOf(o); return s[:1] })
	g.secondFunction(1, "Derivatives1(o Op, x, v float64) (p, pp float64)",
		"Derivatives1 returns what Partial1 and Second1 do, in less time where they have operations in common.",
		func(o rules.Op) []*rules.Expr { return []*rules.Expr{rules.Partial(o, 0), secondsOf(o)[0]} })
	g.secondFunction(2, "Seconds2(o Op, x, y, v float64) (xx, xy, yy float64)",
		"Seconds2 returns d²v/dx², d²v/dxdy and d²v/dy² of an op with two arguments, given its value v at (x, y)."+zero,
		func(o rules.Op) []*rules.Expr { s := secondsOf(o); return s[:] })
}

// secondFunction writes a switch over the ops with the given number of arguments, which returns the expressions of an
// op, or zeros.
func (g *generator) secondFunction(arity int, signature, comment string, of func(o rules.Op) []*rules.Expr) {
	fmt.Fprintf(g, "// %s\nfunc %s {\nswitch o {\n", comment, signature)
	zeros := ""
	for _, o := range opsOf(arity) {
		list := of(o)
		zeros = "0" + strings.Repeat(", 0", len(list)-1)
		if body := bodyOf(o, list); body != "return "+zeros {
			fmt.Fprintf(g, "case %s:\n%s\n", g.idents[o], body)
		}
	}
	fmt.Fprintf(g, "}\nreturn %s\n}\n\n", zeros)
}

// secondsOf returns the derivatives of o by x twice, by x and y, and by y twice.
func secondsOf(o rules.Op) (s [3]*rules.Expr) {
	if o.Choice() {
		return s
	}
	d := differentiator{op: o}
	s[0] = d.of(rules.Partial(o, 0), 0)
	if o.Arity() == 2 {
		s[1] = d.of(rules.Partial(o, 0), 1)
		s[2] = d.of(rules.Partial(o, 1), 1)
	}
	return s
}

// A differentiator differentiates expressions in the arguments and the value of op.
type differentiator struct{ op rules.Op }

// of returns the derivative of e with respect to argument k.
func (d differentiator) of(e *rules.Expr, k int) *rules.Expr {
	switch {
	case e == nil || e.Kind == rules.Num:
		return nil
	case e.Kind == rules.ArgV:
		return rules.Partial(d.op, k)
	case e.Kind != rules.Call:
		if int(e.Kind-rules.ArgX) == k {
			return number(1)
		}
		return nil
	case e.Op == rules.Select:
		yes, no := d.of(e.Args[1], k), d.of(e.Args[2], k)
		if yes == nil && no == nil {
			return nil
		}
		return call(rules.Select, e.Args[0], orZero(yes), orZero(no))
	case e.Op == rules.Div:
		return d.quotient(e, k)
	}
	var sum *rules.Expr
	for i, a := range e.Args {
		inner := d.of(a, k)
		if inner == nil {
			continue
		}
		outer := rules.Partial(e.Op, i)
		if outer == nil {
			continue
		}
		sum = plus(sum, times(substitute(outer, e), inner))
	}
	return sum
}

// quotient returns the derivative of e = a/b: (a' - e·b')/b.
func (d differentiator) quotient(e *rules.Expr, k int) *rules.Expr {
	top := d.of(e.Args[0], k)
	if db := d.of(e.Args[1], k); db != nil {
		top = plus(top, negative(times(e, db)))
	}
	if top == nil {
		return nil
	}
	return call(rules.Div, top, e.Args[1])
}

// substitute returns the partial derivative p of an op with the arguments and the value of e, a call of it.
func substitute(p, e *rules.Expr) *rules.Expr {
	switch p.Kind {
	case rules.Num:
		return p
	case rules.ArgV:
		return e
	case rules.Call:
		args := make([]*rules.Expr, len(p.Args))
		for i, a := range p.Args {
			args[i] = substitute(a, e)
		}
		return call(p.Op, args...)
	}
	return e.Args[p.Kind-rules.ArgX]
}

func call(o rules.Op, args ...*rules.Expr) *rules.Expr {
	return &rules.Expr{Kind: rules.Call, Op: o, Args: args}
}

func number(v float64) *rules.Expr { return &rules.Expr{Kind: rules.Num, Num: v} }

func orZero(e *rules.Expr) *rules.Expr {
	if e == nil {
		return number(0)
	}
	return e
}

func plus(a, b *rules.Expr) *rules.Expr {
	switch {
	case a == nil:
		return b
	case b.Kind == rules.Call && b.Op == rules.Neg:
		return call(rules.Sub, a, b.Args[0])
	}
	return call(rules.Add, a, b)
}

func negative(a *rules.Expr) *rules.Expr {
	switch {
	case a.Kind == rules.Num:
		return number(-a.Num)
	case a.Kind == rules.Call && a.Op == rules.Neg:
		return a.Args[0]
	}
	return call(rules.Neg, a)
}

// times returns a·b, without factors of 1 and with signs in front.
func times(a, b *rules.Expr) *rules.Expr {
	switch {
	case a.Kind == rules.Num && b.Kind == rules.Num:
		return number(a.Num * b.Num)
	case b.Kind == rules.Num:
		return times(b, a)
	case a.Kind == rules.Num && a.Num == 1:
		return b
	case a.Kind == rules.Num && a.Num == -1:
		return negative(b)
	case a.Kind == rules.Call && a.Op == rules.Neg:
		return negative(times(a.Args[0], b))
	case b.Kind == rules.Call && b.Op == rules.Neg:
		return negative(times(a, b.Args[0]))
	case a.Kind == rules.Call && a.Op == rules.Inv:
		return call(rules.Div, b, a.Args[0])
	}
	return call(rules.Mul, a, b)
}

// bodyOf returns the statements that return the expressions.
func bodyOf(o rules.Op, list []*rules.Expr) string {
	e := &emitter{op: o, count: make(map[string]int), temp: make(map[string]string)}
	roots := make([]*node, len(list))
	for i, x := range list {
		roots[i] = &node{atom: "0"}
		if x != nil {
			roots[i] = e.lower(x)
		}
		e.visit(roots[i])
	}
	results := make([]string, len(roots))
	for i, n := range roots {
		results[i], _ = e.text(n)
	}
	return strings.Join(append(e.lines, "return "+strings.Join(results, ", ")), "\n")
}
