package lower

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// A substitution maps type parameters to type arguments; nil is the identity.
type substitution struct {
	args   map[*types.TypeParam]types.Type
	locals map[*types.Named]types.Type // instances of types declared in the function that depend on its type parameters
}

// apply returns t with type parameters replaced by their arguments; it is t itself if nothing
// changes.
func (s *substitution) apply(t types.Type) types.Type {
	if s == nil || t == nil {
		return t
	}
	switch t := t.(type) {
	case *types.TypeParam:
		if a, ok := s.args[t]; ok {
			return a
		}
	case *types.Alias:
		return s.apply(types.Unalias(t))
	case *types.Pointer:
		if e := s.apply(t.Elem()); e != t.Elem() {
			return types.NewPointer(e)
		}
	case *types.Slice:
		if e := s.apply(t.Elem()); e != t.Elem() {
			return types.NewSlice(e)
		}
	case *types.Array:
		if e := s.apply(t.Elem()); e != t.Elem() {
			return types.NewArray(e, t.Len())
		}
	case *types.Map:
		k, e := s.apply(t.Key()), s.apply(t.Elem())
		if k != t.Key() || e != t.Elem() {
			return types.NewMap(k, e)
		}
	case *types.Chan:
		if e := s.apply(t.Elem()); e != t.Elem() {
			return types.NewChan(t.Dir(), e)
		}
	case *types.Named:
		return s.named(t)
	case *types.Struct:
		return s.structure(t)
	case *types.Tuple:
		if v, changed := s.tuple(t); changed {
			return v
		}
	case *types.Signature:
		params, a := s.tuple(t.Params())
		results, b := s.tuple(t.Results())
		if a || b {
			return types.NewSignatureType(nil, nil, nil, params, results, t.Variadic())
		}
	}
	return t
}

// named applies s to the type arguments of t.
func (s *substitution) named(t *types.Named) types.Type {
	n := t.TypeArgs().Len()
	if n == 0 && isLocal(t.Obj()) {
		return s.localType(t)
	}
	args, changed := make([]types.Type, n), false
	for i := range n {
		args[i] = s.apply(t.TypeArgs().At(i))
		changed = changed || args[i] != t.TypeArgs().At(i)
	}
	if !changed {
		return t
	}
	inst, err := types.Instantiate(nil, t.Origin(), args, false)
	if err != nil {
		return t
	}
	return inst
}

// isGlobal reports whether o is declared at package level.
func isGlobal(o types.Object) bool {
	return o != nil && o.Pkg() != nil && o.Parent() == o.Pkg().Scope()
}

// isLocal reports whether a type is declared in a function.
func isLocal(o *types.TypeName) bool { return o.Pkg() != nil && o.Parent() != o.Pkg().Scope() }

// localType returns the instance of t, a type declared in the generic function: a new type for each
// substitution if it depends on the type parameters.
func (s *substitution) localType(t *types.Named) types.Type {
	if u := s.locals[t]; u != nil {
		return u
	}
	generic := false
	ir.WalkType(t, func(u types.Type) {
		p, ok := u.(*types.TypeParam)
		generic = generic || ok && s.args[p] != nil
	})
	if !generic {
		return t
	}
	o := types.NewTypeName(t.Obj().Pos(), t.Obj().Pkg(), t.Obj().Name(), nil)
	types.NewScope(nil, o.Pos(), o.Pos(), "function").Insert(o)
	u := types.NewNamed(o, nil, nil)
	s.locals[t] = u // before the underlying type is known, as the type may be recursive
	u.SetUnderlying(s.apply(t.Underlying()))
	return u
}

// structure applies s to the fields of t.
func (s *substitution) structure(t *types.Struct) types.Type {
	fields, tags, changed := make([]*types.Var, t.NumFields()), make([]string, t.NumFields()), false
	for i := range fields {
		f := t.Field(i)
		fields[i], tags[i] = f, t.Tag(i)
		if u := s.apply(f.Type()); u != f.Type() {
			fields[i], changed = types.NewField(f.Pos(), f.Pkg(), f.Name(), u, f.Embedded()), true
		}
	}
	if !changed {
		return t
	}
	return types.NewStruct(fields, tags)
}

// tuple applies s to the variables of t and reports whether any changed.
func (s *substitution) tuple(t *types.Tuple) (*types.Tuple, bool) {
	vars, changed := make([]*types.Var, t.Len()), false
	for i := range vars {
		v := t.At(i)
		vars[i] = v
		if u := s.apply(v.Type()); u != v.Type() {
			vars[i], changed = types.NewParam(v.Pos(), v.Pkg(), v.Name(), u), true
		}
	}
	if !changed {
		return t, false
	}
	return types.NewTuple(vars...), true
}

// hasFloats reports whether floats are in a value of type t or reachable from it.
func hasFloats(t types.Type) bool {
	found := false
	ir.WalkType(t, func(u types.Type) {
		if b, ok := u.(*types.Basic); ok && b.Info()&(types.IsFloat|types.IsComplex) != 0 {
			found = true
		}
	})
	return found
}
