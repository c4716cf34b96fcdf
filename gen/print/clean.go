package print

import (
	"go/token"
	"go/types"
	"reflect"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// blank is the variable _.
var blank = &ir.Var{Name: "_"}

// clean is a copy of b without what control does not reach, without scopes that nothing
// leaves, and with what stands in the else of an if that leaves behind it. Names are
// unique, so statements may go to the block around theirs.
func clean(b ir.Block) (out ir.Block) {
	for _, s := range b {
		switch s := s.(type) {
		case *ir.If:
			branch := &ir.If{At: s.At, Cond: s.Cond, Then: clean(s.Then), Else: clean(s.Else)}
			if len(branch.Then) == 0 && len(branch.Else) > 0 {
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
			case !completes(branch.Then):
				branch.Else = nil
				out = append(append(out, branch), rest...)
			default:
				out = append(out, branch)
			}
		case *ir.Scope:
			body := clean(s.Body)
			if leaves(body, s.L) {
				out = append(out, &ir.Scope{At: s.At, L: s.L, Body: body})
			} else {
				out = append(out, body...)
			}
		case *ir.Loop:
			loop := *s
			loop.Body = clean(s.Body)
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
		if !completes(out) {
			break
		}
	}
	return out
}

// assignsItself reports whether s does nothing, which vet takes for a mistake.
func assignsItself(s *ir.Set) bool {
	l, ok := s.E.(*ir.Load)
	return ok && l.P.Root == s.P.Root && slices.EqualFunc(l.P.Path, s.P.Path, func(a, b ir.Step) bool { return reflect.DeepEqual(a, b) })
}

// completes reports whether control may come to the end of b, of which only the last
// statement may be in its way.
func completes(b ir.Block) bool {
	if len(b) == 0 {
		return true
	}
	switch s := b[len(b)-1].(type) {
	case *ir.Leave, *ir.Panic:
		return false
	case *ir.If:
		return completes(s.Then) || completes(s.Else)
	case *ir.Scope:
		return leaves(s.Body, s.L) || completes(s.Body)
	case *ir.Loop:
		return s.V != nil || leaves(s.Body, s.L)
	}
	return true
}

func leaves(b ir.Block, l *ir.Label) (found bool) {
	ir.Walk(b, func(s ir.Stmt) bool {
		if s, ok := s.(*ir.Leave); ok && s.L == l {
			found = true
		}
		return !found
	})
	return found
}

// blankSet evaluates e where that may panic.
func blankSet(at ir.At, e ir.Expr) ir.Block {
	if e == nil || !mayPanic(e) {
		return nil
	}
	return ir.Block{&ir.Set{At: at, P: blank.Place(), E: e}}
}

// live drops the variables of b that are never read, again and again, as what they are
// made of may then be read no more.
func live(b ir.Block) ir.Block {
	for {
		read := map[*ir.Var]bool{}
		reads(b, read)
		d := &dropper{read: read}
		b = d.block(b)
		if !d.changed {
			return b
		}
		b = clean(b)
	}
}

// reads finds the variables that are read. One that is assigned to in parts counts.
func reads(b ir.Block, read map[*ir.Var]bool) {
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
			partly(s.P, read)
		case *ir.Add:
			partly(s.P, read)
		case *ir.Append:
			partly(s.P, read)
		}
		return true
	})
}

func partly(p *ir.Place, read map[*ir.Var]bool) {
	if len(p.Path) > 0 {
		read[p.Root] = true
	}
}

type dropper struct {
	read    map[*ir.Var]bool
	changed bool
}

func (d *dropper) dead(v *ir.Var) bool {
	return v != nil && v != blank && v.Kind == ir.Local && !d.read[v]
}

func (d *dropper) block(b ir.Block) (out ir.Block) {
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
				a.P = blank.Place() // it may write behind the length of a slice
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
		case *ir.Slice, *ir.SliceAt, *ir.Make, *ir.Opaque:
			may = true
		case *ir.Binary:
			switch {
			case e.Op == token.QUO || e.Op == token.REM || e.Op == token.SHL || e.Op == token.SHR:
				may = may || !hasInfo(e.T, types.IsFloat)
			case types.IsInterface(e.X.Type()) || types.IsInterface(e.Y.Type()):
				may = true
			}
		}
		return !may
	})
	return may
}

func hasInfo(t types.Type, info types.BasicInfo) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&info != 0
}
