package lanes

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// ifStmt writes the lane form of an if. Under a uniform condition there is one if. Under a divergent one there is one
// per lane, except that for a condition d || u with uniform u the lanes stay together if u holds.
func (b *builder) ifStmt(s *ir.If) {
	// Already in the code of one lane.
	if b.onlyLane >= 0 {
		b.Emit(&ir.If{At: s.At, Cond: forLane(b.laneExpr(s.Cond), b.onlyLane), Then: b.block(s.Then),
			Else: b.block(s.Else)})
		return
	}
	divergent, uniform := b.splitOr(s.Cond)
	if divergent == nil {
		b.Emit(&ir.If{At: s.At, Cond: b.uniform(s.Cond), Then: b.block(s.Then), Else: b.block(s.Else)})
		return
	}
	// Each copy of the branches is written for its lane.
	perLane := b.Nested(func() {
		for k := range b.types.n {
			b.onlyLane = k
			b.Emit(b.rename(&ir.If{At: s.At, Cond: forLane(b.laneExpr(divergent), k), Then: b.block(s.Then),
				Else: b.block(s.Else)}))
		}
	})
	b.onlyLane = -1
	if uniform == nil {
		b.Emit(perLane...)
		return
	}
	b.Emit(&ir.If{At: s.At, Cond: b.uniform(uniform), Then: b.block(s.Then), Else: perLane})
}

// splitOr splits a condition into divergent and uniform such that it equals divergent || uniform; nil means false.
func (b *builder) splitOr(e ir.Expr) (divergent, uniform ir.Expr) {
	x, ok := e.(*ir.Binary)
	switch {
	case !b.exprDivergent(e):
		return nil, e
	case !ok || x.Op != token.LOR:
		return e, nil
	}
	or := func(x, y ir.Expr) ir.Expr {
		switch {
		case x == nil:
			return y
		case y == nil:
			return x
		}
		return &ir.Binary{Typed: ir.Typed{T: types.Typ[types.Bool]}, Op: token.LOR, X: x, Y: y}
	}
	divergent1, uniform1 := b.splitOr(x.X)
	divergent2, uniform2 := b.splitOr(x.Y)
	return or(divergent1, divergent2), or(uniform1, uniform2)
}

// rename returns s with the variables and labels that it declares renamed, since it is written once per lane. It
// refuses leaves out of s, which would end the run of all lanes.
func (b *builder) rename(s ir.Stmt) ir.Stmt {
	vars, labels := map[*ir.Var]*ir.Var{}, map[*ir.Label]*ir.Label{}
	variable := func(v *ir.Var) {
		if v != nil && vars[v] == nil {
			w := *v
			w.Name = b.names.Name(v.Name)
			vars[v] = &w
		}
	}
	ir.Walk(ir.Block{s}, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Let:
			variable(s.V)
		case *ir.Loop:
			variable(s.V)
			for _, l := range []*ir.Label{s.L, s.Next} {
				labels[l] = &ir.Label{Name: b.names.Name(l.Name)}
			}
		case *ir.Scope:
			labels[s.L] = &ir.Label{Name: b.names.Name(s.L.Name)}
		}
		return true
	})
	ir.Walk(ir.Block{s}, func(s ir.Stmt) bool {
		if l, ok := s.(*ir.Leave); ok && labels[l.L] == nil {
			b.refuse("a branch that differs between lanes and contains an exit")
		}
		return true
	})
	m := &ir.Map{Var: ir.Renaming(vars), Label: ir.Renaming(labels)}
	return m.Block(ir.Block{s})[0]
}
