package lower

import (
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Which places a block of lowered code writes. Used to decide whether loops are counted and whether
// operands must be copied; conservative about calls and indirect places.

// writes calls f for each place that b writes and call for each call in it. Writes through slices
// are reported as places of unnamed variables of their type.
func writes(b ir.Block, f func(*ir.Place), call func(*ir.Call)) {
	for _, s := range b {
		if p := ir.Target(s); p != nil {
			f(p)
		}
		ir.EachResult(s, func(v *ir.Var) { f(v.Place()) })
		switch s := s.(type) {
		case *ir.Append:
			// Elements beyond the length may be written too.
			f(&ir.Place{Root: &ir.Var{Type: s.S.Type()}, Path: []ir.Step{ir.IndexStep(nil)}})
		case *ir.Copy:
			f(&ir.Place{Root: &ir.Var{Type: s.Dst.Type()}, Path: []ir.Step{ir.IndexStep(nil)}})
		case *ir.Clear:
			f(&ir.Place{Root: &ir.Var{Type: s.S.Type()}, Path: []ir.Step{ir.IndexStep(nil)}})
		case *ir.Call:
			call(s)
		case *ir.If:
			writes(s.Then, f, call)
			writes(s.Else, f, call)
		case *ir.Scope:
			writes(s.Body, f, call)
		case *ir.Loop:
			writes(s.Body, f, call)
		}
	}
}

// clobbers reports whether executing b may change the value of e. A callee that is not lowered yet
// may write all memory.
func (l *lowerer) clobbers(b ir.Block, e ir.Expr) bool {
	found := false
	write := func(p *ir.Place) { found = found || l.readBy(p, e) }
	seen := map[*ir.Func]bool{}
	var call func(c *ir.Call)
	call = func(c *ir.Call) {
		if r := c.Callee.Rule; r != nil && (strings.HasPrefix(r.Name, "math.") || r.Name == polar) {
			return
		}
		// A function in progress, as in recursion, is treated like one without source.
		if c.Callee.Func == nil || !l.p.done[c.Callee.Func] {
			found = found || l.readsMemory(e)
			return
		}
		if seen[c.Callee.Func] {
			return
		}
		seen[c.Callee.Func] = true
		writes(c.Callee.Func.Body, func(p *ir.Place) {
			// Only writes through references and to package-level variables are visible to the caller.
			if _, memory := placeType(p, nil); memory || p.Root.Kind == ir.Global {
				write(p)
			}
		}, call)
	}
	writes(b, write, call)
	return found
}

// readsMemory reports whether an unknown callee could change the value of e.
func (l *lowerer) readsMemory(e ir.Expr) bool {
	found := false
	eachPlace(e, func(r *ir.Place, taken bool) {
		_, memory := placeType(r, nil)
		found = found || memory || l.isAddressed(r.Root) || r.Root.Kind == ir.Global && l.p.isWritten(r.Root.Object)
	})
	return found
}

// assigns reports whether b writes to v or takes its address.
func assigns(b ir.Block, v *ir.Var) bool {
	found := false
	writes(b, func(p *ir.Place) {
		if p.Root == v {
			_, memory := placeType(p, nil)
			found = found || !memory
		}
	}, func(*ir.Call) {})
	return found || takesAddress(b, v)
}

// takesAddress reports whether b takes the address of v or of a part of it.
func takesAddress(b ir.Block, v *ir.Var) bool {
	found := false
	check := func(p *ir.Place, taken bool) {
		if taken && p.Root == v {
			_, memory := placeType(p, nil)
			found = found || !memory
		}
	}
	eachExpr(b, func(e ir.Expr) { eachPlace(e, check) })
	return found
}

// eachExpr calls f for the expressions of the statements in b, including indices of their targets.
func eachExpr(b ir.Block, f func(ir.Expr)) {
	place := func(p *ir.Place) {
		for _, s := range p.Path {
			if s.Index != nil {
				f(s.Index)
			}
		}
	}
	for _, s := range b {
		switch s := s.(type) {
		case *ir.Let:
			f(s.E)
		case *ir.Set:
			place(s.P)
			f(s.E)
		case *ir.Add:
			place(s.P)
			f(s.E)
		case *ir.Call:
			for _, e := range s.Args {
				f(e)
			}
		case *ir.Append:
			place(s.P)
			f(s.S)
			for _, e := range s.Elems {
				f(e)
			}
		case *ir.Copy:
			f(s.Dst)
			f(s.Src)
		case *ir.Clear:
			f(s.S)
		case *ir.If:
			f(s.Cond)
			eachExpr(s.Then, f)
			eachExpr(s.Else, f)
		case *ir.Scope:
			eachExpr(s.Body, f)
		case *ir.Loop:
			f(s.Lo)
			f(s.Hi)
			eachExpr(s.Body, f)
		case *ir.Panic:
			f(s.E)
		}
	}
}

// leavesLabel reports whether b contains a leave of label.
func leavesLabel(b ir.Block, label *ir.Label) bool {
	for _, s := range b {
		switch s := s.(type) {
		case *ir.Leave:
			if s.L == label {
				return true
			}
		case *ir.If:
			if leavesLabel(s.Then, label) || leavesLabel(s.Else, label) {
				return true
			}
		case *ir.Scope:
			if leavesLabel(s.Body, label) {
				return true
			}
		case *ir.Loop:
			if leavesLabel(s.Body, label) {
				return true
			}
		}
	}
	return false
}
