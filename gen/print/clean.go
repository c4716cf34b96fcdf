package print

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Clean-up before printing: removal of unreachable code, of scopes without leaves and of variables
// that are never read, which the Go compiler rejects. Operands that may panic stay, as assignments
// to _.

// blank is the variable _. Assignments to it evaluate their right sides.
var blank = &ir.Var{Name: "_"}

// clean returns b without unreachable statements and scopes without leaves, and with the else of an
// if that does not complete normally moved after it. Names are unique, so statements can move to an
// enclosing block.
func clean(b ir.Block) (out ir.Block) {
	for _, s := range b {
		switch s := s.(type) {
		case *ir.If:
			branch := &ir.If{At: s.At, Cond: s.Cond, Then: clean(s.Then), Else: clean(s.Else)}
			if len(branch.Then) == 0 && len(branch.Else) > 0 {
				// An empty then-branch is dropped by negating the condition.
				branch.Cond = &ir.Unary{Typed: ir.Typed{T: s.Cond.Type()}, Op: token.NOT, X: s.Cond}
				if not, ok := s.Cond.(*ir.Unary); ok && not.Op == token.NOT {
					branch.Cond = not.X
				}
				branch.Then, branch.Else = branch.Else, nil
			}
			rest := branch.Else
			switch {
			case len(branch.Then) == 0:
				out = append(out, blankSet(s.At, s.Cond)...)
			case !completesNormally(branch.Then):
				branch.Else = nil
				out = append(append(out, branch), rest...)
			default:
				out = append(out, branch)
			}
		case *ir.Scope:
			body := clean(s.Body)
			if leavesLabel(body, s.L) {
				out = append(out, &ir.Scope{At: s.At, L: s.L, Body: body})
			} else {
				out = append(out, body...)
			}
		case *ir.Loop:
			loop := *s
			loop.Body = clean(s.Body)
			// A counted loop without a body terminates; only its bounds may panic.
			if s.V != nil && len(loop.Body) == 0 {
				out = append(append(out, blankSet(s.At, s.Lo)...), blankSet(s.At, s.Hi)...)
			} else {
				out = append(out, &loop)
			}
		case *ir.Set:
			if assignsItself(s) {
				out = append(out, blankSet(s.At, s.E)...)
			} else {
				out = append(out, s)
			}
		default:
			out = append(out, s)
		}
		// The rest of the block is unreachable.
		if !completesNormally(out) {
			break
		}
	}
	return out
}

// assignsItself reports whether s has no effect, which vet reports as a mistake.
func assignsItself(s *ir.Set) bool {
	l, ok := s.E.(*ir.Load)
	return ok && ir.EqualPlace(l.P, s.P)
}

// completesNormally reports whether control may reach the end of b, in which only the last
// statement can prevent it.
func completesNormally(b ir.Block) bool {
	if len(b) == 0 {
		return true
	}
	switch s := b[len(b)-1].(type) {
	case *ir.Leave, *ir.Panic:
		return false
	case *ir.If:
		return completesNormally(s.Then) || completesNormally(s.Else)
	case *ir.Scope:
		return leavesLabel(s.Body, s.L) || completesNormally(s.Body)
	case *ir.Loop:
		return s.V != nil || leavesLabel(s.Body, s.L)
	}
	return true
}

// leavesLabel reports whether b contains a leave of l.
func leavesLabel(b ir.Block, l *ir.Label) (found bool) {
	ir.Walk(b, func(s ir.Stmt) bool {
		if s, ok := s.(*ir.Leave); ok && s.L == l {
			found = true
		}
		return !found
	})
	return found
}

// blankSet returns a statement that evaluates e if that may panic, otherwise nothing.
func blankSet(at ir.At, e ir.Expr) ir.Block {
	if e == nil || !mayPanic(e) {
		return nil
	}
	return ir.Block{&ir.Set{At: at, P: blank.Place(), E: e}}
}

// removeUnread removes the local variables of b that are never read. Removing one may leave another
// unread, so it iterates to a fixed point.
func removeUnread(b ir.Block) ir.Block {
	for {
		read := map[*ir.Var]bool{}
		addReads(b, read)
		d := &eliminator{read: read}
		b = d.block(b)
		if !d.changed {
			return b
		}
		b = clean(b)
	}
}

// addReads adds the variables that b reads. A variable that is assigned in parts, or addressed,
// counts as read.
func addReads(b ir.Block, read map[*ir.Var]bool) {
	ir.Walk(b, func(s ir.Stmt) bool {
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				if p := ir.PlaceOf(e); p != nil {
					read[p.Root] = true
				}
				return true
			})
		}
		switch s := s.(type) {
		case *ir.Set:
			addPartial(s.P, read)
		case *ir.Add:
			addPartial(s.P, read)
		case *ir.Append:
			addPartial(s.P, read)
		}
		return true
	})
}

// addPartial adds the root of p if p is only a part of it.
func addPartial(p *ir.Place, read map[*ir.Var]bool) {
	if len(p.Path) > 0 {
		read[p.Root] = true
	}
}

// An eliminator removes assignments to variables that are not in read. changed is set if it removed
// any.
type eliminator struct {
	read    map[*ir.Var]bool
	changed bool
}

// dead reports whether v is a local variable that is never read.
func (d *eliminator) dead(v *ir.Var) bool {
	return v != nil && v != blank && v.Kind == ir.Local && !d.read[v]
}

// block returns b without assignments to dead variables; calls and appends keep their effects.
func (d *eliminator) block(b ir.Block) (out ir.Block) {
	for _, s := range b {
		switch s := s.(type) {
		case *ir.Let:
			if d.dead(s.V) {
				d.changed = true
				out = append(out, blankSet(s.At, s.E)...)
				continue
			}
		case *ir.Set:
			if len(s.P.Path) == 0 && d.dead(s.P.Root) {
				d.changed = true
				out = append(out, blankSet(s.At, s.E)...)
				continue
			}
		case *ir.Add:
			if len(s.P.Path) == 0 && d.dead(s.P.Root) {
				d.changed = true
				out = append(out, blankSet(s.At, s.E)...)
				continue
			}
		case *ir.Append:
			if len(s.P.Path) == 0 && d.dead(s.P.Root) {
				d.changed = true
				a := *s
				a.P = blank.Place() // it may write beyond the length of a slice
				out = append(out, &a)
				continue
			}
		case *ir.Copy:
			if d.dead(s.N) {
				d.changed = true
				out = append(out, &ir.Copy{At: s.At, Dst: s.Dst, Src: s.Src})
				continue
			}
		case *ir.Call:
			c := *s
			c.Results = append([]*ir.Var(nil), s.Results...)
			for i, v := range c.Results {
				if d.dead(v) {
					d.changed = true
					c.Results[i] = nil
				}
			}
			out = append(out, &c)
			continue
		case *ir.If:
			out = append(out, &ir.If{At: s.At, Cond: s.Cond, Then: d.block(s.Then), Else: d.block(s.Else)})
			continue
		case *ir.Scope:
			out = append(out, &ir.Scope{At: s.At, L: s.L, Body: d.block(s.Body)})
			continue
		case *ir.Loop:
			loop := *s
			loop.Body = d.block(s.Body)
			out = append(out, &loop)
			continue
		}
		out = append(out, s)
	}
	return out
}

// mayPanic reports whether the evaluation of e may panic.
func mayPanic(e ir.Expr) (may bool) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		if p := ir.PlaceOf(e); p != nil {
			for _, s := range p.Path {
				may = may || s.Field < 0
			}
		}
		switch e := e.(type) {
		case *ir.Slice, *ir.SliceAt, *ir.Make, *ir.Opaque, *ir.Unbox, *ir.Box:
			may = true
		case *ir.Convert:
			may = may || ir.IsAssertion(e)
		case *ir.Binary:
			switch {
			case e.Op == token.QUO || e.Op == token.REM || e.Op == token.SHL || e.Op == token.SHR:
				may = may || !ir.IsContinuous(e.T)
			// Comparing interfaces panics if their dynamic types are not comparable.
			case types.IsInterface(e.X.Type()) || types.IsInterface(e.Y.Type()):
				may = true
			}
		}
		return !may
	})
	return may
}
