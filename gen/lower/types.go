package lower

import (
	"cmp"
	"go/token"
	"go/types"
	"strings"
)

func comparePositions(a, b token.Position) int {
	return cmp.Or(strings.Compare(a.Filename, b.Filename), a.Line-b.Line, a.Column-b.Column)
}

func isPointer(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.Pointer)
	return ok
}

// deref is what t points to, or t.
func deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// receiverArgs are the type arguments of a receiver's type.
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

func isGeneric(fn *types.Func) bool {
	sig := fn.Origin().Signature()
	return sig.TypeParams().Len() > 0 || sig.RecvTypeParams().Len() > 0
}

// substitutionOf maps the type parameters of fn's declaration to targs.
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

func basic(t types.Type) types.BasicInfo {
	if b, ok := t.Underlying().(*types.Basic); ok {
		return b.Info()
	}
	return 0
}

func isInteger(t types.Type) bool { return basic(t)&types.IsInteger != 0 }
func isString(t types.Type) bool  { return basic(t)&types.IsString != 0 }

func isSlice(t types.Type) bool {
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

func isFuncType(t types.Type) bool {
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

func arrayOf(t types.Type) (*types.Array, bool) {
	a, ok := t.Underlying().(*types.Array)
	return a, ok
}

// typeText is how t is written in code that imports what it needs.
func typeText(t types.Type) string { return types.TypeString(t, byName) }
