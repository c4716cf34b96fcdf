package simplify

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// choose finds the variables to take apart.
func (s *scalarizer) choose(f *ir.Func) {
	rejected := map[*ir.Var]bool{}
	u := usageOf(f.Body)
	checkPlace := func(p *ir.Place) { // that is read or written as a part
		if !hasConstantPath(p) {
			rejected[p.Root] = true
		}
	}
	// value is an expression in which an aggregate may not be used as a whole, except where
	// top is set, as that itself.
	var checkExpr func(e ir.Expr, whole bool)
	checkExpr = func(e ir.Expr, whole bool) {
		if whole {
			switch e := e.(type) {
			case *ir.Literal:
				for _, x := range e.Elems {
					checkExpr(x, true)
				}
				return
			case *ir.Convert:
				if isAggregate(e.T) && isAggregate(e.X.Type()) {
					checkExpr(e.X, true)
					return
				}
			}
		}
		ir.WalkExpr(e, func(x ir.Expr) bool {
			p := ir.PlaceOf(x)
			if p == nil {
				return true
			}
			checkPlace(p)
			if l, ok := x.(*ir.Load); ok && isAggregate(l.T) && !p.Indirect() && !(whole && x == e) {
				rejected[p.Root] = true
			}
			return true
		})
	}
	ir.Walk(f.Body, func(st ir.Stmt) bool {
		switch st := st.(type) {
		case *ir.Let:
			checkExpr(st.E, true)
			if !decomposable(st.E) {
				rejected[st.V] = true
			}
		case *ir.Set:
			checkExpr(st.E, true)
			if !decomposable(st.E) {
				rejected[st.P.Root] = true
			}
			for _, e := range st.P.Indices() {
				checkExpr(e, false)
			}
		default:
			for _, e := range ir.Exprs(st) {
				checkExpr(e, false)
			}
		}
		if p := ir.Target(st); p != nil {
			checkPlace(p)
			if _, set := st.(*ir.Set); !set && isAggregate(p.Type()) && !p.Indirect() {
				rejected[p.Root] = true
			}
		}
		visitDefined(st, func(v *ir.Var) {
			if _, let := st.(*ir.Let); !let {
				rejected[v] = true
			}
		})
		return true
	})
	for _, v := range ir.Vars(f) {
		if v.Kind != ir.Local && v.Kind != ir.Param || rejected[v] || u.addressed[v] || !isAggregate(v.Type) {
			continue
		}
		if v.Kind == ir.Param && u.reads[v] == 0 {
			continue
		}
		if n := countScalars(v.Type); n > 0 && n <= maxScalars && (s.pkg == nil || nameable(v.Type, s.pkg, nil)) {
			s.trees[v] = s.newTree(v.Name, v)
		}
	}
}

// separable reports whether e, if it is an array or a struct, can be taken apart.
func decomposable(e ir.Expr) bool {
	if e == nil || !isAggregate(e.Type()) {
		return true
	}
	switch e := e.(type) {
	case *ir.Load, *ir.Const:
		return true
	case *ir.Convert:
		return isAggregate(e.X.Type()) && decomposable(e.X)
	case *ir.Literal:
		for _, x := range e.Elems {
			if !decomposable(x) {
				return false
			}
		}
		return true
	}
	return false
}

// constantPath reports whether the indices of p into arrays of its variable itself are
// constants in range.
func hasConstantPath(p *ir.Place) bool {
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
func countScalars(t types.Type) int {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		n := 0
		for f := range u.Fields() {
			if f.Name() == "_" {
				return maxScalars + 1
			}
			n += countScalars(f.Type())
		}
		return n
	case *types.Array:
		if u.Len() > maxScalars {
			return maxScalars + 1
		}
		return int(u.Len()) * countScalars(u.Elem())
	}
	return 1
}
