package simplify

import (
	"go/constant"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// fold evaluates an integer operation, a comparison or a logical operation with constant operands and simplifies
// identities such as e + 0 and 1 * e. Operands are not visited: fold is used with [ir.Map], which rewrites bottom-up.
// Floating-point arithmetic is never folded, to keep results bit for bit. Results of more than 32 bits are not folded,
// since int may have 32 bits where the generated code runs.
func fold(e ir.Expr) ir.Expr {
	switch e := e.(type) {
	case *ir.Binary:
		return foldBinary(e)
	case *ir.Unary:
		c, ok := e.X.(*ir.Const)
		if !ok {
			break
		}
		if e.Op == token.NOT {
			return ir.BoolConst(e.T, isZero(c))
		}
		if n, ok := constInt(c); ok && e.Op == token.SUB {
			if r := fitConst(e.T, -n); r != nil {
				return r
			}
		}
	case *ir.Convert:
		if n, ok := constInt(e.X); ok && ir.IsInteger(e.T) {
			if r := fitConst(e.T, n); r != nil {
				return r
			}
		}
	}
	return e
}

// fitConst returns n as a constant of type t, or nil if n may not be representable in t. All integer types of 32 bits
// or more count as 32 bits.
func fitConst(t types.Type, n int64) ir.Expr {
	bits := uint(32)
	switch t.Underlying().(*types.Basic).Kind() {
	case types.Int8, types.Uint8:
		bits = 8
	case types.Int16, types.Uint16:
		bits = 16
	}
	lo, hi := -int64(1)<<(bits-1), int64(1)<<(bits-1)-1
	if ir.HasInfo(t, types.IsUnsigned) {
		lo, hi = 0, int64(1)<<bits-1
	}
	if n < lo || n > hi {
		return nil
	}
	return ir.IntConst(t, n)
}

// foldBinary is fold for binary operations.
func foldBinary(e *ir.Binary) ir.Expr {
	switch e.Op {
	case token.LAND, token.LOR:
		c, ok := e.X.(*ir.Const)
		switch {
		case !ok:
			return e
		case isZero(c) == (e.Op == token.LAND):
			return ir.BoolConst(e.T, e.Op == token.LOR)
		}
		return e.Y
	}
	if equalsItself(e) {
		return ir.BoolConst(e.T, e.Op == token.EQL)
	}
	if !ir.IsInteger(e.X.Type()) || !ir.IsInteger(e.Y.Type()) {
		return e
	}
	a, aok := constInt(e.X)
	b, bok := constInt(e.Y)
	// The absolute value of operands is limited so that their product fits int64.
	const most = 1 << 31
	switch {
	// Both operands are constants; the operation is evaluated below.
	case aok && bok && max(a, -a) <= most && max(b, -b) <= most:
	case bok && b == 0 && (e.Op == token.ADD || e.Op == token.SUB):
		return e.X
	// Identities keep the other operand, which may be any expression.
	case bok && b == 1 && (e.Op == token.MUL || e.Op == token.QUO):
		return e.X
	case aok && a == 0 && e.Op == token.ADD, aok && a == 1 && e.Op == token.MUL:
		return e.Y
	default:
		return e
	}
	var n int64
	switch e.Op {
	case token.ADD:
		n = a + b
	case token.SUB:
		n = a - b
	case token.MUL:
		n = a * b
	// A division by the constant 0 is left to panic at run time.
	case token.QUO, token.REM:
		if b == 0 {
			return e
		}
		if n = a / b; e.Op == token.REM {
			n = a % b
		}
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return ir.BoolConst(e.T, constant.Compare(constant.MakeInt64(a), e.Op, constant.MakeInt64(b)))
	default:
		return e
	}
	if r := fitConst(e.T, n); r != nil {
		return r
	}
	return e
}

// equalsItself reports whether e compares a variable for equality with itself, of a type whose values equal themselves:
// an integer, a string or a bool, as opposed to a float, which may be NaN.
func equalsItself(e *ir.Binary) bool {
	v := ir.VarOf(e.X)
	return (e.Op == token.EQL || e.Op == token.NEQ) && v != nil && v == ir.VarOf(e.Y) &&
		ir.HasInfo(v.Type, types.IsInteger|types.IsString|types.IsBoolean)
}

// foldBranch replaces an if with a constant condition by the statements of the branch that is taken. It is a Stmt
// function of [ir.Map].
func foldBranch(s ir.Stmt) []ir.Stmt {
	branch, ok := s.(*ir.If)
	if !ok {
		return []ir.Stmt{s}
	}
	c, ok := branch.Cond.(*ir.Const)
	switch {
	case !ok:
		return []ir.Stmt{s}
	case isZero(c):
		return branch.Else
	}
	return branch.Then
}
