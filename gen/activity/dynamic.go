package activity

import (
	"fmt"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Interface values that other code sees have a shadow if their type is a carrier, see [ir.IsCarrier] (those that
// lowered
// functions make are unions, see package lower). Numbers behind another interface, such as one without methods, carry
// no
// derivatives. Where a function takes a value with numbers out of one, they must be passive; otherwise their derivative
// would be lost.

// carries reports whether activity of memory of type t matters: it holds floats, or interfaces that may.
func carries(t types.Type) bool {
	is := func(t types.Type) bool { return ir.IsContinuous(t) || types.IsInterface(t) }
	return contains(t, is, new([]*types.Named))
}

// checkAssertions checks that the values that f takes out of interfaces are passive.
func (f *Facts) checkAssertions() (err error) {
	ir.Walk(f.Func.Body, func(s ir.Stmt) bool {
		ir.EachExpr(s, func(e ir.Expr) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				if err == nil && f.losesShadow(e) {
					err = f.checkAssertion(s, ir.Operands(e)[0], e.Type())
				}
				return true
			})
		})
		return err == nil
	})
	return err
}

// losesShadow reports whether e takes a value with floats out of an interface value without a shadow, or one with a
// shadow of another type than that of the value, which package lower leaves in no function but those of rules.
func (f *Facts) losesShadow(e ir.Expr) bool {
	if c, ok := e.(*ir.Convert); ok && !f.program.plainInterfaces {
		if ir.IsCarrier(c.T) && ir.HoldsByPointer(c.X.Type()) || ir.IsCarrier(c.X.Type()) && ir.HoldsByPointer(c.T) {
			return true
		}
	}
	_, unbox := e.(*ir.Unbox)
	return (unbox || ir.IsAssertion(e)) && f.hasFloats(e.Type()) && !f.hasFloats(ir.Operands(e)[0].Type())
}

// checkAssertion checks that the value of x is passive, which s takes out of an interface as a value of type t, or puts
// into one.
func (f *Facts) checkAssertion(s ir.Stmt, x ir.Expr, t types.Type) (err error) {
	f.eachRoot(x, func(v *ir.Var, _ types.Type) {
		if v.Kind == ir.Global || !f.classOf(v).active || err != nil {
			return
		}
		name := types.TypeString(t, (*types.Package).Name)
		const what = "a value of type %s is taken out of the interface value %s, behind which numbers carry derivatives"
		remedy := "hold the value in an interface type that is declared and has methods, or pass it as a parameter " +
			"of type " + name
		if f.program.plainInterfaces {
			remedy = "use an engine of package backend/source, or pass the value as a parameter of type " + name
		}
		err = &Error{Pos: s.Position(), Func: f.Func.Name, What: fmt.Sprintf(what, name, v.Name), Remedy: remedy}
	})
	return err
}
