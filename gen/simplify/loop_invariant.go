package simplify

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// Invariants performs loop-invariant code motion of floating-point arithmetic: it moves declarations of an iteration in
// front of the loop if their value is the same in all iterations. Operands must be constants and variables that the
// loop does not write. Such arithmetic cannot panic and has no effect, so it may also be evaluated for a loop without
// iterations. Only declarations directly in the body of the loop are moved. Inner loops are handled first, so a
// declaration can move out of several loops.
//
//	for l, n i int = 0; i < k; i += 1 {       let c float64 = a * b
//	    let c float64 = a * b                 for l, n i int = 0; i < k; i += 1 {
//	    x[i] = c * x[i]                           x[i] = c * x[i]
//	}                                         }
func Invariants(f *ir.Func) {
	f.Body = hoistInvariants(f.Body, usageOf(f.Body))
}

// hoistInvariants moves the invariant declarations out of the loops of b, in place for nested blocks. U is the usage of
// the whole function.
func hoistInvariants(b ir.Block, u *usage) (out ir.Block) {
	for _, s := range b {
		for _, c := range ir.Blocks(s) {
			*c = hoistInvariants(*c, u)
		}
		l, ok := s.(*ir.Loop)
		if !ok {
			out = append(out, s)
			continue
		}
		// Writes in the loop, nested blocks and conditions included.
		in := usageOf(ir.Block{l})
		var body ir.Block
		for _, s := range l.Body {
			let, ok := s.(*ir.Let)
			if ok && let.E != nil && in.writes[let.V] == 1 && !u.addressed[let.V] && isInvariant(let.E, in, u) {
				out = append(out, let)
				// Now v is invariant in the loop itself, and declarations that read it can follow.
				in.writes[let.V] = 0
				continue
			}
			body = append(body, s)
		}
		loop := *l
		loop.Body = body
		out = append(out, &loop)
	}
	return out
}

// isInvariant reports whether e is floating-point arithmetic, with at least one operation, on constants and variables
// that are not written in the loop with usage in. Global variables and addressed ones may be written by other means.
func isInvariant(e ir.Expr, in, u *usage) bool {
	ok, arithmetic := true, false
	ir.WalkExpr(e, func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Const:
		case *ir.Load:
			v := e.P.Root
			ok = ok && len(e.P.Path) == 0 && v.Kind != ir.Global && in.writes[v] == 0 && !u.addressed[v]
		// Integer arithmetic may panic or overflow, and is cheap; it stays.
		case *ir.Unary, *ir.Binary:
			ok, arithmetic = ok && ir.IsContinuous(e.Type()), true
		default:
			ok = false
		}
		return ok
	})
	return ok && arithmetic
}
