package adjoint

import (
	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// Checkpointed loops (Griewank & Walther 2008, chapter 12; Griewank & Walther, Algorithm 799: revolve, 2000). The
// forward sweep of the loop advances: it runs the iterations without recording, and takes snapshots of the state. The
// reverse sweep restores the latest snapshot, advances from it to where the schedule of package checkpoint says, taking
// further snapshots, and there runs both sweeps of a segment, some iterations, at once. In the end it restores memory
// from the first snapshot, so that to the calling function the loop is a call that undoes its effects.
//
// The input is the segment function of normal_outline.go, specialised twice: for joint reversal of a segment, and for
// advancing.
//
// For the iterations from ≤ i < to of a loop with state x:
//
//	forward sweep                     reverse sweep
//	at := from                        pop end and the number of snapshots
//	for at < to {                     for end > from {
//	    take a snapshot                   restore the latest snapshot, of iteration at
//	    next := Next(at, to, …)           for next := Next(at, end, …); next != at; next = Next(at, end, …) {
//	    x = advance(x, at, next)              x = advance(x, at, next); at = next
//	    at = next                             take a snapshot
//	}                                     }
//	push at and the number                xBar = segment(x, at, end, xBar)  // both sweeps of these iterations
//	    of snapshots                      end = at
//	                                      drop the snapshot if it is that of end; with the first one, restore memory
//	                                  }
//
// Snapshots are taken only as long as there is capacity. advance runs the primal, segment is the joint reversal.

// notRepeatable is the reason why a loop with effects is not checkpointed.
const notRepeatable = "it calls a function whose calls must not be repeated, such as one that prints or reads the clock"

// A checkpointedLoop holds the specialisations of a segment function that the sweeps of its loop call.
type checkpointedLoop struct {
	segment *specialization // runs both sweeps of a segment
	advance *specialization // runs iterations without recording
	// SnapshotsShadows is set if iterations hand on references with shadows. Then advance moves the shadows too, and
	// snapshots hold them.
	snapshotsShadows bool
	snapshot         *snapshot // layout of the snapshots
}

// checkpointed returns the specialisation k of a segment function, reversed segment by segment. It returns nil, and
// notes the reason in the segment, if the loop must be reversed like any other: iterations leak allocations, references
// become active only in the loop, or the memory that it writes does not fit a snapshot. The summary of the result,
// which callers read, is derived from the analysis of the segment.
func (p *Program) checkpointed(k spec) *specialization {
	k.mode = modeCheckpointed
	if sp := p.specializations[k]; sp != nil {
		return sp
	}
	g := k.g
	slow := func(why string) *specialization {
		if g.segment.notCheckpointed == "" {
			g.segment.notCheckpointed = why
		}
		return nil
	}
	if hasEffects(g.f.Body) {
		return slow(notRepeatable)
	}
	// The segment must treat as active all that any iteration makes active.
	closed, err := p.closeOverIterations(g, k.facts)
	if err != nil {
		return slow(err.Error())
	}
	c := &checkpointedLoop{segment: p.specialize(spec{g, closed, k.aliasing, modeJoint})}
	if why := c.segment.summary.leaksAllocation(); why != "" {
		return slow(why)
	}
	// Shadows of references must exist before the loop and be known after it.
	for i, v := range g.f.Params {
		if leadsToFloats(v.Type) && closed.Params.Has(i) != k.facts.Params.Has(i) {
			return slow("memory of " + sourceName(v) + " becomes active only in it")
		}
	}
	for i, v := range g.f.Results {
		if leadsToFloats(v.Type) && closed.Results.Has(i) {
			c.snapshotsShadows = true
		}
		if leadsToFloats(v.Type) && closed.Results.Has(i) != k.facts.Results.Has(i) {
			return slow("memory of " + sourceName(v) + " becomes active only in it")
		}
	}
	// Without shadows to be moved, advancing needs no derivatives at all.
	facts := closed
	if !c.snapshotsShadows {
		if facts, err = p.activity.Analyze(g.f, activity.Mask{}); err != nil {
			return slow(err.Error())
		}
	}
	c.advance = p.specialize(spec{g, facts, k.aliasing, modeAdvance})
	sp := newSpecialization(p, k)
	sp.checkpointed, sp.plan = c, newPlan(nil)
	if c.snapshot = sp.layoutSnapshot(); c.snapshot.unsupported != "" {
		return slow(c.snapshot.unsupported)
	}
	// Callers see a summary: the loop takes all primal parameters that are not state but the last, and needs the memory
	// that it reads and does not restore itself.
	ls := c.segment.locations
	sum := sp.summary
	sum.complete, sum.tape, sum.class, sum.modified, sum.neededAtExit = true, true, ls.class, ls.modified, locationSet{}
	sum.leakSites = []leakSite{{callee: c.segment.summary}}
	for i, v := range g.f.Params {
		if ir.HasRefs(v.Type) {
			ls.addReachable(sum.neededAtExit, v)
		}
		if g.segment.stateIndex(i) < 0 && i != len(g.f.Params)-1 {
			sum.needsParam = sum.needsParam.With(i)
		}
	}
	for k := range ls.modified { // restored before the reversal of the callers reads it
		if !k.shadow {
			delete(sum.neededAtExit, k)
		}
	}
	p.specializations[k] = sp
	p.created = append(p.created, sp)
	return sp
}

// passive reports whether nothing in the loop carries derivatives, so that its reversal only restores memory.
func (c *checkpointedLoop) passive() bool { return c.segment.facts.Passive() }

// closeOverIterations returns the activity of g with all state variables active that become active in an iteration,
// starting from facts. It iterates to the least fixed point: the set of active parameters only grows.
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
