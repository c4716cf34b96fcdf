package lanes

import (
	"go/types"
	"strconv"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// Types makes the types of what there is for several lanes. With one lane a T stays a T.
// With n, an array of n floats stands for a float, and what holds no floats is left out of
// structs. A named type with floats gets a named twin, which belongs to no package; but the
// array for a float is of a type without a name, so that pointers can be converted as those
// to single floats can.
type Types struct {
	n     int
	names *ir.Namer
	named []laneType
}

type laneType struct{ scalar, lanes types.Type }

// NewTypes returns the types for n lanes. Functions that hand values to each other have
// to have them in common.
func NewTypes(n int) *Types { return &Types{n: n, names: ir.NewNamer()} }

// N is the number of lanes.
func (l *Types) N() int { return l.n }

// Of is the type that stands for t.
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

func (l *Types) namedLaneType(t *types.Named) types.Type {
	for _, w := range l.named {
		if types.Identical(w.scalar, t) {
			return w.lanes
		}
	}
	name := l.names.Name(t.Obj().Name() + "Lanes" + strconv.Itoa(l.n))
	n := types.NewNamed(types.NewTypeName(t.Obj().Pos(), nil, name, nil), nil, nil)
	l.named = append(l.named, laneType{t, n}) // before its parts, which may lead back here
	n.SetUnderlying(l.LaneType(t.Underlying()))
	return n
}

// Field is which field of the struct that stands for t stands for field i.
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

// Path is that which leads, from what stands for a value of type t, to what stands for
// what path leads to.
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
