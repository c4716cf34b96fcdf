package ir

import (
	"go/types"
	"sync"
	"weak"
)

// Carriers: interface types whose values may lead to numbers with derivatives. An interface value of such a type has a
// shadow, an interface value of the same type. The dynamic type of the shadow is that of the value if that is a
// pointer.
// If the value is of another type T, the shadow holds a *T, since a value in an interface cannot be changed; the method
// set of *T has the methods of T. So numbers of a value that is no pointer are reached through the pointers that
// [Unbox]
// and [Box] have as operand and result.
//
// Whether an interface is a carrier depends on the types that the program converts to it. It is found by package lower,
// and noted here for the type, so that questions about a type need no program.

// carriers has the names of the carriers.
var carriers sync.Map // weak.Pointer[types.TypeName] → struct{}

// SetCarrier notes that an interface type is a carrier.
func SetCarrier(t *types.Named) { carriers.Store(weak.Make(t.Obj()), struct{}{}) }

// IsCarrier reports whether t is an interface type that is a carrier.
func IsCarrier(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || !types.IsInterface(n) {
		return false
	}
	_, ok = carriers.Load(weak.Make(n.Obj()))
	return ok
}

// HoldsByPointer reports whether the shadow of an interface value with dynamic type t is of another type, a pointer to
// t, because t has numbers and is no pointer.
func HoldsByPointer(t types.Type) bool {
	return !types.IsInterface(t) && pointee(t) == nil && (ContainsFloats(t) || ReachesFloats(t))
}

// checkUnbox checks that the interface value may hold a value of the type that e points to.
func (c *checker) checkUnbox(e *Unbox) {
	c.value(e.X)
	if pointee(e.T) == nil || !HoldsByPointer(pointee(e.T)) {
		c.fail("a %s is no pointer to a value with numbers", typeText(e.T))
	}
	c.dynamicType(e.X, pointee(e.T))
}

// checkBox checks that the value that the operand of e points to has the type of e.
func (c *checker) checkBox(e *Box) {
	c.value(e.X)
	t := pointee(e.X.Type())
	i, ok := e.T.Underlying().(*types.Interface)
	if t == nil || !ok || !HoldsByPointer(t) || !types.Implements(t, i) {
		c.fail("a %s holds no value that a %s points to", typeText(e.T), typeText(e.X.Type()))
	}
}

// ConvertedShadow returns the shadow of a conversion or assertion to type t, or of an [Unbox] or a [Box] of that type,
// given the shadow of its operand. That of a nil interface value is nil.
func ConvertedShadow(x Expr, t types.Type) Expr {
	if IsConst(x) && isInterface(x.Type()) {
		return Zero(t)
	}
	return &Convert{Typed: Typed{T: t}, X: x}
}

// ShadowCall is the format of an [Opaque] expression, zeros in the shape of the operand with all memory that it leads
// to.
const ShadowCall = "rt.ShadowOf(%v)"

// ZeroShadow returns a shadow of e, a value with references, that is all zeros.
func ZeroShadow(e Expr) Expr {
	return &Opaque{Typed: Typed{T: e.Type()}, Format: ShadowCall, Args: []Expr{e}}
}

// IsZeroShadow reports whether e is an expression that [ZeroShadow] returned.
func IsZeroShadow(e Expr) bool {
	o, ok := e.(*Opaque)
	return ok && o.Format == ShadowCall
}

// zeroShadow returns zeros in the shape of v, a value of type t, with new memory for all that it refers to. done has
// the
// variables that have been visited, each with its zeros. Slices do not overlap in the result.
func (v Value) zeroShadow(t types.Type, done map[*Value]*Value) Value {
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		p := v.pointer()
		if p == nil {
			return Value{}
		}
		if done[p] == nil {
			done[p] = new(Value)
			*done[p] = p.zeroShadow(u.Elem(), done)
		}
		return pointerTo(done[p])
	case *types.Slice:
		if v.ref == nil {
			return Value{}
		}
		list := make(slice, len(v.slice()), cap(v.slice()))
		for i, x := range v.slice() {
			list[i] = x.zeroShadow(u.Elem(), done)
		}
		return sliceValue(list)
	case *types.Array:
		list := make(parts, len(v.parts()))
		for i, x := range v.parts() {
			list[i] = x.zeroShadow(u.Elem(), done)
		}
		return Value{ref: list}
	case *types.Struct:
		list := make(parts, len(v.parts()))
		for i, x := range v.parts() {
			list[i] = x.zeroShadow(u.Field(i).Type(), done)
		}
		return Value{ref: list}
	case *types.Interface:
		b, ok := v.ref.(boxed)
		if !ok || !IsCarrier(t) {
			return Value{}
		}
		z := b.v.zeroShadow(b.t, done)
		if HoldsByPointer(b.t) {
			return box(pointerTo(&z), types.NewPointer(b.t), t)
		}
		return box(z, b.t, t)
	}
	return Value{}
}
