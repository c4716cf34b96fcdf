package lower

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strconv"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Inlining of iterators for loops over functions: the body of an iterator, and of functions it
// passes yield to, replaces the call, so that the loop body can refer to its own variables.

// An inlineState is shared by the lowerers of a function and of the bodies inlined into it.
type inlineState struct {
	home     *packages.Package // package of the function
	facts    []*facts          // facts about the variables of all inlined declarations
	packages map[string]bool   // package names that variables must not have
	copies   int               // number of inlined bodies
	exceeded bool              // a limit was exceeded, which was refused
	pending  []pendingExit     // pending exits, innermost last
}

// maxCopies bounds the inlined bodies of a function: bodies of nested loops multiply if an iterator
// has several calls of yield.
const maxCopies = 500

// maxSelfNesting bounds how often a body is inlined into itself. Adapters such as a filter of a
// filter nest, and so does a recursive iterator, infinitely.
const maxSelfNesting = 8

// signature returns the type of a function literal, a declared function, a choice or a value in memory.
func (v *funcValue) signature() *types.Signature {
	switch {
	case v.lit != nil:
		return v.home.info.TypeOf(v.lit).(*types.Signature)
	case v.choice != nil:
		return v.choice
	case v.stored != nil:
		return v.stored.Underlying().(*types.Signature)
	}
	return v.fn.Signature()
}

// inlineBody returns a lowerer that emits the body of v at the current position, and the body, or
// nil if that is refused. Captured variables are bound, parameters are not.
func (l *lowerer) inlineBody(n ast.Node, v *funcValue) (*lowerer, *ast.BlockStmt) {
	in := &lowerer{
		p: l.p, e: l.e, f: l.f, names: l.names, env: map[types.Object]*binding{}, out: l.out,
		addressed: l.addressed, inlining: l.inlining,
	}
	var node ast.Node
	var body *ast.BlockStmt
	if v.lit != nil {
		in.d, in.subst, node, body = v.home.d, v.home.subst, v.lit, v.lit.Body
	} else {
		if !l.checkInlinable(n, v) {
			return nil, nil
		}
		in.d, in.subst, node, body = v.d, substitutionOf(v.fn, v.targs), v.d.node, v.d.node.Body
	}
	in.d.findFacts()
	in.e.sources = append(in.e.sources, in.d)
	in.info, in.facts = in.d.pkg.TypesInfo, in.d.facts
	// Nesting of one body in itself is bounded separately from the total: a recursive iterator
	// exceeds it early, with a better message.
	again := 0
	for _, n := range l.enclosing {
		if n == node {
			again++
		}
	}
	l.inlining.copies++
	switch {
	case l.inlining.exceeded: // already refused
		return nil, nil
	case again > maxSelfNesting:
		l.inlining.exceeded = true
		l.refuse(n, "range over a function that calls itself", "the body of the loop would be copied infinitely often",
			"pass the body to the recursive function as a function literal")
		return nil, nil
	case l.inlining.copies > maxCopies:
		l.inlining.exceeded = true
		l.refuse(n, "range over a function",
			"it needs more than "+strconv.Itoa(maxCopies)+" copies of the bodies of loops and iterators",
			"call yield at fewer places")
		return nil, nil
	}
	// The number distinguishes the closures in several copies of one body.
	in.enclosing, in.copyNumber = append(slices.Clip(l.enclosing), node), l.inlining.copies
	if v.fn != nil && !in.checkSource(v.d.node) {
		return nil, nil
	}
	in.reserve(n)
	if !slices.Contains(l.inlining.facts, in.facts) {
		l.inlining.facts = append(l.inlining.facts, in.facts)
	}
	for _, c := range v.captures {
		switch {
		case c.object == nil: // the receiver, which is copied
			if r := v.fn.Signature().Recv(); r.Name() != "" && r.Name() != "_" {
				in.declare(n, r, ir.LoadOf(c.place, c.t))
			}
		case c.self:
			in.env[c.object] = &binding{value: v}
		case c.value != nil:
			in.env[c.object] = &binding{value: c.value}
		default:
			in.env[c.object] = &binding{place: c.place, dynamicType: c.dynamicType}
		}
	}
	return in, body
}

// checkInlinable reports whether the body of a declared function may be inlined, and refuses it
// otherwise.
func (l *lowerer) checkInlinable(n ast.Node, v *funcValue) bool {
	what := "call of " + v.fn.FullName()
	switch {
	case v.d == nil:
		l.noSource(n, v.fn)
	case v.d.generated:
		l.refuse(n, what, "it is generated, and generated code is not differentiated again",
			remedyGenerated)
	case l.p.ruleIn(v.fn, l.d) != nil:
		l.refuse(n, what, "it has a rule, so it cannot take functions", "")
	case l.p.passive[v.fn]:
		l.refuse(n, what, "it is passive, and its body would have derivatives here", "remove //nabla:passive")
	default:
		return true
	}
	return false
}

// reserve excludes the package names of an inlined body from the names of variables.
func (l *lowerer) reserve(n ast.Node) {
	for _, name := range slices.Sorted(maps.Keys(l.facts.packages)) {
		if l.inlining.packages[name] {
			continue
		}
		if l.names.fresh(name) != name {
			l.refuse(n, "range over a function",
				"it reads variables of package "+name+", and one of the function has that name", "rename the variable")
		}
		l.inlining.packages[name] = true
	}
}

// declare emits the declaration of o with a value and binds it.
func (l *lowerer) declare(n ast.Node, o types.Object, e ir.Expr) {
	v := l.local(o)
	l.emit(&ir.Let{At: l.at(n), V: v, E: l.coerce(e, v.Type, n)})
	l.bind(o, v)
}

// inlineArguments evaluates the arguments of a call of v, binds its parameters, and returns a
// lowerer for its body, nil if it is refused.
func (l *lowerer) inlineArguments(call *ast.CallExpr, list []ast.Expr, v *funcValue) (*lowerer, *ast.BlockStmt) {
	sig := v.signature()
	var s *substitution
	if v.lit != nil {
		s = v.home.subst
	} else {
		s = substitutionOf(v.fn, v.targs)
	}
	refusals := len(l.e.refusals)
	args, values := l.arguments(call, list, sig, s)
	if len(l.e.refusals) > refusals {
		return nil, nil
	}
	in, body := l.inlineBody(call, v)
	if in == nil {
		return nil, nil
	}
	for i := range sig.Params().Len() {
		o := sig.Params().At(i)
		k := values[i]
		if k != nil && k.dynamic != nil && (in.facts.assigned[o] > 0 || in.facts.byReference(o)) {
			in.declare(call, o, in.interfaceValue(call, k, in.subst.apply(o.Type())))
			continue
		}
		if k != nil && isFuncType(in.subst.apply(o.Type())) && (in.facts.assigned[o] > 0 || in.facts.byReference(o)) &&
			!k.carriesLoop() {
			in.declare(call, o, in.functionExpr(call, k, in.subst.apply(o.Type())))
			continue
		}
		if k != nil && k.dynamicType == nil {
			in.env[o] = &binding{value: k}
			continue
		}
		e := args[0]
		args = args[1:]
		if k != nil && (in.facts.assigned[o] > 0 || in.facts.byReference(o)) {
			// Its dynamic type is known only until it is assigned.
			e, k = &ir.Convert{Typed: ir.Typed{T: in.subst.apply(o.Type())}, X: e}, nil
		}
		switch {
		case o.Name() == "" || o.Name() == "_":
			if mayPanic(e) {
				in.temp(call, "unused", e.Type(), e)
			}
		case k != nil:
			p := in.temp(call, o.Name(), k.dynamicType, e)
			in.env[o] = &binding{place: &ir.Place{Root: p}, dynamicType: k.dynamicType}
		default:
			in.declare(call, o, e)
		}
	}
	return in, body
}

// inlineTarget returns the function that a call calls and the arguments for its parameters, or nil
// if it cannot be inlined. The receiver of a method is captured.
func (l *lowerer) inlineTarget(call *ast.CallExpr, c callee) (*funcValue, []ast.Expr) {
	switch c.kind {
	case valueCallee:
		if c.value.null || c.value.loop != nil || c.value.choice != nil || c.value.stored != nil {
			return nil, nil
		}
		return c.value, call.Args
	case literalCallee:
		return l.closure(c.lit, nil), call.Args
	case declared:
		list := call.Args
		v := &funcValue{fn: c.fn.Origin(), d: l.p.decls[c.fn.Origin()], targs: c.targs}
		r := v.fn.Signature().Recv()
		if r == nil {
			return v, list
		}
		t := substitutionOf(v.fn, c.targs).apply(r.Type())
		var e ir.Expr
		if c.recv != nil {
			e = l.receiver(c, t)
		} else {
			e, list = l.coerce(l.expr(list[0]), t, list[0]), list[1:]
		}
		p := &ir.Place{Root: l.temp(call, "recv", t, e)}
		v.captures = []capture{{name: "recv", t: t, place: p}}
		return v, list
	}
	return nil, nil
}

// inlineFactory returns the function that a call returns, after inlining the statements before the
// only return of the callee; nil if the callee has another form.
func (l *lowerer) inlineFactory(call *ast.CallExpr) *funcValue {
	c := l.callee(call)
	var body *ast.BlockStmt
	switch {
	case c.kind == declared && l.p.decls[c.fn.Origin()] != nil:
		body = l.p.decls[c.fn.Origin()].node.Body
	case c.kind == valueCallee && c.value.lit != nil:
		body = c.value.lit.Body
	case c.kind == valueCallee && c.value.d != nil:
		body = c.value.d.node.Body
	case c.kind == literalCallee:
		body = c.lit.Body
	}
	if body == nil || len(body.List) == 0 || returns(body) != 1 {
		return nil
	}
	last := len(body.List) - 1
	r, ok := body.List[last].(*ast.ReturnStmt)
	if !ok || len(r.Results) != 1 {
		return nil
	}
	v, list := l.inlineTarget(call, c)
	if v == nil {
		return nil
	}
	in, _ := l.inlineArguments(call, list, v)
	if in == nil {
		return nil
	}
	in.stmts(body.List[:last])
	return in.function(r.Results[0])
}

// returns counts the return statements of a body, without those of function literals.
func returns(body *ast.BlockStmt) (n int) {
	ast.Inspect(body, func(m ast.Node) bool {
		switch m.(type) {
		case *ast.ReturnStmt:
			n++
		case *ast.FuncLit:
			return false
		}
		return true
	})
	return n
}

// inlineCall emits the body of the callee in place of a call, and assigns its results. It reports
// whether that was possible.
func (l *lowerer) inlineCall(call *ast.CallExpr, c callee, lets ir.Block, results []*ir.Var) bool {
	v, list := l.inlineTarget(call, c)
	if v == nil {
		l.refuse(call, "call with the function that runs the body of a loop", "the body of the callee is not known",
			remedyStatic)
		return false
	}
	in, body := l.inlineArguments(call, list, v)
	if in == nil {
		return false
	}
	sig := v.signature()
	for i := range sig.Results().Len() {
		o := sig.Results().At(i)
		r := &ir.Var{Name: l.names.fresh("r"), Type: in.subst.apply(o.Type()), Pos: l.pos(call)}
		l.emit(&ir.Let{At: l.at(call), V: r})
		in.env[o] = &binding{place: &ir.Place{Root: r}}
		in.results = append(in.results, r)
	}
	// A return of the inlined body leaves a scope around it.
	in.exit = l.target(&ir.Label{Name: l.names.fresh("exit")})
	l.emitScope(call, in.exit.label, l.block(func() {
		in.out = l.out
		in.stmts(body.List)
	}))
	for _, s := range lets {
		l.emit(s)
	}
	for i, v := range results {
		if v != nil {
			l.emit(&ir.Set{At: l.at(call), P: &ir.Place{Root: v}, E: in.results[i].Load()})
		}
	}
	return true
}

// emitScope emits body as a scope with a label, or without it if there is no leave of the label. A
// final leave is dropped, and leaves at the end of a final loop become leaves of the loop.
func (l *lowerer) emitScope(n ast.Node, label *ir.Label, body ir.Block) {
	if k := len(body); k > 0 {
		if s, ok := body[k-1].(*ir.Leave); ok && s.L == label {
			body = body[:k-1]
		}
	}
	if k := len(body); k > 0 {
		if s, ok := body[k-1].(*ir.Loop); ok { // the loop ends where the block ends
			ir.Walk(s.Body, func(st ir.Stmt) bool {
				if leave, ok := st.(*ir.Leave); ok && leave.L == label {
					leave.L = s.L
				}
				return true
			})
		}
	}
	if leavesLabel(body, label) {
		l.emit(&ir.Scope{At: l.at(n), L: label, Body: body})
		return
	}
	for _, s := range body {
		l.emit(s)
	}
}

// passesYield reports whether a call passes a function that runs the body of a loop, directly or
// captured by a closure.
func (l *lowerer) passesYield(call *ast.CallExpr, c callee) bool {
	if c.kind == valueCallee && c.value.carriesLoop() {
		return true
	}
	carries := func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return false
		}
		b := l.env[l.info.Uses[id]]
		return b != nil && b.value.carriesLoop()
	}
	for _, e := range append(slices.Clip(call.Args), call.Fun) {
		switch e := ast.Unparen(e).(type) {
		case *ast.Ident:
			if carries(e) {
				return true
			}
		case *ast.FuncLit:
			found := false
			ast.Inspect(e, func(n ast.Node) bool {
				found = found || n != nil && carries(n)
				return !found
			})
			if found {
				return true
			}
		}
	}
	return false
}

// carriesLoop reports whether a call of v may run the body of a loop.
func (v *funcValue) carriesLoop() bool {
	return v != nil &&
		(v.loop != nil || slices.ContainsFunc(v.captures, func(c capture) bool { return c.value.carriesLoop() }))
}
