package lower

import (
	"go/ast"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Type switches and type assertions on interface values whose dynamic type is known (devirtualize.go): the clause that
// is taken, and the outcome of an assertion, are decided statically. The other clauses are not lowered. In a generic
// function a switch over any(x) of a parameter x is decided for each type argument.

// typeSwitch lowers a type switch.
func (l *lowerer) typeSwitch(s *ast.TypeSwitchStmt, label string) {
	if s.Init != nil {
		l.stmt(s.Init)
	}
	x, symbol := switchOperand(s)
	k := l.devirtualize(x)
	if k == nil && l.isChosen(x) {
		l.chosenSwitch(s, label, x, symbol)
		return
	}
	if k == nil {
		l.testedSwitch(s, label, x, symbol)
		return
	}
	e := k.value()
	clause := l.takenClause(s, k.t)
	l.breakable(s, label, func() {
		if clause == nil || symbol == nil || l.info.Implicits[clause] == nil {
			if mayPanic(e) {
				l.temp(s, "unused", k.t, e)
			}
		} else {
			l.bindSymbol(clause, l.info.Implicits[clause], &devirtualized{k.t, func() ir.Expr { return e }}, 0)
		}
		if clause != nil {
			l.stmts(clause.Body)
		}
	})
}

// switchOperand returns x and v of switch v := x.(type); v is nil if there is none.
func switchOperand(s *ast.TypeSwitchStmt) (x ast.Expr, v *ast.Ident) {
	switch a := s.Assign.(type) {
	case *ast.AssignStmt:
		return ast.Unparen(a.Rhs[0]).(*ast.TypeAssertExpr).X, a.Lhs[0].(*ast.Ident)
	case *ast.ExprStmt:
		return ast.Unparen(a.X).(*ast.TypeAssertExpr).X, nil
	}
	panic("a type switch without an operand")
}

// takenClause returns the clause of s that is taken for a value of dynamic type t: the first with a matching type,
// otherwise the default clause, or nil.
func (l *lowerer) takenClause(s *ast.TypeSwitchStmt, t types.Type) (other *ast.CaseClause) {
	for _, c := range s.Body.List {
		c := c.(*ast.CaseClause)
		if c.List == nil {
			other = c
		}
		for _, e := range c.List {
			if !l.info.Types[e].IsNil() && matches(t, l.typeOf(e)) {
				return c
			}
		}
	}
	return other
}

// matches reports whether a value of dynamic type t has the type want, or implements it.
func matches(t, want types.Type) bool {
	if i, ok := want.Underlying().(*types.Interface); ok {
		return types.Implements(t, i)
	}
	return types.Identical(t, want)
}

// bindSymbol declares o, the symbol of a clause or the variable of an assertion, with the value k: as a variable of the
// dynamic type, which is known if o has an interface type, or as an interface value if o is assigned again. The
// declaration itself counts as the given number of assignments.
func (l *lowerer) bindSymbol(n ast.Node, o types.Object, k *devirtualized, assignments int) {
	v := l.local(o)
	e := k.value()
	known := types.IsInterface(v.Type)
	switch {
	case !known:
	case l.facts.assigned[o] > assignments || l.facts.byReference(o):
		e, known = &ir.Convert{Typed: ir.Typed{T: v.Type}, X: e}, false
	default:
		v.Type = k.t
	}
	l.emit(&ir.Let{At: l.at(n), V: v, E: e})
	l.bind(o, v)
	if known {
		l.env[o].dynamicType = k.t
	}
}

// asserted returns the value of x.(T) as a value of its dynamic type, or nil if that is not known or is not T.
func (l *lowerer) asserted(x *ast.TypeAssertExpr) *devirtualized {
	k := l.devirtualize(x.X)
	if k == nil || !matches(k.t, l.typeOf(x.Type)) {
		return nil
	}
	return k
}

// assertion lowers x.(T) within an expression, of type t.
func (l *lowerer) assertion(x *ast.TypeAssertExpr, t types.Type) ir.Expr {
	if k := l.asserted(x); k != nil {
		if types.IsInterface(t) {
			return &ir.Convert{Typed: ir.Typed{T: t}, X: k.value()}
		}
		return k.value()
	}
	if k := l.devirtualize(x.X); k != nil {
		return l.refuseExpr(x, "type assertion", "the value is of type "+typeText(k.t)+", so it always panics",
			"test the type with v, ok := x.(T)")
	}
	return l.testedAssertion(x, t)
}

// assertTuple lowers v, ok = x.(T), and reports whether that is possible.
func (l *lowerer) assertTuple(n ast.Node, lhs []ast.Expr, x *ast.TypeAssertExpr, define bool) bool {
	k := l.devirtualize(x.X)
	if k == nil {
		return l.testedTuple(n, lhs, x, define)
	}
	t := l.typeOf(x.Type)
	ok := matches(k.t, t)
	e := k.value()
	switch {
	case !ok:
		if mayPanic(e) {
			l.temp(n, "unused", k.t, e)
		}
		e = ir.Zero(t)
	case types.IsInterface(t):
		if o := l.newVar(lhs[0], define); o != nil {
			l.bindSymbol(n, o, &devirtualized{k.t, func() ir.Expr { return e }}, 1)
			l.assignTruth(n, lhs[1], define, ok)
			return true
		}
		e = &ir.Convert{Typed: ir.Typed{T: t}, X: e}
	}
	l.assignAsserted(n, lhs, l.temp(n, "t", t, e), define)
	l.assignTruth(n, lhs[1], define, ok)
	return true
}

// assignAsserted assigns v, the value of an assertion, to the first variable on the left side, or declares it.
func (l *lowerer) assignAsserted(n ast.Node, lhs []ast.Expr, v *ir.Var, define bool) {
	switch o := l.newVar(lhs[0], define); {
	case isBlank(lhs[0]):
	case o != nil:
		w := l.local(o)
		l.emit(&ir.Let{At: l.at(n), V: w, E: l.coerce(v.Load(), w.Type, lhs[0])})
		l.bind(o, w)
	default:
		if p := l.lvalue(lhs[0]); p != nil {
			to, _ := placeType(p, nil)
			l.emit(&ir.Set{At: l.at(n), P: p, E: l.coerce(v.Load(), to, lhs[0])})
		}
	}
}

// assignTruth assigns the outcome ok to e, or declares it. If a declared variable is not assigned again, conditions on
// it are decided statically.
func (l *lowerer) assignTruth(n ast.Node, e ast.Expr, define, ok bool) {
	switch o := l.newVar(e, define); {
	case isBlank(e):
	case o != nil:
		v := l.local(o)
		l.emit(&ir.Let{At: l.at(n), V: v, E: l.coerce(truth(ok), v.Type, e)})
		l.bind(o, v)
		if l.facts.assigned[o] == 1 && !l.facts.byReference(o) {
			l.env[o].outcome = truth(ok)
		}
	default:
		if p := l.lvalue(e); p != nil {
			to, _ := placeType(p, nil)
			l.emit(&ir.Set{At: l.at(n), P: p, E: l.coerce(truth(ok), to, e)})
		}
	}
}
