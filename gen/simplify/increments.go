package simplify

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// Increments makes sums shorter. Additions to one place of memory become one, where they
// stand in one block and nothing between them may read that memory or change what is
// added; a place that is set to zero and then added to is assigned instead; a variable
// that begins at zero begins with what is added first; and a number that is used once, by
// the statement behind, is computed there. Distinct says that no two parameters lead to
// the same memory.
//
// Sums come in another order, and where one was of 0 and -0 it may have another sign. So
// only those are changed that stand in or behind the variables that hold adjoints, which
// are all if adjoint is nil.
func Increments(f *ir.Func, distinct bool, adjoint func(*ir.Var) bool) {
	increments(f, distinct, nil, adjoint)
}

func increments(f *ir.Func, distinct bool, work *ir.Var, adjoint func(*ir.Var) bool) {
	if adjoint == nil {
		adjoint = func(*ir.Var) bool { return true }
	}
	seen := newOccurrences()
	for range maxRounds {
		m := &merger{aliases: analyseAliases(f, distinct, work), adjoint: adjoint, cache: map[ir.Stmt]*effects{}}
		f.Body = m.block(f.Body)
		c := &copyPropagator{use: usageOf(f.Body), occurs: seen, substitutes: true, isSum: adjoint}
		f.Body = c.block(f.Body)
		if !Dead(f) && !m.changed && !c.changed {
			return
		}
	}
}

// touch is what a statement and those in its blocks do.
type effects struct {
	reads, writes, adds []*ir.Place
	barrier             bool // nothing moves across it
}

func effectsOf(s ir.Stmt) *effects {
	t := &effects{barrier: ir.LeavesBeyond(ir.Block{s})}
	ir.Walk(ir.Block{s}, func(s ir.Stmt) bool {
		e := ir.EffectOf(s)
		switch s := s.(type) {
		case *ir.Call, *ir.Panic:
			t.barrier = true
		case *ir.Add:
			t.adds = append(t.adds, s.P)
			t.reads = append(t.reads, e.Reads[:len(e.Reads)-1]...) // its own is the last
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

type merger struct {
	aliases *aliases
	adjoint func(*ir.Var) bool
	cache   map[ir.Stmt]*effects
	changed bool
}

func (m *merger) effects(s ir.Stmt) *effects {
	t := m.cache[s]
	if t == nil {
		t = effectsOf(s)
		m.cache[s] = t
	}
	return t
}

// any reports whether one of the places may be p.
func (m *merger) mayAliasAny(list []*ir.Place, p *ir.Place) bool {
	for _, q := range list {
		if m.aliases.mayAlias(q, p) {
			return true
		}
	}
	return false
}

// changes reports whether t may change one of the places.
func (m *merger) mayModify(t *effects, list []*ir.Place) bool {
	for _, p := range list {
		if m.mayAliasAny(t.writes, p) || m.mayAliasAny(t.adds, p) {
			return true
		}
	}
	return false
}

func (m *merger) block(b ir.Block) ir.Block {
	b = append(ir.Block(nil), b...)
	for i, s := range b {
		b[i] = m.hoistSigns(s)
	}
	for i := 0; i < len(b); {
		j, s := -1, ir.Stmt(nil)
		switch x := b[i].(type) {
		case *ir.Add:
			if len(x.P.Path) > 0 && m.adjoint(x.P.Root) {
				j, s = m.mergeAdd(x, b[i+1:])
			}
		case *ir.Set:
			if isZero(x.E) && ir.IsFloat(x.P.Type()) && m.adjoint(x.P.Root) {
				j, s = m.mergeZero(x, b[i+1:])
			}
		}
		if j < 0 {
			i++
			continue
		}
		m.changed = true
		b[i+1+j] = s
		b = append(b[:i], b[i+1:]...)
	}
	for i, s := range b {
		b[i] = mapBlocks(s, m.block)
	}
	return b
}

// sum finds an addition to the place of x that x can be put into.
func (m *merger) mergeAdd(x *ir.Add, rest ir.Block) (int, ir.Stmt) {
	own := m.effects(x)
	for j, s := range rest {
		t := m.effects(s)
		if y, ok := s.(*ir.Add); ok && ir.EqualPlace(x.P, y.P) {
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

// signs moves minuses outwards in what is added to an adjoint, or assigned.
func (m *merger) hoistSigns(s ir.Stmt) ir.Stmt {
	switch s := s.(type) {
	case *ir.Let:
		if s.E != nil && ir.IsFloat(s.V.Type) && m.adjoint(s.V) {
			return &ir.Let{At: s.At, V: s.V, E: hoistSigns(s.E)}
		}
	case *ir.Set:
		if ir.IsFloat(s.P.Type()) && m.adjoint(s.P.Root) {
			return &ir.Set{At: s.At, P: s.P, E: hoistSigns(s.E)}
		}
	case *ir.Add:
		if ir.IsFloat(s.P.Type()) && m.adjoint(s.P.Root) {
			return &ir.Add{At: s.At, P: s.P, E: hoistSigns(s.E)}
		}
	}
	return s
}

// first finds the addition to a place that is set to zero that can be an assignment.
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
		if t.barrier || m.mayAliasAny(t.reads, x.P) || m.mayAliasAny(t.writes, x.P) || m.mayAliasAny(t.adds, x.P) || m.mayModify(t, own.reads) {
			break
		}
	}
	return -1, nil
}
