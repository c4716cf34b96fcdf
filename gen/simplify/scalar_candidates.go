package simplify

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// choose fills s.trees with the variables of f that can be replaced by scalars. A variable is rejected if its address
// is taken, if an index into it is not a constant in range, or if it is used as a whole other than in copies and
// literals: as an argument, a result of a call, an operand of a comparison. Unused parameters are left alone.
func (s *scalarizer) choose(f *ir.Func) {
	rejected := map[*ir.Var]bool{}
	u := usageOf(f.Body)
	checkPlace := func(p *ir.Place) { // a part of p.Root is read or written
		if !hasConstantPath(p) {
			rejected[p.Root] = true
		}
	}
	// checkExpr rejects variables that e uses as a whole aggregate. If whole is set, e is the value of a declaration or
	// an assignment, in which an aggregate may be copied and literals may contain others.
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
			// An index may read a part of an aggregate.
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
			// Appending or adding to a whole aggregate cannot be split.
			if _, set := st.(*ir.Set); !set && isAggregate(p.Type()) && !p.Indirect() {
				rejected[p.Root] = true
			}
		}
		// Results of calls arrive as whole values.
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
		// Copying a parameter that is not read would be wasted.
		if v.Kind == ir.Param && u.reads[v] == 0 {
			continue
		}
		if n := countScalars(v.Type); n > 0 && n <= maxScalars && (s.pkg == nil || nameable(v.Type, s.pkg, nil)) {
			s.trees[v] = s.newTree(v.Name, v)
		}
	}
}

// decomposable reports whether e, if it is an aggregate, can be split into values of its scalars: it is a load, a zero,
// or a literal or conversion of such values.
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

// hasConstantPath reports whether all indices on the direct part of the path of p, before the first reference, are
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

// countScalars returns the number of scalars of a value of type t, or more than maxScalars if it has a blank field,
// which no path can name.
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
