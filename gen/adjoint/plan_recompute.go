package adjoint

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// decide finds out which variables the reverse sweep reads and which of them it computes
// again. Depth is that of loops around, and 0 where variables live on into the reverse
// sweep.
func (f *flow) chooseRecomputed(list []*node, depth int) {
	f.recomputable, f.needed, f.recomputed = map[*ir.Var]*node{}, map[*ir.Var]bool{}, map[*ir.Var]bool{}
	if f.b.spec.mode == modeSplit {
		depth++
	}
	f.findRecomputable(list, depth)
	f.markNeeded(list)
}

func (f *flow) findRecomputable(list []*node, depth int) {
	for _, n := range list {
		inner := depth
		switch {
		case n.fused:
			inner = 0
		case n.loop != nil:
			inner++
		}
		if l, ok := n.s.(*ir.Let); ok && depth > 0 && !f.b.p.opts.NoRerun && l.E != nil && f.assignments[l.V] == 1 {
			if cost, ok := f.recomputeCost(l.E); ok && cost <= maxRecomputeCost {
				f.recomputable[l.V] = n
			}
		}
		f.findRecomputable(n.then, inner)
		f.findRecomputable(n.els, inner)
	}
}

// limit is up to how many operations are done again rather than kept.
const maxRecomputeCost = 6

// cheap reports whether e can be computed again at any later time of the iteration it
// stands in, and with how many operations.
func (f *flow) recomputeCost(e ir.Expr) (cost int, ok bool) {
	ok = true
	ir.WalkExpr(e, func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Math:
			if e.Name != "min" && e.Name != "max" && e.Name != "math.Abs" {
				cost += maxRecomputeCost
			}
			cost++
		case *ir.Binary:
			if e.Op == token.QUO || e.Op == token.REM {
				cost += 3
			}
			cost++
		case *ir.Unary, *ir.Convert:
			cost++
		case *ir.Load:
			ok = ok && f.invariant(e.P, true)
			if _, aggregate := e.T.Underlying().(*types.Array); aggregate {
				cost += maxRecomputeCost
			}
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

// steady reports whether the place that p is does not change while the variable does not,
// and with content nor does what stands there.
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
		if k.v == nil && f.modified[k] {
			return false
		}
	}
	return true
}

// wants finds the variables that are read, all nodes together.
func (f *flow) markNeeded(list []*node) {
	var read func(s locationSet)
	read = func(s locationSet) {
		for k := range s {
			if k.v == nil || f.recomputed[k.v] {
				continue
			}
			if n := f.recomputable[k.v]; n != nil {
				f.recomputed[k.v] = true
				f.b.p.matter.NoRerun = true
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
