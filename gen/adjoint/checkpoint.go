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
type chain struct {
	segment *builder // runs iterations forward and back
	plain   *builder // runs them
	// lockstep says that iterations hand on slices or pointers with shadows: what runs
	// them moves those too.
	lockstep bool
	snapshot *snapshot
}

// chain is the builder of a marked loop; nil, with the reason noted, where the loop is
// reversed like any other.
func (p *Program) chain(k key) *builder {
	k.mode = chained
	if b := p.built[k]; b != nil {
		return b
	}
	g := k.g
	slow := func(why string) *builder {
		if g.segment.slow == "" {
			g.segment.slow = why
		}
		return nil
	}
	closed, err := p.closed(g, k.facts)
	if err != nil {
		return slow(err.Error())
	}
	c := &chain{segment: p.builder(key{g, closed, k.alias, together})}
	if why := c.segment.freshBehind(); why != "" {
		return slow(why)
	}
	for i, v := range g.f.Params {
		if leads(v.Type) && closed.Params.Has(i) != k.facts.Params.Has(i) {
			return slow("what " + called(v) + " leads to comes to carry derivatives only in it")
		}
	}
	for i, v := range g.f.Results {
		if leads(v.Type) && closed.Results.Has(i) {
			c.lockstep = true
		}
		if leads(v.Type) && closed.Results.Has(i) != k.facts.Results.Has(i) {
			return slow("what " + called(v) + " leads to comes to carry derivatives only in it")
		}
	}
	facts := closed
	if !c.lockstep {
		if facts, err = p.activity.Of(g.f, activity.Mask{}); err != nil {
			return slow(err.Error())
		}
	}
	c.plain = p.builder(key{g, facts, k.alias, onward})
	b := newBuilder(p, k)
	b.chain = c
	if c.snapshot = b.layout(); c.snapshot.why != "" {
		return slow(c.snapshot.why)
	}
	f := c.segment.flow
	b.flow = &flow{b: c.segment, alias: f.alias, joined: f.joined, written: f.written, exit: state{},
		wanted: map[*ir.Var]bool{}}
	for i, v := range g.f.Params {
		if activity.HasRefs(v.Type) {
			f.reachable(b.flow.exit, v)
		}
		b.flow.wanted[v] = g.segment.state(i) < 0 && i != len(g.f.Params)-1
	}
	for k := range f.written { // it is brought back before it is read
		if !k.shadow {
			delete(b.flow.exit, k)
		}
	}
	b.analysed = true
	p.built[k] = b
	p.order = append(p.order, b)
	return b
}

// still reports whether nothing in the loop carries a derivative.
func (c *chain) still() bool { return c.segment.facts.Passive() }

// closed are the facts of iterations in which all that one hands on with a derivative
// comes in with one.
func (p *Program) closed(g *prepared, facts *activity.Facts) (*activity.Facts, error) {
	m := facts.Params
	for {
		f, err := p.activity.Of(g.f, m)
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
