package traced

import (
	"go/types"
	"strings"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// lift returns the plain value e over Reals: its numbers are constants of the trace. References cannot be lifted, since
// their memory holds plain numbers.
func (b *builder) lift(e ir.Expr) ir.Expr {
	t := e.Type()
	b.realType(t, "a number")
	if ir.IsContinuous(t) {
		return &ir.Convert{Typed: ir.Typed{T: numberType(t)}, X: b.rewrite(e)}
	}
	if ir.HasRefs(t) {
		b.refuse("a value of type "+typeText(t)+globalName(e)+" in a variable that also leads to traced numbers",
			"its memory holds plain numbers", "copy it element by element into new memory first")
	}
	// Structs and arrays are lifted part by part.
	v := b.temp("lifted", b.realType(t, "a number"), nil)
	b.liftInto(v.Place(), b.addressable(e), t)
	return v.Load()
}

// globalName returns " of package variable NAME" if e reads a global variable, for messages, and "" otherwise.
func globalName(e ir.Expr) (name string) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		if p := ir.PlaceOf(e); p != nil && p.Root.Kind == ir.Global {
			name = " of package variable " + p.Root.Name
		}
		return true
	})
	return name
}

// addressable returns a place with the value of the plain expression e, so that its parts can be read.
func (b *builder) addressable(e ir.Expr) *ir.Place {
	e = b.rewrite(e)
	if l, ok := e.(*ir.Load); ok {
		return l.P
	}
	return b.temp("plain", e.Type(), e).Place()
}

// liftInto emits the assignment of the plain value of type t at src, lifted, to dst.
func (b *builder) liftInto(dst, src *ir.Place, t types.Type) {
	load := &ir.Load{Typed: ir.Typed{T: t}, P: src}
	if !activity.HasPlainFloats(t) {
		b.Emit(&ir.Set{At: b.At, P: dst, E: load})
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			if u.Field(i).Name() != "_" {
				b.liftInto(extend(dst, ir.FieldStep(i)), extend(src, ir.FieldStep(i)), u.Field(i).Type())
			}
		}
	case *types.Array:
		b.liftElements(dst, src, ir.Count(u.Len()), u.Elem())
	default:
		b.Emit(&ir.Set{At: b.At, P: dst, E: &ir.Convert{Typed: ir.Typed{T: numberType(t)}, X: load}})
	}
}

// liftElements emits a loop that lifts n elements of type t.
func (b *builder) liftElements(dst, src *ir.Place, n ir.Expr, t types.Type) {
	i := &ir.Var{Name: b.names.Name("i"), Type: types.Typ[types.Int], Pos: b.At.Pos}
	loop := &ir.Loop{
		At: b.At, L: &ir.Label{Name: b.names.Name("all")}, Next: &ir.Label{Name: b.names.Name("next")},
		V: i, Lo: ir.Count(0), Hi: n, Step: 1,
	}
	loop.Body = b.Nested(func() {
		b.liftInto(extend(dst, ir.IndexStep(i.Load())), extend(src, ir.IndexStep(i.Load())), t)
	})
	b.Emit(loop)
}

// liftedSlice returns a slice over Reals with the elements of e, to be copied from. The elements of a plain slice are
// lifted into new memory.
func (b *builder) liftedSlice(e ir.Expr) ir.Expr {
	s, ok := e.Type().Underlying().(*types.Slice)
	if !ok || !activity.HasPlainFloats(s) || b.exprActive(e) {
		return b.rewrite(e)
	}
	if ir.HasRefs(s.Elem()) {
		b.refuse("a copy of a value of type "+typeText(e.Type())+globalName(e)+" to memory with traced numbers",
			"memory reachable from it holds plain numbers", "copy it element by element into new memory first")
	}
	src := b.addressable(e)
	load := &ir.Load{Typed: ir.Typed{T: e.Type()}, P: src}
	n := func() ir.Expr { return &ir.Len{Typed: ir.Typed{T: types.Typ[types.Int]}, X: load} }
	t := types.NewSlice(b.realType(s.Elem(), "a number"))
	v := b.temp("lifted", t, &ir.Make{Typed: ir.Typed{T: t}, N: n()})
	b.liftElements(v.Place(), src, n(), s.Elem())
	return v.Load()
}

// hasRealMath reports whether the elementary function name exists over Reals. Functions of bits and of float32 do not.
func hasRealMath(name string) bool {
	switch name {
	case "min", "max", ir.RealName, ir.ImagName, ir.ComplexName:
		return true
	}
	if strings.HasPrefix(name, "cmplx.") {
		return true
	}
	name, ok := strings.CutPrefix(name, "math.")
	switch name {
	case "Nextafter32", "Float32bits", "Float32frombits", "Float64bits", "Float64frombits":
		return false
	}
	return ok
}

// stores holds the functions that store scratch in package-level variables, which forms over Reals leave as they are.
var stores = map[string]bool{
	"github.com/nabla-ad/nabla/gen/rt.SetVariable": true,
	"github.com/nabla-ad/nabla/gen/rt.SetSlice":    true,
}
