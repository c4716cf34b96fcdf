package simplify

import (
	"maps"

	"github.com/nabla-ad/nabla/gen/ir"
)

// partsOf returns, for the label of each loop of f, the slice variables that lead to memory of one of members where the
// loop begins, or of a field of the workspace, with that member or a variable for the field. Two slices with different
// ones have no memory in common; members are apart, see [Unshared].
//
//	u and v are members         let a []float64 = u[1:n]
//	                            let b []float64 = v[:n]
//	a is in u, b in v           for l, m i int = 0; i < n; i += 1 {
func partsOf(f *ir.Func, members map[*ir.Var]bool, b *buffers) map[*ir.Label]map[*ir.Var]*ir.Var {
	if len(members) == 0 && len(b.fields) == 0 {
		return nil
	}
	p := &partition{use: usageOf(f.Body), members: members, buffers: b, loops: map[*ir.Label]map[*ir.Var]*ir.Var{}}
	p.block(f.Body, map[*ir.Var]*ir.Var{})
	return p.loops
}

// A partition finds the parts.
type partition struct {
	use     *usage
	members map[*ir.Var]bool
	buffers *buffers
	loops   map[*ir.Label]map[*ir.Var]*ir.Var
}

// block visits b, at whose beginning slices lead to memory of members as in has.
func (p *partition) block(b ir.Block, has map[*ir.Var]*ir.Var) {
	has = maps.Clone(has)
	for _, s := range b {
		switch s := s.(type) {
		case *ir.Let:
			m := sliced(s.E)
			if !p.members[m] {
				m = has[m]
			}
			if of, ok := p.buffers.base(s.E); ok && !p.buffers.taken[s.E] {
				m = p.buffers.fields[of]
			}
			if m != nil && p.use.keeps(s.V) && !p.use.addressed[s.V] {
				has[s.V] = m
			}
			continue
		case *ir.Loop:
			has = p.without(has, s.Body) // an earlier iteration may have assigned to members
			p.loops[s.L] = maps.Clone(has)
			for m := range p.members {
				p.loops[s.L][m] = m
			}
		}
		for _, nested := range ir.Blocks(s) {
			p.block(*nested, has)
		}
		has = p.without(has, ir.Block{s})
	}
}

// without returns a copy of has without the members that b assigns to.
func (p *partition) without(has map[*ir.Var]*ir.Var, b ir.Block) map[*ir.Var]*ir.Var {
	u := usageOf(b)
	out := map[*ir.Var]*ir.Var{}
	for v, m := range has {
		if u.writes[m] == 0 {
			out[v] = m
		}
	}
	return out
}
