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

// run writes the function that does what the function does, with memory from the
// workspace. Iterations of a marked loop use the same memory again and again.
func (b *builder) run() {
	e := b.emitter()
	f := &ir.Func{Name: b.g.f.Name + "_run", Recv: b.g.f.Recv, Exit: b.g.f.Exit, Pos: b.g.f.Pos}
	f.Params = append(b.paramsWithShadows(), b.ws)
	f.Results = append(f.Results, b.g.f.Results...)
	for i, r := range b.g.f.Results {
		if b.facts.Results.Has(i) && leads(r.Type) {
			sh := b.of(r)
			sh.Kind = ir.Result
			f.Results = append(f.Results, sh)
		}
	}
	body := e.around(e.forward(b.body))
	if b.g.segment != nil {
		var marks ir.Block
		for _, p := range b.used() {
			m := b.g.local("mark", integer)
			marks = append(marks, &ir.Let{At: e.at, V: m, E: load(p, integer)})
			release(body, &ir.Set{At: e.at, P: p, E: m.Load()})
		}
		body = append(marks, body...)
	}
	f.Body = append(e.declare(e.raised(b.body)), body...)
	clone, _ := ir.Clone(f, nil)
	*b.fwd = *clone
}

// release puts a statement in front of each iteration of the loop in b.
func release(b ir.Block, s ir.Stmt) {
	for _, t := range b {
		switch t := t.(type) {
		case *ir.Loop:
			t.Body = append(ir.Block{s}, t.Body...)
			return
		case *ir.Scope:
			release(t.Body, s)
		}
	}
}

// together writes the function that runs the sweeps of a segment one after the other and
// returns the adjoints of what it takes. Nothing is left as the forward sweep left it.
func (b *builder) together() {
	e := b.emitter()
	f := &ir.Func{Name: b.g.f.Name + "_adjoint", Exit: &ir.Label{Name: b.g.names.Name("exit")}, Pos: b.g.f.Pos}
	f.Params = b.paramsWithShadows()
	for i, r := range b.g.f.Results {
		local := &ir.Var{Name: b.g.names.Name(r.Name), Type: r.Type, Pos: r.Pos}
		e.results[r] = local
		e.top = append(e.top, &ir.Let{At: e.at, V: local})
		if !b.facts.Results.Has(i) {
			continue
		}
		if leads(r.Type) {
			sh := b.of(r)
			sh.Kind = ir.Local
			e.top = append(e.top, &ir.Let{At: e.at, V: sh})
		}
		if ownFloats(r.Type) {
			seed := b.own(r)
			seed.Kind = ir.Param
			f.Params = append(f.Params, seed)
		}
	}
	for i, v := range b.g.f.Params {
		if b.facts.Params.Has(i) && ownFloats(v.Type) {
			bar := b.own(v)
			bar.Kind = ir.Result
			f.Results = append(f.Results, bar)
		}
	}
	f.Params = append(f.Params, b.ws)
	forward := e.around(e.forward(b.body))
	reverse := e.rename(e.reverse(b.body))
	body := append(e.top, e.declare(e.raised(b.body))...)
	body = append(append(body, forward...), reverse...)
	m := &ir.Map{Var: ir.Renaming(e.results)}
	f.Body = m.Block(body)
	clone, _ := ir.Clone(f, nil)
	*b.rev = *clone
}
