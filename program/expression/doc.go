// Package expression turns programs into expressions: graphs of operations with named inputs, in which equal operations
// are one node. Expressions are simplified, differentiated, substituted into, compared and printed.
//
//	p, err := nabla.Record(f, x)
//	y, err := expression.Of(p.Program(), nil) // an Expression for each output
//	d, err := y[0].Derivative("x1")
//	fmt.Println(d)
//
// # Rules
//
// [Rules] is the table of simplifications. Each rule states how far the values of its two sides may differ: not at all,
// in the sign of a zero, where an operation is not finite, or by some units in the last place. With Exact set only
// those are applied that keep every bit. What a recorded program computes as its value is never rewritten, only
// derivatives and what the user asks for.
//
// # Derivatives
//
// [Expression.Derivative] is one forward sweep. [Differentiate] computes a Jacobian by factorising its derivative
// graph, the algorithm D*, and by sweeps in both modes, and keeps the result with the fewest operations. D* is at its
// best for several inputs and outputs with much in common between them: it takes fewer operations than both sweeps,
// because a part of the graph that several derivatives share is summed once and multiplied once. With one output,
// reverse mode is hard to beat.
//
// A program must be free of comparisons (guards) and of calls of custom rules. Branches are kept with nabla.Where.
package expression
