package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Recognition of counted loops: for i := lo; i + shift op bound; i += step with constants shift and
// step, and a variable that no closure modifies.

// A counting holds the parts of a for statement that has the form of a counted loop.
type counting struct {
	object types.Object
	lo     ast.Expr
	op     token.Token // <, <=, > or >=, with i on its left
	bound  ast.Expr
	shift  int64 // what the condition adds to i
	step   int64
}

// flipped maps comparisons to those with exchanged operands.
var flipped = map[token.Token]token.Token{token.LSS: token.GTR, token.LEQ: token.GEQ, token.GTR: token.LSS,
	token.GEQ: token.LEQ}

// counting returns the parts of s, or nil if s does not have the form of a counted loop. Whether
// the body assigns to the variable or to the bound is not examined.
func (l *lowerer) counting(s *ast.ForStmt) *counting {
	init, ok := s.Init.(*ast.AssignStmt)
	if !ok || init.Tok != token.DEFINE || len(init.Lhs) != 1 || len(init.Rhs) != 1 {
		return nil
	}
	o := l.newVar(init.Lhs[0], true)
	cond, ok := s.Cond.(*ast.BinaryExpr)
	if o == nil || !ok || !ir.IsInteger(l.subst.apply(o.Type())) || l.facts.byReference(o) {
		return nil
	}
	c := &counting{object: o, lo: init.Rhs[0], op: cond.Op, bound: cond.Y}
	if flipped[cond.Op] == 0 {
		return nil
	}
	if c.shift, ok = l.shifted(cond.X, o); !ok {
		if c.shift, ok = l.shifted(cond.Y, o); !ok {
			return nil
		}
		c.op, c.bound = flipped[cond.Op], cond.X
	}
	// The bound is evaluated once before the loop, where the variable has another value.
	if l.mentions(c.bound, o) {
		return nil
	}
	c.step = l.step(s.Post, o)
	// A step away from the bound would make the trip count depend on overflow.
	up := c.op == token.LSS || c.op == token.LEQ
	if c.step == 0 || up != (c.step > 0) {
		return nil
	}
	return c
}

// shifted returns the constant that e adds to the variable o, and whether e has that form.
func (l *lowerer) shifted(e ast.Expr, o types.Object) (int64, bool) {
	if l.isVar(e, o) {
		return 0, true
	}
	x, ok := ast.Unparen(e).(*ast.BinaryExpr)
	switch {
	case !ok:
	case x.Op == token.ADD && l.isVar(x.X, o):
		return l.small(x.Y)
	case x.Op == token.ADD && l.isVar(x.Y, o):
		return l.small(x.X)
	case x.Op == token.SUB && l.isVar(x.X, o):
		k, ok := l.small(x.Y)
		return -k, ok
	}
	return 0, false
}

// small returns the value of a constant of at most 30 bits.
func (l *lowerer) small(e ast.Expr) (int64, bool) {
	tv := l.info.Types[e]
	if tv.Value == nil {
		return 0, false
	}
	k, ok := constInt(l.constant(e, tv.Value, types.Typ[types.Int]))
	return k, ok && k <= 1<<30 && k >= -1<<30
}

// isVar reports whether e is the variable o.
func (l *lowerer) isVar(e ast.Expr, o types.Object) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && l.info.ObjectOf(id) == o
}

// mentions reports whether n refers to o.
func (l *lowerer) mentions(n ast.Node, o types.Object) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && l.info.Uses[id] == o {
			found = true
		}
		return true
	})
	return found
}

// step returns the constant that a statement adds to o, or 0 if it does something else.
func (l *lowerer) step(s ast.Stmt, o types.Object) int64 {
	value := func(e ast.Expr) int64 {
		if k, ok := l.small(e); ok {
			return k
		}
		return 0
	}
	switch s := s.(type) {
	case *ast.IncDecStmt:
		if l.isVar(s.X, o) {
			if s.Tok == token.INC {
				return 1
			}
			return -1
		}
	case *ast.AssignStmt:
		if len(s.Lhs) != 1 || !l.isVar(s.Lhs[0], o) {
			return 0
		}
		switch s.Tok {
		case token.ADD_ASSIGN:
			return value(s.Rhs[0])
		case token.SUB_ASSIGN:
			return -value(s.Rhs[0])
		case token.ASSIGN:
			x, ok := ast.Unparen(s.Rhs[0]).(*ast.BinaryExpr)
			if ok && l.isVar(x.X, o) && x.Op == token.ADD {
				return value(x.Y)
			}
			if ok && l.isVar(x.X, o) && x.Op == token.SUB {
				return -value(x.Y)
			}
		}
	}
	return 0
}
