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
type twins struct {
	pkg   *types.Package
	named []twin
	taken map[string]bool
}

type twin struct{ of, twin types.Type }

// of is the twin of t, which is t itself where it leads to no floats.
func (w *twins) of(t types.Type) types.Type {
	if !activity.HasFloats(t) {
		return t
	}
	if ir.IsFloat(t) {
		return ir.Real
	}
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		return w.name(t)
	case *types.Slice:
		return types.NewSlice(w.of(t.Elem()))
	case *types.Array:
		return types.NewArray(w.of(t.Elem()), t.Len())
	case *types.Pointer:
		return types.NewPointer(w.of(t.Elem()))
	case *types.Struct:
		return w.fields(t)
	}
	return t
}

func (w *twins) name(t *types.Named) types.Type {
	for _, k := range w.named {
		if types.Identical(k.of, t) {
			return k.twin
		}
	}
	n := types.NewNamed(types.NewTypeName(token.NoPos, w.pkg, w.free(typeName(t)+"Real"), nil), nil, nil)
	w.named = append(w.named, twin{t, n})
	n.SetUnderlying(w.of(t.Underlying()).Underlying())
	return n
}

// fields are those of a struct, none of them embedded: they keep their names.
func (w *twins) fields(t *types.Struct) types.Type {
	var list []*types.Var
	var tags []string
	for i := range t.NumFields() {
		f := t.Field(i)
		list = append(list, types.NewField(token.NoPos, w.pkg, f.Name(), w.of(f.Type()), false))
		tags = append(tags, t.Tag(i))
	}
	return types.NewStruct(list, tags)
}

// typeName is the name of a type with its arguments, with a small letter in front: the
// type is nobody else's.
func typeName(t *types.Named) string {
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

func (w *twins) free(base string) string {
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
func single(t types.Type) bool {
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
