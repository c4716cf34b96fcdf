// Package series is arithmetic of truncated power series: Taylor coefficients of a result from those of its operands.
//
// A series of order d is a value and homogeneous parts of degrees 1 to d, the blocks. A [Space] is the form of the
// blocks: one number for one direction, a number for each of several directions, or a polynomial in several variables.
// An [Arithmetic] applies the operations of package rules.
//
// # Recurrences
//
// Let E be the Euler operator, which multiplies part k by k. It is a derivation, so that v = f(x) has
//
//	E v = p·E x,   p = f'(x)
//
// whose part k reads k·v[k] = Σ j·x[j]·p[k-j] over j = 1 … k: part k of v follows from parts below k of p, in O(d²) for
// all of them. The form is that of A. Griewank & A. Walther, Evaluating Derivatives, 2nd ed., 2008, section 13.2, with
// E in place of the derivative, which makes it hold in several variables too.
//
// There is no recurrence for any function in this package but for the four operations of arithmetic, squares and
// reciprocals. All others are derived from the partial derivatives in the table of package rules: p is an expression
// over operations, whose own partial derivatives are in the table, and so on until only operations recur that are there
// already, as sin and cos do. The result is a [plan]. Expressions choose between forms by the values of their operands
// (rules.Select), so that a plan has guards, and an operation may have several plans.
//
// Derivatives of Bessel functions and of the gamma family go on for ever: j0, j1, jn(2, x), …. Part k of v needs only
// parts below k of p, those only lower ones of the next, and so on; the plan ends at order 0, where only the value is
// needed. These operations take O(d³), with the factor 1/6, and O(d²) if the operand is linear.
//
// # Zeros
//
// A part that is zero because nothing depends on it is structurally zero, and so is its product with an infinite or NaN
// factor. In plain mode only parts above the degree of a series are known to be so. In strong mode, for which the
// caller computes again if a result is NaN, every coefficient is marked by itself: -0 is a structural zero and every
// other zero is +0.
package series
