package adjoint

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// Emission: the sweeps of an analysed specialisation are written as functions. emit_func.go composes the functions for
// each mode, emit_stmt.go translates nodes to statements of either sweep, emit_loop.go loops, emit_storage.go stores
// and restores recorded values, and emit_outputs.go preserves side effects of the primal.

// An emitter writes the sweeps of a specialisation.
type emitter struct {
	sp          *specialization
	at          ir.At               // the position of the function
	sharedDecls ir.Block            // declarations at the top of the function that both sweeps refer to
	reverseCopy map[*ir.Var]*ir.Var // primal variable → its copy in the reverse sweep, if it has one
	bothSweeps  bool                // both sweeps are in one function
	depth       int                 // number of loops around the statement being emitted
	storage     map[*write]storage  // recorded write → where its old value is
	hoisted     map[*ir.Var]bool    // variables declared at the top, since the reverse sweep refers to them
	// Results maps the results of the primal to local variables, in a function of both sweeps: the reverse sweep may
	// restore them after the function's own results have been set.
	results map[*ir.Var]*ir.Var
	// variables declared around a fused loop: their bars exist in the forward sweep
	earlyBars map[*ir.Var]bool
}

// emitter returns an emitter for sp and assigns the storage of recorded values.
func (sp *specialization) emitter() *emitter {
	e := &emitter{sp: sp, at: ir.At{Pos: sp.g.f.Pos}, reverseCopy: map[*ir.Var]*ir.Var{},
		bothSweeps: sp.spec.mode == modeEntry || sp.spec.mode == modeJoint, storage: map[*write]storage{},
		hoisted:   map[*ir.Var]bool{},
		results:   map[*ir.Var]*ir.Var{},
		earlyBars: map[*ir.Var]bool{},
	}
	// Hoist the variables that the reverse sweep reads or restores.
	each(sp.plan.body, func(n *node) {
		for _, w := range n.writes {
			if l, ok := n.s.(*ir.Let); ok && sp.plan.needed[l.V] {
				e.hoisted[l.V] = true
			}
			if sp.plan.recorded[w] && w.whole() != nil {
				e.hoisted[w.whole()] = true
			}
		}
	})
	// Declare in place where the reverse sweep is in the same block. Returns put the forward sweep into a scope of its
	// own.
	if e.bothSweeps && sp.p.enabled(selectiveRecording) && !ir.LeavesBeyond(sp.g.f.Body) {
		e.sink(sp.plan.body)
	}
	each(sp.plan.body, func(n *node) {
		if sp.plan.isFused(n) && !containsExit(n) {
			e.sink(n.then)
		}
	})
	for _, v := range sp.g.f.Params {
		delete(e.hoisted, v)
	}
	for _, v := range sp.g.f.Results {
		delete(e.hoisted, v)
	}
	e.assignStorage(sp.plan.body, 0)
	e.declareEarlyBars(sp.plan.body)
	return e
}

// declareEarlyBars declares at the top the bars of variables that are declared before a fused loop in list or around
// it: the loop accumulates into them during the forward sweep.
func (e *emitter) declareEarlyBars(list []*node) {
	if !e.sp.plan.anyFused(list) {
		return
	}
	k := e.sp.plan.fusedAt(list)
	head := list
	if k >= 0 {
		head = list[:k]
		e.declareEarlyBars(list[k].then)
	}
	for _, n := range head {
		if l, ok := n.s.(*ir.Let); ok && e.sp.hasBar(l.V) && e.sp.primalOf[l.V] == nil {
			e.earlyBars[l.V] = true
			e.sharedDecls = append(e.sharedDecls, &ir.Let{At: n.at, V: e.sp.barVar(l.V)})
		}
		e.declareEarlyBars(n.then)
		e.declareEarlyBars(n.els)
	}
}

// sink excludes the variables declared directly in list from hoisting: the reverse sweep is emitted into the same block
// and sees the declaration.
func (e *emitter) sink(list []*node) {
	for _, n := range list {
		if l, ok := n.s.(*ir.Let); ok {
			delete(e.hoisted, l.V)
		}
	}
}

// hoistedVars returns the hoisted variables declared in list, in the order of their declarations. Those in fused loops
// are hoisted only to the beginning of the iteration and not included.
func (e *emitter) hoistedVars(list []*node) (out []*ir.Var) {
	for _, n := range list {
		if l, ok := n.s.(*ir.Let); ok && e.hoisted[l.V] {
			out = append(out, l.V)
		}
		if !e.sp.plan.isFused(n) {
			out = append(out, e.hoistedVars(n.then)...)
			out = append(out, e.hoistedVars(n.els)...)
		}
	}
	return out
}

// declare returns declarations of the variables in list, without values.
func (e *emitter) declare(list []*ir.Var) (out ir.Block) {
	for _, v := range list {
		out = append(out, &ir.Let{At: e.at, V: v})
	}
	return out
}

// newReverseCopy creates the copy of v for the reverse sweep.
func (e *emitter) newReverseCopy(v *ir.Var) *ir.Var {
	w := e.sp.g.local(v.Name, v.Type)
	e.reverseCopy[v], e.sp.standsFor[w] = w, v
	return w
}

// renameCopies returns b, statements of the reverse sweep, with variables replaced by their reverse copies.
func (e *emitter) renameCopies(b ir.Block) ir.Block {
	m := &ir.Map{Var: ir.Renaming(e.reverseCopy)}
	return m.Block(b)
}

// enclose returns body, a forward sweep, such that returns leave only a scope around it, if there are any: the reverse
// sweep follows.
func (e *emitter) enclose(body ir.Block) ir.Block {
	exit := e.sp.g.f.Exit
	if !ir.LeavesBeyond(body) {
		return body
	}
	end := &ir.Label{Name: e.sp.g.names.Name("end")}
	m := &ir.Map{Label: func(l *ir.Label) *ir.Label {
		if l == exit {
			return end
		}
		return l
	}}
	return ir.Block{&ir.Scope{At: e.at, L: end, Body: m.Block(body)}}
}
