package tangent

import (
	"go/types"
	"strconv"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// lanes makes the types of shadows. With one lane the shadow of a T is a T. With n, an
// array of n floats stands for a float, and what holds no floats is left out of structs.
// A named type with floats gets a named twin, which belongs to no package.
type lanes struct {
	n     int
	names *ir.Namer
	twins []twin
}

type twin struct{ of, t types.Type }

func newLanes(n int) *lanes { return &lanes{n: n, names: ir.NewNamer()} }

// of is the type of the shadow of a T.
func (l *lanes) of(t types.Type) types.Type {
	if l.n == 1 || !activity.HasFloats(t) {
		return t
	}
	if activity.IsFloat(t) {
		return types.NewArray(t, int64(l.n))
	}
	switch t := t.(type) {
	case *types.Alias:
		return l.of(types.Unalias(t))
	case *types.Named:
		return l.named(t)
	case *types.Slice:
		return types.NewSlice(l.of(t.Elem()))
	case *types.Array:
		return types.NewArray(l.of(t.Elem()), t.Len())
	case *types.Pointer:
		return types.NewPointer(l.of(t.Elem()))
	case *types.Struct:
		var fields []*types.Var
		for f := range t.Fields() {
			if activity.HasFloats(f.Type()) { // by name, embedded or not
				fields = append(fields, types.NewField(f.Pos(), f.Pkg(), f.Name(), l.of(f.Type()), false))
			}
		}
		return types.NewStruct(fields, nil)
	}
	return t
}

func (l *lanes) named(t *types.Named) types.Type {
	for _, w := range l.twins {
		if types.Identical(w.of, t) {
			return w.t
		}
	}
	name := l.names.Name(t.Obj().Name() + "Lanes" + strconv.Itoa(l.n))
	n := types.NewNamed(types.NewTypeName(t.Obj().Pos(), nil, name, nil), nil, nil)
	l.twins = append(l.twins, twin{t, n}) // before its parts, which may lead back here
	n.SetUnderlying(l.of(t.Underlying()))
	return n
}

// field is which field of the shadow of a struct the shadow of field i is.
func (l *lanes) field(t *types.Struct, i int) int {
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

// path is that of the shadow of what path leads to from a value of type t.
func (l *lanes) path(t types.Type, path []ir.Step) []ir.Step {
	if l.n == 1 {
		return path
	}
	out := make([]ir.Step, len(path))
	at := &ir.Place{Root: &ir.Var{Type: t}}
	for i, s := range path {
		out[i] = s
		if s.Field >= 0 {
			at.Path = path[:i]
			out[i] = ir.FieldStep(l.field(at.Type().Underlying().(*types.Struct), s.Field))
		}
	}
	return out
}
