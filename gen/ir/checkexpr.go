package ir

import (
	"go/token"
	"go/types"
)

// The part of the checker for expressions and places. Each method checks an expression and its
// operands; the type rules are Go's, restricted to the types of this form.

// initializer checks the whole right side of a let or an assignment, the only position where an
// expression may allocate.
func (c *checker) initializer(e Expr) {
	switch e := e.(type) {
	case *Make:
		c.typ(e.T)
		if ElemOf(e.T) == nil {
			c.fail("make is of a slice")
		}
		c.index(e.N)
		if e.Cap != nil {
			c.index(e.Cap)
		}
	case *New:
		c.typ(e.T)
		if pointee(e.T) == nil {
			c.fail("new gives a pointer")
		}
	case *Literal:
		c.literal(e)
	default:
		c.value(e)
	}
}

// literal checks a composite literal: keys in range and distinct, elements assignable, and the
// length of a slice one more than its last key.
func (c *checker) literal(e *Literal) {
	c.typ(e.T)
	if len(e.Keys) != len(e.Elems) {
		c.fail("a literal with %d keys of %d elements", len(e.Keys), len(e.Elems))
	}
	limit, isSlice := 1, false
	switch t := e.T.Underlying().(type) {
	case *types.Struct:
		limit = t.NumFields()
	case *types.Array:
		limit = int(t.Len())
	case *types.Slice:
		limit, isSlice = e.Len, true
	default:
		c.fail("a literal is of a struct, an array or a slice")
	}
	seen := make(map[int]bool)
	last := 0
	for i, k := range e.Keys {
		if k < 0 || k >= limit || seen[k] {
			c.fail("key %d of a literal is out of range or twice", k)
		}
		seen[k] = true
		last = max(last, k+1)
		step := IndexStep(e.Elems[i])
		if isStruct(e.T) {
			step = FieldStep(k)
		}
		if l, ok := e.Elems[i].(*Literal); ok {
			c.literal(l)
		} else {
			c.value(e.Elems[i])
		}
		c.assignable(e.Elems[i], step.typeFrom(e.T))
	}
	if isSlice && e.Len != last {
		c.fail("a literal of length %d whose last key is %d", e.Len, last-1)
	}
}

// place checks a place and returns its type.
func (c *checker) place(p *Place) types.Type {
	if p == nil {
		c.fail("no place")
	}
	c.inScope(p.Root)
	t := p.Root.Type
	for _, s := range p.Path {
		if s.Index != nil {
			c.index(s.Index)
		}
		next := s.typeFrom(t)
		if next == nil || s.Field >= 0 && s.Index != nil {
			switch {
			case s.Field >= 0:
				c.fail("a %s has no field %d", typeText(t), s.Field)
			case s.Index != nil:
				c.fail("a %s has no elements", typeText(t))
			}
			c.fail("a %s points to nothing", typeText(t))
		}
		t = next
	}
	return t
}

// index checks that e is an integer.
func (c *checker) index(e Expr) {
	c.value(e)
	if !IsInteger(e.Type()) {
		c.fail("%s is no integer", c.show(e))
	}
}

// boolean checks that e is a condition.
func (c *checker) boolean(e Expr) {
	c.value(e)
	if !IsBool(e.Type()) {
		c.fail("%s is no condition", c.show(e))
	}
}

// hasType checks that the type of e is identical to t.
func (c *checker) hasType(e Expr, t types.Type) {
	if !same(e.Type(), t) {
		c.fail("%s has type %s and not %s", c.show(e), typeText(e.Type()), typeText(t))
	}
}

// value checks an expression that does not allocate.
func (c *checker) value(e Expr) {
	if e == nil {
		c.fail("no expression")
	}
	c.typ(e.Type())
	switch e := e.(type) {
	case *Const:
		if msg := constantFits(e.Val, e.T); msg != "" {
			c.fail("%s", msg)
		}
	case *Load:
		c.hasType(e, c.place(e.P))
	case *Unary:
		c.unary(e)
	case *Binary:
		c.binary(e)
	case *Math:
		c.math(e)
	case *TypeTest:
		c.checkTypeTest(e)
	case *Unbox:
		c.checkUnbox(e)
	case *Box:
		c.checkBox(e)
	case *Convert:
		c.value(e.X)
		if IsAssertion(e) {
			c.dynamicType(e.X, e.T)
			break
		}
		if !types.ConvertibleTo(e.X.Type(), e.T) && !convertsVector(e.X.Type(), e.T) {
			c.fail("a %s is not converted to a %s", typeText(e.X.Type()), typeText(e.T))
		}
	case *Len:
		c.value(e.X)
		c.hasType(e, types.Typ[types.Int])
		t := e.X.Type()
		if p := pointee(t); p != nil && isArray(p) {
			t = p
		}
		if ElemOf(t) == nil && !isArray(t) && (e.Cap || !IsString(t)) {
			c.fail("%s has no length or capacity", c.show(e.X))
		}
	case *Slice:
		c.value(e.X)
		if ElemOf(e.X.Type()) == nil && !IsString(e.X.Type()) {
			c.fail("%s is neither a slice nor a string", c.show(e.X))
		}
		c.hasType(e, e.X.Type())
		c.bounds(e.Lo, e.Hi, e.Max)
		if e.Max != nil && IsString(e.T) {
			c.fail("a string has no capacity")
		}
	case *SliceAt:
		t := c.place(e.P)
		if !isArray(t) {
			c.fail("%s is no array", newPrinter().place(e.P))
		}
		if !same(ElemOf(e.T), IndexStep(e).typeFrom(t)) {
			c.fail("a slice of %s is a %s", typeText(t), typeText(e.T))
		}
		c.addressable(e.P)
		c.bounds(e.Lo, e.Hi, e.Max)
	case *Addr:
		if t := c.place(e.P); !same(pointee(e.T), t) {
			c.fail("the address of a %s is a %s", typeText(t), typeText(e.T))
		}
		c.addressable(e.P)
	case *Opaque:
		for _, x := range e.Args {
			c.value(x)
		}
		if !IsZeroShadow(e) && (isNumber(e.T) || ElemOf(e.T) != nil || isArray(e.T) || isStruct(e.T)) {
			c.fail("an opaque expression is no number and holds none")
		}
	case *Make, *New, *Literal:
		c.fail("%s allocates memory and may only be the right-hand side of a let or an assignment", c.show(e))
	default:
		c.fail("%T is no expression", e)
	}
}

// addressable checks that the address of p may be taken: not that of a loop index, which is a new
// variable in each iteration, nor of an element of a string.
func (c *checker) addressable(p *Place) {
	if c.indices[p.Root] && !p.Indirect() {
		c.fail("the address of %s, the index of a loop", p.Root.Name)
	}
	if c.inString(p) {
		c.fail("the address of an element of a string")
	}
}

// bounds checks the bounds of a slice expression; those left out are nil.
func (c *checker) bounds(lo, hi, max Expr) {
	for _, b := range present(lo, hi, max) {
		c.index(b)
	}
	if max != nil && hi == nil {
		c.fail("a slice with a capacity has an upper bound")
	}
}

// unary checks that the operator is defined for the type of its operand, as in Go.
func (c *checker) unary(e *Unary) {
	c.value(e.X)
	c.hasType(e, e.X.Type())
	ok := false
	switch e.Op {
	case token.ADD, token.SUB:
		ok = isNumber(e.T) || isVector(e.T)
	case token.NOT:
		ok = IsBool(e.T)
	case token.XOR:
		ok = IsInteger(e.T)
	}
	if !ok {
		c.fail("no operator %s of a %s", e.Op, typeText(e.T))
	}
}

// binary checks that the operator is defined for the types of its operands, as in Go.
func (c *checker) binary(e *Binary) {
	c.value(e.X)
	c.value(e.Y)
	x, y := e.X.Type(), e.Y.Type()
	ok := false
	switch {
	case isComparison(e.Op):
		if !IsBool(e.T) {
			c.fail("a comparison is a bool")
		}
		if !types.AssignableTo(x, y) && !types.AssignableTo(y, x) {
			c.fail("a %s is compared with a %s", typeText(x), typeText(y))
		}
		if e.Op == token.EQL || e.Op == token.NEQ {
			ok = types.Comparable(x) && types.Comparable(y) || isNil(e.X) || isNil(e.Y)
		} else {
			ok = HasInfo(x, types.IsOrdered)
		}
	case isLogic(e.Op):
		c.hasType(e.X, y)
		ok = IsBool(x) && IsBool(e.T)
	case e.Op == token.SHL || e.Op == token.SHR:
		c.hasType(e, x)
		ok = IsInteger(x) && IsInteger(y)
	default:
		c.hasType(e, x)
		c.hasType(e.Y, x)
		switch e.Op {
		case token.ADD:
			ok = isNumber(x) || IsString(x) || isVector(x)
		case token.SUB, token.MUL, token.QUO:
			ok = isNumber(x) || isVector(x)
		case token.REM, token.AND, token.OR, token.XOR, token.AND_NOT:
			ok = IsInteger(x)
		}
	}
	if !ok {
		c.fail("no operator %s between a %s and a %s", e.Op, typeText(x), typeText(y))
	}
}

// isNil reports whether e is the constant nil.
func isNil(e Expr) bool {
	c, ok := e.(*Const)
	return ok && c.Val == nil && nilable(c.T)
}

// math checks a call of an elementary function. One over float64s may take Reals in their place, one
// over complex numbers those over Reals, and some take vectors; then all its numbers have that type.
func (c *checker) math(e *Math) {
	params, result, ok := Elementary(e.Name)
	if !ok {
		c.fail("no elementary function %s", e.Name)
	}
	for _, x := range e.Args {
		c.value(x)
	}
	if e.Name == "min" || e.Name == "max" {
		if len(e.Args) == 0 || !HasInfo(e.T, types.IsOrdered) {
			c.fail("%s is of ordered values", e.Name)
		}
		for _, x := range e.Args {
			c.hasType(x, e.T)
		}
		return
	}
	if e.Name == GraftName {
		if len(e.Args) != 2 || !IsContinuous(e.T) {
			c.fail("%s is of two numbers", e.Name)
		}
		for _, x := range e.Args {
			c.hasType(x, e.T)
		}
		return
	}
	if e.Name == RealName || e.Name == ImagName || e.Name == ComplexName {
		c.parts(e)
		return
	}
	if len(e.Args) != len(params) {
		c.fail("%s takes %d arguments", e.Name, len(params))
	}
	float, number128 := types.Type(types.Typ[types.Float64]), types.Type(types.Typ[types.Complex128])
	for _, x := range e.Args {
		if t := x.Type(); same(t, Real) || isVector(t) && VectorMath(e.Name) {
			float = t
		} else if same(t, Complex) {
			number128 = t
		}
	}
	number := func(t types.Type) types.Type {
		if same(t, types.Typ[types.Float64]) {
			return float
		}
		if same(t, types.Typ[types.Complex128]) {
			return number128
		}
		return t
	}
	for i, x := range e.Args {
		c.hasType(x, number(params[i]))
	}
	c.hasType(e, number(result))
}

// parts checks a call of real, imag or complex: the type of the parts is the float type without a name that belongs to
// the complex one, or for an argument of complex a type defined as it.
func (c *checker) parts(e *Math) {
	n := 1
	if e.Name == ComplexName {
		n = 2
	}
	if len(e.Args) != n {
		c.fail("%s takes %d arguments", e.Name, n)
	}
	x := e.Args[0].Type()
	switch {
	case n == 1 && !IsComplex(x):
		c.fail("%s of a %s", e.Name, typeText(x))
	case n == 1:
		c.hasType(e, PartType(x))
	case !IsFloat(x):
		c.fail("%s of a %s", e.Name, typeText(x))
	default:
		c.hasType(e.Args[1], x)
		c.hasType(e, complexType(x))
	}
}

// batch checks s.
func (c *checker) batch(s *Batch) {
	params, result, ok := Elementary(s.Name)
	number := types.Typ[types.Float64]
	if !ok || !same(result, number) || len(params) != len(s.Args) {
		c.fail("no elementary function %s of %d numbers", s.Name, len(s.Args))
	}
	for _, t := range params {
		if !same(t, number) {
			c.fail("%s is not of float64", s.Name)
		}
	}
	for _, e := range append([]Expr{s.Dst}, s.Args...) {
		c.value(e)
		if _, slice := e.Type().Underlying().(*types.Slice); !slice || !same(ElemOf(e.Type()), number) {
			c.fail("a batch is of slices of float64")
		}
	}
}
