package simplify

import (
	"go/token"
	"go/types"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Promote performs scalar promotion: it keeps memory at one address in a variable during an innermost loop. A number is
// loaded before the loop, and stored after it if every iteration writes it; the header of a slice, in a struct or
// behind a pointer, is loaded only. Every iteration must access the address, and no other access may alias it. If the
// loop panics, the number is as it was before. The arguments are those of [Increments], but values stay the same bit
// for bit.
//
//	for i := 0; i < n; i++ {          if 0 < n {
//	    p[k] += c.x[i]                    let kept = p[k]
//	}                                     let kept1 = c.x
//	                                      for i := 0; i < n; i++ {
//	                                          kept += kept1[i]
//	                                      }
//	                                      p[k] = kept
//	                                  }
func Promote(f *ir.Func, distinct bool, adjoint func(*ir.Var) bool) {
	promote(f, distinct, nil, adjoint)
}

// promote is Promote with a workspace; see analyseAliases.
func promote(f *ir.Func, distinct bool, work *ir.Var, adjoint func(*ir.Var) bool) {
	if adjoint == nil {
		adjoint = func(*ir.Var) bool { return true }
	}
	p := &promoter{names: ir.NamerOf(f), aliases: analyseAliases(f, distinct, work, adjoint)}
	p.known.use = p.aliases.use
	f.Body = p.block(f.Body)
}

// A promoter applies Promote to one function.
type promoter struct {
	names   *ir.Namer
	aliases *aliases
	known   knownConditions
}

// block applies Promote to the loops in b and in its nested blocks.
func (p *promoter) block(b ir.Block) ir.Block {
	return p.known.block(b, func(s ir.Stmt) ir.Block {
		if l, ok := s.(*ir.Loop); ok && isInnermost(l.Body) {
			return p.loop(l)
		}
		return ir.Block{s}
	})
}

// A promotion is an address whose contents a variable holds during a loop.
type promotion struct {
	place  *ir.Place
	v      *ir.Var
	stored bool
}

// loop returns the statements that replace l.
func (p *promoter) loop(l *ir.Loop) ir.Block {
	if !isRegular(l, p.aliases.use) {
		return ir.Block{l}
	}
	inside := usageOf(l.Body)
	var list []*promotion
	certain := certainOf(l.Body)
	each := func(place *ir.Place) {
		for i := range place.Path {
			if q := (&ir.Place{Root: place.Root, Path: place.Path[:i+1]}); p.isInvariant(q, l.V, inside) {
				list = p.add(list, q, l.Body, certain)
			}
		}
	}
	for _, s := range certain {
		eachEvaluated(s, each)
	}
	if len(list) == 0 {
		return ir.Block{l}
	}
	var before, after ir.Block
	for _, x := range list {
		before = append(before, &ir.Let{At: l.At, V: x.v, E: ir.LoadOf(x.place, x.v.Type)})
		if x.stored {
			after = append(after, &ir.Set{At: l.At, P: x.place, E: x.v.Load()})
		}
	}
	m := &ir.Map{Place: func(q *ir.Place) *ir.Place {
		for _, x := range list {
			if startsWith(q, x.place) {
				return &ir.Place{Root: x.v, Path: q.Path[len(x.place.Path):]}
			}
		}
		return q
	}}
	loop := *l
	loop.Body = m.Block(l.Body)
	return p.known.guard(l, append(append(before, &loop), after...))
}

// isInvariant reports whether p is memory at the same address in all iterations of the loop with index v and usage
// inside: neither a variable nor a part of one, unless it is the header of a slice.
func (p *promoter) isInvariant(q *ir.Place, v *ir.Var, inside *usage) bool {
	switch t := q.Type().Underlying().(type) {
	case *types.Basic:
		if !q.Indirect() || t.Info()&types.IsNumeric == 0 {
			return false
		}
	case *types.Slice:
	default:
		return false
	}
	if inside.writes[q.Root] > 0 && q.Indirect() || p.aliases.use.addressed[q.Root] ||
		q.Root.Kind == ir.Global && !q.Indirect() {
		return false
	}
	for _, e := range q.Indices() {
		if !isSimple(e) || !isFixed(e, v, inside, p.aliases.use) {
			return false
		}
	}
	return true
}

// add appends q to list if the accesses of b allow it and it is not there. Every iteration executes the statements of
// certain.
func (p *promoter) add(list []*promotion, q *ir.Place, b, certain ir.Block) []*promotion {
	for _, x := range list {
		// A part of memory that is promoted already needs no second variable.
		if startsWith(q, x.place) {
			return list
		}
	}
	if takesAddress(b, q) {
		return list
	}
	x := &promotion{place: q}
	for _, s := range certain {
		if to := ir.Target(s); to != nil && ir.EqualPlace(to, q) {
			x.stored = true
		}
	}
	_, header := q.Type().Underlying().(*types.Slice)
	if header && x.stored {
		return list
	}
	t := effectsOf(&ir.Scope{L: &ir.Label{}, Body: b})
	for _, w := range append(t.writes, t.adds...) {
		if p.aliases.mayAlias(w, q) && !(ir.EqualPlace(w, q) && x.stored) {
			return list
		}
		// The references on the way lead to the same memory all the time.
		for i := 1; i < len(q.Path); i++ {
			on := &ir.Place{Root: q.Root, Path: q.Path[:i]}
			switch on.Type().Underlying().(type) {
			case *types.Slice, *types.Pointer:
				if p.aliases.mayAlias(w, on) {
					return list
				}
			}
		}
	}
	if x.stored {
		for _, r := range t.reads {
			if !ir.EqualPlace(r, q) && p.aliases.mayAlias(r, q) {
				return list
			}
		}
	}
	x.v = &ir.Var{Name: p.names.Name(nameOf(q)), Type: q.Type()}
	return append(list, x)
}

// nameOf returns the name of the field that p ends in, or else of its root.
func nameOf(p *ir.Place) string {
	n := len(p.Path) - 1
	container := &ir.Place{Root: p.Root, Path: p.Path[:n]}
	if t, ok := container.Type().Underlying().(*types.Struct); ok {
		if name := t.Field(p.Path[n].Field).Name(); name != "_" {
			return strings.ToLower(name[:1]) + name[1:]
		}
	}
	return p.Root.Name
}

// isRegular reports whether l counts by 1 or -1, runs all its iterations, and has bounds that are cheap to evaluate
// again and the same before and after it. All is the usage of the function.
func isRegular(l *ir.Loop, all *usage) bool {
	if l.V == nil || l.Step != 1 && l.Step != -1 || !types.Identical(l.V.Type, integer) ||
		ir.LeavesBeyond(ir.Block{l}) || containsLeave(l.Body, l.L) || !isSimple(l.Lo) || !isSimple(l.Hi) {
		return false
	}
	inside := usageOf(l.Body)
	return isFixed(l.Lo, l.V, inside, all) && isFixed(l.Hi, l.V, inside, all)
}

// isFixed reports whether the variables of e are the same in all iterations of the loop with index v and usage inside.
// All is the usage of the function.
func isFixed(e ir.Expr, v *ir.Var, inside, all *usage) bool {
	fixed := true
	exprUses(e, func(w *ir.Var, _ use) {
		fixed = fixed && w != v && inside.writes[w] == 0 && !all.addressed[w] && w.Kind != ir.Global
	})
	return fixed
}

// takesAddress reports whether b takes the address of q or of memory that it is a part of.
func takesAddress(b ir.Block, q *ir.Place) (found bool) {
	ir.Walk(b, func(s ir.Stmt) bool {
		ir.EachExpr(s, func(e ir.Expr) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				if _, load := e.(*ir.Load); !load {
					if p := ir.PlaceOf(e); p != nil {
						n := len(p.Path)
						found = found || p.Root == q.Root && n <= len(q.Path) &&
							ir.EqualPlace(p, &ir.Place{Root: q.Root, Path: q.Path[:n]})
					}
				}
				return !found
			})
		})
		return !found
	})
	return found
}

// certainOf returns the statements of b, the body of a loop, that every iteration executes, if none panics: those up to
// the first that may leave it.
func certainOf(b ir.Block) ir.Block {
	for i, s := range b {
		if ir.EndsInJump(ir.Block{s}) || ir.LeavesBeyond(ir.Block{s}) {
			return b[:i+1]
		}
	}
	return b
}

// eachEvaluated calls visit for the places that s itself accesses whenever it is executed, without its blocks: not
// those in right operands of && and ||.
func eachEvaluated(s ir.Stmt, visit func(*ir.Place)) {
	for _, e := range ir.Exprs(s) {
		ir.WalkExpr(e, func(e ir.Expr) bool {
			if b, ok := e.(*ir.Binary); ok && (b.Op == token.LAND || b.Op == token.LOR) {
				return false
			}
			if p := ir.PlaceOf(e); p != nil {
				visit(p)
			}
			return true
		})
	}
	if p := ir.Target(s); p != nil {
		visit(p)
	}
}
