package simplify

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Clones rewrites append([]T(nil), x...) as make and copy, which the adjoint can reverse and whose memory the workspace
// can reuse. The capacity differs, since append may round it up, and so may nilness for an empty x. So the pass applies
// to a function only if neither is observable: the function and its callees take no capacities and append to nothing
// else, do not compare a possible clone with nil, and the function returns no slices.
//
//	y = append(zero([]float64), x...)
//
// becomes
//
//	let from []float64 = x
//	let made []float64 = make([]float64, len(from))
//	copy(made, from)
//	y = made
func Clones(f *ir.Func) {
	c := &cloner{names: ir.NamerOf(f), use: usageOf(f.Body), empty: map[*ir.Var]bool{}}
	// The caller may take the capacity of a returned slice.
	for _, r := range f.Results {
		if _, slice := r.Type.Underlying().(*types.Slice); slice {
			return
		}
	}
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if l, ok := s.(*ir.Let); ok && c.use.writes[l.V] == 1 && !c.use.addressed[l.V] && hasNoCapacity(l.E) {
			c.empty[l.V] = true
		}
		return true
	})
	c.findClones(f)
	found := false
	seen := map[*ir.Func]bool{f: true}
	// observes reports whether b, a body of f or of a callee, may observe the capacity or nilness of a clone. It notes
	// in found whether there are clones.
	var observes func(b ir.Block, inCaller bool) bool
	observes = func(b ir.Block, inCaller bool) (observed bool) {
		ir.Walk(b, func(s ir.Stmt) bool {
			switch s := s.(type) {
			// An append other than a clone may reuse spare capacity, which depends on the growth policy of the runtime.
			case *ir.Append:
				if inCaller && c.isClone(s) {
					found = true
					break
				}
				observed = true
			case *ir.Call:
				// Functions with a rule are assumed not to observe capacities.
				if g := s.Callee.Func; g != nil && !seen[g] {
					seen[g] = true
					observed = observed || observes(g.Body, false)
				}
			}
			ir.EachExpr(s, func(e ir.Expr) { observed = observed || c.observesCapacity(e, inCaller) })
			return !observed
		})
		return observed
	}
	if observes(f.Body, true) || !found {
		return
	}
	f.Body = (&ir.Map{Stmt: c.rewrite}).Block(f.Body)
}

// A cloner applies Clones to one function.
type cloner struct {
	names *ir.Namer
	use   *usage
	empty map[*ir.Var]bool // variables assigned once to a slice of capacity 0
	// The result of a forward may-analysis, flow-insensitive.
	mayBeClone    map[*ir.Var]bool // variables that may be or contain a clone
	cloneInMemory bool             // memory may contain a clone
}

// hasNoCapacity reports whether e is a slice of capacity 0: nil, an empty literal, or s[:0:0].
func hasNoCapacity(e ir.Expr) bool {
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

// isClone reports whether s assigns to a variable a copy of another slice, in memory of its own: an append of all its
// elements to a slice of capacity 0.
func (c *cloner) isClone(s *ir.Append) bool {
	if !s.Spread || len(s.P.Path) > 0 || len(s.Elems) != 1 {
		return false
	}
	// append([]byte, string...) is valid, but Make and Copy of a string are not handled.
	if _, slice := s.Elems[0].Type().Underlying().(*types.Slice); !slice {
		return false // a string
	}
	if l, ok := s.S.(*ir.Load); ok && len(l.P.Path) == 0 && c.empty[l.P.Root] {
		return true
	}
	_, slice := s.S.Type().Underlying().(*types.Slice)
	return slice && hasNoCapacity(s.S)
}

// findClones computes mayBeClone and cloneInMemory. Clones flow through assignments to variables, to memory, and
// through calls, whose arguments may be stored and returned. Both facts only grow, so the iteration reaches a fixed
// point.
func (c *cloner) findClones(f *ir.Func) {
	c.mayBeClone = map[*ir.Var]bool{}
	for changed := true; changed; {
		changed = false
		add := func(v *ir.Var) {
			if v != nil && !c.mayBeClone[v] {
				c.mayBeClone[v], changed = true, true
			}
		}
		flow := func(p *ir.Place, e ir.Expr) {
			switch {
			case !c.mayHoldClone(e):
			case len(p.Path) == 0:
				add(p.Root)
			default:
				changed = changed || !c.cloneInMemory
				c.cloneInMemory = true
			}
		}
		ir.Walk(f.Body, func(s ir.Stmt) bool {
			switch s := s.(type) {
			case *ir.Let:
				if s.E != nil {
					flow(s.V.Place(), s.E)
				}
			case *ir.Set:
				flow(s.P, s.E)
			case *ir.Append:
				if c.isClone(s) {
					add(s.P.Root)
				}
			case *ir.Call:
				for _, a := range s.Args {
					if c.mayHoldClone(a) {
						changed = changed || !c.cloneInMemory
						c.cloneInMemory = true
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

// mayHoldClone reports whether the value of e may be or contain a clone. Lengths and values of basic types cannot.
func (c *cloner) mayHoldClone(e ir.Expr) (found bool) {
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
			found = found || c.mayBeClone[p.Root] || c.cloneInMemory && p.Indirect()
		}
		return !found
	})
	return found
}

// observesCapacity reports whether e itself reads a capacity or compares a slice that may be a clone with nil. In a
// callee, where inCaller is false, any slice may be one.
func (c *cloner) observesCapacity(e ir.Expr, inCaller bool) (found bool) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Len:
			found = found || e.Cap
		case *ir.Binary:
			_, slice := e.X.Type().Underlying().(*types.Slice)
			found = found || slice && (e.Op == token.EQL || e.Op == token.NEQ) &&
				(!inCaller || c.mayHoldClone(e.X) || c.mayHoldClone(e.Y))
		}
		return !found
	})
	return found
}

// rewrite returns the statements that replace s. It is a Stmt function of [ir.Map].
func (c *cloner) rewrite(s ir.Stmt) []ir.Stmt {
	a, ok := s.(*ir.Append)
	if !ok || !c.isClone(a) {
		return []ir.Stmt{s}
	}
	// The operand is evaluated once, as append does.
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
