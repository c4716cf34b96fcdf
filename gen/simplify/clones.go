package simplify

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Clones makes append([]T(nil), x...) a slice that is made and copied to: memory that can
// be used again. How much room append leaves behind the length nobody may see: where the
// function looks at capacities, appends to anything else, compares what may be such a slice
// with nil or returns one, nothing is changed.
func Clones(f *ir.Func) {
	c := &cloner{names: ir.NamerOf(f), use: usageOf(f.Body), empty: map[*ir.Var]bool{}}
	for _, r := range f.Results {
		if _, slice := r.Type.Underlying().(*types.Slice); slice {
			return
		}
	}
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if l, ok := s.(*ir.Let); ok && c.use.writes[l.V] == 1 && !c.use.addressed[l.V] && isEmpty(l.E) {
			c.empty[l.V] = true
		}
		return true
	})
	c.taint(f)
	found := false
	seen := map[*ir.Func]bool{f: true}
	var visible func(b ir.Block, own bool) bool
	visible = func(b ir.Block, own bool) (sees bool) {
		ir.Walk(b, func(s ir.Stmt) bool {
			switch s := s.(type) {
			case *ir.Append:
				if own && c.clones(s) {
					found = true
					break
				}
				sees = true
			case *ir.Call:
				if g := s.Callee.Func; g != nil && !seen[g] {
					seen[g] = true
					sees = sees || visible(g.Body, false)
				}
			}
			ir.EachExpr(s, func(e ir.Expr) { sees = sees || c.looksBehind(e, own) })
			return !sees
		})
		return sees
	}
	if visible(f.Body, true) || !found {
		return
	}
	f.Body = (&ir.Map{Stmt: c.stmt}).Block(f.Body)
}

type cloner struct {
	names *ir.Namer
	use   *usage
	empty map[*ir.Var]bool // slices without room
	// tainted are variables that may be clones; stored says that memory may hold one.
	tainted map[*ir.Var]bool
	stored  bool
}

// isEmpty reports whether e is a slice without room that is made on the spot.
func isEmpty(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Literal:
		return e.Len == 0 && len(e.Elems) == 0
	case *ir.Const:
		return e.Val == nil
	case *ir.Slice:
		hi, cut := constInt(e.Hi)
		room, full := constInt(e.Max)
		return cut && full && hi == 0 && room == 0
	}
	return false
}

// clones reports whether s gives a variable the elements of another slice, in memory of
// their own.
func (c *cloner) clones(s *ir.Append) bool {
	if !s.Spread || len(s.P.Path) > 0 || len(s.Elems) != 1 {
		return false
	}
	if _, slice := s.Elems[0].Type().Underlying().(*types.Slice); !slice {
		return false // a string
	}
	if l, ok := s.S.(*ir.Load); ok && len(l.P.Path) == 0 && c.empty[l.P.Root] {
		return true
	}
	_, slice := s.S.Type().Underlying().(*types.Slice)
	return slice && isEmpty(s.S)
}

// taint finds what may be a clone.
func (c *cloner) taint(f *ir.Func) {
	c.tainted = map[*ir.Var]bool{}
	for grown := true; grown; {
		grown = false
		add := func(v *ir.Var) {
			if v != nil && !c.tainted[v] {
				c.tainted[v], grown = true, true
			}
		}
		to := func(p *ir.Place, e ir.Expr) {
			switch {
			case !c.maybe(e):
			case len(p.Path) == 0:
				add(p.Root)
			default:
				grown = grown || !c.stored
				c.stored = true
			}
		}
		ir.Walk(f.Body, func(s ir.Stmt) bool {
			switch s := s.(type) {
			case *ir.Let:
				if s.E != nil {
					to(s.V.Place(), s.E)
				}
			case *ir.Set:
				to(s.P, s.E)
			case *ir.Append:
				if c.clones(s) {
					add(s.P.Root)
				}
			case *ir.Call:
				for _, a := range s.Args {
					if c.maybe(a) {
						grown = grown || !c.stored
						c.stored = true
						for _, v := range s.Results {
							add(v)
						}
					}
				}
			}
			return true
		})
	}
}

// maybe reports whether e may be a clone or hold one.
func (c *cloner) maybe(e ir.Expr) (found bool) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Len:
			return false
		case *ir.Load:
			if _, number := e.T.Underlying().(*types.Basic); number {
				return false
			}
		}
		if p := ir.PlaceOf(e); p != nil {
			found = found || c.tainted[p.Root] || c.stored && p.Indirect()
		}
		return !found
	})
	return found
}

// looksBehind reports whether e depends on what is behind the length of a slice, or on
// whether there is one. Of a function that is called nothing is known.
func (c *cloner) looksBehind(e ir.Expr, own bool) (found bool) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Len:
			found = found || e.Cap
		case *ir.Binary:
			_, slice := e.X.Type().Underlying().(*types.Slice)
			found = found || slice && (e.Op == token.EQL || e.Op == token.NEQ) && (!own || c.maybe(e.X) || c.maybe(e.Y))
		}
		return !found
	})
	return found
}

func (c *cloner) stmt(s ir.Stmt) []ir.Stmt {
	a, ok := s.(*ir.Append)
	if !ok || !c.clones(a) {
		return []ir.Stmt{s}
	}
	from := &ir.Var{Name: c.names.Name("from"), Type: a.Elems[0].Type()}
	made := &ir.Var{Name: c.names.Name("made"), Type: a.P.Root.Type}
	n := &ir.Len{Typed: ir.Typed{T: integer}, X: from.Load()}
	return []ir.Stmt{
		&ir.Let{At: a.At, V: from, E: a.Elems[0]},
		&ir.Let{At: a.At, V: made, E: &ir.Make{Typed: ir.Typed{T: made.Type}, N: n}},
		&ir.Copy{At: a.At, Dst: made.Load(), Src: from.Load()},
		&ir.Set{At: a.At, P: a.P, E: made.Load()},
	}
}
