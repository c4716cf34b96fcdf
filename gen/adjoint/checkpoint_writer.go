package adjoint

import (
	"go/token"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Helpers for writing the two sweeps of a checkpointed loop: control flow, calls of the schedule in package checkpoint,
// advancing, and snapshots.

// A checkpointWriter writes one sweep of a checkpointed loop.
type checkpointWriter struct {
	*writer
	c *checkpointedLoop
	// Vars holds the current values of the parameters of the segment function: the parameter itself, or a variable if
	// it is part of the state.
	vars    []*ir.Var
	shadows []*ir.Var // of the state variables, nil for those without
	bars    []*ir.Var // of the parameters, nil for those without; in the reverse sweep
	// Begun and reason receive how an advance ended, if the loop may be left; see segment.mayExit.
	begun    *ir.Var
	reason   *ir.Var
	count    *ir.Var // number of snapshots of this loop
	capacity ir.Expr // greatest number of snapshots
	steps    ir.Expr // number of iterations in a segment
	room     *ir.Var // the variable of the capacity if it follows from Memory and the size of the first snapshot
}

// newCheckpointWriter returns a writer that has declared the state variables and their shadows, as zero.
func (sp *specialization) newCheckpointWriter() *checkpointWriter {
	s := &checkpointWriter{writer: sp.writerAt(ir.At{Pos: sp.g.f.Pos}), c: sp.checkpointed}
	s.vars = append(s.vars, sp.g.f.Params...)
	for i, c := range sp.g.segment.states {
		p := sp.g.f.Params[c.param]
		s.vars[c.param] = s.variable(p.Name, p)
		var sh *ir.Var
		if s.c.snapshot.shadows[i] >= 0 {
			sh = s.variable(p.Name+"Bar", p)
		}
		s.shadows = append(s.shadows, sh)
	}
	return s
}

// variable declares a variable of the type of v.
func (s *checkpointWriter) variable(base string, v *ir.Var) *ir.Var {
	w := &ir.Var{Name: s.sp.g.names.Name(base), Type: v.Type, Object: v.Object, Pos: v.Pos}
	s.Emit(&ir.Let{At: s.At, V: w})
	return w
}

// integer declares an int with value e, or 0 if e is nil.
func (s *checkpointWriter) integer(base string, e ir.Expr) *ir.Var {
	v := s.sp.g.local(base, integer)
	s.Emit(&ir.Let{At: s.At, V: v, E: e})
	return v
}

// set emits the assignment of e to v.
func (s *checkpointWriter) set(v *ir.Var, e ir.Expr) { s.Emit(&ir.Set{At: s.At, P: v.Place(), E: e}) }

// when emits the statements of f under a condition.
func (s *checkpointWriter) when(cond ir.Expr, f func()) {
	s.Emit(&ir.If{At: s.At, Cond: cond, Then: s.Nested(f)})
}

// forever emits a loop that repeats the statements of f; leave returns an exit from it.
func (s *checkpointWriter) forever(f func(leave func() ir.Block)) {
	loop := &ir.Loop{At: s.At, L: &ir.Label{Name: s.sp.g.names.Name("loop")},
		Next: &ir.Label{Name: s.sp.g.names.Name("next")}}
	loop.Body = s.Nested(func() { f(func() ir.Block { return ir.Block{&ir.Leave{At: s.At, L: loop.L}} }) })
	s.Emit(loop)
}

// callSchedule assigns to v the result of a function of package checkpoint.
func (s *checkpointWriter) callSchedule(v *ir.Var, name string, args ...ir.Expr) {
	s.Emit(&ir.Call{At: s.At, Results: []*ir.Var{v}, Callee: &ir.Callee{Rule: ir.ScheduleRule(name)}, Args: args})
}

// paramFromEnd returns a parameter of the segment function, counted from the end: 1 is the last.
func (s *checkpointWriter) paramFromEnd(fromEnd int) *ir.Var {
	p := s.sp.g.f.Params
	return p[len(p)-fromEnd]
}

// from returns the number of the first iteration.
func (s *checkpointWriter) from() ir.Expr { return s.paramFromEnd(2).Load() }

// to returns the number after that of the last iteration.
func (s *checkpointWriter) to() ir.Expr { return s.paramFromEnd(1).Load() }

// computeCapacity sets capacity and steps for n iterations: as the directive says, or such that memory and work grow
// like a root of n. With an unknown trip count twice as many snapshots are permitted, since thinning leaves between
// half of the capacity and all of it.
func (s *checkpointWriter) computeCapacity(n ir.Expr) {
	p := s.sp.g.f.Checkpoint
	if p.Memory > 0 {
		s.declareRoom()
		s.when(ir.Compare(token.GTR, s.count.Load(), ir.Count(0)), func() { s.fit(n) })
		return
	}
	if p.Snapshots > 0 {
		s.capacity, s.steps = ir.Count(int64(p.Snapshots)), ir.Count(int64(p.Steps))
		return
	}
	size := s.integer("size", nil)
	s.callSchedule(size, "Size", n, ir.Count(int64(p.Levels)))
	s.capacity, s.steps = size.Load(), size.Load()
	if s.sp.g.segment.mayExit {
		s.capacity = s.let("room", ir.NewBinary(integer, opMul, size.Load(), ir.Count(2)))
	}
}

// declareRoom declares the capacity that follows from Memory, 1 until there is a snapshot.
func (s *checkpointWriter) declareRoom() {
	s.room = s.integer("room", ir.Count(1))
	s.capacity, s.steps = s.room.Load(), ir.Count(int64(s.sp.g.f.Checkpoint.Steps))
}

// fitFirst emits fit for n iterations behind the first snapshot of a loop with Memory.
func (s *checkpointWriter) fitFirst(n ir.Expr) {
	if s.room != nil {
		s.when(ir.Compare(opEql, s.count.Load(), ir.Count(1)), func() { s.fit(n) })
	}
}

// fit sets the capacity for n iterations to the number of snapshots of the size of the first one that Memory holds.
func (s *checkpointWriter) fit(n ir.Expr) {
	snap := s.c.snapshot
	first := s.let("first", minus(ir.LoadOf(snap.used, integer), s.count.Load()))
	s.callSchedule(s.room, "Fit", n, ir.Count(int64(s.sp.g.f.Checkpoint.Memory)), snap.bytes(first))
}

// advance emits the call that runs the iterations from at to next-1 and updates the state. If leaving is set it also
// assigns begun and reason.
func (s *checkpointWriter) advance(at, next ir.Expr, leaving bool) {
	c := s.c.advance
	call := &ir.Call{At: s.At, Callee: &ir.Callee{Func: c.summary.fwd}, Args: s.args(at, next, c)}
	call.Results = make([]*ir.Var, len(s.sp.g.f.Results))
	for _, st := range s.sp.g.segment.states {
		call.Results[st.result] = s.vars[st.param]
	}
	if leaving {
		n := len(call.Results)
		call.Results[n-2], call.Results[n-1] = s.begun, s.reason
	}
	if s.c.snapshotsShadows {
		for i, r := range s.sp.g.f.Results {
			if c.facts.Results.Has(i) && leadsToFloats(r.Type) {
				call.Results = append(call.Results, s.shadowOfResult(i))
			}
		}
	}
	call.Args = append(call.Args, s.sp.ws.Load())
	s.releasing(c, func() { s.Emit(call) })
}

// releasing emits the statements of f, and resets the memory counters of c after them: the buffers are not needed
// later.
func (s *checkpointWriter) releasing(c *specialization, f func()) {
	type mark struct {
		p *ir.Place
		m ir.Expr
	}
	var marks []mark
	for _, p := range c.memoryCounters() {
		p = &ir.Place{Root: s.sp.ws, Path: p.Path}
		marks = append(marks, mark{p, s.let("mark", ir.LoadOf(p, integer))})
	}
	f()
	for _, m := range marks {
		s.Emit(&ir.Set{At: s.At, P: m.p, E: m.m})
	}
}

// args returns the arguments for running the iterations from at to next-1 by c: parameters, then shadows.
func (s *checkpointWriter) args(at, next ir.Expr, c *specialization) (out []ir.Expr) {
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
	for i, v := range s.sp.g.f.Params {
		if c.facts.Params.Has(i) && leadsToFloats(v.Type) {
			out = append(out, s.shadowOfParam(i).Load())
		}
	}
	return out
}

// shadowOfParam returns the current shadow of parameter i.
func (s *checkpointWriter) shadowOfParam(i int) *ir.Var {
	if k := s.sp.g.segment.stateIndex(i); k >= 0 && s.shadows[k] != nil {
		return s.shadows[k]
	}
	return s.sp.shadowVar(s.sp.g.f.Params[i])
}

// shadowOfResult returns the current shadow of the state variable that is result i, or nil.
func (s *checkpointWriter) shadowOfResult(i int) *ir.Var {
	for k, c := range s.sp.g.segment.states {
		if c.result == i {
			return s.shadows[k]
		}
	}
	return nil
}

// takeSnapshot emits a snapshot before iteration at; from is the first iteration, or nil if at is a later one.
func (s *checkpointWriter) takeSnapshot(at *ir.Var, from ir.Expr) {
	s.c.snapshot.take(s.writer, at.Load(), s.vars, s.shadows, from)
	s.Emit(&ir.Add{At: s.At, P: s.count.Place(), E: ir.Count(1)})
}
