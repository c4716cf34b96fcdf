package adjoint

import (
	"go/constant"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Constructors of expressions, places and loops. None of them copies its arguments.

var (
	integer = types.Typ[types.Int] // The types of counters and of conditions.
	boolean = types.Typ[types.Bool]
)

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

// stepsBetween returns the trip count of a loop from lo up to hi, of type t, by steps of by > 0, as an int. It is right
// only if lo < hi. The form (hi-lo-1)/by + 1 rounds up without the overflow of (hi-lo+by-1)/by.
func stepsBetween(t types.Type, lo, hi ir.Expr, by int64) ir.Expr {
	span := ir.NewBinary(t, opSub, ir.NewBinary(t, opSub, hi, lo), ir.IntConst(t, 1))
	return plus(ir.ConvertTo(integer, ir.NewBinary(t, opQuo, span, ir.IntConst(t, by))), ir.Count(1))
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
	return ir.NewBinary(t, token.SUB, e, one)
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

// plus1 returns e + 1, folded if e is a constant.
func plus1(e ir.Expr) ir.Expr {
	if c, ok := e.(*ir.Const); ok && c.Val != nil {
		return &ir.Const{Typed: c.Typed, Val: constant.BinaryOp(c.Val, token.ADD, constant.MakeInt64(1))}
	}
	return ir.NewBinary(e.Type(), token.ADD, e, ir.IntConst(e.Type(), 1))
}

// truth returns b as a constant.
func truth(b bool) ir.Expr {
	return &ir.Const{Typed: ir.Typed{T: boolean}, Val: constant.MakeBool(b)}
}

// isSliceLiteral reports whether e is a slice literal, which allocates.
func isSliceLiteral(e ir.Expr) bool {
	l, ok := e.(*ir.Literal)
	return ok && ir.ElemOf(l.T) != nil
}

// refParams returns the indices of the parameters of f that hold references.
func refParams(f *ir.Func) (out []int) {
	for i, v := range f.Params {
		if ir.HasRefs(v.Type) {
			out = append(out, i)
		}
	}
	return out
}

// cut returns s[lo:hi].
func cut(s ir.Expr, lo, hi ir.Expr) ir.Expr {
	return &ir.Slice{Typed: ir.Typed{T: s.Type()}, X: s, Lo: lo, Hi: hi}
}

// zeroOf returns the zero value of t, for floats as an explicit 0.
func zeroOf(t types.Type) ir.Expr {
	if ir.IsContinuous(t) {
		return &ir.Const{Typed: ir.Typed{T: t}, Val: constant.MakeFloat64(0)}
	}
	return ir.Zero(t)
}

// isNew reports whether e is a call of make or new.
func isNew(e ir.Expr) bool {
	switch e.(type) {
	case *ir.Make, *ir.New:
		return true
	}
	return false
}

// plus returns x + y for ints.
func plus(x, y ir.Expr) ir.Expr { return ir.NewBinary(integer, opAdd, x, y) }

// minus returns x - y for ints.
func minus(x, y ir.Expr) ir.Expr { return ir.NewBinary(integer, opSub, x, y) }

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
