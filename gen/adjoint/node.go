package adjoint

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// A node is a statement of the forward sweep together with its adjoint. Reversing it runs consume, then restores the
// overwritten values, then runs propagate. If usesResult is set, propagate runs before the restoration, since it reads
// the new value.
type node struct {
	// the statement, only its head for If, Scope and Loop; nil for a node with an adjoint only
	s            ir.Stmt
	at           ir.At     // the position of the source statement
	consume      ir.Block  // reads and zeroes the cotangents of assigned places
	propagate    ir.Block  // adds to the cotangents of the operands
	usesResult   bool      // propagate runs before the assigned places are restored
	writtenSlice *ir.Var   // a slice of which the statement may assign every element
	moreSlices   []*ir.Var // further such slices, of a call by a rule
	readThrough  []*ir.Var // variables: the adjoint reads all memory reachable from them
	then         []*node   // branch of an If, or body of a Scope or Loop
	els          []*node   // the other branch
	cond         *ir.Var   // variable that holds the condition of an If
	loop         *loopInfo // bounds or trip count of a Loop
	exited       *ir.Var   // exit flag of a Loop or Scope; nil if it is not left beyond its end
	callee       *summary  // specialisation that a call statement runs
	call         *ir.Call  // the call in the primal, if callee is set

	writes   []*write   // the places that the statement assigns
	exchange []permuted // the variables of the run of assignments that ends with the statement

	// Linked marks nodes whose adjoints share temporaries with that of a neighbour, so that fusion must not separate
	// them.
	linked bool
}

// forwardOnly returns nodes for statements without an adjoint. Assignments among them may still be recorded and
// restored.
func forwardOnly(stmts ...ir.Stmt) (out []*node) {
	for _, s := range stmts {
		out = append(out, &node{s: s, at: ir.At{Pos: s.Position()}})
	}
	return out
}

// each calls visit for the nodes of list and all nodes nested in them, in execution order.
func each(list []*node, visit func(n *node)) {
	for _, n := range list {
		visit(n)
		each(n.then, visit)
		each(n.els, visit)
	}
}

// isScope reports whether n is a Scope.
func isScope(n *node) bool {
	_, ok := n.s.(*ir.Scope)
	return ok
}

// containsExit reports whether n is a Leave or contains one, whatever its target.
func containsExit(n *node) (found bool) {
	each([]*node{n}, func(n *node) {
		if _, ok := n.s.(*ir.Leave); ok {
			found = true
		}
	})
	return found
}

// mayExit reports whether the statements that follow n in its list may be skipped, because n leaves an enclosing scope
// or loop. It is false for a loop or scope that is left only to its own end.
func mayExit(n *node) bool {
	if n.loop != nil || isScope(n) {
		return n.exited != nil
	}
	return containsExit(n)
}

// containsCall reports whether n calls a function with sweeps of its own. Such a function may be the one being emitted,
// and push to the same stacks.
func containsCall(n *node) (found bool) {
	each([]*node{n}, func(m *node) { found = found || m.callee != nil })
	return found
}
