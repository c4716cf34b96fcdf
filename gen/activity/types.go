package activity

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// HasFloats reports whether a value of type t, or memory reachable from it through slices, pointers, arrays and
// structs, holds floats or complex numbers. Maps, functions and interfaces carry no derivatives.
func HasFloats(t types.Type) bool { return contains(t, ir.IsContinuous, new([]*types.Named)) }

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
	u := t.Underlying()
	if is(u) {
		return true
	}
	switch u := u.(type) {
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
