package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// For loops. A loop of the form of a counted loop is emitted as one if its body assigns neither to
// the variable nor to the bound; others test their condition with a leave.

// newLoop returns a loop without body; its label is that of the source, if there is one.
func (l *lowerer) newLoop(n ast.Node, label string) *ir.Loop {
	brk := "loop"
	if label != "" {
		brk = label
	}
	return &ir.Loop{
		At: l.at(n), L: &ir.Label{Name: l.names.fresh(brk)}, Next: &ir.Label{Name: l.names.fresh("next")},
		Checkpoint: l.p.checkpoints[n],
	}
}

// loopBody lowers the body of a loop whose break and continue leave brk and cont.
func (l *lowerer) loopBody(b *ast.BlockStmt, label string, brk, cont *ir.Label) ir.Block {
	l.jumps = append(l.jumps, jump{name: label, brk: l.target(brk), cont: l.target(cont)})
	out := l.block(func() { l.stmts(b.List) })
	l.jumps = l.jumps[:len(l.jumps)-1]
	return out
}

// forStmt lowers a for statement.
func (l *lowerer) forStmt(s *ast.ForStmt, label string) {
	if c := l.counting(s); c != nil && l.countedLoop(s, label, c) {
		return
	}
	if s.Init != nil {
		l.stmt(s.Init)
	}
	loop := l.newLoop(s, label)
	// Since Go 1.22 a variable is a new one in each iteration, which matters if it is captured or
	// addressed: it is copied at the beginning and at the end of the iteration.
	var outer, inner []*ir.Var
	if init, ok := s.Init.(*ast.AssignStmt); ok && init.Tok == token.DEFINE && !l.facts.perLoop {
		for _, e := range init.Lhs {
			o := l.newVar(e, true)
			if o == nil || !l.facts.byReference(o) || l.env[o] == nil || l.env[o].place == nil {
				continue
			}
			v := l.local(o)
			outer, inner = append(outer, l.env[o].place.Root), append(inner, v)
			l.bind(o, v)
		}
	}
	loop.Body = l.block(func() {
		for i, v := range inner {
			l.emit(&ir.Let{At: l.at(s), V: v, E: outer[i].Load()})
		}
		if s.Cond != nil {
			l.leaveUnless(s.Cond, l.expr(s.Cond), loop.L)
		}
	})
	cont := loop.Next
	if s.Post != nil || len(inner) > 0 {
		cont = &ir.Label{Name: l.names.fresh("body")}
	}
	body := l.loopBody(s.Body, label, loop.L, cont)
	post := l.block(func() {
		for i, v := range inner {
			l.emit(&ir.Set{At: l.at(s), P: &ir.Place{Root: outer[i]}, E: v.Load()})
			l.bind(v.Object, outer[i])
		}
		if s.Post != nil {
			l.stmt(s.Post)
		}
	})
	l.finishWhile(s, loop, body, cont, post)
}

// leaveUnless emits a leave of a loop if cond is false.
func (l *lowerer) leaveUnless(n ast.Node, cond ir.Expr, to *ir.Label) {
	if c, ok := cond.(*ir.Const); ok && isTrue(c) {
		return
	}
	not := &ir.Unary{Typed: ir.Typed{T: cond.Type()}, Op: token.NOT, X: cond}
	l.emit(&ir.If{At: l.at(n), Cond: not, Then: ir.Block{&ir.Leave{At: l.at(n), L: to}}})
}

// finishWhile appends body and post to loop.Body, and emits the loop. cont is the label that
// continue leaves.
func (l *lowerer) finishWhile(s *ast.ForStmt, loop *ir.Loop, body ir.Block, cont *ir.Label, post ir.Block) {
	if cont != loop.Next && leavesLabel(body, cont) {
		body = ir.Block{&ir.Scope{At: l.at(s), L: cont, Body: body}}
	}
	if !terminates(loop.Body) { // the condition may end in a panic
		loop.Body = append(loop.Body, body...)
	}
	if !terminates(loop.Body) {
		loop.Body = append(loop.Body, post...)
	}
	l.emit(loop)
}

// countedLoop lowers a loop in the form of a counted loop. It reports false, without having emitted
// or refused anything, if evaluating the bound needs statements or the variable could overflow. If
// the body changes the variable or the bound, it emits a loop that tests its condition in each
// iteration.
func (l *lowerer) countedLoop(s *ast.ForStmt, label string, c *counting) bool {
	t := l.subst.apply(c.object.Type())
	if !l.noOverflow(t, c) {
		return false
	}
	var bound ir.Expr
	// The bound is lowered on trial: if the loop turns out not to be counted, its refusals and
	// calls are removed and it is lowered again by forStmt.
	refusals, calls := len(l.e.refusals), len(l.e.calls)
	pure := l.block(func() { bound = l.coerce(l.expr(c.bound), t, c.bound) })
	if len(pure) > 0 || len(l.e.refusals) > refusals {
		l.e.refusals, l.e.calls = l.e.refusals[:refusals], l.e.calls[:calls]
		return false
	}
	lo := l.coerce(l.expr(c.lo), t, c.lo)
	v := l.local(c.object)
	l.bind(c.object, v)
	loop := l.newLoop(s, label)
	// The body is lowered before it is known whether it assigns to the variable: that is decided on
	// the lowered code, in which calls and closures are visible.
	body := l.loopBody(s.Body, label, loop.L, loop.Next)
	if !assigns(body, v) && !l.clobbers(body, bound) {
		loop.V, loop.Lo, loop.Hi, loop.Step, loop.Body = v, lo, strictBound(bound, c.op, c.shift), c.step, body
		l.emit(loop)
		return true
	}
	l.emit(&ir.Let{At: l.at(s.Init), V: v, E: lo})
	cont := loop.Next
	loop.Next = &ir.Label{Name: l.names.fresh("next")}
	loop.Body = l.block(func() {
		x := ir.Expr(v.Load())
		if c.shift != 0 {
			x = ir.NewBinary(t, token.ADD, x, integer(c.shift, t))
		}
		cond := ir.Compare(c.op, x, bound)
		l.leaveUnless(s.Cond, cond, loop.L)
	})
	l.finishWhile(s, loop, body, cont, l.block(func() { l.stmt(s.Post) }))
	return true
}

// noOverflow reports whether the variable of a counted loop cannot overflow type t. For 64-bit
// integers that is assumed.
func (l *lowerer) noOverflow(t types.Type, c *counting) bool {
	strict := c.op == token.LSS || c.op == token.GTR
	b, ok := t.Underlying().(*types.Basic)
	if ok && c.shift != 0 { // the bound may not be one of t
		return wide(b, true) && wide(b, false)
	}
	if strict && (c.step == 1 || c.step == -1) {
		return true
	}
	if !ok {
		return false
	}
	if tv := l.info.Types[c.bound]; tv.Value != nil {
		// The value beyond the bound, after one more step, must be in the range of every type.
		k, ok := constInt(l.constant(c.bound, tv.Value, t))
		lowest := int64(-100)
		if b.Info()&types.IsUnsigned != 0 {
			lowest = 0
		}
		if ok && c.step > 0 {
			return k+c.step <= 100 || wide(b, true)
		}
		if ok && c.step < 0 && k+c.step >= lowest && !strict {
			return true
		}
		if ok && c.step < 0 && strict {
			return k+c.step+1 >= lowest
		}
	}
	return wide(b, c.step > 0)
}

// wide reports whether a type is so large that loops do not reach its end in the given direction.
func wide(b *types.Basic, up bool) bool {
	switch b.Kind() {
	case types.Int, types.Int64:
		return true
	case types.Uint, types.Uint64, types.Uintptr:
		return up
	}
	return false
}

// strictBound returns the bound of a loop with < or > that is equivalent to one whose condition compares its variable
// plus shift by op.
func strictBound(bound ir.Expr, op token.Token, shift int64) ir.Expr {
	t := bound.Type()
	by := -shift
	switch op {
	case token.LEQ:
		by++
	case token.GEQ:
		by--
	}
	if by == 0 {
		return bound
	}
	if k, ok := constInt(bound); ok {
		return integer(k+by, t)
	}
	// i <= n-1 is i < n, without an addition.
	if b, ok := bound.(*ir.Binary); ok && b.Op == token.SUB {
		if k, ok := constInt(b.Y); ok && k == by {
			return b.X
		}
	}
	if by < 0 {
		return ir.NewBinary(t, token.SUB, bound, integer(-by, t))
	}
	return ir.NewBinary(t, token.ADD, bound, integer(by, t))
}
