// Package rules is the table of elementary functions and their derivatives.
// Every engine of nabla reads it; there are no derivative formulas elsewhere.
//
//	v := rules.Value1(rules.Tanh, x)
//	d := rules.Partial1(rules.Tanh, x, v)   // a number
//	e := rules.Partial(rules.Tanh, 0)       // the expression sechsq(x)
//
// # The table
//
// One row per [Op] holds its name, its value as Go text, the expression of each
// partial derivative, the domain, the convention at kinks and singular points,
// and the source of the formula. From it come
//
//	Value1, Value2, Value3       values_gen.go, generated
//	Partial1, Partials2,         partials_gen.go, generated
//	PartialX2, PartialY2
//	Second1, Seconds2            seconds_gen.go, generated
//	Partial                      the expression
//	Steps                        its factors, for engines that build programs
//	Factors1, Factors2           the factors as numbers; factors_gen.go, generated
//
// A partial is written in terms of ops, and each of these has a row of its own.
// Derivatives of every order therefore follow from this one table: to
// differentiate a partial, differentiate its expression.
//
// # The expression language
//
//	partial = expr { "then" expr }
//	expr    = term { ("+" | "-") term }
//	term    = factor { ("*" | "/") factor }
//	factor  = "-" factor | number | name | name "(" expr { "," expr } ")" | "(" expr ")"
//
// The names x, y and z are the arguments of the op and v is its value, which
// every engine has at hand. All other names are ops. The operators are the ops
// add, sub, mul, div and neg; a minus before a number is part of the number.
// The text "0" says that the partial is structurally zero: [Partial] returns nil
// and no engine multiplies anything by it.
//
// # Steps
//
// A derivative may overflow or underflow although its product with a tangent or
// cotangent does not: that of log(c·x) with respect to x is 1/x for every c, and the
// second derivative of log at c·x may be 1e400. So a partial is a product of steps,
// separated by "then", and engines multiply by one after the other: a cotangent by
// the first step first, a tangent by the last step first, and by inv(e) by dividing
// by e. The table lists them in an order for which intermediate products have the
// magnitude of a result: a cotangent times a value has that of the output, a tangent
// divided by a value that of the inverse of an input. The derivative of x/y with
// respect to y is "-v then inv(y)": (t·v)/y for a cotangent, (t/y)·v for a tangent.
// An engine that needs one number multiplies the steps, and uses the factors if
// [Extreme] requires it.
//
// # Choosing a form
//
// Two forms that are equal on paper differ in float64. A form is right when its
// value and the value of its derivative are free of cancellation and of overflow
// where the result itself is not. 1 - tanh(x)² cancels for large x, so there is
// an op sechsq. (1-x)·(1+x) is accurate but its derivative cancels at 0, so
// asin' uses fma(-x, x, 1), which is right in both respects. An engine that
// evaluates fma with two roundings loses digits of asin', acos' and atanh' near
// |x| = 1.
//
// # Conventions
//
// Nothing is clamped: at a singular point the result is that of IEEE arithmetic,
// which [Rule.Kinks] documents. At a kink one value is chosen and documented in the
// same place (abs'(0) is 0). Outside the domain of a
// function its value is NaN and its partial is that of the formula, which may be
// finite: log'(-1) is -1.
//
// # Singular points
//
// One convention holds for every engine, forward, in reverse and to second order. The
// product of a zero tangent or cotangent with a derivative that is ±Inf or NaN depends
// on the reason for the zero:
//
//	nothing depends on it    0    a branch that was not chosen, a number that is not
//	                              used, an input that no direction moves, an output
//	                              without a weight in a pullback
//	it was computed, and     NaN  x in the derivative of x·log(x) at 0, a weight of 0
//	is 0                          in a weighted Hessian
//
// So the gradient of √(x²+y²) at the origin is (NaN, NaN), that of Hypot, which is a
// rule, (0, 0), that of x/y at (1, 0) is (+Inf, -Inf), and that of x·log(x) at 0 is NaN
// by x and 0 by an input that it does not read. Sums of infinities of both signs are
// NaN; where infinities meet only in one order of summation, an engine of another order
// has one of them. An intermediate result that overflows is infinite: the derivative of
// 1/(1+exp(-x)) at -800 is NaN, and that of Logistic is not. Engines run in plain
// mode first, and examine the zeros only if a result is NaN.
//
// Max, Min and Select are choices ([Op.Choice]): their derivative is that of the
// chosen argument and nothing of the other.
//
// # Adding a function
//
// Add the code to its group in op.go and a row to the table, with any op its
// partials need. Run go generate, which also lists the table in OPS.md.
// TestDifferences compares the new row with differences of its value at random
// points; give it an interval there. Add points with values to
// testdata/special.py and the conventions to TestKinks.
package rules

//go:generate go run ./internal/genrules
