package sparsity

import (
	"math"
	"sync"

	"github.com/nabla-ad/nabla/rules"
)

// A class is the set of first and second derivatives of an operation on one or two operands that can differ from zero.
type class uint8

const (
	first1   class = 1 << iota // by the first operand
	first2                     // by the second
	second11                   // twice by the first
	second22                   // twice by the second
	second12                   // by one and the other
)

const (
	firsts  = first1 | first2
	seconds = second11 | second22 | second12
	linear  = firsts
	curved  = first1 | second11
)

// classes are those of the operations with one or two operands, read off their
// partial derivatives in the table of rules.
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

// first reports whether op has a derivative with respect to argument i.
func first(op rules.Op, i int) bool {
	if op.Choice() {
		return op != rules.Select || i > 0 // the condition only chooses
	}
	return rules.Partial(op, i) != nil
}

// second reports whether the derivative with respect to argument i varies with
// argument j.
func second(op rules.Op, i, j int) bool {
	return !op.Choice() && rules.Partial(op, i) != nil && varies(rules.Partial(op, i), op, j)
}

// varies reports whether e, a partial derivative of op, varies with argument j: a
// step function of it does not.
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
// as with respect to the cofactor of a zero factor. A derivative that merely happens to vanish, as that of cos at 0, is
// kept.
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
	case rules.Max, rules.Min: // at a tie or a NaN both count
		if op == rules.Min {
			x, y = y, x
		}
		if x > y {
			c &^= first2
		}
		if x < y {
			c &^= first1
		}
	case rules.Mod: // the quotient is 0 around here
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
