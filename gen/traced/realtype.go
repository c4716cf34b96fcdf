package traced

import (
	"go/token"
	"go/types"
	"strconv"
	"strings"
	"unicode"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// twins are the types over Reals that stand for others. A type with a name has one with
// a name, so that it may lead to itself; floats are Reals whatever their name.
type realTypes struct {
	pkg   *types.Package
	named []typePair
	taken map[string]bool
}

type typePair struct{ plain, real types.Type }

// of is the twin of t, which is t itself where it leads to no floats.
func (w *realTypes) realType(t types.Type) types.Type {
	if !activity.HasFloats(t) {
		return t
	}
	if ir.IsFloat(t) {
		return ir.Real
	}
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		return w.namedRealType(t)
	case *types.Slice:
		return types.NewSlice(w.realType(t.Elem()))
	case *types.Array:
		return types.NewArray(w.realType(t.Elem()), t.Len())
	case *types.Pointer:
		return types.NewPointer(w.realType(t.Elem()))
	case *types.Struct:
		return w.structRealType(t)
	}
	return t
}

func (w *realTypes) namedRealType(t *types.Named) types.Type {
	for _, k := range w.named {
		if types.Identical(k.plain, t) {
			return k.real
		}
	}
	n := types.NewNamed(types.NewTypeName(token.NoPos, w.pkg, w.freeName(realTypeName(t)+"Real"), nil), nil, nil)
	w.named = append(w.named, typePair{t, n})
	n.SetUnderlying(w.realType(t.Underlying()).Underlying())
	return n
}

// fields are those of a struct, none of them embedded: they keep their names.
func (w *realTypes) structRealType(t *types.Struct) types.Type {
	var list []*types.Var
	var tags []string
	for i := range t.NumFields() {
		f := t.Field(i)
		list = append(list, types.NewField(token.NoPos, w.pkg, f.Name(), w.realType(f.Type()), false))
		tags = append(tags, t.Tag(i))
	}
	return types.NewStruct(list, tags)
}

// typeName is the name of a type with its arguments, with a small letter in front: the
// type is nobody else's.
func realTypeName(t *types.Named) string {
	s := t.Obj().Name()
	for a := range t.TypeArgs().Types() {
		for _, word := range strings.FieldsFunc(types.TypeString(a, func(*types.Package) string { return "" }),
			func(r rune) bool {
				return !unicode.IsLetter(r) && !unicode.IsDigit(r)
			}) {
			s += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	r := []rune(s)
	r[0] = unicode.ToLower(r[0])
	return string(r)
}

func (w *realTypes) freeName(base string) string {
	name := base
	for i := 1; w.taken[name] || w.pkg.Scope().Lookup(name) != nil; i++ {
		name = base + strconv.Itoa(i)
	}
	if w.taken == nil {
		w.taken = map[string]bool{}
	}
	w.taken[name] = true
	return name
}

// single reports whether t leads to numbers of single precision.
func hasFloat32(t types.Type) bool {
	seen := map[types.Type]bool{}
	var has func(t types.Type) bool
	has = func(t types.Type) bool {
		if seen[t] {
			return false
		}
		seen[t] = true
		switch u := t.Underlying().(type) {
		case *types.Basic:
			return u.Kind() == types.Float32
		case *types.Slice:
			return has(u.Elem())
		case *types.Array:
			return has(u.Elem())
		case *types.Pointer:
			return has(u.Elem())
		case *types.Struct:
			for f := range u.Fields() {
				if has(f.Type()) {
					return true
				}
			}
		}
		return false
	}
	return has(t)
}

func typeText(t types.Type) string { return types.TypeString(t, (*types.Package).Name) }
