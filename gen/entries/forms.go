package entries

import (
	gc "go/constant"
	"go/token"
	"go/types"
	"math"

	"github.com/nabla-ad/nabla/gen/ir"
)

// A term is an element of the direction times a coefficient, or the sum of a list times a coefficient.
type term struct {
	index ir.Expr // a constant or a variable that is assigned once, or a slot; nil for a list
	by    ir.Expr // the coefficient
	list  *list
	state int // of the list, when the term was made
	slot  slotID
}

// A form is a sum of terms with distinct indices, as far as the generator can tell.
type form []term

// constant returns the value of a constant coefficient.
func constant(e ir.Expr) (v float64, ok bool) {
	c, ok := e.(*ir.Const)
	if !ok {
		return 0, false
	}
	if c.Val == nil {
		return 0, true
	}
	if x := gc.ToFloat(c.Val); x.Kind() == gc.Float {
		v, _ = gc.Float64Val(x)
		return v, true
	}
	return 0, false
}

// times returns x * y.
func times(x, y ir.Expr) ir.Expr {
	p, isX := constant(x)
	q, isY := constant(y)
	switch {
	case isX && isY && types.Identical(x.Type(), floatType) && !math.IsInf(p*q, 0):
		return ir.FloatConst(x.Type(), p*q)
	case isX && p == 1:
		return y
	case isY && q == 1:
		return x
	case isX && p == -1:
		return negate(y)
	case isY && q == -1:
		return negate(x)
	}
	return ir.NewBinary(x.Type(), token.MUL, x, y)
}

func negate(x ir.Expr) ir.Expr {
	switch e := x.(type) {
	case *ir.Const:
		v, _ := constant(x)
		return ir.FloatConst(x.Type(), -v)
	case *ir.Unary:
		if e.Op == token.SUB {
			return e.X
		}
	}
	return &ir.Unary{Typed: ir.Typed{T: x.Type()}, Op: token.SUB, X: x}
}

// plus returns x + y.
func plus(x, y ir.Expr) ir.Expr {
	p, isX := constant(x)
	q, isY := constant(y)
	if isX && isY && types.Identical(x.Type(), floatType) && !math.IsInf(p+q, 0) {
		return ir.FloatConst(x.Type(), p+q)
	}
	if u, ok := y.(*ir.Unary); ok && u.Op == token.SUB {
		return ir.NewBinary(x.Type(), token.SUB, x, u.X)
	}
	return ir.NewBinary(x.Type(), token.ADD, x, y)
}

// each returns the form with the coefficients that change returns.
func (f form) each(change func(by ir.Expr) ir.Expr) form {
	out := make(form, len(f))
	for i, t := range f {
		t.by = change(t.by)
		out[i] = t
	}
	return out
}

// same reports whether two terms are known to be of one element or list.
func same(t, u term) bool {
	if t.list != nil || u.list != nil {
		return t.list == u.list
	}
	return sameIndex(t.index, u.index)
}

// sameIndex reports whether two indices are known to be equal.
func sameIndex(i, j ir.Expr) bool {
	if v := ir.VarOf(i); v != nil {
		return v == ir.VarOf(j)
	}
	return ir.Equal(i, j)
}

// add returns f + g, whose terms with the same index it adds.
func (f form) add(g form) form {
	out := append(form(nil), f...)
next:
	for _, t := range g {
		for i := range out {
			if same(out[i], t) {
				out[i].by = plus(out[i].by, t.by)
				continue next
			}
		}
		out = append(out, t)
	}
	return out
}

// linear returns the form of e, an expression of floats. It is nil if e does not depend on the direction.
func (b *builder) linear(e ir.Expr) form {
	if !b.readsDot(e) {
		if !b.isZero(e) {
			b.refuse("a number that does not depend on the direction is added to one that does")
		}
		return nil
	}
	switch e := e.(type) {
	case *ir.Load:
		return b.load(e)
	case *ir.Unary:
		if e.Op == token.SUB {
			return b.linear(e.X).each(negate)
		}
		return b.linear(e.X)
	case *ir.Convert:
		return b.linear(e.X).each(func(by ir.Expr) ir.Expr { return &ir.Convert{Typed: e.Typed, X: by} })
	case *ir.Binary:
		return b.binary(e)
	case *ir.Math:
		return b.math(e)
	}
	b.refuse("a %T of derivatives", e)
	return nil
}

func (b *builder) binary(e *ir.Binary) form {
	switch e.Op {
	case token.ADD:
		return b.linear(e.X).add(b.linear(e.Y))
	case token.SUB:
		return b.linear(e.X).add(b.linear(e.Y).each(negate))
	case token.MUL:
		x, y := e.X, e.Y
		if b.readsDot(x) {
			x, y = y, x
		}
		if b.readsDot(x) {
			b.refuse("a product of derivatives")
		}
		f := b.linear(y)
		by := b.operand(x, f)
		return f.each(func(c ir.Expr) ir.Expr { return times(by, c) })
	case token.QUO:
		if b.readsDot(e.Y) {
			b.refuse("a quotient by a derivative")
		}
		f := b.linear(e.X)
		by := b.operand(e.Y, f)
		return f.each(func(c ir.Expr) ir.Expr { return ir.NewBinary(e.T, token.QUO, c, by) })
	}
	b.refuse("operation %v on derivatives", e.Op)
	return nil
}

// math returns the form of a function that is linear in the arguments that are dots.
func (b *builder) math(e *ir.Math) form {
	switch e.Name {
	case "math.FMA":
		for i := range 2 {
			if x := e.Args[1-i]; b.readsDot(e.Args[i]) && !b.readsDot(x) {
				f := b.linear(e.Args[i])
				by := b.operand(x, f)
				return f.each(func(c ir.Expr) ir.Expr { return times(by, c) }).add(b.linear(e.Args[2]))
			}
		}
	case "math.Ldexp":
		if !b.readsDot(e.Args[1]) {
			f := b.linear(e.Args[0])
			by := b.operand(e.Args[1], f)
			return f.each(func(c ir.Expr) ir.Expr {
				return &ir.Math{Typed: e.Typed, Name: e.Name, Args: []ir.Expr{c, by}}
			})
		}
	}
	b.refuse("%s of derivatives", e.Name)
	return nil
}

// operand returns e, which all terms of f are combined with, as an expression to be used once for each of them.
func (b *builder) operand(e ir.Expr, f form) ir.Expr {
	e = b.passive(e)
	if len(f) < 2 {
		return e
	}
	return b.atom(e, "t")
}
