package lower

import (
	"go/ast"
	"go/types"
)

// callee is what a call calls, as far as the source says it.
type callee struct {
	kind  calleeKind
	fn    *types.Func
	targs []types.Type
	recv  *ast.SelectorExpr // of a method call x.M(…)
	path  []int             // from x to the embedded field that has the method
	known *dynamic          // what x is, if it is an interface
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
		return callee{why: [3]string{"call of field " + x.Sel.Name, "which function it holds is not known",
			remedyStatic}}
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
	var known *dynamic
	if types.IsInterface(t) {
		if known = l.dynamic(x.X); known != nil {
			t = known.t
		}
	}
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
		return callee{why: [3]string{"call of interface method " + x.Sel.Name,
			"which function it is depends on the value", "pass a concrete type, or make the function generic"}}
	}
	return callee{kind: declared, fn: fn.Origin(), targs: receiverArgs(t), recv: x, path: path, known: known}
}
