package adjoint

import (
	"go/constant"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

var (
	integer = types.Typ[types.Int]
	boolean = types.Typ[types.Bool]
)

func count(n int64) ir.Expr {
	return &ir.Const{Typed: ir.Typed{T: integer}, Val: constant.MakeInt64(n)}
}

func length(s ir.Expr) ir.Expr { return &ir.Len{Typed: ir.Typed{T: integer}, X: s} }

// zero is the zero value of a type.
func zero(t types.Type) ir.Expr { return &ir.Const{Typed: ir.Typed{T: t}} }

func number(t types.Type, v float64) ir.Expr {
	return &ir.Const{Typed: ir.Typed{T: t}, Val: constant.MakeFloat64(v)}
}

func binary(t types.Type, op token.Token, x, y ir.Expr) ir.Expr {
	return &ir.Binary{Typed: ir.Typed{T: t}, Op: op, X: x, Y: y}
}

func compare(op token.Token, x, y ir.Expr) ir.Expr { return binary(boolean, op, x, y) }

func load(p *ir.Place, t types.Type) ir.Expr { return &ir.Load{Typed: ir.Typed{T: t}, P: p} }

// step is p with further steps.
func step(p *ir.Place, s ...ir.Step) *ir.Place {
	return &ir.Place{Root: p.Root, Path: append(p.Path[:len(p.Path):len(p.Path)], s...)}
}

// upward is a loop of v from lo to below hi.
func upward(names *ir.Namer, at ir.At, v *ir.Var, lo, hi ir.Expr, body ir.Block) *ir.Loop {
	return &ir.Loop{At: at, L: &ir.Label{Name: names.Name("loop")}, Next: &ir.Label{Name: names.Name("next")},
		V: v, Lo: lo, Hi: hi, Step: 1, Body: body}
}

// downward is a loop of v from below hi down to lo.
func downward(names *ir.Namer, at ir.At, v *ir.Var, lo, hi ir.Expr, body ir.Block) *ir.Loop {
	return &ir.Loop{At: at, L: &ir.Label{Name: names.Name("loop")}, Next: &ir.Label{Name: names.Name("next")},
		V: v, Lo: minus1(v.Type, hi), Hi: minus1(v.Type, lo), Step: -1, Body: body}
}

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

const (
	opAdd, opSub, opMul, opQuo = token.ADD, token.SUB, token.MUL, token.QUO
	opLss, opEql               = token.LSS, token.EQL
)

func basicKind(t types.Type) types.BasicKind {
	if b, ok := t.Underlying().(*types.Basic); ok {
		return b.Kind()
	}
	return types.Invalid
}

func integerOf(t types.Type, n int64) ir.Expr {
	return &ir.Const{Typed: ir.Typed{T: t}, Val: constant.MakeInt64(n)}
}

func plus1(e ir.Expr) ir.Expr {
	if c, ok := e.(*ir.Const); ok && c.Val != nil {
		return &ir.Const{Typed: c.Typed, Val: constant.BinaryOp(c.Val, token.ADD, constant.MakeInt64(1))}
	}
	return binary(e.Type(), token.ADD, e, integerOf(e.Type(), 1))
}

func convert(t types.Type, e ir.Expr) ir.Expr {
	if types.Identical(t, e.Type()) {
		return e
	}
	return &ir.Convert{Typed: ir.Typed{T: t}, X: e}
}

func truth(b bool) ir.Expr {
	return &ir.Const{Typed: ir.Typed{T: boolean}, Val: constant.MakeBool(b)}
}

func isSliceLiteral(e ir.Expr) bool {
	l, ok := e.(*ir.Literal)
	return ok && elemOf(l.T) != nil
}

// refParams are the parameters that lead to memory.
func refParams(f *ir.Func) (out []int) {
	for i, v := range f.Params {
		if activity.HasRefs(v.Type) {
			out = append(out, i)
		}
	}
	return out
}

func elemOf(t types.Type) types.Type {
	if s, ok := t.Underlying().(*types.Slice); ok {
		return s.Elem()
	}
	return nil
}

// variable is the variable that a header was put into, nil for a nil slice.
func variable(e ir.Expr) *ir.Var {
	if l, ok := e.(*ir.Load); ok && len(l.P.Path) == 0 {
		return l.P.Root
	}
	return nil
}

func cut(s ir.Expr, lo, hi ir.Expr) ir.Expr {
	return &ir.Slice{Typed: ir.Typed{T: s.Type()}, X: s, Lo: lo, Hi: hi}
}

func zeroOf(t types.Type) ir.Expr {
	if ir.IsFloat(t) {
		return &ir.Const{Typed: ir.Typed{T: t}, Val: constant.MakeFloat64(0)}
	}
	return zero(t)
}

// isNew reports whether e is memory that is made.
func isNew(e ir.Expr) bool {
	switch e.(type) {
	case *ir.Make, *ir.New:
		return true
	}
	return false
}

func isInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

func plus(x, y ir.Expr) ir.Expr { return binary(integer, opAdd, x, y) }

func minus(x, y ir.Expr) ir.Expr { return binary(integer, opSub, x, y) }
