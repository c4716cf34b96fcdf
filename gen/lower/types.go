package lower

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Predicates on Go types, their order and their text. Numbers are lowered by their kind in const.go, convert.go,
// builtin.go and mathcall.go; CONTRIBUTING.md lists the steps to a new numeric type.

// isPointer reports whether t is a pointer type, not a type defined as one.
func isPointer(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.Pointer)
	return ok
}

// deref returns the base type of a pointer type t, otherwise t.
func deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// receiverArgs returns the type arguments of a receiver's type.
func receiverArgs(t types.Type) (out []types.Type) {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		for i := range n.TypeArgs().Len() {
			out = append(out, n.TypeArgs().At(i))
		}
	}
	return out
}

// isGeneric reports whether a function or its receiver has type parameters.
func isGeneric(fn *types.Func) bool {
	sig := fn.Origin().Signature()
	return sig.TypeParams().Len() > 0 || sig.RecvTypeParams().Len() > 0
}

// substitutionOf returns the substitution of fn's type parameters by targs, nil if it has none.
func substitutionOf(fn *types.Func, targs []types.Type) *substitution {
	sig := fn.Origin().Signature()
	list := sig.TypeParams()
	if sig.RecvTypeParams().Len() > 0 {
		list = sig.RecvTypeParams()
	}
	n := min(list.Len(), len(targs))
	if n == 0 {
		return nil
	}
	s := &substitution{map[*types.TypeParam]types.Type{}, map[*types.Named]types.Type{}}
	for i := range n {
		s.args[list.At(i)] = targs[i]
	}
	return s
}

// basic returns the properties of the underlying basic type of t, 0 for other types.
func basic(t types.Type) types.BasicInfo {
	if b, ok := t.Underlying().(*types.Basic); ok {
		return b.Info()
	}
	return 0
}

func isSlice(t types.Type) bool {
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

func isFuncType(t types.Type) bool {
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

// arrayOf returns the underlying array type of t.
func arrayOf(t types.Type) (*types.Array, bool) {
	a, ok := t.Underlying().(*types.Array)
	return a, ok
}

// typeText returns t in the syntax of code that imports its packages.
func typeText(t types.Type) string { return types.TypeString(t, byName) }

// compareTypes orders types by their text, and those of one text, such as types declared in functions, by the positions
// of the declarations.
func compareTypes(a, b types.Type) int {
	if c := strings.Compare(types.TypeString(a, nil), types.TypeString(b, nil)); c != 0 {
		return c
	}
	return slices.Compare(declarations(a), declarations(b))
}

// declarations returns the positions of the declarations of t and the named types it is made of.
func declarations(t types.Type) (list []token.Pos) {
	ir.WalkType(t, func(u types.Type) {
		if n, ok := u.(*types.Named); ok {
			list = append(list, n.Obj().Pos())
		}
	})
	return list
}
