package adjoint

import (
	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// The adjoint of a marked loop is a chain of those of its segments. The forward sweep runs
// the iterations as they are, keeps nothing for their reversal and takes snapshots; the
// reverse sweep takes up the latest one, runs on to where package checkpoint says, and
// there runs some iterations forward and back at once. What the loop writes is brought
// back from the first snapshot at the end, so to the rest of the function it is like a
// call that undoes what it did.

// chain is what the sweeps of such a loop are made of.
type checkpointedLoop struct {
	segment *builder // runs iterations forward and back
	advance *builder // runs them
	// lockstep says that iterations hand on slices or pointers with shadows: what runs
	// them moves those too.
	snapshotsShadows bool
	snapshot         *snapshot
}

// chain is the builder of a marked loop; nil, with the reason noted, where the loop is
// reversed like any other.
func (p *Program) checkpointed(k spec) *builder {
	k.mode = modeCheckpointed
	if b := p.builders[k]; b != nil {
		return b
	}
	g := k.g
	slow := func(why string) *builder {
		if g.segment.notCheckpointed == "" {
			g.segment.notCheckpointed = why
		}
		return nil
	}
	closed, err := p.closeOverIterations(g, k.facts)
	if err != nil {
		return slow(err.Error())
	}
	c := &checkpointedLoop{segment: p.builder(spec{g, closed, k.alias, modeJoint})}
	if why := c.segment.leaksAllocation(); why != "" {
		return slow(why)
	}
	for i, v := range g.f.Params {
		if leadsToFloats(v.Type) && closed.Params.Has(i) != k.facts.Params.Has(i) {
			return slow("what " + sourceName(v) + " leads to comes to carry derivatives only in it")
		}
	}
	for i, v := range g.f.Results {
		if leadsToFloats(v.Type) && closed.Results.Has(i) {
			c.snapshotsShadows = true
		}
		if leadsToFloats(v.Type) && closed.Results.Has(i) != k.facts.Results.Has(i) {
			return slow("what " + sourceName(v) + " leads to comes to carry derivatives only in it")
		}
	}
	facts := closed
	if !c.snapshotsShadows {
		if facts, err = p.activity.Analyze(g.f, activity.Mask{}); err != nil {
			return slow(err.Error())
		}
	}
	c.advance = p.builder(spec{g, facts, k.alias, modeAdvance})
	b := newBuilder(p, k)
	b.checkpointed = c
	if c.snapshot = b.layoutSnapshot(); c.snapshot.unsupported != "" {
		return slow(c.snapshot.unsupported)
	}
	f := c.segment.flow
	b.flow = &flow{b: c.segment, aliasOf: f.aliasOf, aliasParent: f.aliasParent, modified: f.modified,
		neededAtExit: locationSet{}, needed: map[*ir.Var]bool{}}
	for i, v := range g.f.Params {
		if activity.HasRefs(v.Type) {
			f.addReachable(b.flow.neededAtExit, v)
		}
		b.flow.needed[v] = g.segment.stateIndex(i) < 0 && i != len(g.f.Params)-1
	}
	for k := range f.modified { // it is brought back before it is read
		if !k.shadow {
			delete(b.flow.neededAtExit, k)
		}
	}
	b.analysed = true
	p.builders[k] = b
	p.created = append(p.created, b)
	return b
}

// still reports whether nothing in the loop carries a derivative.
func (c *checkpointedLoop) passive() bool { return c.segment.facts.Passive() }

// closed are the facts of iterations in which all that one hands on with a derivative
// comes in with one.
func (p *Program) closeOverIterations(g *normalForm, facts *activity.Facts) (*activity.Facts, error) {
	m := facts.Params
	for {
		f, err := p.activity.Analyze(g.f, m)
		if err != nil {
			return nil, err
		}
		next := m.Or(f.Params)
		for _, s := range g.segment.states {
			if f.Results.Has(s.result) {
				next = next.With(s.param)
			}
		}
		if next == m {
			return f, nil
		}
		m = next
	}
}
