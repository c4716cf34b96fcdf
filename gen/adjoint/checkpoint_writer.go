package adjoint

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// sweep writes one of the two sweeps of a marked loop.
type checkpointWriter struct {
	*writer
	c *checkpointedLoop
	// vars stand for the parameters of the loop: those of the function, but for the state
	// variables of their own. shadows and bars are those of the state variables, or nil.
	vars, shadows, bars []*ir.Var
	// begun and why are how a segment ended, of a loop that may be left.
	begun, reason *ir.Var
	count         *ir.Var // of snapshots
	capacity      ir.Expr // how many there may be
	steps         ir.Expr // how many iterations are reversed at once
}

// sweepOf begins a sweep with the state variables, which are zero.
func (b *builder) newCheckpointWriter() *checkpointWriter {
	s := &checkpointWriter{writer: b.writerAt(ir.At{Pos: b.g.f.Pos}), c: b.checkpointed}
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
func (s *checkpointWriter) variable(base string, v *ir.Var) *ir.Var {
	w := &ir.Var{Name: s.b.g.names.Name(base), Type: v.Type, Object: v.Object, Pos: v.Pos}
	s.Emit(&ir.Let{At: s.At, V: w})
	return w
}

func (s *checkpointWriter) integer(base string, e ir.Expr) *ir.Var {
	v := s.b.g.local(base, integer)
	s.Emit(&ir.Let{At: s.At, V: v, E: e})
	return v
}

func (s *checkpointWriter) set(v *ir.Var, e ir.Expr) { s.Emit(&ir.Set{At: s.At, P: v.Place(), E: e}) }

// when emits what f does for where a condition holds.
func (s *checkpointWriter) when(cond ir.Expr, f func()) {
	s.Emit(&ir.If{At: s.At, Cond: cond, Then: s.Nested(f)})
}

// forever repeats what f emits until it is left.
func (s *checkpointWriter) forever(f func(leave func() ir.Block)) {
	loop := &ir.Loop{At: s.At, L: &ir.Label{Name: s.b.g.names.Name("loop")},
		Next: &ir.Label{Name: s.b.g.names.Name("next")}}
	loop.Body = s.Nested(func() { f(func() ir.Block { return ir.Block{&ir.Leave{At: s.At, L: loop.L}} }) })
	s.Emit(loop)
}

// rule assigns what a function of package checkpoint returns.
func (s *checkpointWriter) callSchedule(v *ir.Var, name string, args ...ir.Expr) {
	s.Emit(&ir.Call{At: s.At, Results: []*ir.Var{v}, Callee: &ir.Callee{Rule: ir.ScheduleRule(name)}, Args: args})
}

func (s *checkpointWriter) paramFromEnd(fromEnd int) *ir.Var {
	p := s.b.g.f.Params
	return p[len(p)-fromEnd]
}

// from and to are the first iteration and the one behind the last.
func (s *checkpointWriter) from() ir.Expr { return s.paramFromEnd(2).Load() }

func (s *checkpointWriter) to() ir.Expr { return s.paramFromEnd(1).Load() }

// plan finds out how many snapshots there may be and how many iterations are reversed at
// once, of n. Where n was not known there may be twice as many snapshots.
func (s *checkpointWriter) computeCapacity(n ir.Expr) {
	p := s.b.g.f.Checkpoint
	if p.Snapshots > 0 {
		s.capacity, s.steps = count(int64(p.Snapshots)), count(int64(p.Steps))
		return
	}
	size := s.integer("size", nil)
	s.callSchedule(size, "Size", n, count(int64(p.Levels)))
	s.capacity, s.steps = size.Load(), size.Load()
	if s.b.g.segment.mayExit {
		s.capacity = s.let("room", binary(integer, opMul, size.Load(), count(2)))
	}
}

// run runs the iterations from at to next. Leaving says that it has to be known how they
// end.
func (s *checkpointWriter) advance(at, next ir.Expr, leaving bool) {
	c := s.c.advance
	call := &ir.Call{At: s.At, Callee: &ir.Callee{Func: c.fwd}, Args: s.args(at, next, c)}
	call.Results = make([]*ir.Var, len(s.b.g.f.Results))
	for _, st := range s.b.g.segment.states {
		call.Results[st.result] = s.vars[st.param]
	}
	if leaving {
		n := len(call.Results)
		call.Results[n-2], call.Results[n-1] = s.begun, s.reason
	}
	if s.c.snapshotsShadows {
		for i, r := range s.b.g.f.Results {
			if c.facts.Results.Has(i) && leadsToFloats(r.Type) {
				call.Results = append(call.Results, s.shadowOfResult(i))
			}
		}
	}
	call.Args = append(call.Args, s.b.ws.Load())
	s.releasing(c, func() { s.Emit(call) })
}

// marked emits what f does and gives back the memory of the workspace that it takes.
func (s *checkpointWriter) releasing(c *builder, f func()) {
	type mark struct {
		p *ir.Place
		m ir.Expr
	}
	var marks []mark
	for _, p := range c.memoryCounters() {
		p = &ir.Place{Root: s.b.ws, Path: p.Path}
		marks = append(marks, mark{p, s.let("mark", load(p, integer))})
	}
	f()
	for _, m := range marks {
		s.Emit(&ir.Set{At: s.At, P: m.p, E: m.m})
	}
}

// args are the arguments of what runs the iterations from at to next, with their shadows.
func (s *checkpointWriter) args(at, next ir.Expr, c *builder) (out []ir.Expr) {
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
		if c.facts.Params.Has(i) && leadsToFloats(v.Type) {
			out = append(out, s.shadowOfParam(i).Load())
		}
	}
	return out
}

func (s *checkpointWriter) shadowOfParam(i int) *ir.Var {
	if k := s.b.g.segment.stateIndex(i); k >= 0 && s.shadows[k] != nil {
		return s.shadows[k]
	}
	return s.b.shadowVar(s.b.g.f.Params[i])
}

func (s *checkpointWriter) shadowOfResult(i int) *ir.Var {
	for k, c := range s.b.g.segment.states {
		if c.result == i {
			return s.shadows[k]
		}
	}
	return nil
}

// keep takes a snapshot before iteration at, which may be the first, from, unless that is
// nil.
func (s *checkpointWriter) takeSnapshot(at *ir.Var, from ir.Expr) {
	s.c.snapshot.take(s.writer, at.Load(), s.vars, s.shadows, from)
	s.Emit(&ir.Add{At: s.At, P: s.count.Place(), E: count(1)})
}
