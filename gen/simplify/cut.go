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
	c := &cutter{names: ir.NamerOf(f), use: usageOf(f.Body), lens: map[*ir.Var]*ir.Var{}}
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if l, ok := s.(*ir.Let); ok && c.use.writes[l.V] == 1 {
			if n, ok := l.E.(*ir.Len); ok && !n.Cap && whole(n.X) != nil {
				c.lens[l.V] = whole(n.X)
			}
		}
		return true
	})
	f.Body = c.block(f.Body)
}

type cutter struct {
	names *ir.Namer
	use   *usage
	lens  map[*ir.Var]*ir.Var // variables that are lengths, of what
	holds ir.Expr             // a condition that is true, nil if none is known
}

func (c *cutter) block(b ir.Block) (out ir.Block) {
	for _, s := range b {
		outer := c.holds
		if x, ok := s.(*ir.If); ok {
			c.holds = x.Cond
			then := c.block(x.Then)
			c.holds = outer
			out = append(out, &ir.If{At: x.At, Cond: x.Cond, Then: then, Else: c.block(x.Else)})
			continue
		}
		if _, ok := s.(*ir.Loop); ok {
			c.holds = nil // as the loop may change it
		}
		s = blocks(s, c.block)
		c.holds = outer
		if l, ok := s.(*ir.Loop); ok {
			out = append(out, c.loop(l)...)
		} else {
			out = append(out, s)
		}
		if c.holds != nil {
			exprUses(c.holds, func(v *ir.Var, _ use) {
				if changes(s, v) {
					c.holds = nil
				}
			})
		}
	}
	return out
}

// access is how a loop indexes a slice: by its index plus base, nil for none, plus up to
// a constant.
type access struct {
	x    *ir.Var
	base ir.Expr
	last int64
	cut  *ir.Var
}

// fewest is up to how many iterations cuts would cost more than they save.
const fewest = 8

func (c *cutter) loop(l *ir.Loop) ir.Block {
	if l.V == nil || l.Step != 1 && l.Step != -1 || !types.Identical(l.V.Type, integer) || !innermost(l.Body) {
		return ir.Block{l}
	}
	// The index goes from 0 to n-1, or from somewhere if first is not set.
	var n ir.Expr
	var first bool
	if l.Step == 1 {
		n = l.Hi
		k, ok := constInt(l.Lo)
		first = ok && k == 0
		if !ok || k < 0 {
			return ir.Block{l}
		}
	} else {
		n = sumOf(l.Lo, 1)
		k, ok := constInt(l.Hi)
		first = ok && k == -1
		if !ok || k < -1 {
			return ir.Block{l}
		}
	}
	if m, ok := constInt(n); ok && m < fewest || !simple(n) {
		return ir.Block{l}
	}
	inside := usageOf(l.Body)
	list := c.accesses(l, n, first, inside)
	if len(list) == 0 {
		return ir.Block{l}
	}
	var lets ir.Block
	for _, a := range list {
		a.cut = &ir.Var{Name: c.names.Name(a.x.Name), Type: a.x.Type}
		length := &ir.Len{Typed: ir.Typed{T: integer}, X: a.x.Load()}
		all := &ir.Slice{Typed: ir.Typed{T: a.x.Type}, X: a.x.Load(), Lo: a.base, Hi: length, Max: length}
		lets = append(lets, &ir.Let{At: l.At, V: a.cut, E: &ir.Slice{Typed: all.Typed, X: all, Hi: sumOf(n, a.last)}})
	}
	m := &ir.Map{Place: func(p *ir.Place) *ir.Place {
		for _, a := range list {
			if base, k, ok := c.index(p, l.V, inside); ok && p.Root == a.x && ir.Equal(base, a.base) && k <= a.last &&
				(base == nil || k >= 0) {
				path := append([]ir.Step{ir.IndexStep(sumOf(l.V.Load(), k))}, p.Path[1:]...)
				return &ir.Place{Root: a.cut, Path: path}
			}
		}
		return p
	}}
	loop := *l
	loop.Body = m.Block(l.Body)
	some := fold(runs(l))
	if c.holds != nil && ir.Equal(c.holds, some) {
		return append(lets, &loop)
	}
	return ir.Block{&ir.If{At: l.At, Cond: some, Then: append(lets, &loop)}}
}

// innermost reports whether b is short of loops and calls.
func innermost(b ir.Block) bool {
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
func simple(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Const:
		return true
	case *ir.Load:
		return len(e.P.Path) == 0
	case *ir.Binary:
		return (e.Op == token.ADD || e.Op == token.SUB || e.Op == token.MUL) && simple(e.X) && simple(e.Y)
	}
	return false
}

// sumOf is e and a constant, in one.
func sumOf(e ir.Expr, k int64) ir.Expr {
	x, n := offset(e)
	n += k
	switch {
	case x == nil:
		return number(integer, n)
	case n == 0:
		return x
	case n < 0:
		return binary(integer, token.SUB, x, number(integer, -n))
	}
	return binary(integer, token.ADD, x, number(integer, n))
}

// accesses are how every iteration of l indexes slices.
func (c *cutter) accesses(l *ir.Loop, n ir.Expr, first bool, inside *usage) (out []*access) {
	find := func(p *ir.Place) {
		base, k, ok := c.index(p, l.V, inside)
		if !ok || base != nil && (!first || k != 0) {
			return
		}
		if v := whole(n); base == nil && k <= 0 && v != nil && c.lens[v] == p.Root && c.fixed(p.Root) {
			return // Go knows
		}
		for _, a := range out {
			if a.x == p.Root && ir.Equal(a.base, base) {
				a.last = max(a.last, k)
				return
			}
		}
		out = append(out, &access{x: p.Root, base: base, last: k})
	}
	for _, s := range l.Body {
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				if b, ok := e.(*ir.Binary); ok && (b.Op == token.LAND || b.Op == token.LOR) {
					return false
				}
				if p := ir.PlaceOf(e); p != nil {
					find(p)
				}
				return true
			})
		}
		if p := ir.Target(s); p != nil {
			find(p)
		}
		if len(ir.Blocks(s)) > 0 && ir.LeavesBeyond(ir.Block{s}) || ends(ir.Block{s}) {
			break
		}
	}
	return out
}

// fixed reports whether a slice variable is what it is from the beginning.
func (c *cutter) fixed(v *ir.Var) bool {
	return v.Kind == ir.Param && c.use.writes[v] == 0 || v.Kind == ir.Local && c.use.writes[v] == 1
}

// index takes the index of p, a place in a slice that does not change in the loop, apart
// into the index of the loop, something that does not change there, and a constant.
func (c *cutter) index(p *ir.Place, v *ir.Var, inside *usage) (base ir.Expr, k int64, ok bool) {
	x := p.Root
	if len(p.Path) == 0 || p.Path[0].Index == nil || elemOf(x.Type) == nil || c.use.addressed[x] ||
		inside.writes[x] > 0 {
		return nil, 0, false
	}
	e, k := offset(p.Path[0].Index)
	if e == nil || !types.Identical(e.Type(), integer) {
		return nil, 0, false
	}
	found := false
	var rest func(e ir.Expr) ir.Expr // e without v
	rest = func(e ir.Expr) ir.Expr {
		if w := whole(e); w != nil && w == v && !found {
			found = true
			return nil
		}
		b, sum := e.(*ir.Binary)
		if !sum || b.Op != token.ADD {
			return e
		}
		x, y := rest(b.X), rest(b.Y)
		switch {
		case x == nil:
			return y
		case y == nil:
			return x
		}
		return binary(integer, token.ADD, x, y)
	}
	base = rest(e)
	steady := base == nil || simple(base)
	if base != nil {
		exprUses(base, func(w *ir.Var, _ use) {
			steady = steady && w != v && inside.writes[w] == 0 && !c.use.addressed[w]
		})
	}
	return base, k, found && steady
}
