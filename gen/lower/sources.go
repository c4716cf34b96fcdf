package lower

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// eachReferenceRoot calls f for the roots of the places from which the references in the value of e
// come. Operands that determine only numbers, such as indices and lengths, do not count.
func eachReferenceRoot(e ir.Expr, f func(v *ir.Var)) {
	if e == nil || e.Type() == nil || !hasReferences(e.Type()) {
		return
	}
	switch e := e.(type) {
	case *ir.Load:
		f(e.P.Root)
	case *ir.Addr:
		f(e.P.Root)
	case *ir.SliceAt:
		f(e.P.Root)
	case *ir.Slice:
		eachReferenceRoot(e.X, f)
	case *ir.Convert:
		eachReferenceRoot(e.X, f)
	case *ir.Literal:
		for _, x := range e.Elems {
			eachReferenceRoot(x, f)
		}
	case *ir.Opaque:
		for _, x := range e.Args {
			eachReferenceRoot(x, f)
		}
	}
}

// hasReferences reports whether a value of type t contains references to memory: slices, pointers,
// maps, channels, functions or interfaces.
func hasReferences(t types.Type) bool {
	found := false
	ir.WalkType(t, func(u types.Type) {
		switch u.Underlying().(type) {
		case *types.Slice, *types.Pointer, *types.Map, *types.Chan, *types.Signature, *types.Interface:
			found = true
		}
	})
	return found
}
