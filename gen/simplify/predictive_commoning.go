package simplify

import (
	"go/token"
	"go/types"
	"math"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Windows performs predictive commoning (O'Brien et al. 1990) in innermost loops that count by 1 or -1. If each
// iteration loads x[i] and x[i+1] and the loop does not write x, only one of them is loaded and the other is carried
// over in a variable from the iteration before. If each iteration adds once to p[i] and once to p[i+1], perhaps once
// to p[i+2] and so on, and does not use that memory otherwise, additions are carried to the next iterations, and an
// element is added to once. Both apply to offsets k and k+1 in general. The arguments are those of [Increments]: sums
// are reordered, so only cotangents are.
//
//	for i := 0; i < n; i++ {          if 0 < n {
//	    y += x[i] * x[i+1]                let carry = 0
//	    p[i] += a                         let old = x[0]
//	    p[i+1] += b                       for i := 0; i < n; i++ {
//	}                                         let now = x[i+1]
//	                                          y += old * now
//	                                          p[i] += a + carry
//	                                          let next = b
//	                                          carry = next
//	                                          old = now
//	                                      }
//	                                      p[n] += carry
//	                                  }
func Windows(f *ir.Func, distinct bool, adjoint func(*ir.Var) bool) {
	unshared := map[*ir.Var]*ir.Var{}
	for v := range Unshared(f, func(*ir.Var) bool { return distinct }) {
		unshared[v] = v
	}
	windows(f, distinct, nil, adjoint, unshared)
}

// windows is Windows with a workspace, see analyseAliases, and variables without common memory, see [Adjoint].
func windows(f *ir.Func, distinct bool, work *ir.Var, adjoint func(*ir.Var) bool, unshared map[*ir.Var]*ir.Var) {
	if adjoint == nil {
		adjoint = func(*ir.Var) bool { return true }
	}
	w := &commoner{names: ir.NamerOf(f), aliases: analyseAliases(f, distinct, work, adjoint), adjoint: adjoint,
		unshared: unshared}
	f.Body = w.block(f.Body)
}

// A commoner applies Windows to one function.
type commoner struct {
	names   *ir.Namer
	aliases *aliases
	adjoint func(*ir.Var) bool
	// Those with different values have no memory in common, where neither is assigned.
	unshared map[*ir.Var]*ir.Var
}

// block applies Windows to the loops in b and in its nested blocks.
func (w *commoner) block(b ir.Block) (out ir.Block) {
	for _, s := range b {
		s = mapBlocks(s, w.block)
		if l, ok := s.(*ir.Loop); ok {
			s = w.carryLoop(l)
		}
		out = append(out, s)
	}
	return out
}

// An offsetCounts counts the accesses to the elements i + k of a slice, where i is the loop index.
type offsetCounts struct {
	slice  *ir.Var
	counts map[int64]int // k → number of accesses in the body
}

// neighbors returns the least offset, and whether there are several and they follow one another.
func (o *offsetCounts) neighbors() (int64, bool) {
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for k := range o.counts {
		least, most = min(least, k), max(most, k)
	}
	return least, len(o.counts) > 1 && uint64(most)-uint64(least) == uint64(len(o.counts)-1)
}

// carryLoop returns the statement that replaces l, or l itself if nothing can be carried. The loop must run all its
// iterations, so it has no exits, and its bounds are evaluated again before and after it, so they must be invariant and
// cheap. The code around it would access elements that a loop without iterations does not, so an if guards the whole.
func (w *commoner) carryLoop(l *ir.Loop) ir.Stmt {
	if l.V == nil || l.Step != 1 && l.Step != -1 || !types.Identical(l.V.Type, integer) || !isInnermost(l.Body) ||
		ir.LeavesBeyond(l.Body) || ir.EndsInJump(l.Body) || !isSimple(l.Lo) || !isSimple(l.Hi) {
		return l
	}
	inside := usageOf(l.Body)
	invariant := true
	for _, e := range []ir.Expr{l.Lo, l.Hi} {
		exprUses(e, func(v *ir.Var, _ use) {
			invariant = invariant && inside.writes[v] == 0 && !w.aliases.use.addressed[v]
		})
	}
	if !invariant {
		return l
	}
	loop := *l
	var before, after ir.Block
	for _, o := range w.addedRuns(&loop, inside) {
		b, a := w.carrySum(&loop, o)
		before, after = append(before, b...), append(after, a...)
	}
	for _, o := range w.loadedPairs(&loop, inside) {
		before = append(before, w.carryLoad(&loop, o)...)
	}
	if len(before) == 0 {
		return l
	}
	return &ir.If{At: l.At, Cond: fold(hasIteration(l)), Then: append(append(before, &loop), after...)}
}

// hasIteration returns the condition that l, which steps by 1 or -1, has at least one iteration.
func hasIteration(l *ir.Loop) ir.Expr {
	if l.Step > 0 {
		return ir.NewBinary(boolean, token.LSS, l.Lo, l.Hi)
	}
	// n - 1 > -1 is written as n > 0.
	_, k := splitOffset(l.Lo)
	k = min(k, 0)
	return ir.NewBinary(boolean, token.GTR, addConst(l.Lo, -k), addConst(l.Hi, -k))
}

// indexOffset returns k if p is element i + k of a slice variable that the loop l with index i does not assign to.
// Inside is the usage of the body.
func (w *commoner) indexOffset(p *ir.Place, l *ir.Loop, inside *usage) (int64, bool) {
	if len(p.Path) != 1 || p.Path[0].Index == nil || ir.ElemOf(p.Root.Type) == nil || w.aliases.use.addressed[p.Root] ||
		inside.writes[p.Root] > 0 {
		return 0, false
	}
	e, k := splitOffset(p.Path[0].Index)
	return k, e != nil && ir.VarOf(e) == l.V
}

// countOffset counts an access to x at offset k in list, which is in the order of first accesses so that the generated
// code is deterministic.
func countOffset(list []*offsetCounts, x *ir.Var, k int64) []*offsetCounts {
	for _, o := range list {
		if o.slice == x {
			o.counts[k]++
			return list
		}
	}
	return append(list, &offsetCounts{x, map[int64]int{k: 1}})
}

// maxCarried is the largest number of neighbours that are carried: more would not stay in registers.
const maxCarried = 5

// addedRuns returns the slices whose elements every iteration of l accumulates into at neighbouring offsets, once each,
// provided that the body accesses no memory that may alias their elements in any other way.
func (w *commoner) addedRuns(l *ir.Loop, inside *usage) (out []*offsetCounts) {
	var list []*offsetCounts
	for _, s := range l.Body {
		if a, ok := s.(*ir.Add); ok && ir.IsContinuous(a.P.Type()) && w.adjoint(a.P.Root) {
			if k, ok := w.indexOffset(a.P, l, inside); ok {
				list = countOffset(list, a.P.Root, k)
			}
		}
	}
	for _, o := range list {
		// Two additions to one element would have to be merged by Increments first.
		if _, ok := o.neighbors(); !ok || len(o.counts) > maxCarried || !o.once() {
			continue
		}
		// Additions at indices of another form commute with the carried one and do not matter.
		adds := 0
		unaliased := true
		each := &ir.Place{Root: o.slice, Path: []ir.Step{ir.AnyStep()}} // stands for any element
		for _, s := range l.Body {
			if a, ok := s.(*ir.Add); ok && a.P.Root == o.slice {
				if _, ok := w.indexOffset(a.P, l, inside); ok {
					adds++
				}
			}
			// Any other access to the elements would miss the carried sum.
			t := effectsOf(s)
			for _, list := range [][]*ir.Place{t.reads, t.writes, t.adds} {
				for _, p := range list {
					if p.Root == o.slice && len(p.Path) == 0 {
						continue // only the header
					}
					if a, ok := s.(*ir.Add); ok && p == a.P && p.Root == o.slice {
						continue
					}
					unaliased = unaliased && !w.mayAlias(p, each, inside)
				}
			}
		}
		if unaliased && adds == len(o.counts) {
			out = append(out, o)
		}
	}
	return out
}

// mayAlias reports whether p may overlap an element of a slice that the loop with the given usage of its body does not
// assign to.
func (w *commoner) mayAlias(p, each *ir.Place, inside *usage) bool {
	if b := w.unshared[each.Root]; b != nil {
		a := w.unshared[p.Root]
		switch {
		// They are apart at the beginning of the loop, and so in it unless it assigns to p.Root.
		case a != nil && a != b && !crossesRef(p, 1) && inside.writes[p.Root] == 0:
			return false
		case w.aliases.isStack(p):
			return false
		}
	}
	return w.aliases.mayAlias(p, each)
}

// once reports whether each offset is accessed once.
func (o *offsetCounts) once() bool {
	for _, n := range o.counts {
		if n > 1 {
			return false
		}
	}
	return true
}

// carrySum rewrites the body of l: the additions to elements that the next iteration visits too are replaced by
// declarations of their values, which later iterations add together with their own. It returns the statements before
// and after the loop: the declarations of the carried sums, and the additions of the last ones.
//
//	counting up, for offsets 0, 1 and 2:    p[i] += a + carry0
//	                                        carry0 = b + carry1
//	                                        carry1 = c
func (w *commoner) carrySum(l *ir.Loop, o *offsetCounts) (before, after ir.Block) {
	least, _ := o.neighbors()
	count := len(o.counts)
	// Counting up, the element at the least offset is not visited again; counting down, that at the greatest. The sum
	// number j is that of the element that is j + 1 iterations from it.
	offset := func(j int) int64 { return least + 1 + int64(j) }
	last := addConst(l.Hi, -1)
	if l.Step < 0 {
		offset = func(j int) int64 { return least + int64(count) - 2 - int64(j) }
		last = addConst(l.Hi, 1)
	}
	t := ir.ElemOf(o.slice.Type)
	carry, next := make([]*ir.Var, count-1), make([]*ir.Var, count-1)
	for j := range carry {
		carry[j] = &ir.Var{Name: w.names.Name("carry"), Type: t}
		next[j] = &ir.Var{Name: w.names.Name("next"), Type: t}
		before = append(before, &ir.Let{At: l.At, V: carry[j]})
		to := &ir.Place{Root: o.slice, Path: []ir.Step{ir.IndexStep(addConst(last, offset(j)))}}
		after = append(after, &ir.Add{At: l.At, P: to, E: carry[j].Load()})
	}
	var body ir.Block
	for _, s := range l.Body {
		if a, ok := s.(*ir.Add); ok && a.P.Root == o.slice {
			if i, n := splitOffset(a.P.Path[0].Index); i != nil && ir.VarOf(i) == l.V {
				s = &ir.Add{At: a.At, P: a.P, E: sum(a.E, carry[0].Load())}
				for j := range carry {
					if n == offset(j) {
						s = &ir.Let{At: a.At, V: next[j], E: a.E}
					}
				}
			}
		}
		body = append(body, s)
	}
	for j := range carry {
		e := ir.Expr(next[j].Load())
		if j+1 < len(carry) {
			e = sum(e, carry[j+1].Load())
		}
		body = append(body, &ir.Set{At: l.At, P: carry[j].Place(), E: e})
	}
	l.Body = body
	return before, after
}

// loadedPairs returns the slices of floats of which every iteration of l loads elements at two neighbouring offsets,
// and no others by such indices, provided that the body writes no memory that may alias their elements. Right operands
// of && and || do not count, as they may not be evaluated.
func (w *commoner) loadedPairs(l *ir.Loop, inside *usage) (out []*offsetCounts) {
	var list []*offsetCounts
	for _, s := range l.Body {
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				if b, ok := e.(*ir.Binary); ok && (b.Op == token.LAND || b.Op == token.LOR) {
					return false
				}
				if x, ok := e.(*ir.Load); ok && ir.IsContinuous(x.T) {
					if k, ok := w.indexOffset(x.P, l, inside); ok {
						list = countOffset(list, x.P.Root, k)
					}
				}
				return true
			})
		}
	}
	for _, o := range list {
		if _, ok := o.neighbors(); !ok || len(o.counts) > 2 {
			continue
		}
		each := &ir.Place{Root: o.slice, Path: []ir.Step{ir.AnyStep()}}
		unaliased := true
		for _, s := range l.Body {
			t := effectsOf(s)
			for _, list := range [][]*ir.Place{t.writes, t.adds} {
				for _, p := range list {
					unaliased = unaliased && !w.mayAlias(p, each, inside)
				}
			}
		}
		if unaliased {
			out = append(out, o)
		}
	}
	return out
}

// carryLoad rewrites the body of l to load the element that no earlier iteration has loaded into a variable and to use
// the value of the iteration before for the other. It returns the statement before the loop, which loads that for the
// first iteration.
func (w *commoner) carryLoad(l *ir.Loop, o *offsetCounts) ir.Block {
	k, _ := o.neighbors()
	// As in carrySum, the element that the next iteration visits again is loaded now.
	loaded, carried := k+1, k
	if l.Step < 0 {
		loaded, carried = k, k+1
	}
	t := ir.ElemOf(o.slice.Type)
	element := func(i ir.Expr, k int64) ir.Expr {
		return ir.LoadOf(&ir.Place{Root: o.slice, Path: []ir.Step{ir.IndexStep(addConst(i, k))}}, t)
	}
	old := &ir.Var{Name: w.names.Name("old"), Type: t}
	now := &ir.Var{Name: w.names.Name("now"), Type: t}
	m := &ir.Map{Expr: func(e ir.Expr) ir.Expr {
		x, ok := e.(*ir.Load)
		if !ok || x.P.Root != o.slice || len(x.P.Path) != 1 {
			return e
		}
		i, n := splitOffset(x.P.Path[0].Index)
		switch {
		case i == nil || ir.VarOf(i) != l.V:
		case n == loaded:
			return now.Load()
		case n == carried:
			return old.Load()
		}
		return e
	}}
	// The load moves to the start of the iteration, which is safe as the loop does not write the slice and every
	// iteration performs it.
	body := append(ir.Block{&ir.Let{At: l.At, V: now, E: element(l.V.Load(), loaded)}}, m.Block(l.Body)...)
	l.Body = append(body, &ir.Set{At: l.At, P: old.Place(), E: now.Load()})
	return ir.Block{&ir.Let{At: l.At, V: old, E: element(l.Lo, carried)}}
}
