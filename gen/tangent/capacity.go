package tangent

import (
	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// capacityRead returns a statement of f, or of a direct or indirect callee, that reads the capacity of a slice of
// floats, if one of the functions also appends to such a slice; otherwise nil. In vector mode that is refused: the
// runtime chooses the capacity of the result of append by the size of the elements, so that the shadow of a slice may
// have less than the slice, which a function that reads the capacity may slice up to.
func capacityRead(f *ir.Func) (read ir.Stmt) {
	appends := false
	for g := range ir.Reachable(f) {
		ir.Walk(g.Body, func(s ir.Stmt) bool {
			if a, ok := s.(*ir.Append); ok {
				appends = appends || activity.HasFloats(a.P.Type())
			}
			for _, e := range ir.Exprs(s) {
				ir.WalkExpr(e, func(e ir.Expr) bool {
					l, ok := e.(*ir.Len)
					if ok && l.Cap && activity.HasFloats(l.X.Type()) && (read == nil || before(s, read)) {
						read = s
					}
					return true
				})
			}
			return true
		})
	}
	if !appends {
		return nil
	}
	return read
}

// before reports whether s is before t in the source.
func before(s, t ir.Stmt) bool {
	p, q := s.Position(), t.Position()
	return p.Filename < q.Filename || p.Filename == q.Filename && p.Offset < q.Offset
}
