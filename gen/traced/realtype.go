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

// realTypes maps types to their counterparts over Reals. Every float type is mapped to [ir.Real], complex128 to
// [ir.Complex], and composite types part by part. A named type has a named counterpart, so that recursive types stay
// recursive.
type realTypes struct {
	pkg   *types.Package  // of the named counterparts
	named []typePair      // counterparts of named types created so far
	taken map[string]bool // their names
}

// A typePair is a named type and its counterpart.
type typePair struct{ plain, real types.Type }

// realType returns the counterpart of t, which is t itself if it leads to no floats.
func (w *realTypes) realType(t types.Type) types.Type {
	if !activity.HasPlainFloats(t) {
		return t
	}
	if ir.IsContinuous(t) {
		return numberType(t)
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

// numberType returns the counterpart of a float or complex type.
func numberType(t types.Type) types.Type {
	if ir.IsComplex(t) {
		return ir.Complex
	}
	return ir.Real
}

// namedRealType returns the counterpart of a named type, the same one for identical types.
func (w *realTypes) namedRealType(t *types.Named) types.Type {
	for _, k := range w.named {
		if types.Identical(k.plain, t) {
			return k.real
		}
	}
	n := types.NewNamed(types.NewTypeName(token.NoPos, w.pkg, w.freeName(realTypeName(t)+"Real"), nil), nil, nil)
	// Before the underlying type, which may refer to it.
	w.named = append(w.named, typePair{t, n})
	n.SetUnderlying(w.realType(t.Underlying()).Underlying())
	return n
}

// structRealType returns the counterpart of a struct. Fields keep their names and tags, but none is embedded.
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

// realTypeName returns the name of t and its type arguments in one word that begins with a lower-case letter, so that
// the counterpart is not exported.
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

// freeName returns base, followed by a number if it is declared in the package or was returned before.
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

// hasFloat32 reports whether t leads to a float32 or complex64.
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
			return u.Kind() == types.Float32 || u.Kind() == types.Complex64
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

// typeText returns t as written in Go, for messages.
func typeText(t types.Type) string { return types.TypeString(t, (*types.Package).Name) }
