// Package lifted makes functions over Reals of functions of other kinds, for solvers that differentiate twice.
package lifted

import "github.com/nabla-ad/nabla"

// Vector returns f as a function over Reals. A function over float64 is differentiated by b within it.
func Vector[F nabla.VectorFunc](f F, b nabla.Backend) func([]nabla.Real) []nabla.Real {
	if g, ok := any(f).(func([]nabla.Real) []nabla.Real); ok {
		return g
	}
	return nabla.DifferentiateVectorWith(f, b)
}

// Outer returns the backend for a function over Reals that calls f with derivatives by b: that of generated code has
// none for it, and an engine is selected instead.
func Outer(f any, b nabla.Backend) nabla.Backend {
	switch f.(type) {
	case func([]nabla.Real) []nabla.Real, func([]nabla.Real) nabla.Real:
		return b
	}
	return nil
}
