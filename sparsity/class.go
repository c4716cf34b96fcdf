package sparsity

import (
	"math"
	"sync"

	"github.com/nabla-ad/nabla/rules"
)

// This file derives, from the table of partial derivatives in package rules, which first and second derivatives of each
// elementary operation can differ from zero. The detectors need nothing else about an operation. The class of an
// operation holds for all operands; at narrows it down at given operands, for Local. Propagating dependencies in
// place of numbers is described by Griewank and Walther, "Evaluating Derivatives", 2nd ed. (2008), chapter 7.

// A class is a bit set: which first and second derivatives of an operation with one or two operands a and b can differ
// from zero.
type class uint8

// The bits of a class.
const (
	first1   class = 1 << iota // ∂/∂a
	first2                     // ∂/∂b
	second11                   // ∂²/∂a²
	second22                   // ∂²/∂b²
	second12                   // ∂²/∂a∂b
)

// Unions of bits.
const (
	firsts  = first1 | first2
	seconds = second11 | second22 | second12
	// linear is the class of an operation that is linear in both operands, and curved that of a nonlinear operation on
	// one operand.
	linear = firsts
	curved = first1 | second11
)

// classes returns a table: operation → its class. Operations with three operands have no meaningful entry;
// graph.operation expands them.
var classes = sync.OnceValue(func() *[rules.NumOps]class {
	var all [rules.NumOps]class
	for op := rules.Invalid + 1; op < rules.NumOps; op++ {
		for i, bit := range [...]class{first1, first2} {
			if i < op.Arity() && first(op, i) {
				all[op] |= bit
			}
		}
		for _, s := range []struct {
			i, j int
			bit  class
		}{{0, 0, second11}, {1, 1, second22}, {0, 1, second12}} {
			if max(s.i, s.j) < op.Arity() && (second(op, s.i, s.j) || second(op, s.j, s.i)) {
				all[op] |= s.bit
			}
		}
	}
	return &all
})

// first reports whether op has a derivative with respect to argument i. An operation that returns one of its arguments
// has one with respect to each of them, but not with respect to the condition of Select.
func first(op rules.Op, i int) bool {
	if op.Choice() {
		return op != rules.Select || i > 0 // argument 0 is the condition
	}
	return rules.Partial(op, i) != nil
}

// second reports whether the derivative of op with respect to argument i varies with argument j.
func second(op rules.Op, i, j int) bool {
	return !op.Choice() && rules.Partial(op, i) != nil && varies(rules.Partial(op, i), op, j)
}

// varies reports whether e, a partial derivative of op, varies with argument j. It does not if e depends on the
// argument only through step functions, whose derivative is zero.
func varies(e *rules.Expr, op rules.Op, j int) bool {
	switch e.Kind {
	case rules.Num:
		return false
	case rules.ArgX, rules.ArgY, rules.ArgZ:
		return int(e.Kind-rules.ArgX) == j
	case rules.ArgV:
		return first(op, j)
	}
	for k, a := range e.Args {
		if first(e.Op, k) && varies(a, op, j) {
			return true
		}
	}
	return false
}

// at returns the class of op at operands with values x and y: without the derivatives that are structurally zero there,
// such as the one with respect to the cofactor of a zero factor. A derivative that vanishes at the point without
// structural reason, such as that of cos at 0, is kept.
func (c class) at(op rules.Op, x, y float64) class {
	switch op {
	case rules.Mul, rules.MulZ:
		if y == 0 {
			c &^= first1
		}
		if x == 0 {
			c &^= first2
		}
	case rules.Div, rules.DivZ, rules.XLogY:
		if x == 0 {
			c &^= first2 | second22
		}
	case rules.Pow:
		switch y {
		case 0:
			c &^= first1 | second11
		case 1:
			c &^= second11
		}
	case rules.Max, rules.Min: // at a tie or a NaN both operands count
		if op == rules.Min {
			x, y = y, x
		}
		if x > y {
			c &^= first2
		}
		if x < y {
			c &^= first1
		}
	case rules.Mod: // near (x, y) the integer quotient is 0
		if math.Abs(x) < math.Abs(y) {
			c &^= first2
		}
	case rules.Remainder:
		if math.Abs(x) < math.Abs(y)/2 {
			c &^= first2
		}
	}
	return c
}
