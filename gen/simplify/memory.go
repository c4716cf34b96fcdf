package simplify

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// memory knows which places may be the same. What a variable leads to, at any distance,
// is one class, and so is what another one leads to that it is assigned from.
type memory struct {
	parent map[*ir.Var]*ir.Var
	open   map[*ir.Var]bool // classes that anything may be the same as
	use    *usage
	work   *ir.Var // the parameter that leads to stacks
	taken  *ir.Var // stands for what slices and pointers taken from them lead to
}

// memoryOf finds the classes of f. Distinct says that no two parameters lead to the same
// memory. Work, if it is not nil, is a parameter that leads to stacks: slices and pointers
// that another function has put there lead anywhere.
func memoryOf(f *ir.Func, distinct bool, work *ir.Var) *memory {
	m := &memory{parent: map[*ir.Var]*ir.Var{}, open: map[*ir.Var]bool{}, use: usageOf(f.Body), work: work,
		taken: new(ir.Var)}
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Let:
			m.link(s.V, s.E)
		case *ir.Set:
			m.link(s.P.Root, s.E)
		case *ir.Append:
			m.link(s.P.Root, s.S)
			for _, e := range s.Elems {
				m.link(s.P.Root, e)
			}
		case *ir.Copy:
			if of := elemOf(s.Dst.Type()); of != nil && hasRefs(of) {
				v := m.link(nil, s.Dst)
				m.link(v, s.Src)
			}
		case *ir.Call:
			var v *ir.Var
			for _, e := range s.Args {
				v = m.link(v, e)
			}
			for _, r := range s.Results {
				if r != nil && hasRefs(r.Type) {
					v = m.join(v, r)
				}
			}
		}
		return true
	})
	var first *ir.Var
	for _, v := range f.Params {
		if !distinct && hasRefs(v.Type) {
			first = m.join(first, v)
		}
	}
	for _, v := range ir.Vars(f) {
		if v.Kind == ir.Global {
			m.open[m.class(v)] = true
		}
	}
	m.open[m.class(m.taken)] = true
	return m
}

// root is the variable whose class p leads to.
func (m *memory) root(p *ir.Place) *ir.Var {
	if p.Root == m.work && m.work != nil {
		for i, s := range p.Path {
			if s.Index != nil && (i+1 < len(p.Path) || hasRefs(p.Type())) {
				return m.taken
			}
		}
	}
	return p.Root
}

// hasRefs reports whether a value of type t leads to other memory.
func hasRefs(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return false
	case *types.Array:
		return hasRefs(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if hasRefs(f.Type()) {
				return true
			}
		}
		return false
	}
	return true
}

func (m *memory) class(v *ir.Var) *ir.Var {
	for m.parent[v] != nil {
		v = m.parent[v]
	}
	return v
}

// join makes the classes of two variables one. One may be nil.
func (m *memory) join(v, w *ir.Var) *ir.Var {
	if v == nil {
		return w
	}
	a, b := m.class(v), m.class(w)
	if a != b {
		m.parent[b] = a
	}
	return v
}

// link makes one class of v, which may be nil, and what e leads to.
func (m *memory) link(v *ir.Var, e ir.Expr) *ir.Var {
	if e == nil || !hasRefs(e.Type()) {
		return v
	}
	ir.WalkExpr(e, func(e ir.Expr) bool {
		if !hasRefs(e.Type()) {
			return false
		}
		if p := ir.PlaceOf(e); p != nil {
			v = m.join(v, m.root(p))
		}
		return true
	})
	return v
}

// mayBe reports whether p and q may have memory in common, where the indices and
// variables on their paths have the same values for both.
func (m *memory) mayBe(p, q *ir.Place) bool {
	if m.root(p) == m.taken || m.root(q) == m.taken {
		return compatible(p.Type(), q.Type())
	}
	if p.Root == q.Root {
		return !apart(p, q)
	}
	if !p.Indirect() && !q.Indirect() {
		return false
	}
	for _, r := range []*ir.Place{p, q} {
		if !r.Indirect() && !m.use.addressed[r.Root] {
			return false
		}
	}
	a, b := m.class(p.Root), m.class(q.Root)
	if a != b && !m.open[a] && !m.open[b] {
		return false
	}
	return compatible(p.Type(), q.Type())
}

// compatible reports whether values of two types, nil for one that is not known, may have
// memory in common.
func compatible(s, t types.Type) bool { return s == nil || t == nil || ir.MayOverlap(s, t) }

// apart reports whether two places in or behind one variable have nothing in common.
func apart(p, q *ir.Place) bool {
	n := min(len(p.Path), len(q.Path))
	for i := range n {
		s, t := p.Path[i], q.Path[i]
		switch {
		case s.Field >= 0 && t.Field >= 0:
			if s.Field == t.Field {
				continue
			}
		case s.Index != nil && t.Index != nil:
			if ir.Equal(s.Index, t.Index) {
				continue
			}
			if !different(s.Index, t.Index) {
				return false
			}
		case s.IsDeref() && t.IsDeref():
			continue
		default:
			return false
		}
		// Two parts of one value: what they lead to may be the same.
		return !leads(p, i+1) && !leads(q, i+1) || !compatible(p.Type(), q.Type())
	}
	// One is on the way to the other.
	return (leads(p, n) || leads(q, n)) && !compatible(p.Type(), q.Type())
}

// leads reports whether p goes through a slice or a pointer behind its first n steps.
func leads(p *ir.Place, n int) bool {
	for i := n; i < len(p.Path); i++ {
		switch (&ir.Place{Root: p.Root, Path: p.Path[:i]}).Type().Underlying().(type) {
		case *types.Slice, *types.Pointer:
			return true
		}
	}
	return false
}

// offset is e as something and a constant that is added to it.
func offset(e ir.Expr) (ir.Expr, int64) {
	if n, ok := constInt(e); ok {
		return nil, n
	}
	if b, ok := e.(*ir.Binary); ok && (b.Op == token.ADD || b.Op == token.SUB) {
		if n, ok := constInt(b.Y); ok {
			if b.Op == token.SUB {
				n = -n
			}
			x, k := offset(b.X)
			return x, k + n
		}
	}
	return e, 0
}

// different reports whether two indices are surely not the same.
func different(a, b ir.Expr) bool {
	x, i := offset(a)
	y, j := offset(b)
	if i == j || (x == nil) != (y == nil) {
		return false
	}
	return x == nil || ir.Equal(x, y) && types.Identical(x.Type().Underlying(), integer)
}
