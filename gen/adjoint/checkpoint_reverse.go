package adjoint

import (
	"go/token"

	"github.com/nabla-ad/nabla/gen/ir"
)

// The reverse sweep of a checkpointed loop.

// emitCheckpointedReverse fills sp.rev: it pops the number of iterations and of snapshots, and reverses segments from
// the last to the first, accumulating the cotangents of parameters in bars. Seeds are the cotangents of the state
// variables at the end.
func (sp *specialization) emitCheckpointedReverse() {
	f := &ir.Func{Name: sp.g.f.Name + "_reverse", Exit: &ir.Label{Name: sp.g.names.Name("exit")}, Pos: sp.g.f.Pos}
	closed := sp.checkpointed.segment.facts
	// Signature: needed parameters, shadows, seeds, workspace; cotangents of active parameters.
	for i, v := range sp.g.f.Params {
		if sp.summary.reverseTakes(i) {
			f.Params = append(f.Params, v)
		}
	}
	for i, v := range sp.g.f.Params {
		if sp.facts.Params.Has(i) && leadsToFloats(v.Type) {
			sh := sp.shadowVar(v)
			sh.Kind = ir.Param
			f.Params = append(f.Params, sh)
		}
	}
	// Declare the bars, those of state variables beginning as the seeds.
	s := sp.newCheckpointWriter()
	s.bars = make([]*ir.Var, len(sp.g.f.Params))
	for i, v := range sp.g.f.Params {
		if !closed.Params.Has(i) || !ownFloats(v.Type) {
			continue
		}
		s.bars[i] = s.variable(v.Name+"Bar", v)
		if sp.facts.Params.Has(i) {
			bar := sp.barVar(v)
			bar.Kind = ir.Result
			f.Results = append(f.Results, bar)
		}
	}
	for i, r := range sp.g.f.Results {
		if !sp.facts.Results.Has(i) || !ownFloats(r.Type) {
			continue
		}
		seed := sp.barVar(r)
		seed.Kind = ir.Param
		f.Params = append(f.Params, seed)
		for _, c := range sp.g.segment.states {
			if c.result == i {
				s.set(s.bars[c.param], seed.Load())
			}
		}
	}
	f.Params = append(f.Params, sp.ws)
	// Pop in the reverse order of the pushes.
	end, snapshots := s.integer("end", nil), s.integer("count", nil)
	s.count = snapshots
	k := len(sp.stacks)
	s.Emit(sp.stacks[k-1].pop(s.At, snapshots.Place())...)
	s.Emit(sp.stacks[k-2].pop(s.At, end.Place())...)
	if s.c.passive() {
		s.reversePassive()
	} else {
		s.computeCapacity(minus(end.Load(), s.from()))
		s.forever(func(leave func() ir.Block) {
			s.Emit(&ir.If{At: s.At, Cond: ir.NewBinary(boolean, token.LEQ, end.Load(), s.from()), Then: leave()})
			s.reverseSegment(end)
		})
	}
	for i, v := range sp.g.f.Params {
		if sp.facts.Params.Has(i) && ownFloats(v.Type) {
			s.set(sp.barVar(v), s.bars[i].Load())
		}
	}
	f.Body = s.Out
	*sp.summary.rev = *sp.finish(f)
}

// reverseSegment emits the reversal of the last segment before iteration end: restore the latest snapshot, advance,
// taking snapshots while there is capacity, until the schedule says to reverse, reverse the segment from there, and
// drop the snapshot if end has reached it. With the first snapshot memory is restored for the callers.
func (s *checkpointWriter) reverseSegment(end *ir.Var) {
	snap := s.c.snapshot
	top := func() ir.Expr { return minus(ir.LoadOf(snap.used, integer), ir.Count(1)) }
	// Restore the latest snapshot.
	latest := s.let("latest", top())
	at := s.integer("at", snap.loadField(latest, 0))
	snap.restore(s.writer, latest, s.vars, s.shadows)
	// Advance towards the end, taking snapshots, until the schedule says to reverse.
	s.forever(func(leave func() ir.Block) {
		next := s.integer("next", nil)
		s.callSchedule(next, "Next", at.Load(), end.Load(), minus(s.capacity, s.count.Load()), s.steps)
		s.Emit(&ir.If{At: s.At, Cond: ir.Compare(opEql, next.Load(), at.Load()), Then: leave()})
		s.advance(at.Load(), next.Load(), false)
		s.set(at, next.Load())
		s.when(ir.Compare(opLss, s.count.Load(), s.capacity), func() { s.takeSnapshot(at, nil) })
	})
	// Reverse the segment: cotangents of the state are passed in and returned, those of other parameters are
	// accumulated.
	c := s.c.segment
	call := &ir.Call{At: s.At, Callee: &ir.Callee{Func: c.summary.rev}, Args: s.args(at.Load(), end.Load(), c)}
	for i, r := range s.sp.g.f.Results {
		if c.facts.Results.Has(i) && ownFloats(r.Type) {
			call.Args = append(call.Args, s.bars[s.stateParam(i)].Load())
		}
	}
	call.Args = append(call.Args, s.sp.ws.Load())
	var add ir.Block
	for i, v := range s.sp.g.f.Params {
		if !c.facts.Params.Has(i) || !ownFloats(v.Type) {
			continue
		}
		if s.sp.g.segment.stateIndex(i) >= 0 {
			call.Results = append(call.Results, s.bars[i])
			continue
		}
		t := s.variable("t", v)
		call.Results = append(call.Results, t)
		add = append(add, s.Nested(func() { s.addFloats(v.Type, s.bars[i].Place(), t.Place()) })...)
	}
	s.releasing(c, func() { s.Emit(call) })
	s.Emit(add...)
	s.set(end, at.Load())
	// Drop the snapshot if the segment began there, and restore memory with the first one.
	last := s.let("last", top())
	s.when(ir.Compare(opEql, snap.loadField(last, 0), end.Load()), func() {
		s.when(ir.Compare(opEql, end.Load(), s.from()), func() {
			s.Emit(snap.restoreMemory(last, s.atFirstSnapshot(last))...)
		})
		s.Emit(&ir.Set{At: s.At, P: snap.used, E: last})
		s.Emit(&ir.Add{At: s.At, P: s.count.Place(), E: ir.Count(-1)})
	})
}

// atFirstSnapshot sets the state variables that hold references to their values in snapshot k, the first, and returns
// vars: memory is restored through the references at the beginning of the loop.
func (s *checkpointWriter) atFirstSnapshot(k ir.Expr) []*ir.Var {
	for i, c := range s.sp.g.segment.states {
		if v := s.vars[c.param]; ir.HasRefs(v.Type) {
			s.Emit(&ir.Set{At: s.At, P: v.Place(), E: s.c.snapshot.loadField(k, s.c.snapshot.states[i])})
		}
	}
	return s.vars
}

// stateParam returns the index of the parameter of the state variable that is the given result.
func (s *checkpointWriter) stateParam(result int) int {
	for _, c := range s.sp.g.segment.states {
		if c.result == result {
			return c.param
		}
	}
	panic(&Error{Func: s.sp.g.f.Name, What: "a result of a loop that is no state"})
}

// reversePassive emits the reversal of a loop without derivatives: restore memory from the snapshot, if an iteration
// was run.
func (s *checkpointWriter) reversePassive() {
	snap := s.c.snapshot
	s.when(ir.Compare(token.GTR, s.count.Load(), ir.Count(0)), func() {
		last := s.let("last", minus(ir.LoadOf(snap.used, integer), ir.Count(1)))
		s.Emit(snap.restoreMemory(last, s.atFirstSnapshot(last))...)
		s.Emit(&ir.Set{At: s.At, P: snap.used, E: last})
	})
}
