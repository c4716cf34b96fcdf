package lower

import (
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// A stateFlow finds the variables whose values may depend on numbers that earlier calls have left, and the control flow
// that does. It is insensitive to the order of statements, and takes a variable and all memory that it leads to as one.
type stateFlow struct {
	depends map[*ir.Var]bool
	decided map[ir.Stmt]bool
	changed bool
}

// decidedBy returns the loops and branches of f and its callees whose control flow may depend on the package variables
// states, by values or since it is within such control flow.
func decidedBy(f *ir.Func, states map[*ir.Var]bool) map[ir.Stmt]bool {
	w := &stateFlow{map[*ir.Var]bool{}, map[ir.Stmt]bool{}, len(states) > 0}
	for v := range states {
		w.depends[v] = true
	}
	funcs := ir.Reachable(f)
	within := map[*ir.Func]bool{} // functions that are called within such control flow
	for w.changed {
		w.changed = false
		for g := range funcs {
			w.block(g.Body, within[g], within)
		}
	}
	return w.decided
}

// add notes that v depends on numbers of earlier calls.
func (w *stateFlow) add(v *ir.Var) {
	if v != nil && !w.depends[v] {
		w.depends[v], w.changed = true, true
	}
}

// expr reports whether the value of e depends on numbers of earlier calls.
func (w *stateFlow) expr(e ir.Expr) (found bool) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		p := ir.PlaceOf(e)
		found = found || p != nil && w.depends[p.Root]
		return !found
	})
	return found
}

// block applies the statements of b. If control is set, whether they are executed depends on numbers of earlier calls.
// It reports whether b may leave for another place than its end depending on them.
func (w *stateFlow) block(b ir.Block, control bool, within map[*ir.Func]bool) (leaves bool) {
	for _, s := range b {
		depends := control
		ir.EachExpr(s, func(e ir.Expr) { depends = depends || w.expr(e) })
		switch s := s.(type) {
		case *ir.If, *ir.Loop, *ir.Scope:
			if _, ok := s.(*ir.Scope); !ok && depends && !w.decided[s] {
				w.decided[s], w.changed = true, true
			}
			for _, body := range ir.Blocks(s) {
				if w.block(*body, depends, within) || depends && ir.LeavesBeyond(*body) {
					leaves, control = true, true // another statement is the next one then
				}
			}
			if _, ok := s.(*ir.Loop); ok && control && !w.decided[s] {
				w.decided[s], w.changed = true, true
			}
			continue
		case *ir.Call:
			w.call(s, control, within)
		}
		if !depends {
			continue
		}
		if p := ir.Target(s); p != nil {
			w.add(p.Root)
		}
		switch s := s.(type) {
		case *ir.Let:
			w.add(s.V)
		case *ir.Copy:
			eachReferenceRoot(s.Dst, w.add)
		case *ir.Clear:
			eachReferenceRoot(s.S, w.add)
		}
		ir.EachResult(s, w.add)
	}
	return leaves
}

// call passes dependence from arguments to parameters, and back by way of memory and results.
func (w *stateFlow) call(s *ir.Call, control bool, within map[*ir.Func]bool) {
	f := s.Callee.Func
	if f == nil {
		if slices.ContainsFunc(s.Args, w.expr) {
			for _, e := range s.Args {
				eachReferenceRoot(e, w.add)
			}
		}
		return
	}
	if control && !within[f] {
		within[f], w.changed = true, true
	}
	for i, p := range f.Params {
		if w.expr(s.Args[i]) {
			w.add(p)
		}
		if w.depends[p] {
			eachReferenceRoot(s.Args[i], w.add)
		}
	}
	for i, r := range f.Results {
		if i < len(s.Results) && w.depends[r] {
			w.add(s.Results[i])
		}
	}
}
