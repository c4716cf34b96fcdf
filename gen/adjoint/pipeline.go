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
	sp := p.specialize(spec{g, facts, p.entryAliases(g.f), modeEntry})
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

// analyse pairs the statements of sp with their adjoints and makes all decisions about them: fusion, recomputation,
// recording.
//
// Recording and recomputation depend on each other: recording a value makes the address of its place needed in the
// reverse sweep, which may make further variables needed. And a loop whose forward sweep would overwrite needed values
// cannot stay fused. So analyse iterates to a fixed point. In each round needed and recomputed variables are computed
// from scratch; marks write.recorded are only ever set and marks node.fused only cleared, which bounds the number of
// rounds.
func (sp *specialization) analyse() {
	// Pair the statements. Callees are analysed on the way.
	f := sp.flow
	sp.body = sp.pairBlock(sp.g.f.Body)
	// Collect the locations: assignment counts, modified memory, active classes.
	f.assignments, f.loopIndex, f.modified = map[*ir.Var]int{}, map[*ir.Var]bool{}, locationSet{}
	sp.summary.modified = f.modified
	f.definition, f.activeClass = map[*ir.Var]*ir.Let{}, map[any]bool{}
	for _, v := range sp.g.f.Params {
		f.assignments[v] = 0
		if sp.hasShadow(v) {
			f.activeClass[f.class(v)] = true
			f.assignments[sp.shadowVar(v)] = 0
		}
	}
	for _, v := range sp.g.f.Results {
		f.assignments[v] = 1
		if sp.hasShadow(v) { // no loop is fused then, see seedsResultShadows
			f.assignments[sp.shadowVar(v)] = 1
		}
	}
	each(sp.body, func(n *node) {
		n.writes = writesOf(n)
		switch s := n.s.(type) {
		case *ir.Loop:
			if s.V != nil {
				f.loopIndex[s.V] = true
			}
		case *ir.Let:
			f.definition[s.V] = s
			if sp.hasShadow(s.V) {
				f.activeClass[f.class(s.V)] = true
			}
		}
		for _, w := range n.writes {
			if !sp.p.enabled(inversion) {
				w.inverse = nil
			}
			if w.slice != nil {
				f.addMemory(f.modified, w.slice, w.valueType())
				continue
			}
			if w.place.Indirect() {
				f.addMemory(f.modified, w.place.Root, w.valueType())
			} else {
				f.assignments[w.place.Root]++
			}
		}
		if n.callee != nil {
			for k := range sp.instantiate(n, n.callee.modified) {
				f.modified[k] = true
			}
		}
	})
	// Plan: allocation sites and kills serve fusion, which comes first since it decides which values are needed at all.
	f.mergeDeclarations(sp.body)
	f.findAllocSites()
	if sp.spec.mode == modeEntry || sp.spec.mode == modeJoint {
		sp.body = f.fuse(sp.body)
	}
	if sp.spec.mode == modeAdvance { // nothing is reversed
		f.needed, f.recomputed, f.neededAtExit = map[*ir.Var]bool{}, map[*ir.Var]bool{}, locationSet{}
		sp.summarize()
		return
	}
	// Recomputation is chosen for the current marks, and the marks are updated for that choice.
	for {
		f.changed = false
		f.chooseRecomputed(sp.body, 0)
		f.recordFunc(f.neededAtEntry())
		if !f.changed {
			break
		}
	}
	// Callers add their own needs; of interest is what this function adds to nothing. The entry fact is a subset of
	// that above, so this pass sets no further marks.
	f.neededAtExit = f.recordFunc(locationSet{})
	each(sp.body, func(n *node) {
		for _, w := range n.writes {
			if w.recorded && w.inverse != nil {
				sp.p.reportApplicable(inversion)
			}
		}
	})
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
// sp.spec.alias is empty.
func (p *Program) simplify(f *ir.Func, sp *specialization) {
	if !p.enabled(simplification) {
		return
	}
	adjoint := map[string]bool{} // names, since emission clones the variables
	for _, vars := range []map[*ir.Var]*ir.Var{sp.shadows, sp.bars} {
		for _, v := range vars {
			adjoint[v.Name] = true
		}
	}
	simplify.Adjoint(f, p.work.pkg, sp.spec.alias == "", f.Params[len(f.Params)-1],
		func(v *ir.Var) bool { return adjoint[v.Name] })
}

// entryAliases returns the alias groups of an entry point: none, or one of all parameters with references if arguments
// may overlap.
func (p *Program) entryAliases(f *ir.Func) string {
	if !p.overlap {
		return ""
	}
	all := ""
	for i, v := range f.Params {
		if activity.HasRefs(v.Type) {
			all += string(rune('a' + i))
		}
	}
	return all
}
