package flatten

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// tidy declares variables with their first values, and reads what a variable was made of
// where both stay what they are.
func tidy(f *ir.Func) {
	f.Body = declare(f.Body)
	written, copies := map[*ir.Var]int{}, map[*ir.Var]ir.Expr{}
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		for _, w := range ir.EffectOf(s).Writes {
			written[w.Root]++
		}
		eachPlace(s, func(p *ir.Place) {
			if len(p.Path) > 0 && !p.Behind() || taken(s, p) {
				written[p.Root] += 2 // parts of it, or its address
			}
		})
		return true
	})
	for _, v := range f.Params {
		written[v]++
	}
	for _, v := range f.Results {
		written[v] += 2
	}
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		let, ok := s.(*ir.Let)
		if !ok || let.E == nil || written[let.V] > 1 || !types.Identical(let.V.Type, let.E.Type()) {
			return true
		}
		switch e := let.E.(type) {
		case *ir.Load:
			if len(e.P.Path) == 0 && (e.P.Root.Kind == ir.Global || written[e.P.Root] == 1) {
				copies[let.V] = e
			}
		case *ir.Const:
			if b, ok := e.T.Underlying().(*types.Basic); ok && b.Info()&types.IsFloat != 0 && e.Val != nil {
				copies[let.V] = e
			}
		}
		return true
	})
	var source func(e ir.Expr) ir.Expr
	source = func(e ir.Expr) ir.Expr {
		if l, ok := e.(*ir.Load); ok && len(l.P.Path) == 0 {
			if x := copies[l.P.Root]; x != nil {
				return source(x)
			}
		}
		return e
	}
	m := &ir.Map{
		Expr: source,
		Place: func(p *ir.Place) *ir.Place {
			if l, ok := source(p.Root.Load()).(*ir.Load); ok {
				return &ir.Place{Root: l.P.Root, Path: p.Path}
			}
			return p
		},
		Stmt: func(s ir.Stmt) []ir.Stmt {
			if let, ok := s.(*ir.Let); ok && copies[let.V] != nil {
				return nil
			}
			return []ir.Stmt{s}
		},
	}
	f.Body = m.Block(f.Body)
}

// taken reports whether a statement takes the address of the variable of p.
func taken(s ir.Stmt, p *ir.Place) (found bool) {
	for _, e := range ir.Exprs(s) {
		ir.WalkExpr(e, func(e ir.Expr) bool {
			switch e := e.(type) {
			case *ir.Addr:
				found = found || e.P == p
			case *ir.SliceAt:
				found = found || e.P == p
			}
			return !found
		})
	}
	return found
}

// declare moves the declaration of a variable that is zero to where it is first assigned
// to, if it is not read before.
func declare(b ir.Block) ir.Block {
	b = slices.Clone(b)
	for i, s := range b {
		for _, c := range ir.Blocks(s) {
			*c = declare(*c)
		}
		let, ok := s.(*ir.Let)
		if !ok || !isZero(let.E) {
			continue
		}
		for j := i + 1; j < len(b); j++ {
			if !mentions(b[j], let.V) {
				continue
			}
			if set, ok := b[j].(*ir.Set); ok && set.P.Root == let.V && len(set.P.Path) == 0 && !reads(set.E, let.V) {
				b[i], b[j] = nil, &ir.Let{At: set.At, V: let.V, E: set.E}
			}
			break
		}
	}
	return slices.DeleteFunc(b, func(s ir.Stmt) bool { return s == nil })
}

func isZero(e ir.Expr) bool {
	c, ok := e.(*ir.Const)
	return e == nil || ok && c.Val == nil
}

// reads reports whether e reads v, or takes its address.
func reads(e ir.Expr, v *ir.Var) (found bool) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		p := ir.PlaceOf(e)
		found = found || p != nil && p.Root == v
		return !found
	})
	return found
}

// mentions reports whether v is in a statement or in its blocks.
func mentions(s ir.Stmt, v *ir.Var) (found bool) {
	ir.Walk(ir.Block{s}, func(s ir.Stmt) bool {
		for _, w := range ir.EffectOf(s).Writes {
			found = found || w.Root == v
		}
		eachPlace(s, func(p *ir.Place) { found = found || p.Root == v })
		return !found
	})
	return found
}
