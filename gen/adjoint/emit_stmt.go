package adjoint

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// The statements of both sweeps. The forward sweep of a list is the primal with pushes before writes that are recorded;
// the reverse sweep runs the reversals of its nodes from the last to the first.

// forward returns the forward sweep of list. If a loop in it is fused, the reversal of the nodes after the loop comes
// before it.
func (e *emitter) forward(list []*node) (out ir.Block) {
	// Reverse the statements after the fused loop first: the loop reads the cotangents that they produce.
	if k := e.sp.plan.fusedAt(list); k >= 0 {
		head, tail := list[:k:k], list[k+1:]
		out = e.forward(head)
		out = append(out, e.renameCopies(e.reverse(tail))...)
		out = append(out, e.fusedLoop(list[k]))
		return append(out, e.forward(tail)...)
	}
	for _, n := range list {
		// Record before the statement overwrites.
		for _, w := range n.writes {
			if e.sp.plan.recorded[w] {
				out = append(out, e.emitRecord(n.at, w)...)
			}
		}
		switch s := n.s.(type) {
		case nil:
		case *ir.If:
			out = append(out, &ir.If{At: s.At, Cond: s.Cond, Then: e.forward(n.then), Else: e.forward(n.els)})
		case *ir.Scope:
			out = append(out, &ir.Scope{At: s.At, L: s.L, Body: e.forward(n.then)})
		case *ir.Loop:
			loop := *s
			e.depth++
			loop.Body = e.forward(n.then)
			e.depth--
			out = append(out, &loop)
		case *ir.Let:
			// The bar is declared at the top: zero it where its block would declare it.
			if e.earlyBars[s.V] {
				out = append(out, &ir.Set{At: n.at, P: e.sp.barVar(s.V).Place(), E: zeroOf(s.V.Type)})
			}
			// Memory that does not escape comes from the workspace.
			if e.sp.p.apply(bufferReuse, isNew(s.E) && !e.sp.locations.escapes(s.V)) {
				repeated := !e.bothSweeps || e.depth > 0
				out = append(out, e.recycledAllocation(s.At, s.V, s.E, !e.hoisted[s.V], repeated)...)
				break
			}
			// A hoisted declaration becomes an assignment, of the zero value if it has none.
			if !e.hoisted[s.V] {
				out = append(out, s)
				break
			}
			v := s.E
			if v == nil {
				v = ir.Zero(s.V.Type)
			}
			out = append(out, &ir.Set{At: s.At, P: s.V.Place(), E: v})
		default:
			out = append(out, s)
		}
	}
	return out
}

// reverse returns the reverse sweep of list: nodes after one that may have exited are reversed only if its exit flag is
// not set. Variables that are recomputed, and bars, are declared first. Nodes from a fused loop on have been reversed
// in the forward sweep.
func (e *emitter) reverse(list []*node) ir.Block {
	if !e.sp.plan.hasReversal(list) {
		return nil
	}
	var head, tail ir.Block
	k := e.sp.plan.fusedAt(list)
	if k >= 0 { // reversed in the forward sweep
		list = list[:k]
	}
	// Split the list after the first node that may exit.
	for i, n := range list {
		if n.exited != nil && e.sp.plan.hasReversal(list[i+1:]) {
			rest := e.reverse(list[i+1:])
			tail = ir.Block{&ir.If{At: n.at, Cond: n.exited.Load(), Else: rest}}
			list = list[:i+1]
			break
		}
	}
	for _, n := range list {
		// Variables declared in the list: recomputed ones, and bars, which begin as 0.
		l, ok := n.s.(*ir.Let)
		if !ok {
			continue
		}
		if e.sp.plan.recomputed[l.V] {
			head = append(head, &ir.Let{At: n.at, V: e.newReverseCopy(l.V), E: l.E})
		}
		if !e.earlyBars[l.V] && e.sp.hasBar(l.V) && e.sp.primalOf[l.V] == nil {
			head = append(head, &ir.Let{At: n.at, V: e.sp.barVar(l.V)})
		}
	}
	out := append(head, tail...)
	for i := len(list) - 1; i >= 0; i-- {
		out = append(out, e.reverseStmt(list[i])...)
	}
	return out
}

// reverseStmt returns the reversal of n: consume, restorations from the last write to the first, and propagate, which
// precedes the restorations if it uses the result.
func (e *emitter) reverseStmt(n *node) (out ir.Block) {
	switch s := n.s.(type) {
	case *ir.If:
		then, els := e.reverse(n.then), e.reverse(n.els)
		if len(then)+len(els) > 0 {
			out = append(out, &ir.If{At: n.at, Cond: n.cond.Load(), Then: then, Else: els})
		}
		return out
	case *ir.Scope:
		return e.reverse(n.then)
	case *ir.Loop:
		return e.reverseLoop(n, s)
	}
	restored := e.emitExchange(n)
	for i := len(n.writes) - 1; i >= 0; i-- {
		if w := n.writes[i]; e.sp.plan.recorded[w] {
			restored = append(restored, e.emitRestore(n.at, w)...)
		}
	}
	out = append(out, e.recycleAllocations(n.consume)...)
	post := e.recycleAllocations(n.propagate)
	if n.usesResult {
		return append(append(out, post...), restored...)
	}
	return append(append(out, restored...), post...)
}
