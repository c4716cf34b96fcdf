package lower

import (
	"go/ast"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// dynamic is an interface value whose type is known where it is used. It is handed on as a
// value of that type, so that its methods can be called.
type dynamic struct {
	t     types.Type
	value func() ir.Expr
}

// dynamic is the interface value that e stands for; nil where its type is not known. It
// has no effects.
func (l *lowerer) dynamic(e ast.Expr) *dynamic {
	e = ast.Unparen(e)
	t := l.typeOf(e)
	if t == types.Typ[types.Invalid] || l.info.Types[e].IsNil() {
		return nil
	}
	if !types.IsInterface(t) {
		return &dynamic{t, func() ir.Expr { return l.expr(e) }}
	}
	switch x := e.(type) {
	case *ast.Ident:
		o, ok := l.info.ObjectOf(x).(*types.Var)
		if !ok {
			return nil
		}
		if b := l.env[o]; b != nil {
			if b.dynamic == nil {
				return nil
			}
			return &dynamic{b.dynamic, func() ir.Expr { return load(b.place, b.dynamic) }}
		}
		return l.p.fixed(o)
	case *ast.SelectorExpr:
		if o, ok := l.info.Uses[x.Sel].(*types.Var); ok && l.info.Selections[x] == nil {
			return l.p.fixed(o)
		}
	case *ast.CallExpr:
		if l.info.Types[x.Fun].IsType() && len(x.Args) == 1 {
			return l.dynamic(x.Args[0])
		}
		if c := l.callee(x); c.kind == declared && len(x.Args) == 0 && c.recv == nil {
			return l.p.getter(c.fn)
		}
	}
	return nil
}

// fixed is what a package variable holds that [Options.Fixed] names. It has to be a value
// without any state: another one could change.
func (p *Program) fixed(o *types.Var) *dynamic {
	if o.Pkg() == nil || o.Parent() != o.Pkg().Scope() || !p.opts.Fixed[o.Pkg().Path()+"."+o.Name()] {
		return nil
	}
	t := p.initial[o]
	if t == nil {
		return nil
	}
	if s, ok := t.Underlying().(*types.Struct); !ok || s.NumFields() > 0 {
		return nil
	}
	return &dynamic{t, func() ir.Expr { return zero(t) }}
}

// getter is what a function returns that does nothing but to return a package variable.
func (p *Program) getter(fn *types.Func) *dynamic {
	d := p.decls[fn.Origin()]
	if d == nil || d.node.Body == nil || len(d.node.Body.List) != 1 || p.opts.Rules[fn.FullName()] != nil {
		return nil
	}
	r, ok := d.node.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(r.Results) != 1 {
		return nil
	}
	id, ok := ast.Unparen(r.Results[0]).(*ast.Ident)
	if !ok {
		return nil
	}
	o, ok := d.pkg.TypesInfo.Uses[id].(*types.Var)
	if !ok {
		return nil
	}
	return p.fixed(o)
}

// hasMethods says whether an interface is worth knowing the type of: one whose methods may
// be called. Errors are only passed on.
func hasMethods(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.NumMethods() > 0 && !types.Identical(t, types.Universe.Lookup("error").Type())
}

// bindDynamic binds a variable of interface type that is assigned once to a value of a
// type that is known. It is false for others.
func (l *lowerer) bindDynamic(n ast.Node, o types.Object, e ast.Expr) bool {
	if !hasMethods(l.subst.of(o.Type())) || l.facts.assigned[o] != 1 || l.facts.byReference(o) {
		return false
	}
	k := l.dynamic(e)
	if k == nil {
		return false
	}
	v := &ir.Var{Name: l.names.fresh(o.Name()), Type: k.t, Object: o, Pos: l.p.fset.Position(o.Pos())}
	l.emit(&ir.Let{At: l.at(n), V: v, E: l.coerce(k.value(), k.t, e)})
	l.env[o] = &binding{place: &ir.Place{Root: v}, dynamic: k.t}
	return true
}

// boxed is a variable whose type is known as the interface value it is in the source.
func (l *lowerer) boxed(id *ast.Ident) (ir.Expr, bool) {
	b := l.env[l.info.ObjectOf(id)]
	if b == nil || b.dynamic == nil {
		return nil, false
	}
	return &ir.Convert{Typed: ir.Typed{T: l.typeOf(id)}, X: load(b.place, b.dynamic)}, true
}

// compareDynamic is the comparison with nil of an interface value whose type is known: it
// has a type, so it is not nil.
func (l *lowerer) compareDynamic(x *ast.BinaryExpr) (ir.Expr, bool) {
	e, other := x.X, x.Y
	if l.info.Types[e].IsNil() {
		e, other = other, e
	}
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok || !l.info.Types[other].IsNil() {
		return nil, false
	}
	if b := l.env[l.info.ObjectOf(id)]; b == nil || b.dynamic == nil {
		return nil, false
	}
	return truth(x.Op.String() == "!="), true
}

// handed is the argument e for parameter i of n as a value of the type that it holds, if
// the parameter is an interface with methods.
func (l *lowerer) handed(param func(int) types.Type, i, n int, sig *types.Signature, e ast.Expr) *dynamic {
	if i >= n || sig.Variadic() && i == n-1 || !hasMethods(param(i)) {
		return nil
	}
	return l.dynamic(e)
}
