package adjoint

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

func (e *emitter) newReverseCopy(v *ir.Var) *ir.Var {
	w := e.b.g.local(v.Name, v.Type)
	e.reverseCopy[v] = w
	return w
}

// rename gives variables that are made again in the reverse sweep names of their own.
func (e *emitter) renameCopies(b ir.Block) ir.Block {
	m := &ir.Map{Var: ir.Renaming(e.reverseCopy)}
	return m.Block(b)
}

func (e *emitter) declare(list []*ir.Var) (out ir.Block) {
	for _, v := range list {
		out = append(out, &ir.Let{At: e.at, V: v})
	}
	return out
}

// raised are the variables that are declared before a list of nodes, in the order of the
// function.
func (e *emitter) hoistedVars(list []*node) (out []*ir.Var) {
	for _, n := range list {
		if l, ok := n.s.(*ir.Let); ok && e.hoisted[l.V] {
			out = append(out, l.V)
		}
		if !n.fused {
			out = append(out, e.hoistedVars(n.then)...)
			out = append(out, e.hoistedVars(n.els)...)
		}
	}
	return out
}

// around makes a scope of the forward sweep, whose returns go to its end.
func (e *emitter) enclose(body ir.Block) ir.Block {
	exit := e.b.g.f.Exit
	if !ir.LeavesBeyond(body) {
		return body
	}
	end := &ir.Label{Name: e.b.g.names.Name("end")}
	m := &ir.Map{Label: func(l *ir.Label) *ir.Label {
		if l == exit {
			return end
		}
		return l
	}}
	return ir.Block{&ir.Scope{At: e.at, L: end, Body: m.Block(body)}}
}

// emitter writes the sweeps of an analysed function.
type emitter struct {
	b           *builder
	at          ir.At
	sharedDecls ir.Block // declarations of what both sweeps know, in a function of both
	reverseCopy map[*ir.Var]*ir.Var
	bothSweeps  bool             // both sweeps are in one function
	depth       int              // of loops around
	hoisted     map[*ir.Var]bool // variables that are declared at the top
	// results are the variables that stand for results in a function of both sweeps.
	results map[*ir.Var]*ir.Var
	// early are the variables whose adjoints are there before the forward sweep ends.
	earlyBars map[*ir.Var]bool
}

func (b *builder) emitter() *emitter {
	e := &emitter{b: b, at: ir.At{Pos: b.g.f.Pos}, reverseCopy: map[*ir.Var]*ir.Var{},
		bothSweeps: b.spec.mode == modeEntry || b.spec.mode == modeJoint, hoisted: map[*ir.Var]bool{},
		results:   map[*ir.Var]*ir.Var{},
		earlyBars: map[*ir.Var]bool{}}
	each(b.body, func(n *node) {
		for _, w := range n.writes {
			if l, ok := n.s.(*ir.Let); ok && b.flow.needed[l.V] {
				e.hoisted[l.V] = true
			}
			if w.recorded && w.whole() != nil {
				e.hoisted[w.whole()] = true
			}
		}
	})
	if e.bothSweeps && !b.p.opts.KeepAll && !ir.LeavesBeyond(b.g.f.Body) {
		e.sink(b.body)
	}
	each(b.body, func(n *node) {
		if n.fused && !containsExit(n) {
			e.sink(n.then)
		}
	})
	for _, v := range b.g.f.Params {
		delete(e.hoisted, v)
	}
	for _, v := range b.g.f.Results {
		delete(e.hoisted, v)
	}
	e.assignStorage(b.body, 0)
	e.declareEarlyBars(b.body)
	return e
}

// adjoints declares, at the top, the adjoints of variables around loops that are fused.
func (e *emitter) declareEarlyBars(list []*node) {
	if !anyFused(list) {
		return
	}
	k := fusedAt(list)
	head := list
	if k >= 0 {
		head = list[:k]
		e.declareEarlyBars(list[k].then)
	}
	for _, n := range head {
		if l, ok := n.s.(*ir.Let); ok && e.b.hasBar(l.V) && e.b.primalOf[l.V] == nil {
			e.earlyBars[l.V] = true
			e.sharedDecls = append(e.sharedDecls, &ir.Let{At: n.at, V: e.b.barVar(l.V)})
		}
		e.declareEarlyBars(n.then)
		e.declareEarlyBars(n.els)
	}
}

// lower declares variables where they are: the reverse sweep stands in the same block.
func (e *emitter) sink(list []*node) {
	for _, n := range list {
		if l, ok := n.s.(*ir.Let); ok {
			delete(e.hoisted, l.V)
		}
	}
}
