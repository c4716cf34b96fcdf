package traced

import (
	"go/constant"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// exprActive reports whether the value of e carries derivatives or refers to memory that does. New memory does not by
// itself; its kind depends on where it is assigned.
func (b *builder) exprActive(e ir.Expr) bool {
	if e == nil || !activity.HasPlainFloats(e.Type()) {
		return false
	}
	if p := ir.PlaceOf(e); p != nil {
		return b.varActive(p.Root)
	}
	switch e.(type) {
	case *ir.Unary, *ir.Binary, *ir.Math, *ir.Convert, *ir.Slice, *ir.Literal:
		for _, x := range ir.Operands(e) {
			if b.exprActive(x) {
				return true
			}
		}
	}
	return false
}

// rewrite returns e over Reals if it is active, and plain otherwise.
func (b *builder) rewrite(e ir.Expr) ir.Expr { return b.rewriteAs(e, b.exprActive(e)) }

// rewriteAs returns e over Reals if active is set, lifting it if needed, and plain otherwise. It refuses an active e
// where a plain value is wanted. Values without floats are plain in any case.
func (b *builder) rewriteAs(e ir.Expr, active bool) ir.Expr {
	switch {
	case e == nil:
		return nil
	case !activity.HasPlainFloats(e.Type()):
		return b.nonFloat(e)
	case active:
		return b.realExpr(e)
	case b.exprActive(e):
		b.refuse("a number in a place of type "+typeText(e.Type()), "it would lose its derivative there", "")
	}
	return b.mapOperands(e, b.rewrite)
}

// realExpr returns e, a value with floats, over Reals.
func (b *builder) realExpr(e ir.Expr) ir.Expr {
	typed := func() ir.Typed { return ir.Typed{T: b.realType(e.Type(), "a number")} }
	switch e := e.(type) {
	case *ir.Const:
		return &ir.Const{Typed: typed(), Val: e.Val, Text: e.Text}
	// New memory takes the kind of the place it is assigned to.
	case *ir.Make:
		return &ir.Make{Typed: typed(), N: b.rewrite(e.N), Cap: b.rewrite(e.Cap)}
	case *ir.New:
		return &ir.New{Typed: typed()}
	case *ir.Literal:
		l := &ir.Literal{Typed: typed(), Keys: e.Keys, Len: e.Len}
		for _, x := range e.Elems {
			l.Elems = append(l.Elems, b.rewriteAs(x, true))
		}
		return l
	case *ir.Convert:
		// A conversion of a zero value has no plain operand to lift.
		if c, ok := e.X.(*ir.Const); ok && c.Val == nil {
			return &ir.Convert{Typed: typed(), X: b.rewriteAs(c, true)}
		}
	}
	if !b.exprActive(e) {
		return b.lift(e)
	}
	switch e := e.(type) {
	case *ir.Math:
		if !hasRealMath(e.Name) {
			b.refuse("function "+e.Name, "there is none over Reals", "")
		}
	case *ir.Convert:
		b.realType(e.X.Type(), "a number")
	}
	t := typed()
	operand := func(x ir.Expr) ir.Expr { return b.rewriteAs(x, activity.HasPlainFloats(x.Type())) }
	return withType(b.mapOperands(e, operand), t)
}

// withType sets the type of e, which must not be shared, and returns it.
func withType(e ir.Expr, t ir.Typed) ir.Expr {
	switch e := e.(type) {
	case *ir.Load:
		e.Typed = t
	case *ir.Unary:
		e.Typed = t
	case *ir.Binary:
		e.Typed = t
	case *ir.Math:
		e.Typed = t
	case *ir.Convert:
		e.Typed = t
	case *ir.Slice:
		e.Typed = t
	case *ir.SliceAt:
		e.Typed = t
	case *ir.Addr:
		e.Typed = t
	}
	return e
}

// mapOperands returns a copy of e with f applied to its operands and its place rewritten.
func (b *builder) mapOperands(e ir.Expr, f func(ir.Expr) ir.Expr) ir.Expr {
	list := func(in []ir.Expr) []ir.Expr {
		out := make([]ir.Expr, len(in))
		for i, x := range in {
			out[i] = f(x)
		}
		return out
	}
	switch e := e.(type) {
	case *ir.Load:
		return &ir.Load{Typed: e.Typed, P: b.place(e.P)}
	case *ir.Unary:
		return &ir.Unary{Typed: e.Typed, Op: e.Op, X: f(e.X)}
	case *ir.Binary:
		return &ir.Binary{Typed: e.Typed, Op: e.Op, X: f(e.X), Y: f(e.Y)}
	case *ir.Math:
		return &ir.Math{Typed: e.Typed, Name: e.Name, Args: list(e.Args)}
	case *ir.Convert:
		return &ir.Convert{Typed: e.Typed, X: f(e.X)}
	case *ir.TypeTest:
		return &ir.TypeTest{Typed: e.Typed, X: f(e.X), Of: e.Of}
	case *ir.Unbox:
		return &ir.Unbox{Typed: e.Typed, X: f(e.X)}
	case *ir.Box:
		return &ir.Box{Typed: e.Typed, X: f(e.X)}
	case *ir.Len:
		return &ir.Len{Typed: e.Typed, X: f(e.X), Cap: e.Cap}
	case *ir.Slice:
		return &ir.Slice{Typed: e.Typed, X: f(e.X), Lo: b.rewrite(e.Lo), Hi: b.rewrite(e.Hi), Max: b.rewrite(e.Max)}
	case *ir.SliceAt:
		return &ir.SliceAt{Typed: e.Typed, P: b.place(e.P), Lo: b.rewrite(e.Lo), Hi: b.rewrite(e.Hi),
			Max: b.rewrite(e.Max)}
	case *ir.Addr:
		return &ir.Addr{Typed: e.Typed, P: b.place(e.P)}
	case *ir.Make:
		return &ir.Make{Typed: e.Typed, N: b.rewrite(e.N), Cap: b.rewrite(e.Cap)}
	case *ir.Literal:
		return &ir.Literal{Typed: e.Typed, Keys: e.Keys, Elems: list(e.Elems), Len: e.Len}
	case *ir.Opaque:
		return &ir.Opaque{Typed: e.Typed, Format: e.Format, Args: list(e.Args)}
	}
	return e
}

// place returns the place that replaces p.
func (b *builder) place(p *ir.Place) *ir.Place {
	q := &ir.Place{Root: b.realVar(p.Root)}
	for _, s := range p.Path {
		q.Path = append(q.Path, ir.Step{Field: s.Field, Index: b.rewrite(s.Index)})
	}
	return q
}

// nonFloat returns an expression whose value has no floats: a condition, a number of another type, memory without
// floats, or a message. Reals in it are compared, which makes a guard, or leave the trace.
func (b *builder) nonFloat(e ir.Expr) ir.Expr {
	switch e := e.(type) {
	case *ir.Binary:
		if !b.exprActive(e.X) && !b.exprActive(e.Y) {
			break
		}
		// Interfaces hold plain values.
		if types.IsInterface(e.X.Type()) || types.IsInterface(e.Y.Type()) {
			return b.mapOperands(e, b.plainExpr)
		}
		if e.Op == token.EQL || e.Op == token.NEQ {
			if b.exprActive(e.X) != b.exprActive(e.Y) && pointers(e) {
				return b.bothNil(e)
			}
			return b.equality(e)
		}
		return b.mapOperands(e, b.realExpr)
	case *ir.Math:
		if hasRealMath(e.Name) {
			for _, a := range e.Args {
				if b.exprActive(a) {
					b.realType(a.Type(), "a number")
					return b.mapOperands(e, func(x ir.Expr) ir.Expr { return b.rewriteAs(x, true) })
				}
			}
		}
		return b.mapOperands(e, b.plainExpr) // the bits of a number
	case *ir.Convert:
		if b.exprActive(e.X) && ir.IsFloat(e.X.Type()) && !types.IsInterface(e.T) {
			return &ir.Convert{Typed: e.Typed, X: b.realExpr(e.X)} // to an integer: a guard
		}
		return b.mapOperands(e, b.plainExpr)
	case *ir.Opaque:
		return b.mapOperands(e, b.plainExpr)
	}
	return b.mapOperands(e, b.rewrite)
}

// pointers reports whether e compares two pointers, neither of which is the constant nil.
func pointers(e *ir.Binary) bool {
	for _, x := range []ir.Expr{e.X, e.Y} {
		if _, ok := x.Type().Underlying().(*types.Pointer); !ok {
			return false
		}
		if _, constant := x.(*ir.Const); constant {
			return false
		}
	}
	return true
}

// bothNil returns the comparison of a pointer to Reals with one to plain numbers: they are equal only if both are nil.
func (b *builder) bothNil(e *ir.Binary) ir.Expr {
	isNil := func(x ir.Expr) ir.Expr {
		return b.nonFloat(&ir.Binary{Typed: e.Typed, Op: token.EQL, X: x, Y: &ir.Const{Typed: ir.Typed{T: x.Type()}}})
	}
	out := &ir.Binary{Typed: e.Typed, Op: token.LAND, X: isNil(e.X), Y: isNil(e.Y)}
	if e.Op == token.NEQ {
		return &ir.Unary{Typed: e.Typed, Op: token.NOT, X: out}
	}
	return out
}

// plainExpr returns e without Reals. An active number leaves the trace.
func (b *builder) plainExpr(e ir.Expr) ir.Expr {
	// Plain numbers become constants.
	if !b.exprActive(e) {
		return b.rewrite(e)
	}
	return b.escape(b.realExpr(e), e.Type(), false)
}

// escape returns the Real or complex number e as a value of the type t, outside of the trace. Other types are refused.
// Result means that e is a result of a call.
func (b *builder) escape(e ir.Expr, t types.Type, result bool) ir.Expr {
	if !ir.IsContinuous(t) {
		what := "as data"
		if result {
			what = "in an interface"
		}
		b.refuse("passing on a value of type "+typeText(t)+" "+what, "its numbers would lose their derivatives",
			"pass the numbers that are needed")
	}
	return &ir.Convert{Typed: ir.Typed{T: t}, X: e}
}

// equality returns a comparison of values with Reals. Numbers are compared as numbers and references by address;
// structs and arrays are compared part by part, as Go does.
func (b *builder) equality(e *ir.Binary) ir.Expr {
	t := e.X.Type()
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
	default:
		return b.mapOperands(e, b.realExpr)
	}
	x, y := ir.PlaceOf(e.X), ir.PlaceOf(e.Y)
	px, okx := e.X.(*ir.Load)
	py, oky := e.Y.(*ir.Load)
	if c, ok := e.Y.(*ir.Const); ok && c.Val == nil && okx {
		y, oky = nil, true
	} else if c, ok := e.X.(*ir.Const); ok && c.Val == nil && oky {
		x, okx = nil, true
	} else if okx && oky {
		x, y = px.P, py.P
	}
	// Each comparison is a guard of the trace, so their number is limited.
	const most = 64
	if !okx || !oky || comparisonCount(t) > most {
		b.refuse("comparison of values of type "+typeText(t), "Reals are compared one by one",
			"compare the parts that matter")
	}
	out := b.equal(x, y, t)
	if out == nil {
		out = &ir.Const{Typed: e.Typed, Val: constant.MakeBool(true)}
	}
	if e.Op == token.NEQ {
		return &ir.Unary{Typed: e.Typed, Op: token.NOT, X: out}
	}
	return out
}

// equal returns the condition that the values of type t at x and y are equal, or nil if they always are. A nil place is
// a zero value.
func (b *builder) equal(x, y *ir.Place, t types.Type) (out ir.Expr) {
	boolean := ir.Typed{T: types.Typ[types.Bool]}
	and := func(e ir.Expr) {
		if out == nil {
			out = e
		} else if e != nil {
			out = &ir.Binary{Typed: boolean, Op: token.LAND, X: out, Y: e}
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			if f := u.Field(i); f.Name() != "_" {
				and(b.equal(extend(x, ir.FieldStep(i)), extend(y, ir.FieldStep(i)), f.Type()))
			}
		}
		return out
	case *types.Array:
		for i := range u.Len() {
			at := ir.IndexStep(ir.Count(i))
			and(b.equal(extend(x, at), extend(y, at), u.Elem()))
		}
		return out
	}
	operand := func(p *ir.Place) ir.Expr {
		if p == nil {
			return &ir.Const{Typed: ir.Typed{T: t}}
		}
		return &ir.Load{Typed: ir.Typed{T: t}, P: p}
	}
	return b.nonFloat(&ir.Binary{Typed: boolean, Op: token.EQL, X: operand(x), Y: operand(y)})
}

// extend returns p followed by step s, nil for a nil p.
func extend(p *ir.Place, s ir.Step) *ir.Place {
	if p == nil {
		return nil
	}
	return &ir.Place{Root: p.Root, Path: append(append([]ir.Step(nil), p.Path...), s)}
}

// comparisonCount returns the number of comparisons that equal needs for values of type t, at most 1000.
func comparisonCount(t types.Type) int {
	n := 0
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			n += comparisonCount(f.Type())
		}
	case *types.Array:
		if u.Len() > 1000 {
			return 1000
		}
		n = int(u.Len()) * comparisonCount(u.Elem())
	default:
		n = 1
	}
	return min(n, 1000)
}
