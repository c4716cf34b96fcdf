package adjoint

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/elementary"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/rules"
)

// Statement adjoints of expressions: the partial derivatives of each operation, from the table of elementary functions,
// times the cotangent of its result.
//
// Products of a zero cotangent with an infinite or NaN partial derivative are left out (strong zeros): a zero cotangent
// means that no output depends on the value, and stays zero. Bounded partial derivatives need no test.
//
// For r = a / b with cotangent t, where the partial derivatives are 1/b and -r/b:
//
//	if t != 0 || r - r == 0 {   // r-r is 0 if r is finite
//		u := t / b
//		bBar += -(u * r)
//		aBar += u
//	} else {
//		// counts the products that are left out, see rules.skip
//	}

// A writer writes statements of the reverse sweep.
type writer struct {
	ir.Writer
	sp *specialization
}

// let defines a new variable as e and returns its value.
func (w *writer) let(base string, e ir.Expr) ir.Expr {
	v := w.sp.g.local(base, e.Type())
	w.Emit(&ir.Let{At: w.At, V: v, E: e})
	return v.Load()
}

// atom returns e, or its negative, in a form that costs nothing to read repeatedly: a constant, or the value of a
// variable, which it defines if necessary.
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

// active reports whether the float expression e reads a variable or memory that carries derivatives.
func (w *writer) active(e ir.Expr) (found bool) {
	switch x := e.(type) {
	case *ir.Load:
		return w.sp.active(x.P.Root)
	case *ir.Unary:
		return w.active(x.X)
	case *ir.Convert:
		return ir.IsContinuous(x.X.Type()) && w.active(x.X)
	case *ir.Binary:
		return ir.IsContinuous(x.T) && (w.active(x.X) || w.active(x.Y))
	case *ir.Math:
		if !ir.IsContinuous(x.T) {
			return false
		}
		for _, a := range x.Args {
			found = found || ir.IsContinuous(a.Type()) && w.active(a)
		}
	}
	return found
}

// propagate adds to the cotangents of the operands of the float expression e, where t is the cotangent of e. Passive
// operands are skipped.
func (w *writer) propagate(e ir.Expr, t ir.Expr) {
	if e == nil || !w.active(e) {
		return
	}
	switch x := e.(type) {
	case *ir.Load:
		w.Emit(&ir.Add{At: w.At, P: w.sp.barPlace(x.P), E: t})
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

// negative returns -t, without a double negation.
func negative(t ir.Expr) ir.Expr {
	if u, ok := t.(*ir.Unary); ok && u.Op == token.SUB {
		return u.X
	}
	return &ir.Unary{Typed: ir.Typed{T: t.Type()}, Op: token.SUB, X: t}
}

// unsigned returns e without a leading minus, and whether it had one.
func unsigned(e ir.Expr) (_ ir.Expr, minus bool) {
	if u, ok := e.(*ir.Unary); ok && u.Op == token.SUB {
		return u.X, true
	}
	return e, false
}

// signed returns e, negated if minus is set.
func signed(e ir.Expr, minus bool) ir.Expr {
	if minus {
		return negative(e)
	}
	return e
}

// product returns x·y. Minus signs move to the front of the product, where an accumulation becomes a subtraction.
func product(x, y ir.Expr) ir.Expr {
	x, p := unsigned(x)
	y, q := unsigned(y)
	return signed(ir.NewBinary(x.Type(), token.MUL, x, y), p != q)
}

// propagateBinary is propagate for a sum, difference, product or quotient. The cotangent is evaluated once if both
// operands are active.
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
			twice := signed(w.let("twice", ir.NewBinary(x.T, token.ADD, u, u)), minus)
			w.propagate(x.X, product(twice, ir.Conj(x.X)))
			return
		}
		if w.active(x.X) {
			w.propagate(x.X, product(t, ir.Conj(x.Y)))
		}
		if w.active(x.Y) {
			w.propagate(x.Y, product(t, ir.Conj(x.X)))
		}
	case token.QUO:
		w.propagateQuotient(x, nil, t)
	default:
		w.sp.refuse("", "operation %v on floats", x.Op)
	}
}

// propagateQuotient is propagate for the quotient x, whose value is v; a nil v is evaluated again.
func (w *writer) propagateQuotient(x *ir.Binary, v ir.Expr, t ir.Expr) {
	if isConstant(x.Y) {
		w.propagate(x.X, ir.NewBinary(x.T, token.QUO, t, ir.Conj(x.Y)))
		return
	}
	// The partial derivatives of complex numbers are conjugated.
	by := ir.Conj(x.Y)
	t = w.atom("t", t)
	u, minus := unsigned(t)
	if !w.active(x.Y) {
		w.strongZero(t, elementary.Nonzero(x.Y), func() { w.propagate(x.X, elementary.Skip(x.T)) },
			func() { w.propagate(x.X, signed(ir.NewBinary(x.T, token.QUO, u, by), minus)) })
		return
	}
	if v == nil {
		v = w.let("q", x)
	}
	// The partial derivative -v/y is not finite if v is not, but 1/y only if y is 0: an omission is counted for x.X
	// only then.
	skip := func() { w.propagate(x.Y, elementary.Skip(x.T)) }
	if w.active(x.X) {
		skip = func() {
			w.propagate(x.Y, elementary.Skip(x.T))
			other := w.Nested(func() { w.propagate(x.X, elementary.Skip(x.T)) })
			w.Emit(&ir.If{At: w.At, Cond: elementary.Nonzero(x.Y), Else: other})
		}
	}
	w.strongZero(t, elementary.Finite(v), skip, func() {
		if !w.active(x.X) { // (t·v)/y instead of (t/y)·v: t/y may overflow although the result does not
			w.propagate(x.Y,
				signed(ir.NewBinary(x.T, token.QUO, ir.NewBinary(x.T, token.MUL, u, ir.Conj(v)), by), !minus))
			return
		}
		r := signed(w.let("r", ir.NewBinary(x.T, token.QUO, u, by)), minus)
		w.propagate(x.Y, negative(product(r, ir.Conj(v))))
		w.propagate(x.X, r)
	})
}

// strongZero emits the statements of f, which multiply the cotangent t by a partial derivative, unless t is 0 and the
// partial derivative is not finite; then it emits those of skip, which count the omission. The condition finite is nil
// if the partial derivative is always finite. If it is finite the product is formed even for t = 0: in second-order
// derivatives the tangent of t need not be 0.
func (w *writer) strongZero(t, finite ir.Expr, skip, f func()) {
	body := w.Nested(f)
	if finite == nil || len(body) == 0 {
		w.Emit(body...)
		return
	}
	t, _ = unsigned(t)
	some := ir.Compare(token.NEQ, t, ir.FloatConst(t.Type(), 0))
	w.Emit(&ir.If{At: w.At, Cond: ir.NewBinary(boolean, token.LOR, some, finite), Then: body, Else: w.Nested(skip)})
}

// propagateMath is propagate for the elementary function e, whose value is v; a nil v is evaluated again.
func (w *writer) propagateMath(e *ir.Math, v ir.Expr, t ir.Expr) {
	if e.Name == ir.GraftName {
		w.propagate(e.Args[1], t)
		return
	}
	if s := elementary.Linear(e, t); s != nil {
		w.propagate(e.Args[0], s)
		return
	}
	if elementary.IsLinear(e) {
		if e.Name == ir.ComplexName {
			t = w.atom("t", t)
		}
		for i, a := range e.Args {
			w.propagate(a, elementary.LinearCotangent(e, i, t))
		}
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
	holomorphic := elementary.IsHolomorphic(e.Name)
	op, ok := elementary.Op(e.Name)
	if !ok && !holomorphic {
		w.sp.refuse("", "function %s has no rule", e.Name)
	}
	if op == rules.Select {
		w.propagateSelect(e, t)
		return
	}
	x := &elementary.Rule{Type: e.T, Args: e.Args, Value: v, Name: func(e ir.Expr) ir.Expr { return w.atom("a", e) }}
	u, minus := unsigned(t)
	for i, a := range e.Args {
		if !holomorphic && rules.Partial(op, i) == nil || !ir.IsContinuous(a.Type()) || !w.active(a) {
			continue
		}
		var p *elementary.Product
		if holomorphic {
			p = x.HolomorphicPartial(e.Name, i)
		} else {
			p = x.Partial(op, i)
		}
		give := func() { w.propagate(a, signed(p.ScaleCotangent(u), minus != p.Minus)) }
		if !holomorphic && elementary.Bounded(op) {
			give()
		} else {
			w.strongZero(t, p.Finite(), func() { w.propagate(a, elementary.Skip(e.T)) }, give)
		}
	}
}

// propagateSelect is propagate for a Select: the cotangent goes to the second argument if the first is not 0, and
// otherwise to the third.
func (w *writer) propagateSelect(e *ir.Math, t ir.Expr) {
	then := w.Nested(func() { w.propagate(e.Args[1], t) })
	other := w.Nested(func() { w.propagate(e.Args[2], t) })
	nonzero := ir.Compare(token.NEQ, e.Args[0], ir.FloatConst(e.Args[0].Type(), 0))
	w.Emit(&ir.If{At: w.At, Cond: nonzero, Then: then, Else: other})
}

// propagateMinMax is propagate for min and max with value v: the first argument that equals v, or is NaN like v,
// receives the cotangent.
func (w *writer) propagateMinMax(e *ir.Math, v, t ir.Expr) {
	var rest ir.Block
	for i := len(e.Args) - 1; i >= 0; i-- {
		a := e.Args[i]
		then := w.Nested(func() { w.propagate(a, t) })
		if i == len(e.Args)-1 {
			rest = then
			continue
		}
		nan := ir.NewBinary(boolean, token.LAND, ir.Compare(token.NEQ, a, a), ir.Compare(token.NEQ, v, v))
		chosen := ir.NewBinary(boolean, token.LOR, ir.Compare(token.EQL, a, v), nan)
		rest = ir.Block{&ir.If{At: w.At, Cond: chosen, Then: then, Else: rest}}
	}
	w.Emit(rest...)
}

// propagateValue adds to the cotangents of the operands of e, a value of any type, where t is the place of the
// cotangents of its own floats.
func (w *writer) propagateValue(e ir.Expr, t *ir.Place) {
	if e == nil || !ownFloats(e.Type()) {
		return
	}
	switch x := e.(type) {
	case *ir.Load:
		if w.sp.active(x.P.Root) {
			w.addFloats(x.T, w.sp.barPlace(x.P), t)
		}
	case *ir.Convert:
		if ir.IsContinuous(x.T) {
			w.propagate(e, ir.LoadOf(t, x.T))
			return
		}
		w.propagateValue(x.X, t) // the types have the same fields
	case *ir.Literal:
		for i, k := range x.Keys {
			s := ir.FieldStep(k)
			if _, ok := x.T.Underlying().(*types.Struct); !ok {
				s = ir.IndexStep(ir.Count(int64(k)))
			}
			w.propagateValue(x.Elems[i], ir.Extend(t, s))
		}
	default:
		if ir.IsContinuous(e.Type()) {
			w.propagate(e, ir.LoadOf(t, e.Type()))
		}
	}
}

// maxUnrolled is the length up to which walks over arrays are unrolled.
const maxUnrolled = 4

// addFloats adds the floats at src to those at dst. Both hold a value of type t.
func (w *writer) addFloats(t types.Type, dst, src *ir.Place) {
	if ir.IsContinuous(t) {
		w.Emit(&ir.Add{At: w.At, P: dst, E: ir.LoadOf(src, t)})
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			if f := u.Field(i).Type(); ownFloats(f) {
				w.addFloats(f, ir.Extend(dst, ir.FieldStep(i)), ir.Extend(src, ir.FieldStep(i)))
			}
		}
	case *types.Array:
		if u.Len() <= maxUnrolled {
			for i := range u.Len() {
				k := ir.IndexStep(ir.Count(i))
				w.addFloats(u.Elem(), ir.Extend(dst, k), ir.Extend(src, k))
			}
			return
		}
		w.loop(ir.Count(u.Len()),
			func(i ir.Expr) {
				w.addFloats(u.Elem(), ir.Extend(dst, ir.IndexStep(i)), ir.Extend(src, ir.IndexStep(i)))
			})
	}
}

// loop emits a loop over an index from 0 to n-1 with the statements that f emits.
func (w *writer) loop(n ir.Expr, f func(i ir.Expr)) {
	v := w.sp.g.local("i", integer)
	body := w.Nested(func() { f(v.Load()) })
	w.Emit(upward(w.sp.g.names, w.At, v, ir.Count(0), n, body))
}

// clearFloats sets the floats of the value of type t at p to 0. References stay.
func (w *writer) clearFloats(t types.Type, p *ir.Place) {
	w.Emit(floats.each(w.sp.g.names, w.At, t, []*ir.Place{p}, func(t types.Type, at []*ir.Place) ir.Block {
		return ir.Block{&ir.Set{At: w.At, P: at[0], E: zeroOf(t)}}
	})...)
}

// clearElements sets the floats of all elements of slice s to 0. References stay.
func (w *writer) clearElements(s *ir.Var) {
	of := s.Type.Underlying().(*types.Slice).Elem()
	if floats.only(of) {
		w.Emit(&ir.Clear{At: w.At, S: s.Load()})
		return
	}
	w.loop(ir.LenOf(s.Load()), func(i ir.Expr) { w.clearFloats(of, ir.Extend(s.Place(), ir.IndexStep(i))) })
}
