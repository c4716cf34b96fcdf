package flatten

import (
	"go/types"
	"strconv"

	"github.com/nabla-ad/nabla/gen/ir"
)

// splitter replaces local arrays and structs by a variable for each part.
type splitter struct {
	names *ir.Namer
	parts map[*ir.Var][]*ir.Var
}

// scalars splits the variables of f all of whose uses are of a known part, or whole
// assignments.
func scalars(f *ir.Func, n *ir.Namer) {
	bad := map[*ir.Var]bool{}
	// An expression may use parts only.
	inside := func(e ir.Expr) {
		ir.WalkExpr(e, func(e ir.Expr) bool {
			switch e := e.(type) {
			case *ir.Load:
				if len(e.P.Path) == 0 || !known(e.P) {
					bad[e.P.Root] = true
				}
			case *ir.Addr:
				bad[e.P.Root] = true
			case *ir.SliceAt:
				bad[e.P.Root] = true
			}
			return true
		})
	}
	value := func(e ir.Expr) { // what is assigned may be a whole variable
		if l, ok := e.(*ir.Load); ok && len(l.P.Path) == 0 {
			return
		}
		inside(e)
	}
	var candidates []*ir.Var
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Let:
			if partTypes(s.V.Type) != nil {
				candidates = append(candidates, s.V)
			}
			if s.E != nil {
				value(s.E)
			}
			if s.E != nil && !splits(s.E) {
				bad[s.V] = true
			}
		case *ir.Set:
			for _, e := range s.P.Indices() {
				inside(e)
			}
			value(s.E)
			if len(s.P.Path) == 0 && !splits(s.E) || len(s.P.Path) > 0 && !known(s.P) {
				bad[s.P.Root] = true
			}
		case *ir.Add:
			for _, e := range ir.Exprs(s) {
				inside(e)
			}
			if !known(s.P) {
				bad[s.P.Root] = true
			}
		default:
			for _, e := range ir.Exprs(s) {
				inside(e)
			}
			if p := target(s); p != nil {
				bad[p.Root] = true
			}
			if c, ok := s.(*ir.Call); ok {
				for _, v := range c.Results {
					bad[v] = true
				}
			}
		}
		return true
	})
	sp := &splitter{names: n, parts: map[*ir.Var][]*ir.Var{}}
	for _, v := range candidates {
		if bad[v] || v.Kind != ir.Local {
			continue
		}
		for i, t := range partTypes(v.Type) {
			w := &ir.Var{Name: n.Name(v.Name + strconv.Itoa(i)), Type: t, Pos: v.Pos}
			sp.parts[v] = append(sp.parts[v], w)
		}
	}
	if len(sp.parts) > 0 {
		f.Body = sp.block(f.Body)
	}
}

// partTypes are the types of the parts of a type that can be split, else nil.
func partTypes(t types.Type) (list []types.Type) {
	add := func(t types.Type) {
		if _, ok := t.Underlying().(*types.Basic); ok {
			list = append(list, t)
		}
	}
	n := int64(0)
	switch u := t.Underlying().(type) {
	case *types.Array:
		if n = u.Len(); n <= maxParts {
			for range n {
				add(u.Elem())
			}
		}
	case *types.Struct:
		n = int64(u.NumFields())
		for v := range u.Fields() {
			add(v.Type())
		}
	}
	if n != int64(len(list)) || n > maxParts {
		return nil
	}
	return list
}

// known reports whether the path of p is a part of its root that is known now.
func known(p *ir.Place) bool {
	if len(p.Path) != 1 {
		return false
	}
	_, ok := partOf(p)
	return ok
}

// partOf is which part of its root p is.
func partOf(p *ir.Place) (int, bool) {
	n := len(partTypes(p.Root.Type))
	if s := p.Path[0]; s.Field >= 0 {
		return s.Field, s.Field < n
	} else if s.Index != nil {
		i, ok := integer(s.Index)
		return int(i), ok && i >= 0 && i < int64(n)
	}
	return 0, false
}

// splits reports whether a value can be assigned part by part.
func splits(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Load, *ir.Literal:
		return true
	case *ir.Const:
		return e.Val == nil
	}
	return false
}

func (sp *splitter) block(b ir.Block) (out ir.Block) {
	m := &ir.Map{
		Expr: func(e ir.Expr) ir.Expr {
			if l, ok := e.(*ir.Load); ok && len(l.P.Path) == 1 {
				return &ir.Load{Typed: l.Typed, P: sp.place(l.P)}
			}
			return e
		},
		Place: func(p *ir.Place) *ir.Place { return p },
	}
	for _, s := range b {
		switch s := s.(type) {
		case *ir.Let:
			if list := sp.parts[s.V]; list != nil {
				values := sp.values(m, s.E, list)
				for i, w := range list {
					out = append(out, &ir.Let{At: s.At, V: w, E: values[i]})
				}
				continue
			}
		case *ir.Set:
			list := sp.parts[s.P.Root]
			if list != nil && len(s.P.Path) > 0 {
				out = append(out, &ir.Set{At: s.At, P: sp.place(s.P), E: m.Of(s.E)})
				continue
			}
			if list != nil {
				out = append(out, sp.assign(s.At, list, sp.values(m, s.E, list))...)
				continue
			}
		case *ir.Add:
			if sp.parts[s.P.Root] != nil {
				out = append(out, &ir.Add{At: s.At, P: sp.place(s.P), E: m.Of(s.E)})
				continue
			}
		case *ir.If:
			out = append(out, &ir.If{At: s.At, Cond: m.Of(s.Cond), Then: sp.block(s.Then), Else: sp.block(s.Else)})
			continue
		case *ir.Scope:
			out = append(out, &ir.Scope{At: s.At, L: s.L, Body: sp.block(s.Body)})
			continue
		case *ir.Loop:
			l := *s
			l.Lo, l.Hi, l.Body = m.Of(s.Lo), m.Of(s.Hi), sp.block(s.Body)
			out = append(out, &l)
			continue
		}
		whole := ir.Block{s}
		switch s := s.(type) {
		case *ir.Let:
			whole = ir.Block{&ir.Let{At: s.At, V: s.V, E: sp.whole(s.E)}}
		case *ir.Set:
			whole = ir.Block{&ir.Set{At: s.At, P: s.P, E: sp.whole(s.E)}}
		}
		out = append(out, m.Block(whole)...)
	}
	return out
}

// assign assigns values to variables, all of which are there before one is assigned to
// that another reads.
func (sp *splitter) assign(at ir.At, list []*ir.Var, values []ir.Expr) (out ir.Block) {
	mixed := false
	for i, e := range values {
		if e == nil {
			values[i] = &ir.Const{Typed: ir.Typed{T: list[i].Type}}
		}
		for _, w := range list {
			mixed = mixed || reads(e, w)
		}
	}
	if mixed {
		for i, e := range values {
			v := &ir.Var{Name: sp.names.Name("t"), Type: list[i].Type, Pos: at.Pos}
			out = append(out, &ir.Let{At: at, V: v, E: e})
			values[i] = v.Load()
		}
	}
	for i, w := range list {
		out = append(out, &ir.Set{At: at, P: w.Place(), E: values[i]})
	}
	return out
}

// place is the variable that a part is.
func (sp *splitter) place(p *ir.Place) *ir.Place {
	if list := sp.parts[p.Root]; list != nil {
		i, _ := partOf(p)
		return list[i].Place()
	}
	return p
}

// whole puts the parts of a variable together where it is assigned to something else.
func (sp *splitter) whole(e ir.Expr) ir.Expr {
	l, ok := e.(*ir.Load)
	if !ok || sp.parts[l.P.Root] == nil || len(l.P.Path) > 0 {
		return e
	}
	out := &ir.Literal{Typed: l.Typed}
	for i, w := range sp.parts[l.P.Root] {
		out.Keys, out.Elems = append(out.Keys, i), append(out.Elems, ir.Expr(w.Load()))
	}
	return out
}

// values are the parts of e; nil ones are zero.
func (sp *splitter) values(m *ir.Map, e ir.Expr, list []*ir.Var) []ir.Expr {
	out := make([]ir.Expr, len(list))
	switch e := e.(type) {
	case *ir.Literal:
		for i, k := range e.Keys {
			out[k] = m.Of(e.Elems[i])
		}
	case *ir.Load:
		_, array := e.T.Underlying().(*types.Array)
		from := sp.parts[e.P.Root]
		for i, w := range list {
			if from != nil && len(e.P.Path) == 0 {
				out[i] = from[i].Load()
				continue
			}
			step := ir.FieldStep(i)
			if array {
				step = ir.IndexStep(index(i))
			}
			p := m.OfPlace(e.P)
			out[i] = &ir.Load{Typed: ir.Typed{T: w.Type}, P: &ir.Place{Root: p.Root, Path: append(p.Path[:len(p.Path):len(p.Path)], step)}}
		}
	}
	return out
}
