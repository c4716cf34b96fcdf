package adjoint

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Control flow as data: every decision that the reverse sweep has to repeat is stored in a variable, which is then
// recorded or recomputed like any other. A condition becomes a variable, bounds become variables or constants, a trip
// count that may fall short of the bounds is counted, and an exit beyond the end of a loop or scope sets a flag.
//
//	if x > 0 { … }               →   cond := x > 0; if cond { … }
//	for i := lo(); i < hi() …    →   lo, hi := lo(), hi(); for i := lo; i < hi …
//	for … { if c { break } … }   →   n := 0; for … { n++; if c { break } … }
//	for … { if c { return } }    →   left := false; for … { if c { left = true; return } }

// control returns in with the variables for its control flow, and fills g.conds, g.loops and g.exited.
func (g *normalForm) control(in ir.Block) ir.Block {
	var out ir.Block
	for _, s := range in {
		at := ir.At{Pos: s.Position()}
		switch s := s.(type) {
		case *ir.If:
			cond := s.Cond
			if !types.Identical(cond.Type(), boolean) { // of a declared type
				cond = &ir.Convert{Typed: ir.Typed{T: boolean}, X: cond}
			}
			// A variable of its own, even if the condition is one: that may be assigned later.
			c := g.local("cond", boolean)
			n := &ir.If{At: s.At, Cond: c.Load(), Then: g.control(s.Then), Else: g.control(s.Else)}
			g.conds[n] = c
			out = append(out, &ir.Let{At: at, V: c, E: cond}, n)
		case *ir.Scope:
			n := &ir.Scope{At: s.At, L: s.L, Body: g.control(s.Body)}
			g.addExitFlag(n, &out, at, &n.Body, s.L, nil)
			out = append(out, n)
		case *ir.Loop:
			n := *s
			n.Body = g.control(s.Body)
			info := &loopInfo{}
			bound := func(base string, e ir.Expr) ir.Expr {
				if isConstant(e) {
					return e
				}
				v := g.local(base, e.Type())
				out = append(out, &ir.Let{At: at, V: v, E: e})
				return v.Load()
			}
			if s.V != nil {
				n.Lo, n.Hi = bound("lo", s.Lo), bound("hi", s.Hi)
				info.lo, info.hi = n.Lo, n.Hi
			}
			// The bounds do not determine the trip count of a loop without index or with an early exit: count the
			// iterations that are begun.
			if s.V == nil || ir.LeavesBeyond(s.Body, s.Next) {
				info.entered = g.local("n", integer)
				out = append(out, &ir.Let{At: at, V: info.entered, E: ir.Count(0)})
				n.Body = append(ir.Block{&ir.Add{At: at, P: info.entered.Place(), E: ir.Count(1)}}, n.Body...)
			}
			g.addExitFlag(&n, &out, at, &n.Body, s.L, s.Next)
			g.loops[&n] = info
			out = append(out, &n)
		default:
			out = append(out, s)
		}
	}
	return out
}

// addExitFlag declares an exit flag for s, a loop or scope with the labels l and next, if its body leaves it for
// another label. The declaration is appended to out, and the flag set before each such Leave in body.
func (g *normalForm) addExitFlag(s ir.Stmt, out *ir.Block, at ir.At, body *ir.Block, l, next *ir.Label) {
	inner := map[*ir.Label]bool{l: true, next: true}
	var beyond []*ir.Leave
	ir.Walk(*body, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Scope:
			inner[s.L] = true
		case *ir.Loop:
			inner[s.L], inner[s.Next] = true, true
		case *ir.Leave:
			if !inner[s.L] {
				beyond = append(beyond, s)
			}
		}
		return true
	})
	if len(beyond) == 0 {
		return
	}
	v := g.local("left", boolean)
	g.exited[s] = v
	*out = append(*out, &ir.Let{At: at, V: v, E: truth(false)})
	set := map[*ir.Leave]bool{}
	for _, l := range beyond {
		set[l] = true
	}
	setBeforeLeaves(body, set, v)
}

// setBeforeLeaves sets v to true before each Leave in set.
func setBeforeLeaves(b *ir.Block, set map[*ir.Leave]bool, v *ir.Var) {
	for _, s := range *b {
		for _, c := range ir.Blocks(s) {
			setBeforeLeaves(c, set, v)
		}
	}
	if k := len(*b) - 1; k >= 0 {
		if l, ok := (*b)[k].(*ir.Leave); ok && set[l] {
			*b = append((*b)[:k:k], &ir.Set{At: l.At, P: v.Place(), E: truth(true)}, l)
		}
	}
}
