package lower

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/library"
)

// Calls. A call is a statement before the statement whose expression contains it, with its results
// in temporaries. The callee is a specialization of the declared function for type arguments,
// function arguments and dynamic types, or a rule.

// plainCall returns e as a call that becomes a call statement, and reports whether it is one: not a
// conversion, a builtin, an elementary or opaque function, nor a call of yield.
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
		if c.value.fn != nil && isMath(c.value.fn) || c.value.loop != nil {
			return nil, false
		}
	}
	return call, true
}

// callExpr lowers a call within an expression.
func (l *lowerer) callExpr(x *ast.CallExpr, t types.Type) ir.Expr {
	c := l.callee(x)
	fn := c.fn
	if c.kind == valueCallee {
		fn = c.value.fn
	}
	switch {
	case c.kind == valueCallee && c.value.loop != nil:
		return l.yield(x, c.value.loop)
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
		return ir.Zero(t)
	}
	return vs[0].Load()
}

// callAll emits a call and returns new variables that hold its results, nil if it is refused.
func (l *lowerer) callAll(e ast.Expr, name string) []*ir.Var {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		l.refuseTuple(e)
		return nil
	}
	var lets ir.Block
	var vs []*ir.Var
	add := func(t types.Type) {
		v := &ir.Var{Name: l.names.fresh(name), Type: l.subst.apply(t), Pos: l.pos(call)}
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

// callInto emits a call that assigns its results to declared variables, or discards them if results
// is nil.
func (l *lowerer) callInto(call *ast.CallExpr, results []*ir.Var) {
	c := l.callee(call)
	if c.kind == valueCallee && c.value.loop != nil {
		l.yield(call, c.value.loop)
		return
	}
	if c.kind == conversion || c.kind == declared && (isMath(c.fn) || isOpaque(c.fn)) {
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

// callWith evaluates the operands of a call, emits the declarations lets of variables for its
// results, and then the call. It reports whether the call was lowered, rather than refused.
func (l *lowerer) callWith(call *ast.CallExpr, lets ir.Block, results []*ir.Var) bool {
	c := l.callee(call)
	// A loop body is only accessible in the function that contains the loop, so a callee that
	// receives it must be inlined.
	if l.passesYield(call, c) {
		return l.inlineCall(call, c, lets, results)
	}
	var to *ir.Callee
	var args []ir.Expr
	switch c.kind {
	case dispatched:
		return l.dispatch(call, c, lets, results)
	case operandCallee:
		return l.callOperand(call, c, lets, results)
	case declared:
		to, args = l.callDeclared(call, c)
	case valueCallee:
		if c.value.choice != nil || c.value.stored != nil {
			return l.choose(call, c.value, lets, results)
		}
		to, args = l.callValue(call, c.value)
	case literalCallee:
		if v := l.closure(c.lit, nil); v != nil {
			to, args = l.callValue(call, v)
		}
	default:
		l.refuse(call, c.why[0], c.why[1], c.why[2])
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

// callDeclared returns the callee and the arguments of a call of a declared function: a rule, a
// function of package math with two results, or a specialization. It returns nil if the call is
// refused.
func (l *lowerer) callDeclared(call *ast.CallExpr, c callee) (*ir.Callee, []ir.Expr) {
	fn := c.fn.Origin()
	var args []ir.Expr
	list := call.Args
	if f := l.p.libraryInstance(fn, c.targs); f != nil && !l.p.optsOut(l.d, fn.FullName()) {
		fn, c.targs = f, nil
	}
	s := substitutionOf(fn, c.targs)
	sig := fn.Signature()
	if r := sig.Recv(); r != nil {
		var e ir.Expr
		if c.recv != nil {
			e = l.receiver(c, s.apply(r.Type()))
		} else if len(list) > 0 {
			e, list = l.coerce(l.expr(list[0]), s.apply(r.Type()), list[0]), list[1:]
		}
		args = append(args, e)
	}
	if w := l.p.ruleIn(fn, l.d); w != nil {
		l.e.refusals = append(l.e.refusals, w.refusals...)
		rest, values := l.operands(c, call, list, sig, s)
		for i, v := range values {
			if v != nil && v.dynamicType != nil { // rules take the interface value
				rest[i] = &ir.Convert{Typed: ir.Typed{T: s.apply(sig.Params().At(i).Type())}, X: rest[i]}
				continue
			}
			if v != nil {
				l.refuse(call, "call of "+fn.FullName(), "it has a rule, so it cannot take functions", "")
				return nil, nil
			}
		}
		return &ir.Callee{Rule: w.rule}, append(args, rest...)
	}
	if isMath(fn) { // with two results
		rest, _ := l.operands(c, call, list, sig, s)
		// An argument in a variable can be evaluated twice: Expand makes an expression for each
		// result.
		switch x := rest[0].(type) {
		case *ir.Const:
		case *ir.Load:
			if len(x.P.Path) > 0 {
				rest[0] = l.temp(call, "x", x.T, x).Load()
			}
		default:
			rest[0] = l.temp(call, "x", x.Type(), x).Load()
		}
		return &ir.Callee{Rule: &ir.Rule{Name: elementary(fn), Object: fn}}, append(args, rest...)
	}
	// Functions without a rule are lowered from their source.
	d := l.sourceOf(fn)
	if why, remedy := withoutSource(fn.FullName()); why != "" {
		l.arguments(call, list, sig, s)
		l.refuse(call, "call of "+fn.FullName(), why, remedy)
		return nil, nil
	}
	if fn.Pkg() != nil && fn.Pkg().Path() == nablaPath && l.d.pkg.PkgPath != nablaPath {
		l.operands(c, call, list, sig, s)
		l.refuse(call, "call of "+fn.FullName(), "engines do not run in a function over float64 that is differentiated",
			"write the function over nabla.Real, and call nabla.GradientFunc, DerivativeFunc, PushforwardFunc or "+
				"DifferentiateWith in it")
		return nil, nil
	}
	if fn.FullName() == onceDo {
		return l.once(call, fn, args)
	}
	if ok, why := passiveStandard(fn); ok && !isGeneric(fn) {
		rest, _ := l.arguments(call, list, sig, s)
		if !l.writerArgument(call, fn) {
			return nil, nil
		}
		return &ir.Callee{Rule: passiveRule(fn)}, append(args, rest...)
	} else if why != "" {
		l.arguments(call, list, sig, s)
		l.refuse(call, "call of "+fn.FullName(), why, passiveRemedy(fn))
		return nil, nil
	}
	if d == nil {
		l.operands(c, call, list, sig, s) // for the refusals of the arguments
		l.noSource(call, fn)
		return nil, nil
	}
	if !l.checkLowerable(call, "call of "+fn.FullName(), fn, d) {
		return nil, nil
	}
	if f := l.p.fixedArity(d, call, len(list)); f != nil {
		params := slices.Collect(f.fn.Signature().Params().Variables())
		rest, values := l.arguments(call, list, types.NewSignatureType(nil, nil, nil,
			types.NewTuple(params[len(args):]...), f.fn.Signature().Results(), false), s)
		values = append(make([]*funcValue, len(args)), values...)
		return l.instance(call, f, nil, values, append(args, rest...), nil)
	}
	rest, values := l.operands(c, call, list, sig, s)
	if l.p.passive[fn] {
		return l.passive(call, d, c.targs, values, append(args, rest...))
	}
	return l.instance(call, d, c.targs, values, append(args, rest...), c.result)
}

// passive returns the callee for a function with the directive //nabla:passive: its specialization,
// or if it cannot be lowered a passive rule, of which only the name is known.
func (l *lowerer) passive(call *ast.CallExpr, d *decl, targs []types.Type, values []*funcValue,
	args []ir.Expr) (*ir.Callee, []ir.Expr) {
	// A function that depends on function values or dynamic types has no Go function to call, so it
	// must be lowered.
	known := false
	for _, v := range values {
		known = known || v != nil
	}
	e := l.p.specialize(d, targs, values)
	// Values that one of a library derivative computes with on the way would be recorded.
	ours := strings.HasPrefix(d.pkg.PkgPath, library.Path+"/")
	if known || !ours && e != nil && l.p.done[e.f] && e.isWhole() {
		return l.instance(call, d, targs, values, args, nil)
	}
	if len(targs) > 0 {
		l.refuse(call, "call of "+d.fn.FullName(),
			"a passive function with type arguments has to be lowered, which its body does not allow",
			"call it from a passive function without")
		return nil, nil
	}
	r := &ir.Rule{Name: d.fn.FullName(), Object: d.fn, Passive: true, Effects: true}
	if ours {
		r.ReadOnly = slices.Repeat([]bool{true}, len(r.Shape().Params))
		f, _ := d.pkg.Types.Scope().Lookup(d.fn.Name() + "Plain").(*types.Func)
		if f == nil || !sameTypes(f.Signature(), d.fn.Signature()) {
			f = d.fn
		}
		r.Plain = l.p.lowerIfPossible(f)
	}
	return &ir.Callee{Rule: r}, args
}

// instance returns a specialization of a declared function for function values, whose captured
// variables are appended to args, and for the dynamic type of its result if that is not nil. It refuses polymorphic
// recursion, which would need infinitely many.
func (l *lowerer) instance(call *ast.CallExpr, d *decl, targs []types.Type, values []*funcValue,
	args []ir.Expr, result types.Type) (*ir.Callee, []ir.Expr) {
	for i, v := range values {
		if v == nil && isFuncType(substitutionOf(d.fn, targs).apply(d.fn.Signature().Params().At(i).Type())) {
			return nil, nil // refused
		}
		args = append(args, l.captured(v)...)
	}
	e := l.p.specializeResult(d, targs, values, result)
	if e == nil {
		l.refuse(call, "call of "+d.fn.FullName(), "it would need ever new copies for ever new types or functions",
			"bound the recursion")
		return nil, nil
	}
	l.e.calls = append(l.e.calls, callSite{e, l.pos(call)})
	return &ir.Callee{Func: e.f}, args
}

// noSource refuses a call of a function without source.
func (l *lowerer) noSource(call ast.Node, fn *types.Func) {
	what := "call of " + fn.FullName()
	switch fn.Pkg().Path() {
	case "reflect", "unsafe":
		l.refuse(call, what, "package "+fn.Pkg().Path()+" gets around types", "use the types themselves")
	case "math": // one of mathNot
		l.refuse(call, what, "it converts bits to a number, and bits carry no derivative",
			"compute with the number itself, or move the call to a //nabla:passive function if it needs no derivative")
	default:
		l.refuse(call, what, "its source is not available and it has no rule", remedyRule)
	}
}
