package ir

import "go/types"

// A cell is memory that is written and read as one value: a number, a string, a pointer, the
// header of a slice. Structs and arrays are made of cells. One cell may be reached under
// several types, by a conversion of a pointer to it or to what it is part of; all questions
// about that are answered here.

// EachCell visits the types of the cells that a value of type t is made of, those of an
// array once.
func EachCell(t types.Type, visit func(t types.Type)) {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			EachCell(u.Field(i).Type(), visit)
		}
	case *types.Array:
		EachCell(u.Elem(), visit)
	default:
		visit(t)
	}
}

// SameCell reports whether one cell may be reached under both types. Go converts a pointer to
// one of another type if what they point to has the same underlying type but for the tags of
// fields, and converts no deeper: a *float64 and a *My may lead to one cell where
// "type My float64", a **float64 and a **My never.
func SameCell(s, t types.Type) bool {
	return s == t || types.IdenticalIgnoreTags(s.Underlying(), t.Underlying())
}

// MayOverlap reports whether values of two types in memory may have a cell in common, such as
// an array and an element of it.
func MayOverlap(s, t types.Type) (may bool) {
	EachCell(s, func(s types.Type) {
		EachCell(t, func(t types.Type) { may = may || SameCell(s, t) })
	})
	return may
}

// Cells chooses one type among those that a cell may be reached under, so that it can be the
// key of a map. The zero value is ready.
type Cells struct{ chosen []types.Type }

// Of returns the type for a cell that is reached under t.
func (c *Cells) Of(t types.Type) types.Type {
	u := t.Underlying()
	if b, ok := u.(*types.Basic); ok {
		return types.Typ[b.Kind()]
	}
	for _, v := range c.chosen {
		if SameCell(u, v) {
			return v
		}
	}
	c.chosen = append(c.chosen, u)
	return u
}
