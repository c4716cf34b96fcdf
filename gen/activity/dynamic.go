package activity

import (
	"fmt"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Interface values that other code sees have no shadow, so numbers behind one carry no derivatives (those that lowered
// functions make are unions, see package lower). Where a function takes a value with numbers out of an interface, they
// must be passive; otherwise their derivative would be lost.

// carries reports whether activity of memory of type t matters: it holds floats, or interfaces that may.
func carries(t types.Type) bool {
	return HasFloats(t) || contains(t, types.IsInterface, new([]*types.Named))
}

// checkAssertions checks that the values that f takes out of interfaces are passive.
func (f *Facts) checkAssertions() (err error) {
	ir.Walk(f.Func.Body, func(s ir.Stmt) bool {
		ir.EachExpr(s, func(e ir.Expr) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				if err == nil && ir.IsAssertion(e) && HasFloats(e.Type()) {
					err = f.checkAssertion(s, e.(*ir.Convert))
				}
				return true
			})
		})
		return err == nil
	})
	return err
}

// checkAssertion checks the assertion e in s.
func (f *Facts) checkAssertion(s ir.Stmt, e *ir.Convert) (err error) {
	f.eachRoot(e.X, func(v *ir.Var, _ types.Type) {
		if v.Kind == ir.Global || !f.classOf(v).active || err != nil {
			return
		}
		name := types.TypeString(e.T, (*types.Package).Name)
		const what = "a %s is taken out of the interface value %s, behind which numbers carry derivatives"
		err = &Error{Pos: s.Position(), Func: f.Func.Name, What: fmt.Sprintf(what, name, v.Name),
			Remedy: "pass the value as a parameter of type " + name +
				", or hold the interface in memory that carries no derivatives"}
	})
	return err
}
