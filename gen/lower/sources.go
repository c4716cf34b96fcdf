package lower

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// sources calls f for the roots of the places that the slices and pointers in the value of e
// come from. Operands that only decide about its numbers, such as indices and lengths, are
// not among them.
func sources(e ir.Expr, f func(v *ir.Var)) {
	if e == nil || e.Type() == nil || !leads(e.Type()) {
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
		sources(e.X, f)
	case *ir.Convert:
		sources(e.X, f)
	case *ir.Literal:
		for _, x := range e.Elems {
			sources(x, f)
		}
	case *ir.Opaque:
		for _, x := range e.Args {
			sources(x, f)
		}
	}
}

// leads says whether a value of type t leads to memory of others.
func leads(t types.Type) bool {
	found := false
	walkType(t, map[types.Type]bool{}, func(u types.Type) {
		switch u.Underlying().(type) {
		case *types.Slice, *types.Pointer, *types.Map, *types.Chan, *types.Signature, *types.Interface:
			found = true
		}
	})
	return found
}
