package lower

import (
	"go/ast"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Arguments of calls: receivers, function values, which specialise the callee and are replaced by
// their captured variables, interface values of known dynamic type, and variadic parameters.

// receiver returns the first argument of a method call, with the & or * that Go inserts. want is
// the type of the receiver parameter.
func (l *lowerer) receiver(c callee, want types.Type) ir.Expr {
	x := c.recv
	t := l.typeOf(x.X)
	var p *ir.Place
	if k := c.devirtualized; k != nil {
		t = k.t
		p = l.placeOf(x.X, k.value())
	} else {
		p = l.place(x.X)
	}
	if p == nil {
		return ir.Zero(want)
	}
	p, t = l.fields(p, t, c.path)
	_, have := t.Underlying().(*types.Pointer)
	// A value receiver of an addressable operand is addressed, a pointer is dereferenced for a
	// value receiver.
	need := isPointer(want)
	switch {
	case need && !have:
		return l.coerce(l.address(x, p), want, x)
	case have && !need:
		p = ir.Extend(p, ir.DerefStep())
		t = t.Underlying().(*types.Pointer).Elem()
	}
	return l.coerce(ir.LoadOf(p, t), want, x)
}

// arguments lowers the arguments of a call, in order of evaluation. It returns an expression for each parameter that is
// neither of function type nor a table of functions that is only read, and for each parameter the function, the table
// or the known dynamic type of its argument, nil if there is none of them.
func (l *lowerer) arguments(call *ast.CallExpr, list []ast.Expr, sig *types.Signature,
	s *substitution) ([]ir.Expr, []*funcValue) {
	n := sig.Params().Len()
	param := func(i int) types.Type { return s.apply(sig.Params().At(i).Type()) }
	table := func(i int) bool { return isFuncTable(param(i)) && l.p.readsTable(sig.Params().At(i)) }
	var args []ir.Expr
	values := make([]*funcValue, n)
	var es []ir.Expr // arguments of f(g()), if g has several results
	if len(list) == 1 {
		if _, ok := l.info.TypeOf(list[0]).(*types.Tuple); ok {
			for _, v := range l.callAll(list[0], "t") {
				es = append(es, v.Load())
			}
		}
	}
	if es == nil {
		for i, e := range list {
			if i == n-1 && sig.Variadic() && !call.Ellipsis.IsValid() && table(i) {
				values[i] = l.variadicTable(param(i), list[i:])
				break
			}
			if i < n && table(i) {
				if values[i] = l.tableValue(e); values[i] != nil {
					es = append(es, nil)
					continue
				}
			}
			// A function argument has no run-time value: the callee is specialised for it.
			if i < n && isFuncType(param(i)) {
				if values[i] = l.function(e); values[i] == nil {
					l.refuse(e, "function value", "the function is not known statically", remedyStatic)
				}
				es = append(es, nil)
				continue
			}
			if i < n && !(sig.Variadic() && i == n-1) && isDispatched(param(i)) && l.isChosen(e) {
				values[i] = l.copyDynamic(e, l.chosenValue(e))
				es = append(es, nil)
				continue
			}
			if k := l.devirtualizedArg(param, i, n, sig, e); k != nil {
				values[i] = &funcValue{dynamicType: k.t}
				es = append(es, l.materialize(e, k.value()))
				continue
			}
			es = append(es, l.expr(e))
		}
	}
	if sig.Variadic() && len(list) < n && table(n-1) {
		values[n-1] = newTable(tableElem(param(n-1)), nil)
	}
	for i := range n {
		t := param(i)
		if values[i] != nil && (values[i].table != nil || values[i].dynamic != nil) {
			continue
		}
		if values[i] != nil && values[i].dynamicType != nil {
			t = values[i].dynamicType
		}
		switch {
		case sig.Variadic() && i == n-1 && !call.Ellipsis.IsValid():
			args = append(args, l.variadicSlice(call, t, es[min(i, len(es)):]))
		case i < len(es) && es[i] != nil:
			args = append(args, l.coerce(es[i], t, call))
		}
	}
	return args, values
}

// variadicTable returns the functions passed for the last parameter of a variadic function, of type t.
func (l *lowerer) variadicTable(t types.Type, list []ast.Expr) *funcValue {
	var out []*funcValue
	for _, e := range list {
		v := l.function(e)
		if v == nil {
			l.refuse(e, "function value", "the function is not known statically", remedyStatic)
			v = &funcValue{null: true}
		}
		out = append(out, v)
	}
	return newTable(tableElem(t), out)
}

// variadicSlice returns the slice for the last parameter of a variadic function; nil for no
// arguments.
func (l *lowerer) variadicSlice(n ast.Node, t types.Type, es []ir.Expr) ir.Expr {
	if len(es) == 0 {
		return ir.Zero(t)
	}
	elem := t.Underlying().(*types.Slice).Elem()
	lit := &ir.Literal{Typed: ir.Typed{T: t}, Len: len(es)}
	for i, e := range es {
		if e == nil {
			e = ir.Zero(elem)
		}
		lit.Keys = append(lit.Keys, i)
		lit.Elems = append(lit.Elems, l.coerce(e, elem, n))
	}
	return l.materialize(n, lit)
}
