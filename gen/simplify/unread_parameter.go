package simplify

import "github.com/nabla-ad/nabla/gen/ir"

// Unread removes what f writes to the memory of a slice, a parameter that f is not to have
// any longer, and the parts of it that have names. It reports whether it could: nothing
// reads the memory, and nothing else gets hold of it. What may panic in what is written is
// still computed; that the slice is long enough is not looked at. Where its length is
// needed, that of another slice like it is taken.
func Unread(f *ir.Func, memory, like *ir.Var) bool {
	replaceLen := ir.Map{Expr: func(e ir.Expr) ir.Expr {
		if l, ok := e.(*ir.Len); ok && !l.Cap {
			if x, ok := l.X.(*ir.Load); ok && x.P.Root == memory && len(x.P.Path) == 0 {
				return &ir.Len{Typed: l.Typed, X: &ir.Load{Typed: ir.Typed{T: like.Type}, P: &ir.Place{Root: like}}}
			}
		}
		return e
	}}
	body := replaceLen.Block(f.Body)
	memoryViews := views{memory: true}
	for changed := true; changed; {
		changed = false
		ir.Walk(body, func(s ir.Stmt) bool {
			if l, ok := s.(*ir.Let); ok && !memoryViews[l.V] && memoryViews.isView(l.E) {
				memoryViews[l.V], changed = true, true
			}
			return true
		})
	}
	unused := true
	ir.Walk(body, func(s ir.Stmt) bool {
		unused = unused && (memoryViews.storedValue(s) != nil || memoryViews.declaresView(s) || !memoryViews.occursIn(s))
		return unused
	})
	if !unused {
		return false
	}
	names := ir.NamerOf(f)
	m := ir.Map{Stmt: func(s ir.Stmt) []ir.Stmt {
		e := memoryViews.storedValue(s)
		switch {
		case e != nil && mayPanic(e):
			return []ir.Stmt{&ir.Let{At: ir.At{Pos: s.Position()},
				V: &ir.Var{Name: names.Name("unused"), Type: e.Type()}, E: e}}
		case e != nil || memoryViews.declaresView(s):
			return nil
		}
		return []ir.Stmt{s}
	}}
	f.Body = m.Block(body)
	return true
}

// unread is a slice and the names of its parts.
type views map[*ir.Var]bool

// part reports whether e is the slice or a part of it.
func (u views) isView(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Slice:
		return u.isView(e.X)
	case *ir.Load:
		return len(e.P.Path) == 0 && u[e.P.Root]
	}
	return false
}

// named reports whether s gives a part a name, and does nothing else.
func (u views) declaresView(s ir.Stmt) bool {
	l, ok := s.(*ir.Let)
	return ok && u[l.V] && u.isView(l.E)
}

// written is what s adds to the memory or sets it to, nil if it does something else.
func (u views) storedValue(s ir.Stmt) ir.Expr {
	var e ir.Expr
	switch s := s.(type) {
	case *ir.Set:
		e = s.E
	case *ir.Add:
		e = s.E
	default:
		return nil
	}
	p := ir.Target(s)
	if !p.Indirect() || !u[p.Root] || u.occursInExpr(e) {
		return nil
	}
	for _, i := range p.Indices() {
		if u.occursInExpr(i) {
			return nil
		}
	}
	return e
}

// mentioned reports whether s itself has anything to do with the slice.
func (u views) occursIn(s ir.Stmt) (found bool) {
	uses(s, func(v *ir.Var, _ use) { found = found || u[v] })
	return found
}

func (u views) occursInExpr(e ir.Expr) (found bool) {
	exprUses(e, func(v *ir.Var, _ use) { found = found || u[v] })
	return found
}
