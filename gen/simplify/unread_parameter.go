package simplify

import "github.com/nabla-ad/nabla/gen/ir"

// Unread deletes all stores of f to the slice parameter memory and its subslices, so that the parameter can be removed,
// and reports whether it could: f must not read the memory or let it escape. If it returns false, f is unchanged.
// Stored values that may panic are still evaluated; bounds of memory are no longer checked. Occurrences of len(memory)
// become len(like).
//
//	let part []float64 = memory[k:]       let unused float64 = x[j]
//	part[i] += a * b
//	memory[0] = x[j]
func Unread(f *ir.Func, memory, like *ir.Var) bool {
	// Lengths are replaced first, so that they do not count as reads.
	body := lengthsOf(memory, like).Block(f.Body)
	memoryViews := viewsOf(memory, body)
	unused := true
	ir.Walk(body, func(s ir.Stmt) bool {
		unused = unused && (memoryViews.storedValue(s) != nil || memoryViews.declaresView(s) ||
			!memoryViews.occursIn(s))
		return unused
	})
	if !unused {
		return false
	}
	names := ir.NamerOf(f)
	m := ir.Map{Stmt: func(s ir.Stmt) []ir.Stmt {
		e := memoryViews.storedValue(s)
		switch {
		// The panic is observable, the store is not.
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

// lengthsOf returns the map of len(memory) to len(like).
func lengthsOf(memory, like *ir.Var) *ir.Map {
	return &ir.Map{Expr: func(e ir.Expr) ir.Expr {
		if l, ok := e.(*ir.Len); ok && !l.Cap && ir.VarOf(l.X) == memory {
			return &ir.Len{Typed: l.Typed, X: like.Load()}
		}
		return e
	}}
}

// A views is the set of variables that hold a slice parameter or a subslice of it.
type views map[*ir.Var]bool

// viewsOf returns the views of memory that body declares, and memory itself.
func viewsOf(memory *ir.Var, body ir.Block) views {
	u := views{memory: true}
	// The set only grows, so the iteration over declarations ends at a fixed point.
	for changed := true; changed; {
		changed = false
		ir.Walk(body, func(s ir.Stmt) bool {
			// Views of views are found in a later iteration.
			if l, ok := s.(*ir.Let); ok && !u[l.V] && u.isView(l.E) {
				u[l.V], changed = true, true
			}
			return true
		})
	}
	return u
}

// isView reports whether e is a view, possibly resliced.
func (u views) isView(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Slice:
		return u.isView(e.X)
	case *ir.Load:
		return len(e.P.Path) == 0 && u[e.P.Root]
	}
	return false
}

// declaresView reports whether s is the declaration of a view, which can be deleted.
func (u views) declaresView(s ir.Stmt) bool {
	l, ok := s.(*ir.Let)
	return ok && u[l.V] && u.isView(l.E)
}

// storedValue returns the value that s stores or adds to an element of a view, or nil if s does anything else with
// views.
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
	// Indices must not read the memory either.
	for _, i := range p.Indices() {
		if u.occursInExpr(i) {
			return nil
		}
	}
	return e
}

// occursIn reports whether s itself uses a view.
func (u views) occursIn(s ir.Stmt) (found bool) {
	uses(s, func(v *ir.Var, _ use) { found = found || u[v] })
	return found
}

// occursInExpr reports whether e uses a view.
func (u views) occursInExpr(e ir.Expr) (found bool) {
	exprUses(e, func(v *ir.Var, _ use) { found = found || u[v] })
	return found
}
