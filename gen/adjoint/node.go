package adjoint

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// node is a statement of the forward sweep with its reversal: before, the old value is
// restored unless late is set; what takes adjoints away stands in pre, what adds to
// those of the operands in post.
type node struct {
	s                  ir.Stmt // for If, Scope and Loop only the head; nil for one that does nothing
	at                 ir.At
	consume, propagate ir.Block
	usesResult         bool      // the reversal reads the place as it was left
	writtenSlice       *ir.Var   // a slice all of whose elements are written
	moreSlices         []*ir.Var // further ones
	readThrough        []*ir.Var // variables all of whose memory the reversal reads
	then, els          []*node   // of an If; then is the body of a Scope or a Loop
	cond               *ir.Var
	loop               *loopInfo
	exited             *ir.Var
	callee             *builder
	call               *ir.Call // of the reverse sweep, with callee

	writes []*write

	linked     bool         // its reversal goes on with what that of a later node has taken
	fused      bool         // a loop whose iterations are reversed at once
	privatized map[any]bool // the memory that its iterations set before they read it
}

func forwardOnly(stmts ...ir.Stmt) (out []*node) {
	for _, s := range stmts {
		out = append(out, &node{s: s, at: ir.At{Pos: s.Position()}})
	}
	return out
}

// each visits all nodes.
func each(list []*node, visit func(n *node)) {
	for _, n := range list {
		visit(n)
		each(n.then, visit)
		each(n.els, visit)
	}
}

// busy reports whether there is something to do for the reversal of nodes.
func hasReversal(list []*node) bool {
	for _, n := range list {
		if len(n.consume)+len(n.propagate) > 0 || n.records() || hasReversal(n.then) || hasReversal(n.els) {
			return true
		}
	}
	return false
}

func (n *node) records() bool {
	for _, w := range n.writes {
		if w.recorded {
			return true
		}
	}
	return false
}

func isScope(n *node) bool {
	_, ok := n.s.(*ir.Scope)
	return ok
}

// leavesIn reports whether there is a leave in a node, or it is one.
func containsExit(n *node) (found bool) {
	each([]*node{n}, func(n *node) {
		if _, ok := n.s.(*ir.Leave); ok {
			found = true
		}
	})
	return found
}

// leavesList reports whether what stands behind n in its list may not be reached.
func mayExit(n *node) bool {
	if n.loop != nil || isScope(n) {
		return n.exited != nil
	}
	return containsExit(n)
}

// callsInside reports whether a function with sweeps of its own is called: it may be the one that
// is written, and use the same stacks.
func containsCall(n *node) (found bool) {
	each([]*node{n}, func(m *node) { found = found || m.callee != nil })
	return found
}

// fusedAt is the index of the loop in a list that is fused, or -1.
func fusedAt(list []*node) int {
	for i, n := range list {
		if n.fused {
			return i
		}
	}
	return -1
}

// anyFused reports whether a loop is fused in a list or in the branches in it.
func anyFused(list []*node) bool {
	for _, n := range list {
		if n.fused {
			return true
		}
		if _, ok := n.s.(*ir.If); ok && (anyFused(n.then) || anyFused(n.els)) {
			return true
		}
	}
	return false
}
