package lower

import (
	"go/ast"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Places: variables, fields, elements and targets of pointers, as operands and as targets of
// assignments.

// lvalue returns the place of the target of an assignment; nil for the blank identifier and for
// targets that are refused.
func (l *lowerer) lvalue(e ast.Expr) *ir.Place {
	if isBlank(e) {
		return nil
	}
	if x, ok := ast.Unparen(e).(*ast.IndexExpr); ok {
		if _, ok := l.typeOf(x.X).Underlying().(*types.Map); ok {
			l.refuse(e, "write to a map", "maps have no place for derivatives", "use a slice or a struct")
			return nil
		}
	}
	if id := identOf(e); id != nil {
		if b := l.env[l.info.ObjectOf(id)]; b != nil && b.place == nil {
			l.refuse(e, "assignment to "+id.Name, "it is one of several known values",
				"assign to it in a statement of its own, or use another variable")
			return nil
		}
	}
	return l.place(e)
}

// place returns the place that e denotes. A value that has none is assigned to a temporary. It
// returns nil if e is refused.
func (l *lowerer) place(e ast.Expr) *ir.Place {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		if p, ok := l.variable(x); ok {
			return p
		}
	case *ast.SelectorExpr:
		return l.selected(x)
	case *ast.StarExpr:
		p := l.place(x.X)
		if p == nil {
			return nil
		}
		return ir.Extend(p, ir.DerefStep())
	case *ast.IndexExpr:
		t := l.typeOf(x.X)
		_, pointer := t.Underlying().(*types.Pointer)
		switch deref(t).Underlying().(type) {
		case *types.Array, *types.Slice, *types.Basic:
			p := l.place(x.X)
			i := l.expr(x.Index)
			if p == nil {
				return nil
			}
			if pointer {
				p = ir.Extend(p, ir.DerefStep())
			}
			return ir.Extend(p, ir.IndexStep(i))
		}
	}
	return l.placeOf(e, l.expr(e))
}

// placeOf returns the place that v reads, or that of a new temporary for it.
func (l *lowerer) placeOf(n ast.Node, v ir.Expr) *ir.Place {
	if c, ok := v.(*ir.Load); ok {
		return c.P
	}
	return &ir.Place{Root: l.temp(n, "t", v.Type(), v)}
}

// variable returns the place of a variable and reports whether it has one: variables of function
// type and devirtualized ones do not.
func (l *lowerer) variable(id *ast.Ident) (*ir.Place, bool) {
	o, ok := l.info.ObjectOf(id).(*types.Var)
	if !ok {
		return nil, false
	}
	if b := l.env[o]; b != nil {
		if b.place == nil || b.dynamicType != nil {
			return nil, false
		}
		return b.place, true
	}
	if isGlobal(o) {
		return &ir.Place{Root: l.packageVar(id, o)}, true
	}
	return nil, false
}

// selected returns the place of x.f, also for a promoted field.
func (l *lowerer) selected(x *ast.SelectorExpr) *ir.Place {
	s := l.info.Selections[x]
	if s == nil { // a qualified identifier
		if p, ok := l.variable(x.Sel); ok {
			return p
		}
		v := l.expr(x)
		return &ir.Place{Root: l.temp(x, "t", v.Type(), v)}
	}
	if s.Kind() != types.FieldVal {
		v := l.expr(x)
		return &ir.Place{Root: l.temp(x, "t", v.Type(), v)}
	}
	p := l.place(x.X)
	if p == nil {
		return nil
	}
	p, _ = l.fields(p, l.typeOf(x.X), l.path(s, l.typeOf(x.X)))
	return p
}

// path returns the field indices of a selection. In a generic function those of the type argument
// may differ from those of its constraint.
func (l *lowerer) path(s *types.Selection, recv types.Type) []int {
	if l.subst == nil {
		return s.Index()
	}
	_, index, _ := types.LookupFieldOrMethod(recv, true, s.Obj().Pkg(), s.Obj().Name())
	if index == nil {
		return s.Index()
	}
	return index
}

// fields extends p, of type t, by fields and dereferences of the pointers between them.
func (l *lowerer) fields(p *ir.Place, t types.Type, index []int) (*ir.Place, types.Type) {
	for _, i := range index {
		if ptr, ok := t.Underlying().(*types.Pointer); ok {
			p, t = ir.Extend(p, ir.DerefStep()), ptr.Elem()
		}
		p, t = ir.Extend(p, ir.FieldStep(i)), t.Underlying().(*types.Struct).Field(i).Type()
	}
	return p, t
}

// address returns &p, also of a package-level variable: writtenGlobals finds writes through the pointer. It marks the
// root as addressed if p is a part of it.
func (l *lowerer) address(n ast.Node, p *ir.Place) ir.Expr {
	t, memory := placeType(p, nil)
	if k := len(p.Path); k > 0 && p.Path[k-1].IsDeref() {
		// &*p is p.
		q := &ir.Place{Root: p.Root, Path: p.Path[:k-1]}
		qt, _ := placeType(q, nil)
		if types.Identical(qt, types.NewPointer(t)) {
			return ir.LoadOf(q, qt)
		}
	}
	if !memory {
		l.addressed[p.Root] = true
	}
	return &ir.Addr{Typed: ir.Typed{T: types.NewPointer(t)}, P: p}
}
