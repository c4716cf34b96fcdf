package adjoint

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Recomputation: a variable that is cheap to evaluate, from values that do not change in between, is declared again in
// the reverse sweep instead of being recorded (cf. Griewank & Walther 2008, section 12.1, and Hascoët & Pascual 2013,
// section 3).

// chooseRecomputed computes recomputable, needed and recomputed from the current marks, for the nodes of list within
// depth loops. At depth 0 a variable is still alive when the reverse sweep runs in the same function, so recomputation
// has no benefit; in split mode the sweeps are different functions.
func (f *flow) chooseRecomputed(list []*node, depth int) {
	f.recomputable, f.needed, f.recomputed = map[*ir.Var]*node{}, map[*ir.Var]bool{}, map[*ir.Var]bool{}
	if f.sp.spec.mode == modeSplit {
		depth++
	}
	f.findRecomputable(list, depth)
	f.markNeeded(list)
}

// findRecomputable fills f.recomputable. An iteration of a fused loop has its reverse sweep in the same block, like
// depth 0.
func (f *flow) findRecomputable(list []*node, depth int) {
	for _, n := range list {
		inner := depth
		switch {
		case n.fused:
			inner = 0
		case n.loop != nil:
			inner++
		}
		// A candidate is assigned only by its declaration.
		if l, ok := n.s.(*ir.Let); ok && depth > 0 && l.E != nil && f.assignments[l.V] == 1 {
			if cost, ok := f.recomputeCost(l.E); ok && cost <= maxRecomputeCost {
				f.recomputable[l.V] = n
			}
		}
		f.findRecomputable(n.then, inner)
		f.findRecomputable(n.els, inner)
	}
}

// maxRecomputeCost is the number of operations up to which a value is recomputed; recording one costs a store, a load
// and the bookkeeping of a stack.
const maxRecomputeCost = 6

// recomputeCost returns the approximate number of operations of e, and whether e has the same value at any later time
// of the iteration. Elementary functions and values of array type count as more than maxRecomputeCost allows.
func (f *flow) recomputeCost(e ir.Expr) (cost int, ok bool) {
	ok = true
	ir.WalkExpr(e, func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Math:
			// Elementary functions cost tens of operations; these are single instructions.
			if e.Name != "min" && e.Name != "max" && e.Name != "math.Abs" {
				cost += maxRecomputeCost
			}
			cost++
		case *ir.Binary:
			// Division has several times the latency of a multiplication.
			if e.Op == token.QUO || e.Op == token.REM {
				cost += 3
			}
			cost++
		case *ir.Unary, *ir.Convert:
			cost++
		case *ir.Load:
			// The value must be the same whenever it is read again.
			ok = ok && f.invariant(e.P, true)
			if _, aggregate := e.T.Underlying().(*types.Array); aggregate {
				cost += maxRecomputeCost
			}
		// Another allocation is not the same memory.
		case *ir.Make, *ir.New, *ir.Literal, *ir.Opaque:
			ok = false
		case *ir.Addr:
			ok = ok && f.invariant(e.P, false)
		case *ir.SliceAt:
			ok = ok && f.invariant(e.P, false)
		}
		return ok
	})
	return cost, ok
}

// invariant reports whether p denotes the same place from the definition of its root to the end of the iteration: the
// root is assigned at most once, and no reference on the path is ever overwritten. If content is set, neither is the
// value at p. The test is flow-insensitive. Index expressions are not examined; callers visit them as expressions of
// their own.
func (f *flow) invariant(p *ir.Place, content bool) bool {
	v := p.Root
	if v.Kind == ir.Global || f.loopIndex[v] {
		return true
	}
	n, known := f.assignments[v]
	if !known || n > 1 || n == 1 && v.Kind == ir.Param || v.Kind == ir.Result {
		return false
	}
	s := locationSet{}
	f.addPathReads(s, p)
	if content && p.Indirect() {
		f.addMemory(s, v, p.Type())
	}
	for k := range s {
		if k.isMemory() && f.modified[k] {
			return false
		}
	}
	return true
}

// markNeeded fills f.needed and f.recomputed with the variables that the reversal of list reads. If such a variable is
// recomputable, its operands are read in its place, transitively.
func (f *flow) markNeeded(list []*node) {
	var read func(s locationSet)
	read = func(s locationSet) {
		for k := range s {
			if k.isMemory() || f.recomputed[k.v] {
				continue
			}
			// The reverse sweep evaluates the variable again and reads its operands.
			if n := f.recomputable[k.v]; f.sp.p.apply(recomputation, n != nil) {
				f.recomputed[k.v] = true
				read(f.reads(ir.Block{n.s}))
				continue
			}
			f.needed[k.v] = true
		}
	}
	var visit func(list []*node)
	visit = func(list []*node) {
		for i, n := range list {
			read(f.reversalReads(n))
			visit(n.then)
			visit(n.els)
			if n.exited != nil && hasReversal(list[i+1:]) {
				read(f.reads(ir.Block{&ir.Panic{E: n.exited.Load()}}))
			}
		}
	}
	visit(list)
}
