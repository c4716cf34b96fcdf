package shortcut

import (
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// An atom is a part of a condition: the comparison of a number that carries derivatives with a constant, true if they
// are equal, or any other condition.
type atom struct {
	cond ir.Expr
	// place is the number, nil for other conditions, and c the constant.
	place *ir.Place
	c     constant.Value
	// passive is a variable without derivatives that equals c if the condition holds, nil if there is none.
	passive *ir.Var
	// opaque is set if an expression is compared for being equal, not a number in a variable or in memory.
	opaque bool
}

// A conjunction is a list of conditions that all hold.
type conjunction []atom

// maxConjunctions bounds the disjunctive normal form of a condition.
const maxConjunctions = 16

// normalForm returns the disjunctive normal form of e, or of its negation: a list of conjunctions, of which one holds
// if e does. It is nil if it would be too long.
func (c *completer) normalForm(e ir.Expr, negated bool) []conjunction {
	switch x := e.(type) {
	case *ir.Unary:
		if x.Op == token.NOT {
			return c.normalForm(x.X, !negated)
		}
	case *ir.Binary:
		if x.Op != token.LAND && x.Op != token.LOR {
			break
		}
		p, q := c.normalForm(x.X, negated), c.normalForm(x.Y, negated)
		if p == nil || q == nil || len(p)*len(q) > maxConjunctions {
			return nil
		}
		if x.Op == token.LOR != negated {
			return append(slices.Clip(p), q...)
		}
		var out []conjunction
		for _, a := range p {
			for _, b := range q {
				out = append(out, append(slices.Clip(a), b...))
			}
		}
		return out
	}
	a := atom{cond: e}
	if negated {
		a.cond = not(e)
	}
	if b, ok := e.(*ir.Binary); ok && (b.Op == token.EQL && !negated || b.Op == token.NEQ && negated) {
		a.place, a.c = c.equality(b)
		a.opaque = a.place == nil && c.comparesExactly(b)
		if k, ok := b.Y.(*ir.Const); ok && a.place == nil && !a.opaque && ir.HasInfo(k.T, types.IsNumeric) {
			a.passive, a.c = ir.VarOf(b.X), numberOf(k)
		}
	}
	return []conjunction{{a}}
}

// equality returns the number with derivatives and the constant that b compares for being equal, nil if it does not.
func (c *completer) equality(b *ir.Binary) (*ir.Place, constant.Value) {
	if b.Op != token.EQL && b.Op != token.NEQ || !ir.IsContinuous(b.X.Type()) {
		return nil, nil
	}
	x, y := b.X, b.Y
	if ir.IsConst(x) {
		x, y = y, x
	}
	k, ok := y.(*ir.Const)
	if !ok {
		return nil, nil
	}
	v := numberOf(k)
	if m, ok := x.(*ir.Math); ok && m.Name == "math.Abs" && constant.Sign(v) == 0 {
		x = m.Args[0]
	}
	l, ok := x.(*ir.Load)
	if !ok || !c.facts.Active(l.P.Root) {
		return nil, nil
	}
	return l.P, v
}

// comparesExactly reports whether e contains a comparison of a number that carries derivatives with a constant for
// being equal.
func (c *completer) comparesExactly(e ir.Expr) (found bool) {
	ir.WalkExpr(e, func(x ir.Expr) bool {
		b, ok := x.(*ir.Binary)
		if !ok || b.Op != token.EQL && b.Op != token.NEQ || !ir.IsContinuous(b.X.Type()) {
			return !found
		}
		if ir.IsConst(b.X) != ir.IsConst(b.Y) && (c.facts.Carries(b.X) || c.facts.Carries(b.Y)) {
			found = true
		}
		return !found
	})
	return found
}

// hasEquality reports whether a conjunction compares a number that carries derivatives with a constant.
func (a conjunction) hasEquality() bool {
	return slices.ContainsFunc(a, func(x atom) bool { return x.place != nil })
}

// cond returns the conjunction as an expression.
func (a conjunction) cond() ir.Expr {
	e := a[0].cond
	for _, x := range a[1:] {
		e = ir.NewBinary(e.Type(), token.LAND, e, x.cond)
	}
	return e
}

// not returns !e.
func not(e ir.Expr) ir.Expr { return &ir.Unary{Typed: ir.Typed{T: e.Type()}, Op: token.NOT, X: e} }

// numberOf returns the value of a numeric constant.
func numberOf(k *ir.Const) constant.Value {
	if k.Val == nil {
		return constant.MakeInt64(0)
	}
	return k.Val
}
