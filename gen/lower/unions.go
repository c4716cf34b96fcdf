package lower

import (
	"go/types"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Unions: interface values that lowered functions make and no other code sees. Such a value becomes a struct with a
// number that says which type the value has, 0 for nil, and a field for each type that is converted to the interface.
// Numbers in it carry derivatives as those in every struct do, wherever the interface is held: in a variable, in a
// struct that a constructor returns, or in a slice that grows by append.
//
// Which variables hold such values follows from unification, as in the pointer analysis of Steensgaard (POPL 1996): the
// variables between which interface values may flow form a group, together with the named types that contain
// interfaces. A group that other code sees, through a parameter of the differentiated function, a package-level
// variable, a map, an error or a function without derivative, keeps the interfaces of Go.

// A unionGroup is a set of variables and named types, in a union-find structure.
type unionGroup struct {
	parent  *unionGroup
	foreign bool                  // code that is not lowered may see the values
	wanted  bool                  // values that lead to numbers are taken out
	types   map[string]types.Type // the types that are converted to an interface, by typeKey
	made    *types.Named          // the struct, once it is made
}

// find returns the representative of the group.
func (g *unionGroup) find() *unionGroup {
	for g.parent != nil {
		g = g.parent
	}
	return g
}

// isUnion reports whether the interface values of the group become structs; g may be nil.
func (g *unionGroup) isUnion() bool {
	if g == nil {
		return false
	}
	g = g.find()
	return g.wanted && !g.foreign && len(g.types) > 0 && len(g.types) <= maxDynamicTypes
}

// list returns the types of the values, ordered by name.
func (g *unionGroup) list() (out []types.Type) {
	g = g.find()
	var keys []string
	for k := range g.types {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		out = append(out, g.types[k])
	}
	return out
}

// A unionAnalysis finds the groups of the functions that one function reaches.
type unionAnalysis struct {
	vars  map[*ir.Var]*unionGroup
	named map[string]*unionGroup // by typeKey
	memo  map[types.Type]bool    // of holds
}

// isInterface reports whether values of type t may be unions: t is an interface type, and not error.
func isInterface(t types.Type) bool {
	_, ok := t.Underlying().(*types.Interface)
	return ok && isDispatched(t)
}

// holds reports whether a type contains or leads to an interface.
func (a *unionAnalysis) holds(t types.Type) bool {
	if t == nil {
		return false
	}
	h, ok := a.memo[t]
	if !ok {
		ir.WalkType(t, func(u types.Type) { h = h || isInterface(u) })
		a.memo[t] = h
	}
	return h
}

// union merges two groups; nil is none.
func (a *unionAnalysis) union(g, h *unionGroup) *unionGroup {
	if g == nil {
		return h
	}
	if h == nil {
		return g
	}
	if g, h = g.find(), h.find(); g != h {
		h.parent = g
		g.foreign, g.wanted = g.foreign || h.foreign, g.wanted || h.wanted
		if g.made == nil {
			g.made = h.made
		}
		for k, t := range h.types {
			g.add(k, t)
		}
	}
	return g.find()
}

func (g *unionGroup) add(key string, t types.Type) {
	if g.types == nil {
		g.types = map[string]types.Type{}
	}
	g.types[key] = t
}

// group returns the group of a variable, nil if its type holds no interfaces.
func (a *unionAnalysis) group(v *ir.Var) *unionGroup {
	if v == nil || !a.holds(v.Type) {
		return nil
	}
	g := a.vars[v]
	if g == nil {
		g = &unionGroup{foreign: v.Kind == ir.Global}
		a.vars[v] = g
		a.addType(g, v.Type)
	}
	return a.vars[v].find()
}

// addType adds the named types of t to g. Types that cannot be rewritten make it foreign.
func (a *unionAnalysis) addType(g *unionGroup, t types.Type) {
	ir.WalkType(t, func(u types.Type) {
		if !a.holds(u) {
			return
		}
		switch u := u.(type) {
		case *types.Named:
			key := typeKey(u)
			if a.named[key] == nil {
				a.named[key] = &unionGroup{}
			}
			g = a.union(g, a.named[key])
		case *types.Map, *types.Chan, *types.Signature:
			g.find().foreign = true
		}
	})
}

// value returns the group of the interfaces in the value of e, nil if there are none.
func (a *unionAnalysis) value(e ir.Expr) (g *unionGroup) {
	if e == nil || !a.holds(e.Type()) {
		return nil
	}
	switch e := e.(type) {
	case *ir.Load:
		return a.group(e.P.Root)
	case *ir.Addr:
		return a.group(e.P.Root)
	case *ir.SliceAt:
		return a.group(e.P.Root)
	case *ir.Slice:
		return a.value(e.X)
	case *ir.Convert:
		g = a.union(&unionGroup{}, a.value(e.X))
		a.addType(g, e.Type())
		g = g.find()
		if x := e.X.Type(); isInterface(e.T) && !types.IsInterface(x) {
			g.add(typeKey(x), x)
		} else if types.IsInterface(x) && !isInterface(x) { // an error
			g.foreign = true
		}
		return g
	case *ir.Literal:
		g = &unionGroup{}
		a.addType(g, e.Type())
		for _, x := range e.Elems {
			g = a.union(g, a.value(x))
		}
		return g.find()
	case *ir.Const, *ir.New, *ir.Make:
		g = &unionGroup{}
		a.addType(g, e.Type())
		return g.find()
	}
	return &unionGroup{foreign: true}
}

// flow unifies groups through which a value flows; nil is none.
func (a *unionAnalysis) flow(list ...*unionGroup) {
	var g *unionGroup
	for _, h := range list {
		g = a.union(g, h)
	}
}

// setForeign notes that code that is not lowered may see the interfaces in the value of e.
func (a *unionAnalysis) setForeign(e ir.Expr) {
	if g := a.value(e); g != nil {
		g.find().foreign = true
	}
}

func (a *unionAnalysis) block(b ir.Block) {
	for _, s := range b {
		ir.EachExpr(s, func(e ir.Expr) { ir.WalkExpr(e, a.inside) })
		switch s := s.(type) {
		case *ir.Let:
			a.flow(a.group(s.V), a.value(s.E))
		case *ir.Set:
			if e := a.value(s.E); e != nil {
				a.flow(a.group(s.P.Root), e)
			}
		case *ir.Append:
			if a.holds(s.S.Type()) {
				a.flow(a.group(s.P.Root), a.value(s.S))
				for _, e := range s.Elems {
					a.flow(a.group(s.P.Root), a.value(e))
				}
			}
		case *ir.Copy:
			a.flow(a.value(s.Dst), a.value(s.Src))
		case *ir.Panic:
			a.setForeign(s.E)
		case *ir.Call:
			a.call(s)
		case *ir.If:
			a.block(s.Then)
			a.block(s.Else)
		case *ir.Scope:
			a.block(s.Body)
		case *ir.Loop:
			a.block(s.Body)
		}
	}
}

// inside applies a part of an expression that lets interface values out, takes values out of them, or compares them.
func (a *unionAnalysis) inside(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Opaque:
		for _, x := range e.Args {
			if e.Format != ir.UnknownTypeCall {
				a.setForeign(x)
			}
		}
	case *ir.Convert:
		g := a.value(e.X)
		switch {
		case g == nil:
		case isInterface(e.X.Type()) && !types.IsInterface(e.T):
			if g = g.find(); hasFloats(e.T) || ir.ContainsFloats(e.T) {
				g.wanted = true
			}
		case !a.holds(e.T):
			g.find().foreign = true
		}
	case *ir.Binary:
		a.flow(a.value(e.X), a.value(e.Y))
	}
	return true
}

// call applies a call. Rules do not know unions.
func (a *unionAnalysis) call(s *ir.Call) {
	r := s.Callee.Rule
	if r == nil {
		for i, p := range s.Callee.Func.Params {
			a.flow(a.group(p), a.value(s.Args[i]))
		}
		for i, v := range s.Results {
			a.flow(a.group(s.Callee.Func.Results[i]), a.group(v))
		}
		return
	}
	args := s.Args
	if r.Calls != nil {
		captured := r.Calls.Params[len(r.Calls.Params)-len(args)+1:]
		for i, p := range captured {
			a.flow(a.group(p), a.value(args[i+1]))
		}
		args = args[:1]
	}
	for _, e := range args {
		a.setForeign(e)
	}
	for _, v := range s.Results {
		if g := a.group(v); g != nil {
			g.foreign = true
		}
	}
}

// rewriteUnions returns f with unions in it and in the functions that it calls. funcs are all lowered functions that f
// reaches, those of rules included.
func (p *Program) rewriteUnions(f *ir.Func, funcs []*ir.Func) *ir.Func {
	a := &unionAnalysis{vars: map[*ir.Var]*unionGroup{}, named: map[string]*unionGroup{}, memo: map[types.Type]bool{}}
	boxes := func(g *ir.Func) (found bool) {
		ir.Walk(g.Body, func(s ir.Stmt) bool {
			ir.EachExpr(s, func(e ir.Expr) {
				ir.WalkExpr(e, func(e ir.Expr) bool {
					c, ok := e.(*ir.Convert)
					found = found || ok && isInterface(c.T) && !types.IsInterface(c.X.Type())
					return !found
				})
			})
			return !found
		})
		return found
	}
	called := ir.Reachable(f)
	if !slices.ContainsFunc(funcs, boxes) {
		return f
	}
	for _, g := range funcs {
		outside := slices.Concat(g.Params, g.Results)
		switch {
		case g.Passive || !called[g]:
			outside = ir.Vars(g)
		case g != f:
			continue
		}
		for _, v := range outside {
			if h := a.group(v); h != nil {
				h.foreign = true
			}
		}
	}
	slices.SortFunc(funcs, func(x, y *ir.Func) int {
		if c := comparePositions(x.Pos, y.Pos); c != 0 {
			return c
		}
		return strings.Compare(x.Name, y.Name)
	})
	for _, g := range funcs {
		a.block(g.Body)
	}
	w := &unionRewriter{p: p, a: a, funcs: map[*ir.Func]*ir.Func{}, types: map[string]types.Type{},
		affected: map[*ir.Func]bool{}, declared: ir.NewNamer()}
	for again := true; again; {
		again = false
		for _, g := range funcs {
			if !w.affected[g] && called[g] && w.affects(g) {
				w.affected[g], again = true, true
			}
		}
	}
	return w.function(f)
}
