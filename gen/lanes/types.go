package lanes

import (
	"go/types"
	"strconv"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// Types maps types to their lane types for n lanes. With one lane, types stay. Otherwise the lane type of a float is an
// array of n floats of the same kind without a name, so that pointers can be converted like those to single floats;
// slices, arrays, pointers and structs are mapped part by part; fields without floats are dropped; and a named type
// with floats has a named lane type that belongs to no package. Types without floats stay.
type Types struct {
	n     int
	names *ir.Namer
	named []laneType // lane types of named types created so far
}

// A laneType pairs a named type with its lane type.
type laneType struct{ scalar, lanes types.Type }

// NewTypes returns the types for n lanes. Functions that pass values to each other must share them.
func NewTypes(n int) *Types { return &Types{n: n, names: ir.NewNamer()} }

// N returns the number of lanes.
func (l *Types) N() int { return l.n }

// LaneType returns the lane type of t.
func (l *Types) LaneType(t types.Type) types.Type {
	if l.n == 1 || !activity.HasFloats(t) {
		return t
	}
	if ir.IsFloat(t) {
		return types.NewArray(types.Typ[t.Underlying().(*types.Basic).Kind()], int64(l.n))
	}
	switch t := t.(type) {
	case *types.Alias:
		return l.LaneType(types.Unalias(t))
	case *types.Named:
		return l.namedLaneType(t)
	case *types.Slice:
		return types.NewSlice(l.LaneType(t.Elem()))
	case *types.Array:
		return types.NewArray(l.LaneType(t.Elem()), t.Len())
	case *types.Pointer:
		return types.NewPointer(l.LaneType(t.Elem()))
	case *types.Struct:
		var fields []*types.Var
		for f := range t.Fields() {
			if activity.HasFloats(f.Type()) { // by name, embedded or not
				fields = append(fields, types.NewField(f.Pos(), f.Pkg(), f.Name(), l.LaneType(f.Type()), false))
			}
		}
		return types.NewStruct(fields, nil)
	}
	return t
}

// namedLaneType returns the lane type of a named type, the same one for identical types.
func (l *Types) namedLaneType(t *types.Named) types.Type {
	for _, w := range l.named {
		if types.Identical(w.scalar, t) {
			return w.lanes
		}
	}
	name := l.names.Name(t.Obj().Name() + "Lanes" + strconv.Itoa(l.n))
	n := types.NewNamed(types.NewTypeName(t.Obj().Pos(), nil, name, nil), nil, nil)
	l.named = append(l.named, laneType{t, n}) // first, for recursive types
	n.SetUnderlying(l.LaneType(t.Underlying()))
	return n
}

// Field returns the index that field i of struct t has in the lane type of t.
func (l *Types) Field(t *types.Struct, i int) int {
	if l.n == 1 {
		return i
	}
	k := 0
	for j := range i {
		if activity.HasFloats(t.Field(j).Type()) {
			k++
		}
	}
	return k
}

// Path returns the path in the lane type of t that corresponds to path in t.
func (l *Types) Path(t types.Type, path []ir.Step) []ir.Step {
	if l.n == 1 {
		return path
	}
	out := make([]ir.Step, len(path))
	at := &ir.Place{Root: &ir.Var{Type: t}}
	for i, s := range path {
		out[i] = s
		if s.Field >= 0 {
			at.Path = path[:i]
			out[i] = ir.FieldStep(l.Field(at.Type().Underlying().(*types.Struct), s.Field))
		}
	}
	return out
}
