package lower

import (
	"go/ast"
	"go/token"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Variables of function type. A variable that is assigned once does not exist at run time: it is bound to the function
// during lowering, and uses of it refer to that function.

// bindFunctions lowers an assignment to variables of function type, and reports whether s is one. Others, and those of
// several values to variables in memory, are assignments like those of other values.
func (l *lowerer) bindFunctions(s *ast.AssignStmt) bool {
	if len(s.Lhs) != len(s.Rhs) {
		return false
	}
	for _, e := range s.Lhs {
		id, ok := e.(*ast.Ident)
		if !ok || id.Name == "_" || !isFuncType(l.typeOf(e)) {
			return false
		}
		if b := l.env[l.info.ObjectOf(id)]; len(s.Lhs) > 1 && (b != nil || l.info.Defs[id] == nil) {
			return false
		}
	}
	for i, e := range s.Lhs {
		id := e.(*ast.Ident)
		l.bindFunction(s, id, s.Rhs[i],
			s.Tok == token.DEFINE || l.facts.block[l.info.ObjectOf(id)] == l.facts.within[s])
	}
	return true
}

// bindFunction lowers an assignment to a variable of function type, or its declaration. A variable that is assigned
// once is bound to the function. whole reports that the assignment dominates all uses, as it is in the block of the
// declaration. A variable to which only known functions are assigned is a choice, and others are in memory.
func (l *lowerer) bindFunction(n ast.Node, id *ast.Ident, e ast.Expr, whole bool) {
	o := l.info.ObjectOf(id)
	b := l.env[o]
	switch {
	case b != nil && b.alternatives != nil:
		l.setChoice(n, b, e)
	case b != nil && b.place != nil, b == nil && isGlobal(o):
		p := l.lvalue(id)
		l.emit(&ir.Set{At: l.at(n), P: p, E: l.functionOperand(e, p.Type())})
	case b == nil && l.facts.assigned[o] == 1 && !l.facts.byReference(o) && whole:
		// A literal may refer to the variable it is bound to, so the variable must be known to it.
		var v *funcValue
		refusals := len(l.e.refusals)
		if lit, ok := ast.Unparen(e).(*ast.FuncLit); ok {
			v = l.closure(lit, o)
		} else {
			v = l.function(e)
		}
		if v != nil {
			l.env[o] = &binding{value: v}
		} else if len(l.e.refusals) == refusals {
			l.refuse(e, "function value", "the function is not known statically", remedyStatic)
		}
	case b == nil && l.info.Defs[id] == o && l.facts.assigned[o] > 1 && l.declareChoice(n, o, nil):
		l.setChoice(n, l.env[o], e)
	case b == nil && l.info.Defs[id] == o:
		l.declare(n, o, l.functionOperand(e, l.subst.apply(o.Type())))
	default:
		l.refuse(n, "assignment to function variable "+id.Name, "the function must be known statically",
			"use a variable for each function")
	}
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
