package simplify

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// NilChecks replaces comparisons whose results are known: those with nil of variables that are assigned once, and that
// a new pointer, the address of a variable, a slice of make, an interface value made of a concrete one, or another such
// variable, and those of an integer, a string or a bool with itself. Branches that are never taken are deleted.
func NilChecks(f *ir.Func) {
	use := usageOf(f.Body)
	never, known := map[*ir.Var]bool{}, false
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		ir.EachExpr(s, func(e ir.Expr) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				b, ok := e.(*ir.Binary)
				known = known || ok && equalsItself(b)
				return !known
			})
		})
		if l, ok := s.(*ir.Let); ok && use.writes[l.V] == 1 && !use.addressed[l.V] && neverNil(l.E, never) {
			never[l.V] = true
		}
		return true
	})
	if len(never) == 0 && !known {
		return
	}
	m := &ir.Map{Stmt: foldBranch, Expr: func(e ir.Expr) ir.Expr {
		b, ok := e.(*ir.Binary)
		if !ok || b.Op != token.EQL && b.Op != token.NEQ {
			return fold(e)
		}
		x, y := b.X, b.Y
		if isNil(x) {
			x, y = y, x
		}
		if v := ir.VarOf(x); isNil(y) && v != nil && never[v] {
			return ir.BoolConst(b.T, b.Op == token.NEQ)
		}
		return fold(e)
	}}
	f.Body = m.Block(f.Body)
}

// neverNil reports whether the value of e, a reference, is never nil. The variables in never are not.
func neverNil(e ir.Expr, never map[*ir.Var]bool) bool {
	switch e := e.(type) {
	case *ir.New, *ir.Make:
		return true
	case *ir.Addr:
		return !e.P.Indirect() // otherwise the variable is at an address that may be nil
	case *ir.Load:
		return len(e.P.Path) == 0 && never[e.P.Root]
	case *ir.Convert:
		return !ir.IsAssertion(e) && types.IsInterface(e.T) && !types.IsInterface(e.X.Type())
	}
	return false
}

// isNil reports whether e is the nil of a type that has one.
func isNil(e ir.Expr) bool {
	c, ok := e.(*ir.Const)
	if !ok || c.Val != nil {
		return false
	}
	switch c.T.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Interface, *types.Signature, *types.Chan:
		return true
	}
	return types.Identical(c.T, types.Typ[types.UntypedNil])
}
