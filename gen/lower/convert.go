package lower

import (
	"go/ast"
	"go/constant"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Conversions between types.

// numeric selects the types of numbers: a conversion between two of them converts a number.
const numeric = types.IsNumeric

// convert lowers the conversion T(x). Conversions of numbers are kept even if the types are
// identical, since they affect rounding; those between slices and arrays copy.
func (l *lowerer) convert(x *ast.CallExpr, t types.Type) ir.Expr {
	arg := x.Args[0]
	// Within a package of library derivatives a pointer is converted to one to a type with the same fields. It has the
	// original type in the intermediate representation, see libraryPackage.
	if inner, ok := ast.Unparen(arg).(*ast.CallExpr); ok && len(inner.Args) == 1 && isUnsafePointer(l.typeOf(inner)) &&
		types.Identical(l.typeOf(inner.Args[0]), t) {
		return l.expr(inner.Args[0])
	}
	e := l.expr(arg)
	from := e.Type()
	if types.IsInterface(t) || isZero(e) {
		return l.coerce(e, t, x)
	}
	typed := ir.Typed{T: t}
	if basic(t)&numeric != 0 && basic(from)&numeric != 0 {
		// In an instance of a generic function, the operand may be a constant.
		if c, ok := e.(*ir.Const); ok && c.Val != nil {
			if ir.IsFloat(t) {
				return &ir.Const{Typed: typed, Val: constant.ToFloat(c.Val), Text: c.Text}
			}
			if ir.IsComplex(t) {
				return &ir.Const{Typed: typed, Val: c.Val, Text: c.Text}
			}
			if v := constant.ToInt(c.Val); v.Kind() == constant.Int && ir.IsInteger(from) && ir.IsInteger(t) {
				return &ir.Convert{Typed: typed, X: c}
			}
		}
		// float64(x*y) rounds the product, which may not be fused with an addition then.
		return &ir.Convert{Typed: typed, X: e}
	}
	if a, ok := arrayOf(t); ok && isSlice(from) {
		return l.sliceToArray(x, e, t, a)
	}
	if types.Identical(from, t) {
		return e
	}
	if _, ok := t.Underlying().(*types.Pointer); ok && isSlice(from) {
		return l.refuseExpr(x, "conversion of a slice to a pointer to an array",
			"the intermediate representation has no such conversion", "use the slice")
	}
	if types.ConvertibleTo(from, t) && types.IdenticalIgnoreTags(under(from), under(t)) {
		return &ir.Convert{Typed: typed, X: e}
	}
	if ir.IsString(t) || ir.IsString(from) {
		return &ir.Convert{Typed: typed, X: e}
	}
	for _, u := range []types.Type{t, from} {
		if isUnsafePointer(u) {
			return l.refuseExpr(x, "conversion of unsafe.Pointer", "memory has no types there",
				"use slices and indices")
		}
	}
	return l.refuseExpr(x, "conversion to "+typeText(t), "it is not one between numbers or types of one structure", "")
}

// under returns the type that decides whether a conversion is allowed: for a pointer that to the
// underlying type of its base type.
func under(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return types.NewPointer(p.Elem().Underlying())
	}
	return t.Underlying()
}

// sliceToArray copies the elements of a slice into an array; a short slice panics at the missing
// element.
func (l *lowerer) sliceToArray(n ast.Node, e ir.Expr, t types.Type, a *types.Array) ir.Expr {
	s := l.temp(n, "s", e.Type(), e)
	element := func(i ir.Expr) ir.Expr {
		return ir.LoadOf(&ir.Place{Root: s, Path: []ir.Step{ir.IndexStep(i)}}, a.Elem())
	}
	if a.Len() <= 4 {
		lit := &ir.Literal{Typed: ir.Typed{T: t}}
		for i := range a.Len() {
			lit.Keys = append(lit.Keys, int(i))
			lit.Elems = append(lit.Elems, element(integer(i, types.Typ[types.Int])))
		}
		return lit
	}
	v := l.temp(n, "t", t, nil)
	i := &ir.Var{Name: l.names.fresh("i"), Type: types.Typ[types.Int], Pos: l.pos(n)}
	loop := l.newLoop(n, "")
	loop.V, loop.Lo, loop.Hi, loop.Step = i, integer(0, i.Type), integer(a.Len(), i.Type), 1
	at := &ir.Place{Root: v, Path: []ir.Step{ir.IndexStep(i.Load())}}
	loop.Body = ir.Block{&ir.Set{At: l.at(n), P: at, E: element(i.Load())}}
	l.emit(loop)
	return v.Load()
}

// isUnsafePointer reports whether t is unsafe.Pointer or a type declared as it.
func isUnsafePointer(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.UnsafePointer
}
