package ir

import "go/types"

// A cell is a unit of memory that is read and written as one value: a number, a string, a pointer,
// the header of a slice. Structs and arrays consist of cells. Conversions of pointers allow one
// cell to be accessed under several types; this file decides which types may denote the same cell.
// The result partitions memory by type, as in type-based alias analysis (Diwan, McKinley & Moss
// 1998).

// EachCell calls visit with the types of the cells of a value of type t, in order. The element of
// an array is visited once, whatever its length.
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

// SameCell reports whether one cell may be accessed under both types. Go converts a pointer to one
// of another type if their base types have the same underlying type but for the tags of fields, and
// converts no deeper: a *float64 and a *My may point to one cell if "type My float64", a **float64
// and a **My never.
func SameCell(s, t types.Type) bool {
	return s == t || types.IdenticalIgnoreTags(s.Underlying(), t.Underlying())
}

// MayOverlap reports whether values of the two types in memory may share a cell, such as an array
// and an element of it.
func MayOverlap(s, t types.Type) (may bool) {
	EachCell(s, func(s types.Type) {
		EachCell(t, func(t types.Type) { may = may || SameCell(s, t) })
	})
	return may
}

// Cells maps every type of a cell to a canonical representative of the types under which the cell
// may be accessed, which can then be the key of a map. The zero value is ready to use.
type Cells struct{ representatives []types.Type }

// Representative returns the representative of t: the predeclared type if t is basic, otherwise the underlying type
// of the first type it was called with that SameCell relates to t. It takes time linear in the number of
// representatives.
func (c *Cells) Representative(t types.Type) types.Type {
	u := t.Underlying()
	if b, ok := u.(*types.Basic); ok {
		return types.Typ[b.Kind()]
	}
	for _, v := range c.representatives {
		if SameCell(u, v) {
			return v
		}
	}
	c.representatives = append(c.representatives, u)
	return u
}
