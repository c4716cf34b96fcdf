package lanes

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// branch is an if. Where the condition holds for all lanes by what is the same for them,
// they go on together, else each by itself.
func (b *builder) branch(s *ir.If) {
	if b.only >= 0 {
		b.Emit(&ir.If{At: s.At, Cond: at(b.number(s.Cond), b.only), Then: b.block(s.Then), Else: b.block(s.Else)})
		return
	}
	own, all := b.split(s.Cond)
	if own == nil {
		b.Emit(&ir.If{At: s.At, Cond: b.plain(s.Cond), Then: b.block(s.Then), Else: b.block(s.Else)})
		return
	}
	each := b.Nested(func() {
		for k := range b.types.n {
			b.only = k
			b.Emit(b.renamed(&ir.If{At: s.At, Cond: at(b.number(own), k), Then: b.block(s.Then),
				Else: b.block(s.Else)}))
		}
	})
	b.only = -1
	if all == nil {
		b.Emit(each...)
		return
	}
	b.Emit(&ir.If{At: s.At, Cond: b.plain(all), Then: b.block(s.Then), Else: each})
}

// split takes the terms of a condition that is true if one of them is apart: those that
// depend on the lane, and those that do not.
func (b *builder) split(e ir.Expr) (own, all ir.Expr) {
	x, ok := e.(*ir.Binary)
	switch {
	case !b.depends(e):
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
	own1, all1 := b.split(x.X)
	own2, all2 := b.split(x.Y)
	return or(own1, own2), or(all1, all2)
}

// renamed has what is declared in a statement declared under other names: it is written
// more than once.
func (b *builder) renamed(s ir.Stmt) ir.Stmt {
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
