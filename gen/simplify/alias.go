package simplify

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// aliases holds the result of a points-to analysis of one function, flow-insensitive and unification-based (Steensgaard
// 1996). All memory reachable from a variable, through any number of slices and pointers, is one alias class; assigning
// a value with references from one variable to another merges the classes of both. A variable whose address is taken is
// in the class of the pointers to it.
type aliases struct {
	parent    map[*ir.Var]*ir.Var // variable → parent in the union-find forest of classes; roots are missing
	unknown   map[*ir.Var]bool    // representatives of the classes that may overlap any other class
	use       *usage              // of the whole body
	workspace *ir.Var             // the parameter that leads to the tape, or nil
	fromTape  *ir.Var             // represents all memory that the tape refers to, apart from cotangents
	barsThere *ir.Var             // represents the cotangents that the tape refers to
	// buffers represent the memory of each slice of numbers in a field of the workspace, by its index. It is nil if
	// parameters may overlap.
	buffers map[int]*ir.Var
	// adjoint reports whether a variable holds cotangents or leads to them. Their memory is apart from all other.
	adjoint func(*ir.Var) bool
}

// analyseAliases computes the alias classes of f in one pass: unions do not depend on the order of the statements. If
// distinct is set, the memory of two parameters does not overlap; otherwise all parameters with references are one
// class. Slices and pointers loaded from the tape, which workspace leads to if it is not nil, were stored by another
// function and may lead anywhere, and so may global variables; but those that lead to cotangents, as adjoint reports,
// lead to nothing else. Each slice of numbers in a field of the workspace has memory of its own.
func analyseAliases(f *ir.Func, distinct bool, workspace *ir.Var, adjoint func(*ir.Var) bool) *aliases {
	m := &aliases{parent: map[*ir.Var]*ir.Var{}, unknown: map[*ir.Var]bool{}, use: usageOf(f.Body),
		workspace: workspace, fromTape: new(ir.Var), barsThere: new(ir.Var), adjoint: adjoint}
	if distinct {
		m.buffers = map[int]*ir.Var{}
	}
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Let:
			m.flow(s.V, s.E)
		case *ir.Set:
			m.flow(m.target(s.P), s.E)
		case *ir.Append:
			m.unionExpr(m.target(s.P), s.S)
			for _, e := range s.Elems {
				m.flow(m.target(s.P), e)
			}
		// Elements with references may be shared after the copy.
		case *ir.Copy:
			if of := ir.ElemOf(s.Dst.Type()); of != nil && ir.HasRefs(of) {
				v := m.unionExpr(nil, s.Dst)
				m.unionExpr(v, s.Src)
			}
		// The callee may store any argument in any other and return it.
		case *ir.Call:
			var v *ir.Var
			for _, e := range s.Args {
				v = m.unionExpr(v, e)
			}
			for _, r := range s.Results {
				if r != nil && ir.HasRefs(r.Type) {
					v = m.union(v, r)
				}
			}
		}
		return true
	})
	// Parameters that may overlap at entry form one class.
	var first *ir.Var
	for _, v := range f.Params {
		if !distinct && ir.HasRefs(v.Type) {
			first = m.union(first, v)
		}
	}
	for _, v := range ir.Vars(f) {
		if v.Kind == ir.Global {
			m.unknown[m.find(v)] = true
		}
	}
	m.unknown[m.find(m.fromTape)] = true
	m.unknown[m.find(m.barsThere)] = true
	return m
}

// root returns the variable whose class p belongs to: fromTape if the path of p passes through an element of a stack of
// the workspace to memory that it leads to, or if p is itself a reference in such an element; the variable that
// represents a slice of numbers in a field of the workspace; p.Root otherwise.
func (m *aliases) root(p *ir.Place) *ir.Var {
	if v := m.buffer(p); v != nil {
		return v
	}
	if p.Root == m.workspace && m.workspace != nil {
		for i, s := range p.Path {
			if s.Index != nil && (i+1 < len(p.Path) || ir.HasRefs(p.Type())) {
				return m.fromTape
			}
		}
	}
	return p.Root
}

// buffer returns the variable that represents the slice of numbers in a field of the workspace that p is, or is a part
// of the memory of; nil if it is none.
func (m *aliases) buffer(p *ir.Place) *ir.Var {
	if m.buffers == nil || p.Root != m.workspace || m.workspace == nil || len(p.Path) < 2 || !p.Path[0].IsDeref() ||
		p.Path[1].Field < 0 {
		return nil
	}
	of := ir.ElemOf((&ir.Place{Root: p.Root, Path: p.Path[:2]}).Type())
	if of == nil || ir.HasRefs(of) {
		return nil
	}
	f := p.Path[1].Field
	if m.buffers[f] == nil {
		m.buffers[f] = new(ir.Var)
	}
	return m.buffers[f]
}

// isStack reports whether p is in a slice of numbers in a field of the workspace that no variable leads to: in a stack
// of the tape, whose memory no slice of the function that is differentiated leads to. A slice that was allocated there
// does, but its elements are reached through a variable.
func (m *aliases) isStack(p *ir.Place) bool {
	v := m.buffer(p)
	if v == nil || m.parent[v] != nil {
		return false
	}
	for _, w := range m.parent {
		if w == v {
			return false
		}
	}
	return true
}

// target returns the variable whose class memory joins that is assigned to p.
func (m *aliases) target(p *ir.Place) *ir.Var {
	if v := m.buffer(p); v != nil {
		return v
	}
	return p.Root
}

// find returns the representative of the class of v. The forest is not compressed, as functions have few variables with
// references.
func (m *aliases) find(v *ir.Var) *ir.Var {
	for m.parent[v] != nil {
		v = m.parent[v]
	}
	return v
}

// union merges the classes of v and w and returns v, or w if v is nil, so that a loop can start with nil.
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

// flow merges classes for an assignment of e to v, or to memory that v leads to. If only one of v and the root of a
// place in e holds cotangents, as where these are stored on the tape or loaded from it, that one joins barsThere.
func (m *aliases) flow(v *ir.Var, e ir.Expr) {
	m.eachReference(e, func(p *ir.Place) {
		switch bar := m.adjoint(p.Root); {
		case bar == m.adjoint(v) || m.buffer(p) != nil:
			m.union(v, m.root(p))
		case bar:
			m.union(m.barsThere, p.Root)
		default:
			m.union(m.barsThere, v)
		}
	})
}

// eachReference calls visit for the places in e with references.
func (m *aliases) eachReference(e ir.Expr, visit func(p *ir.Place)) {
	if e == nil || !ir.HasRefs(e.Type()) {
		return
	}
	ir.WalkExpr(e, func(e ir.Expr) bool {
		if !ir.HasRefs(e.Type()) {
			return false
		}
		if p := ir.PlaceOf(e); p != nil {
			visit(p)
		}
		return true
	})
}

// unionExpr merges the class of v, which may be nil, with the classes of all places in e with references, and returns a
// variable of the class, nil if there is none.
func (m *aliases) unionExpr(v *ir.Var, e ir.Expr) *ir.Var {
	m.eachReference(e, func(p *ir.Place) { v = m.union(v, m.root(p)) })
	return v
}

// mayAlias reports whether p and q may overlap. Variables that occur in both are assumed to have the same value in
// both, so the answer does not hold across an assignment to one of them.
func (m *aliases) mayAlias(p, q *ir.Place) bool {
	if m.root(p) == m.fromTape || m.root(q) == m.fromTape {
		return typesOverlap(p.Type(), q.Type())
	}
	// Paths from one root can be compared even within one class.
	if p.Root == q.Root {
		return !disjoint(p, q)
	}
	if !p.Indirect() && !q.Indirect() {
		return false
	}
	// A direct place is overlapped by an indirect one only if its address is taken.
	for _, r := range []*ir.Place{p, q} {
		if !r.Indirect() && !m.use.addressed[r.Root] {
			return false
		}
	}
	a, b := m.find(m.owner(p)), m.find(m.owner(q))
	// Different classes are disjoint unless one of them is unknown, and slices of cotangents from others in any case.
	if a != b && (!m.unknown[a] && !m.unknown[b] || m.adjoint(p.Root) != m.adjoint(q.Root) &&
		ir.ElemOf(p.Root.Type) != nil && ir.ElemOf(q.Root.Type) != nil) {
		return false
	}
	return typesOverlap(p.Type(), q.Type())
}

// owner returns the variable whose class the memory p is a part of.
func (m *aliases) owner(p *ir.Place) *ir.Var {
	if len(p.Path) > 2 {
		return m.target(p)
	}
	return p.Root
}

// typesOverlap reports whether memory of types s and t may overlap under the type system of Go. A nil type is unknown.
func typesOverlap(s, t types.Type) bool { return s == nil || t == nil || ir.MayOverlap(s, t) }

// disjoint reports whether two places with the same root never overlap. The paths are compared step by step: the first
// pair of steps that selects different fields, or elements with indices that always differ, separates them unless a
// reference behind that step can lead both to the same memory.
func disjoint(p, q *ir.Place) bool {
	n := min(len(p.Path), len(q.Path))
	for i := range n {
		s, t := p.Path[i], q.Path[i]
		switch {
		// Different fields are disjoint; equal ones decide nothing.
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
		// Two parts of one value; references in them may still be equal.
		return !crossesRef(p, i+1) && !crossesRef(q, i+1) || !typesOverlap(p.Type(), q.Type())
	}
	// One path is a prefix of the other. They overlap unless a reference separates the container from memory of another
	// type.
	return (crossesRef(p, n) || crossesRef(q, n)) && !typesOverlap(p.Type(), q.Type())
}

// crossesRef reports whether p.Path[n:] passes through a slice or a pointer.
func crossesRef(p *ir.Place, n int) bool {
	for i := n; i < len(p.Path); i++ {
		switch (&ir.Place{Root: p.Root, Path: p.Path[:i]}).Type().Underlying().(type) {
		case *types.Slice, *types.Pointer:
			return true
		}
	}
	return false
}

// splitOffset splits an integer expression e into x + k with a constant k. The expression x is nil if e is constant.
// Only constants on the right of + and - are collected.
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

// alwaysDiffer reports whether the indices a and b are certainly different: two constants, or one int expression plus
// different constants. Smaller integer types may overflow to the same value.
func alwaysDiffer(a, b ir.Expr) bool {
	x, i := splitOffset(a)
	y, j := splitOffset(b)
	if i == j || (x == nil) != (y == nil) {
		return false
	}
	return x == nil || ir.Equal(x, y) && types.Identical(x.Type().Underlying(), integer)
}
