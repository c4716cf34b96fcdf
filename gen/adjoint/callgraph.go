package adjoint

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// Searches over a function and its callees.

// calledBy returns the function that s calls, or the source of the rule that it calls, or nil.
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

// calls reports whether b calls f, directly or through other functions.
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

// anywhere reports whether is holds for a statement of b or of a function that b calls, directly or not.
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

// allocates reports whether b, or a function that it calls, may allocate memory: by make, new, append or a slice
// literal.
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
