package simplify

import (
	"go/token"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Rebase lets innermost loops that count by 1 or -1 count from 0, or to it, so that [Cut] finds windows of slices in
// triangles of matrices and in the insides of grids. A variable that every iteration increases by the step becomes a
// function of the index. A loop whose least index is a variable may have few iterations: where it has less than four,
// it stays as it is.
//
//	for i := k + 1; i < n; i++ {      m := n - (k + 1)
//	    y[i] += a[l] * t              if k+1 < n && m > 3 {
//	    l++                               for i1 := 0; i1 < m; i1++ {
//	}                                         y[k+1+i1] += a[l+i1] * t
//	                                      }
//	                                      l += m
//	                                  } else { … }
func Rebase(f *ir.Func) {
	r := &rebaser{names: ir.NamerOf(f), use: usageOf(f.Body)}
	r.known.use = r.use
	f.Body = r.block(f.Body)
}

// fewIterations is the largest number of iterations for which windows cost more than the checks they save.
const fewIterations = 3

// maxRebasedSize is the largest size of the body of a loop that is there twice.
const maxRebasedSize = 150

// A rebaser applies Rebase to one function.
type rebaser struct {
	names *ir.Namer
	use   *usage // of the whole body
	known knownConditions
}

// block applies Rebase to the loops in b and in its nested blocks.
func (r *rebaser) block(b ir.Block) ir.Block {
	return r.known.block(b, func(s ir.Stmt) ir.Block {
		if l, ok := s.(*ir.Loop); ok && isInnermost(l.Body) {
			return r.loop(l)
		}
		return ir.Block{s}
	})
}

// A stepped variable is one that each iteration increases by the step of the loop, in a statement of its own.
type stepped struct {
	v  *ir.Var
	at int // the statement of the body
}

// loop returns the statements that replace l.
func (r *rebaser) loop(l *ir.Loop) ir.Block {
	if !isRegular(l, r.use) {
		return ir.Block{l}
	}
	// The indices are least, …, least+many-1.
	least, end := l.Lo, l.Hi
	if l.Step < 0 {
		least, end = addConst(l.Hi, 1), addConst(l.Lo, 1)
	}
	k, constant := constInt(least)
	if constant && k <= 0 || !constant && size(l.Body) > maxRebasedSize {
		return ir.Block{l}
	}
	variables := r.steppedVars(l)
	if !r.worthwhile(l, variables) {
		return ir.Block{l}
	}
	var out ir.Block
	many := &ir.Var{Name: r.names.Name("n"), Type: integer}
	out = append(out, &ir.Let{At: l.At, V: many, E: difference(end, least)})
	loop := r.rebased(l, least, many, variables)
	var before, after ir.Block
	for _, x := range variables {
		if l.Step < 0 {
			before = append(before, &ir.Set{At: l.At, P: x.v.Place(),
				E: ir.NewBinary(integer, token.SUB, x.v.Load(), many.Load())})
		} else {
			after = append(after, &ir.Add{At: l.At, P: x.v.Place(), E: many.Load()})
		}
	}
	fast := append(append(before, loop), after...)
	if constant {
		return append(out, r.known.guard(l, fast)...)
	}
	some := fold(hasIteration(l))
	cond := ir.Expr(ir.NewBinary(boolean, token.LSS, ir.Count(fewIterations), many.Load()))
	if !r.known.holds(some) {
		cond = ir.NewBinary(boolean, token.LAND, some, cond) // the difference of far numbers may overflow
	}
	// The declarations of the other copy need other names.
	vars, labels := renamed(ir.Block{loop}, r.names)
	m := &ir.Map{Var: ir.Renaming(vars), Label: ir.Renaming(labels)}
	return append(out, &ir.If{At: l.At, Cond: cond, Then: m.Block(fast), Else: ir.Block{l}})
}

// steppedVars returns the int variables from outside of l that each iteration changes by its step.
func (r *rebaser) steppedVars(l *ir.Loop) (out []stepped) {
	inside := usageOf(l.Body)
	for i, s := range certainOf(l.Body) {
		v, by := increment(s)
		if v != nil && by == l.Step && types.Identical(v.Type, integer) && inside.writes[v] == 1 &&
			!r.use.addressed[v] {
			out = append(out, stepped{v, i})
		}
	}
	return out
}

// increment returns v and k if s is v += k, v = v + k or v = v - -k with a constant, and nil otherwise.
func increment(s ir.Stmt) (*ir.Var, int64) {
	switch s := s.(type) {
	case *ir.Add:
		if k, ok := constInt(s.E); ok && len(s.P.Path) == 0 {
			return s.P.Root, k
		}
	case *ir.Set:
		if len(s.P.Path) == 0 && types.Identical(s.P.Root.Type, integer) {
			if x, k := splitOffset(s.E); x != nil && ir.VarOf(x) == s.P.Root {
				return s.P.Root, k
			}
		}
	}
	return nil, 0
}

// worthwhile reports whether l indexes at least two slices that Cut can then replace: by its index or a stepped
// variable plus an invariant.
func (r *rebaser) worthwhile(l *ir.Loop, variables []stepped) bool {
	c := &cutter{use: r.use}
	inside := usageOf(l.Body)
	for _, x := range variables {
		delete(inside.writes, x.v)
	}
	var found []*ir.Var
	for _, s := range certainOf(l.Body) {
		eachEvaluated(s, func(p *ir.Place) {
			index := append([]stepped{{v: l.V}}, variables...)
			for _, x := range index {
				base, _, ok := c.splitIndex(p, x.v, inside)
				// A window from a variable start, or of a row of a grid.
				constant := x.v == l.V && base == nil && ir.IsConst(l.Lo)
				if ok && !constant && !slices.Contains(found, p.Root) {
					found = append(found, p.Root)
				}
			}
		})
	}
	return len(found) >= 2
}

// rebased returns l with an index from 0 to many. It reads the stepped variables as they are after the loop if it
// counts down, and before it if it counts up.
func (r *rebaser) rebased(l *ir.Loop, least ir.Expr, many *ir.Var, variables []stepped) *ir.Loop {
	v := &ir.Var{Name: l.V.Name, Type: integer, Object: l.V.Object, Pos: l.V.Pos}
	out := *l
	out.V = v
	out.Lo, out.Hi = ir.Count(0), many.Load()
	if l.Step < 0 {
		out.Lo, out.Hi = addConst(many.Load(), -1), ir.Count(-1)
	}
	out.Body = nil
	for i, s := range l.Body {
		var own bool
		m := &ir.Map{Expr: func(e ir.Expr) ir.Expr {
			w := ir.VarOf(e)
			switch {
			case w == nil:
				return collectConstants(e)
			case w == l.V:
				return sumOf(least, v)
			default:
				for _, x := range variables {
					if x.v != w {
						continue
					}
					later := int64(0)
					if i > x.at && l.Step > 0 || i <= x.at && l.Step < 0 {
						later = 1
					}
					return addConst(sumOf(w.Load(), v), later)
				}
			}
			return e
		}}
		for _, x := range variables {
			own = own || x.at == i
		}
		if !own {
			out.Body = append(out.Body, m.Block(ir.Block{s})...)
		}
	}
	return &out
}

// collectConstants returns e with the constants of both operands together if it is a sum or a difference of ints.
func collectConstants(e ir.Expr) ir.Expr {
	b, ok := e.(*ir.Binary)
	if !ok || b.Op != token.ADD && b.Op != token.SUB || !types.Identical(b.T, integer) {
		return e
	}
	x, m := splitOffset(b.X)
	y, n := splitOffset(b.Y)
	switch {
	case x == nil || y == nil || m == 0 && n == 0:
		return e
	case b.Op == token.SUB:
		n = -n
	}
	return addConst(ir.NewBinary(integer, b.Op, x, y), m+n)
}

// sumOf returns e + v.
func sumOf(e ir.Expr, v *ir.Var) ir.Expr {
	x, k := splitOffset(e)
	if x == nil {
		return addConst(v.Load(), k)
	}
	return addConst(ir.NewBinary(integer, token.ADD, x, v.Load()), k)
}

// difference returns x - y with constants merged.
func difference(x, y ir.Expr) ir.Expr {
	a, m := splitOffset(x)
	b, n := splitOffset(y)
	switch {
	case b == nil:
		return addConst(x, -n)
	case a == nil:
		a = ir.Count(0)
	}
	return addConst(ir.NewBinary(integer, token.SUB, a, b), m-n)
}

// renamed returns new variables and labels for those that b declares.
func renamed(b ir.Block, names *ir.Namer) (map[*ir.Var]*ir.Var, map[*ir.Label]*ir.Label) {
	vars, labels := map[*ir.Var]*ir.Var{}, map[*ir.Label]*ir.Label{}
	label := func(l *ir.Label) { labels[l] = &ir.Label{Name: names.Name(l.Name)} }
	variable := func(v *ir.Var) {
		if v != nil {
			w := *v
			w.Name = names.Name(v.Name)
			vars[v] = &w
		}
	}
	ir.Walk(b, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Let:
			variable(s.V)
		case *ir.Scope:
			label(s.L)
		case *ir.Loop:
			label(s.L)
			label(s.Next)
			variable(s.V)
		}
		return true
	})
	return vars, labels
}
