package ir

import "go/types"

// Dynamic types of interface values: the test whether a value has a type, and the extraction of the value, an
// assertion. A program tests first, so that an assertion does not panic unless the source does. Both compare types
// exactly. Values taken out of an interface have no derivatives: package activity refuses numbers that would need them.

// IsAssertion reports whether e is x.(T) for an interface value x, and not a conversion, which every value of the type
// of x allows.
func IsAssertion(e Expr) bool {
	c, ok := e.(*Convert)
	if !ok || !isInterface(c.X.Type()) {
		return false
	}
	i, ok := c.T.Underlying().(*types.Interface)
	return !ok || !types.Implements(c.X.Type(), i)
}

// UnknownTypeCall is the format of an [Opaque] expression, the error of an interface value whose dynamic type is none
// of those that a function was generated for. Its operands are the value and the name of its interface.
const UnknownTypeCall = "rt.UnknownType(%v, %v)"

// IsFunctionCall is the format of an [Opaque] expression, whether a function value is a declared function, its second
// operand: a Global whose Object is the function.
const IsFunctionCall = "rt.IsFunction(%v, %v)"

// UnknownFunctionCall is the format of an [Opaque] expression, the error of a function value that is none of those that
// a function was generated for. Its operands are the value, the place that holds it, and the names of the functions.
const UnknownFunctionCall = "rt.UnknownFunction(%v, %v, %v)"

// checkTypeTest checks that a type test is of an interface value, and that its type has the methods of the interface.
func (c *checker) checkTypeTest(e *TypeTest) {
	c.value(e.X)
	c.typ(e.Of)
	if !IsBool(e.T) {
		c.fail("a type test is a bool")
	}
	c.dynamicType(e.X, e.Of)
}

// dynamicType checks that the interface value x may hold a value of type t.
func (c *checker) dynamicType(x Expr, t types.Type) {
	i, ok := x.Type().Underlying().(*types.Interface)
	if !ok || !isInterface(t) && !types.Implements(t, i) {
		c.fail("a %s does not hold a %s", typeText(x.Type()), typeText(t))
	}
}

// holds reports whether the interface value v has dynamic type t, or one that implements t.
func (v Value) holds(t types.Type) bool {
	b, ok := v.ref.(boxed)
	if !ok {
		return false
	}
	if i, ok := t.Underlying().(*types.Interface); ok {
		return types.Implements(b.t, i)
	}
	return types.Identical(b.t, t)
}

// assert returns the interface value v as a value of type t, which it must hold.
func (fr *frame) assert(v Value, t types.Type) Value {
	if !v.holds(t) {
		fr.panicf("interface conversion: the dynamic type is not %s", typeText(t))
	}
	if isInterface(t) {
		return v
	}
	return v.ref.(boxed).v.clone()
}
