package adjoint

import (
	"slices"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/simplify"
)

// The pass list. Of normalises the function, computes its activity, has the specialisations of the function and its
// callees analysed (callees first), emits the callees and then the entry point, and simplifies the result. The passes
// that each specialisation goes through are in analyse, the functions emitted for each mode in emit.

// Of returns the adjoint of f with respect to the parameters in m, which must hold or lead to floats. f is not
// modified. The functions that the adjoint calls belong to p as well, unless they are passive. Of returns an [*Error]
// if f, or a function that it calls, has a construct without an adjoint.
func (p *Program) Of(f *ir.Func, m activity.Mask) (a *Adjoint, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			a, err = nil, e
		}
	}()
	// Phases 1 and 2: normal form and activity.
	g := p.normalize(f)
	facts, err := p.activity.Analyze(g.f, m)
	if err != nil {
		return nil, err
	}
	// Phases 3 to 6, for f and the specialisations that it reaches.
	sp := p.specialize(spec{g, facts, p.entryAliasing(g.f), modeEntry})
	// Phases 7 and 8: emit and simplify the callees one by one, then the entry point.
	reached := sp.reach()
	for _, c := range p.created {
		if c != sp && slices.Contains(reached, c) {
			p.emit(c)
		}
	}
	a = sp.emitEntry(f)
	a.Remarks = sp.remarks()
	p.simplify(a.Func, sp)
	return a, nil
}

// analyse runs phases 3 to 6 for sp: it pairs the statements with their adjoints, collects the locations that they read
// and write, decides which are fused, recomputed and recorded, and completes the summary for callers.
func (sp *specialization) analyse() {
	sp.body = sp.pairFunc() // callees are analysed on the way
	sp.locations.collect(sp.body)
	sp.plan = sp.decide()
	sp.summarize()
}

// emit fills the functions of sp, at most once. The memory counters of callees must be known before functions that
// reset them are written, so their callees are emitted first.
func (p *Program) emit(sp *specialization) {
	if sp.emitted {
		return
	}
	sp.emitted = true
	if sp.spec.mode == modeAdvance || sp.spec.mode == modeCheckpointed {
		for _, c := range sp.reach()[1:] { // see memoryCounters
			p.emit(c)
		}
	}
	switch sp.spec.mode {
	case modeSplit:
		sp.emitSplit()
		p.simplify(sp.summary.fwd, sp)
		p.simplify(sp.summary.rev, sp)
	case modeAdvance:
		sp.emitAdvance()
		p.simplify(sp.summary.fwd, sp)
	case modeJoint:
		sp.emitJoint()
		p.simplify(sp.summary.rev, sp)
	case modeCheckpointed:
		sp.emitCheckpointedForward()
		sp.emitCheckpointedReverse()
		p.simplify(sp.summary.fwd, sp)
		p.simplify(sp.summary.rev, sp)
	}
}

// simplify optimises a function emitted for sp. It may assume that the parameters refer to disjoint memory if
// sp.spec.aliasing is nil.
func (p *Program) simplify(f *ir.Func, sp *specialization) {
	if !p.enabled(simplification) {
		return
	}
	simplify.Adjoint(f, p.work.pkg, sp.spec.aliasing == nil, f.Params[len(f.Params)-1],
		func(v *ir.Var) bool { return sp.adjoint[v] }, sp.unshared)
}

// entryAliasing returns the aliasing of an entry point: none, or one group of all parameters with references if
// arguments may overlap.
func (p *Program) entryAliasing(f *ir.Func) *aliasing {
	if all := refParams(f); p.overlap && len(all) > 0 {
		return p.aliasing([][]int{all})
	}
	return nil
}
