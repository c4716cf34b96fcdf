package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Constants and conversions of assignments. Constants keep their spelling if generated code can use
// it.

// constant returns a constant expression with value v as a constant of type t.
func (l *lowerer) constant(e ast.Expr, v constant.Value, t types.Type) ir.Expr {
	c := &ir.Const{Typed: ir.Typed{T: t}, Val: v}
	switch {
	case ir.IsFloat(t):
		c.Val = constant.ToFloat(v)
	case ir.IsComplex(t):
		if c.Val = constant.ToComplex(v); c.Val.Kind() == constant.Complex && constant.Sign(constant.Imag(c.Val)) == 0 {
			c.Val = constant.Real(c.Val)
		}
	case ir.IsInteger(t):
		c.Val = constant.ToInt(v)
	}
	if c.Val.Kind() == constant.Unknown {
		c.Val = v
	}
	if lit, ok := ast.Unparen(e).(*ast.BasicLit); ok && lit.Kind != token.FLOAT {
		return c
	}
	if ir.IsContinuous(t) || named(e) {
		c.Text, _ = l.text(e)
	}
	return c
}

// named reports whether e is the name of a constant other than true and false.
func named(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e.Name != "true" && e.Name != "false"
	case *ast.SelectorExpr:
		return true
	}
	return false
}

// text returns the spelling of a constant expression in a file of any package, and reports whether
// there is one: literals, operators, and constants of packages that are exported or may be named.
func (l *lowerer) text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Value, true
	case *ast.ParenExpr:
		s, ok := l.text(e.X)
		if !ok {
			return "", false
		}
		return "(" + s + ")", true
	case *ast.UnaryExpr:
		s, ok := l.text(e.X)
		if !ok {
			return "", false
		}
		return e.Op.String() + s, true
	case *ast.BinaryExpr:
		x, ok := l.text(e.X)
		if !ok {
			return "", false
		}
		y, ok := l.text(e.Y)
		if !ok {
			return "", false
		}
		return x + " " + e.Op.String() + " " + y, true
	case *ast.SelectorExpr:
		return l.text(e.Sel)
	case *ast.Ident:
		c, ok := l.info.Uses[e].(*types.Const)
		if !ok || !isGlobal(c) ||
			!c.Exported() && (c.Pkg() != l.d.pkg.Types || !l.d.canGenerate) {
			return "", false
		}
		return c.Pkg().Name() + "." + c.Name(), true
	}
	return "", false
}

// coerce converts e to t as an assignment does: constants take the type, other values are
// converted.
func (l *lowerer) coerce(e ir.Expr, t types.Type, n ast.Node) ir.Expr {
	from := e.Type()
	if types.Identical(from, t) {
		return e
	}
	if c, ok := e.(*ir.Const); ok {
		if c.Val == nil && types.IsInterface(t) && !types.IsInterface(from) && basic(from)&types.IsUntyped == 0 {
			// A nil of another type, or a zero value, is not a nil interface.
			return &ir.Convert{Typed: ir.Typed{T: t}, X: l.temp(n, "t", from, e).Load()}
		}
		if c.Val == nil {
			return ir.Zero(t)
		}
		if b, ok := t.Underlying().(*types.Basic); ok && b.Kind() != types.UnsafePointer {
			return &ir.Const{Typed: ir.Typed{T: t}, Val: c.Val, Text: c.Text}
		}
	}
	if types.IsInterface(t) {
		e = l.materialize(n, e)
	}
	// An allocation is no operand: it allocates the other type.
	switch x := e.(type) {
	case *ir.Make:
		return &ir.Make{Typed: ir.Typed{T: t}, N: x.N, Cap: x.Cap}
	case *ir.Literal:
		return &ir.Literal{Typed: ir.Typed{T: t}, Keys: x.Keys, Elems: x.Elems, Len: x.Len}
	case *ir.New:
		e = l.materialize(n, e)
	}
	return &ir.Convert{Typed: ir.Typed{T: t}, X: e}
}
