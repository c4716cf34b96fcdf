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

// FloatConst returns v, which must be finite, as a constant of the floating-point or complex type t.
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

// RealOf returns the real part of the complex number z.
func RealOf(z Expr) Expr {
	return &Math{Typed: Typed{T: PartType(z.Type())}, Name: RealName, Args: []Expr{z}}
}

// ImagOf returns the imaginary part of the complex number z.
func ImagOf(z Expr) Expr {
	return &Math{Typed: Typed{T: PartType(z.Type())}, Name: ImagName, Args: []Expr{z}}
}

// ComplexOf returns the complex number of type t with the parts re and im, whose types must fit t.
func ComplexOf(t types.Type, re, im Expr) Expr {
	part := PartType(t)
	var e Expr = &Math{Typed: Typed{T: complexType(part)}, Name: ComplexName,
		Args: []Expr{ConvertTo(part, re), ConvertTo(part, im)}}
	return ConvertTo(t, e)
}

// Graft returns the value of x with the derivative of y, both of one type of numbers.
func Graft(x, y Expr) Expr {
	return &Math{Typed: Typed{T: x.Type()}, Name: GraftName, Args: []Expr{x, y}}
}

// Conj returns the conjugate of z, and z itself for a real number. That of a constant is a constant.
func Conj(z Expr) Expr {
	t := z.Type()
	if !IsComplex(t) {
		return z
	}
	switch e := z.(type) {
	case *Const:
		if e.Val == nil || constant.Sign(constant.Imag(e.Val)) == 0 {
			return z
		}
		im := constant.MakeImag(constant.UnaryOp(token.SUB, constant.Imag(e.Val), 0))
		return &Const{Typed: e.Typed, Val: constant.BinaryOp(constant.Real(e.Val), token.ADD, im)}
	case *Math:
		if e.Name == ConjName {
			return e.Args[0]
		}
	}
	number := types.Type(types.Typ[types.Complex128])
	var e Expr = &Math{Typed: Typed{T: number}, Name: ConjName, Args: []Expr{ConvertTo(number, z)}}
	return ConvertTo(t, e)
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

// ParamsOf returns parameters without names that accept the expressions of a list as arguments.
func ParamsOf(list []Expr) *types.Tuple {
	params := make([]*types.Var, len(list))
	for i, e := range list {
		params[i] = types.NewParam(token.NoPos, nil, "", e.Type())
	}
	return types.NewTuple(params...)
}
