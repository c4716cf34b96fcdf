package shortcut

import (
	"go/constant"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Values removes grafts from functions that have all of their derivatives: a graft is its value there, and a statement
// that was there for derivatives only has no effect. The zero value is ready to use.
type Values struct {
	// Programs are those whose variants of functions have no effect on values, so that calls of them are removed.
	Programs []*Program
	done     map[*ir.Func]*ir.Func
}

// Of returns f without grafts, in it and in the functions that it calls; f itself if there are none.
// F is not modified.
func (v *Values) Of(f *ir.Func) *ir.Func {
	if v.done == nil {
		v.done = map[*ir.Func]*ir.Func{}
	}
	// Functions with grafts, and those that call them.
	callers := map[*ir.Func][]*ir.Func{}
	var work []*ir.Func
	list := []*ir.Func{f}
	for i := 0; i < len(list); i++ {
		g := list[i]
		if hasGraft(g.Body) {
			work = append(work, g)
		}
		eachCallee(g, func(callee *ir.Func) {
			callers[callee] = append(callers[callee], g)
			if v.isVariant(callee) {
				work = append(work, callee)
			}
			if !slices.Contains(list, callee) {
				list = append(list, callee)
			}
		})
	}
	changed := map[*ir.Func]bool{}
	for len(work) > 0 {
		g := work[len(work)-1]
		work = work[:len(work)-1]
		if !changed[g] {
			changed[g] = true
			work = append(work, callers[g]...)
		}
	}
	if !changed[f] {
		return f
	}
	for _, g := range list {
		if changed[g] && v.done[g] == nil {
			v.done[g] = new(ir.Func)
			*v.done[g] = *g
		} else {
			delete(changed, g)
		}
	}
	for g := range changed {
		clone, _ := ir.Clone(v.done[g], nil)
		clone.Body = v.block(clone.Body)
		*v.done[g] = *clone
	}
	return v.done[f]
}

// isVariant reports whether f is a variant that stores nothing, so that a call has no effect on values.
func (v *Values) isVariant(f *ir.Func) bool {
	return slices.ContainsFunc(v.Programs, func(p *Program) bool {
		x := p.variantOf[f]
		return x != nil && x.silent
	})
}

// block returns b without grafts.
func (v *Values) block(b ir.Block) ir.Block {
	m := ir.Map{
		Expr: func(e ir.Expr) ir.Expr {
			if x, ok := e.(*ir.Math); ok && x.Name == ir.GraftName {
				return x.Args[0]
			}
			return e
		},
		Stmt: func(s ir.Stmt) []ir.Stmt {
			switch s := s.(type) {
			case *ir.Add:
				if k, ok := s.E.(*ir.Const); ok && ir.IsContinuous(k.T) && constant.Sign(numberOf(k)) == 0 {
					return nil
				}
			case *ir.Set:
				if l, ok := s.E.(*ir.Load); ok && ir.EqualPlace(l.P, s.P) {
					return nil
				}
			case *ir.Call:
				return v.call(s)
			}
			return []ir.Stmt{s}
		},
	}
	return m.Block(b)
}

// call returns a call of a function without grafts.
func (v *Values) call(s *ir.Call) []ir.Stmt {
	f := s.Callee.Func
	if r := s.Callee.Rule; r != nil {
		if g := v.done[r.Calls]; g != nil {
			changed := *r
			changed.Calls = g
			return []ir.Stmt{&ir.Call{At: s.At, Results: s.Results, Callee: &ir.Callee{Rule: &changed}, Args: s.Args}}
		}
		return []ir.Stmt{s}
	}
	if v.isVariant(f) && !slices.ContainsFunc(s.Results, func(r *ir.Var) bool { return r != nil }) {
		return nil
	}
	if g := v.done[f]; g != nil {
		return []ir.Stmt{&ir.Call{At: s.At, Results: s.Results, Callee: &ir.Callee{Func: g}, Args: s.Args}}
	}
	return []ir.Stmt{s}
}

// eachCallee visits the functions that f calls.
func eachCallee(f *ir.Func, visit func(*ir.Func)) {
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if c, ok := s.(*ir.Call); ok {
			for _, g := range c.Callee.Funcs() {
				visit(g)
			}
		}
		return true
	})
}

// hasGraft reports whether b contains a graft.
func hasGraft(b ir.Block) (found bool) {
	ir.Walk(b, func(s ir.Stmt) bool {
		ir.EachExpr(s, func(e ir.Expr) {
			ir.WalkExpr(e, func(x ir.Expr) bool {
				m, ok := x.(*ir.Math)
				found = found || ok && m.Name == ir.GraftName
				return !found
			})
		})
		return !found
	})
	return found
}
