package adjoint

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/elementary"
	"github.com/nabla-ad/nabla/gen/ir"
)

// Recomputation: a variable that is cheap to evaluate, from values that do not change in between, is declared again in
// the reverse sweep instead of being recorded (cf. Griewank & Walther 2008, section 12.1, and Hascoët & Pascual 2013,
// section 3).
//
// In the loop
//
//	for i := range x {
//		let u = x[i] - c
//		s += u * u
//	}
//
// the adjoint of the second statement reads u, which a sweep of its own finds overwritten by later iterations. If x and
// c are invariant, u is one subtraction: the reverse sweep declares it again, and reads x[i] and c instead. In an
// innermost loop they need not be invariant beyond the iteration: x, and what it holds, is recorded where it is
// overwritten, which is less often than u is.

// chooseRecomputed computes recomputable, needed and recomputed from the current marks, for the nodes of list within
// depth loops. At depth 0 a variable is still alive when the reverse sweep runs in the same function, so recomputation
// has no benefit; in split mode the sweeps are different functions.
func (pl *planner) chooseRecomputed(list []*node, depth int) {
	pl.recomputable, pl.needed, pl.recomputed = map[*ir.Var]*node{}, map[*ir.Var]bool{}, map[*ir.Var]bool{}
	if pl.sp.spec.mode == modeSplit {
		depth++
	}
	pl.findRecomputable(list, depth)
	pl.markNeeded(list)
}

// findRecomputable fills pl.recomputable. An iteration of a fused loop has its reverse sweep in the same block, like
// depth 0.
func (pl *planner) findRecomputable(list []*node, depth int) {
	last := depth > 0 && isInnermost(list)
	for i, n := range list {
		inner := depth
		switch {
		case pl.isFused(n):
			inner = 0
		case n.loop != nil:
			inner++
		}
		// A candidate is assigned only by its declaration.
		if l, ok := n.s.(*ir.Let); ok && depth > 0 && l.E != nil && pl.assignments[l.V] == 1 {
			invariant := pl.invariant
			if last && !pl.reads(ir.Block{l}).intersects(pl.effects(list[i+1:]...).modified()) {
				invariant = func(*ir.Place, bool) bool { return true }
			}
			if cost, ok := pl.recomputeCost(l.E, invariant); ok && cost <= maxRecomputeCost {
				pl.recomputable[l.V] = n
			}
		}
		pl.findRecomputable(n.then, inner)
		pl.findRecomputable(n.els, inner)
	}
}

// maxRecomputeCost is the number of operations up to which a value is recomputed; recording one costs a store, a load
// and the bookkeeping of a stack.
const maxRecomputeCost = 6

// isInnermost reports whether list has neither loops nor calls of functions with sweeps.
func isInnermost(list []*node) bool {
	ok := true
	each(list, func(n *node) { ok = ok && n.loop == nil && n.callee == nil })
	return ok
}

// recomputeCost returns the approximate number of operations of e, and whether e has the same value at any later time
// of the iteration, as places are invariant. Elementary functions and values of array type count as more than
// maxRecomputeCost allows.
func (pl *planner) recomputeCost(e ir.Expr, invariant func(p *ir.Place, content bool) bool) (cost int, ok bool) {
	ok = true
	ir.WalkExpr(e, func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Math:
			// Elementary functions cost tens of operations; these are single instructions.
			if e.Name != "min" && e.Name != "max" && e.Name != "math.Abs" && !elementary.IsLinear(e) {
				cost += maxRecomputeCost
			}
			cost++
		case *ir.Binary:
			// Division has several times the latency of a multiplication.
			if e.Op == token.QUO || e.Op == token.REM {
				cost += 3
			}
			cost++
		case *ir.Unary, *ir.Convert, *ir.Unbox:
			cost++
		case *ir.Load:
			// The value must be the same whenever it is read again.
			ok = ok && invariant(e.P, true)
			if _, aggregate := e.T.Underlying().(*types.Array); aggregate {
				cost += maxRecomputeCost
			}
		// Another allocation is not the same memory.
		case *ir.Make, *ir.New, *ir.Literal, *ir.Opaque:
			ok = false
		case *ir.Addr:
			ok = ok && invariant(e.P, false)
		case *ir.SliceAt:
			ok = ok && invariant(e.P, false)
		}
		return ok
	})
	return cost, ok
}

// markNeeded fills pl.needed and pl.recomputed with the variables that the reversal of list reads. If such a variable
// is recomputable, its operands are read in its place, transitively.
func (pl *planner) markNeeded(list []*node) {
	var read func(s locationSet)
	read = func(s locationSet) {
		for k := range s {
			if k.isMemory() || pl.recomputed[k.v] {
				continue
			}
			// The reverse sweep evaluates the variable again and reads its operands.
			if n := pl.recomputable[k.v]; pl.sp.p.apply(recomputation, n != nil) {
				pl.recomputed[k.v] = true
				read(pl.reads(ir.Block{n.s}))
				continue
			}
			pl.needed[k.v] = true
		}
	}
	var visit func(list []*node)
	visit = func(list []*node) {
		for i, n := range list {
			read(pl.reversalReads(n))
			visit(n.then)
			visit(n.els)
			if n.exited != nil && pl.hasReversal(list[i+1:]) {
				read(pl.reads(ir.Block{&ir.Panic{E: n.exited.Load()}}))
			}
		}
	}
	visit(list)
}
