package entries

import (
	"go/token"

	"github.com/nabla-ad/nabla/gen/elementary"
	"github.com/nabla-ad/nabla/gen/ir"
)

// A substitute is a term that stands for the form of a place.
type substitute struct {
	place *ir.Place
	term  term
}

// skip writes e, which counts a product that is left out and is 0.
func (b *builder) skip(e ir.Expr) {
	if !b.planning {
		b.leaveIf(ir.Compare(token.NEQ, e, ir.FloatConst(e.Type(), 0)))
	}
}

// strongZero translates an if whose condition tests a dot: a term is added only if the dot is not zero or its factor is
// finite. The test is that of each coefficient of its form.
func (b *builder) strongZero(s *ir.If) {
	place, finite := b.zeroTest(s.Cond)
	if place == nil {
		b.refuse("a condition on derivatives")
	}
	finite = b.passive(finite)
	for _, t := range b.bound(b.load(&ir.Load{Typed: ir.Typed{T: place.Type()}, P: place}), place.Root.Name) {
		b.only = &substitute{place, t}
		if v, ok := constant(t.by); ok && v != 0 || t.list != nil { // a product of 0 and an infinity is a NaN in a list
			for _, add := range b.additions(s.Then) {
				b.addDot(add)
			}
			continue
		}
		cond := ir.Compare(token.NEQ, t.by, ir.FloatConst(t.by.Type(), 0))
		if finite != nil {
			cond = ir.Compare(token.LOR, cond, finite)
		}
		b.guarded(s, cond, t)
	}
	b.only = nil
}

// additions returns the statements of a branch of strongZero, additions to dots.
func (b *builder) additions(block ir.Block) (list []*ir.Add) {
	for _, s := range block {
		add, ok := s.(*ir.Add)
		if !ok || len(add.P.Path) > 0 || !b.dots[add.P.Root] {
			b.refuse("a condition on derivatives")
		}
		list = append(list, add)
	}
	return list
}

// guarded translates the branches of s for t, the term that b.only substitutes. The coefficients of the terms that s
// adds are variables, 0 unless cond holds.
func (b *builder) guarded(s *ir.If, cond ir.Expr, t term) {
	adds := b.additions(s.Then)
	sums := make([]form, len(adds))
	var lets ir.Block
	then := b.scoped(nil, func() {
		for k, add := range adds {
			f := b.linear(add.E)
			if len(f) != 1 || !same(f[0], t) {
				b.refuse("a condition on derivatives")
			}
			v := &ir.Var{Name: b.names.Name("d"), Type: f[0].by.Type()}
			b.mutable[v] = true
			lets = append(lets, &ir.Let{At: s.At, V: v, E: ir.Zero(v.Type)})
			b.Emit(&ir.Set{At: s.At, P: v.Place(), E: f[0].by})
			sums[k] = form{{index: t.index, by: v.Load()}}
		}
	})
	other := b.scoped(nil, func() {
		for _, add := range b.additions(s.Else) {
			if !elementary.IsSkip(add.E) {
				b.refuse("a condition on derivatives")
			}
			b.skip(add.E)
		}
	})
	b.Emit(lets...)
	b.Emit(&ir.If{At: s.At, Cond: cond, Then: then, Else: other})
	for k, add := range adds {
		b.fill(add.P.Root, b.load(add.P.Root.Load()).add(sums[k]), false)
	}
}

// zeroTest returns the place of the dot that cond compares with zero, and the other part of cond, nil if there is none.
func (b *builder) zeroTest(cond ir.Expr) (*ir.Place, ir.Expr) {
	e, ok := cond.(*ir.Binary)
	if !ok {
		return nil, nil
	}
	switch e.Op {
	case token.NEQ:
		l, ok := e.X.(*ir.Load)
		if v, zero := constant(e.Y); ok && zero && v == 0 && b.dots[l.P.Root] {
			return l.P, nil
		}
	case token.LOR:
		for _, side := range [][2]ir.Expr{{e.X, e.Y}, {e.Y, e.X}} {
			if p, rest := b.zeroTest(side[0]); p != nil && rest == nil && !b.mentionsDot(side[1]) {
				return p, side[1]
			}
		}
	}
	return nil, nil
}
