package simplify

import (
	"go/token"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Checks reduces dead computations that [Dead] must keep because they may panic to the operands that may panic: of the
// unused value a*x[i] only the load x[i] remains, and nothing if an access to x[i] dominates it. Loads through
// variables for which trusted returns true cannot panic; a nil trusted trusts none. Checks reports whether it changed
// anything; then more code may be dead.
//
//	let t float64 = a * x[i] + y[j]       let unused float64 = x[i]
//	z[0] = x[i]                           let unused1 float64 = y[j]
//	let u float64 = math.Sin(x[i])        z[0] = x[i]
func Checks(f *ir.Func, trusted func(*ir.Var) bool) bool {
	c := &checkReducer{use: usageOf(f.Body), trusted: trusted, names: ir.NamerOf(f)}
	// The caller reads the results.
	for _, v := range f.Results {
		c.use.reads[v]++
	}
	f.Body = c.block(f.Body, nil)
	return c.changed
}

// A checkReducer applies Checks to one function. Use counts results as read.
type checkReducer struct {
	changed bool
	use     *usage
	trusted func(*ir.Var) bool
	names   *ir.Namer
}

// block reduces the unused declarations in b. Dominating are elements that have been accessed on every path to b
// without an assignment to their slice or index since, so that accessing them again cannot panic. This forward analysis
// is deliberately weak: nothing is known at the start of a loop body and after statements with blocks.
func (c *checkReducer) block(b ir.Block, dominating []*ir.Place) ir.Block {
	var out ir.Block
	for _, s := range b {
		if l, ok := s.(*ir.Let); ok && l.E != nil && c.use.reads[l.V] == 0 && c.use.writes[l.V] == 1 &&
			!c.use.addressed[l.V] {
			// The declaration is unused: only its checks matter.
			parts := c.panickingOperands(l.E)
			c.changed = c.changed || len(parts) != 1 || parts[0] != l.E
			for _, e := range parts {
				if load, ok := e.(*ir.Load); ok && c.trackable(load.P) {
					if containsPlace(dominating, load.P) {
						c.changed = true
						continue
					}
					dominating = append(dominating, load.P)
				}
				v := l.V
				if len(parts) > 1 || e != l.E {
					v = &ir.Var{Name: c.names.Name("unused"), Type: e.Type()}
				}
				out = append(out, &ir.Let{At: l.At, V: v, E: e})
			}
			continue
		}
		// Accesses of s happen before its writes, which may invalidate them.
		dominating = append(dominating, c.certainAccesses(s)...)
		dominating = c.afterKill(dominating, s)
		switch s := s.(type) {
		// Each branch starts with its own copy of the slice. After the if nothing is known, since branches may write.
		case *ir.If:
			out = append(out,
				&ir.If{At: s.At, Cond: s.Cond, Then: c.block(s.Then, dominating[:len(dominating):len(dominating)]),
					Else: c.block(s.Else, dominating[:len(dominating):len(dominating)])})
			dominating = nil
		case *ir.Scope:
			out = append(out, &ir.Scope{At: s.At, L: s.L, Body: c.block(s.Body, dominating)})
			dominating = nil
		case *ir.Loop:
			// Nothing dominates an iteration: an earlier one may have written.
			loop := *s
			loop.Body = c.block(s.Body, nil)
			out = append(out, &loop)
			dominating = nil
		default:
			out = append(out, s)
		}
	}
	return out
}

// panickingOperands returns the smallest subexpressions of e that may panic, in evaluation order. The right operands of
// && and || and operands of non-float operations are not separated from them.
func (c *checkReducer) panickingOperands(e ir.Expr) (out []ir.Expr) {
	switch x := e.(type) {
	case *ir.Load:
		if !mayPanic(e) || c.trusted != nil && c.trusted(x.P.Root) {
			return nil
		}
	case *ir.Unary:
		return c.panickingOperands(x.X)
	case *ir.Math:
		return c.panickingOperandsOf(x.Args)
	// Integer operations may panic themselves and are kept whole.
	case *ir.Binary:
		if x.Op == token.LAND || x.Op == token.LOR || !ir.IsContinuous(x.T) {
			break
		}
		return c.panickingOperandsOf([]ir.Expr{x.X, x.Y})
	}
	if !mayPanic(e) {
		return nil
	}
	return []ir.Expr{e}
}

// panickingOperandsOf returns the panickingOperands of all expressions in list.
func (c *checkReducer) panickingOperandsOf(list []ir.Expr) (out []ir.Expr) {
	for _, e := range list {
		out = append(out, c.panickingOperands(e)...)
	}
	return out
}

// trackable reports whether p is x[i] for a variable x that is not addressed, so that only assignments to x and to the
// operands of i change whether it is in range.
func (c *checkReducer) trackable(p *ir.Place) bool {
	return len(p.Path) == 1 && p.Path[0].Index != nil && !c.use.addressed[p.Root]
}

// certainAccesses returns the trackable places that s itself accesses whenever it is executed, which excludes the right
// operands of && and ||.
func (c *checkReducer) certainAccesses(s ir.Stmt) (out []*ir.Place) {
	add := func(p *ir.Place) {
		if p != nil && c.trackable(p) {
			out = append(out, p)
		}
	}
	ir.EachExpr(s, func(e ir.Expr) {
		ir.WalkExpr(e, func(e ir.Expr) bool {
			// The right operand may not be evaluated.
			if b, ok := e.(*ir.Binary); ok && (b.Op == token.LAND || b.Op == token.LOR) {
				return false
			}
			if l, ok := e.(*ir.Load); ok {
				add(l.P)
			}
			return true
		})
	})
	add(ir.Target(s))
	return out
}

// afterKill returns the places of dominating that still denote the same element after s itself: s writes neither their
// root nor a variable in their index. Indices that are loaded from memory or from addressed variables are dropped if s
// writes anything.
func (c *checkReducer) afterKill(dominating []*ir.Place, s ir.Stmt) []*ir.Place {
	changed := map[*ir.Var]bool{}
	uses(s, func(v *ir.Var, how use) {
		if how != reads {
			changed[v] = true
		}
	})
	if len(changed) == 0 {
		return dominating
	}
	var out []*ir.Place
	for _, p := range dominating {
		same := !changed[p.Root]
		ir.WalkExpr(p.Path[0].Index, func(e ir.Expr) bool {
			if q := ir.PlaceOf(e); q != nil && (changed[q.Root] || len(q.Path) > 0 || c.use.addressed[q.Root]) {
				same = false
			}
			return true
		})
		if same {
			out = append(out, p)
		}
	}
	return out
}

// containsPlace reports whether list contains a place equal to p.
func containsPlace(list []*ir.Place, p *ir.Place) bool {
	for _, q := range list {
		if ir.EqualPlace(p, q) {
			return true
		}
	}
	return false
}
