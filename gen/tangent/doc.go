// Package tangent builds tangents (forward mode, Griewank & Walther 2008, section 3.1): from a function in the form of
// package ir it builds one that also computes the derivative along a direction.
//
// The input is a function and a mask of its active parameters; package activity determines the active variables. The
// output is a function in the same form, which can be simplified, vectorised and differentiated again.
//
// # Method
//
// Every active variable gets a shadow of its own type, which holds its tangent, here called its dot. Each statement
// that reads, slices, copies, appends to, stores or passes on an active variable is preceded by the same operation on
// the shadows. So two slices overlap if and only if their shadows do, and no alias analysis is needed. The shadow comes
// first because the derivative depends on the operands before the statement. Expressions of floats are differentiated
// by rules: linear ones term by term, elementary functions with the partial derivatives in package elementary. Operands
// that value and tangent share are computed once.
//
// Where a partial derivative may be infinite or NaN, a product with a tangent of zero is left out (strong zero), so
// that it stays zero.
//
// Several directions at once, vector mode, are the lanes of package lanes: the tangent for one direction is built first
// and then vectorised.
package tangent
