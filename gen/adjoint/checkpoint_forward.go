package adjoint

import (
	"go/token"
	"math"

	"github.com/nabla-ad/nabla/gen/ir"
)

// emitCheckpointedForward fills sp.fwd: it advances from the initial state to the end, takes snapshots on the way, and
// pushes the number of iterations and of snapshots for the reverse sweep.
func (sp *specialization) emitCheckpointedForward() {
	f := &ir.Func{Name: sp.g.f.Name + "_forward", Exit: &ir.Label{Name: sp.g.names.Name("exit")}, Pos: sp.g.f.Pos}
	f.Params = append(sp.paramsWithShadows(), sp.ws)
	f.Results = append(f.Results, sp.g.f.Results...)
	// The state starts as the arguments.
	s := sp.newCheckpointWriter()
	for i, c := range sp.g.segment.states {
		p := sp.g.f.Params[c.param]
		s.set(s.vars[c.param], p.Load())
		if s.shadows[i] != nil {
			s.set(s.shadows[i], sp.shadowVar(p).Load())
		}
	}
	at := s.integer("at", s.from())
	s.count = s.integer("count", ir.Count(0))
	n := len(f.Results)
	if sp.g.segment.mayExit {
		s.begun, s.reason = f.Results[n-2], f.Results[n-1]
	}
	// Run the iterations.
	switch {
	case s.c.passive():
		s.forwardPassive(at)
	case sp.g.segment.mayExit:
		s.forwardUnknown(at)
	default:
		s.forwardKnown(at)
	}
	if sp.g.segment.mayExit {
		s.set(s.begun, at.Load())
	}
	// Leave the number of iterations and snapshots to the reverse sweep, and the state to the caller.
	ends, counts := sp.newIntStack("end"), sp.newIntStack("count")
	s.Emit(ends.push(s.At, at.Load()), counts.push(s.At, s.count.Load()))
	for _, c := range sp.g.segment.states {
		s.set(f.Results[c.result], s.vars[c.param].Load())
	}
	for i, r := range sp.g.f.Results {
		if sp.facts.Results.Has(i) && leadsToFloats(r.Type) {
			sh := sp.shadowVar(r)
			sh.Kind = ir.Result
			f.Results = append(f.Results, sh)
			s.set(sh, s.shadowOfResult(i).Load())
		}
	}
	f.Body = s.Out
	*sp.summary.fwd = *sp.finish(f)
}

// newIntStack adds a stack of ints to the workspace, for both sweeps of sp.
func (sp *specialization) newIntStack(base string) tapeStack {
	s := tapeStack{ws: sp.ws, field: sp.p.work.addStack(base, integer), elem: integer}
	sp.stacks = append(sp.stacks, s)
	return s
}

// forwardKnown runs a loop with known trip count: the schedule tells where the next snapshot is to be taken (binomial,
// as in revolve), as long as there is capacity.
func (s *checkpointWriter) forwardKnown(at *ir.Var) {
	if s.sp.g.f.Checkpoint.Memory > 0 {
		s.declareRoom()
	} else {
		s.computeCapacity(minus(s.to(), s.from()))
	}
	s.forever(func(leave func() ir.Block) {
		s.Emit(&ir.If{At: s.At, Cond: ir.Compare(token.GEQ, at.Load(), s.to()), Then: leave()})
		s.when(ir.Compare(opLss, s.count.Load(), s.capacity), func() {
			s.takeSnapshot(at, s.from())
			s.fitFirst(minus(s.to(), s.from()))
		})
		next := s.integer("next", nil)
		s.callSchedule(next, "Next", at.Load(), s.to(), minus(s.capacity, s.count.Load()), s.steps)
		// The schedule is to reverse these iterations at once: run them to the end.
		s.when(ir.Compare(opEql, next.Load(), at.Load()), func() { s.set(next, s.to()) })
		s.advance(at.Load(), next.Load(), false)
		s.set(at, next.Load())
	})
}

// forwardUnknown runs a loop that may be left early: it takes a snapshot every stride iterations. When the capacity is
// reached, it drops every other snapshot and doubles the stride (cf. Stumm & Walther, New algorithms for optimal online
// checkpointing, 2010).
func (s *checkpointWriter) forwardUnknown(at *ir.Var) {
	p := s.sp.g.f.Checkpoint
	if p.Memory > 0 {
		s.declareRoom()
	}
	stride := s.integer("stride", ir.Count(int64(max(p.Steps, 1))))
	s.forever(func(leave func() ir.Block) {
		s.Emit(&ir.If{At: s.At, Cond: ir.Compare(token.GEQ, at.Load(), s.to()), Then: leave()})
		done := s.let("done", minus(at.Load(), s.from()))
		if p.Memory == 0 {
			s.computeCapacity(done)
		}
		// Thin the snapshots out when there is no capacity left.
		s.when(ir.Compare(token.GEQ, s.count.Load(), s.capacity), func() {
			s.dropAlternate()
			s.set(stride, ir.NewBinary(integer, opMul, stride.Load(), ir.Count(2)))
		})
		// Take a snapshot at multiples of the stride.
		rest := s.let("rest", ir.NewBinary(integer, token.REM, done, stride.Load()))
		some := ir.Compare(token.LAND, ir.Compare(opEql, rest, ir.Count(0)),
			ir.Compare(opLss, s.count.Load(), s.capacity))
		s.when(some, func() {
			s.takeSnapshot(at, s.from())
			s.fitFirst(ir.Count(math.MaxInt32))
		})
		next := s.integer("next", plus(at.Load(), minus(stride.Load(), rest)))
		s.when(ir.Compare(token.GTR, next.Load(), s.to()), func() { s.set(next, s.to()) })
		s.advance(at.Load(), next.Load(), true)
		s.set(at, s.begun.Load())
		s.Emit(&ir.If{At: s.At, Cond: ir.Compare(token.NEQ, s.reason.Load(), ir.Count(0)), Then: leave()})
	})
	// Spare some for the last segments.
	switch {
	case p.Memory > 0:
		half := ir.NewBinary(integer, opQuo, plus(s.capacity, ir.Count(1)), ir.Count(2))
		s.when(ir.Compare(token.GTR, s.count.Load(), half), s.dropAlternate)
	case p.Snapshots > 0:
		s.when(ir.Compare(token.GTR, s.count.Load(), ir.Count(int64(p.Snapshots+1)/2)), s.dropAlternate)
	}
}

// forwardPassive runs a loop without derivatives: one snapshot suffices to restore memory.
func (s *checkpointWriter) forwardPassive(at *ir.Var) {
	s.when(ir.Compare(opLss, at.Load(), s.to()), func() {
		s.takeSnapshot(at, s.from())
		s.advance(at.Load(), s.to(), s.sp.g.segment.mayExit)
		s.set(at, s.to())
		if s.sp.g.segment.mayExit {
			s.set(at, s.begun.Load())
		}
	})
}

// dropAlternate drops every other snapshot of the loop, keeping the first. It exchanges snapshots instead of copying
// them, so that the dropped ones keep their buffers.
func (s *checkpointWriter) dropAlternate() {
	snap := s.c.snapshot
	base := s.let("base", minus(ir.LoadOf(snap.used, integer), s.count.Load()))
	left := s.let("left", ir.NewBinary(integer, opQuo, plus(s.count.Load(), ir.Count(1)), ir.Count(2)))
	i := s.sp.g.local("i", integer)
	body := s.Nested(func() {
		to := snap.slots.place(ir.IndexStep(plus(base, i.Load())))
		from := snap.slots.place(ir.IndexStep(plus(base, ir.NewBinary(integer, opMul, ir.Count(2), i.Load()))))
		t := s.let("t", ir.LoadOf(to, snap.t))
		s.Emit(&ir.Set{At: s.At, P: to, E: ir.LoadOf(from, snap.t)}, &ir.Set{At: s.At, P: from, E: t})
	})
	s.Emit(upward(s.sp.g.names, s.At, i, ir.Count(1), left, body))
	s.Emit(&ir.Set{At: s.At, P: snap.used, E: plus(base, left)})
	s.set(s.count, left)
}
