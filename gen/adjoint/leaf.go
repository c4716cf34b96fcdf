package adjoint

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// ownFloats reports whether a value of type t has numbers in itself, not behind slices
// and pointers.
func ownFloats(t types.Type) bool { return ir.OwnFloats(t) }

// leads reports whether a value of type t has slices or pointers in itself that lead to
// numbers.
func leadsToFloats(t types.Type) bool { return ir.LeadsToFloats(t) }

// leaf says which parts of a value are meant.
type leaf uint8

const (
	floats leaf = iota // its own numbers
	refs               // its own slices and pointers that lead to numbers
)

func (l leaf) in(t types.Type) bool {
	if l == floats {
		return ownFloats(t)
	}
	return leadsToFloats(t)
}

// only reports whether a value of type t has no other parts that a shadow keeps.
func (l leaf) only(t types.Type) bool { return l.in(t) && !(1 - l).in(t) }

// each calls visit for the smallest number of places that together are the parts of p
// that are meant, and only those. Arrays become loops, in what emit gets.
func (l leaf) each(names *ir.Namer, at ir.At, t types.Type, places []*ir.Place,
	visit func(t types.Type, places []*ir.Place) ir.Block) ir.Block {
	if l.only(t) {
		return visit(t, places)
	}
	down := func(s ir.Step) []*ir.Place {
		out := make([]*ir.Place, len(places))
		for i, p := range places {
			out[i] = step(p, s)
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
		out = ir.Block{upward(names, at, v, count(0), count(u.Len()), body)}
	}
	return out
}
