package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/library"
)

// Devirtualization: interface values whose dynamic type is known statically are represented by
// values of that type, so that their method calls can be resolved. Dynamic types flow from
// conversions through variables assigned once and through parameters, which specialise the callee.

// A devirtualized is an interface value whose dynamic type t is known. value lowers it as a value
// of type t, with the side effects of evaluating the expression.
type devirtualized struct {
	t     types.Type
	value func() ir.Expr
}

// devirtualize returns the interface value that e denotes, or nil if its dynamic type is not known.
// It has no side effects until value is called. An e of a concrete type is known.
func (l *lowerer) devirtualize(e ast.Expr) *devirtualized {
	e = ast.Unparen(e)
	t := l.typeOf(e)
	if t == types.Typ[types.Invalid] || l.info.Types[e].IsNil() {
		return nil
	}
	if !types.IsInterface(t) {
		return &devirtualized{t, func() ir.Expr { return l.expr(e) }}
	}
	switch x := e.(type) {
	case *ast.Ident:
		o, ok := l.info.ObjectOf(x).(*types.Var)
		if !ok {
			return nil
		}
		if b := l.env[o]; b != nil {
			if b.dynamicType == nil {
				return nil
			}
			return &devirtualized{b.dynamicType, func() ir.Expr { return ir.LoadOf(b.place, b.dynamicType) }}
		}
		return l.p.fixedValue(o)
	case *ast.SelectorExpr:
		if o, ok := l.info.Uses[x.Sel].(*types.Var); ok && l.info.Selections[x] == nil {
			return l.p.fixedValue(o)
		}
	case *ast.TypeAssertExpr:
		if x.Type != nil {
			return l.asserted(x)
		}
	case *ast.CallExpr:
		if l.info.Types[x.Fun].IsType() && len(x.Args) == 1 {
			return l.devirtualize(x.Args[0])
		}
		if c := l.callee(x); c.kind == declared && len(x.Args) == 0 && c.recv == nil {
			if k := l.p.getter(c.fn); k != nil {
				return k
			}
		}
		if t := l.resultType(x); t != nil {
			return &devirtualized{t, func() ir.Expr { return l.callForType(x, t) }}
		}
	}
	return nil
}

// fixedValue returns the value of a package-level variable in [Options.NeverAssigned], or of one that holds an
// implementation of a library, or nil. Its type must have no fields: the state of others could change.
func (p *Program) fixedValue(o *types.Var) *devirtualized {
	if !isGlobal(o) {
		return nil
	}
	if name := o.Pkg().Path() + "." + o.Name(); !p.opts.NeverAssigned[name] && !library.Implementation(name) {
		return nil
	}
	t := p.initial[o]
	if t == nil {
		return nil
	}
	// Only a value without state is certain to be the same at run time.
	if s, ok := t.Underlying().(*types.Struct); !ok || s.NumFields() > 0 {
		return nil
	}
	return &devirtualized{t, func() ir.Expr { return ir.Zero(t) }}
}

// getter returns the value of a function that only returns a package-level variable that fixedValue knows.
func (p *Program) getter(fn *types.Func) *devirtualized {
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
	return p.fixedValue(o)
}

// isDispatched reports whether the dynamic type of values of type t is of use: t is an interface type, whose methods
// may be called or whose type may be tested. Errors do not count, as they are only passed on.
func isDispatched(t types.Type) bool {
	return types.IsInterface(t) && !types.Identical(t, types.Universe.Lookup("error").Type())
}

// bindDynamic lowers the declaration of an interface variable that is assigned once, to a value of
// known dynamic type, and reports whether o is one.
func (l *lowerer) bindDynamic(n ast.Node, o types.Object, e ast.Expr) bool {
	if !isDispatched(l.subst.apply(o.Type())) || l.facts.assigned[o] != 1 || l.facts.byReference(o) {
		return false
	}
	k := l.devirtualize(e)
	if k == nil {
		return false
	}
	v := &ir.Var{Name: l.names.fresh(o.Name()), Type: k.t, Object: o, Pos: l.p.fset.Position(o.Pos())}
	l.emit(&ir.Let{At: l.at(n), V: v, E: l.coerce(k.value(), k.t, e)})
	l.env[o] = &binding{place: &ir.Place{Root: v}, dynamicType: k.t}
	return true
}

// boxed returns a devirtualized variable as the interface value that it is in the source.
func (l *lowerer) boxed(id *ast.Ident) (ir.Expr, bool) {
	b := l.env[l.info.ObjectOf(id)]
	if b != nil && b.value != nil && isDispatched(l.typeOf(id)) {
		return l.interfaceValue(id, b.value, l.typeOf(id)), true
	}
	if b == nil || b.dynamicType == nil {
		return nil, false
	}
	return &ir.Convert{Typed: ir.Typed{T: l.typeOf(id)}, X: ir.LoadOf(b.place, b.dynamicType)}, true
}

// compareDynamic lowers the comparison of a devirtualized variable with nil: it has a type, so it
// is not nil.
func (l *lowerer) compareDynamic(x *ast.BinaryExpr) (ir.Expr, bool) {
	e, other := x.X, x.Y
	if l.info.Types[e].IsNil() {
		e, other = other, e
	}
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok || !l.info.Types[other].IsNil() {
		return nil, false
	}
	b := l.env[l.info.ObjectOf(id)]
	if b != nil && b.value != nil && isDispatched(l.typeOf(id)) {
		null := l.isNull(b.value)
		if x.Op.String() != "!=" {
			return null, true
		}
		if c, ok := null.(*ir.Const); ok {
			return truth(!isTrue(c)), true
		}
		return &ir.Unary{Typed: boolean, Op: token.NOT, X: null}, true
	}
	if b == nil || b.dynamicType == nil {
		return nil, false
	}
	return truth(x.Op.String() == "!="), true
}

// devirtualizedArg returns the argument e for parameter i of n as a value of its dynamic type, if
// the parameter is an interface with methods, or nil.
func (l *lowerer) devirtualizedArg(
	param func(int) types.Type, i, n int, sig *types.Signature, e ast.Expr,
) *devirtualized {
	if i >= n || sig.Variadic() && i == n-1 || !isDispatched(param(i)) {
		return nil
	}
	return l.devirtualize(e)
}
