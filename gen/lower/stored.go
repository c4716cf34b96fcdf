package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/library"
)

// Function values in memory: in fields, elements, results of functions, and variables to which a function is assigned
// that is not known statically. A function that is stored becomes an expression of its function type, an [ir.Opaque]
// whose operands are its captured variables, and a call of a stored value the call of a rule, storedCall. Both exist
// until all functions that the differentiated one reaches are lowered; then functions.go finds the functions that each
// value may be, and rewrites values to structs and calls to branches.

// A storedFunction is a function that values in memory may be.
type storedFunction struct {
	format string           // of the expression that makes a value of it; unique
	sig    *types.Signature // of the values
	e      *specialization
	// before is set if the captured variables are the first parameters of e.f, the receiver of a method. Otherwise they
	// are the last.
	before   bool
	captured int         // number of captured variables
	fn       *types.Func // the declared function that it is, without captured variables; nil for others
}

// params returns the parameters for the arguments of a call, and those for captured variables.
func (m *storedFunction) params() (args, captured []*ir.Var) {
	list := m.e.f.Params
	n := len(list) - m.captured
	if m.before {
		return list[m.captured:], list[:m.captured]
	}
	return list[:n], list[n:]
}

// storedCall is the name of the rule of a call of a function value. The arguments of the call are the value, then those
// of the function: first those that are no functions, in order, then the functions.
const storedCall = "a function value"

// storedPrefix begins the formats of the expressions that make function values.
const storedPrefix = "function "

// A storedCallee is the callee of a call of a function value in the source.
type storedCallee struct {
	info *types.Info
	e    ast.Expr
}

// name returns a description of the callee for messages.
func (c storedCallee) name() string {
	if x, ok := ast.Unparen(c.e).(*ast.SelectorExpr); ok {
		if s := c.info.Selections[x]; s != nil && s.Kind() == types.FieldVal {
			return "field " + x.Sel.Name + " of " + typeText(deref(s.Recv()))
		}
	}
	return types.ExprString(c.e)
}

// isStoredCall reports whether r is the rule of calls of function values.
func isStoredCall(r *ir.Rule) bool { return r != nil && r.Object == nil && r.Name == storedCall }

// storedFunctionOf returns the function that e makes a value of, nil for other expressions.
func (p *Program) storedFunctionOf(e ir.Expr) *storedFunction {
	o, ok := e.(*ir.Opaque)
	if !ok {
		return nil
	}
	return p.stored[o.Format]
}

// newStored returns the function value of type t at p.
func newStored(t types.Type, p *ir.Place) *funcValue {
	return &funcValue{stored: t, captures: []capture{{name: "fn", t: t, place: p}}}
}

// storedValue returns the function value in memory that e denotes, copied to a variable, or nil if there is none.
func (l *lowerer) storedValue(e ast.Expr) *funcValue {
	t := l.typeOf(e)
	if !isFuncType(t) {
		return nil
	}
	var p *ir.Place
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		p, _ = l.variable(x)
	case *ast.SelectorExpr:
		switch s := l.info.Selections[x]; {
		case s == nil:
			p, _ = l.variable(x.Sel)
		case s.Kind() == types.FieldVal:
			p = l.place(x)
		}
	case *ast.StarExpr:
		p = l.place(x)
	case *ast.IndexExpr:
		if isFuncType(l.typeOf(x.X)) {
			return nil
		}
		if l.mapOf(x.X) == nil {
			p = l.place(x)
		} else if vs := l.mapGet(x); vs != nil {
			return newStored(t, vs[0].Place())
		}
	case *ast.CallExpr:
		if vs := l.callAll(x, "fn"); len(vs) == 1 {
			return newStored(t, vs[0].Place())
		}
	}
	if p == nil {
		return nil
	}
	return newStored(t, l.temp(e, "fn", t, ir.LoadOf(p, t)).Place())
}

// functionOperand returns the function that e denotes as an expression of type t.
func (l *lowerer) functionOperand(e ast.Expr, t types.Type) ir.Expr {
	n := len(l.e.refusals)
	v := l.function(e)
	if v == nil {
		if len(l.e.refusals) > n {
			return ir.Zero(t)
		}
		return l.functionValue(e)
	}
	if v.fn != nil && l.p.decls[v.fn.Origin()] == nil && !isMath(v.fn) && l.p.ruleIn(v.fn.Origin(), l.d) == nil {
		// A variable with a function that cannot be differentiated is read, as the value may never be called.
		id := identOf(e)
		if x, ok := ast.Unparen(e).(*ast.SelectorExpr); ok {
			id = x.Sel
		}
		if id != nil {
			if p, ok := l.variable(id); ok {
				return ir.LoadOf(p, t)
			}
		}
	}
	return l.functionExpr(e, v, t)
}

// functionExpr returns v as an expression of type t.
func (l *lowerer) functionExpr(n ast.Node, v *funcValue, t types.Type) ir.Expr {
	switch {
	case v.null:
		return ir.Zero(t)
	case v.stored != nil:
		return l.coerce(ir.LoadOf(v.captures[0].place, v.captures[0].t), t, n)
	case v.carriesLoop():
		l.refuse(n, "function value", "it runs the body of a loop over a function, and is stored",
			"pass it to functions that call it")
		return ir.Zero(t)
	case v.choice != nil:
		u := l.temp(n, "fn", t, nil)
		l.eachAlternative(n, v, func(a *funcValue) {
			if !a.null {
				l.emit(&ir.Set{At: l.at(n), P: u.Place(), E: l.functionExpr(n, a, t)})
			}
		})
		return u.Load()
	}
	v = l.escaping(n, v)
	if v == nil {
		return ir.Zero(t)
	}
	m := l.storedFunction(n, v)
	if m == nil {
		return ir.Zero(t)
	}
	l.e.calls, l.e.storesFunctions = append(l.e.calls, callSite{m.e, l.pos(n)}), true
	return &ir.Opaque{Typed: ir.Typed{T: t}, Format: m.format, Args: l.captured(v)}
}

// storedFunction returns the function of values of v, whose parameters of function type take values in memory; nil if
// it is refused.
func (l *lowerer) storedFunction(n ast.Node, v *funcValue) *storedFunction {
	m := &storedFunction{captured: len(l.captured(v))}
	sig := l.signatureOf(v)
	values := make([]*funcValue, sig.Params().Len())
	for i := range values {
		if t := sig.Params().At(i).Type(); isFuncType(t) {
			values[i] = newStored(t, nil)
		}
	}
	if v.lit != nil {
		if m.e = l.p.literal(v, v.signature(), values); m.e == nil {
			l.refuse(n, "function value", "it would need infinitely many specialisations", "bound the recursion")
			return nil
		}
	} else {
		m.before = len(v.captures) > 0
		if !m.before && len(v.targs) == 0 {
			m.fn = v.fn
		}
		if m.e = l.declaredFunction(n, v, sig, values); m.e == nil {
			return nil
		}
	}
	m.sig = sig
	m.format = storedPrefix + l.p.loweredKey(m.e.f) + " " + strconv.Itoa(m.captured)
	if known := l.p.stored[m.format]; known != nil {
		return known
	}
	if l.p.stored == nil {
		l.p.stored = map[string]*storedFunction{}
	}
	l.p.stored[m.format] = m
	return m
}

// signatureOf returns the type of a known function as a value: the receiver of a method expression is a parameter.
func (l *lowerer) signatureOf(v *funcValue) *types.Signature {
	var s *substitution
	if v.lit != nil {
		s = v.home.subst
	} else {
		s = substitutionOf(v.fn, v.targs)
	}
	sig := v.signature()
	var params, results []*types.Var
	if r := sig.Recv(); r != nil && len(v.captures) == 0 {
		params = append(params, types.NewParam(token.NoPos, nil, "", s.apply(r.Type())))
	}
	for o := range sig.Params().Variables() {
		params = append(params, types.NewParam(token.NoPos, nil, "", s.apply(o.Type())))
	}
	for o := range sig.Results().Variables() {
		results = append(results, types.NewParam(token.NoPos, nil, "", s.apply(o.Type())))
	}
	return types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), types.NewTuple(results...), sig.Variadic())
}

// declaredFunction returns the function of values of v, a declared function or method of type sig, nil if it is
// refused. values are those of its parameters.
func (l *lowerer) declaredFunction(n ast.Node, v *funcValue, sig *types.Signature,
	values []*funcValue) *specialization {
	fn, targs := v.fn.Origin(), v.targs
	if f := l.p.libraryInstance(fn, targs); f != nil && !l.p.optsOut(l.d, fn.FullName()) {
		fn, targs = f, nil
	}
	what := "function " + fn.FullName() + " as a value"
	const wrap = "use a function literal that calls it"
	if w := l.p.ruleIn(fn, l.d); w != nil {
		for i := range sig.Params().Len() {
			if t := sig.Params().At(i).Type(); isFuncType(t) {
				l.refuse(n, what, "it has a rule, so it cannot take functions", wrap)
				return nil
			}
		}
		return l.p.ruleWrapper(fn, w)
	}
	if isMath(fn) {
		return l.mathFunction(n, fn)
	}
	if ok, why := passiveStandard(fn); ok || why != "" || isOpaque(fn) {
		l.refuse(n, what, "it is a function of the standard library that carries no derivative", wrap)
		return nil
	}
	d := l.sourceOf(fn)
	if d == nil {
		l.noSource(n, fn)
		return nil
	}
	if !l.checkLowerable(n, what, fn, d) {
		return nil
	}
	if fn.Signature().Recv() != nil && len(v.captures) == 0 {
		values = values[1:]
	}
	e := l.p.specialize(d, targs, values)
	if e == nil {
		l.refuse(n, what, "it would need ever new copies for ever new types or functions", "bound the recursion")
	}
	return e
}

const remedyGenerated = "use an operator of second order; or give a function that calls it a rule with " +
	"//nabla:rule, whose tangent and pullback may call generated code; or write the caller over nabla.Real with " +
	"nabla.GradientFunc"

// checkLowerable reports whether the source of fn, declared by d, may be differentiated; otherwise it refuses the given
// construct at n.
func (l *lowerer) checkLowerable(n ast.Node, construct string, fn *types.Func, d *decl) bool {
	switch {
	case d.generated:
		l.refuse(n, construct, "it is generated, and generated code is not differentiated again",
			remedyGenerated)
	case fn.Pkg() != l.d.pkg.Types && library.Approximates(fn.Pkg().Path()):
		l.refuse(n, construct, "it approximates a special function by series that end where its value "+
			"is accurate, and its derivative is not", remedyRule)
	default:
		name := library.Reinterpreted(fn.FullName())
		if name == "" || l.p.opts.NoLibrary || l.p.substitute(d).fn != fn || l.p.libraryPackage(name) == nil {
			return true
		}
		l.refuse(n, construct, "the derivatives of its receiver are those of the matrix that it "+
			"factorises, which its source does not know", remedyRule)
	}
	return false
}

// mathFunction returns a function that calls fn, of package math.
func (l *lowerer) mathFunction(n ast.Node, fn *types.Func) *specialization {
	key := "value of " + l.p.funcKey(fn)
	if e := l.p.specializations[key]; e != nil {
		return e
	}
	e := &specialization{f: l.p.function(fn.Pkg(), mangle(fn.FullName()), l.pos(n))}
	l.p.specializations[key] = e
	in := l.p.lowerer(e, l.d, l.subst)
	in.f.Exit = &ir.Label{Name: in.names.fresh("exit")}
	in.exit, in.out = target{in.f.Exit, 0}, &in.f.Body
	var args []ir.Expr
	for o := range fn.Signature().Params().Variables() {
		v := &ir.Var{Name: in.names.fresh("x"), Type: o.Type(), Kind: ir.Param, Pos: l.pos(n)}
		in.f.Params, args = append(in.f.Params, v), append(args, v.Load())
	}
	for o := range fn.Signature().Results().Variables() {
		v := &ir.Var{Name: in.names.fresh("r"), Type: o.Type(), Kind: ir.Result, Pos: l.pos(n)}
		in.f.Results = append(in.f.Results, v)
	}
	if rs := in.f.Results; len(rs) == 1 {
		in.emit(&ir.Set{At: l.at(n), P: rs[0].Place(), E: in.mathOf(n, fn, args, rs[0].Type)})
	} else {
		in.emit(&ir.Call{At: l.at(n), Results: rs, Args: args,
			Callee: &ir.Callee{Rule: &ir.Rule{Name: elementary(fn), Object: fn}}})
	}
	l.p.done[e.f] = true
	return e
}

// callStored emits the call of the function value v with given arguments.
func (l *lowerer) callStored(call *ast.CallExpr, v *funcValue, given *operands, results []*ir.Var) {
	sig := v.stored.Underlying().(*types.Signature)
	args := []ir.Expr{ir.LoadOf(v.captures[0].place, v.captures[0].t)}
	var functions []ir.Expr
	rest := given.args
	next := func() (e ir.Expr) {
		e, rest = rest[0], rest[1:]
		return e
	}
	for i := range sig.Params().Len() {
		t := sig.Params().At(i).Type()
		k := given.values[i]
		switch {
		case isFuncType(t) && k == nil:
			return // refused
		case isFuncType(t):
			functions = append(functions, l.functionExpr(call, k, t))
		case k == nil:
			args = append(args, next())
		case k.table != nil:
			args = append(args, l.tableExpr(call, k, t))
		case k.dynamic != nil:
			args = append(args, l.interfaceValue(call, k, t))
		default:
			args = append(args, &ir.Convert{Typed: ir.Typed{T: t}, X: next()})
		}
	}
	args = append(args, functions...)
	for i, e := range args {
		if !ir.IsConst(e) && ir.VarOf(e) == nil {
			args[i] = l.temp(call, "arg", e.Type(), e).Load()
		}
	}
	l.e.storesFunctions = true
	r := &ir.Rule{Name: storedCall}
	if l.p.storedCalls == nil {
		l.p.storedCalls = map[*ir.Rule]storedCallee{}
	}
	l.p.storedCalls[r] = storedCallee{l.info, call.Fun}
	l.emit(&ir.Call{At: l.at(call), Results: results, Args: args, Callee: &ir.Callee{Rule: r}})
}

// tableExpr returns a table of functions as a slice, an array or a map of type t.
func (l *lowerer) tableExpr(n ast.Node, v *funcValue, t types.Type) ir.Expr {
	elem := tableElem(t)
	if u, ok := t.Underlying().(*types.Map); ok {
		m := l.makeMap(n, t)
		for i, k := range v.table.keys {
			key := &ir.Const{Typed: ir.Typed{T: u.Key()}, Val: k}
			l.mapCall(n, "MapSet", m.Load(), []ir.Expr{key, l.functionExpr(n, v.captures[i].value, elem)})
		}
		return m.Load()
	}
	lit := &ir.Literal{Typed: ir.Typed{T: t}}
	if isSlice(t) {
		lit.Len = len(v.captures)
	}
	for i, c := range v.captures {
		lit.Keys, lit.Elems = append(lit.Keys, i), append(lit.Elems, l.functionExpr(n, c.value, elem))
	}
	return l.materialize(n, lit)
}
