package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Interface values that are one of several values of known types: variables that are assigned values of several types,
// and elements of tables, slices and arrays of interface values that a literal gives. They are kept as values of their
// types, with a number that says which one it is, so that they carry derivatives as other values do. They specialise
// callees as function values do. Where such a value is stored or passed on as an interface value, it becomes one.

// newBoxed returns the value at p, of type t, as an interface value.
func newBoxed(t types.Type, p *ir.Place) *funcValue {
	return &funcValue{boxed: t, captures: []capture{{name: "dyn", t: t, place: p}}}
}

// newDynamicChoice returns the choice of the value with the index in tag among values of interface type t.
func newDynamicChoice(t types.Type, tag *ir.Place, alternatives []*funcValue) *funcValue {
	v := &funcValue{dynamic: t}
	v.captures = append(v.captures, capture{name: "which", t: types.Typ[types.Int], place: tag})
	for _, a := range alternatives {
		v.captures = append(v.captures, capture{value: a})
	}
	return v
}

// isChosen reports whether e denotes an interface value among known ones.
func (l *lowerer) isChosen(e ast.Expr) bool {
	e = ast.Unparen(e)
	if !isDispatched(l.typeOf(e)) {
		return false
	}
	switch x := e.(type) {
	case *ast.Ident:
		b := l.env[l.info.ObjectOf(x)]
		return b != nil && b.value != nil
	case *ast.IndexExpr:
		return l.isDynamicTable(x.X)
	}
	return false
}

// isDynamicTable reports whether e is a variable bound to a table of interface values.
func (l *lowerer) isDynamicTable(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	b := l.env[l.info.ObjectOf(id)]
	return b != nil && b.value != nil && b.value.table != nil && isDispatched(b.value.table.elem)
}

// chosenValue returns the interface value among known ones that e denotes, see isChosen.
func (l *lowerer) chosenValue(e ast.Expr) *funcValue {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		return l.env[l.info.ObjectOf(x)].value
	case *ast.IndexExpr:
		return l.element(x, l.env[l.info.ObjectOf(ast.Unparen(x.X).(*ast.Ident))].value, x.Index)
	}
	return nil
}

// copyDynamic returns v with the values that it has now.
func (l *lowerer) copyDynamic(n ast.Node, v *funcValue) *funcValue {
	w := *v
	w.captures = slices.Clone(v.captures)
	for i, c := range w.captures {
		if c.value != nil {
			w.captures[i].value = l.copyDynamic(n, c.value)
		} else {
			w.captures[i].place = l.temp(n, c.name, c.t, ir.LoadOf(c.place, c.t)).Place()
		}
	}
	return &w
}

// eachAlternative emits do for each function or interface value that v may be, under the condition that it is.
func (l *lowerer) eachAlternative(n ast.Node, v *funcValue, do func(a *funcValue)) {
	if v.dynamic == nil && v.choice == nil {
		do(v)
		return
	}
	var from func(k int)
	from = func(k int) {
		if k == len(v.captures)-2 { // the number is in range
			l.eachAlternative(n, v.captures[k+1].value, do)
			return
		}
		tag := ir.LoadOf(v.captures[0].place, v.captures[0].t)
		is := &ir.Binary{Typed: boolean, Op: token.EQL, X: tag, Y: integer(int64(k), tag.Type())}
		st := &ir.If{At: l.at(n), Cond: is}
		st.Then = l.block(func() { l.eachAlternative(n, v.captures[k+1].value, do) })
		st.Else = l.block(func() { from(k + 1) })
		l.emit(st)
	}
	from(0)
}

// interfaceValue returns v as an interface value of type t.
func (l *lowerer) interfaceValue(n ast.Node, v *funcValue, t types.Type) ir.Expr {
	u := l.temp(n, "dyn", t, nil)
	l.eachAlternative(n, v, func(a *funcValue) {
		if !a.null {
			l.emit(&ir.Set{At: l.at(n), P: u.Place(),
				E: &ir.Convert{Typed: ir.Typed{T: t}, X: ir.LoadOf(a.captures[0].place, a.boxed)}})
		}
	})
	return u.Load()
}

// dispatchChosen emits the call of a method of an interface value among known ones.
func (l *lowerer) dispatchChosen(call *ast.CallExpr, c callee, lets ir.Block, results []*ir.Var) bool {
	v := l.copyDynamic(call, l.chosenValue(c.recv.X))
	c.given = l.evaluated(call, c.fn.Signature())
	for _, s := range lets {
		l.emit(s)
	}
	l.eachAlternative(call, v, func(a *funcValue) {
		if a.null {
			l.nilDereference(call)
			return
		}
		k := &devirtualized{a.boxed, func() ir.Expr { return ir.LoadOf(a.captures[0].place, a.boxed) }}
		in := l.methodOf(c.recv, a.boxed, c.fn, k)
		in.given = c.given
		switch in.kind {
		case dispatched:
			l.dispatch(call, in, nil, results)
		case declared:
			if to, args := l.callDeclared(call, in); to != nil {
				l.emit(&ir.Call{At: l.at(call), Results: results, Callee: to, Args: args})
			}
		default:
			l.refuse(call, in.why[0], in.why[1], in.why[2])
		}
	})
	return true
}

// chosenSwitch lowers a type switch on an interface value among known ones: each has its clause.
func (l *lowerer) chosenSwitch(s *ast.TypeSwitchStmt, label string, x ast.Expr, symbol *ast.Ident) {
	v := l.copyDynamic(s, l.chosenValue(x))
	l.breakable(s, label, func() {
		l.eachAlternative(s, v, func(a *funcValue) {
			clause := l.nilClause(s)
			if !a.null {
				clause = l.takenClause(s, a.boxed)
			}
			if clause == nil {
				return
			}
			if o := l.info.Implicits[clause]; symbol != nil && o != nil {
				if a.null {
					w := l.local(o)
					l.emit(&ir.Let{At: l.at(clause), V: w})
					l.bind(o, w)
				} else {
					k := &devirtualized{a.boxed, func() ir.Expr { return ir.LoadOf(a.captures[0].place, a.boxed) }}
					l.bindSymbol(clause, o, k, 0)
				}
			}
			l.stmts(clause.Body)
		})
	})
}

// nilClause returns the clause of s that is taken for nil, or nil if there is none.
func (l *lowerer) nilClause(s *ast.TypeSwitchStmt) (other *ast.CaseClause) {
	for _, c := range s.Body.List {
		c := c.(*ast.CaseClause)
		if c.List == nil {
			other = c
		}
		for _, e := range c.List {
			if l.info.Types[e].IsNil() {
				return c
			}
		}
	}
	return other
}

// staticType returns the type that the value of e has in an interface, whatever happens at run time: the type of an
// expression that is converted to the interface, or untyped nil. It returns nil if it is not known.
func (l *lowerer) staticType(e ast.Expr) types.Type {
	e = ast.Unparen(e)
	if l.info.Types[e].IsNil() {
		return types.Typ[types.UntypedNil]
	}
	t := l.typeOf(e)
	if t == types.Typ[types.Invalid] {
		return nil
	}
	if !types.IsInterface(t) {
		return t
	}
	if call, ok := e.(*ast.CallExpr); ok {
		if len(call.Args) == 1 && l.info.Types[call.Fun].IsType() {
			return l.staticType(call.Args[0])
		}
		return l.resultType(call)
	}
	return nil
}

// bindChosen binds an interface variable that is declared with an interface value among known ones, and reports whether
// o is one.
func (l *lowerer) bindChosen(n ast.Node, o types.Object, e ast.Expr) bool {
	if l.facts.assigned[o] != 1 || l.facts.byReference(o) || !isDispatched(l.subst.apply(o.Type())) || !l.isChosen(e) {
		return false
	}
	l.env[o] = &binding{value: l.copyDynamic(n, l.chosenValue(e))}
	return true
}

// declareDynamic declares the interface variable o as a choice if values of several known types, or nil, are assigned
// to it, and reports whether it is one.
func (l *lowerer) declareDynamic(n ast.Node, o types.Object) bool {
	t := l.subst.apply(o.Type())
	if !isDispatched(t) || l.facts.byReference(o) {
		return false
	}
	list, at, all := l.assignments(o)
	if !all || len(list) == 0 {
		return false
	}
	alternatives := []*funcValue{{null: true}}
	index := map[string]int{}
	var found []types.Type
	for i, e := range list {
		if s, ok := at[i].(*ast.AssignStmt); ok && len(s.Lhs) != 1 {
			return false
		}
		u := l.staticType(e)
		if u == nil {
			return false
		}
		if u != types.Typ[types.UntypedNil] && !slices.ContainsFunc(found, func(v types.Type) bool {
			return types.Identical(u, v)
		}) {
			found = append(found, u)
		}
	}
	tag := l.temp(n, o.Name(), types.Typ[types.Int], integer(0, types.Typ[types.Int]))
	for _, u := range found {
		index[l.p.typeKey(u)] = len(alternatives)
		alternatives = append(alternatives, newBoxed(u, l.temp(n, o.Name(), u, nil).Place()))
	}
	l.env[o] = &binding{value: newDynamicChoice(t, tag.Place(), alternatives), types: index}
	return true
}

// assignDynamic assigns e to the variable with binding b, a choice of interface values.
func (l *lowerer) assignDynamic(n ast.Node, b *binding, e ast.Expr) {
	set := func(p *ir.Place, v ir.Expr) { l.emit(&ir.Set{At: l.at(n), P: p, E: v}) }
	tag := b.value.captures[0].place
	integral := types.Typ[types.Int]
	if l.info.Types[ast.Unparen(e)].IsNil() {
		set(tag, integer(0, integral))
		return
	}
	k := l.devirtualize(e)
	if k == nil {
		l.refuse(e, "interface value", "its type is not known", "assign a value of a concrete type")
		return
	}
	i, ok := b.types[l.p.typeKey(k.t)]
	if !ok {
		l.refuse(e, "interface value", "its type is not known", "assign a value of a concrete type")
		return
	}
	set(b.value.captures[i+1].value.captures[0].place, l.coerce(k.value(), k.t, e))
	set(tag, integer(int64(i), integral))
}

// dynamicLiteral returns the table of a literal of interface values whose types are known, or nil.
func (l *lowerer) dynamicLiteral(e ast.Expr) *funcValue {
	x, ok := ast.Unparen(e).(*ast.CompositeLit)
	if !ok {
		return nil
	}
	var elem types.Type
	n := int64(-1)
	switch u := l.typeOf(x).Underlying().(type) {
	case *types.Slice:
		elem = u.Elem()
	case *types.Array:
		elem, n = u.Elem(), u.Len()
	}
	if elem == nil || !isDispatched(elem) || n > int64(len(x.Elts)) || len(x.Elts) > maxDynamicTypes {
		return nil
	}
	for _, e := range x.Elts {
		if _, keyed := e.(*ast.KeyValueExpr); keyed || l.staticType(e) == nil {
			return nil
		}
	}
	var list []*funcValue
	for _, e := range x.Elts {
		if l.info.Types[ast.Unparen(e)].IsNil() {
			list = append(list, &funcValue{null: true})
			continue
		}
		k := l.devirtualize(e)
		v := l.temp(e, "dyn", k.t, l.coerce(k.value(), k.t, e))
		list = append(list, newBoxed(k.t, v.Place()))
	}
	return newTable(elem, list)
}

// onlyIndexed reports whether the variable o, a slice or an array, is used in no other way than that its elements are
// read and that it is ranged over, so that it need not exist at run time.
func (l *lowerer) onlyIndexed(o types.Object) bool {
	ok := true
	var stack []ast.Node
	ast.Inspect(l.d.node, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if id, is := n.(*ast.Ident); is && l.info.Uses[id] == o && len(stack) > 0 {
			switch p := stack[len(stack)-1].(type) {
			case *ast.IndexExpr:
				ok = ok && p.X == id
				if len(stack) > 1 {
					switch q := stack[len(stack)-2].(type) {
					case *ast.AssignStmt:
						ok = ok && !slices.Contains(q.Lhs, ast.Expr(p))
					case *ast.UnaryExpr:
						ok = ok && q.Op != token.AND
					}
				}
			case *ast.RangeStmt:
				ok = ok && p.X == id && p.Tok == token.DEFINE
			case *ast.CallExpr:
				b, builtin := l.info.Uses[identOf(p.Fun)].(*types.Builtin)
				ok = ok && builtin && b.Name() == "len"
			default:
				ok = false
			}
		}
		stack = append(stack, n)
		return true
	})
	return ok
}

// identOf returns e as an identifier, or nil.
func identOf(e ast.Expr) *ast.Ident {
	id, _ := ast.Unparen(e).(*ast.Ident)
	return id
}

// nilDereference emits the panic of a nil dereference.
func (l *lowerer) nilDereference(n ast.Node) {
	l.emit(&ir.Panic{At: l.at(n), E: nilDereferenceError()})
}

// resultType returns the type that all returns of a called function give its only result, of an interface type; nil if
// they are of several or unknown types.
func (l *lowerer) resultType(call *ast.CallExpr) types.Type {
	c := l.callee(call)
	if c.kind != declared || l.passesYield(call, c) {
		return nil
	}
	t := l.p.returnedType(l.sourceOf(c.fn.Origin()), maxReturned)
	if t == nil {
		return nil
	}
	return substitutionOf(c.fn.Origin(), c.targs).apply(t)
}

// maxReturned bounds how many calls that are returned are followed to the type of their results.
const maxReturned = 8

// returnedType returns the type that all returns of the declaration d give its only result, of an interface type, nil
// if there are several or unknown ones. At most depth calls are followed.
func (p *Program) returnedType(d *decl, depth int) types.Type {
	if d == nil || depth == 0 {
		return nil
	}
	fn := d.fn.Origin()
	results := fn.Signature().Results()
	if results.Len() != 1 || results.At(0).Name() != "" || !isDispatched(results.At(0).Type()) {
		return nil
	}
	d = p.substitute(d)
	if d.node.Body == nil || d.generated || p.passive[fn] || p.rule(fn) != nil {
		return nil
	}
	info := d.pkg.TypesInfo
	var t types.Type
	ok := true
	ast.Inspect(d.node.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.DeferStmt:
			ok = false
		case *ast.ReturnStmt:
			e := n.Results[0]
			u := info.TypeOf(e)
			if u != nil && types.IsInterface(u) {
				u = nil
				if call, is := ast.Unparen(e).(*ast.CallExpr); is {
					// The type arguments of another function are not followed.
					if f, targs := staticFunc(info, call.Fun); f != nil && len(targs) == 0 && f.Origin() != fn {
						u = p.returnedType(p.decls[f.Origin()], depth-1)
					}
				}
			}
			if u == nil || info.Types[e].IsNil() || t != nil && !types.Identical(t, types.Default(u)) {
				ok = false
				return false
			}
			t = types.Default(u)
		}
		return true
	})
	if !ok {
		return nil
	}
	return t
}

// callForType emits a call of a function whose interface result has type t, see resultType, and returns the value.
func (l *lowerer) callForType(call *ast.CallExpr, t types.Type) ir.Expr {
	c := l.callee(call)
	c.result = t
	to, args := l.callDeclared(call, c)
	if to == nil {
		return ir.Zero(t)
	}
	r := l.temp(call, "t", t, nil)
	l.emit(&ir.Call{At: l.at(call), Results: []*ir.Var{r}, Callee: to, Args: args})
	return r.Load()
}
