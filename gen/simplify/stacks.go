package simplify

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Stacks keeps the stacks that an innermost loop pushes to or pops from in local variables: a slice in a field of the
// workspace would be stored after each push. Workspace reports whether a variable points to one. If the loop panics,
// the stack is as it was before.
//
//	for i := 0; i < n; i++ {             let stack = ws.s
//	    ws.s = append(ws.s, x[i])        for i := 0; i < n; i++ {
//	}                                        stack = append(stack, x[i])
//	                                     }
//	                                     ws.s = stack
func Stacks(f *ir.Func, workspace func(v *ir.Var) bool) {
	s := &stackKeeper{names: ir.NamerOf(f), use: usageOf(f.Body), workspace: workspace}
	f.Body = s.block(f.Body)
}

// A stackKeeper applies Stacks to one function.
type stackKeeper struct {
	names     *ir.Namer
	use       *usage // of the whole body
	workspace func(v *ir.Var) bool
}

// block applies Stacks to the loops in b and in its nested blocks.
func (k *stackKeeper) block(b ir.Block) (out ir.Block) {
	for _, s := range b {
		if l, ok := s.(*ir.Loop); ok && isInnermost(l.Body) {
			out = append(out, k.loop(l)...)
			continue
		}
		out = append(out, mapBlocks(s, k.block))
	}
	return out
}

// loop returns the statements that replace l. It must not be left beyond its end, where the stacks are stored.
func (k *stackKeeper) loop(l *ir.Loop) ir.Block {
	if ir.LeavesBeyond(ir.Block{l}) || ir.EndsInJump(l.Body) || l.V == nil && !containsLeave(l.Body, l.L) {
		return ir.Block{l}
	}
	var fields []*ir.Place
	ir.Walk(l.Body, func(s ir.Stmt) bool {
		if p := ir.Target(s); p != nil && k.isStack(p) &&
			!slices.ContainsFunc(fields, func(q *ir.Place) bool { return ir.EqualPlace(p, q) }) {
			fields = append(fields, p)
		}
		return true
	})
	fields = slices.DeleteFunc(fields, func(p *ir.Place) bool { return k.taken(l.Body, p) })
	if len(fields) == 0 {
		return ir.Block{l}
	}
	var before, after ir.Block
	var locals []*ir.Var
	for _, p := range fields {
		v := &ir.Var{Name: k.names.Name("stack"), Type: p.Type()}
		locals = append(locals, v)
		before = append(before, &ir.Let{At: l.At, V: v, E: ir.LoadOf(p, v.Type)})
		after = append(after, &ir.Set{At: l.At, P: p, E: v.Load()})
	}
	m := &ir.Map{Place: func(p *ir.Place) *ir.Place {
		for i, q := range fields {
			if n := len(q.Path); len(p.Path) >= n && ir.EqualPlace(&ir.Place{Root: p.Root, Path: p.Path[:n]}, q) {
				return &ir.Place{Root: locals[i], Path: p.Path[n:]}
			}
		}
		return p
	}}
	loop := *l
	loop.Body = m.Block(l.Body)
	return append(append(before, &loop), after...)
}

// isStack reports whether p is a slice in a field of a workspace that a variable points to which keeps its value.
func (k *stackKeeper) isStack(p *ir.Place) bool {
	v := p.Root
	if n := len(p.Path); !k.workspace(v) || k.use.addressed[v] || !k.use.keeps(v) ||
		n == 0 || n > 2 || p.Path[n-1].Field < 0 || n == 2 && !p.Path[0].IsDeref() {
		return false
	}
	_, slice := p.Type().Underlying().(*types.Slice)
	return slice
}

// taken reports whether the address of the stack p itself is taken in b, or of the whole workspace.
func (k *stackKeeper) taken(b ir.Block, p *ir.Place) (found bool) {
	ir.Walk(b, func(s ir.Stmt) bool {
		ir.EachExpr(s, func(e ir.Expr) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				switch e := e.(type) {
				case *ir.Addr:
					found = found || e.P.Root == p.Root && len(e.P.Path) <= len(p.Path)
				case *ir.Load:
					found = found || e.P.Root == p.Root && len(e.P.Path) < len(p.Path)
				}
				return !found
			})
		})
		return !found
	})
	return found
}
