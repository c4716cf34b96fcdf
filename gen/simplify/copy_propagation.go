package simplify

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// rounds is how often passes are repeated at most that make work for themselves.
const maxRounds = 20

// Copies removes copies. A variable that only ever is what a constant or another variable
// is, where neither changes while it is used, is replaced by that; a declaration moves
// down to where its variable first gets a value as a whole; a value that is only assigned
// to something by the statement behind is assigned at once; and values that nothing
// reads are not computed, unless that may panic.
func Copies(f *ir.Func) {
	seen := newOccurrences()
	for range maxRounds {
		c := &copyPropagator{use: usageOf(f.Body), occurs: seen}
		f.Body = c.block(f.Body)
		if !Dead(f) && !c.changed {
			return
		}
	}
}

type copyPropagator struct {
	use         *usage
	occurs      *occurrences
	changed     bool
	substitutes bool // numbers stand where they are used
	// sums says of which variables that are sums the zero that they begin with is left out.
	isSum func(*ir.Var) bool
}

// block rewrites b and then its blocks.
func (c *copyPropagator) block(b ir.Block) ir.Block {
	b = append(ir.Block(nil), b...)
	for i := 0; i < len(b); {
		l, ok := b[i].(*ir.Let)
		if !ok {
			i++
			continue
		}
		done := false
		for _, try := range []func(*ir.Let, ir.Block) (ir.Block, bool){c.propagate, c.sink, c.mergeFirstAdd, c.forward} {
			if rest, ok := try(l, b[i+1:]); ok {
				b = append(b[:i:i], rest...)
				c.changed, done = true, true
				break
			}
		}
		if !done {
			i++
		}
	}
	for i, s := range b {
		b[i] = mapBlocks(s, c.block)
		if endsInJump(b[:i+1]) {
			return b[:i+1]
		}
	}
	return b
}

// fixed reports whether v never changes as long as there is one.
func (c *copyPropagator) assignedOnce(v *ir.Var) bool {
	switch v.Kind {
	case ir.Local:
		return c.use.writes[v] == 1
	case ir.Param:
		return c.use.writes[v] == 0
	}
	return v.Kind == ir.Global
}

// propagate puts what a variable is a copy of for it into what follows its declaration.
func (c *copyPropagator) propagate(l *ir.Let, rest ir.Block) (ir.Block, bool) {
	v := l.V
	if l.E == nil || c.use.writes[v] != 1 || c.use.addressed[v] || !types.Identical(l.E.Type(), v.Type) {
		return nil, false
	}
	k, isConst := l.E.(*ir.Const)
	w := loadedVar(l.E)
	switch {
	case isConst:
		if k.Val == nil || !hasInfo(k.T, types.IsNumeric|types.IsBoolean) {
			return nil, false
		}
	case w == nil || c.use.addressed[w] || accumulatesBetween(rest, v, w):
		return nil, false
	case !c.assignedOnce(w) && c.writtenWhileUsed(rest, w, v):
		return nil, false
	default:
		c.use.reads[w] += c.use.reads[v] - 1
	}
	m := &ir.Map{Stmt: foldBranch, Expr: func(e ir.Expr) ir.Expr {
		if u := loadedVar(e); u != nil && u == v {
			return l.E
		}
		return fold(e)
	}}
	if w != nil {
		m.Var = func(u *ir.Var) *ir.Var {
			if u == v {
				return w
			}
			return u
		}
	}
	return m.Block(rest), true
}

// addsTo reports whether something is added to one of v and w, or what it leads to, that
// is computed of the other.
func accumulatesBetween(b ir.Block, v, w *ir.Var) (found bool) {
	ir.Walk(b, func(s ir.Stmt) bool {
		if a, ok := s.(*ir.Add); ok {
			r := a.P.Root
			found = found || r == v && readsVar(a.E, w) || r == w && readsVar(a.E, v)
		}
		return !found
	})
	return found
}

// changesWhile reports whether w may be written in b while v is still used.
func (c *copyPropagator) writtenWhileUsed(b ir.Block, w, v *ir.Var) bool {
	last := -1
	for i, s := range b {
		if c.occurs.contains(s, v) {
			last = i
		}
	}
	for i, s := range b[:last+1] {
		if i == last && len(ir.Blocks(s)) == 0 {
			break // which reads before it writes
		}
		if c.occurs.contains(s, w) && writesVar(s, w) {
			return true
		}
	}
	return false
}

// sink moves the declaration of a variable to where it is assigned as a whole, if
// nothing has to do with it before.
func (c *copyPropagator) sink(l *ir.Let, rest ir.Block) (ir.Block, bool) {
	if c.use.writes[l.V] < 2 || l.E != nil && (mayPanic(l.E) || allocates(l.E)) {
		return nil, false
	}
	for k, s := range rest {
		if !c.occurs.contains(s, l.V) {
			continue
		}
		var e ir.Expr
		switch s := s.(type) {
		case *ir.Set:
			if s.P.Root == l.V && len(s.P.Path) == 0 && !readsVar(s.E, l.V) {
				e = s.E
			}
		case *ir.Add:
			if c.isSum != nil && c.isSum(l.V) && s.P.Root == l.V && len(s.P.Path) == 0 && isZero(l.E) {
				e = s.E
			}
		}
		if e == nil {
			return nil, false
		}
		c.use.writes[l.V]--
		if _, add := s.(*ir.Add); add {
			c.use.reads[l.V]--
		}
		out := append(ir.Block(nil), rest...)
		out[k] = &ir.Let{At: ir.At{Pos: s.Position()}, V: l.V, E: e}
		return out, true
	}
	return nil, false
}

// isNew reports whether e gives new memory.
func allocates(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Make, *ir.New:
		return true
	case *ir.Literal:
		return sliceElem(e.T) != nil
	}
	return false
}

// forward puts a value into the statement behind, the only one that uses it.
func (c *copyPropagator) forward(l *ir.Let, rest ir.Block) (ir.Block, bool) {
	v := l.V
	if l.E == nil || len(rest) == 0 || c.use.writes[v] != 1 || c.use.reads[v] != 1 || c.use.addressed[v] ||
		!types.Identical(l.E.Type(), v.Type) {
		return nil, false
	}
	var s ir.Stmt
	switch next := rest[0].(type) {
	case *ir.Let:
		if loadedVar(next.E) == v {
			s = &ir.Let{At: next.At, V: next.V, E: l.E}
		}
	case *ir.Set:
		if loadedVar(next.E) == v && (!mayPanic(l.E) || !placeMayPanic(next.P)) {
			s = &ir.Set{At: next.At, P: next.P, E: l.E}
		}
	case *ir.Add:
		if loadedVar(next.E) == v && !readsVar(l.E, next.P.Root) && !isLiteral(l.E) {
			s = &ir.Add{At: next.At, P: next.P, E: l.E}
		}
	}
	if s == nil && c.substitutes {
		s = substituteInto(l, rest[0])
	}
	if s == nil {
		return nil, false
	}
	return append(ir.Block{s}, rest[1:]...), true
}

// long is up to what size expressions grow.
const maxExprSize = 40

// within is s, which uses the number of a declaration once, with that in its place, nil
// if its blocks use it or what is evaluated would change.
func substituteInto(l *ir.Let, s ir.Stmt) ir.Stmt {
	if !ir.IsFloat(l.V.Type) || mayPanic(l.E) {
		return nil
	}
	found, n := false, exprSize(l.E)
	for _, e := range ir.Exprs(s) {
		found = found || readsVar(e, l.V)
		n += exprSize(e)
	}
	if a, ok := s.(*ir.Add); ok && readsVar(l.E, a.P.Root) {
		return nil
	}
	if !found || n > maxExprSize {
		return nil
	}
	m := &ir.Map{Expr: func(e ir.Expr) ir.Expr {
		if v := loadedVar(e); v != nil && v == l.V {
			return l.E
		}
		return e
	}}
	return rewriteHead(m, s)
}

// grow puts what is added to a variable by the statement behind into its declaration.
func (c *copyPropagator) mergeFirstAdd(l *ir.Let, rest ir.Block) (ir.Block, bool) {
	if !c.substitutes || l.E == nil || len(rest) == 0 || !ir.IsFloat(l.V.Type) {
		return nil, false
	}
	a, ok := rest[0].(*ir.Add)
	if !ok || a.P.Root != l.V || len(a.P.Path) > 0 || exprSize(l.E)+exprSize(a.E) > maxExprSize {
		return nil, false
	}
	c.use.writes[l.V]--
	c.use.reads[l.V]--
	return append(ir.Block{&ir.Let{At: l.At, V: l.V, E: sum(l.E, a.E)}}, rest[1:]...), true
}
