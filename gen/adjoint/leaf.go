package adjoint

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Walks over the leaves of values: the floats in a value itself, whose derivatives have the same place in a cotangent,
// and the references in it, which have the same place in a shadow.

// ownFloats reports whether a value of type t holds floats itself, not through references.
func ownFloats(t types.Type) bool { return ir.ContainsFloats(t) }

// leadsToFloats reports whether a value of type t holds slices or pointers through which floats are reached.
func leadsToFloats(t types.Type) bool { return ir.ReachesFloats(t) }

// A leaf is a kind of leaves of a value.
type leaf uint8

const (
	floats leaf = iota // floats of the value itself
	// slices and pointers of the value itself through which floats are reached
	refs
)

// in reports whether a value of type t has leaves of kind l.
func (l leaf) in(t types.Type) bool {
	if l == floats {
		return ownFloats(t)
	}
	return leadsToFloats(t)
}

// only reports whether a value of type t has leaves of kind l and none of the other kind.
func (l leaf) only(t types.Type) bool { return l.in(t) && !(1 - l).in(t) }

// each calls visit for the outermost parts of a value of type t that have leaves of kind l only, so that together they
// cover all leaves of that kind. The parts are given at each of places, which hold values of type t; statements that
// visit returns are collected, those for array elements within a loop.
func (l leaf) each(names *ir.Namer, at ir.At, t types.Type, places []*ir.Place,
	visit func(t types.Type, places []*ir.Place) ir.Block) ir.Block {
	if l.only(t) {
		return visit(t, places)
	}
	down := func(s ir.Step) []*ir.Place {
		out := make([]*ir.Place, len(places))
		for i, p := range places {
			out[i] = ir.Extend(p, s)
		}
		return out
	}
	var out ir.Block
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			if f := u.Field(i).Type(); l.in(f) {
				out = append(out, l.each(names, at, f, down(ir.FieldStep(i)), visit)...)
			}
		}
	case *types.Array:
		v := &ir.Var{Name: names.Name("i"), Type: integer}
		body := l.each(names, at, u.Elem(), down(ir.IndexStep(v.Load())), visit)
		out = ir.Block{upward(names, at, v, ir.Count(0), ir.Count(u.Len()), body)}
	}
	return out
}
