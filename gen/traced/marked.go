package traced

import (
	"go/constant"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/internal/core"
)

// marked reports whether the traced form of l tells recordings where its iterations begin: it may record operations,
// and have as many iterations as it takes to be of use.
func (b *builder) marked(l *ir.Loop) bool { return !short(l) && b.records(l.Body) }

// short reports whether l has constant bounds and few iterations.
func short(l *ir.Loop) bool {
	lo, ok := bound(l.Lo)
	hi, ok2 := bound(l.Hi)
	return ok && ok2 && (hi-lo)/l.Step < core.LeastIterations
}

// bound returns the value of a constant.
func bound(e ir.Expr) (int64, bool) {
	c, ok := e.(*ir.Const) // a loop without a variable has none
	if !ok || c.Val == nil {
		return 0, false
	}
	return constant.Int64Val(constant.ToInt(c.Val))
}

// records reports whether in, a part of the function, may perform operations on active numbers, rather than move them.
func (b *builder) records(in ir.Block) (found bool) {
	ir.Walk(in, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Add:
			found = found || b.placeActive(s.P)
		case *ir.Call:
			if callee := b.facts.Callee(s); callee != nil {
				found = found || !callee.Passive()
			} else {
				found = found || slices.ContainsFunc(s.Args, b.exprActive)
			}
		}
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				switch e.(type) {
				case *ir.Unary, *ir.Binary, *ir.Math, *ir.Convert:
					found = found || slices.ContainsFunc(ir.Operands(e), b.exprActive)
				}
				return !found
			})
		}
		return !found
	})
	return found
}
