package simplify

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// hoistSigns normalises signs for shorter sums: it moves each negation in sums, products and quotients of floats
// outwards until a sum absorbs it as a subtraction, or two cancel. The value stays the same except for the sign of a
// zero. Adjoints have many such signs, as partial derivatives of x - y, x / y and cos have.
//
//	a + -b * c         a - b * c
//	-a - b / -c        b / c - a
//	-a * -b            a * b
//
// Sums of complex numbers that are made of their parts become one such number, as cotangents of the parts are:
//
//	complex(a, 0) + complex(0, b)   complex(a, b)
func hoistSigns(e ir.Expr) ir.Expr { return (&ir.Map{Expr: hoistSign}).RewriteExpr(e) }

// hoistSign applies hoistSigns to the root of e, whose operands are normalised.
func hoistSign(e ir.Expr) ir.Expr {
	switch e := e.(type) {
	case *ir.Unary:
		if x, minus := splitSign(e.X); e.Op == token.SUB && minus {
			return x
		}
	case *ir.Binary:
		if !ir.IsContinuous(e.T) {
			break
		}
		if z := joinParts(e); z != nil {
			return z
		}
		x, p := splitSign(e.X)
		y, q := splitSign(e.Y)
		if !p && !q {
			break
		}
		switch e.Op {
		// Two signs cancel in a product.
		case token.MUL, token.QUO:
			return ir.NegateIf(ir.NewBinary(e.T, e.Op, x, y), p != q)
		case token.ADD:
			return signedSum(x, p, y, q)
		case token.SUB:
			return signedSum(x, p, y, !q)
		}
	}
	return e
}

// joinParts returns a sum or difference of two calls of complex as one call, or nil if e is none.
func joinParts(e *ir.Binary) ir.Expr {
	x, okx := e.X.(*ir.Math)
	y, oky := e.Y.(*ir.Math)
	if !okx || !oky || x.Name != ir.ComplexName || y.Name != ir.ComplexName || e.Op != token.ADD && e.Op != token.SUB ||
		!types.Identical(x.Args[0].Type(), y.Args[0].Type()) {
		return nil
	}
	z := &ir.Math{Typed: x.Typed, Name: x.Name}
	for i, a := range x.Args {
		b := y.Args[i]
		switch {
		case isZero(b):
		case !isZero(a):
			a = hoistSign(ir.NewBinary(a.Type(), e.Op, a, b))
		case e.Op == token.SUB:
			a = hoistSign(ir.NegateIf(b, true))
		default:
			a = b
		}
		z.Args = append(z.Args, a)
	}
	return z
}

// sum returns x + y with normalised sign. The operands are normalised.
func sum(x, y ir.Expr) ir.Expr { return hoistSign(ir.NewBinary(x.Type(), token.ADD, x, y)) }

// signedSum returns ±x ± y, where p and q mean that x and y are subtracted.
func signedSum(x ir.Expr, p bool, y ir.Expr, q bool) ir.Expr {
	switch {
	case p == q:
		return ir.NegateIf(ir.NewBinary(x.Type(), token.ADD, x, y), p)
	case p:
		return ir.NewBinary(x.Type(), token.SUB, y, x)
	}
	return ir.NewBinary(x.Type(), token.SUB, x, y)
}

// splitSign returns the operand of a floating-point negation and true, or e and false. Constants keep their sign.
func splitSign(e ir.Expr) (_ ir.Expr, minus bool) {
	if u, ok := e.(*ir.Unary); ok && u.Op == token.SUB && ir.IsContinuous(u.T) && !ir.IsConst(u.X) {
		return u.X, true
	}
	return e, false
}
