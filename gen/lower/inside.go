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

// nest is what a function shares with the bodies of other functions that are put into it.
type nest struct {
	home     *packages.Package // of the function
	facts    []*facts          // of all whose variables stand in it
	packages map[string]bool   // that no variable is named as
	bodies   int               // that were put in, one copy each
	endless  bool              // too many were asked for
	waiting  []waiting         // the innermost last
}

// mostBodies bounds the copies of bodies in a function: those of loops in loops multiply
// where an iterator calls yield at several places.
const mostBodies = 500

// deepest bounds how often a body stands in itself. Adapters such as a filter of a filter
// do that, and so does an iterator that calls itself, without end.
const deepest = 8

// signature is the type of a function literal or a declared function.
func (v *funcValue) signature() *types.Signature {
	if v.lit != nil {
		return v.home.info.TypeOf(v.lit).(*types.Signature)
	}
	return v.fn.Signature()
}

// inside is a lowerer for the body of v, which is put where l stands; nil if that is
// refused. What v has captured is bound, its parameters are not.
func (l *lowerer) inside(n ast.Node, v *funcValue) (*lowerer, *ast.BlockStmt) {
	in := &lowerer{
		p: l.p, e: l.e, f: l.f, names: l.names, env: map[types.Object]*binding{}, out: l.out,
		addressed: l.addressed, nest: l.nest,
	}
	var node ast.Node
	var body *ast.BlockStmt
	if v.lit != nil {
		in.d, in.subst, node, body = v.home.d, v.home.subst, v.lit, v.lit.Body
	} else {
		if !l.open(n, v) {
			return nil, nil
		}
		in.d, in.subst, node, body = v.d, substitutionOf(v.fn, v.targs), v.d.node, v.d.node.Body
	}
	in.d.findFacts()
	in.e.sources = append(in.e.sources, in.d)
	in.info, in.facts = in.d.pkg.TypesInfo, in.d.facts
	again := 0
	for _, n := range l.around {
		if n == node {
			again++
		}
	}
	l.nest.bodies++
	switch {
	case l.nest.endless: // it is refused already
		return nil, nil
	case again > deepest:
		l.nest.endless = true
		l.refuse(n, "range over a function that calls itself", "the body of the loop would be copied without end",
			"call the recursive function with a function literal that does what the body does")
		return nil, nil
	case l.nest.bodies > mostBodies:
		l.nest.endless = true
		l.refuse(n, "range over a function",
			"it needs more than "+strconv.Itoa(mostBodies)+" copies of the bodies of loops and iterators",
			"call yield at fewer places")
		return nil, nil
	}
	in.around, in.number = append(slices.Clip(l.around), node), l.nest.bodies
	if v.fn != nil && !in.sound(v.d.node) {
		return nil, nil
	}
	if in.d.pkg != l.nest.home {
		in.unexported(node)
	}
	in.reserve(n)
	if !slices.Contains(l.nest.facts, in.facts) {
		l.nest.facts = append(l.nest.facts, in.facts)
	}
	for _, c := range v.captures {
		switch {
		case c.object == nil: // the receiver, which the method has a copy of
			if r := v.fn.Signature().Recv(); r.Name() != "" && r.Name() != "_" {
				in.declare(n, r, load(c.place, c.t))
			}
		case c.self:
			in.env[c.object] = &binding{value: v}
		case c.value != nil:
			in.env[c.object] = &binding{value: c.value}
		default:
			in.env[c.object] = &binding{place: c.place, dynamic: c.dynamic}
		}
	}
	return in, body
}

// open refuses declared functions that are not to be looked into.
func (l *lowerer) open(n ast.Node, v *funcValue) bool {
	what := "call of " + v.fn.FullName()
	switch {
	case v.d == nil:
		l.noSource(n, v.fn)
	case v.d.generated:
		l.refuse(n, what, "it is generated, and what is generated is not differentiated again",
			"differentiate the function it was made of, or use an operator of second order")
	case l.p.rule(v.fn) != nil:
		l.refuse(n, what, "it is known by a rule and cannot take functions", "")
	case l.p.passive[v.fn]:
		l.refuse(n, what, "it is passive, and its body would have derivatives here", "remove //nabla:passive")
	default:
		return true
	}
	return false
}

// reserve keeps the names of packages from variables.
func (l *lowerer) reserve(n ast.Node) {
	for _, name := range slices.Sorted(maps.Keys(l.facts.packages)) {
		if l.nest.packages[name] {
			continue
		}
		if l.names.fresh(name) != name {
			l.refuse(n, "range over a function",
				"it reads variables of package "+name+", and one of the function has that name", "rename the variable")
		}
		l.nest.packages[name] = true
	}
}

// declare makes a variable of the source that begins with a value.
func (l *lowerer) declare(n ast.Node, o types.Object, e ir.Expr) {
	v := l.local(o)
	l.emit(&ir.Let{At: l.at(n), V: v, E: l.coerce(e, v.Type, n)})
	l.bind(o, v)
}

// enter evaluates the arguments of a call of v and is a lowerer for its body.
func (l *lowerer) enter(call *ast.CallExpr, list []ast.Expr, v *funcValue) (*lowerer, *ast.BlockStmt) {
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
	in, body := l.inside(call, v)
	if in == nil {
		return nil, nil
	}
	for i := range sig.Params().Len() {
		o := sig.Params().At(i)
		k := values[i]
		if k != nil && k.dynamic == nil {
			in.env[o] = &binding{value: k}
			continue
		}
		e := args[0]
		args = args[1:]
		if k != nil && (in.facts.assigned[o] > 0 || in.facts.byReference(o)) {
			e, k = &ir.Convert{Typed: ir.Typed{T: in.subst.of(o.Type())}, X: e}, nil // it holds something else later on
		}
		switch {
		case o.Name() == "" || o.Name() == "_":
			if mayPanic(e) {
				in.temp(call, "unused", e.Type(), e)
			}
		case k != nil:
			p := in.temp(call, o.Name(), k.dynamic, e)
			in.env[o] = &binding{place: &ir.Place{Root: p}, dynamic: k.dynamic}
		default:
			in.declare(call, o, e)
		}
	}
	return in, body
}

// called is the function that a call calls, and the arguments for its parameters; nil if
// its body cannot be put there.
func (l *lowerer) called(call *ast.CallExpr, c callee) (*funcValue, []ast.Expr) {
	switch c.kind {
	case valueCallee:
		if c.value.null || c.value.loop != nil {
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
		t := substitutionOf(v.fn, c.targs).of(r.Type())
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

// made is the function that a call of a function gives, whose body is put here, if it
// ends with its only return; nil for others.
func (l *lowerer) made(call *ast.CallExpr) *funcValue {
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
	v, list := l.called(call, c)
	if v == nil {
		return nil
	}
	in, _ := l.enter(call, list, v)
	if in == nil {
		return nil
	}
	in.stmts(body.List[:last])
	return in.function(r.Results[0])
}

// returns is how many return statements a body has, without those of function literals.
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

// callInside is a call whose body is put where it stands.
func (l *lowerer) callInside(call *ast.CallExpr, c callee, lets ir.Block, results []*ir.Var) bool {
	v, list := l.called(call, c)
	if v == nil {
		l.refuse(call, "call with the function that runs the body of a loop", "the body of what is called is not known",
			remedyStatic)
		return false
	}
	in, body := l.enter(call, list, v)
	if in == nil {
		return false
	}
	sig := v.signature()
	for i := range sig.Results().Len() {
		o := sig.Results().At(i)
		r := &ir.Var{Name: l.names.fresh("r"), Type: in.subst.of(o.Type()), Pos: l.pos(call)}
		l.emit(&ir.Let{At: l.at(call), V: r})
		in.env[o] = &binding{place: &ir.Place{Root: r}}
		in.results = append(in.results, r)
	}
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
			l.emit(&ir.Set{At: l.at(call), P: &ir.Place{Root: v}, E: loadVar(in.results[i])})
		}
	}
	return true
}

// emitScope emits a block that can be left; without its label where nothing leaves to it.
func (l *lowerer) emitScope(n ast.Node, label *ir.Label, body ir.Block) {
	if k := len(body); k > 0 {
		if s, ok := body[k-1].(*ir.Leave); ok && s.L == label {
			body = body[:k-1]
		}
	}
	if k := len(body); k > 0 {
		if s, ok := body[k-1].(*ir.Loop); ok { // its end is the one of the block
			ir.Walk(s.Body, func(st ir.Stmt) bool {
				if leave, ok := st.(*ir.Leave); ok && leave.L == label {
					leave.L = s.L
				}
				return true
			})
		}
	}
	if leavesTo(body, label) {
		l.emit(&ir.Scope{At: l.at(n), L: label, Body: body})
		return
	}
	for _, s := range body {
		l.emit(s)
	}
}

// handsOnYield says whether a function that is called gets the one that runs the body of
// a loop.
func (l *lowerer) handsOnYield(call *ast.CallExpr, c callee) bool {
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

// carriesLoop says whether a call of v may run the body of a loop.
func (v *funcValue) carriesLoop() bool {
	return v != nil &&
		(v.loop != nil || slices.ContainsFunc(v.captures, func(c capture) bool { return c.value.carriesLoop() }))
}
