package tangent

import (
	"go/token"
	"go/types"
	"strings"

	"github.com/nabla-ad/nabla/gen/elementary"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/rules"
)

// derivative returns e and its derivative along the direction, nil if that is structurally zero. Operands that both use
// are declared as variables first, and the returned value refers to them.
func (b *builder) derivative(e ir.Expr) (val, dot ir.Expr) {
	if !ir.IsContinuous(e.Type()) {
		return e, nil
	}
	switch e := e.(type) {
	case *ir.Load:
		if !b.facts.Active(e.P.Root) {
			return e, nil
		}
		return e, &ir.Load{Typed: e.Typed, P: b.shadowPlace(e.P)}
	case *ir.Unary:
		x, dx := b.derivative(e.X)
		if dx == nil {
			return e, nil
		}
		return &ir.Unary{Typed: e.Typed, Op: e.Op, X: x}, &ir.Unary{Typed: e.Typed, Op: e.Op, X: dx}
	case *ir.Convert:
		if !ir.IsContinuous(e.X.Type()) {
			return e, nil
		}
		x, dx := b.derivative(e.X)
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

// binary is derivative for arithmetic operations, by the rules for sums, products and quotients. For a quotient q = x /
// y the tangent is (dx - q*dy) / y, which reuses q, or dx / y or -(dy/y)*q if only one operand is active.
func (b *builder) binary(e *ir.Binary) (val, dot ir.Expr) {
	// Two evaluations of one operand would need two tangents.
	if e.Op == token.MUL && ir.Equal(e.X, e.Y) {
		return b.square(e)
	}
	x, dx := b.derivative(e.X)
	y, dy := b.derivative(e.Y)
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
	// Only factors that the tangent multiplies with are hoisted.
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
		// (dx - q*dy) / y reuses the quotient.
		q := b.atom(op(token.QUO, x, y))
		if dx == nil { // the order avoids overflow: dy/y has the size of 1/t, q*dy may overflow
			return q, negate(op(token.MUL, op(token.QUO, dy, y), q))
		}
		return q, op(token.QUO, op(token.SUB, dx, op(token.MUL, q, dy)), y)
	}
	b.refuse("operation %v on floats", e.Op)
	return nil, nil
}

// square is derivative for x * x: (x+x) * dx instead of dx*x + x*dx.
func (b *builder) square(e *ir.Binary) (val, dot ir.Expr) {
	x, dx := b.derivative(e.X)
	if dx == nil {
		return e, nil
	}
	x = b.atom(x)
	twice := &ir.Binary{Typed: e.Typed, Op: token.ADD, X: x, Y: x}
	return &ir.Binary{Typed: e.Typed, Op: token.MUL, X: x, Y: x},
		&ir.Binary{Typed: e.Typed, Op: token.MUL, X: twice, Y: dx}
}

// atom returns e as an operand that is free to evaluate repeatedly: a constant or a variable, declared if necessary.
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

// math is derivative for elementary functions, by their rules. If the partial derivatives are bounded, the tangent is
// one expression. Otherwise each term is added under a condition that implements the strong zero.
func (b *builder) math(e *ir.Math) (val, dot ir.Expr) {
	args, dots := make([]ir.Expr, len(e.Args)), make([]ir.Expr, len(e.Args))
	active := false
	for i, a := range e.Args {
		args[i], dots[i] = b.derivative(a)
		active = active || dots[i] != nil
	}
	if !active {
		return e, nil
	}
	if e.Name == ir.GraftName {
		if dots[1] == nil {
			return args[0], nil
		}
		return &ir.Math{Typed: e.Typed, Name: e.Name, Args: args}, dots[1]
	}
	if elementary.IsLinear(e) {
		for i := range dots {
			if dots[i] == nil {
				dots[i] = ir.FloatConst(args[i].Type(), 0)
			}
		}
		return &ir.Math{Typed: e.Typed, Name: e.Name, Args: args}, &ir.Math{Typed: e.Typed, Name: e.Name, Args: dots}
	}
	for i := range args {
		args[i] = b.atom(args[i])
	}
	if e.Name == "min" || e.Name == "max" || e.Name == "math.Min" || e.Name == "math.Max" {
		return b.minMax(e, args, dots)
	}
	if dots[0] != nil {
		// A function that is linear in an argument, as math.Ldexp, is applied to the tangent: its partial might
		// overflow.
		if dot := elementary.Linear(e, dots[0]); dot != nil {
			return &ir.Math{Typed: e.Typed, Name: e.Name, Args: args}, dot
		}
	}
	holomorphic := elementary.IsHolomorphic(e.Name)
	op, ok := elementary.Op(e.Name)
	if !ok && !holomorphic {
		b.refuse("function %s has no rule", e.Name)
	}
	if op == rules.Select {
		return b.selectFunc(e, args, dots)
	}
	v := b.atom(&ir.Math{Typed: e.Typed, Name: e.Name, Args: args})
	x := &elementary.Rule{Type: e.T, Args: args, Value: v, Name: b.atom}
	if !holomorphic && elementary.Bounded(op) {
		return v, b.weightedSum(x, op, dots)
	}
	// Strong zero: an infinite or NaN partial is multiplied only if its tangent is not 0.
	d := &ir.Var{Name: b.names.Name("d"), Type: e.T}
	b.Emit(&ir.Let{At: b.At, V: d, E: ir.Zero(e.T)})
	for i, dx := range dots {
		if dx == nil || !holomorphic && rules.Partial(op, i) == nil {
			continue
		}
		dx = b.atom(dx)
		var p *elementary.Product
		if holomorphic {
			p = x.HolomorphicPartial(e.Name, i)
		} else {
			p = x.Partial(op, i)
		}
		add := &ir.Add{At: b.At, P: d.Place(), E: ir.NegateIf(p.ScaleTangent(dx), p.Minus)}
		// A nil condition means that the partial derivative is always finite.
		finite := p.Finite()
		if finite == nil {
			b.Emit(add)
			continue
		}
		active := b.compare(token.NEQ, dx, ir.FloatConst(e.T, 0))
		b.Emit(&ir.If{At: b.At, Cond: b.compare(token.LOR, active, finite),
			Then: ir.Block{add}, Else: ir.Block{&ir.Add{At: b.At, P: d.Place(), E: elementary.Skip(e.T)}}})
	}
	return v, d.Load()
}

// compare returns the condition x op y.
func (b *builder) compare(op token.Token, x, y ir.Expr) ir.Expr {
	return &ir.Binary{Typed: ir.Typed{T: types.Typ[types.Bool]}, Op: op, X: x, Y: y}
}

// negate returns -e.
func negate(e ir.Expr) ir.Expr {
	return &ir.Unary{Typed: ir.Typed{T: e.Type()}, Op: token.SUB, X: e}
}

// weightedSum returns the sum of the tangents in dots times the partial derivatives of op.
func (b *builder) weightedSum(x *elementary.Rule, op rules.Op, dots []ir.Expr) (sum ir.Expr) {
	for i, dx := range dots {
		if dx == nil || rules.Partial(op, i) == nil {
			continue
		}
		p := x.Partial(op, i)
		term, minus := p.ScaleTangent(dx), p.Minus
		switch {
		case sum == nil:
			sum = ir.NegateIf(term, minus)
		case minus:
			sum = &ir.Binary{Typed: ir.Typed{T: x.Type}, Op: token.SUB, X: sum, Y: term}
		default:
			sum = &ir.Binary{Typed: ir.Typed{T: x.Type}, Op: token.ADD, X: sum, Y: term}
		}
	}
	return sum
}

// selectFunc is derivative for Select: the tangent of the second argument if the first is not 0, of the third
// otherwise.
func (b *builder) selectFunc(e *ir.Math, args, dots []ir.Expr) (val, dot ir.Expr) {
	v := b.atom(&ir.Math{Typed: e.Typed, Name: e.Name, Args: args})
	d := &ir.Var{Name: b.names.Name("selectDot"), Type: e.T}
	b.Emit(&ir.Let{At: b.At, V: d, E: ir.Zero(e.T)})
	set := func(dot ir.Expr) ir.Block {
		if dot == nil {
			return nil
		}
		return ir.Block{&ir.Set{At: b.At, P: d.Place(), E: dot}}
	}
	b.Emit(&ir.If{At: b.At, Cond: b.compare(token.NEQ, args[0], ir.FloatConst(args[0].Type(), 0)), Then: set(dots[1]),
		Else: set(dots[2])})
	return v, d.Load()
}

// minMax is derivative for min and max of any number of arguments: the tangent of the first argument that equals the
// value, or, if the value is a NaN, of the first that is a NaN. It is written as a chain of ifs on the value v:
//
//	if x0 == v || x0 != x0 && v != v {
//	    minDot = x0Dot
//	} else {
//	    minDot = x1Dot
//	}
func (b *builder) minMax(e *ir.Math, args, dots []ir.Expr) (val, dot ir.Expr) {
	v := b.atom(&ir.Math{Typed: e.Typed, Name: e.Name, Args: args})
	d := &ir.Var{Name: b.names.Name(strings.TrimPrefix(strings.ToLower(e.Name), "math.") + "Dot"), Type: e.T}
	b.Emit(&ir.Let{At: b.At, V: d, E: ir.Zero(e.T)})
	set := func(i int) ir.Block {
		dot := dots[i]
		if dot == nil {
			dot = ir.Zero(e.T)
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
