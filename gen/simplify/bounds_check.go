package simplify

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Cut eliminates bounds checks in innermost counted loops: before the loop it cuts each slice that every iteration
// indexes by the loop index, plus a constant or an invariant, to the length that the loop needs, from which the Go
// compiler can prove that the indices in the loop are in range. If the loop would have panicked because of an index,
// the cut panics instead, before the first iteration, so the effects of earlier iterations are missing.
//
//	for i := 0; i < n; i++ { … x[k+i] … }
//	if 0 < n { xCut := x[k:len(x):len(x)][:n]; for i := 0; i < n; i++ { … xCut[i] … } }
func Cut(f *ir.Func) {
	c := &cutter{names: ir.NamerOf(f), use: usageOf(f.Body), lengthOf: map[*ir.Var]*ir.Var{}}
	c.known.use = c.use
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if l, ok := s.(*ir.Let); ok && c.use.writes[l.V] == 1 {
			if n, ok := l.E.(*ir.Len); ok && !n.Cap && ir.VarOf(n.X) != nil {
				c.lengthOf[l.V] = ir.VarOf(n.X)
			}
		}
		return true
	})
	f.Body = c.block(f.Body)
}

// A cutter applies Cut to one function.
type cutter struct {
	names    *ir.Namer
	use      *usage              // of the whole body
	lengthOf map[*ir.Var]*ir.Var // variable assigned once to len(x) → x
	known    knownConditions
}

// block applies Cut to the loops of b, nested ones included.
func (c *cutter) block(b ir.Block) ir.Block {
	return c.known.block(b, func(s ir.Stmt) ir.Block {
		if l, ok := s.(*ir.Loop); ok {
			return c.cutLoop(l)
		}
		return ir.Block{s}
	})
}

// An accessGroup is a set of accesses that share one cut: those to the elements i + base + k of one slice, where i is
// the loop index, base is invariant in the loop, nil if there is none, and k is from minOffset to maxOffset. Without a
// base minOffset is 0, and accesses with smaller k use the cut too.
type accessGroup struct {
	slice                *ir.Var
	base                 ir.Expr
	minOffset, maxOffset int64
	cut                  *ir.Var // replaces slice in the loop
}

// minTripCount is the least constant trip count for which the loop is changed: below it, a cut costs more than the
// checks it saves.
const minTripCount = 8

// cutLoop returns the statements that replace l, or l itself if no access qualifies. The largest loop index must be
// tripEnd-1 and the smallest must not be negative. If the trip count is not known to be positive, cuts and loop are
// guarded by the condition that there is an iteration, since a cut must not panic for a loop that never indexes.
func (c *cutter) cutLoop(l *ir.Loop) ir.Block {
	// Only for a step of 1 or -1 does the trip count bound all indices.
	if l.V == nil || l.Step != 1 && l.Step != -1 || !types.Identical(l.V.Type, integer) || !isInnermost(l.Body) {
		return ir.Block{l}
	}
	// The loop index runs over [0, tripEnd) if fromZero is set, otherwise over [c, tripEnd) for some constant c > 0.
	var tripEnd ir.Expr
	var fromZero bool
	if l.Step == 1 {
		tripEnd = l.Hi
		k, ok := constInt(l.Lo)
		fromZero = ok && k == 0
		if !ok || k < 0 {
			return ir.Block{l}
		}
	} else {
		tripEnd = addConst(l.Lo, 1)
		k, ok := constInt(l.Hi)
		fromZero = ok && k == -1
		if !ok || k < -1 {
			return ir.Block{l}
		}
	}
	// The end of the range is evaluated again in the cut.
	if m, ok := constInt(tripEnd); ok && m < minTripCount || !isSimple(tripEnd) {
		return ir.Block{l}
	}
	inside := usageOf(l.Body)
	groups := c.accessGroups(l, tripEnd, fromZero, inside)
	if len(groups) == 0 {
		return ir.Block{l}
	}
	var lets ir.Block
	for _, a := range groups {
		a.cut = &ir.Var{Name: c.names.Name(a.slice.Name), Type: a.slice.Type}
		length := &ir.Len{Typed: ir.Typed{T: integer}, X: a.slice.Load()}
		tail := &ir.Slice{Typed: ir.Typed{T: a.slice.Type}, X: a.slice.Load(), Lo: a.base, Hi: length, Max: length}
		if a.base != nil {
			tail.Lo = addConst(a.base, a.minOffset)
		}
		cut := &ir.Slice{Typed: tail.Typed, X: tail, Hi: addConst(tripEnd, a.maxOffset-a.minOffset)}
		lets = append(lets, &ir.Let{At: l.At, V: a.cut, E: cut})
	}
	m := &ir.Map{Place: func(p *ir.Place) *ir.Place {
		for _, a := range groups {
			if base, k, ok := c.splitIndex(p, l.V, inside); ok && p.Root == a.slice && ir.Equal(base, a.base) &&
				k <= a.maxOffset && (base == nil || k >= a.minOffset) {
				path := append([]ir.Step{ir.IndexStep(addConst(l.V.Load(), k-a.minOffset))}, p.Path[1:]...)
				return &ir.Place{Root: a.cut, Path: path}
			}
		}
		return p
	}}
	loop := *l
	loop.Body = m.Block(l.Body)
	return c.known.guard(l, append(lets, &loop))
}

// isInnermost reports whether b contains neither loops nor calls.
func isInnermost(b ir.Block) bool {
	ok := true
	ir.Walk(b, func(s ir.Stmt) bool {
		switch s.(type) {
		case *ir.Loop, *ir.Call:
			ok = false
		}
		return ok
	})
	return ok
}

// isSimple reports whether e consists of variables, constants, + - and *, so that evaluating it again is cheap and
// cannot panic.
func isSimple(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Const:
		return true
	case *ir.Load:
		return len(e.P.Path) == 0
	case *ir.Binary:
		return (e.Op == token.ADD || e.Op == token.SUB || e.Op == token.MUL) && isSimple(e.X) && isSimple(e.Y)
	}
	return false
}

// addConst returns the int expression e + k with constants merged.
func addConst(e ir.Expr, k int64) ir.Expr {
	x, n := splitOffset(e)
	n += k
	switch {
	case x == nil:
		return ir.IntConst(integer, n)
	case n == 0:
		return x
	case n < 0:
		return ir.NewBinary(integer, token.SUB, x, ir.IntConst(integer, -n))
	}
	return ir.NewBinary(integer, token.ADD, x, ir.IntConst(integer, n))
}

// accessGroups returns the groups of accesses that every iteration of l performs: those in the statements of its body
// that dominate the end of the iteration, except in right operands of && and ||. An access with a base qualifies only
// if the loop starts at 0, since base may be out of range where base plus the first index is not. Accesses that
// the Go compiler can check itself, as the bound of the loop is the length of the slice, are left out.
func (c *cutter) accessGroups(l *ir.Loop, tripEnd ir.Expr, fromZero bool, inside *usage) (out []*accessGroup) {
	addAccess := func(p *ir.Place) {
		base, k, ok := c.splitIndex(p, l.V, inside)
		if !ok || base != nil && !fromZero {
			return
		}
		if v := ir.VarOf(tripEnd); base == nil && k <= 0 && v != nil && c.lengthOf[v] == p.Root &&
			c.use.keeps(p.Root) {
			return // the compiler eliminates this check without a cut
		}
		for _, a := range out {
			if a.slice == p.Root && ir.Equal(a.base, base) {
				a.maxOffset = max(a.maxOffset, k)
				if base != nil {
					a.minOffset = min(a.minOffset, k)
				}
				return
			}
		}
		a := &accessGroup{slice: p.Root, base: base, maxOffset: k}
		if base != nil {
			a.minOffset = k
		}
		out = append(out, a)
	}
	for _, s := range certainOf(l.Body) {
		eachEvaluated(s, addAccess)
	}
	return out
}

// splitIndex splits the index of p into v + base + k, where v is the loop index, base is invariant in the loop or nil,
// and k is a constant. It reports false if p is not an element of a slice variable, if the loop writes that variable,
// or if the index has another form. Inside is the usage of the body of the loop.
func (c *cutter) splitIndex(p *ir.Place, v *ir.Var, inside *usage) (base ir.Expr, k int64, ok bool) {
	x := p.Root
	if len(p.Path) == 0 || p.Path[0].Index == nil || ir.ElemOf(x.Type) == nil || c.use.addressed[x] ||
		inside.writes[x] > 0 {
		return nil, 0, false
	}
	// Index arithmetic of smaller types may overflow.
	e, k := splitOffset(p.Path[0].Index)
	if e == nil || !types.Identical(e.Type(), integer) {
		return nil, 0, false
	}
	found := false
	var removeIndex func(e ir.Expr) ir.Expr // returns e without one occurrence of v, nil if nothing is left
	removeIndex = func(e ir.Expr) ir.Expr {
		if w := ir.VarOf(e); w != nil && w == v && !found {
			found = true
			return nil
		}
		b, sum := e.(*ir.Binary)
		if !sum || b.Op != token.ADD {
			return e
		}
		x, y := removeIndex(b.X), removeIndex(b.Y)
		switch {
		case x == nil:
			return y
		case y == nil:
			return x
		}
		return ir.NewBinary(integer, token.ADD, x, y)
	}
	base = removeIndex(e)
	invariant := base == nil || isSimple(base)
	if base != nil {
		exprUses(base, func(w *ir.Var, _ use) {
			invariant = invariant && w != v && inside.writes[w] == 0 && !c.use.addressed[w]
		})
	}
	return base, k, found && invariant
}
