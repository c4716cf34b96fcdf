package lower

import (
	"go/token"
	"go/types"
	"testing"
)

// TestKeys: keys are the same for identical types only, and for one function only, also if packages have one path and
// types one name.
func TestKeys(t *testing.T) {
	var p Program
	declare := func(path, name string) *types.Named {
		pkg := types.NewPackage(path, "p")
		return types.NewNamed(types.NewTypeName(token.NoPos, pkg, name, nil), types.NewStruct(nil, nil), nil)
	}
	first, second := declare("a/p", "T"), declare("a/p", "T")
	method := func(recv types.Type, pkg *types.Package) *types.Func {
		var v *types.Var
		if recv != nil {
			v = types.NewParam(token.NoPos, pkg, "r", recv)
		}
		return types.NewFunc(token.NoPos, pkg, "F", types.NewSignatureType(v, nil, nil, nil, nil, false))
	}
	slice := func(t types.Type) types.Type { return types.NewSlice(t) }
	keys := map[string]string{}
	for _, c := range []struct{ name, key string }{
		{"first type", p.typeKey(first)},
		{"second type", p.typeKey(second)},
		{"slice of the first type", p.typeKey(slice(first))},
		{"slice of the second type", p.typeKey(slice(second))},
		{"function of the first package", p.funcKey(method(nil, first.Obj().Pkg()))},
		{"function of the second package", p.funcKey(method(nil, second.Obj().Pkg()))},
		{"method of the first type", p.funcKey(method(first, first.Obj().Pkg()))},
		{"method of the second type", p.funcKey(method(second, second.Obj().Pkg()))},
		{"instance for the first type", p.instanceKey(method(nil, first.Obj().Pkg()), []types.Type{first})},
		{"instance for the second type", p.instanceKey(method(nil, first.Obj().Pkg()), []types.Type{second})},
	} {
		if other := keys[c.key]; other != "" {
			t.Errorf("%s and %s have the key %q", other, c.name, c.key)
		}
		keys[c.key] = c.name
	}
	alias := types.NewAlias(types.NewTypeName(token.NoPos, first.Obj().Pkg(), "A", nil), slice(first))
	for _, same := range []types.Type{slice(first), alias} {
		if got := keys[p.typeKey(same)]; got != "slice of the first type" {
			t.Errorf("%v has the key of %q", same, got)
		}
	}
}
