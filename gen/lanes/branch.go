package lanes

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// branch is an if. Where the condition holds for all lanes by what is the same for them,
// they go on together, else each by itself.
func (b *builder) ifStmt(s *ir.If) {
	if b.onlyLane >= 0 {
		b.Emit(&ir.If{At: s.At, Cond: forLane(b.laneExpr(s.Cond), b.onlyLane), Then: b.block(s.Then), Else: b.block(s.Else)})
		return
	}
	divergent, uniform := b.splitOr(s.Cond)
	if divergent == nil {
		b.Emit(&ir.If{At: s.At, Cond: b.uniform(s.Cond), Then: b.block(s.Then), Else: b.block(s.Else)})
		return
	}
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

// split takes the terms of a condition that is true if one of them is apart: those that
// depend on the lane, and those that do not.
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

// renamed has what is declared in a statement declared under other names: it is written
// more than once.
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
			b.refuse("a branch that depends on the lane and leaves something")
		}
		return true
	})
	m := &ir.Map{Var: ir.Renaming(vars), Label: ir.Renaming(labels)}
	return m.Block(ir.Block{s})[0]
}
