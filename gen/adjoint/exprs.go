package adjoint

import (
	"go/constant"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// Constructors of expressions, places and loops. None of them copies its arguments.

var (
	integer = types.Typ[types.Int] // The types of counters and of conditions.
	boolean = types.Typ[types.Bool]
)

// count returns n as an int.
func count(n int64) ir.Expr {
	return &ir.Const{Typed: ir.Typed{T: integer}, Val: constant.MakeInt64(n)}
}

// length returns len(s).
func length(s ir.Expr) ir.Expr { return &ir.Len{Typed: ir.Typed{T: integer}, X: s} }

// zero returns the zero value of type t.
func zero(t types.Type) ir.Expr { return &ir.Const{Typed: ir.Typed{T: t}} }

// number returns v as a constant of the floating-point type t.
func number(t types.Type, v float64) ir.Expr {
	return &ir.Const{Typed: ir.Typed{T: t}, Val: constant.MakeFloat64(v)}
}

// binary returns x op y, of type t.
func binary(t types.Type, op token.Token, x, y ir.Expr) ir.Expr {
	return &ir.Binary{Typed: ir.Typed{T: t}, Op: op, X: x, Y: y}
}

// compare returns the condition x op y.
func compare(op token.Token, x, y ir.Expr) ir.Expr { return binary(boolean, op, x, y) }

// load returns the value at p, of type t.
func load(p *ir.Place, t types.Type) ir.Expr { return &ir.Load{Typed: ir.Typed{T: t}, P: p} }

// step returns p with s appended to its path. The path of p is not modified.
func step(p *ir.Place, s ...ir.Step) *ir.Place {
	return &ir.Place{Root: p.Root, Path: append(p.Path[:len(p.Path):len(p.Path)], s...)}
}

// upward returns a loop over v = lo, …, hi-1.
func upward(names *ir.Namer, at ir.At, v *ir.Var, lo, hi ir.Expr, body ir.Block) *ir.Loop {
	return &ir.Loop{At: at, L: &ir.Label{Name: names.Name("loop")}, Next: &ir.Label{Name: names.Name("next")},
		V: v, Lo: lo, Hi: hi, Step: 1, Body: body}
}

// downward returns a loop over v = hi-1, …, lo.
func downward(names *ir.Namer, at ir.At, v *ir.Var, lo, hi ir.Expr, body ir.Block) *ir.Loop {
	return &ir.Loop{At: at, L: &ir.Label{Name: names.Name("loop")}, Next: &ir.Label{Name: names.Name("next")},
		V: v, Lo: minus1(v.Type, hi), Hi: minus1(v.Type, lo), Step: -1, Body: body}
}

// minus1 returns e - 1, of type t, folded if e is a constant.
func minus1(t types.Type, e ir.Expr) ir.Expr {
	one := &ir.Const{Typed: ir.Typed{T: t}, Val: constant.MakeInt64(1)}
	if c, ok := e.(*ir.Const); ok {
		v := c.Val
		if v == nil {
			v = constant.MakeInt64(0)
		}
		return &ir.Const{Typed: ir.Typed{T: t}, Val: constant.BinaryOp(v, token.SUB, one.Val)}
	}
	return binary(t, token.SUB, e, one)
}

// Operators of integer expressions.
const (
	opAdd, opSub, opMul, opQuo = token.ADD, token.SUB, token.MUL, token.QUO
	opLss, opEql               = token.LSS, token.EQL
)

// basicKind returns the kind of the type underlying t, or types.Invalid if that is not a basic type.
func basicKind(t types.Type) types.BasicKind {
	if b, ok := t.Underlying().(*types.Basic); ok {
		return b.Kind()
	}
	return types.Invalid
}

// integerOf returns n as a constant of type t.
func integerOf(t types.Type, n int64) ir.Expr {
	return &ir.Const{Typed: ir.Typed{T: t}, Val: constant.MakeInt64(n)}
}

// plus1 returns e + 1, folded if e is a constant.
func plus1(e ir.Expr) ir.Expr {
	if c, ok := e.(*ir.Const); ok && c.Val != nil {
		return &ir.Const{Typed: c.Typed, Val: constant.BinaryOp(c.Val, token.ADD, constant.MakeInt64(1))}
	}
	return binary(e.Type(), token.ADD, e, integerOf(e.Type(), 1))
}

// convert returns e converted to t, or e if it has that type.
func convert(t types.Type, e ir.Expr) ir.Expr {
	if types.Identical(t, e.Type()) {
		return e
	}
	return &ir.Convert{Typed: ir.Typed{T: t}, X: e}
}

// truth returns b as a constant.
func truth(b bool) ir.Expr {
	return &ir.Const{Typed: ir.Typed{T: boolean}, Val: constant.MakeBool(b)}
}

// isSliceLiteral reports whether e is a slice literal, which allocates.
func isSliceLiteral(e ir.Expr) bool {
	l, ok := e.(*ir.Literal)
	return ok && elemOf(l.T) != nil
}

// refParams returns the indices of the parameters of f that hold references.
func refParams(f *ir.Func) (out []int) {
	for i, v := range f.Params {
		if activity.HasRefs(v.Type) {
			out = append(out, i)
		}
	}
	return out
}

// elemOf returns the element type of the slice type t, or nil for other types.
func elemOf(t types.Type) types.Type {
	if s, ok := t.Underlying().(*types.Slice); ok {
		return s.Elem()
	}
	return nil
}

// variable returns v if e is the value of a variable v, and nil otherwise.
func variable(e ir.Expr) *ir.Var {
	if l, ok := e.(*ir.Load); ok && len(l.P.Path) == 0 {
		return l.P.Root
	}
	return nil
}

// cut returns s[lo:hi].
func cut(s ir.Expr, lo, hi ir.Expr) ir.Expr {
	return &ir.Slice{Typed: ir.Typed{T: s.Type()}, X: s, Lo: lo, Hi: hi}
}

// zeroOf returns the zero value of t, for floats as an explicit 0.
func zeroOf(t types.Type) ir.Expr {
	if ir.IsFloat(t) {
		return &ir.Const{Typed: ir.Typed{T: t}, Val: constant.MakeFloat64(0)}
	}
	return zero(t)
}

// isNew reports whether e is a call of make or new.
func isNew(e ir.Expr) bool {
	switch e.(type) {
	case *ir.Make, *ir.New:
		return true
	}
	return false
}

// isInteger reports whether the type underlying t is an integer type.
func isInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// plus returns x + y for ints.
func plus(x, y ir.Expr) ir.Expr { return binary(integer, opAdd, x, y) }

// minus returns x - y for ints.
func minus(x, y ir.Expr) ir.Expr { return binary(integer, opSub, x, y) }

// isConstant reports whether e is a constant or a conversion of one.
func isConstant(e ir.Expr) bool {
	switch x := e.(type) {
	case *ir.Const:
		return true
	case *ir.Convert:
		return isConstant(x.X)
	}
	return false
}
