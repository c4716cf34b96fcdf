// Package retype gives values of some types another representation, in a function and in those that it calls.
//
// A client chooses the types, such as maps that become slices with an index, or interfaces that become structs. Whether
// a value can be replaced depends on all variables that it may be stored in, and on who else sees it. An [Analysis]
// therefore divides variables and declared types into groups by unification, as in the pointer analysis of Steensgaard
// (POPL 1996): the variables between which values may flow form a group, together with the named types that contain
// such values. A group that other code sees, through a parameter of the differentiated function, a package-level
// variable or a function without derivative, is foreign and keeps its types. A [Rewriter] then copies the functions
// with variables of other groups, with other types.
package retype

import (
	"cmp"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/nabla-ad/nabla/gen/ir"
)

// A Group is a set of variables and named types, in a union-find structure. F holds the facts that the client collects
// about it. A nil group is that of values with nothing to replace in them.
type Group[F any] struct {
	parent  *Group[F]
	foreign bool
	facts   F
}

// find returns the representative of the group.
func (g *Group[F]) find() *Group[F] {
	for g.parent != nil {
		if g.parent.parent != nil {
			g.parent = g.parent.parent
		}
		g = g.parent
	}
	return g
}

// Facts returns the facts about the group, for reading and writing until it is merged with another. It panics if g is
// nil.
func (g *Group[F]) Facts() *F { return &g.find().facts }

// SetForeign notes that code that is not lowered may see the values of the group, if it is not nil.
func (g *Group[F]) SetForeign() {
	if g != nil {
		g.find().foreign = true
	}
}

// Foreign reports whether code that is not lowered may see the values of the group.
func (g *Group[F]) Foreign() bool { return g != nil && g.find().foreign }

// Values describes the values that are replaced to an [Analysis]. The methods that note something are called once or
// more, for the statements in order.
type Values[F any] interface {
	// IsReplaced reports whether t, a type or a component of one, is a type of values to replace.
	IsReplaced(t types.Type) bool
	// IsBarrier reports whether a type that has t as a component cannot be rewritten.
	IsBarrier(t types.Type) bool
	// MergeFacts adds the facts of one group to those of another.
	MergeFacts(to, from *F)
	// CanReplace reports whether values of a group with these facts are replaced, unless the group is foreign.
	CanReplace(facts *F) bool

	// NoteType notes that a variable or a value of type t is in g.
	NoteType(g *Group[F], t types.Type)
	// NoteValue notes that e, a constant, composite literal, allocation or conversion, or an opaque expression for
	// which Makes is true, makes a value in g.
	NoteValue(g *Group[F], e ir.Expr)
	// Makes reports whether an opaque expression makes a value to replace. Others are foreign.
	Makes(e *ir.Opaque) bool
	// NoteExpr notes effects of an expression beyond those that [Analysis] knows. It returns true if e has none of the
	// latter.
	NoteExpr(e ir.Expr) bool
	// NoteCall notes the effects of a call of a rule, and returns false if the rule does not know the values.
	NoteCall(s *ir.Call) bool
}

// An Analysis finds the groups of the functions that one function reaches.
type Analysis[F any] struct {
	values Values[F]
	vars   map[*ir.Var]*Group[F]
	named  typeutil.Map        // *types.Named → *Group[F]
	holds  map[types.Type]bool // memo of Holds
	root   *ir.Func
	called map[*ir.Func]bool
	funcs  []*ir.Func // root, its callees, and others
	merges int        // number of groups that were merged with others
}

// NewAnalysis returns an analysis of f, its callees, and those of the functions also, which f calls through values. The
// functions of others that f does not call may see the values of their variables. Values are found by [Analysis.Run].
func NewAnalysis[F any](values Values[F], f *ir.Func, others []*ir.Func, also ...*ir.Func) *Analysis[F] {
	a := &Analysis[F]{values: values, vars: map[*ir.Var]*Group[F]{}, holds: map[types.Type]bool{}, root: f,
		called: ir.Reachable(f), funcs: slices.Clone(others)}
	for _, g := range also {
		maps.Copy(a.called, ir.Reachable(g))
	}
	for g := range a.called {
		if !slices.Contains(others, g) {
			a.funcs = append(a.funcs, g)
		}
	}
	slices.SortFunc(a.funcs, func(x, y *ir.Func) int {
		return cmp.Or(strings.Compare(x.Pos.Filename, y.Pos.Filename), x.Pos.Line-y.Pos.Line, x.Pos.Column-y.Pos.Column,
			strings.Compare(x.Name, y.Name))
	})
	return a
}

// Merges returns the number of groups that were merged with others, which grows until all facts are known.
func (a *Analysis[F]) Merges() int { return a.merges }

// Funcs returns the functions that are analysed, ordered by position.
func (a *Analysis[F]) Funcs() []*ir.Func { return a.funcs }

// Called reports whether the function that is analysed reaches f.
func (a *Analysis[F]) Called(f *ir.Func) bool { return a.called[f] }

// Run applies the statements of all functions.
func (a *Analysis[F]) Run() {
	for _, g := range a.funcs {
		outside := slices.Concat(g.Params, g.Results)
		switch {
		case g.Passive || !a.called[g]:
			outside = append(outside, ir.Vars(g)...)
		case g != a.root:
			continue
		}
		for _, v := range outside {
			a.Group(v).SetForeign()
		}
	}
	for _, g := range a.funcs {
		a.block(g.Body)
	}
}

// Holds reports whether a type contains or leads to a type of values to replace.
func (a *Analysis[F]) Holds(t types.Type) bool {
	if t == nil {
		return false
	}
	h, ok := a.holds[t]
	if !ok {
		ir.WalkType(t, func(u types.Type) { h = h || a.values.IsReplaced(u) })
		a.holds[t] = h
	}
	return h
}

// Replaces reports whether the values of group g are replaced.
func (a *Analysis[F]) Replaces(g *Group[F]) bool {
	return g != nil && !g.find().foreign && a.values.CanReplace(g.Facts())
}

// Union merges two groups and returns the representative.
func (a *Analysis[F]) Union(g, h *Group[F]) *Group[F] {
	if g == nil {
		return h
	}
	if h == nil {
		return g
	}
	if g, h = g.find(), h.find(); g != h {
		a.merges++
		h.parent = g
		g.foreign = g.foreign || h.foreign
		a.values.MergeFacts(&g.facts, &h.facts)
	}
	return g
}

// Flow merges groups through which a value flows.
func (a *Analysis[F]) Flow(list ...*Group[F]) {
	var g *Group[F]
	for _, h := range list {
		g = a.Union(g, h)
	}
}

// Group returns the group of a variable, nil if its type holds no values to replace.
func (a *Analysis[F]) Group(v *ir.Var) *Group[F] {
	if v == nil || !a.Holds(v.Type) {
		return nil
	}
	g := a.vars[v]
	if g == nil {
		g = &Group[F]{foreign: v.Kind == ir.Global}
		a.vars[v] = g
		a.addType(g, v.Type)
	}
	return g.find()
}

// addType adds the named types of t to g, except those of functions, whose values have no parts. Types that cannot be
// rewritten make it foreign. It returns the representative.
func (a *Analysis[F]) addType(g *Group[F], t types.Type) *Group[F] {
	a.values.NoteType(g, t)
	ir.WalkTypeUntil(t, func(u types.Type) bool {
		if !a.Holds(u) {
			return false
		}
		if _, ok := u.Underlying().(*types.Signature); ok && a.values.IsReplaced(u) {
			return false
		}
		if _, ok := u.(*types.Named); ok {
			h, _ := a.named.At(u).(*Group[F])
			if h == nil {
				h = &Group[F]{}
				a.named.Set(u, h)
			}
			g = a.Union(g, h)
		} else if a.values.IsBarrier(u) {
			g.SetForeign()
		}
		return true
	})
	return g.find()
}

// Value returns the group of the value of e, nil if there is nothing to replace in it.
func (a *Analysis[F]) Value(e ir.Expr) *Group[F] {
	if e == nil || !a.Holds(e.Type()) {
		return nil
	}
	g := &Group[F]{}
	switch e := e.(type) {
	case *ir.Load:
		return a.Group(e.P.Root)
	case *ir.Addr:
		return a.Group(e.P.Root)
	case *ir.SliceAt:
		return a.Group(e.P.Root)
	case *ir.Slice:
		return a.Value(e.X)
	case *ir.Convert:
		g = a.addType(a.Union(g, a.Value(e.X)), e.Type())
	case *ir.Literal:
		g = a.addType(g, e.Type())
		for _, x := range e.Elems {
			g = a.Union(g, a.Value(x))
		}
	case *ir.Const, *ir.New, *ir.Make:
		g = a.addType(g, e.Type())
	case *ir.Opaque:
		if !a.values.Makes(e) {
			return &Group[F]{foreign: true}
		}
		g = a.addType(g, e.Type())
	default:
		return &Group[F]{foreign: true}
	}
	a.values.NoteValue(g, e)
	return g
}

// block applies the statements of b.
func (a *Analysis[F]) block(b ir.Block) {
	ir.Walk(b, func(s ir.Stmt) bool {
		ir.EachExpr(s, func(e ir.Expr) { ir.WalkExpr(e, a.expr) })
		switch s := s.(type) {
		case *ir.Let:
			a.Flow(a.Group(s.V), a.Value(s.E))
		case *ir.Set:
			a.store(s.P, s.E)
		case *ir.Append:
			a.store(s.P, s.S)
			for _, e := range s.Elems {
				a.store(s.P, e)
			}
		case *ir.Copy:
			a.Flow(a.Value(s.Dst), a.Value(s.Src))
		case *ir.Panic:
			a.Value(s.E).SetForeign()
		case *ir.Call:
			a.call(s)
		}
		return true
	})
}

// store applies a store of e at p.
func (a *Analysis[F]) store(p *ir.Place, e ir.Expr) {
	if g := a.Value(e); g != nil {
		a.Flow(a.Group(p.Root), g)
	}
}

// expr applies an expression, which may be an operand, that lets values out or compares them.
func (a *Analysis[F]) expr(e ir.Expr) bool {
	if a.values.NoteExpr(e) {
		return true
	}
	switch e := e.(type) {
	case *ir.Opaque:
		for _, x := range e.Args {
			a.Value(x).SetForeign()
		}
	case *ir.Convert:
		if !a.Holds(e.Type()) {
			a.Value(e.X).SetForeign()
		}
	case *ir.Binary:
		a.Flow(a.Value(e.X), a.Value(e.Y))
	}
	return true
}

// call applies a call.
func (a *Analysis[F]) call(s *ir.Call) {
	r := s.Callee.Rule
	if r == nil {
		for i, p := range s.Callee.Func.Params {
			a.Flow(a.Group(p), a.Value(s.Args[i]))
		}
		for i, v := range s.Results {
			a.Flow(a.Group(s.Callee.Func.Results[i]), a.Group(v))
		}
		return
	}
	if a.values.NoteCall(s) {
		return
	}
	args := s.Args
	if r.Calls != nil {
		captured := r.Calls.Params[len(r.Calls.Params)-len(args)+1:]
		for i, p := range captured {
			a.Flow(a.Group(p), a.Value(args[i+1]))
		}
		args = args[:1]
	}
	for _, e := range args {
		a.Value(e).SetForeign()
	}
	for _, v := range s.Results {
		a.Group(v).SetForeign()
	}
}
