package gen

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/print"
)

// disjointChecks returns the checks that slices passed to an adjoint do not overlap: memory that the reverse sweep
// writes must not be reachable by another parameter. Parameters are grouped by the transitive closure of "their element
// types allow an overlap". Tangents need no check, as they handle overlaps as the primal does, and traced functions
// have no shadows.
func disjointChecks(b *built) (out []print.DisjointCheck) {
	if !slices.ContainsFunc(b.params, func(r role) bool { return r.slot == bar }) {
		return nil
	}
	type group struct {
		print.DisjointCheck
		elems []types.Type
	}
	var groups []*group
	for i, v := range b.fn.Params {
		s, ok := v.Type.Underlying().(*types.Slice)
		if !ok || b.params[i].work || !activity.HasFloats(s.Elem()) {
			continue
		}
		// Merge all groups that may overlap v into one, which v joins.
		g := new(group)
		groups = append(slices.DeleteFunc(groups, func(h *group) bool {
			if !slices.ContainsFunc(h.elems, func(t types.Type) bool { return ir.MayOverlap(t, s.Elem()) }) {
				return false
			}
			g.Written, g.Read, g.elems = append(g.Written,
				h.Written...), append(g.Read, h.Read...), append(g.elems, h.elems...)
			return true
		}), g)
		to := &g.Read
		if r := b.params[i]; r.slot == bar || r.slot == barDot || !r.result && b.facts.Written.Has(r.of) {
			to = &g.Written
		}
		*to, g.elems = append(*to, v), append(g.elems, s.Elem())
	}
	for _, g := range groups {
		if len(g.Written) > 0 && len(g.Written)+len(g.Read) > 1 {
			out = append(out, g.DisjointCheck)
		}
	}
	return out
}

// shadows returns, for each kind of derivative, the shadow parameters that a caller may leave nil, with their primal
// parameters.
func (t *target) shadows(b *built) (out []print.Shadows) {
	for _, at := range []slot{dot, bar, barDot} {
		s := print.Shadows{SlicesOnly: true, UsesCapacity: t.reachesBehind()}
		for i, r := range b.params {
			v := b.fn.Params[i]
			if r.work || r.result || r.slot != at || !ir.ReachesFloats(v.Type) {
				continue
			}
			of := slices.Index(b.params, role{of: r.of})
			if of < 0 {
				continue
			}
			slice, ok := b.fn.Params[of].Type.Underlying().(*types.Slice)
			s.SlicesOnly = s.SlicesOnly && ok && !ir.ReachesFloats(slice.Elem())
			s.Primal, s.Shadow = append(s.Primal, b.fn.Params[of]), append(s.Shadow, v)
		}
		// A tangent that writes memory needs shadows that overlap as their primals do, so they cannot be allocated one
		// by one.
		s.SlicesOnly = s.SlicesOnly && (len(s.Primal) == 1 || at != dot || b.facts.Written.Empty())
		if len(s.Primal) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// workspaces returns the workspace parameters, for which the derivative allocates a value if they are nil.
func (b *built) workspaces() (out []*ir.Var) {
	for i, r := range b.params {
		if r.work {
			out = append(out, b.fn.Params[i])
		}
	}
	return out
}
