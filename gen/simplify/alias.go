package simplify

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// memory knows which places may be the same. What a variable leads to, at any distance,
// is one class, and so is what another one leads to that it is assigned from.
type aliases struct {
	parent    map[*ir.Var]*ir.Var
	unknown   map[*ir.Var]bool // classes that anything may be the same as
	use       *usage
	workspace *ir.Var // the parameter that leads to stacks
	fromTape  *ir.Var // stands for what slices and pointers taken from them lead to
}

// memoryOf finds the classes of f. Distinct says that no two parameters lead to the same
// memory. Work, if it is not nil, is a parameter that leads to stacks: slices and pointers
// that another function has put there lead anywhere.
func analyseAliases(f *ir.Func, distinct bool, workspace *ir.Var) *aliases {
	m := &aliases{parent: map[*ir.Var]*ir.Var{}, unknown: map[*ir.Var]bool{}, use: usageOf(f.Body), workspace: workspace,
		fromTape: new(ir.Var)}
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Let:
			m.unionExpr(s.V, s.E)
		case *ir.Set:
			m.unionExpr(s.P.Root, s.E)
		case *ir.Append:
			m.unionExpr(s.P.Root, s.S)
			for _, e := range s.Elems {
				m.unionExpr(s.P.Root, e)
			}
		case *ir.Copy:
			if of := sliceElem(s.Dst.Type()); of != nil && hasRefs(of) {
				v := m.unionExpr(nil, s.Dst)
				m.unionExpr(v, s.Src)
			}
		case *ir.Call:
			var v *ir.Var
			for _, e := range s.Args {
				v = m.unionExpr(v, e)
			}
			for _, r := range s.Results {
				if r != nil && hasRefs(r.Type) {
					v = m.union(v, r)
				}
			}
		}
		return true
	})
	var first *ir.Var
	for _, v := range f.Params {
		if !distinct && hasRefs(v.Type) {
			first = m.union(first, v)
		}
	}
	for _, v := range ir.Vars(f) {
		if v.Kind == ir.Global {
			m.unknown[m.find(v)] = true
		}
	}
	m.unknown[m.find(m.fromTape)] = true
	return m
}

// root is the variable whose class p leads to.
func (m *aliases) root(p *ir.Place) *ir.Var {
	if p.Root == m.workspace && m.workspace != nil {
		for i, s := range p.Path {
			if s.Index != nil && (i+1 < len(p.Path) || hasRefs(p.Type())) {
				return m.fromTape
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

func (m *aliases) find(v *ir.Var) *ir.Var {
	for m.parent[v] != nil {
		v = m.parent[v]
	}
	return v
}

// join makes the classes of two variables one. One may be nil.
func (m *aliases) union(v, w *ir.Var) *ir.Var {
	if v == nil {
		return w
	}
	a, b := m.find(v), m.find(w)
	if a != b {
		m.parent[b] = a
	}
	return v
}

// link makes one class of v, which may be nil, and what e leads to.
func (m *aliases) unionExpr(v *ir.Var, e ir.Expr) *ir.Var {
	if e == nil || !hasRefs(e.Type()) {
		return v
	}
	ir.WalkExpr(e, func(e ir.Expr) bool {
		if !hasRefs(e.Type()) {
			return false
		}
		if p := ir.PlaceOf(e); p != nil {
			v = m.union(v, m.root(p))
		}
		return true
	})
	return v
}

// mayBe reports whether p and q may have memory in common, where the indices and
// variables on their paths have the same values for both.
func (m *aliases) mayAlias(p, q *ir.Place) bool {
	if m.root(p) == m.fromTape || m.root(q) == m.fromTape {
		return typesOverlap(p.Type(), q.Type())
	}
	if p.Root == q.Root {
		return !disjoint(p, q)
	}
	if !p.Indirect() && !q.Indirect() {
		return false
	}
	for _, r := range []*ir.Place{p, q} {
		if !r.Indirect() && !m.use.addressed[r.Root] {
			return false
		}
	}
	a, b := m.find(p.Root), m.find(q.Root)
	if a != b && !m.unknown[a] && !m.unknown[b] {
		return false
	}
	return typesOverlap(p.Type(), q.Type())
}

// compatible reports whether values of two types, nil for one that is not known, may have
// memory in common.
func typesOverlap(s, t types.Type) bool { return s == nil || t == nil || ir.MayOverlap(s, t) }

// apart reports whether two places in or behind one variable have nothing in common.
func disjoint(p, q *ir.Place) bool {
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
			if !alwaysDiffer(s.Index, t.Index) {
				return false
			}
		case s.IsDeref() && t.IsDeref():
			continue
		default:
			return false
		}
		// Two parts of one value: what they lead to may be the same.
		return !crossesRef(p, i+1) && !crossesRef(q, i+1) || !typesOverlap(p.Type(), q.Type())
	}
	// One is on the way to the other.
	return (crossesRef(p, n) || crossesRef(q, n)) && !typesOverlap(p.Type(), q.Type())
}

// leads reports whether p goes through a slice or a pointer behind its first n steps.
func crossesRef(p *ir.Place, n int) bool {
	for i := n; i < len(p.Path); i++ {
		switch (&ir.Place{Root: p.Root, Path: p.Path[:i]}).Type().Underlying().(type) {
		case *types.Slice, *types.Pointer:
			return true
		}
	}
	return false
}

// offset is e as something and a constant that is added to it.
func splitOffset(e ir.Expr) (ir.Expr, int64) {
	if n, ok := constInt(e); ok {
		return nil, n
	}
	if b, ok := e.(*ir.Binary); ok && (b.Op == token.ADD || b.Op == token.SUB) {
		if n, ok := constInt(b.Y); ok {
			if b.Op == token.SUB {
				n = -n
			}
			x, k := splitOffset(b.X)
			return x, k + n
		}
	}
	return e, 0
}

// different reports whether two indices are surely not the same.
func alwaysDiffer(a, b ir.Expr) bool {
	x, i := splitOffset(a)
	y, j := splitOffset(b)
	if i == j || (x == nil) != (y == nil) {
		return false
	}
	return x == nil || ir.Equal(x, y) && types.Identical(x.Type().Underlying(), integer)
}
