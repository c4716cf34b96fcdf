package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Interface values whose dynamic type is only known at run time, such as fields and elements of slices. Type switches
// and assertions become tests of the type. A method call has a case for each dynamic type (dynamictypes.go), in which
// the method is known; other types panic with an error that engines return.

// operands are the arguments of a call in the form that [lowerer.arguments] returns.
type operands struct {
	args   []ir.Expr
	values []*funcValue
}

// operands returns the arguments of a call: those that are given, or newly lowered ones.
func (l *lowerer) operands(c callee, call *ast.CallExpr, list []ast.Expr, sig *types.Signature,
	s *substitution) ([]ir.Expr, []*funcValue) {
	if c.given != nil {
		return slices.Clone(c.given.args), c.given.values
	}
	return l.arguments(call, list, sig, s)
}

// boolean is the type of conditions.
var boolean = ir.Typed{T: types.Typ[types.Bool]}

// assertion returns the interface value in v as a value of type t.
func assertionOf(v *ir.Var, t types.Type) ir.Expr {
	return &ir.Convert{Typed: ir.Typed{T: t}, X: v.Load()}
}

// isOf returns whether the interface value in v has type t.
func isOf(v *ir.Var, t types.Type) ir.Expr {
	return &ir.TypeTest{Typed: boolean, X: v.Load(), Of: t}
}

// dispatch emits the call of a method of an interface value, with the declarations lets of its results before the
// cases. It reports whether that was possible.
func (l *lowerer) dispatch(call *ast.CallExpr, c callee, lets ir.Block, results []*ir.Var) bool {
	if c.chosen {
		return l.dispatchChosen(call, c, lets, results)
	}
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
		return false
	}
	p, t = l.fields(p, t, c.path)
	v := l.temp(x, "dyn", t, ir.LoadOf(p, t))
	if c.given == nil {
		args, values := l.arguments(call, call.Args, c.fn.Signature(), l.subst)
		for i, e := range args {
			// Every case refers to the arguments.
			if k, ok := e.(*ir.Load); !ir.IsConst(e) && !(ok && len(k.P.Path) == 0) {
				args[i] = l.temp(call, "arg", e.Type(), e).Load()
			}
		}
		c.given = &operands{args, values}
	}
	for _, s := range lets {
		l.emit(s)
	}
	l.dispatchOn(call, c, v, results)
	return true
}

// dispatchOn emits the cases of a call with given arguments of a method of v.
func (l *lowerer) dispatchOn(call *ast.CallExpr, c callee, v *ir.Var, results []*ir.Var) {
	l.cases(call, v, l.p.dynamicTypes(v.Type), func(u types.Type) {
		k := &devirtualized{u, func() ir.Expr { return l.temp(call, "dyn", u, assertionOf(v, u)).Load() }}
		in := l.methodOf(c.recv, u, c.fn, k)
		in.given = c.given
		switch in.kind {
		case dispatched:
			if e := l.promoted(call, in, u); e != nil {
				l.e.calls = append(l.e.calls, callSite{e, l.pos(call)})
				l.emit(&ir.Call{At: l.at(call), Results: results, Callee: &ir.Callee{Func: e.f},
					Args: append([]ir.Expr{k.value()}, c.given.args...)})
			}
		case declared:
			if to, args := l.callDeclared(call, in); to != nil {
				l.emit(&ir.Call{At: l.at(call), Results: results, Callee: to, Args: args})
			}
		default:
			l.refuse(call, in.why[0], in.why[1], in.why[2])
		}
	})
}

// promoted returns the method c of type t that is promoted from an embedded interface, as the function that Go makes of
// it: a call of the method of the embedded value, which may be of type t again.
func (l *lowerer) promoted(call *ast.CallExpr, c callee, t types.Type) *specialization {
	for _, v := range c.given.values {
		if v != nil {
			l.refuse(call, "call of method "+c.fn.Name()+" of "+typeText(t)+" with a function or an interface value",
				"the method is promoted from an embedded interface", "write the method")
			return nil
		}
	}
	key := "promoted " + l.p.typeKey(t) + "." + c.fn.Name()
	if e := l.p.specializations[key]; e != nil {
		return e
	}
	f := l.p.function(l.d.fn.Pkg(), mangle(typeText(t))+"_"+c.fn.Name(), l.pos(call))
	e := &specialization{f: f, foreign: !l.d.canGenerate}
	l.p.specializations[key] = e
	in := l.p.lowerer(e, l.d, l.subst)
	variable := func(o *types.Var, name string, t types.Type, kind ir.VarKind) *ir.Var {
		if o != nil && o.Name() != "" && o.Name() != "_" {
			name = o.Name()
		}
		return &ir.Var{Name: in.names.fresh(name), Type: t, Kind: kind, Pos: l.pos(call)}
	}
	recv := variable(nil, "recv", t, ir.Param)
	in.f.Params = append(in.f.Params, recv)
	sig := c.fn.Signature()
	given := &operands{values: c.given.values}
	for o := range sig.Params().Variables() {
		v := variable(o, "p", l.subst.apply(o.Type()), ir.Param)
		in.f.Params = append(in.f.Params, v)
		given.args = append(given.args, v.Load())
	}
	for o := range sig.Results().Variables() {
		in.f.Results = append(in.f.Results, variable(o, "r", l.subst.apply(o.Type()), ir.Result))
	}
	in.f.Exit = &ir.Label{Name: in.names.fresh("exit")}
	in.exit, in.results, in.out = target{in.f.Exit, 0}, in.f.Results, &in.f.Body
	c.given = given
	p, u := in.fields(recv.Place(), t, c.path)
	in.dispatchOn(call, c, in.temp(call, "dyn", u, ir.LoadOf(p, u)), in.f.Results)
	l.p.done[e.f] = true
	return e
}

// cases emits a test of v for each of the types, and do where it succeeds. If none does, the function panics.
func (l *lowerer) cases(n ast.Node, v *ir.Var, list []types.Type, do func(t types.Type)) {
	if len(list) == 0 {
		name := &ir.Const{Typed: ir.Typed{T: types.Typ[types.String]}, Val: constant.MakeString(typeText(v.Type))}
		l.emit(&ir.Panic{At: l.at(n), E: &ir.Opaque{Typed: ir.Typed{T: types.Universe.Lookup("error").Type()},
			Format: ir.UnknownTypeCall, Args: []ir.Expr{v.Load(), name}}})
		return
	}
	st := &ir.If{At: l.at(n), Cond: isOf(v, list[0])}
	st.Then = l.block(func() { do(list[0]) })
	st.Else = l.block(func() { l.cases(n, v, list[1:], do) })
	l.emit(st)
}

// testedSwitch lowers a type switch with operand x, whose dynamic type is not known.
func (l *lowerer) testedSwitch(s *ast.TypeSwitchStmt, label string, x ast.Expr, symbol *ast.Ident) {
	e := l.expr(x)
	if isZero(e) {
		e = ir.Zero(l.typeOf(x))
	}
	v := l.temp(s, "dyn", l.typeOf(x), e)
	var clauses []*ast.CaseClause
	var other *ast.CaseClause
	for _, c := range s.Body.List {
		if c := c.(*ast.CaseClause); c.List == nil {
			other = c
		} else {
			clauses = append(clauses, c)
		}
	}
	body := func(c *ast.CaseClause) {
		if o := l.info.Implicits[c]; symbol != nil && o != nil {
			w := l.local(o)
			value := ir.Expr(v.Load())
			if !types.Identical(w.Type, v.Type) {
				value = assertionOf(v, w.Type)
			}
			l.emit(&ir.Let{At: l.at(c), V: w, E: value})
			l.bind(o, w)
		}
		l.stmts(c.Body)
	}
	var chain func(i int)
	chain = func(i int) {
		if i == len(clauses) {
			if other != nil {
				body(other)
			}
			return
		}
		c := clauses[i]
		var cond ir.Expr
		for _, e := range c.List {
			var test ir.Expr
			if l.info.Types[e].IsNil() {
				test = &ir.Binary{Typed: boolean, Op: token.EQL, X: v.Load(), Y: ir.Zero(v.Type)}
			} else {
				test = l.testOf(v, l.typeOf(e))
			}
			if cond == nil {
				cond = test
			} else {
				cond = &ir.Binary{Typed: boolean, Op: token.LOR, X: cond, Y: test}
			}
		}
		st := &ir.If{At: l.at(c), Cond: cond, Then: l.block(func() { body(c) })}
		st.Else = l.block(func() { chain(i + 1) })
		l.emit(st)
	}
	l.breakable(s, label, func() { chain(0) })
}

// testOf returns whether v has type t. A type argument that does not have the methods of the interface is never the
// type of a value.
func (l *lowerer) testOf(v *ir.Var, t types.Type) ir.Expr {
	if !types.IsInterface(t) && !types.Implements(t, v.Type.Underlying().(*types.Interface)) {
		return truth(false)
	}
	return isOf(v, t)
}

// testedAssertion lowers x.(T), of type t, for an x whose dynamic type is not known.
func (l *lowerer) testedAssertion(x *ast.TypeAssertExpr, t types.Type) ir.Expr {
	e := l.expr(x.X)
	if isZero(e) || !types.IsInterface(e.Type()) {
		return l.refuseExpr(x, "type assertion", "its operand is no interface value", "pass a concrete type")
	}
	v := l.temp(x, "dyn", e.Type(), e)
	return l.temp(x, "t", t, assertionOf(v, t)).Load()
}

// testedTuple lowers v, ok = x.(T) for an x whose dynamic type is not known. It reports whether that was possible.
func (l *lowerer) testedTuple(n ast.Node, lhs []ast.Expr, x *ast.TypeAssertExpr, define bool) bool {
	e := l.expr(x.X)
	if isZero(e) || !types.IsInterface(e.Type()) {
		return false
	}
	t := l.typeOf(x.Type)
	v := l.temp(x, "dyn", e.Type(), e)
	ok := l.temp(x, "ok", types.Typ[types.Bool], l.testOf(v, t))
	value := l.temp(x, "t", t, nil)
	l.emit(&ir.If{At: l.at(n), Cond: ok.Load(),
		Then: ir.Block{&ir.Set{At: l.at(n), P: value.Place(), E: assertionOf(v, t)}}})
	l.assignAsserted(n, lhs, value, define)
	switch o := l.newVar(lhs[1], define); {
	case isBlank(lhs[1]):
	case o != nil:
		w := l.local(o)
		l.emit(&ir.Let{At: l.at(n), V: w, E: l.coerce(ok.Load(), w.Type, lhs[1])})
		l.bind(o, w)
	default:
		if p := l.lvalue(lhs[1]); p != nil {
			to, _ := placeType(p, nil)
			l.emit(&ir.Set{At: l.at(n), P: p, E: l.coerce(ok.Load(), to, lhs[1])})
		}
	}
	return true
}
