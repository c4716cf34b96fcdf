// Package simplify rewrites functions in the form of package ir so that what is built of
// them, and the Go code that is printed of that, is fast.
//
// Each pass takes a function that [ir.Check] accepts and leaves one that it accepts. The
// body is replaced, not changed, so other functions may share statements with it.
//
//	Inline      calls of small functions become what they do
//	Clones      slices that are appended to nothing become slices that are made and copied to
//	Unroll      loops of a few iterations become those iterations
//	Scalars     arrays and structs become a variable for each element or field
//	Copies      copies of variables, and what is never read, go away
//	Dead        what is computed for nothing goes away
//	Increments  additions to one place become one, for adjoints
//	Windows     what two iterations read or add to is carried from one to the other
//	Cut         slices are cut to one length before loops
//
// Floating-point results stay the same bit for bit, except that [Increments] and
// [Windows] change the order of sums. So do panics, except that where two expressions would panic another one
// may be first, and that [Cut] makes a loop that would panic do so before it begins.
package simplify

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Primal applies the passes for functions that are to be differentiated in package pkg.
func Primal(f *ir.Func, pkg *types.Package) {
	Inline(f, pkg)
	Body(f, pkg)
}

// Body applies the passes of [Primal] but Inline.
func Body(f *ir.Func, pkg *types.Package) {
	Clones(f)
	Unroll(f)
	Copies(f)
	Scalars(f, pkg)
	Copies(f)
}

// Adjoint applies the passes for what was built of such a function. Distinct says that
// no two parameters lead to the same memory, but for what is taken from the stacks that
// the parameter work leads to, if it is not nil; adjoint says which variables hold adjoints
// or lead to them.
func Adjoint(f *ir.Func, pkg *types.Package, distinct bool, work *ir.Var, adjoint func(*ir.Var) bool) {
	Copies(f)
	parts := scalars(f, pkg)
	of := map[*ir.Var]bool{}
	for v, p := range parts {
		p.leaves(nil, func(w *ir.Var, _ []ir.Step) { of[w] = adjoint(v) })
	}
	adjoints := func(v *ir.Var) bool { return of[v] || adjoint(v) }
	Invariants(f)
	increments(f, distinct, work, adjoints)
	windows(f, distinct, work, adjoints)
	Cut(f)
	Copies(f)
}
