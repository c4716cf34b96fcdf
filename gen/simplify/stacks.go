package simplify

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Stacks keeps the stacks that an innermost loop pushes to or pops from in local variables: a slice in a field of the
// workspace would be stored after each push. A stack that each of a known number of iterations pushes to or pops from
// once is extended before the loop or shortened after it, and indexed, if index is set. Workspace reports whether a
// variable points to one. If the loop panics, pushed values may be missing, or there may be others.
//
//	for i := 0; i < n; i++ {             let at = len(ws.s)
//	    ws.s = append(ws.s, x[i])        ws.s = …[:at+n]
//	}                                    let stack = ws.s[at:][:n]
//	                                     for i := 0; i < n; i++ {
//	                                         stack[i] = x[i]
//	                                     }
func Stacks(f *ir.Func, workspace func(v *ir.Var) bool, index bool) {
	s := &stackKeeper{names: ir.NamerOf(f), use: usageOf(f.Body), workspace: workspace, indexes: index}
	s.known.use = s.use
	f.Body = s.block(f.Body)
}

// A stackKeeper applies Stacks to one function.
type stackKeeper struct {
	names     *ir.Namer
	use       *usage // of the whole body
	workspace func(v *ir.Var) bool
	indexes   bool
	known     knownConditions
}

// block applies Stacks to the loops in b and in its nested blocks.
func (k *stackKeeper) block(b ir.Block) ir.Block {
	return k.known.block(b, func(s ir.Stmt) ir.Block {
		if l, ok := s.(*ir.Loop); ok && isInnermost(l.Body) {
			return k.loop(l)
		}
		return ir.Block{s}
	})
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
	loop := *l
	var before, after ir.Block
	guarded := false
	for _, g := range groupStacks(fields) {
		b, a, ok := k.index(&loop, g)
		before, after, guarded = append(before, b...), append(after, a...), guarded || ok
		for _, p := range g {
			if !ok {
				b, a := k.local(&loop, p)
				before, after = append(before, b...), append(after, a...)
			}
		}
	}
	loop.Body = withoutNothing(loop.Body)
	out := append(append(before, &loop), after...)
	if guarded {
		return k.known.guard(l, out)
	}
	return out
}

// local keeps the stack p in a variable during l. It returns the statements before and after the loop.
func (k *stackKeeper) local(l *ir.Loop, p *ir.Place) (before, after ir.Block) {
	v := &ir.Var{Name: k.names.Name("stack"), Type: p.Type()}
	m := &ir.Map{Place: func(q *ir.Place) *ir.Place {
		if startsWith(q, p) {
			return &ir.Place{Root: v, Path: q.Path[len(p.Path):]}
		}
		return q
	}}
	l.Body = m.Block(l.Body)
	return ir.Block{&ir.Let{At: l.At, V: v, E: ir.LoadOf(p, v.Type)}},
		ir.Block{&ir.Set{At: l.At, P: p, E: v.Load()}}
}

// startsWith reports whether q is p or memory that p leads to.
func startsWith(q, p *ir.Place) bool {
	n := len(p.Path)
	return q.Root == p.Root && len(q.Path) >= n && ir.EqualPlace(&ir.Place{Root: q.Root, Path: q.Path[:n]}, p)
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
