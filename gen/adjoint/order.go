package adjoint

import "github.com/nabla-ad/nabla/gen/ir"

// anyOrder reports whether the iterations of a loop may be run in any order, up to the
// rounding of sums: all that an iteration leaves to others is added to memory and to
// variables that none of them reads. The compiler knows more of a loop that counts up.
func anyOrder(b ir.Block, shadow func(*ir.Var) bool) bool {
	o := order{own: map[*ir.Var]bool{}, sums: map[*ir.Var]bool{}, shadow: shadow}
	if !o.declares(b) || !o.adds(b) {
		return false
	}
	ok := true
	ir.Walk(b, func(s ir.Stmt) bool {
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				if l, load := e.(*ir.Load); load && o.summed(l.P) {
					ok = false
				}
				return ok
			})
		}
		return ok
	})
	return ok
}

type order struct {
	own    map[*ir.Var]bool // declared in the loop
	sums   map[*ir.Var]bool // added to, and declared outside
	memory bool             // of shadows is added to
	shadow func(*ir.Var) bool
}

// declares finds what is declared, and refuses what is no declaration, sum, branch or
// counted loop.
func (o *order) declares(b ir.Block) bool {
	ok := true
	ir.Walk(b, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Let:
			o.own[s.V] = true
		case *ir.Loop:
			ok = ok && s.V != nil
			if s.V != nil {
				o.own[s.V] = true
			}
		case *ir.Add, *ir.If:
		case *ir.Set:
			ok = ok && !s.P.Indirect()
		default:
			ok = false
		}
		return ok
	})
	return ok
}

// adds finds what is added to from outside.
func (o *order) adds(b ir.Block) bool {
	ok := true
	ir.Walk(b, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Set:
			ok = ok && o.own[s.P.Root]
		case *ir.Add:
			switch {
			case !ir.IsFloat(s.P.Type()):
				ok = ok && o.own[s.P.Root] && !s.P.Indirect()
			case s.P.Indirect():
				ok = ok && o.shadow(s.P.Root)
				o.memory = true
			case !o.own[s.P.Root]:
				o.sums[s.P.Root] = true
			}
		}
		return ok
	})
	return ok
}

// summed reports whether a place that is read may be one that is added to.
func (o *order) summed(p *ir.Place) bool {
	if !p.Indirect() {
		return o.sums[p.Root]
	}
	return o.memory && ownFloats(p.Type()) && o.shadow(p.Root)
}
