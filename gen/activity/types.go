package activity

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// HasFloats reports whether a value of type t, or memory reachable from it through slices, pointers, arrays,
// structs and interfaces of a type that [ir.IsCarrier], holds floats or complex numbers. Maps, functions and other
// interfaces carry no derivatives.
func HasFloats(t types.Type) bool {
	is := func(t types.Type) bool { return ir.IsContinuous(t) || ir.IsCarrier(t) }
	return contains(t, is, new([]*types.Named))
}

// HasPlainFloats is HasFloats without interfaces.
func HasPlainFloats(t types.Type) bool { return contains(t, ir.IsContinuous, new([]*types.Named)) }

// ReachesCarrier reports whether a value of type t is an interface value of a type that [ir.IsCarrier], or leads to
// one.
func ReachesCarrier(t types.Type) bool { return contains(t, ir.IsCarrier, new([]*types.Named)) }

// hasFloats is HasFloats, without interfaces if values behind them carry no derivatives in the program of f.
func (f *Facts) hasFloats(t types.Type) bool {
	if f.program.plainInterfaces {
		return HasPlainFloats(t)
	}
	return HasFloats(t)
}

// HasComplex is HasFloats for complex numbers only.
func HasComplex(t types.Type) bool { return contains(t, ir.IsComplex, new([]*types.Named)) }

// contains reports whether is holds for the underlying type of t or of a type reachable from it. Seen are the named
// types visited before; it stops recursion.
func contains(t types.Type, is func(types.Type) bool, seen *[]*types.Named) bool {
	if n, ok := types.Unalias(t).(*types.Named); ok {
		if slices.Contains(*seen, n) {
			return false
		}
		*seen = append(*seen, n)
	}
	if is(t) {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return contains(u.Elem(), is, seen)
	case *types.Array:
		return contains(u.Elem(), is, seen)
	case *types.Pointer:
		return contains(u.Elem(), is, seen)
	case *types.Struct:
		for i := range u.NumFields() {
			if contains(u.Field(i).Type(), is, seen) {
				return true
			}
		}
	}
	return false
}
