package simplify

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// choose finds the variables to take apart.
func (s *splitter) choose(f *ir.Func) {
	bad := map[*ir.Var]bool{}
	u := usageOf(f.Body)
	place := func(p *ir.Place) { // that is read or written as a part
		if !constantPath(p) {
			bad[p.Root] = true
		}
	}
	// value is an expression in which an aggregate may not be used as a whole, except where
	// top is set, as that itself.
	var value func(e ir.Expr, top bool)
	value = func(e ir.Expr, top bool) {
		if top {
			switch e := e.(type) {
			case *ir.Literal:
				for _, x := range e.Elems {
					value(x, true)
				}
				return
			case *ir.Convert:
				if isAggregate(e.T) && isAggregate(e.X.Type()) {
					value(e.X, true)
					return
				}
			}
		}
		ir.WalkExpr(e, func(x ir.Expr) bool {
			p := ir.PlaceOf(x)
			if p == nil {
				return true
			}
			place(p)
			if l, ok := x.(*ir.Load); ok && isAggregate(l.T) && !p.Indirect() && !(top && x == e) {
				bad[p.Root] = true
			}
			return true
		})
	}
	ir.Walk(f.Body, func(st ir.Stmt) bool {
		switch st := st.(type) {
		case *ir.Let:
			value(st.E, true)
			if !separable(st.E) {
				bad[st.V] = true
			}
		case *ir.Set:
			value(st.E, true)
			if !separable(st.E) {
				bad[st.P.Root] = true
			}
			for _, e := range st.P.Indices() {
				value(e, false)
			}
		default:
			for _, e := range ir.Exprs(st) {
				value(e, false)
			}
		}
		if p := ir.Target(st); p != nil {
			place(p)
			if _, set := st.(*ir.Set); !set && isAggregate(p.Type()) && !p.Indirect() {
				bad[p.Root] = true
			}
		}
		declares(st, func(v *ir.Var) {
			if _, let := st.(*ir.Let); !let {
				bad[v] = true
			}
		})
		return true
	})
	for _, v := range ir.Vars(f) {
		if v.Kind != ir.Local && v.Kind != ir.Param || bad[v] || u.addressed[v] || !isAggregate(v.Type) {
			continue
		}
		if v.Kind == ir.Param && u.reads[v] == 0 {
			continue
		}
		if n := count(v.Type); n > 0 && n <= mostParts && (s.pkg == nil || nameable(v.Type, s.pkg, nil)) {
			s.parts[v] = s.part(v.Name, v)
		}
	}
}

// separable reports whether e, if it is an array or a struct, can be taken apart.
func separable(e ir.Expr) bool {
	if e == nil || !isAggregate(e.Type()) {
		return true
	}
	switch e := e.(type) {
	case *ir.Load, *ir.Const:
		return true
	case *ir.Convert:
		return isAggregate(e.X.Type()) && separable(e.X)
	case *ir.Literal:
		for _, x := range e.Elems {
			if !separable(x) {
				return false
			}
		}
		return true
	}
	return false
}

// constantPath reports whether the indices of p into arrays of its variable itself are
// constants in range.
func constantPath(p *ir.Place) bool {
	for i, st := range p.Path {
		q := &ir.Place{Root: p.Root, Path: p.Path[:i]}
		if q.Indirect() {
			return true
		}
		if t, ok := q.Type().Underlying().(*types.Array); ok {
			if k, ok := constInt(st.Index); !ok || k < 0 || k >= t.Len() {
				return false
			}
		}
	}
	return true
}

// count is the number of parts of a value of type t, more than most where a field has no
// name.
func count(t types.Type) int {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		n := 0
		for f := range u.Fields() {
			if f.Name() == "_" {
				return mostParts + 1
			}
			n += count(f.Type())
		}
		return n
	case *types.Array:
		if u.Len() > mostParts {
			return mostParts + 1
		}
		return int(u.Len()) * count(u.Elem())
	}
	return 1
}
