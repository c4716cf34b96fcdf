package adjoint

import (
	"fmt"
	"go/types"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// LendPrepared introduces a mistake: adjoints call the normal forms that p works with, which callers may modify.
func (p *Program) LendPrepared() {
	p.primalFunc = func(g *normalForm) *ir.Func { return g.f }
}

// NameCells introduces a mistake: memory of types with different names is taken to be disjoint.
func (p *Program) NameCells() {
	p.cellOf = func(t types.Type) any { return types.TypeString(t, nil) }
}

// An Optimization is a set of optimizations.
type Optimization = optimization

// Optimizations maps names to single optimizations.
var Optimizations = map[string]Optimization{
	"selective recording": selectiveRecording,
	"recomputation":       recomputation,
	"fusion":              fusion,
	"privatization":       privatization,
	"array kills":         arrayKills,
	"inversion":           inversion,
	"reordering":          reordering,
	"buffer reuse":        bufferReuse,
	"local storage":       localStorage,
	"record storage":      recordStorage,
	"inlining":            inlining,
	"simplification":      simplification,
}

// The optimizations that tests name.
const (
	ArrayKills       = arrayKills
	AllOptimizations = Optimization(allOptimizations)
)

// Disable disables optimizations of p, which has built no adjoint yet.
func (p *Program) Disable(o Optimization) { p.disabled |= o }

// Applicable returns the set to which p adds the optimizations that are possible for the adjoints it builds from now
// on. Disabling only others does not change them. It holds from the beginning those that change almost every adjoint.
func (p *Program) Applicable() *Optimization {
	set := selectiveRecording | simplification
	p.onApplicable = func(o optimization) { set |= o }
	return &set
}

// ChangedNodes builds the adjoint of f and returns the nodes of the function before and after the phases that follow
// pairing, as text.
func (p *Program) ChangedNodes(f *ir.Func, m activity.Mask) (before, after string, err error) {
	defer func() {
		if e, ok := recover().(*Error); ok {
			err = e
		}
	}()
	g := p.normalize(f)
	facts, err := p.activity.Analyze(g.f, m)
	if err != nil {
		return "", "", err
	}
	sp := newSpecialization(p, spec{g, facts, p.entryAliasing(g.f), modeEntry})
	sp.body = sp.pairFunc()
	for _, c := range p.created { // gives names to the callees
		p.emit(c)
	}
	before = nodeText(sp.body)
	sp.locations.collect(sp.body)
	sp.plan = sp.decide()
	sp.summarize()
	sp.emitEntry(f)
	return before, nodeText(sp.body), nil
}

// nodeText returns the statements, adjoints and writes of nodes.
func nodeText(list []*node) (out string) {
	text := func(b ir.Block) string { return (&ir.Func{Name: "f", Exit: &ir.Label{Name: "exit"}, Body: b}).String() }
	for _, n := range list {
		head := n.s
		switch s := n.s.(type) { // nested statements have nodes of their own
		case *ir.If:
			head = &ir.If{Cond: s.Cond}
		case *ir.Scope:
			head = &ir.Scope{L: s.L}
		case *ir.Loop:
			head = &ir.Loop{L: s.L, Next: s.Next, V: s.V, Lo: s.Lo, Hi: s.Hi, Step: s.Step}
		}
		if head != nil {
			out += text(ir.Block{head})
		}
		out += fmt.Sprint(text(n.consume), text(n.propagate), n.usesResult, n.linked)
		for _, w := range n.writes {
			out += fmt.Sprintf("%p %v %v %v\n", w, w.place, w.slice, w.inverse)
		}
		out += "{\n" + nodeText(n.then) + "} else {\n" + nodeText(n.els) + "}\n"
	}
	return out
}
