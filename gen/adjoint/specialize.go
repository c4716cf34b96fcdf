package adjoint

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// mode is what is built of a function.
type mode uint8

const (
	modeEntry        mode = iota // forward and reverse sweep in one function
	modeSplit                    // one function each
	modeAdvance                  // what runs the function and keeps nothing
	modeJoint                    // both sweeps of a segment of a loop in one function
	modeCheckpointed             // a loop, reversed in segments
)

// key tells apart what is built of a function. Alias says which parameters may lead to
// the same memory.
type spec struct {
	g     *normalForm
	facts *activity.Facts
	alias string
	mode  mode
}

// builder builds the adjoint of one function.
type builder struct {
	p     *Program
	spec  spec
	g     *normalForm
	facts *activity.Facts

	shadows     map[*ir.Var]*ir.Var // what leads to adjoints, made in the forward sweep
	bars        map[*ir.Var]*ir.Var // adjoints of a variable's own numbers
	primalOf    map[*ir.Var]*ir.Var // shadows to the variables they are of
	activeTemps map[*ir.Var]bool    // variables of the forward sweep that have shadows besides
	body        []*node
	ws          *ir.Var
	at          ir.At

	pending   []*node // that go before the statement that is made now
	flow      *flow
	analysed  bool
	recursive bool // was called before it was analysed
	fwd, rev  *ir.Func

	stacks   []tapeStack // of the workspace that it uses
	counters []*ir.Place // and how much it uses of its memory

	checkpointed   *checkpointedLoop // of a marked loop
	emitted        bool
	allocationLeak *string // why it leaves new memory behind, if that is known
}

func newBuilder(p *Program, k spec) *builder {
	b := &builder{
		p: p, spec: k, g: k.g, facts: k.facts,
		shadows: map[*ir.Var]*ir.Var{}, bars: map[*ir.Var]*ir.Var{}, primalOf: map[*ir.Var]*ir.Var{},
		activeTemps: map[*ir.Var]bool{},
	}
	b.ws = &ir.Var{Name: b.g.names.Name("ws"), Type: types.NewPointer(p.work.Type), Kind: ir.Param}
	if k.mode != modeEntry {
		b.fwd, b.rev = &ir.Func{}, &ir.Func{}
	}
	return b
}

func (p *Program) builder(k spec) *builder {
	if b := p.builders[k]; b != nil {
		return b
	}
	b := newBuilder(p, k)
	p.builders[k] = b
	p.created = append(p.created, b)
	b.analyse()
	return b
}

// callees are the builders of what the sweeps of b call.
func (b *builder) callees() (out []*builder) {
	each(b.body, func(n *node) {
		if n.callee != nil {
			out = append(out, n.callee)
		}
	})
	if b.checkpointed != nil {
		out = append(out, b.checkpointed.advance, b.checkpointed.segment)
	}
	return out
}

// reach are b and all that it calls, each once.
func (b *builder) reach() []*builder {
	list := []*builder{b}
	for i := 0; i < len(list); i++ {
		for _, c := range list[i].callees() {
			if !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
	}
	return list
}
