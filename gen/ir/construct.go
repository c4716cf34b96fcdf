package ir

import (
	"go/constant"
	"go/token"
	"go/types"
)

// Constructors of expressions and places. None of them copies its arguments.

// IntConst returns n as a constant of the numeric type t. The caller sees to it that t can represent n.
func IntConst(t types.Type, n int64) Expr {
	return &Const{Typed: Typed{T: t}, Val: constant.MakeInt64(n)}
}

// Count returns n as a constant of type int.
func Count[N ~int | ~int64](n N) Expr { return IntConst(types.Typ[types.Int], int64(n)) }

// FloatConst returns v, which must be finite, as a constant of the floating-point type t.
func FloatConst(t types.Type, v float64) Expr {
	return &Const{Typed: Typed{T: t}, Val: constant.MakeFloat64(v)}
}

// BoolConst returns v as a constant of the boolean type t.
func BoolConst(t types.Type, v bool) Expr {
	return &Const{Typed: Typed{T: t}, Val: constant.MakeBool(v)}
}

// Zero returns the zero value of type t.
func Zero(t types.Type) Expr { return &Const{Typed: Typed{T: t}} }

// NewBinary returns x op y, of type t.
func NewBinary(t types.Type, op token.Token, x, y Expr) Expr {
	return &Binary{Typed: Typed{T: t}, Op: op, X: x, Y: y}
}

// Compare returns the condition x op y, of type bool.
func Compare(op token.Token, x, y Expr) Expr { return NewBinary(types.Typ[types.Bool], op, x, y) }

// NegateIf returns -e if minus is set, and e otherwise.
func NegateIf(e Expr, minus bool) Expr {
	if minus {
		return &Unary{Typed: Typed{T: e.Type()}, Op: token.SUB, X: e}
	}
	return e
}

// ConvertTo returns e converted to type t, and e itself if that is its type.
func ConvertTo(t types.Type, e Expr) Expr {
	if types.Identical(t, e.Type()) {
		return e
	}
	return &Convert{Typed: Typed{T: t}, X: e}
}

// LenOf returns len(s).
func LenOf(s Expr) Expr { return &Len{Typed: Typed{T: types.Typ[types.Int]}, X: s} }

// LoadOf returns the value at p, of type t.
func LoadOf(p *Place, t types.Type) Expr { return &Load{Typed: Typed{T: t}, P: p} }

// Extend returns p with steps appended to its path. The path of p is not modified.
func Extend(p *Place, steps ...Step) *Place {
	return &Place{Root: p.Root, Path: append(p.Path[:len(p.Path):len(p.Path)], steps...)}
}

// VarOf returns v if e is the value of a variable v as a whole, and nil otherwise.
func VarOf(e Expr) *Var {
	if l, ok := e.(*Load); ok && len(l.P.Path) == 0 {
		return l.P.Root
	}
	return nil
}
