package simplify

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Cut cuts slices to a common length before innermost loops, so that Go checks their
// bounds there once and not in every iteration. A slice is cut that every iteration
// indexes by the index of the loop, plus a constant or what does not change in the loop.
// So the loop would have panicked where the cut does, only later: what it would have
// done until then is not done.
//
//	for i := 0; i < n; i++ { … x[k+i] … }
//	if 0 < n { xCut := x[k:len(x):len(x)][:n]; for i := 0; i < n; i++ { … xCut[i] … } }
func Cut(f *ir.Func) {
	c := &cutter{names: ir.NamerOf(f), use: usageOf(f.Body), lengthOf: map[*ir.Var]*ir.Var{}}
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if l, ok := s.(*ir.Let); ok && c.use.writes[l.V] == 1 {
			if n, ok := l.E.(*ir.Len); ok && !n.Cap && loadedVar(n.X) != nil {
				c.lengthOf[l.V] = loadedVar(n.X)
			}
		}
		return true
	})
	f.Body = c.block(f.Body)
}

type cutter struct {
	names    *ir.Namer
	use      *usage
	lengthOf map[*ir.Var]*ir.Var // variables that are lengths, of what
	known    ir.Expr             // a condition that is true, nil if none is known
}

func (c *cutter) block(b ir.Block) (out ir.Block) {
	for _, s := range b {
		outer := c.known
		if x, ok := s.(*ir.If); ok {
			c.known = x.Cond
			then := c.block(x.Then)
			c.known = outer
			out = append(out, &ir.If{At: x.At, Cond: x.Cond, Then: then, Else: c.block(x.Else)})
			continue
		}
		if _, ok := s.(*ir.Loop); ok {
			c.known = nil // as the loop may change it
		}
		s = mapBlocks(s, c.block)
		c.known = outer
		if l, ok := s.(*ir.Loop); ok {
			out = append(out, c.cutLoop(l)...)
		} else {
			out = append(out, s)
		}
		if c.known != nil {
			exprUses(c.known, func(v *ir.Var, _ use) {
				if writesVar(s, v) {
					c.known = nil
				}
			})
		}
	}
	return out
}

// access is how a loop indexes a slice: by its index plus base, nil for none, plus up to
// a constant.
type accessGroup struct {
	slice     *ir.Var
	base      ir.Expr
	maxOffset int64
	cut       *ir.Var
}

// fewest is up to how many iterations cuts would cost more than they save.
const minTripCount = 8

func (c *cutter) cutLoop(l *ir.Loop) ir.Block {
	if l.V == nil || l.Step != 1 && l.Step != -1 || !types.Identical(l.V.Type, integer) || !isInnermost(l.Body) {
		return ir.Block{l}
	}
	// The index goes from 0 to n-1, or from somewhere if first is not set.
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
		lets = append(lets, &ir.Let{At: l.At, V: a.cut, E: &ir.Slice{Typed: tail.Typed, X: tail, Hi: addConst(tripEnd, a.maxOffset)}})
	}
	m := &ir.Map{Place: func(p *ir.Place) *ir.Place {
		for _, a := range groups {
			if base, k, ok := c.splitIndex(p, l.V, inside); ok && p.Root == a.slice && ir.Equal(base, a.base) && k <= a.maxOffset &&
				(base == nil || k >= 0) {
				path := append([]ir.Step{ir.IndexStep(addConst(l.V.Load(), k))}, p.Path[1:]...)
				return &ir.Place{Root: a.cut, Path: path}
			}
		}
		return p
	}}
	loop := *l
	loop.Body = m.Block(l.Body)
	some := fold(hasIteration(l))
	if c.known != nil && ir.Equal(c.known, some) {
		return append(lets, &loop)
	}
	return ir.Block{&ir.If{At: l.At, Cond: some, Then: append(lets, &loop)}}
}

// innermost reports whether b is short of loops and calls.
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

// simple reports whether e is a variable or a constant, or a sum of them.
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

// sumOf is e and a constant, in one.
func addConst(e ir.Expr, k int64) ir.Expr {
	x, n := splitOffset(e)
	n += k
	switch {
	case x == nil:
		return intConst(integer, n)
	case n == 0:
		return x
	case n < 0:
		return binary(integer, token.SUB, x, intConst(integer, -n))
	}
	return binary(integer, token.ADD, x, intConst(integer, n))
}

// accesses are how every iteration of l indexes slices.
func (c *cutter) accessGroups(l *ir.Loop, tripEnd ir.Expr, fromZero bool, inside *usage) (out []*accessGroup) {
	addAccess := func(p *ir.Place) {
		base, k, ok := c.splitIndex(p, l.V, inside)
		if !ok || base != nil && (!fromZero || k != 0) {
			return
		}
		if v := loadedVar(tripEnd); base == nil && k <= 0 && v != nil && c.lengthOf[v] == p.Root && c.assignedOnce(p.Root) {
			return // Go knows
		}
		for _, a := range out {
			if a.slice == p.Root && ir.Equal(a.base, base) {
				a.maxOffset = max(a.maxOffset, k)
				return
			}
		}
		out = append(out, &accessGroup{slice: p.Root, base: base, maxOffset: k})
	}
	for _, s := range l.Body {
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				if b, ok := e.(*ir.Binary); ok && (b.Op == token.LAND || b.Op == token.LOR) {
					return false
				}
				if p := ir.PlaceOf(e); p != nil {
					addAccess(p)
				}
				return true
			})
		}
		if p := ir.Target(s); p != nil {
			addAccess(p)
		}
		if len(ir.Blocks(s)) > 0 && ir.LeavesBeyond(ir.Block{s}) || endsInJump(ir.Block{s}) {
			break
		}
	}
	return out
}

// fixed reports whether a slice variable is what it is from the beginning.
func (c *cutter) assignedOnce(v *ir.Var) bool {
	return v.Kind == ir.Param && c.use.writes[v] == 0 || v.Kind == ir.Local && c.use.writes[v] == 1
}

// index takes the index of p, a place in a slice that does not change in the loop, apart
// into the index of the loop, something that does not change there, and a constant.
func (c *cutter) splitIndex(p *ir.Place, v *ir.Var, inside *usage) (base ir.Expr, k int64, ok bool) {
	x := p.Root
	if len(p.Path) == 0 || p.Path[0].Index == nil || sliceElem(x.Type) == nil || c.use.addressed[x] ||
		inside.writes[x] > 0 {
		return nil, 0, false
	}
	e, k := splitOffset(p.Path[0].Index)
	if e == nil || !types.Identical(e.Type(), integer) {
		return nil, 0, false
	}
	found := false
	var removeIndex func(e ir.Expr) ir.Expr // e without v
	removeIndex = func(e ir.Expr) ir.Expr {
		if w := loadedVar(e); w != nil && w == v && !found {
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
		return binary(integer, token.ADD, x, y)
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
