package adjoint

import (
	"go/token"

	"github.com/nabla-ad/nabla/gen/ir"
)

// sweep writes one of the two sweeps of a marked loop.
type sweep struct {
	*writer
	c *chain
	// vars stand for the parameters of the loop: those of the function, but for the state
	// variables of their own. shadows and bars are those of the state variables, or nil.
	vars, shadows, bars []*ir.Var
	// begun and why are how a segment ended, of a loop that may be left.
	begun, why *ir.Var
	count      *ir.Var // of snapshots
	room       ir.Expr // how many there may be
	steps      ir.Expr // how many iterations are reversed at once
}

// sweepOf begins a sweep with the state variables, which are zero.
func (b *builder) sweepOf() *sweep {
	s := &sweep{writer: b.writerAt(ir.At{Pos: b.g.f.Pos}), c: b.chain}
	s.vars = append(s.vars, b.g.f.Params...)
	for i, c := range b.g.segment.states {
		p := b.g.f.Params[c.param]
		s.vars[c.param] = s.variable(p.Name, p)
		var sh *ir.Var
		if s.c.snapshot.shadows[i] >= 0 {
			sh = s.variable(p.Name+"Bar", p)
		}
		s.shadows = append(s.shadows, sh)
	}
	return s
}

// variable declares a variable like v.
func (s *sweep) variable(base string, v *ir.Var) *ir.Var {
	w := &ir.Var{Name: s.b.g.names.Name(base), Type: v.Type, Object: v.Object, Pos: v.Pos}
	s.Emit(&ir.Let{At: s.At, V: w})
	return w
}

func (s *sweep) integer(base string, e ir.Expr) *ir.Var {
	v := s.b.g.local(base, integer)
	s.Emit(&ir.Let{At: s.At, V: v, E: e})
	return v
}

func (s *sweep) set(v *ir.Var, e ir.Expr) { s.Emit(&ir.Set{At: s.At, P: v.Place(), E: e}) }

// when emits what f does for where a condition holds.
func (s *sweep) when(cond ir.Expr, f func()) {
	s.Emit(&ir.If{At: s.At, Cond: cond, Then: s.Nested(f)})
}

// forever repeats what f emits until it is left.
func (s *sweep) forever(f func(leave func() ir.Block)) {
	loop := &ir.Loop{At: s.At, L: &ir.Label{Name: s.b.g.names.Name("loop")},
		Next: &ir.Label{Name: s.b.g.names.Name("next")}}
	loop.Body = s.Nested(func() { f(func() ir.Block { return ir.Block{&ir.Leave{At: s.At, L: loop.L}} }) })
	s.Emit(loop)
}

// rule assigns what a function of package checkpoint returns.
func (s *sweep) rule(v *ir.Var, name string, args ...ir.Expr) {
	s.Emit(&ir.Call{At: s.At, Results: []*ir.Var{v}, Callee: &ir.Callee{Rule: ir.ScheduleRule(name)}, Args: args})
}

func (s *sweep) param(fromEnd int) *ir.Var {
	p := s.b.g.f.Params
	return p[len(p)-fromEnd]
}

// from and to are the first iteration and the one behind the last.
func (s *sweep) from() ir.Expr { return s.param(2).Load() }
func (s *sweep) to() ir.Expr   { return s.param(1).Load() }

func plus(x, y ir.Expr) ir.Expr  { return binary(integer, opAdd, x, y) }
func minus(x, y ir.Expr) ir.Expr { return binary(integer, opSub, x, y) }

// plan finds out how many snapshots there may be and how many iterations are reversed at
// once, of n. Where n was not known there may be twice as many snapshots.
func (s *sweep) plan(n ir.Expr) {
	p := s.b.g.f.Checkpoint
	if p.Snapshots > 0 {
		s.room, s.steps = count(int64(p.Snapshots)), count(int64(p.Steps))
		return
	}
	size := s.integer("size", nil)
	s.rule(size, "Size", n, count(int64(p.Levels)))
	s.room, s.steps = size.Load(), size.Load()
	if s.b.g.segment.leaves {
		s.room = s.let("room", binary(integer, opMul, size.Load(), count(2)))
	}
}

// run runs the iterations from at to next. Leaving says that it has to be known how they
// end.
func (s *sweep) run(at, next ir.Expr, leaving bool) {
	c := s.c.plain
	call := &ir.Call{At: s.At, Callee: &ir.Callee{Func: c.fwd}, Args: s.args(at, next, c)}
	call.Results = make([]*ir.Var, len(s.b.g.f.Results))
	for _, st := range s.b.g.segment.states {
		call.Results[st.result] = s.vars[st.param]
	}
	if leaving {
		n := len(call.Results)
		call.Results[n-2], call.Results[n-1] = s.begun, s.why
	}
	if s.c.lockstep {
		for i, r := range s.b.g.f.Results {
			if c.facts.Results.Has(i) && leads(r.Type) {
				call.Results = append(call.Results, s.shadowOfResult(i))
			}
		}
	}
	call.Args = append(call.Args, s.b.ws.Load())
	s.marked(c, func() { s.Emit(call) })
}

// marked emits what f does and gives back the memory of the workspace that it takes.
func (s *sweep) marked(c *builder, f func()) {
	type mark struct {
		p *ir.Place
		m ir.Expr
	}
	var marks []mark
	for _, p := range c.used() {
		p = &ir.Place{Root: s.b.ws, Path: p.Path}
		marks = append(marks, mark{p, s.let("mark", load(p, integer))})
	}
	f()
	for _, m := range marks {
		s.Emit(&ir.Set{At: s.At, P: m.p, E: m.m})
	}
}

// args are the arguments of what runs the iterations from at to next, with their shadows.
func (s *sweep) args(at, next ir.Expr, c *builder) (out []ir.Expr) {
	n := len(s.vars)
	for i, v := range s.vars {
		switch i {
		case n - 2:
			out = append(out, at)
		case n - 1:
			out = append(out, next)
		default:
			out = append(out, v.Load())
		}
	}
	for i, v := range s.b.g.f.Params {
		if c.facts.Params.Has(i) && leads(v.Type) {
			out = append(out, s.shadowOfParam(i).Load())
		}
	}
	return out
}

func (s *sweep) shadowOfParam(i int) *ir.Var {
	if k := s.b.g.segment.state(i); k >= 0 && s.shadows[k] != nil {
		return s.shadows[k]
	}
	return s.b.of(s.b.g.f.Params[i])
}

func (s *sweep) shadowOfResult(i int) *ir.Var {
	for k, c := range s.b.g.segment.states {
		if c.result == i {
			return s.shadows[k]
		}
	}
	return nil
}

// keep takes a snapshot before iteration at, which may be the first, from, unless that is
// nil.
func (s *sweep) keep(at *ir.Var, from ir.Expr) {
	s.c.snapshot.push(s.writer, at.Load(), s.vars, s.shadows, from)
	s.Emit(&ir.Add{At: s.At, P: s.count.Place(), E: count(1)})
}

// forwardChain writes the forward sweep.
func (b *builder) forwardChain() {
	f := &ir.Func{Name: b.g.f.Name + "_forward", Exit: &ir.Label{Name: b.g.names.Name("exit")}, Pos: b.g.f.Pos}
	f.Params = append(b.paramsWithShadows(), b.ws)
	f.Results = append(f.Results, b.g.f.Results...)
	s := b.sweepOf()
	for i, c := range b.g.segment.states {
		p := b.g.f.Params[c.param]
		s.set(s.vars[c.param], p.Load())
		if s.shadows[i] != nil {
			s.set(s.shadows[i], b.of(p).Load())
		}
	}
	at := s.integer("at", s.from())
	s.count = s.integer("count", count(0))
	n := len(f.Results)
	if b.g.segment.leaves {
		s.begun, s.why = f.Results[n-2], f.Results[n-1]
	}
	switch {
	case s.c.still():
		s.still(at)
	case b.g.segment.leaves:
		s.unknown(at)
	default:
		s.known(at)
	}
	if b.g.segment.leaves {
		s.set(s.begun, at.Load())
	}
	ends, counts := b.stackFor("end"), b.stackFor("count")
	s.Emit(ends.push(s.At, at.Load()), counts.push(s.At, s.count.Load()))
	for _, c := range b.g.segment.states {
		s.set(f.Results[c.result], s.vars[c.param].Load())
	}
	for i, r := range b.g.f.Results {
		if b.facts.Results.Has(i) && leads(r.Type) {
			sh := b.of(r)
			sh.Kind = ir.Result
			f.Results = append(f.Results, sh)
			s.set(sh, s.shadowOfResult(i).Load())
		}
	}
	f.Body = s.Out
	clone, _ := ir.Clone(f, nil)
	*b.fwd = *clone
}

// stackFor is a stack of integers for both sweeps.
func (b *builder) stackFor(base string) stack {
	s := stack{ws: b.ws, field: b.p.work.stack(base, integer), of: integer}
	b.stacks = append(b.stacks, s)
	return s
}

// known runs a loop whose number of iterations is known.
func (s *sweep) known(at *ir.Var) {
	s.plan(minus(s.to(), s.from()))
	s.forever(func(leave func() ir.Block) {
		s.Emit(&ir.If{At: s.At, Cond: compare(token.GEQ, at.Load(), s.to()), Then: leave()})
		s.when(compare(opLss, s.count.Load(), s.room), func() { s.keep(at, s.from()) })
		next := s.integer("next", nil)
		s.rule(next, "Next", at.Load(), s.to(), minus(s.room, s.count.Load()), s.steps)
		s.when(compare(opEql, next.Load(), at.Load()), func() { s.set(next, s.to()) })
		s.run(at.Load(), next.Load(), false)
		s.set(at, next.Load())
	})
}

// unknown runs a loop that may be left: where there are too many snapshots every other
// one is given up.
func (s *sweep) unknown(at *ir.Var) {
	p := s.b.g.f.Checkpoint
	stride := s.integer("stride", count(int64(max(p.Steps, 1))))
	s.forever(func(leave func() ir.Block) {
		s.Emit(&ir.If{At: s.At, Cond: compare(token.GEQ, at.Load(), s.to()), Then: leave()})
		done := s.let("done", minus(at.Load(), s.from()))
		s.plan(done)
		s.when(compare(token.GEQ, s.count.Load(), s.room), func() {
			s.thin()
			s.set(stride, binary(integer, opMul, stride.Load(), count(2)))
		})
		rest := s.let("rest", binary(integer, token.REM, done, stride.Load()))
		some := compare(token.LAND, compare(opEql, rest, count(0)), compare(opLss, s.count.Load(), s.room))
		s.when(some, func() { s.keep(at, s.from()) })
		next := s.integer("next", plus(at.Load(), minus(stride.Load(), rest)))
		s.when(compare(token.GTR, next.Load(), s.to()), func() { s.set(next, s.to()) })
		s.run(at.Load(), next.Load(), true)
		s.set(at, s.begun.Load())
		s.Emit(&ir.If{At: s.At, Cond: compare(token.NEQ, s.why.Load(), count(0)), Then: leave()})
	})
	if half := (p.Snapshots + 1) / 2; half > 0 { // without room the last iterations would be run over and over
		s.when(compare(token.GTR, s.count.Load(), count(int64(half))), s.thin)
	}
}

// still runs a loop in which nothing carries a derivative: it is only undone.
func (s *sweep) still(at *ir.Var) {
	s.when(compare(opLss, at.Load(), s.to()), func() {
		s.keep(at, s.from())
		s.run(at.Load(), s.to(), s.b.g.segment.leaves)
		s.set(at, s.to())
		if s.b.g.segment.leaves {
			s.set(at, s.begun.Load())
		}
	})
}

// thin gives up every other snapshot of the loop.
func (s *sweep) thin() {
	snap := s.c.snapshot
	base := s.let("base", minus(load(snap.used, integer), s.count.Load()))
	left := s.let("left", binary(integer, opQuo, plus(s.count.Load(), count(1)), count(2)))
	i := s.b.g.local("i", integer)
	body := s.Nested(func() {
		to := snap.slots.place(ir.IndexStep(plus(base, i.Load())))
		from := snap.slots.place(ir.IndexStep(plus(base, binary(integer, opMul, count(2), i.Load()))))
		t := s.let("t", load(to, snap.t))
		s.Emit(&ir.Set{At: s.At, P: to, E: load(from, snap.t)}, &ir.Set{At: s.At, P: from, E: t})
	})
	s.Emit(upward(s.b.g.names, s.At, i, count(1), left, body))
	s.Emit(&ir.Set{At: s.At, P: snap.used, E: plus(base, left)})
	s.set(s.count, left)
}
