package simplify

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// maxRounds bounds the repetitions of passes that create work for themselves, and so the time spent on large functions.
const maxRounds = 20

// Copies alternates the following rewrites with dead-code elimination until nothing changes: copy and constant
// propagation for variables assigned once whose source is not written while they are used; sinking of a declaration to
// the first assignment of its variable; and forward substitution of a value into the next statement if that is its only
// use. Values that are not read are no longer computed unless that may panic.
//
//	let a float64 = b          propagation: uses of a become b
//	let c float64              sinking: the declaration moves
//	x[0] = a                       x[0] = b
//	c = b * b                      let c float64 = b * b
//	y[0] = c                   forward substitution: y[0] = b * b
func Copies(f *ir.Func) {
	seen := newOccurrences()
	for range maxRounds {
		c := newCopyPropagator(f, seen)
		f.Body = c.block(f.Body)
		if !Dead(f) && !c.changed {
			return
		}
	}
}

// Sink moves the declaration of a variable to its first assignment, as [Copies] does.
func Sink(f *ir.Func) {
	c := newCopyPropagator(f, newOccurrences())
	c.rewrites = []rewrite{c.sink}
	f.Body = c.block(f.Body)
}

// A rewrite returns the replacement of a declaration and the statements after it, and false if it does not apply.
type rewrite func(l *ir.Let, rest ir.Block) (ir.Block, bool)

// newCopyPropagator returns a copyPropagator of f with all rewrites.
func newCopyPropagator(f *ir.Func, occurs *occurrences) *copyPropagator {
	c := &copyPropagator{use: usageOf(f.Body), occurs: occurs}
	c.rewrites = []rewrite{c.propagate, c.sink, c.mergeFirstAdd, c.forward}
	return c
}

// A copyPropagator performs one round of rewrites of a block and those nested in it. [Increments] uses it with more
// rewrites.
type copyPropagator struct {
	use         *usage       // of the function; updated by the rewrites
	occurs      *occurrences // kept between rounds
	rewrites    []rewrite
	changed     bool
	substitutes bool // numbers are also substituted into larger expressions
	// isSum, if not nil, reports whether the initial 0 of a variable may be dropped before a sum: 0 + x is x except for
	// the sign of a zero.
	isSum func(*ir.Var) bool
}

// block rewrites the declarations of b, repeatedly as long as one of the rewrites applies to a declaration, and then
// the nested blocks. Statements after a jump are dropped.
func (c *copyPropagator) block(b ir.Block) ir.Block {
	b = append(ir.Block(nil), b...)
	for i := 0; i < len(b); {
		l, ok := b[i].(*ir.Let)
		if !ok {
			i++
			continue
		}
		done := false
		for _, rewrite := range c.rewrites {
			if rest, ok := rewrite(l, b[i+1:]); ok {
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
		if ir.EndsInJump(b[:i+1]) {
			return b[:i+1]
		}
	}
	return b
}

// assignedOnce reports whether v keeps its value during its lifetime. [ir.Check] rejects assignments to global
// variables.
func (c *copyPropagator) assignedOnce(v *ir.Var) bool {
	switch v.Kind {
	case ir.Local:
		return c.use.writes[v] == 1
	case ir.Param:
		return c.use.writes[v] == 0
	}
	return v.Kind == ir.Global
}

// propagate replaces uses of v in rest, the statements after its declaration l, by the constant or the variable w it is
// a copy of, and folds constants. It applies if v is assigned once, neither is addressed, and w is not written as long
// as v is used.
func (c *copyPropagator) propagate(l *ir.Let, rest ir.Block) (ir.Block, bool) {
	v := l.V
	if l.E == nil || c.use.writes[v] != 1 || c.use.addressed[v] || !types.Identical(l.E.Type(), v.Type) {
		return nil, false
	}
	k, isConst := l.E.(*ir.Const)
	w := ir.VarOf(l.E)
	switch {
	case isConst:
		if k.Val == nil || !ir.HasInfo(k.T, types.IsNumeric|types.IsBoolean) {
			return nil, false
		}
	// Not a copy, or the source may be written through a pointer.
	case w == nil || c.use.addressed[w] || accumulatesBetween(rest, v, w):
		return nil, false
	case !c.assignedOnce(w) && c.writtenWhileUsed(rest, w, v):
		return nil, false
	default:
		// W is read instead of v, and no longer by the declaration.
		c.use.reads[w] += c.use.reads[v] - 1
	}
	m := &ir.Map{Stmt: foldBranch, Expr: func(e ir.Expr) ir.Expr {
		if u := ir.VarOf(e); u != nil && u == v {
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

// accumulatesBetween reports whether an accumulation in b adds an expression that reads one of v and w to a place with
// the other as root. Replacing v by w would make it read the place it adds to, which ir does not allow.
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

// writtenWhileUsed reports whether w may be written in b before the last statement that uses v has read it.
func (c *copyPropagator) writtenWhileUsed(b ir.Block, w, v *ir.Var) bool {
	last := -1
	for i, s := range b {
		if c.occurs.contains(s, v) {
			last = i
		}
	}
	// Only writes before the last use matter.
	for i, s := range b[:last+1] {
		if i == last && len(ir.Blocks(s)) == 0 {
			break // it reads its operands before it writes
		}
		if c.occurs.contains(s, w) && writesVar(s, w) {
			return true
		}
	}
	return false
}

// sink moves the declaration l of a variable that is written again to the first statement in rest that uses it, if that
// assigns it as a whole without reading it. Its initial value must neither panic nor allocate. If isSum allows it, an
// addition to an initial 0 becomes the declaration too.
func (c *copyPropagator) sink(l *ir.Let, rest ir.Block) (ir.Block, bool) {
	// A variable written only once is left to propagate and forward.
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
		// The declaration no longer writes it; an Add became a declaration, which does not read it.
		c.use.writes[l.V]--
		// The Add read the variable, the declaration does not.
		if _, add := s.(*ir.Add); add {
			c.use.reads[l.V]--
		}
		out := append(ir.Block(nil), rest...)
		out[k] = &ir.Let{At: ir.At{Pos: s.Position()}, V: l.V, E: e}
		return out, true
	}
	return nil, false
}

// allocates reports whether e allocates memory.
func allocates(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Make, *ir.New:
		return true
	case *ir.Literal:
		return ir.ElemOf(e.T) != nil
	}
	return false
}

// forward substitutes the value of l into the next statement if that is the only use of its variable: as the whole
// value that is declared, assigned or added, or, with substitutes set, anywhere in it.
func (c *copyPropagator) forward(l *ir.Let, rest ir.Block) (ir.Block, bool) {
	v := l.V
	if l.E == nil || len(rest) == 0 || c.use.writes[v] != 1 || c.use.reads[v] != 1 || c.use.addressed[v] ||
		!types.Identical(l.E.Type(), v.Type) {
		return nil, false
	}
	var s ir.Stmt
	switch next := rest[0].(type) {
	case *ir.Let:
		if ir.VarOf(next.E) == v {
			s = &ir.Let{At: next.At, V: next.V, E: l.E}
		}
	// If both may panic, the order of the panics would change.
	case *ir.Set:
		if ir.VarOf(next.E) == v && (!mayPanic(l.E) || !placeMayPanic(next.P)) {
			s = &ir.Set{At: next.At, P: next.P, E: l.E}
		}
	// An Add must not read its place, and takes no literals.
	case *ir.Add:
		if ir.VarOf(next.E) == v && !readsVar(l.E, next.P.Root) && !isLiteral(l.E) {
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

// maxExprSize is the size up to which substitution lets expressions grow, so that lines of generated code stay
// readable.
const maxExprSize = 40

// substituteInto returns s with the single use of the floating-point variable of l replaced by its value, or nil if the
// value may panic, the expressions of s itself do not read the variable, s adds to a place that the value reads, or the
// result would be larger than maxExprSize. The statement directly follows l, so operands keep their values.
func substituteInto(l *ir.Let, s ir.Stmt) ir.Stmt {
	if !ir.IsContinuous(l.V.Type) || mayPanic(l.E) {
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
		if v := ir.VarOf(e); v != nil && v == l.V {
			return l.E
		}
		return e
	}}
	return rewriteHead(m, s)
}

// mergeFirstAdd merges the declaration l of a float with the next statement if that adds to its variable: let v = a; v
// += b becomes let v = a + b.
func (c *copyPropagator) mergeFirstAdd(l *ir.Let, rest ir.Block) (ir.Block, bool) {
	if !c.substitutes || l.E == nil || len(rest) == 0 || !ir.IsContinuous(l.V.Type) {
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
