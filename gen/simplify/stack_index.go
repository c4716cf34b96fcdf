package simplify

import (
	"go/token"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// A stackGroup is a list of stacks with one length: one of a workspace, and that of its tangent, which code indexes by
// the length of either.
type stackGroup []*ir.Place

// groupStacks puts the stacks into groups: those that are the same field of workspaces.
func groupStacks(stacks []*ir.Place) (out []stackGroup) {
	for _, p := range stacks {
		i := slices.IndexFunc(out, func(g stackGroup) bool {
			return ir.EqualPlace(&ir.Place{Root: p.Root, Path: g[0].Path}, p)
		})
		if i < 0 {
			out = append(out, stackGroup{p})
		} else {
			out[i] = append(out[i], p)
		}
	}
	return out
}

// A stackAccess is a statement of the body of a loop that pushes to a stack or pops from it, once in each iteration.
type stackAccess struct {
	stack *ir.Place
	at    int        // the statement
	push  *ir.Append // nil if it pops
}

// maxIndexedSize is the largest size of the body of a loop that indexes stacks. In larger ones an append takes little
// of the time, and an index is one more number to keep in a register.
const maxIndexedSize = 250

// index makes l index the parts of the stacks of g that its iterations push or pop, and returns the statements before
// and after the loop, which must have an iteration. It reports false if the number of values is not known, or if
// iterations use the stacks in other ways.
func (k *stackKeeper) index(l *ir.Loop, g stackGroup) (before, after ir.Block, ok bool) {
	if !k.indexes || !isRegular(l, k.use) || containsPanic(l.Body) || size(l.Body) > maxIndexedSize {
		return nil, nil, false // a loop that panics may never need the memory
	}
	accesses, ok := g.accesses(l)
	if !ok {
		return nil, nil, false
	}
	for _, x := range accesses {
		b, a := k.window(l, g, x)
		before, after = append(before, b...), append(after, a...)
	}
	return before, after, true
}

// containsPanic reports whether b contains a panic.
func containsPanic(b ir.Block) (found bool) {
	ir.Walk(b, func(s ir.Stmt) bool {
		_, panics := s.(*ir.Panic)
		found = found || panics
		return !found
	})
	return found
}

// window replaces the uses of the stack of x in the body of l by those of a slice of the values that its iterations
// push or pop. It returns the statements before and after the loop.
func (k *stackKeeper) window(l *ir.Loop, g stackGroup, x stackAccess) (before, after ir.Block) {
	p, t := x.stack, x.stack.Type()
	at := &ir.Var{Name: k.names.Name("at"), Type: integer}
	v := &ir.Var{Name: k.names.Name("stack"), Type: t}
	many := difference(l.Hi, l.Lo)
	if l.Step < 0 {
		many = difference(l.Lo, l.Hi)
	}
	// Iteration 0 pushes the first of the values and pops the last.
	var position ir.Expr
	switch up := l.Step > 0; {
	case up && x.push != nil:
		position = difference(l.V.Load(), l.Lo)
	case up:
		position = addConst(difference(l.Hi, l.V.Load()), -1)
	case x.push != nil:
		position = difference(l.Lo, l.V.Load())
	default:
		position = addConst(difference(l.V.Load(), l.Hi), -1)
	}
	length := ir.LenOf(ir.LoadOf(p, t))
	part := func(lo, hi ir.Expr) ir.Expr {
		return &ir.Slice{Typed: ir.Typed{T: t}, X: ir.LoadOf(p, t), Lo: lo, Hi: hi}
	}
	window := &ir.Let{At: l.At, V: v, E: &ir.Slice{Typed: ir.Typed{T: t}, X: part(at.Load(), nil), Hi: many}}
	if x.push != nil {
		capacity := &ir.Len{Typed: ir.Typed{T: integer}, X: ir.LoadOf(p, t), Cap: true}
		more := &ir.Var{Name: k.names.Name("more"), Type: t}
		before = ir.Block{
			&ir.Let{At: l.At, V: at, E: length},
			&ir.If{At: l.At, Cond: ir.Compare(token.LSS, difference(capacity, at.Load()), many),
				Then: ir.Block{
					&ir.Let{At: l.At, V: more, E: &ir.Make{Typed: ir.Typed{T: t}, N: many}},
					&ir.Append{At: l.At, P: p, S: ir.LoadOf(p, t), Spread: true, Elems: []ir.Expr{more.Load()}},
				},
				Else: ir.Block{&ir.Set{At: l.At, P: p, E: part(nil, sumOf(many, at))}}},
			window,
		}
	} else {
		before = ir.Block{&ir.Let{At: l.At, V: at, E: difference(length, many)}, window}
		after = ir.Block{&ir.Set{At: l.At, P: p, E: part(nil, at.Load())}}
	}
	m := &ir.Map{Place: func(q *ir.Place) *ir.Place {
		if startsWith(q, p) && len(q.Path) > len(p.Path) && g.isTop(q.Path[len(p.Path)].Index) {
			path := append([]ir.Step{ir.IndexStep(position)}, q.Path[len(p.Path)+1:]...)
			return &ir.Place{Root: v, Path: path}
		}
		return q
	}}
	var body ir.Block
	for i, s := range l.Body {
		switch {
		case i != x.at:
			body = append(body, m.Block(ir.Block{s})...)
		case x.push == nil || fillsRecord(x, l.Body[i+1:]):
			body = append(body, nothing(s))
		default:
			to := &ir.Place{Root: v, Path: []ir.Step{ir.IndexStep(position)}}
			body = append(body, &ir.Set{At: x.push.At, P: to, E: x.push.Elems[0]})
		}
	}
	l.Body = body
	return before, after
}

// nothing returns a statement without effect in place of s, so that those after it keep their numbers.
func nothing(s ir.Stmt) ir.Stmt { return &ir.Scope{At: ir.At{Pos: s.Position()}, L: &ir.Label{}} }

// withoutNothing returns b without the statements that nothing returned.
func withoutNothing(b ir.Block) ir.Block {
	return slices.DeleteFunc(b, func(s ir.Stmt) bool {
		scope, ok := s.(*ir.Scope)
		return ok && len(scope.Body) == 0 && scope.L.Name == ""
	})
}

// accesses returns the statements of l that push to the stacks of g or pop from them, one for each. Every iteration
// must execute them, and the others may only access the tops: after the pushes, and before the pops.
func (g stackGroup) accesses(l *ir.Loop) (list []stackAccess, ok bool) {
	first, last := len(l.Body), -1
	for i, s := range l.Body {
		p := ir.Target(s)
		n := slices.IndexFunc(g, func(q *ir.Place) bool { return p != nil && ir.EqualPlace(p, q) })
		if n < 0 {
			continue
		}
		x := stackAccess{stack: g[n], at: i}
		switch s := s.(type) {
		case *ir.Append:
			if s.Spread || len(s.Elems) != 1 || !isLoadOf(s.S, p) {
				return nil, false
			}
			if top, other := g.usesIn(s.Elems[0]); top || other {
				return nil, false
			}
			x.push = s
		case *ir.Set:
			if !g.dropsTop(s.E, p) {
				return nil, false
			}
		default:
			return nil, false
		}
		// A stack is cut to the length of another before that is shorter itself.
		for _, y := range list {
			if ir.EqualPlace(x.stack, y.stack) || (x.push == nil) != (y.push == nil) || x.push == nil && last != i-1 {
				return nil, false
			}
		}
		list = append(list, x)
		first, last = min(first, i), i
	}
	if len(list) != len(g) || last >= len(certainOf(l.Body)) {
		return nil, false
	}
	for i, s := range l.Body {
		if slices.ContainsFunc(list, func(x stackAccess) bool { return x.at == i }) {
			continue
		}
		top, other := g.uses(s)
		push := list[0].push != nil
		if other || top && (push && i < last || !push && i > first) {
			return nil, false
		}
	}
	return list, true
}

// uses reports whether s or a statement in its blocks accesses the top of a stack of g, and whether it uses one in
// another way.
func (g stackGroup) uses(s ir.Stmt) (top, other bool) {
	add := func(t, o bool) { top, other = top || t, other || o }
	ir.Walk(ir.Block{s}, func(s ir.Stmt) bool {
		if p := ir.Target(s); p != nil {
			add(g.usesPlace(p))
			// The indices come first among the expressions.
			for _, e := range ir.Exprs(s)[len(p.Indices()):] {
				add(g.usesIn(e))
			}
			return true
		}
		ir.EachExpr(s, func(e ir.Expr) { add(g.usesIn(e)) })
		return true
	})
	return top, other
}

// usesIn is uses for an expression.
func (g stackGroup) usesIn(e ir.Expr) (top, other bool) {
	ir.WalkExpr(e, func(x ir.Expr) bool {
		p := ir.PlaceOf(x)
		if p == nil {
			return true
		}
		t, o := g.usesPlace(p)
		top, other = top || t, other || o
		for _, y := range ir.Operands(x) {
			t, o := g.usesIn(y)
			top, other = top || t, other || o
		}
		return false
	})
	return top, other
}

// usesPlace is uses for a place and its indices.
func (g stackGroup) usesPlace(p *ir.Place) (top, other bool) {
	for i, s := range p.Path {
		isStack := slices.ContainsFunc(g, func(q *ir.Place) bool { return len(q.Path) == i && startsWith(p, q) })
		switch {
		case isStack && g.isTop(s.Index):
			top = true
		case isStack:
			other = true
		case s.Index != nil:
			t, o := g.usesIn(s.Index)
			top, other = top || t, other || o
		}
	}
	return top, other || slices.ContainsFunc(g, func(q *ir.Place) bool { return ir.EqualPlace(p, q) })
}

// isTop reports whether e is len(p) - 1 for a stack p of g.
func (g stackGroup) isTop(e ir.Expr) bool {
	b, ok := e.(*ir.Binary)
	if !ok || b.Op != token.SUB {
		return false
	}
	n, constant := constInt(b.Y)
	x, length := b.X.(*ir.Len)
	return constant && n == 1 && length && !x.Cap &&
		slices.ContainsFunc(g, func(p *ir.Place) bool { return isLoadOf(x.X, p) })
}

// isLoadOf reports whether e loads p.
func isLoadOf(e ir.Expr, p *ir.Place) bool {
	l, ok := e.(*ir.Load)
	return ok && ir.EqualPlace(l.P, p)
}

// dropsTop reports whether e is p without its top.
func (g stackGroup) dropsTop(e ir.Expr, p *ir.Place) bool {
	s, ok := e.(*ir.Slice)
	return ok && s.Lo == nil && s.Max == nil && isLoadOf(s.X, p) && g.isTop(s.Hi)
}

// fillsRecord reports whether x pushes the zero value of a struct and the statements of b, those after it, assign all
// its fields through a pointer to it.
func fillsRecord(x stackAccess, b ir.Block) bool {
	e := x.push.Elems[0]
	t, ok := e.Type().Underlying().(*types.Struct)
	if !ok || !isZero(e) {
		return false
	}
	var top *ir.Var
	set := map[int]bool{}
	for _, s := range b {
		if top != nil && loadsFrom(s, top) {
			return false
		}
		switch s := s.(type) {
		case *ir.Let:
			a, ok := s.E.(*ir.Addr)
			if ok && startsWith(a.P, x.stack) && len(a.P.Path) == len(x.stack.Path)+1 {
				top = s.V
			}
		case *ir.Set:
			if s.P.Root == top && top != nil && len(s.P.Path) == 2 && s.P.Path[0].IsDeref() {
				set[s.P.Path[1].Field] = true
			}
		case *ir.If, *ir.Loop, *ir.Scope:
			if ir.LeavesBeyond(ir.Block{s}) {
				return len(set) == t.NumFields()
			}
		}
	}
	return len(set) == t.NumFields()
}

// loadsFrom reports whether s or a statement in its blocks has an expression with a place whose root is v.
func loadsFrom(s ir.Stmt, v *ir.Var) (found bool) {
	ir.Walk(ir.Block{s}, func(s ir.Stmt) bool {
		ir.EachExpr(s, func(e ir.Expr) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				p := ir.PlaceOf(e)
				found = found || p != nil && p.Root == v
				return !found
			})
		})
		return !found
	})
	return found
}
