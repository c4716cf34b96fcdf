package adjoint

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// A mode selects the functions that are generated for a specialisation. Joint and split reversal are those of Griewank
// & Walther (2008), chapter 12.
type mode uint8

const (
	modeEntry        mode = iota // one function with both sweeps, called by users
	modeSplit                    // a callee: one function for each sweep
	modeAdvance                  // runs the primal and moves shadows along, records nothing
	modeJoint                    // both sweeps of a loop segment in one function
	modeCheckpointed             // a loop that is reversed segment by segment
)

// A spec identifies a specialisation of a function: the cache key of Program.specialize.
type spec struct {
	g     *normalForm     // the function
	facts *activity.Facts // its activity; equal activity means an identical pointer
	// which parameters may refer to the same memory; equal aliasing means an identical pointer
	aliasing *aliasing
	mode     mode
}

// An aliasing is a list of groups of parameters, given by their indices: the parameters of one group may refer to the
// same memory. Those in no group refer to disjoint memory. A nil aliasing has no groups.
type aliasing struct {
	groups [][]int
}

// aliasing returns the aliasing with the given groups of sorted indices. Equal groups give the same pointer, in
// whatever order they are.
func (p *Program) aliasing(groups [][]int) *aliasing {
	if len(groups) == 0 {
		return nil
	}
	slices.SortFunc(groups, slices.Compare)
	for _, a := range p.aliasings {
		if slices.EqualFunc(a.groups, groups, slices.Equal) {
			return a
		}
	}
	a := &aliasing{groups}
	p.aliasings = append(p.aliasings, a)
	return a
}

// A specialization holds one specialisation of a function throughout all phases. Each phase reads the fields of those
// before it and sets its own.
type specialization struct {
	p       *Program
	spec    spec
	g       *normalForm     // phase 1: spec.g
	facts   *activity.Facts // phase 2: spec.facts
	pairing                 // phase 3: the statements with their adjoints
	// phase 4: which memory they read and write; the alias classes are known while statements are paired
	locations *locations
	plan      *plan    // phases 5 and 6: what is fused, recomputed and recorded
	summary   *summary // the interface to callers; complete after phase 6, its functions are filled by phase 7
	ws        *ir.Var  // the parameter that points to the workspace

	// fields that phase 7 adds to the workspace: stacks that the sweeps push to and pop from, and counters of
	// allocations in use
	stacks   []tapeStack
	counters []*ir.Place
	adjoint  map[*ir.Var]bool // variables of the emitted functions that hold cotangents or lead to them
	emitted  bool             // the functions of the summary are filled
	// variables of the emitted functions, the results and the copies in the reverse sweep, that hold what the given
	// ones of the primal, or their shadows, held where the primal used them
	standsFor map[*ir.Var]*ir.Var
	// slices of the emitted functions that are apart where they are used → which one of the primal it is, or its shadow
	unshared map[*ir.Var]*ir.Var

	checkpointed *checkpointedLoop // set if the mode is modeCheckpointed, which has no phases 3 to 6 of its own
}

// newSpecialization returns a specialisation for k that has not been analysed.
func newSpecialization(p *Program, k spec) *specialization {
	sp := &specialization{
		p: p, spec: k, g: k.g, facts: k.facts,
		pairing: pairing{
			shadows: map[*ir.Var]*ir.Var{}, bars: map[*ir.Var]*ir.Var{}, primalOf: map[*ir.Var]*ir.Var{},
			activeTemps: map[*ir.Var]bool{},
		},
	}
	sp.adjoint, sp.standsFor, sp.unshared = map[*ir.Var]bool{}, map[*ir.Var]*ir.Var{}, map[*ir.Var]*ir.Var{}
	sp.ws = &ir.Var{Name: sp.g.names.Name("ws"), Type: types.NewPointer(p.work.Type), Kind: ir.Param}
	sp.locations = newLocations(sp)
	sp.summary = &summary{of: sp, class: sp.locations.class}
	if k.mode != modeEntry {
		sp.summary.fwd, sp.summary.rev = &ir.Func{}, &ir.Func{}
	}
	return sp
}

// specialize returns the specialisation k, analysed. During a recursive call it may return one whose analysis is
// incomplete, which readers recognise by summary.complete.
func (p *Program) specialize(k spec) *specialization {
	if sp := p.specializations[k]; sp != nil {
		return sp
	}
	sp := newSpecialization(p, k)
	p.specializations[k] = sp
	p.created = append(p.created, sp)
	sp.analyse()
	return sp
}

// callees returns the specialisations that the sweeps of sp call directly, with repetitions.
func (sp *specialization) callees() (out []*specialization) {
	each(sp.plan.body, func(n *node) {
		if n.callee != nil {
			out = append(out, n.callee.of)
		}
	})
	if sp.checkpointed != nil {
		out = append(out, sp.checkpointed.advance, sp.checkpointed.segment)
	}
	return out
}

// reach returns sp and all specialisations that its sweeps may call, each once, in breadth-first order.
func (sp *specialization) reach() []*specialization {
	list := []*specialization{sp}
	for i := 0; i < len(list); i++ {
		for _, c := range list[i].callees() {
			if !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
	}
	return list
}
