package lower

import (
	"go/ast"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// callee is what a call calls, as far as the source says it.
type callee struct {
	kind  calleeKind
	fn    *types.Func
	targs []types.Type
	recv  *ast.SelectorExpr // of a method call x.M(…)
	path  []int             // from x to the embedded field that has the method
	value *funcValue
	lit   *ast.FuncLit
	why   [3]string // of a refusal
}

type calleeKind uint8

const (
	unknownCallee calleeKind = iota
	conversion
	builtin
	declared
	valueCallee
	literalCallee
)

// callee finds what is called. It has no effects, so it may be asked twice.
func (l *lowerer) callee(call *ast.CallExpr) callee {
	fun := ast.Unparen(call.Fun)
	if l.info.Types[fun].IsType() {
		return callee{kind: conversion}
	}
	switch x := fun.(type) {
	case *ast.IndexExpr:
		if id := l.info.Types[x.X]; !id.IsValue() || isFuncType(id.Type) {
			fun = ast.Unparen(x.X)
		}
	case *ast.IndexListExpr:
		fun = ast.Unparen(x.X)
	}
	switch x := fun.(type) {
	case *ast.Ident:
		if _, ok := l.info.Uses[x].(*types.Builtin); ok {
			return callee{kind: builtin}
		}
		return l.named(x)
	case *ast.SelectorExpr:
		s := l.info.Selections[x]
		if s == nil {
			if _, ok := l.info.Uses[x.Sel].(*types.Builtin); ok {
				return callee{why: [3]string{"call of unsafe." + x.Sel.Name, "memory has no types there", "use slices and indices"}}
			}
			return l.named(x.Sel)
		}
		switch s.Kind() {
		case types.MethodVal:
			return l.method(x, s)
		case types.MethodExpr:
			if fn, targs := staticFunc(l.info, x); fn != nil {
				return callee{kind: declared, fn: fn, targs: l.substAll(targs)}
			}
			return callee{why: [3]string{"call of a method expression", "its receiver is converted", "call the method on the receiver"}}
		}
		return callee{why: [3]string{"call of field " + x.Sel.Name, "which function it holds is not known", remedyStatic}}
	case *ast.FuncLit:
		return callee{kind: literalCallee, lit: x}
	}
	return callee{why: [3]string{"call of a function value", "which function it is is not known", remedyStatic}}
}

func (l *lowerer) named(id *ast.Ident) callee {
	switch o := l.info.Uses[id].(type) {
	case *types.Func:
		c := callee{kind: declared, fn: o}
		if inst, ok := l.info.Instances[id]; ok {
			for i := range inst.TypeArgs.Len() {
				c.targs = append(c.targs, l.subst.of(inst.TypeArgs.At(i)))
			}
		}
		return c
	case *types.Var:
		if b := l.env[o]; b != nil && b.value != nil {
			return callee{kind: valueCallee, value: b.value}
		}
	}
	return callee{why: [3]string{"call of " + id.Name, "which function it holds is not known", remedyStatic}}
}

func (l *lowerer) substAll(ts []types.Type) []types.Type {
	out := make([]types.Type, len(ts))
	for i, t := range ts {
		out[i] = l.subst.of(t)
	}
	return out
}

// method finds the method that x.M calls.
func (l *lowerer) method(x *ast.SelectorExpr, s *types.Selection) callee {
	t := l.typeOf(x.X)
	o, index, _ := types.LookupFieldOrMethod(t, true, s.Obj().Pkg(), s.Obj().Name())
	fn, ok := o.(*types.Func)
	if !ok {
		return callee{why: [3]string{"call of method " + x.Sel.Name, "it is not found", ""}}
	}
	path := index[:len(index)-1]
	for _, i := range path {
		t = deref(t).Underlying().(*types.Struct).Field(i).Type()
	}
	if types.IsInterface(t) {
		return callee{why: [3]string{"call of interface method " + x.Sel.Name, "which function it is depends on the value", "pass a concrete type, or make the function generic"}}
	}
	return callee{kind: declared, fn: fn.Origin(), targs: receiverArgs(t), recv: x, path: path}
}

// plainCall is e as a call that becomes a statement.
func (l *lowerer) plainCall(e ast.Expr) (*ast.CallExpr, bool) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || l.info.Types[call].Value != nil {
		return nil, false
	}
	switch c := l.callee(call); c.kind {
	case conversion, builtin, unknownCallee:
		return nil, false
	case declared:
		if _, multi := l.info.TypeOf(call).(*types.Tuple); !multi && (isMath(c.fn) || isOpaque(c.fn)) {
			return nil, false
		}
	case valueCallee:
		if c.value.fn != nil && isMath(c.value.fn) {
			return nil, false
		}
	}
	return call, true
}

// callExpr is a call inside of an expression.
func (l *lowerer) callExpr(x *ast.CallExpr, t types.Type) ir.Expr {
	c := l.callee(x)
	fn := c.fn
	if c.kind == valueCallee {
		fn = c.value.fn
	}
	switch {
	case c.kind == conversion:
		return l.convert(x, t)
	case c.kind == builtin:
		return l.builtin(x, t)
	case fn != nil && isMath(fn):
		return l.math(x, fn, t)
	case fn != nil && isOpaque(fn):
		return l.opaqueCall(x, fn, t)
	}
	vs := l.callAll(x, "t")
	if len(vs) != 1 {
		return zero(t)
	}
	return loadVar(vs[0])
}

// callAll calls and puts all results into new variables; none if it is refused.
func (l *lowerer) callAll(e ast.Expr, name string) []*ir.Var {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		l.refuseTuple(e)
		return nil
	}
	var lets ir.Block
	var vs []*ir.Var
	add := func(t types.Type) {
		v := &ir.Var{Name: l.names.fresh(name), Type: l.subst.of(t), Pos: l.pos(call)}
		vs = append(vs, v)
		lets = append(lets, &ir.Let{At: l.at(call), V: v})
	}
	switch t := l.info.TypeOf(call).(type) {
	case *types.Tuple:
		for i := range t.Len() {
			add(t.At(i).Type())
		}
	default:
		add(t)
	}
	if !l.callWith(call, lets, vs) {
		return nil
	}
	return vs
}

// callInto calls and drops the results, or assigns them to variables that are declared.
func (l *lowerer) callInto(call *ast.CallExpr, results []*ir.Var) {
	if c := l.callee(call); c.kind == conversion || c.kind == declared && (isMath(c.fn) || isOpaque(c.fn)) {
		e := l.rvalue(call)
		if mayPanic(e) {
			l.temp(call, "unused", e.Type(), e)
		}
		return
	}
	if results == nil {
		n := 1
		if t, ok := l.info.TypeOf(call).(*types.Tuple); ok {
			n = t.Len()
		}
		results = make([]*ir.Var, n)
	}
	l.callWith(call, nil, results)
}

// callWith evaluates the operands of a call, declares variables for its results and
// calls. It is false if the call is refused.
func (l *lowerer) callWith(call *ast.CallExpr, lets ir.Block, results []*ir.Var) bool {
	c := l.callee(call)
	var to *ir.Callee
	var args []ir.Expr
	switch c.kind {
	case unknownCallee:
		l.refuse(call, c.why[0], c.why[1], c.why[2])
		return false
	case declared:
		to, args = l.callDeclared(call, c)
	case valueCallee:
		to, args = l.callValue(call, c.value)
	case literalCallee:
		if v := l.closure(c.lit, nil); v != nil {
			to, args = l.callValue(call, v)
		}
	default:
		l.refuse(call, "call", "its results are not used as values", "")
		return false
	}
	if to == nil {
		return false
	}
	for _, s := range lets {
		l.emit(s)
	}
	l.emit(&ir.Call{At: l.at(call), Results: results, Callee: to, Args: args})
	return true
}

// callDeclared finds the function that is called and its arguments.
func (l *lowerer) callDeclared(call *ast.CallExpr, c callee) (*ir.Callee, []ir.Expr) {
	fn := c.fn.Origin()
	var args []ir.Expr
	list := call.Args
	s := substitutionOf(fn, c.targs)
	sig := fn.Signature()
	if r := sig.Recv(); r != nil {
		var e ir.Expr
		if c.recv != nil {
			e = l.receiver(c.recv, c.path, s.of(r.Type()))
		} else if len(list) > 0 {
			e, list = l.coerce(l.expr(list[0]), s.of(r.Type()), list[0]), list[1:]
		}
		args = append(args, e)
	}
	if rule := l.p.opts.Rules[fn.FullName()]; rule != nil {
		rest, values := l.arguments(call, list, sig, s)
		for _, v := range values {
			if v != nil {
				l.refuse(call, "call of "+fn.FullName(), "it is known by a rule and cannot take functions", "")
				return nil, nil
			}
		}
		return &ir.Callee{Rule: rule}, append(args, rest...)
	}
	if isMath(fn) { // one with two results
		rest, _ := l.arguments(call, list, sig, s)
		return &ir.Callee{Rule: &ir.Rule{Name: "math." + fn.Name(), Object: fn}}, append(args, rest...)
	}
	d := l.p.decls[fn]
	if d == nil {
		l.noSource(call, fn)
		return nil, nil
	}
	rest, values := l.arguments(call, list, sig, s)
	return l.instance(call, d, c.targs, values, append(args, rest...))
}

// instance calls the copy of a declared function for function values.
func (l *lowerer) instance(call *ast.CallExpr, d *decl, targs []types.Type, values []*funcValue, args []ir.Expr) (*ir.Callee, []ir.Expr) {
	for i, v := range values {
		if v == nil && isFuncType(substitutionOf(d.fn, targs).of(d.fn.Signature().Params().At(i).Type())) {
			return nil, nil // refused
		}
		args = append(args, l.captured(v)...)
	}
	e := l.p.entry(d, targs, values)
	if e == nil {
		l.refuse(call, "call of "+d.fn.FullName(), "it would need ever new copies for ever new types or functions", "bound the recursion")
		return nil, nil
	}
	l.e.calls = append(l.e.calls, e)
	return &ir.Callee{Func: e.f}, args
}

func (l *lowerer) noSource(call *ast.CallExpr, fn *types.Func) {
	what := "call of " + fn.FullName()
	if fn.Pkg() == nil {
		l.refuse(call, what, "it has no source", remedyRule)
		return
	}
	switch fn.Pkg().Path() {
	case "reflect", "unsafe":
		l.refuse(call, what, "package "+fn.Pkg().Path()+" gets around types", "use the types themselves")
	case "math":
		l.refuse(call, what, "there is no rule for it", remedyRule)
	default:
		l.refuse(call, what, "its source is not here and there is no rule for it", remedyRule)
	}
}

// receiver is the first argument of a method call; & and * are put in as Go does.
func (l *lowerer) receiver(x *ast.SelectorExpr, path []int, want types.Type) ir.Expr {
	t := l.typeOf(x.X)
	p := l.place(x.X)
	if p == nil {
		return zero(want)
	}
	p, t = l.fields(p, t, path)
	_, have := t.Underlying().(*types.Pointer)
	need := isPointer(want)
	switch {
	case need && !have:
		return l.coerce(l.address(x, p), want, x)
	case have && !need:
		p = step(p, ir.DerefStep())
		t = t.Underlying().(*types.Pointer).Elem()
	}
	return l.coerce(load(p, t), want, x)
}

// arguments are those of a call, and the function values among them at their places.
func (l *lowerer) arguments(call *ast.CallExpr, list []ast.Expr, sig *types.Signature, s substitution) ([]ir.Expr, []*funcValue) {
	n := sig.Params().Len()
	param := func(i int) types.Type { return s.of(sig.Params().At(i).Type()) }
	var args []ir.Expr
	values := make([]*funcValue, n)
	var es []ir.Expr // of f(g()), where g has several results
	if len(list) == 1 {
		if _, ok := l.info.TypeOf(list[0]).(*types.Tuple); ok {
			for _, v := range l.callAll(list[0], "t") {
				es = append(es, loadVar(v))
			}
		}
	}
	if es == nil {
		for i, e := range list {
			if i < n && isFuncType(param(i)) {
				if values[i] = l.function(e); values[i] == nil {
					l.refuse(e, "function value", "which function it is is not known", remedyStatic)
				}
				es = append(es, nil)
				continue
			}
			es = append(es, l.expr(e))
		}
	}
	for i := range n {
		t := param(i)
		switch {
		case sig.Variadic() && i == n-1 && !call.Ellipsis.IsValid():
			args = append(args, l.rest(call, t, es[min(i, len(es)):]))
		case i < len(es) && es[i] != nil:
			args = append(args, l.coerce(es[i], t, call))
		}
	}
	return args, values
}

// rest is the slice that the last parameter of a variadic function is.
func (l *lowerer) rest(n ast.Node, t types.Type, es []ir.Expr) ir.Expr {
	if len(es) == 0 {
		return zero(t)
	}
	elem := t.Underlying().(*types.Slice).Elem()
	lit := &ir.Literal{Typed: ir.Typed{T: t}, Len: len(es)}
	for i, e := range es {
		if e == nil {
			e = zero(elem)
		}
		lit.Keys = append(lit.Keys, i)
		lit.Elems = append(lit.Elems, l.coerce(e, elem, n))
	}
	return l.own(n, lit)
}
