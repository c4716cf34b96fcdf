package simplify

import (
	"go/token"

	"github.com/nabla-ad/nabla/gen/ir"
)

// signs moves each minus in sums, products and quotients of e outwards, where a sum takes
// it up. The value stays the same, but for the sign of a zero.
func hoistSigns(e ir.Expr) ir.Expr { return (&ir.Map{Expr: hoistSign}).RewriteExpr(e) }

// sign is signs of an expression whose operands are done.
func hoistSign(e ir.Expr) ir.Expr {
	switch e := e.(type) {
	case *ir.Unary:
		if x, minus := splitSign(e.X); e.Op == token.SUB && minus {
			return x
		}
	case *ir.Binary:
		if !ir.IsFloat(e.T) {
			break
		}
		x, p := splitSign(e.X)
		y, q := splitSign(e.Y)
		if !p && !q {
			break
		}
		switch e.Op {
		case token.MUL, token.QUO:
			return negateIf(binary(e.T, e.Op, x, y), p != q)
		case token.ADD:
			return signedSum(x, p, y, q)
		case token.SUB:
			return signedSum(x, p, y, !q)
		}
	}
	return e
}

// plus is x + y, whose operands are done.
func sum(x, y ir.Expr) ir.Expr { return hoistSign(binary(x.Type(), token.ADD, x, y)) }

// total is ±x ± y.
func signedSum(x ir.Expr, p bool, y ir.Expr, q bool) ir.Expr {
	switch {
	case p == q:
		return negateIf(binary(x.Type(), token.ADD, x, y), p)
	case p:
		return binary(x.Type(), token.SUB, y, x)
	}
	return binary(x.Type(), token.SUB, x, y)
}

func splitSign(e ir.Expr) (_ ir.Expr, minus bool) {
	if u, ok := e.(*ir.Unary); ok && u.Op == token.SUB && ir.IsFloat(u.T) && !ir.IsConst(u.X) {
		return u.X, true
	}
	return e, false
}

func negateIf(e ir.Expr, minus bool) ir.Expr {
	if minus {
		return &ir.Unary{Typed: ir.Typed{T: e.Type()}, Op: token.SUB, X: e}
	}
	return e
}
