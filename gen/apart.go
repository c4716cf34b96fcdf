package gen

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/print"
)

// apart says which slices a derivative is given must not share memory: what a reverse
// sweep writes to is no other parameter. Tangents treat what overlaps as the function
// does, and traced functions have no derivatives beside their parameters.
func apart(b *built) (out []print.Apart) {
	if !slices.ContainsFunc(b.params, func(r role) bool { return r.slot == bar }) {
		return nil
	}
	var kinds []types.Type
	groups := map[types.Type]*[2][]*ir.Var{} // those that are written to, and the others
	for i, v := range b.fn.Params {
		s, ok := v.Type.Underlying().(*types.Slice)
		if !ok || b.params[i].work || !activity.HasFloats(s.Elem()) {
			continue
		}
		var g *[2][]*ir.Var
		for _, t := range kinds {
			if types.Identical(t, s.Elem()) {
				g = groups[t]
			}
		}
		if g == nil {
			g = new([2][]*ir.Var)
			groups[s.Elem()] = g
			kinds = append(kinds, s.Elem())
		}
		which := 1
		if r := b.params[i]; r.slot == bar || r.slot == barDot || !r.result && b.facts.Written.Has(r.of) {
			which = 0
		}
		g[which] = append(g[which], v)
	}
	for _, t := range kinds {
		if g := groups[t]; len(g[0]) > 0 && len(g[0])+len(g[1]) > 1 {
			out = append(out, print.Apart{Written: g[0], Read: g[1]})
		}
	}
	return out
}
