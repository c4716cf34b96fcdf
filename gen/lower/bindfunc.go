package lower

import (
	"go/ast"
	"go/token"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Variables of function type. They do not exist at run time: a variable that is assigned once is
// bound to the function during lowering, and uses of it refer to that function.

// bindFunctions lowers an assignment whose values are functions, and reports whether s is one.
func (l *lowerer) bindFunctions(s *ast.AssignStmt) bool {
	if len(s.Lhs) != len(s.Rhs) {
		return false
	}
	any := false
	for _, e := range s.Lhs {
		if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
			any = any || isFuncType(l.typeOf(e))
		}
	}
	if !any {
		return false
	}
	for i, e := range s.Lhs {
		id, ok := e.(*ast.Ident)
		if !ok || !isFuncType(l.typeOf(e)) {
			l.refuse(s, "assignment of a function", "other values are assigned with it",
				"assign the function in a separate statement")
			return true
		}
		l.bindFunction(s, id, s.Rhs[i],
			s.Tok == token.DEFINE || l.facts.block[l.info.ObjectOf(id)] == l.facts.within[s])
	}
	return true
}

// bindFunction binds a variable that is assigned once. whole reports that the assignment dominates
// all uses, as it is in the block of the declaration.
func (l *lowerer) bindFunction(n ast.Node, id *ast.Ident, e ast.Expr, whole bool) {
	o := l.info.ObjectOf(id)
	if b := l.env[o]; b != nil && b.alternatives != nil {
		l.setChoice(n, b, e)
		return
	}
	if l.facts.assigned[o] > 1 && l.info.Defs[id] == o && l.declareChoice(n, o, nil) {
		l.setChoice(n, l.env[o], e)
		return
	}
	if l.facts.assigned[o] != 1 || l.facts.shared[o] || l.facts.addressed[o] || !whole {
		l.refuse(n, "assignment to function variable "+id.Name, "the function must be known statically",
			"use a variable for each function")
		return
	}
	// A literal may refer to the variable it is bound to, so the variable must be known to it.
	var v *funcValue
	if lit, ok := ast.Unparen(e).(*ast.FuncLit); ok {
		v = l.closure(lit, o)
	} else {
		v = l.function(e)
	}
	if v == nil {
		l.refuse(e, "function value", "the function is not known statically", remedyStatic)
		return
	}
	l.env[o] = &binding{value: v}
}

// compareFunction lowers a comparison of a function with nil, which is known, and reports whether x
// is one.
func (l *lowerer) compareFunction(x *ast.BinaryExpr) (ir.Expr, bool) {
	e := x.X
	if l.info.Types[e].IsNil() {
		e = x.Y
	}
	if !isFuncType(l.typeOf(e)) {
		return nil, false
	}
	v := l.function(e)
	if v == nil {
		return l.functionValue(e), true
	}
	null := l.isNull(v)
	if c, ok := null.(*ir.Const); ok {
		return truth(isTrue(c) == (x.Op == token.EQL)), true
	}
	if x.Op == token.NEQ {
		null = &ir.Unary{Typed: boolean, Op: token.NOT, X: null}
	}
	return null, true
}
