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
	// Alias lists the groups of parameters that may refer to the same memory, separated by spaces. The letter 'a'+i
	// stands for parameter i.
	alias string
	mode  mode
}

// A specialization holds one specialisation of a function throughout all phases: the paired statements, the results of
// the analyses and the generated functions. Callers of the function refer to it in their nodes.
type specialization struct {
	p     *Program
	spec  spec
	g     *normalForm     // spec.g
	facts *activity.Facts // spec.facts

	shadows map[*ir.Var]*ir.Var // primal variable → its shadow, a variable of the forward sweep
	bars    map[*ir.Var]*ir.Var // primal variable → its cotangent, a variable of the reverse sweep
	// shadow, or temporary that holds references of a shadow → primal variable
	primalOf    map[*ir.Var]*ir.Var
	activeTemps map[*ir.Var]bool // temporaries of the forward sweep with a shadow, unknown to facts
	body        []*node          // the paired statements; fusion reorders them
	ws          *ir.Var          // the parameter that points to the workspace
	at          ir.At            // the position of the statement that is being paired

	pending []*node  // nodes to be placed before those of the statement that is being paired
	flow    *flow    // results of the analyses
	summary *summary // what callers know; its functions are filled by emit

	stacks   []tapeStack // stacks of the workspace that the sweeps push to and pop from
	counters []*ir.Place // fields of the workspace that count the allocations in use

	checkpointed *checkpointedLoop // set if the mode is modeCheckpointed
	emitted      bool              // fwd and rev are filled
}

// newSpecialization returns a specialisation for k that has not been analysed.
func newSpecialization(p *Program, k spec) *specialization {
	sp := &specialization{
		p: p, spec: k, g: k.g, facts: k.facts,
		shadows: map[*ir.Var]*ir.Var{}, bars: map[*ir.Var]*ir.Var{}, primalOf: map[*ir.Var]*ir.Var{},
		activeTemps: map[*ir.Var]bool{},
	}
	sp.ws = &ir.Var{Name: sp.g.names.Name("ws"), Type: types.NewPointer(p.work.Type), Kind: ir.Param}
	sp.flow = newFlow(sp)
	sp.summary = &summary{of: sp, class: sp.flow.class}
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
	each(sp.body, func(n *node) {
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
