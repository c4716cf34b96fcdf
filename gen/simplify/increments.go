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
	seen := newMentioned()
	for range rounds {
		m := &merger{mem: memoryOf(f, distinct, work), adjoint: adjoint, touches: map[ir.Stmt]*touch{}}
		f.Body = m.block(f.Body)
		c := &copier{use: usageOf(f.Body), seen: seen, numbers: true, sums: adjoint}
		f.Body = c.block(f.Body)
		if !Dead(f) && !m.changed && !c.changed {
			return
		}
	}
}

// touch is what a statement and those in its blocks do.
type touch struct {
	reads, writes, adds []*ir.Place
	barrier             bool // nothing moves across it
}

func touchOf(s ir.Stmt) *touch {
	t := &touch{barrier: ir.LeavesBeyond(ir.Block{s})}
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
	mem     *memory
	adjoint func(*ir.Var) bool
	touches map[ir.Stmt]*touch
	changed bool
}

func (m *merger) touch(s ir.Stmt) *touch {
	t := m.touches[s]
	if t == nil {
		t = touchOf(s)
		m.touches[s] = t
	}
	return t
}

// any reports whether one of the places may be p.
func (m *merger) any(list []*ir.Place, p *ir.Place) bool {
	for _, q := range list {
		if m.mem.mayBe(q, p) {
			return true
		}
	}
	return false
}

// changes reports whether t may change one of the places.
func (m *merger) changes(t *touch, list []*ir.Place) bool {
	for _, p := range list {
		if m.any(t.writes, p) || m.any(t.adds, p) {
			return true
		}
	}
	return false
}

func (m *merger) block(b ir.Block) ir.Block {
	b = append(ir.Block(nil), b...)
	for i, s := range b {
		b[i] = m.signs(s)
	}
	for i := 0; i < len(b); {
		j, s := -1, ir.Stmt(nil)
		switch x := b[i].(type) {
		case *ir.Add:
			if len(x.P.Path) > 0 && m.adjoint(x.P.Root) {
				j, s = m.sum(x, b[i+1:])
			}
		case *ir.Set:
			if isZero(x.E) && ir.IsFloat(x.P.Type()) && m.adjoint(x.P.Root) {
				j, s = m.first(x, b[i+1:])
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
		b[i] = blocks(s, m.block)
	}
	return b
}

// sum finds an addition to the place of x that x can be put into.
func (m *merger) sum(x *ir.Add, rest ir.Block) (int, ir.Stmt) {
	own := m.touch(x)
	for j, s := range rest {
		t := m.touch(s)
		if y, ok := s.(*ir.Add); ok && ir.EqualPlace(x.P, y.P) {
			if m.any(t.reads, x.P) {
				break
			}
			return j, &ir.Add{At: y.At, P: y.P, E: plus(x.E, y.E)}
		}
		if t.barrier || m.any(t.reads, x.P) || m.any(t.writes, x.P) || m.changes(t, own.reads) {
			break
		}
	}
	return -1, nil
}

// signs moves minuses outwards in what is added to an adjoint, or assigned.
func (m *merger) signs(s ir.Stmt) ir.Stmt {
	switch s := s.(type) {
	case *ir.Let:
		if s.E != nil && ir.IsFloat(s.V.Type) && m.adjoint(s.V) {
			return &ir.Let{At: s.At, V: s.V, E: signs(s.E)}
		}
	case *ir.Set:
		if ir.IsFloat(s.P.Type()) && m.adjoint(s.P.Root) {
			return &ir.Set{At: s.At, P: s.P, E: signs(s.E)}
		}
	case *ir.Add:
		if ir.IsFloat(s.P.Type()) && m.adjoint(s.P.Root) {
			return &ir.Add{At: s.At, P: s.P, E: signs(s.E)}
		}
	}
	return s
}

// first finds the addition to a place that is set to zero that can be an assignment.
func (m *merger) first(x *ir.Set, rest ir.Block) (int, ir.Stmt) {
	own := m.touch(x)
	for j, s := range rest {
		t := m.touch(s)
		if y, ok := s.(*ir.Add); ok && ir.EqualPlace(x.P, y.P) {
			if m.any(t.reads, x.P) {
				break
			}
			return j, &ir.Set{At: y.At, P: y.P, E: y.E}
		}
		if t.barrier || m.any(t.reads, x.P) || m.any(t.writes, x.P) || m.any(t.adds, x.P) || m.changes(t, own.reads) {
			break
		}
	}
	return -1, nil
}
