package shortcut

import (
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// A kind is the precision to which a value is known.
type kind uint8

const (
	unknown  kind = iota // any regular function of the numbers
	exact                // a constant
	symbolic             // an expression of the contents of variables and memory on entry
	singular             // possibly a function with a pole, a kink or an infinite derivative at the assumed constants
)

// A value holds the facts that partial evaluation knows of an expression. The zero value is an unknown one.
type value struct {
	kind kind
	c    constant.Value // of an exact value
	// assumed is set for an exact value that follows from the assumed constants, not from the source alone.
	assumed bool
	e       ir.Expr // of a symbolic value
}

// equal reports whether two values are known to be the same.
func (v value) equal(w value) bool {
	if v.kind != w.kind {
		return false
	}
	switch v.kind {
	case exact:
		return v.c.Kind() == constant.Bool == (w.c.Kind() == constant.Bool) && constant.Compare(v.c, token.EQL, w.c)
	case symbolic:
		return equal(v.e, w.e)
	}
	return false
}

// equal is [ir.Equal] for expressions that may contain calls of elementary functions and slices, of which only the
// beginnings count. The order of summands and factors does not matter.
func equal(a, b ir.Expr) bool {
	switch x := a.(type) {
	case *ir.Math:
		y, ok := b.(*ir.Math)
		return ok && x.Name == y.Name && slices.EqualFunc(x.Args, y.Args, equal)
	case *ir.Binary:
		if x.Op == token.ADD && ir.IsInteger(x.T) {
			return sameTerms(terms(x, nil), terms(b, nil))
		}
		y, ok := b.(*ir.Binary)
		return ok && x.Op == y.Op && (equal(x.X, y.X) && equal(x.Y, y.Y) ||
			(x.Op == token.ADD || x.Op == token.MUL) && equal(x.X, y.Y) && equal(x.Y, y.X))
	case *ir.Unary:
		y, ok := b.(*ir.Unary)
		return ok && x.Op == y.Op && equal(x.X, y.X)
	case *ir.Const:
		y, ok := b.(*ir.Const)
		return ok && value{kind: exact, c: numberOf(x)}.equal(value{kind: exact, c: numberOf(y)})
	case *ir.Slice:
		y, ok := b.(*ir.Slice)
		return ok && equal(x.X, y.X) && equal(x.Lo, y.Lo)
	case *ir.Load:
		y, ok := b.(*ir.Load)
		return ok && equalPlace(x.P, y.P)
	}
	return ir.Equal(a, b)
}

// equalPlace is equal for places.
func equalPlace(p, q *ir.Place) bool {
	return p.Root == q.Root && slices.EqualFunc(p.Path, q.Path, func(s, t ir.Step) bool {
		if s.Index == nil || t.Index == nil {
			return s.Field == t.Field && s.Index == nil && t.Index == nil
		}
		return equal(s.Index, t.Index)
	})
}

// terms appends the summands of e to list.
func terms(e ir.Expr, list []ir.Expr) []ir.Expr {
	if b, ok := e.(*ir.Binary); ok && b.Op == token.ADD {
		return terms(b.Y, terms(b.X, list))
	}
	return append(list, e)
}

// sameTerms reports whether two lists have the same expressions in some order.
func sameTerms(a, b []ir.Expr) bool {
	if len(a) != len(b) {
		return false
	}
	b = slices.Clone(b)
	for _, x := range a {
		i := slices.IndexFunc(b, func(y ir.Expr) bool { return equal(x, y) })
		if i < 0 {
			return false
		}
		b = slices.Delete(b, i, i+1)
	}
	return true
}

// same reports whether two facts are one, so that a fixed point has been reached.
func (v value) same(w value) bool {
	return v.kind == w.kind && (v.kind == unknown || v.kind == singular || v.equal(w) && v.assumed == w.assumed)
}

// join returns the facts known of a value that is one or the other.
func (v value) join(w value) value {
	switch {
	case v.kind == singular || w.kind == singular:
		return value{kind: singular}
	case v.equal(w):
		v.assumed = v.assumed || w.assumed
		return v
	}
	return value{}
}

// is reports whether v is the constant n.
func (v value) is(n int64) bool {
	return v.kind == exact && v.c.Kind() != constant.Bool && constant.Compare(v.c, token.EQL, constant.MakeInt64(n))
}

// maxSize bounds symbolic values, by the number of their operations.
const maxSize = 12

// symbolicValue returns the value of an expression of symbolic values, unknown if it is long.
func symbolicValue(e ir.Expr) value {
	n := 0
	ir.WalkExpr(e, func(ir.Expr) bool { n++; return n <= 2*maxSize })
	if n > 2*maxSize {
		return value{}
	}
	return value{kind: symbolic, e: e}
}

// expr returns v as an operand of type t, nil if it is neither symbolic nor exact.
func (v value) expr(t types.Type) ir.Expr {
	switch v.kind {
	case exact:
		return &ir.Const{Typed: ir.Typed{T: t}, Val: v.c}
	case symbolic:
		return v.e
	}
	return nil
}

// mentions reports whether e reads a variable for which is holds.
func mentions(e ir.Expr, is func(*ir.Var) bool) (found bool) {
	ir.WalkExpr(e, func(x ir.Expr) bool {
		if p := ir.PlaceOf(x); p != nil && is(p.Root) {
			found = true
		}
		return !found
	})
	return found
}

// readsMemory reports whether e reads a part of a variable, or memory that other places may share.
func readsMemory(e ir.Expr) (found bool) {
	ir.WalkExpr(e, func(x ir.Expr) bool {
		if l, ok := x.(*ir.Load); ok && len(l.P.Path) > 0 {
			found = true
		}
		return !found
	})
	return found
}

// arithmetic returns the value of x op y, for operands of type t. A product with a zero is zero unless the other
// factor is singular.
func arithmetic(op token.Token, x, y value, t types.Type) value {
	if x.kind == singular || y.kind == singular {
		return value{kind: singular}
	}
	number := ir.IsContinuous(t)
	if r := fold(op, x, y, t); r.kind == exact {
		return r
	}
	assumed := x.assumed || y.assumed
	operand := func(v value) value {
		v.assumed = v.assumed || assumed
		return v
	}
	switch op {
	case token.ADD, token.SUB:
		switch {
		case y.is(0):
			return operand(x)
		case x.is(0) && op == token.ADD:
			return operand(y)
		}
	case token.MUL:
		switch {
		case x.is(0) || y.is(0):
			return value{kind: exact, c: constant.MakeInt64(0), assumed: assumed}
		case x.is(1):
			return operand(y)
		case y.is(1):
			return operand(x)
		}
	case token.QUO:
		switch {
		case !number:
			return value{}
		case y.is(0):
			return value{kind: singular}
		case x.is(0):
			return value{kind: exact, c: constant.MakeInt64(0), assumed: assumed}
		case y.is(1):
			return operand(x)
		}
	default:
		return value{}
	}
	if a, b := x.expr(t), y.expr(t); a != nil && b != nil {
		return symbolicValue(ir.NewBinary(t, op, a, b))
	}
	return value{}
}

// fold returns the sum, difference or product of two small whole numbers of type t, in which nothing is rounded, and an
// unknown value for other operands.
func fold(op token.Token, x, y value, t types.Type) value {
	if x.kind != exact || y.kind != exact || op != token.ADD && op != token.SUB && op != token.MUL ||
		!isSmall(x.c) || !isSmall(y.c) {
		return value{}
	}
	c := constant.BinaryOp(constant.ToInt(x.c), op, constant.ToInt(y.c))
	if constant.Sign(c) < 0 && ir.HasInfo(t, types.IsUnsigned) {
		return value{}
	}
	return value{kind: exact, c: c, assumed: x.assumed || y.assumed}
}

// isSmall reports whether c is a whole number that all types with a sign represent but the smallest.
func isSmall(c constant.Value) bool {
	if c.Kind() == constant.Bool || c.Kind() == constant.String {
		return false
	}
	n, ok := constant.Int64Val(constant.ToInt(c))
	return ok && -1<<11 < n && n < 1<<11
}

// regular holds elementary functions that are differentiable any number of times everywhere.
var regular = map[string]bool{
	"math.Sin": true, "math.Cos": true, "math.Exp": true, "math.Exp2": true, "math.Expm1": true, "math.Sinh": true,
	"math.Cosh": true, "math.Tanh": true, "math.Atan": true, "math.Asinh": true, "math.Erf": true, "math.Erfc": true,
	"cmplx.Exp": true, "cmplx.Sin": true, "cmplx.Cos": true, "cmplx.Sinh": true, "cmplx.Cosh": true,
}

// elementary returns the value of a call of an elementary function with the given arguments.
func elementary(e *ir.Math, args []value) value {
	assumed := false
	for _, a := range args {
		if a.kind == singular {
			return a
		}
		assumed = assumed || a.kind == exact && a.assumed
	}
	if len(args) > 0 && args[0].kind == exact {
		c := args[0].c
		out := value{kind: exact, assumed: assumed}
		switch e.Name {
		case ir.RealName:
			out.c = constant.Real(c)
			return out
		case ir.ImagName:
			out.c = constant.Imag(c)
			return out
		case ir.ConjName:
			out.c = constant.BinaryOp(constant.Real(c), token.SUB, constant.MakeImag(constant.Imag(c)))
			return out
		case ir.ComplexName:
			if args[1].kind == exact {
				out.c = constant.BinaryOp(c, token.ADD, constant.MakeImag(args[1].c))
				return out
			}
			return value{}
		}
	}
	switch e.Name {
	case ir.GraftName:
		return args[0]
	case "math.FMA":
		return arithmetic(token.ADD, arithmetic(token.MUL, args[0], args[1], e.T), args[2], e.T)
	case "math.Abs":
		if args[0].is(0) { // at the kink the derivative is 0
			return args[0]
		}
	}
	if elementaryIsLinear(e.Name) {
		list := make([]ir.Expr, len(args))
		for i, a := range args {
			if list[i] = a.expr(e.Args[i].Type()); list[i] == nil {
				return value{}
			}
		}
		return symbolicValue(&ir.Math{Typed: e.Typed, Name: e.Name, Args: list})
	}
	if assumed && !regular[e.Name] {
		return value{kind: singular}
	}
	return value{}
}

// elementaryIsLinear reports whether name is a function that takes complex numbers apart or composes them.
func elementaryIsLinear(name string) bool {
	return name == ir.RealName || name == ir.ImagName || name == ir.ConjName || name == ir.ComplexName
}

// converted returns the value of a conversion of v to type t.
func converted(v value, from, t types.Type) value {
	switch {
	case v.kind == singular:
		return v
	case v.kind == exact && v.c.Kind() != constant.Bool && v.c.Kind() != constant.String:
		switch {
		case ir.IsContinuous(from) && ir.IsInteger(t) && v.assumed: // a jump
			return value{kind: singular}
		case isSmall(v.c) && (ir.IsContinuous(t) || ir.IsInteger(t)) &&
			(constant.Sign(v.c) >= 0 || !ir.HasInfo(t, types.IsUnsigned)):
			return v
		}
	case v.kind == symbolic && ir.HasInfo(t, types.IsNumeric):
		return symbolicValue(&ir.Convert{Typed: ir.Typed{T: t}, X: v.e})
	}
	return value{}
}
