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
	joint    mode = iota // forward and reverse sweep in one function
	split                // one function each
	onward               // what runs the function and keeps nothing
	together             // both sweeps of a segment of a loop in one function
	chained              // a loop, reversed in segments
)

// key tells apart what is built of a function. Alias says which parameters may lead to
// the same memory.
type key struct {
	g     *prepared
	facts *activity.Facts
	alias string
	mode  mode
}

// builder builds the adjoint of one function.
type builder struct {
	p     *Program
	key   key
	g     *prepared
	facts *activity.Facts

	shadow map[*ir.Var]*ir.Var // what leads to adjoints, made in the forward sweep
	bars   map[*ir.Var]*ir.Var // adjoints of a variable's own numbers
	twins  map[*ir.Var]*ir.Var // shadows to the variables they are of
	made   map[*ir.Var]bool    // variables of the forward sweep that have shadows besides
	body   []*node
	ws     *ir.Var
	at     ir.At

	pending   []*node // that go before the statement that is made now
	flow      *flow
	analysed  bool
	recursive bool // was called before it was analysed
	fwd, rev  *ir.Func

	stacks   []stack     // of the workspace that it uses
	counters []*ir.Place // and how much it uses of its memory

	chain   *chain // of a marked loop
	emitted bool
	fresh   *string // why it leaves new memory behind, if that is known
}

func newBuilder(p *Program, k key) *builder {
	b := &builder{
		p: p, key: k, g: k.g, facts: k.facts,
		shadow: map[*ir.Var]*ir.Var{}, bars: map[*ir.Var]*ir.Var{}, twins: map[*ir.Var]*ir.Var{},
		made: map[*ir.Var]bool{},
	}
	b.ws = &ir.Var{Name: b.g.names.Name("ws"), Type: types.NewPointer(p.work.Type), Kind: ir.Param}
	if k.mode != joint {
		b.fwd, b.rev = &ir.Func{}, &ir.Func{}
	}
	return b
}

func (p *Program) builder(k key) *builder {
	if b := p.built[k]; b != nil {
		return b
	}
	b := newBuilder(p, k)
	p.built[k] = b
	p.order = append(p.order, b)
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
	if b.chain != nil {
		out = append(out, b.chain.plain, b.chain.segment)
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
