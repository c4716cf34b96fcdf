package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Switch statements, as chains of ifs. Cases linked by fallthrough share a branch in which a number
// selects where to start.

// switchStmt lowers an expression switch.
func (l *lowerer) switchStmt(s *ast.SwitchStmt, label string) {
	if s.Init != nil {
		l.stmt(s.Init)
	}
	var tag ir.Expr
	if s.Tag != nil {
		e := l.expr(s.Tag)
		if _, ok := e.(*ir.Const); !ok {
			// The tag is evaluated once, before the tests.
			e = l.temp(s, "tag", e.Type(), e).Load()
		}
		tag = e
	}
	clauses := make([]*ast.CaseClause, len(s.Body.List))
	var order []int // indices of clauses in order of their tests, the default last
	last := -1
	through := false
	for i, c := range s.Body.List {
		clauses[i] = c.(*ast.CaseClause)
		if clauses[i].List == nil {
			last = i
		} else {
			order = append(order, i)
		}
		through = through || fallsThrough(clauses[i])
	}
	if last >= 0 {
		order = append(order, last)
	}
	l.breakable(s, label, func() {
		if !through {
			l.chain(clauses, order, tag, func(i int) { l.stmts(clauses[i].Body) })
			return
		}
		start := l.temp(s, "start", types.Typ[types.Int], integer(int64(len(clauses)), types.Typ[types.Int]))
		l.chain(clauses, order, tag, func(i int) {
			l.emit(&ir.Set{At: l.at(clauses[i]), P: &ir.Place{Root: start}, E: integer(int64(i), start.Type)})
		})
		l.groups(clauses, start)
	})
}

// breakable emits the statements of body, in a scope that break statements leave if there are any. label is the label
// of the statement n in the source, or empty.
func (l *lowerer) breakable(n ast.Node, label string, body func()) {
	name := "sw"
	if label != "" {
		name = label
	}
	scope := &ir.Scope{At: l.at(n), L: &ir.Label{Name: l.names.fresh(name)}}
	l.jumps = append(l.jumps, jump{name: label, brk: l.target(scope.L)})
	defer func() { l.jumps = l.jumps[:len(l.jumps)-1] }()
	scope.Body = l.block(body)
	if leavesLabel(scope.Body, scope.L) {
		l.emit(scope)
		return
	}
	for _, st := range scope.Body {
		l.emit(st)
	}
}

// fallsThrough reports whether a clause ends with fallthrough.
func fallsThrough(c *ast.CaseClause) bool {
	if len(c.Body) == 0 {
		return false
	}
	b, ok := c.Body[len(c.Body)-1].(*ast.BranchStmt)
	return ok && b.Tok == token.FALLTHROUGH
}

// chain emits the tests of the clauses in order; run emits clause i.
func (l *lowerer) chain(clauses []*ast.CaseClause, order []int, tag ir.Expr, run func(int)) {
	if len(order) == 0 {
		return
	}
	i := order[0]
	c := clauses[i]
	if c.List == nil {
		run(i)
		return
	}
	cond := l.anyOf(c, c.List, tag)
	st := &ir.If{At: l.at(c), Cond: cond, Then: l.block(func() { run(i) })}
	st.Else = l.block(func() { l.chain(clauses, order[1:], tag, run) })
	l.emit(st)
}

// anyOf returns whether the tag equals one of the values, which are evaluated as far as necessary.
func (l *lowerer) anyOf(n ast.Node, list []ast.Expr, tag ir.Expr) ir.Expr {
	t := types.Typ[types.Bool]
	test := l.expr(list[0])
	if tag != nil {
		test = l.compare(list[0], token.EQL, tag, test, t)
	}
	if len(list) == 1 {
		return test
	}
	var rest ir.Expr
	body := l.block(func() { rest = l.anyOf(n, list[1:], tag) })
	if len(body) == 0 {
		return &ir.Binary{Typed: ir.Typed{T: t}, Op: token.LOR, X: test, Y: rest}
	}
	v := l.temp(n, "ok", t, test)
	if !terminates(body) {
		body = append(body, &ir.Set{At: l.at(n), P: &ir.Place{Root: v}, E: rest})
	}
	l.emit(&ir.If{At: l.at(n), Cond: &ir.Unary{Typed: ir.Typed{T: t}, Op: token.NOT, X: v.Load()}, Then: body})
	return v.Load()
}

// groups emits the bodies of the clauses from number start on, each group linked by fallthrough in
// a branch of its own.
func (l *lowerer) groups(clauses []*ast.CaseClause, start *ir.Var) {
	test := func(n ast.Node, op token.Token, k int) ir.Expr {
		return &ir.Binary{Typed: ir.Typed{T: types.Typ[types.Bool]}, Op: op, X: start.Load(),
			Y: integer(int64(k), start.Type)}
	}
	if len(clauses) == 0 {
		return
	}
	var from func(i int)
	from = func(i int) {
		if i == len(clauses) {
			return
		}
		end := i
		for fallsThrough(clauses[end]) {
			end++
		}
		st := &ir.If{At: l.at(clauses[i]), Cond: test(clauses[i], token.LEQ, end)}
		st.Then = l.block(func() {
			for k := i; k < end; k++ {
				body := l.block(func() { l.stmts(clauses[k].Body) })
				l.emit(&ir.If{At: l.at(clauses[k]), Cond: test(clauses[k], token.LEQ, k), Then: body})
			}
			l.stmts(clauses[end].Body)
		})
		st.Else = l.block(func() { from(end + 1) })
		l.emit(st)
	}
	from(0)
}
