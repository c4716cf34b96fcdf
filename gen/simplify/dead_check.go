package simplify

import (
	"go/token"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Checks leaves of what is computed for nobody, because it may panic, only what may: of
// a·x[i] the access to x[i], and nothing where that has just been accessed. Accesses to what
// trusted variables lead to are known not to panic. It reports whether anything has gone:
// then more may be dead.
func Checks(f *ir.Func, trusted func(*ir.Var) bool) bool {
	c := &checkReducer{use: usageOf(f.Body), trusted: trusted, names: ir.NamerOf(f)}
	for _, v := range f.Results {
		c.use.reads[v]++
	}
	f.Body = c.block(f.Body, nil)
	return c.changed
}

type checkReducer struct {
	changed bool
	use     *usage
	trusted func(*ir.Var) bool
	names   *ir.Namer
}

// block is b without what is not needed, where the accesses have been made before it.
func (c *checkReducer) block(b ir.Block, dominating []*ir.Place) ir.Block {
	var out ir.Block
	for _, s := range b {
		if l, ok := s.(*ir.Let); ok && l.E != nil && c.use.reads[l.V] == 0 && c.use.writes[l.V] == 1 &&
			!c.use.addressed[l.V] {
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
		dominating = append(dominating, c.certainAccesses(s)...)
		dominating = c.afterKill(dominating, s)
		switch s := s.(type) {
		case *ir.If:
			out = append(out,
				&ir.If{At: s.At, Cond: s.Cond, Then: c.block(s.Then, dominating[:len(dominating):len(dominating)]),
					Else: c.block(s.Else, dominating[:len(dominating):len(dominating)])})
			dominating = nil
		case *ir.Scope:
			out = append(out, &ir.Scope{At: s.At, L: s.L, Body: c.block(s.Body, dominating)})
			dominating = nil
		case *ir.Loop:
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

// parts are the least operands of e that may panic, in their order.
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
	case *ir.Binary:
		if x.Op == token.LAND || x.Op == token.LOR || !ir.IsFloat(x.T) {
			break
		}
		return c.panickingOperandsOf([]ir.Expr{x.X, x.Y})
	}
	if !mayPanic(e) {
		return nil
	}
	return []ir.Expr{e}
}

func (c *checkReducer) panickingOperandsOf(list []ir.Expr) (out []ir.Expr) {
	for _, e := range list {
		out = append(out, c.panickingOperands(e)...)
	}
	return out
}

// stable reports whether p is an element of a variable that nothing else changes.
func (c *checkReducer) trackable(p *ir.Place) bool {
	return len(p.Path) == 1 && p.Path[0].Index != nil && !c.use.addressed[p.Root]
}

// accesses are the elements that s itself accesses in any case.
func (c *checkReducer) certainAccesses(s ir.Stmt) (out []*ir.Place) {
	add := func(p *ir.Place) {
		if p != nil && c.trackable(p) {
			out = append(out, p)
		}
	}
	ir.EachExpr(s, func(e ir.Expr) {
		ir.WalkExpr(e, func(e ir.Expr) bool {
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

// without are the accesses whose place is the same after s.
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

func containsPlace(list []*ir.Place, p *ir.Place) bool {
	for _, q := range list {
		if ir.EqualPlace(p, q) {
			return true
		}
	}
	return false
}
