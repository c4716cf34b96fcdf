package lower

import (
	"go/ast"
	"go/constant"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Builtin functions. append, copy and clear become statements, min and max expressions; builtins on
// maps and channels are refused.

// truth returns a constant of type bool.
func truth(b bool) *ir.Const {
	return &ir.Const{Typed: ir.Typed{T: types.Typ[types.Bool]}, Val: constant.MakeBool(b)}
}

// integer returns a constant of the integer type t.
func integer(i int64, t types.Type) *ir.Const {
	return &ir.Const{Typed: ir.Typed{T: t}, Val: constant.MakeInt64(i)}
}

// isBuiltin reports whether a call is of the builtin with a name, unless that is shadowed.
func (l *lowerer) isBuiltin(call *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok || id.Name != name {
		return false
	}
	_, ok = l.info.Uses[id].(*types.Builtin)
	return ok
}

// builtinName returns the name of the builtin that a call calls.
func builtinName(call *ast.CallExpr) string {
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return "unsafe." + f.Sel.Name
	}
	return "?"
}

// builtinStmt lowers a call of a builtin as a statement, and reports whether call is one.
func (l *lowerer) builtinStmt(call *ast.CallExpr) bool {
	if l.callee(call).kind != builtin {
		return false
	}
	switch name := builtinName(call); name {
	case "panic":
		e := l.panicValue(call.Args[0])
		if len(l.deferred) > 0 && !isConst(e) {
			e = l.temp(call, "value", e.Type(), e).Load()
		}
		l.runDeferred(call)
		l.emit(&ir.Panic{At: l.at(call), E: e})
	case "copy":
		l.copy(call, nil)
	case "clear":
		t := l.typeOf(call.Args[0])
		if l.mapOf(call.Args[0]) != nil {
			l.mapCall(call, "MapClear", l.expr(call.Args[0]), nil)
			break
		}
		if !isSlice(t) {
			l.refuse(call, "clear of a map", "maps have no place for derivatives", "use a slice or a struct")
			break
		}
		l.emit(&ir.Clear{At: l.at(call), S: l.expr(call.Args[0])})
	case "delete":
		t := l.mapOf(call.Args[0])
		if t == nil {
			l.noBuiltin(call, name)
			break
		}
		m := l.expr(call.Args[0])
		l.mapCall(call, "MapDelete", m, []ir.Expr{l.coerce(l.expr(call.Args[1]), t.Key(), call.Args[1])})
	case "min", "max", ir.RealName, ir.ImagName, ir.ComplexName:
		l.expr(call)
	case "print", "println":
		l.printBuiltin(call, name)
	default:
		l.noBuiltin(call, name)
	}
	return true
}

// panicValue returns the operand of a panic.
func (l *lowerer) panicValue(e ast.Expr) ir.Expr { return l.materialize(e, l.rvalue(e)) }

// noBuiltin refuses a builtin that cannot be differentiated.
func (l *lowerer) noBuiltin(call *ast.CallExpr, name string) {
	switch name {
	case "recover":
		l.refuse(
			call,
			"recover",
			"functions that recover from panics are not supported",
			"test the condition before it panics",
		)
	case "delete", "close":
		l.refuse(call, name, "maps and channels have no place for derivatives", "use a slice or a struct")
	default:
		l.refuse(call, name, "it has no derivative", "")
	}
}

// spreadsResults reports whether the arguments of a call are the results of another one.
func (l *lowerer) spreadsResults(x *ast.CallExpr) bool {
	if len(x.Args) != 1 {
		return false
	}
	_, ok := l.info.TypeOf(x.Args[0]).(*types.Tuple)
	return ok
}

// refuseSpread refuses a builtin whose arguments are the results of one call.
func (l *lowerer) refuseSpread(x *ast.CallExpr) {
	l.refuse(x, builtinName(x)+" of the results of a call", "its operands are places, which results are not",
		"assign the results to variables first")
}

// builtinArguments lowers the arguments of a builtin, which may be the results of one call.
func (l *lowerer) builtinArguments(x *ast.CallExpr) (out []ir.Expr) {
	if l.spreadsResults(x) {
		for _, v := range l.callAll(x.Args[0], "t") {
			out = append(out, v.Load())
		}
		return out
	}
	for _, a := range x.Args {
		out = append(out, l.expr(a))
	}
	return out
}

// builtin lowers a call of a builtin within an expression. append and copy assign to a temporary.
func (l *lowerer) builtin(x *ast.CallExpr, t types.Type) ir.Expr {
	typed := ir.Typed{T: t}
	switch name := builtinName(x); name {
	case "len", "cap":
		return l.length(x, t, name == "cap")
	case "min", "max":
		m := &ir.Math{Typed: typed, Name: name}
		for _, e := range l.builtinArguments(x) {
			m.Args = append(m.Args, l.coerce(e, t, x))
		}
		return m
	case ir.RealName, ir.ImagName:
		return &ir.Math{Typed: typed, Name: name, Args: []ir.Expr{l.expr(x.Args[0])}}
	case ir.ComplexName:
		// An untyped constant takes the type of the other part.
		args := l.builtinArguments(x)
		if len(args) != 2 {
			return ir.Zero(t) // the call of which they are results is refused
		}
		re, im := args[0], args[1]
		part := re.Type()
		if ir.IsConst(re) {
			part = im.Type()
		}
		if !ir.IsFloat(part) {
			part = ir.PartType(t)
		}
		return &ir.Math{Typed: typed, Name: name, Args: []ir.Expr{l.coerce(re, part, x), l.coerce(im, part, x)}}
	case "make":
		if _, ok := t.Underlying().(*types.Map); ok {
			for _, a := range x.Args[1:] {
				l.expr(a)
			}
			return l.makeMap(x, t).Load()
		}
		if !isSlice(t) {
			return l.refuseExpr(x, "make of "+typeText(t), "maps and channels have no place for derivatives",
				"use a slice")
		}
		m := &ir.Make{Typed: typed, N: l.expr(x.Args[1])}
		if len(x.Args) > 2 {
			m.Cap = l.expr(x.Args[2])
		}
		return m
	case "new":
		if l.info.Types[x.Args[0]].IsType() {
			return &ir.New{Typed: typed}
		}
		elem := t.Underlying().(*types.Pointer).Elem()
		v := l.temp(x, "t", elem, l.coerce(l.rvalue(x.Args[0]), elem, x))
		return l.address(x, &ir.Place{Root: v})
	case "append":
		v := l.temp(x, "t", t, nil)
		l.appendTo(x, &ir.Place{Root: v})
		return v.Load()
	case "copy":
		v := l.temp(x, "n", types.Typ[types.Int], nil)
		l.copy(x, v)
		return v.Load()
	default:
		l.noBuiltin(x, name)
		return ir.Zero(t)
	}
}

// length lowers len or cap. The length of an array is a constant, but calls in its operand remain.
func (l *lowerer) length(x *ast.CallExpr, t types.Type, isCap bool) ir.Expr {
	xt := l.typeOf(x.Args[0])
	if v := l.tableValue(x.Args[0]); v != nil && !isCap {
		return integer(int64(len(v.captures)), t)
	}
	switch u := deref(xt).Underlying().(type) {
	case *types.Array:
		// Go evaluates the operand only for its calls.
		if _, ok := l.plainCall(x.Args[0]); ok {
			l.expr(x.Args[0])
		}
		return integer(u.Len(), t)
	case *types.Map:
		if vs := l.mapCall(x, "MapLen", l.expr(x.Args[0]), nil, t); vs != nil {
			return vs[0].Load()
		}
		return ir.Zero(t)
	case *types.Chan:
		return l.refuseExpr(x, "channel", "channels have no derivative", "pass values as arguments")
	}
	return &ir.Len{Typed: ir.Typed{T: t}, X: l.expr(x.Args[0]), Cap: isCap}
}

// appendTo emits p = append(…).
func (l *lowerer) appendTo(x *ast.CallExpr, p *ir.Place) {
	if l.spreadsResults(x) {
		l.refuseSpread(x)
		return
	}
	t := l.typeOf(x)
	st := &ir.Append{At: l.at(x), P: p, S: l.coerce(l.expr(x.Args[0]), t, x), Spread: x.Ellipsis.IsValid()}
	elem := t.Underlying().(*types.Slice).Elem()
	for _, e := range x.Args[1:] {
		v := l.expr(e)
		if st.Spread {
			if isZero(v) {
				v = ir.Zero(t)
			}
		} else {
			v = l.coerce(v, elem, e)
		}
		st.Elems = append(st.Elems, v)
	}
	l.emit(st)
}

// copy emits a copy that assigns the number of elements to n, if n is not nil.
func (l *lowerer) copy(x *ast.CallExpr, n *ir.Var) {
	if l.spreadsResults(x) {
		l.refuseSpread(x)
		return
	}
	dst, src := l.expr(x.Args[0]), l.expr(x.Args[1])
	if isZero(dst) || isZero(src) {
		src = l.coerce(src, dst.Type(), x)
	}
	l.emit(&ir.Copy{At: l.at(x), N: n, Dst: dst, Src: src})
}
