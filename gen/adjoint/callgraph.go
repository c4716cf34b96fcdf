package adjoint

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// calledBy is the function that a statement calls, or may look into, or nil.
func calledBy(s ir.Stmt) *ir.Func {
	c, ok := s.(*ir.Call)
	switch {
	case !ok:
		return nil
	case c.Callee.Rule != nil:
		return c.Callee.Rule.Source
	}
	return c.Callee.Func
}

// calls reports whether statements call f, at any distance.
func calls(b ir.Block, f *ir.Func) (found bool) {
	seen := map[*ir.Func]bool{}
	var visit func(b ir.Block)
	visit = func(b ir.Block) {
		ir.Walk(b, func(s ir.Stmt) bool {
			if g := calledBy(s); g != nil && !found {
				found = g == f
				if !seen[g] {
					seen[g] = true
					visit(g.Body)
				}
			}
			return !found
		})
	}
	visit(b)
	return found
}

// anywhere reports whether there is such a statement, functions that are called included.
func anywhere(b ir.Block, is func(s ir.Stmt) bool) (found bool) {
	seen := map[*ir.Func]bool{}
	var visit func(b ir.Block)
	visit = func(b ir.Block) {
		ir.Walk(b, func(s ir.Stmt) bool {
			found = found || is(s)
			if c, ok := s.(*ir.Call); ok {
				if g := calledBy(c); g != nil && !seen[g] {
					seen[g] = true
					visit(g.Body)
				}
			}
			return !found
		})
	}
	visit(b)
	return found
}

// allocates reports whether statements make memory, at any distance.
func allocates(b ir.Block) bool {
	return anywhere(b, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Let:
			return isNew(s.E) || isSliceLiteral(s.E)
		case *ir.Set:
			return isNew(s.E) || isSliceLiteral(s.E)
		case *ir.Append:
			return true
		}
		return false
	})
}
