package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Assignments and declarations. Sums and differences become ir.Add, other assignments ir.Set. An
// assignment of several values evaluates all operands before it assigns any.

// assign lowers an assignment statement of any form.
func (l *lowerer) assign(s *ast.AssignStmt) {
	switch s.Tok {
	case token.ASSIGN, token.DEFINE:
		if l.bindFunctions(s) {
			return
		}
		l.assignAll(s, s.Lhs, s.Rhs, s.Tok == token.DEFINE)
	default:
		if l.mapAssign(s, s.Lhs[0], compound[s.Tok], func(t types.Type) ir.Expr {
			e := l.expr(s.Rhs[0])
			if s.Tok == token.SHL_ASSIGN || s.Tok == token.SHR_ASSIGN {
				return e
			}
			return l.coerce(e, t, s)
		}) {
			return
		}
		p := l.lvalue(s.Lhs[0])
		if p == nil {
			return
		}
		l.update(s, p, compound[s.Tok], l.expr(s.Rhs[0]))
	}
}

// compound maps assignment tokens such as += to their operations.
var compound = map[token.Token]token.Token{
	token.ADD_ASSIGN: token.ADD, token.SUB_ASSIGN: token.SUB, token.MUL_ASSIGN: token.MUL,
	token.QUO_ASSIGN: token.QUO, token.REM_ASSIGN: token.REM, token.AND_ASSIGN: token.AND,
	token.OR_ASSIGN: token.OR, token.XOR_ASSIGN: token.XOR, token.SHL_ASSIGN: token.SHL,
	token.SHR_ASSIGN: token.SHR, token.AND_NOT_ASSIGN: token.AND_NOT,
}

// incDec lowers x++ and x--.
func (l *lowerer) incDec(s *ast.IncDecStmt) {
	by := token.ADD
	if s.Tok == token.DEC {
		by = token.SUB
	}
	if l.mapAssign(s, s.X, by, one) {
		return
	}
	p := l.lvalue(s.X)
	if p == nil {
		return
	}
	op := token.ADD
	if s.Tok == token.DEC {
		op = token.SUB
	}
	t := l.typeOf(s.X)
	l.update(s, p, op, &ir.Const{Typed: ir.Typed{T: t}, Val: constant.MakeInt64(1)})
}

// update emits p op= e, as an Add if possible: the adjoint of an addition needs the value of
// neither p nor e. Unsigned numbers are not added to, since a difference cannot be negated.
func (l *lowerer) update(n ast.Node, p *ir.Place, op token.Token, e ir.Expr) {
	t, _ := placeType(p, nil)
	if op != token.SHL && op != token.SHR {
		e = l.coerce(e, t, n)
	}
	// An Add must not read its target. Strings are concatenated by Set.
	number := ir.IsContinuous(t) || ir.IsInteger(t)
	if number && (op == token.ADD || op == token.SUB) && basic(t)&types.IsUnsigned == 0 && !l.readsSame(p, e) {
		if op == token.SUB {
			e = negate(e)
		}
		l.emit(&ir.Add{At: l.at(n), P: p, E: e})
		return
	}
	l.emit(&ir.Set{At: l.at(n), P: p, E: &ir.Binary{Typed: ir.Typed{T: t}, Op: op, X: ir.LoadOf(p, t), Y: e}})
}

// readsSame reports whether e reads p through the same root. Aliases with other roots are left to
// the analyses of later stages.
func (l *lowerer) readsSame(p *ir.Place, e ir.Expr) bool {
	found := false
	eachPlace(e, func(r *ir.Place, taken bool) {
		found = found || !taken && r.Root == p.Root && l.overlap(p, r)
	})
	return found
}

// negate returns -e; the negation of a positive constant is a constant.
func negate(e ir.Expr) ir.Expr {
	if c, ok := e.(*ir.Const); ok && c.Val != nil && c.Text == "" && constant.Sign(c.Val) > 0 {
		return &ir.Const{Typed: c.Typed, Val: constant.UnaryOp(token.SUB, c.Val, 0)}
	}
	return &ir.Unary{Typed: ir.Typed{T: e.Type()}, Op: token.SUB, X: e}
}

// assignAll lowers an assignment or a declaration with values. define is set if identifiers on the
// left may be new variables.
func (l *lowerer) assignAll(n ast.Node, lhs, rhs []ast.Expr, define bool) {
	if len(lhs) > 1 && len(rhs) == 1 {
		l.assignTuple(n, lhs, rhs[0], define)
		return
	}
	if len(lhs) == 1 {
		l.assignOne(n, lhs[0], rhs[0], define)
		return
	}
	places := make([]*ir.Place, len(lhs))
	store := func() {}
	for i, e := range lhs {
		if l.newVar(e, define) == nil {
			places[i], store = l.assignable(n, e, store)
		}
	}
	es := make([]ir.Expr, len(rhs))
	for i, e := range rhs {
		es[i] = l.expr(e)
	}
	for i, e := range lhs {
		if o := l.newVar(e, define); o != nil {
			v := l.local(o)
			es[i] = l.coerce(es[i], v.Type, e)
			places[i] = &ir.Place{Root: v}
			defer l.bind(o, v)
		} else if places[i] != nil {
			t, _ := placeType(places[i], nil)
			es[i] = l.coerce(es[i], t, e)
		}
	}
	l.parallel(n, places, es)
	store()
}

// newVar returns the variable that e declares if define is set, or nil.
func (l *lowerer) newVar(e ast.Expr, define bool) types.Object {
	id, ok := e.(*ast.Ident)
	if !define || !ok || id.Name == "_" {
		return nil
	}
	return l.info.Defs[id]
}

// isBlank reports whether e is the blank identifier.
func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// assignOne lowers an assignment of one value. The value of a call is assigned by the call itself
// if the types are identical.
func (l *lowerer) assignOne(n ast.Node, lhs, rhs ast.Expr, define bool) {
	if o := l.newVar(lhs, define); o != nil {
		if l.bindTable(o, rhs) || l.bindDynamic(n, o, rhs) || l.bindChosen(n, o, rhs) {
			return
		}
		if l.facts.assigned[o] > 1 && l.declareDynamic(n, o) {
			l.assignDynamic(n, l.env[o], rhs)
			return
		}
		v := l.local(o)
		if call, ok := l.plainCall(rhs); ok && types.Identical(l.typeOf(rhs), v.Type) {
			declared := l.block(func() {})
			declared = append(declared, &ir.Let{At: l.at(n), V: v})
			l.callWith(call, declared, []*ir.Var{v})
		} else {
			l.emit(&ir.Let{At: l.at(n), V: v, E: l.coerce(l.rvalue(rhs), v.Type, rhs)})
		}
		l.bind(o, v)
		return
	}
	if isBlank(lhs) {
		l.discard(n, rhs)
		return
	}
	if id := identOf(lhs); id != nil {
		if b := l.env[l.info.ObjectOf(id)]; b != nil && b.types != nil {
			l.assignDynamic(n, b, rhs)
			return
		}
	}
	if l.mapAssign(n, lhs, token.ILLEGAL, func(t types.Type) ir.Expr { return l.coerce(l.expr(rhs), t, rhs) }) {
		return
	}
	p := l.lvalue(lhs)
	if p == nil {
		return
	}
	t, _ := placeType(p, nil)
	if call, ok := ast.Unparen(rhs).(*ast.CallExpr); ok && l.isBuiltin(call, "append") &&
		types.Identical(l.typeOf(rhs), t) {
		l.appendTo(call, p)
		return
	}
	l.emit(&ir.Set{At: l.at(n), P: p, E: l.coerce(l.rvalue(rhs), t, rhs)})
}

// discard lowers _ = e: the calls and the panics of e remain.
func (l *lowerer) discard(n ast.Node, rhs ast.Expr) {
	if call, ok := l.plainCall(rhs); ok {
		l.callInto(call, nil)
		return
	}
	e := l.rvalue(rhs)
	if mayPanic(e) {
		l.temp(n, "unused", e.Type(), e)
	}
}

// assignTuple lowers a, b = f(). Operands on the left are evaluated before the call; results of
// another type, or for variables that exist already, pass through temporaries.
func (l *lowerer) assignTuple(n ast.Node, lhs []ast.Expr, rhs ast.Expr, define bool) {
	if x, ok := ast.Unparen(rhs).(*ast.TypeAssertExpr); ok && len(lhs) == 2 && l.assertTuple(n, lhs, x, define) {
		return
	}
	if l.tableTuple(n, lhs, rhs, define) || l.mapTuple(n, lhs, rhs, define) {
		return
	}
	places := make([]*ir.Place, len(lhs))
	store := func() {}
	for i, e := range lhs {
		if l.newVar(e, define) == nil && !isBlank(e) {
			if places[i], store = l.assignable(n, e, store); places[i] == nil {
				return
			}
		}
	}
	call, ok := ast.Unparen(rhs).(*ast.CallExpr)
	if !ok {
		l.refuseTuple(rhs)
		return
	}
	tuple, ok := l.info.TypeOf(call).(*types.Tuple)
	if !ok || tuple.Len() != len(lhs) {
		l.refuse(call, "call", "it has an error", "")
		return
	}
	results := make([]*ir.Var, len(lhs))
	var declared ir.Block
	// Assignments of results to places follow the call, in the order of the left side.
	var after []func()
	for i, e := range lhs {
		t := l.subst.apply(tuple.At(i).Type())
		if isBlank(e) {
			continue
		}
		if o := l.newVar(e, define); o != nil {
			v := l.local(o)
			results[i] = v
			if !types.Identical(t, v.Type) {
				results[i] = &ir.Var{Name: l.names.fresh("t"), Type: t, Pos: l.pos(e)}
				after = append(after, func() {
					l.emit(&ir.Let{At: l.at(n), V: v, E: l.coerce(results[i].Load(), v.Type, e)})
				})
			}
			after = append(after, func() { l.bind(o, v) })
		} else {
			results[i] = &ir.Var{Name: l.names.fresh("t"), Type: t, Pos: l.pos(e)}
			after = append(after, func() {
				to, _ := placeType(places[i], nil)
				l.emit(&ir.Set{At: l.at(n), P: places[i], E: l.coerce(results[i].Load(), to, e)})
			})
		}
		declared = append(declared, &ir.Let{At: l.at(n), V: results[i]})
	}
	// Index operands are read before any assignment.
	for i, p := range places {
		for j := range i {
			if p != nil && places[j] != nil && l.readByPlace(places[j], p) {
				places[i] = l.freeze(n, p)
				break
			}
		}
	}
	l.callWith(call, declared, results)
	for _, f := range after {
		f()
	}
	store()
}

// refuseTuple refuses the forms of v, ok := e that are not calls.
func (l *lowerer) refuseTuple(e ast.Expr) {
	switch e := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		l.refuse(e, "look-up in a map", "the presence of a key cannot be tested", "pass the value as an argument")
	case *ast.TypeAssertExpr:
		l.refuse(e, "type assertion", "types are only known at run time", "pass a concrete type")
	default:
		l.refuse(e, "receive from a channel", "channels have no derivative", "pass values as arguments")
	}
}
