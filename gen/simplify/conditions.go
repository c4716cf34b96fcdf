package simplify

import (
	"go/token"

	"github.com/nabla-ad/nabla/gen/ir"
)

// knownConditions are conditions that hold at the current statement of a pass: those of the enclosing ifs whose
// variables keep their values since. They have no variables that pointers may write.
type knownConditions struct {
	list []ir.Expr
	use  *usage // of the function
}

// add adds the conjuncts of e.
func (k *knownConditions) add(e ir.Expr) {
	for _, c := range conjuncts(e) {
		kept := true
		exprUses(c, func(v *ir.Var, _ use) { kept = kept && !k.use.addressed[v] && v.Kind != ir.Global })
		ir.WalkExpr(c, func(e ir.Expr) bool {
			p := ir.PlaceOf(e)
			kept = kept && (p == nil || !p.Indirect())
			return kept
		})
		if kept {
			k.list = append(k.list[:len(k.list):len(k.list)], c)
		}
	}
}

// block returns b with each statement replaced by those that f returns for it. The blocks of a statement are rewritten
// before the statement itself, and k is up to date in every call.
func (k *knownConditions) block(b ir.Block, f func(ir.Stmt) ir.Block) (out ir.Block) {
	outer := k.list
	defer func() { k.list = outer }()
	for _, s := range b {
		here := k.list
		switch x := s.(type) {
		case *ir.If:
			y := &ir.If{At: x.At, Cond: x.Cond}
			k.add(x.Cond)
			y.Then = k.block(x.Then, f)
			k.list = here
			y.Else = k.block(x.Else, f)
			s = y
		case *ir.Loop:
			k.list = nil // an iteration may change its variables
			loop := *x
			loop.Body = k.block(x.Body, f)
			s = &loop
		default:
			s = mapBlocks(s, func(b ir.Block) ir.Block { return k.block(b, f) })
		}
		k.list = here
		out = append(out, f(s)...)
		var kept []ir.Expr
		for _, c := range here {
			changed := false
			exprUses(c, func(v *ir.Var, _ use) { changed = changed || writesVar(s, v) })
			if !changed {
				kept = append(kept, c)
			}
		}
		k.list = kept
	}
	return out
}

// conjuncts returns the operands of && in e, or e itself.
func conjuncts(e ir.Expr) []ir.Expr {
	if b, ok := e.(*ir.Binary); ok && b.Op == token.LAND {
		return append(conjuncts(b.X), conjuncts(b.Y)...)
	}
	return []ir.Expr{e}
}

// holds reports whether e is known to be true: it is a known condition, or x < y where c < y is known with constants
// x <= c.
func (k knownConditions) holds(e ir.Expr) bool {
	if c, ok := e.(*ir.Const); ok {
		return !isZero(c)
	}
	for _, c := range k.list {
		if ir.Equal(c, e) {
			return true
		}
		x, y, ok := lessThan(e)
		a, b, less := lessThan(c)
		if !ok || !less || !ir.Equal(y, b) {
			continue
		}
		m, isConst := constInt(x)
		if n, ok := constInt(a); ok && isConst && m <= n || ir.Equal(x, a) {
			return true
		}
	}
	return false
}

// lessThan returns x and y if e is x < y or y > x.
func lessThan(e ir.Expr) (x, y ir.Expr, ok bool) {
	b, ok := e.(*ir.Binary)
	switch {
	case ok && b.Op == token.LSS:
		return b.X, b.Y, true
	case ok && b.Op == token.GTR:
		return b.Y, b.X, true
	}
	return nil, nil, false
}

// guard returns b, statements in place of l that may only be executed if it has an iteration, in an if unless that is
// known.
func (k knownConditions) guard(l *ir.Loop, b ir.Block) ir.Block {
	some := fold(hasIteration(l))
	if k.holds(some) {
		return b
	}
	return ir.Block{&ir.If{At: l.At, Cond: some, Then: b}}
}
