package simplify

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// Invariants declares before a loop the numbers that the loop declares anew in each
// iteration though they are the same in all: those that are computed by arithmetic, which
// cannot panic, from constants and variables that the loop does not write.
func Invariants(f *ir.Func) {
	f.Body = hoistInvariants(f.Body, usageOf(f.Body))
}

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
		in := usageOf(ir.Block{l})
		var body ir.Block
		for _, s := range l.Body {
			let, ok := s.(*ir.Let)
			if ok && let.E != nil && in.writes[let.V] == 1 && !u.addressed[let.V] && isInvariant(let.E, in, u) {
				out = append(out, let)
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

// invariant reports whether e is arithmetic on floats that stay what they are where in
// says what is written.
func isInvariant(e ir.Expr, in, u *usage) bool {
	ok, arithmetic := true, false
	ir.WalkExpr(e, func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Const:
		case *ir.Load:
			v := e.P.Root
			ok = ok && len(e.P.Path) == 0 && v.Kind != ir.Global && in.writes[v] == 0 && !u.addressed[v]
		case *ir.Unary, *ir.Binary:
			ok, arithmetic = ok && ir.IsFloat(e.Type()), true
		default:
			ok = false
		}
		return ok
	})
	return ok && arithmetic
}
