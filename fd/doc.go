// Package fd has the functions of gonum's package diff/fd, with exact derivatives of functions that have generated
// code. A program takes it by changing an import,
//
//	import "github.com/nabla-ad/nabla/fd" // was "gonum.org/v1/gonum/diff/fd"
//
// and by running nabla gen in the packages that call it:
//
//	g := fd.Gradient(nil, rosenbrock, x, nil) // differences before nabla gen, exact after it
//
// Functions without generated code, such as closures, are passed to gonum with the settings, and have the finite
// differences that they had before; nabla gen warns of them at the calls, and nabla.PrepareGradient(f, nil, x) returns
// an error for them. With code, the settings have no effect: there are no steps, no formulas and no known value at the
// origin.
//
// The first call with a function, and a length of x, prepares; later ones reuse the preparation, also in other
// goroutines. These functions panic where operators of package nabla return errors, as gonum's have no errors in their
// signatures.
package fd
