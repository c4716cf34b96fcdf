package adjoint

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// decide finds out which variables the reverse sweep reads and which of them it computes
// again. Depth is that of loops around, and 0 where variables live on into the reverse
// sweep.
func (f *flow) decide(list []*node, depth int) {
	f.deps, f.wanted, f.reruns = map[*ir.Var]*node{}, map[*ir.Var]bool{}, map[*ir.Var]bool{}
	if f.b.key.mode == split {
		depth++
	}
	f.candidates(list, depth)
	f.wants(list)
}

func (f *flow) candidates(list []*node, depth int) {
	for _, n := range list {
		inner := depth
		switch {
		case n.fused:
			inner = 0
		case n.loop != nil:
			inner++
		}
		if l, ok := n.s.(*ir.Let); ok && depth > 0 && !f.b.p.opts.NoRerun && l.E != nil && f.writes[l.V] == 1 {
			if cost, ok := f.cheap(l.E); ok && cost <= limit {
				f.deps[l.V] = n
			}
		}
		f.candidates(n.then, inner)
		f.candidates(n.els, inner)
	}
}

// limit is up to how many operations are done again rather than kept.
const limit = 6

// cheap reports whether e can be computed again at any later time of the iteration it
// stands in, and with how many operations.
func (f *flow) cheap(e ir.Expr) (cost int, ok bool) {
	ok = true
	ir.WalkExpr(e, func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Math:
			if e.Name != "min" && e.Name != "max" && e.Name != "math.Abs" {
				cost += limit
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
			ok = ok && f.steady(e.P, true)
			if _, aggregate := e.T.Underlying().(*types.Array); aggregate {
				cost += limit
			}
		case *ir.Make, *ir.New, *ir.Literal, *ir.Opaque:
			ok = false
		case *ir.Addr:
			ok = ok && f.steady(e.P, false)
		case *ir.SliceAt:
			ok = ok && f.steady(e.P, false)
		}
		return ok
	})
	return cost, ok
}

// steady reports whether the place that p is does not change while the variable does not,
// and with content nor does what stands there.
func (f *flow) steady(p *ir.Place, content bool) bool {
	v := p.Root
	if v.Kind == ir.Global || f.index[v] {
		return true
	}
	n, known := f.writes[v]
	if !known || n > 1 || n == 1 && v.Kind == ir.Param || v.Kind == ir.Result {
		return false
	}
	s := state{}
	f.readPath(s, p)
	if content && p.Indirect() {
		f.memory(s, v, p.Type())
	}
	for k := range s {
		if k.v == nil && f.written[k] {
			return false
		}
	}
	return true
}

// wants finds the variables that are read, all nodes together.
func (f *flow) wants(list []*node) {
	var read func(s state)
	read = func(s state) {
		for k := range s {
			if k.v == nil || f.reruns[k.v] {
				continue
			}
			if n := f.deps[k.v]; n != nil {
				f.reruns[k.v] = true
				f.b.p.matter.NoRerun = true
				read(f.reads(ir.Block{n.s}))
				continue
			}
			f.wanted[k.v] = true
		}
	}
	var visit func(list []*node)
	visit = func(list []*node) {
		for i, n := range list {
			read(f.reversalReads(n))
			visit(n.then)
			visit(n.els)
			if n.left != nil && busy(list[i+1:]) {
				read(f.reads(ir.Block{&ir.Panic{E: n.left.Load()}}))
			}
		}
	}
	visit(list)
}
