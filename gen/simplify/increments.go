package simplify

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// Increments shortens accumulations. Two additions to one place of memory in the same block are merged if nothing
// between them may read the place or modify an operand of the first; a zero assigned to a place that is added to next
// is dropped and the addition becomes the assignment; and copies are propagated as by [Copies], with single uses of
// numbers substituted into larger expressions. The rewrites and dead-code elimination alternate until nothing changes.
// Distinct means that no two parameters lead to the same memory.
//
//	p[i] += a           x = y                    q[0] = 0       q[0] = d
//	x = y               p[i] += a - b * c        q[0] += d
//	let t = b * c
//	p[i] += -t
//
// Sums are reordered, and a sum of 0 and -0 may have another sign. So only cotangents are changed: variables for which
// adjoint returns true and the memory they lead to; all if adjoint is nil.
func Increments(f *ir.Func, distinct bool, adjoint func(*ir.Var) bool) {
	increments(f, distinct, nil, adjoint)
}

// increments is Increments with a workspace; see analyseAliases.
func increments(f *ir.Func, distinct bool, work *ir.Var, adjoint func(*ir.Var) bool) {
	if adjoint == nil {
		adjoint = func(*ir.Var) bool { return true }
	}
	// The index outlives the rounds: most statements stay the same.
	seen := newOccurrences()
	for range maxRounds {
		// Alias classes change with the rewrites, so they are computed again.
		m := &merger{aliases: analyseAliases(f, distinct, work, adjoint), adjoint: adjoint,
			cache: map[ir.Stmt]*effects{}}
		f.Body = m.block(f.Body)
		c := newCopyPropagator(f, seen)
		c.substitutes, c.isSum = true, adjoint
		f.Body = c.block(f.Body)
		if !Dead(f) && !m.changed && !c.changed {
			return
		}
	}
}

// The effects of a statement are the places that it and the statements in its blocks access, accumulations apart.
type effects struct {
	reads, writes, adds []*ir.Place // adds are accumulated into and neither in reads nor in writes
	barrier             bool        // an exit, a call or a panic: nothing moves across it
}

// effectsOf returns the effects of s. Memory that is written through a reference without a place, as by copy, is
// represented by all elements of the slices and targets of the pointers named in the expression.
func effectsOf(s ir.Stmt) *effects {
	t := &effects{barrier: ir.LeavesBeyond(ir.Block{s})}
	ir.Walk(ir.Block{s}, func(s ir.Stmt) bool {
		e := ir.EffectOf(s)
		switch s := s.(type) {
		case *ir.Call, *ir.Panic:
			t.barrier = true
		case *ir.Add:
			t.adds = append(t.adds, s.P)
			t.reads = append(t.reads, e.Reads[:len(e.Reads)-1]...) // the last one is the place itself
			return true
		}
		t.reads = append(t.reads, e.Reads...)
		t.writes = append(t.writes, e.Writes...)
		for _, x := range e.Through {
			ir.WalkExpr(x, func(x ir.Expr) bool {
				if p := ir.PlaceOf(x); p != nil {
					t.writes = append(t.writes,
						&ir.Place{Root: p.Root, Path: append(p.Path[:len(p.Path):len(p.Path)], ir.AnyStep())})
				}
				return true
			})
		}
		return true
	})
	return t
}

// A merger merges the accumulations of one function in one round.
type merger struct {
	aliases *aliases
	adjoint func(*ir.Var) bool
	cache   map[ir.Stmt]*effects // effects by statement; statements are replaced, never modified
	changed bool
}

// effects returns the effects of s.
func (m *merger) effects(s ir.Stmt) *effects {
	t := m.cache[s]
	if t == nil {
		t = effectsOf(s)
		m.cache[s] = t
	}
	return t
}

// mayAliasAny reports whether p may alias one of the places in list.
func (m *merger) mayAliasAny(list []*ir.Place, p *ir.Place) bool {
	for _, q := range list {
		if m.aliases.mayAlias(q, p) {
			return true
		}
	}
	return false
}

// mayModify reports whether t may write or accumulate into one of the places in list.
func (m *merger) mayModify(t *effects, list []*ir.Place) bool {
	for _, p := range list {
		if m.mayAliasAny(t.writes, p) || m.mayAliasAny(t.adds, p) {
			return true
		}
	}
	return false
}

// block merges accumulations in b and then in its nested blocks. A merged statement is removed where it stood first and
// joins the later one, so that operands computed in between are available.
func (m *merger) block(b ir.Block) ir.Block {
	b = append(ir.Block(nil), b...)
	for i, s := range b {
		b[i] = m.hoistSigns(s)
	}
	for i := 0; i < len(b); {
		j, s := -1, ir.Stmt(nil)
		switch x := b[i].(type) {
		case *ir.Add:
			// Variables are left to mergeFirstAdd.
			if len(x.P.Path) > 0 && m.adjoint(x.P.Root) {
				j, s = m.mergeAdd(x, b[i+1:])
			}
		case *ir.Set:
			// The zero is not needed if the next access is an addition.
			if isZero(x.E) && ir.IsContinuous(x.P.Type()) && m.adjoint(x.P.Root) {
				j, s = m.mergeZero(x, b[i+1:])
			}
		}
		if j < 0 {
			i++
			continue
		}
		m.changed = true
		// Index i is examined again: the next statement has moved there.
		b[i+1+j] = s
		b = append(b[:i], b[i+1:]...)
	}
	for i, s := range b {
		b[i] = mapBlocks(s, m.block)
	}
	return b
}

// mergeAdd searches rest, the statements after x, for an accumulation into the place of x and returns its index and the
// merged statement, or -1. The search ends at a statement that prevents moving x behind it: one that may read or write
// the place or modify an operand of x.
func (m *merger) mergeAdd(x *ir.Add, rest ir.Block) (int, ir.Stmt) {
	own := m.effects(x)
	for j, s := range rest {
		t := m.effects(s)
		if y, ok := s.(*ir.Add); ok && ir.EqualPlace(x.P, y.P) {
			// The value that y adds, or an index of it, depends on the addition of x.
			if m.mayAliasAny(t.reads, x.P) {
				break
			}
			return j, &ir.Add{At: y.At, P: y.P, E: sum(x.E, y.E)}
		}
		if t.barrier || m.mayAliasAny(t.reads, x.P) || m.mayAliasAny(t.writes, x.P) || m.mayModify(t, own.reads) {
			break
		}
	}
	return -1, nil
}

// hoistSigns normalises the signs of an expression that s adds or assigns to a cotangent.
func (m *merger) hoistSigns(s ir.Stmt) ir.Stmt {
	switch s := s.(type) {
	case *ir.Let:
		if s.E != nil && ir.IsContinuous(s.V.Type) && m.adjoint(s.V) {
			return &ir.Let{At: s.At, V: s.V, E: hoistSigns(s.E)}
		}
	case *ir.Set:
		if ir.IsContinuous(s.P.Type()) && m.adjoint(s.P.Root) {
			return &ir.Set{At: s.At, P: s.P, E: hoistSigns(s.E)}
		}
	case *ir.Add:
		if ir.IsContinuous(s.P.Type()) && m.adjoint(s.P.Root) {
			return &ir.Add{At: s.At, P: s.P, E: hoistSigns(s.E)}
		}
	}
	return s
}

// mergeZero searches rest for an addition to the place that x sets to zero and returns its index and the assignment
// that replaces both, or -1. It ends like that of mergeAdd, and at additions to places that may alias x.
func (m *merger) mergeZero(x *ir.Set, rest ir.Block) (int, ir.Stmt) {
	own := m.effects(x)
	for j, s := range rest {
		t := m.effects(s)
		if y, ok := s.(*ir.Add); ok && ir.EqualPlace(x.P, y.P) {
			if m.mayAliasAny(t.reads, x.P) {
				break
			}
			return j, &ir.Set{At: y.At, P: y.P, E: y.E}
		}
		if t.barrier || m.mayAliasAny(t.reads, x.P) || m.mayAliasAny(t.writes, x.P) ||
			m.mayAliasAny(t.adds, x.P) || m.mayModify(t, own.reads) {
			break
		}
	}
	return -1, nil
}
