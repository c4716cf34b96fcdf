package lower

import (
	"go/ast"
	"go/types"
)

// Resolution of calls: which function a call expression calls, without side effects on the
// lowering.

// A callee is the resolved target of a call, as far as the source determines it. The fields that
// are set depend on kind.
type callee struct {
	kind          calleeKind
	fn            *types.Func
	targs         []types.Type
	recv          *ast.SelectorExpr // x.M of a method call
	path          []int             // field indices from x to the embedded field that declares the method
	devirtualized *devirtualized    // x as a value of its dynamic type, if x is an interface
	value         *funcValue
	lit           *ast.FuncLit
	iface         types.Type // type of the operand of a dispatched call, which fn is a method of
	chosen        bool       // x is an interface value among known ones
	given         *operands  // arguments that are evaluated already
	result        types.Type // dynamic type of the only result that it returns, nil for the declared one
	why           [3]string  // what, reason and remedy of the refusal of an unknownCallee
}

// A calleeKind is the kind of a resolved call: a conversion, a builtin, a declared function or
// method, a function value that is known, a function literal, or a method of an interface.
type calleeKind uint8

// The kinds of resolved calls.
const (
	unknownCallee calleeKind = iota
	conversion
	builtin
	declared
	valueCallee
	literalCallee
	operandCallee // function that an expression other than a name denotes
	dispatched    // method of an interface value of unknown dynamic type
)

// callee resolves a call. It has no side effects, so it may be called more than once.
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
				return callee{why: [3]string{"call of unsafe." + x.Sel.Name, "memory has no types there",
					"use slices and indices"}}
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
			return callee{why: [3]string{"call of a method expression", "its receiver is converted",
				"call the method on the receiver"}}
		}
		return callee{kind: operandCallee, why: [3]string{"call of field " + x.Sel.Name,
			"which function it holds is not known", remedyStatic}}
	case *ast.FuncLit:
		return callee{kind: literalCallee, lit: x}
	}
	return callee{kind: operandCallee,
		why: [3]string{"call of a function value", "the function is not known statically", remedyStatic}}
}

// named resolves a call of an identifier: a declared function, or a variable bound to a function
// value.
func (l *lowerer) named(id *ast.Ident) callee {
	switch o := l.info.Uses[id].(type) {
	case *types.Func:
		c := callee{kind: declared, fn: o}
		if inst, ok := l.info.Instances[id]; ok {
			for i := range inst.TypeArgs.Len() {
				c.targs = append(c.targs, l.subst.apply(inst.TypeArgs.At(i)))
			}
		}
		return c
	case *types.Var:
		if b := l.env[o]; b != nil && b.value != nil {
			return callee{kind: valueCallee, value: b.value}
		}
	}
	return callee{kind: operandCallee,
		why: [3]string{"call of " + id.Name, "which function it holds is not known", remedyStatic}}
}

// substAll applies the current substitution to each type.
func (l *lowerer) substAll(ts []types.Type) []types.Type {
	out := make([]types.Type, len(ts))
	for i, t := range ts {
		out[i] = l.subst.apply(t)
	}
	return out
}

// method resolves the call x.M, also if the method is promoted from an embedded field, or if x is
// an interface whose dynamic type is known.
func (l *lowerer) method(x *ast.SelectorExpr, s *types.Selection) callee {
	t := l.typeOf(x.X)
	var known *devirtualized
	if types.IsInterface(t) {
		if known = l.devirtualize(x.X); known != nil {
			t = known.t
		} else if l.isChosen(x.X) {
			if fn, ok := s.Obj().(*types.Func); ok {
				return callee{kind: dispatched, fn: fn, recv: x, chosen: true}
			}
		}
	}
	return l.methodOf(x, t, s.Obj(), known)
}

// methodOf resolves the call x.M for a method M of type t, that of the value known if it is not nil.
func (l *lowerer) methodOf(x *ast.SelectorExpr, t types.Type, m types.Object, known *devirtualized) callee {
	o, index, _ := types.LookupFieldOrMethod(t, true, m.Pkg(), m.Name())
	fn, ok := o.(*types.Func)
	if !ok {
		return callee{why: [3]string{"call of method " + x.Sel.Name, "it is not found", ""}}
	}
	path := index[:len(index)-1]
	for _, i := range path {
		t = deref(t).Underlying().(*types.Struct).Field(i).Type()
	}
	c := callee{kind: declared, fn: fn, recv: x, path: path, devirtualized: known}
	if types.IsInterface(t) {
		if isErrorText(fn) {
			return callee{kind: declared, fn: fn, recv: x, path: path}
		}
		if len(l.p.dynamicTypes(t)) == 0 {
			return callee{why: [3]string{"call of interface method " + x.Sel.Name,
				"which function it is depends on the value, and " + l.p.noDynamicTypes(t),
				"pass a concrete type, or make the function generic"}}
		}
		c.kind, c.iface = dispatched, t
		return c
	}
	c.fn, c.targs = fn.Origin(), receiverArgs(t)
	return c
}
