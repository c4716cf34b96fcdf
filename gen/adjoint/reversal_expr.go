package adjoint

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/elementary"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/rules"
)

// writer writes statements of the reverse sweep.
type writer struct {
	ir.Writer
	b *builder
}

// let is a new variable with value e.
func (w *writer) let(base string, e ir.Expr) ir.Expr {
	v := w.b.g.local(base, e.Type())
	w.Emit(&ir.Let{At: w.At, V: v, E: e})
	return v.Load()
}

// atom is e as something that costs nothing to read again, or its negative.
func (w *writer) atom(base string, e ir.Expr) ir.Expr {
	switch x := e.(type) {
	case *ir.Unary:
		if x.Op == token.SUB {
			return negative(w.atom(base, x.X))
		}
	case *ir.Const:
		return e
	case *ir.Load:
		if len(x.P.Path) == 0 {
			return e
		}
	}
	return w.let(base, e)
}

// active reports whether something in a float expression carries a derivative.
func (w *writer) active(e ir.Expr) (found bool) {
	switch x := e.(type) {
	case *ir.Load:
		return w.b.active(x.P.Root)
	case *ir.Unary:
		return w.active(x.X)
	case *ir.Convert:
		return ir.IsFloat(x.X.Type()) && w.active(x.X)
	case *ir.Binary:
		return ir.IsFloat(x.T) && (w.active(x.X) || w.active(x.Y))
	case *ir.Math:
		if !ir.IsFloat(x.T) {
			return false
		}
		for _, a := range x.Args {
			found = found || ir.IsFloat(a.Type()) && w.active(a)
		}
	}
	return found
}

// float adds to the adjoints of what float e is computed from, where t is that of e.
func (w *writer) propagate(e ir.Expr, t ir.Expr) {
	if e == nil || !w.active(e) {
		return
	}
	switch x := e.(type) {
	case *ir.Load:
		w.Emit(&ir.Add{At: w.At, P: w.b.barPlace(x.P), E: t})
	case *ir.Unary:
		if x.Op == token.SUB {
			t = negative(t)
		}
		w.propagate(x.X, t)
	case *ir.Convert:
		w.propagate(x.X, &ir.Convert{Typed: ir.Typed{T: x.X.Type()}, X: t})
	case *ir.Binary:
		w.propagateBinary(x, t)
	case *ir.Math:
		w.propagateMath(x, nil, t)
	}
}

func negative(t ir.Expr) ir.Expr {
	if u, ok := t.(*ir.Unary); ok && u.Op == token.SUB {
		return u.X
	}
	return &ir.Unary{Typed: ir.Typed{T: t.Type()}, Op: token.SUB, X: t}
}

// unsigned is e without the minus before it, if there is one.
func unsigned(e ir.Expr) (_ ir.Expr, minus bool) {
	if u, ok := e.(*ir.Unary); ok && u.Op == token.SUB {
		return u.X, true
	}
	return e, false
}

func signed(e ir.Expr, minus bool) ir.Expr {
	if minus {
		return negative(e)
	}
	return e
}

// product is x · y. A minus comes to its front, where a sum takes it up.
func product(x, y ir.Expr) ir.Expr {
	x, p := unsigned(x)
	y, q := unsigned(y)
	return signed(binary(x.Type(), token.MUL, x, y), p != q)
}

func (w *writer) propagateBinary(x *ir.Binary, t ir.Expr) {
	both := w.active(x.X) && w.active(x.Y)
	if both {
		t = w.atom("t", t)
	}
	switch x.Op {
	case token.ADD:
		w.propagate(x.X, t)
		w.propagate(x.Y, t)
	case token.SUB:
		w.propagate(x.X, t)
		w.propagate(x.Y, negative(t))
	case token.MUL:
		if both && ir.Equal(x.X, x.Y) {
			u, minus := unsigned(t)
			twice := signed(w.let("twice", binary(x.T, token.ADD, u, u)), minus)
			w.propagate(x.X, product(twice, x.X))
			return
		}
		if w.active(x.X) {
			w.propagate(x.X, product(t, x.Y))
		}
		if w.active(x.Y) {
			w.propagate(x.Y, product(t, x.X))
		}
	case token.QUO:
		w.propagateQuotient(x, nil, t)
	default:
		w.b.refuse("", "operation %v on floats", x.Op)
	}
}

// quotient is x / y, whose value is v, or computed again where v is nil.
func (w *writer) propagateQuotient(x *ir.Binary, v ir.Expr, t ir.Expr) {
	if isConstant(x.Y) {
		w.propagate(x.X, binary(x.T, token.QUO, t, x.Y))
		return
	}
	t = w.atom("t", t)
	u, minus := unsigned(t)
	if !w.active(x.Y) {
		w.strongZero(t, elementary.Divides(x.Y), func() { w.propagate(x.X, elementary.Skip(x.T)) },
			func() { w.propagate(x.X, signed(binary(x.T, token.QUO, u, x.Y), minus)) })
		return
	}
	if v == nil {
		v = w.let("q", x)
	}
	// The quotient is infinite or NaN at a division by 0 too, and only then what x.X would get.
	skip := func() { w.propagate(x.Y, elementary.Skip(x.T)) }
	if w.active(x.X) {
		skip = func() {
			w.propagate(x.Y, elementary.Skip(x.T))
			other := w.Nested(func() { w.propagate(x.X, elementary.Skip(x.T)) })
			w.Emit(&ir.If{At: w.At, Cond: elementary.Divides(x.Y), Else: other})
		}
	}
	w.strongZero(t, elementary.Finite(v), skip, func() {
		if !w.active(x.X) { // t·v is of the size of the result, where t/y may be out of range
			w.propagate(x.Y, signed(binary(x.T, token.QUO, binary(x.T, token.MUL, u, v), x.Y), !minus))
			return
		}
		r := signed(w.let("r", binary(x.T, token.QUO, u, x.Y)), minus)
		w.propagate(x.Y, negative(product(r, v)))
		w.propagate(x.X, r)
	})
}

// guarded leaves out what f writes, products of the adjoint t, where that is 0, with a
// partial derivative that is not finite, and skip counts that. Where it is finite the
// product stays: the adjoint may be 0 and its derivative not.
func (w *writer) strongZero(t, finite ir.Expr, skip, f func()) {
	body := w.Nested(f)
	if finite == nil || len(body) == 0 {
		w.Emit(body...)
		return
	}
	t, _ = unsigned(t)
	some := compare(token.NEQ, t, number(t.Type(), 0))
	w.Emit(&ir.If{At: w.At, Cond: binary(boolean, token.LOR, some, finite), Then: body, Else: w.Nested(skip)})
}

// math is an elementary function, whose value is v, or computed again where v is nil.
func (w *writer) propagateMath(e *ir.Math, v ir.Expr, t ir.Expr) {
	if s := elementary.Linear(e, t); s != nil {
		w.propagate(e.Args[0], s)
		return
	}
	if v == nil {
		v = w.let(baseNameOf(e.Name), e)
	}
	t = w.atom("t", t)
	switch e.Name {
	case "min", "max", "math.Min", "math.Max":
		w.propagateMinMax(e, v, t)
		return
	}
	op, ok := elementary.Op(e.Name)
	if !ok {
		w.b.refuse("", "function %s has no rule", e.Name)
	}
	if op == rules.Select {
		w.propagateSelect(e, t)
		return
	}
	x := &elementary.Rule{Type: e.T, Args: e.Args, Value: v, Name: func(e ir.Expr) ir.Expr { return w.atom("a", e) }}
	u, minus := unsigned(t)
	for i, a := range e.Args {
		if rules.Partial(op, i) == nil || !ir.IsFloat(a.Type()) || !w.active(a) {
			continue
		}
		p := x.Partial(op, i)
		give := func() { w.propagate(a, signed(p.Back(u), minus != p.Minus)) }
		if elementary.Bounded(op) {
			give()
		} else {
			w.strongZero(t, p.Finite(), func() { w.propagate(a, elementary.Skip(e.T)) }, give)
		}
	}
}

// selected is a Select: its second argument gets the cotangent if the first is not 0,
// otherwise the third.
func (w *writer) propagateSelect(e *ir.Math, t ir.Expr) {
	then := w.Nested(func() { w.propagate(e.Args[1], t) })
	other := w.Nested(func() { w.propagate(e.Args[2], t) })
	nonzero := compare(token.NEQ, e.Args[0], number(e.Args[0].Type(), 0))
	w.Emit(&ir.If{At: w.At, Cond: nonzero, Then: then, Else: other})
}

// choice is min or max: the first argument that is the value gets the adjoint.
func (w *writer) propagateMinMax(e *ir.Math, v, t ir.Expr) {
	var rest ir.Block
	for i := len(e.Args) - 1; i >= 0; i-- {
		a := e.Args[i]
		then := w.Nested(func() { w.propagate(a, t) })
		if i == len(e.Args)-1 {
			rest = then
			continue
		}
		nan := binary(boolean, token.LAND, compare(token.NEQ, a, a), compare(token.NEQ, v, v))
		rest = ir.Block{&ir.If{At: w.At, Cond: binary(boolean, token.LOR, compare(token.EQL, a, v), nan), Then: then,
			Else: rest}}
	}
	w.Emit(rest...)
}

// value adds to the adjoints of what e, of any type, is made of, where its own numbers
// have the adjoints at t.
func (w *writer) propagateValue(e ir.Expr, t *ir.Place) {
	if e == nil || !ownFloats(e.Type()) {
		return
	}
	switch x := e.(type) {
	case *ir.Load:
		if w.b.active(x.P.Root) {
			w.addFloats(x.T, w.b.barPlace(x.P), t)
		}
	case *ir.Convert:
		if ir.IsFloat(x.T) {
			w.propagate(e, load(t, x.T))
			return
		}
		w.propagateValue(x.X, t) // the same fields
	case *ir.Literal:
		for i, k := range x.Keys {
			s := ir.FieldStep(k)
			if _, ok := x.T.Underlying().(*types.Struct); !ok {
				s = ir.IndexStep(count(int64(k)))
			}
			w.propagateValue(x.Elems[i], step(t, s))
		}
	default:
		if ir.IsFloat(e.Type()) {
			w.propagate(e, load(t, e.Type()))
		}
	}
}

// longest is up to what length arrays are gone through without a loop.
const maxUnrolled = 4

// sum adds the numbers of src to those of dst, both of type t.
func (w *writer) addFloats(t types.Type, dst, src *ir.Place) {
	if ir.IsFloat(t) {
		w.Emit(&ir.Add{At: w.At, P: dst, E: load(src, t)})
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			if f := u.Field(i).Type(); ownFloats(f) {
				w.addFloats(f, step(dst, ir.FieldStep(i)), step(src, ir.FieldStep(i)))
			}
		}
	case *types.Array:
		if u.Len() <= maxUnrolled {
			for i := range u.Len() {
				w.addFloats(u.Elem(), step(dst, ir.IndexStep(count(i))), step(src, ir.IndexStep(count(i))))
			}
			return
		}
		w.loop(count(u.Len()),
			func(i ir.Expr) { w.addFloats(u.Elem(), step(dst, ir.IndexStep(i)), step(src, ir.IndexStep(i))) })
	}
}

// loop repeats what f writes for an index below n.
func (w *writer) loop(n ir.Expr, f func(i ir.Expr)) {
	v := w.b.g.local("i", integer)
	body := w.Nested(func() { f(v.Load()) })
	w.Emit(upward(w.b.g.names, w.At, v, count(0), n, body))
}

// clearFloats sets the numbers of p, of type t, to 0.
func (w *writer) clearFloats(t types.Type, p *ir.Place) {
	w.Emit(floats.each(w.b.g.names, w.At, t, []*ir.Place{p}, func(t types.Type, at []*ir.Place) ir.Block {
		return ir.Block{&ir.Set{At: w.At, P: at[0], E: zeroOf(t)}}
	})...)
}

// clearElements sets the numbers of all elements of a slice to 0.
func (w *writer) clearElements(s *ir.Var) {
	of := s.Type.Underlying().(*types.Slice).Elem()
	if floats.only(of) {
		w.Emit(&ir.Clear{At: w.At, S: s.Load()})
		return
	}
	w.loop(length(s.Load()), func(i ir.Expr) { w.clearFloats(of, step(s.Place(), ir.IndexStep(i))) })
}
