package tangent

import (
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/elementary"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/rules"
)

// linear is e, a number, and its derivative, nil where that is zero. What both need is
// computed once, before.
func (b *builder) linear(e ir.Expr) (val, dot ir.Expr) {
	if !activity.IsFloat(e.Type()) {
		return e, nil
	}
	switch e := e.(type) {
	case *ir.Load:
		if !b.facts.Active(e.P.Root) {
			return e, nil
		}
		return e, &ir.Load{Typed: e.Typed, P: b.place(e.P)}
	case *ir.Unary:
		x, dx := b.linear(e.X)
		if dx == nil {
			return e, nil
		}
		return &ir.Unary{Typed: e.Typed, Op: e.Op, X: x}, &ir.Unary{Typed: e.Typed, Op: e.Op, X: dx}
	case *ir.Convert:
		if !activity.IsFloat(e.X.Type()) {
			return e, nil
		}
		x, dx := b.linear(e.X)
		if dx == nil {
			return e, nil
		}
		return &ir.Convert{Typed: e.Typed, X: x}, &ir.Convert{Typed: e.Typed, X: dx}
	case *ir.Binary:
		return b.binary(e)
	case *ir.Math:
		return b.math(e)
	}
	return e, nil
}

func (b *builder) binary(e *ir.Binary) (val, dot ir.Expr) {
	if e.Op == token.MUL && ir.Equal(e.X, e.Y) {
		return b.square(e)
	}
	x, dx := b.linear(e.X)
	y, dy := b.linear(e.Y)
	if dx == nil && dy == nil {
		return e, nil
	}
	op := func(op token.Token, x, y ir.Expr) ir.Expr { return &ir.Binary{Typed: e.Typed, Op: op, X: x, Y: y} }
	switch e.Op {
	case token.ADD, token.SUB:
		switch {
		case dy == nil:
			dot = dx
		case dx != nil:
			dot = op(e.Op, dx, dy)
		case e.Op == token.SUB:
			dot = &ir.Unary{Typed: e.Typed, Op: token.SUB, X: dy}
		default:
			dot = dy
		}
		return op(e.Op, x, y), dot
	case token.MUL:
		if dy != nil {
			x = b.atom(x)
		}
		if dx != nil {
			y = b.atom(y)
		}
		switch {
		case dy == nil:
			dot = op(token.MUL, dx, y)
		case dx == nil:
			dot = op(token.MUL, x, dy)
		default:
			dot = op(token.ADD, op(token.MUL, dx, y), op(token.MUL, x, dy))
		}
		return op(token.MUL, x, y), dot
	case token.QUO:
		y = b.atom(y)
		if dy == nil {
			return op(token.QUO, x, y), op(token.QUO, dx, y)
		}
		q := b.atom(op(token.QUO, x, y))
		dot = op(token.MUL, q, dy)
		if dx == nil {
			dot = &ir.Unary{Typed: e.Typed, Op: token.SUB, X: dot}
		} else {
			dot = op(token.SUB, dx, dot)
		}
		return q, op(token.QUO, dot, y)
	}
	b.refuse("operation %v on floats", e.Op)
	return nil, nil
}

// square is a product of a number with itself.
func (b *builder) square(e *ir.Binary) (val, dot ir.Expr) {
	x, dx := b.linear(e.X)
	if dx == nil {
		return e, nil
	}
	x = b.atom(x)
	twice := &ir.Binary{Typed: e.Typed, Op: token.ADD, X: x, Y: x}
	return &ir.Binary{Typed: e.Typed, Op: token.MUL, X: x, Y: x}, &ir.Binary{Typed: e.Typed, Op: token.MUL, X: twice, Y: dx}
}

// atom is e as something that costs nothing to read again: a constant, or a variable
// that is made for it.
func (b *builder) atom(e ir.Expr) ir.Expr {
	switch e := e.(type) {
	case *ir.Const:
		return e
	case *ir.Load:
		if len(e.P.Path) == 0 {
			return e
		}
	}
	v := &ir.Var{Name: b.names.Name("t"), Type: e.Type()}
	b.Emit(&ir.Let{At: b.At, V: v, E: e})
	return v.Load()
}

func number(t types.Type, v float64) ir.Expr {
	return &ir.Const{Typed: ir.Typed{T: t}, Val: constant.MakeFloat64(v)}
}

// math is the derivative of an elementary function by its rule.
func (b *builder) math(e *ir.Math) (val, dot ir.Expr) {
	args, dots := make([]ir.Expr, len(e.Args)), make([]ir.Expr, len(e.Args))
	moves := false
	for i, a := range e.Args {
		args[i], dots[i] = b.linear(a)
		moves = moves || dots[i] != nil
	}
	if !moves {
		return e, nil
	}
	for i := range args {
		args[i] = b.atom(args[i])
	}
	if e.Name == "min" || e.Name == "max" || e.Name == "math.Min" || e.Name == "math.Max" {
		return b.choice(e, args, dots)
	}
	op, ok := elementary.Op(e.Name)
	if !ok {
		b.refuse("function %s has no rule", e.Name)
	}
	v := b.atom(&ir.Math{Typed: e.Typed, Name: e.Name, Args: args})
	x := &elementary.Rule{Type: e.T, Args: args, Value: v, Name: b.atom}
	partials := make([]ir.Expr, len(dots))
	for i := range dots {
		p := rules.Partial(op, i)
		switch {
		case dots[i] == nil:
		case p == nil:
			dots[i] = nil
		case elementary.Bounded(op):
			partials[i] = x.Expr(p)
		default:
			partials[i] = b.atom(x.Expr(p))
		}
	}
	if elementary.Bounded(op) {
		return v, b.weighted(e.T, partials, dots)
	}
	// An infinite partial derivative does not meet a zero.
	d := &ir.Var{Name: b.names.Name("d"), Type: e.T}
	b.Emit(&ir.Let{At: b.At, V: d, E: zero(e.T)})
	for i, dx := range dots {
		if dx == nil {
			continue
		}
		dx = b.atom(dx)
		p := partials[i]
		moves := b.compare(token.NEQ, dx, number(e.T, 0))
		finite := b.compare(token.EQL, &ir.Binary{Typed: e.Typed, Op: token.SUB, X: p, Y: p}, number(e.T, 0))
		b.Emit(&ir.If{At: b.At, Cond: b.compare(token.LOR, moves, finite),
			Then: ir.Block{&ir.Add{At: b.At, P: d.Place(), E: &ir.Binary{Typed: e.Typed, Op: token.MUL, X: dx, Y: p}}}})
	}
	return v, d.Load()
}

func (b *builder) compare(op token.Token, x, y ir.Expr) ir.Expr {
	return &ir.Binary{Typed: ir.Typed{T: types.Typ[types.Bool]}, Op: op, X: x, Y: y}
}

// weighted is the sum of derivatives times partial derivatives.
func (b *builder) weighted(t types.Type, partials, dots []ir.Expr) (sum ir.Expr) {
	typed := ir.Typed{T: t}
	for i, dx := range dots {
		if dx == nil {
			continue
		}
		if c, ok := partials[i].(*ir.Const); !ok || c.Val == nil || !constant.Compare(c.Val, token.EQL, constant.MakeInt64(1)) {
			dx = &ir.Binary{Typed: typed, Op: token.MUL, X: dx, Y: partials[i]}
		}
		if sum == nil {
			sum = dx
		} else {
			sum = &ir.Binary{Typed: typed, Op: token.ADD, X: sum, Y: dx}
		}
	}
	return sum
}

// choice is min or max of any number of arguments: the derivative of the first that is
// the value.
func (b *builder) choice(e *ir.Math, args, dots []ir.Expr) (val, dot ir.Expr) {
	v := b.atom(&ir.Math{Typed: e.Typed, Name: e.Name, Args: args})
	d := &ir.Var{Name: b.names.Name(strings.TrimPrefix(strings.ToLower(e.Name), "math.") + "Dot"), Type: e.T}
	b.Emit(&ir.Let{At: b.At, V: d, E: zero(e.T)})
	set := func(i int) ir.Block {
		dot := dots[i]
		if dot == nil {
			dot = zero(e.T)
		}
		return ir.Block{&ir.Set{At: b.At, P: d.Place(), E: dot}}
	}
	var rest ir.Block
	for i := len(args) - 1; i >= 0; i-- {
		if i == len(args)-1 {
			rest = set(i)
			continue
		}
		nan := b.compare(token.LAND, b.compare(token.NEQ, args[i], args[i]), b.compare(token.NEQ, v, v))
		cond := b.compare(token.LOR, b.compare(token.EQL, args[i], v), nan)
		rest = ir.Block{&ir.If{At: b.At, Cond: cond, Then: set(i), Else: rest}}
	}
	b.Emit(rest...)
	return v, d.Load()
}
