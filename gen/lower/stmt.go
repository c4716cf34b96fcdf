package lower

import (
	"go/ast"
	"go/token"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Statements other than loops, switches and assignments.

// stmts lowers statements up to the first that is unreachable.
func (l *lowerer) stmts(list []ast.Stmt) {
	for _, s := range list {
		if l.unreachable() {
			return
		}
		l.stmt(s)
	}
}

// stmt lowers one statement.
func (l *lowerer) stmt(s ast.Stmt) {
	label := l.label
	l.label = ""
	switch s := s.(type) {
	case *ast.EmptyStmt:
	case *ast.BlockStmt:
		l.stmts(s.List)
	case *ast.LabeledStmt:
		l.label = s.Label.Name
		l.stmt(s.Stmt)
		l.label = ""
	case *ast.ExprStmt:
		l.exprStmt(s)
	case *ast.DeclStmt:
		l.declStmt(s)
	case *ast.AssignStmt:
		l.assign(s)
	case *ast.IncDecStmt:
		l.incDec(s)
	case *ast.IfStmt:
		l.ifStmt(s)
	case *ast.ForStmt:
		l.forStmt(s, label)
	case *ast.RangeStmt:
		l.rangeStmt(s, label)
	case *ast.SwitchStmt:
		l.switchStmt(s, label)
	case *ast.ReturnStmt:
		l.returnStmt(s)
	case *ast.BranchStmt:
		l.branch(s)
	case *ast.TypeSwitchStmt:
		l.typeSwitch(s, label)
	case *ast.GoStmt:
		l.refuse(s, "go statement", "goroutines have no fixed order that could be reversed",
			"do the work in the function itself")
	case *ast.DeferStmt:
		l.deferStmt(s)
	case *ast.SelectStmt:
		l.refuse(s, "select", "channels have no derivative", "pass values as arguments")
	case *ast.SendStmt:
		l.refuse(s, "send on a channel", "channels have no derivative", "pass values as arguments")
	default:
		l.refuse(s, "statement", "it is not known", "")
	}
}

// exprStmt lowers a call whose results are discarded.
func (l *lowerer) exprStmt(s *ast.ExprStmt) {
	call, ok := ast.Unparen(s.X).(*ast.CallExpr)
	if !ok {
		l.refuse(s, "receive from a channel", "channels have no derivative", "pass values as arguments")
		return
	}
	if l.builtinStmt(call) {
		return
	}
	if l.sortCall(call) {
		return
	}
	l.callInto(call, nil)
	if l.isEndless(call) {
		l.neverReturns(call)
	}
}

// declStmt lowers variable declarations; constants and types need no code.
func (l *lowerer) declStmt(s *ast.DeclStmt) {
	d, ok := s.Decl.(*ast.GenDecl)
	if !ok || d.Tok != token.VAR {
		return
	}
	for _, spec := range d.Specs {
		spec := spec.(*ast.ValueSpec)
		if len(spec.Values) == 1 && len(spec.Names) == 1 && isFuncType(l.typeOf(spec.Names[0])) {
			l.bindFunction(spec, spec.Names[0], spec.Values[0], true)
			continue
		}
		if len(spec.Values) > 0 {
			lhs := make([]ast.Expr, len(spec.Names))
			for i, id := range spec.Names {
				lhs[i] = id
			}
			l.assignAll(spec, lhs, spec.Values, true)
			continue
		}
		for _, id := range spec.Names {
			o := l.info.Defs[id]
			if o == nil || id.Name == "_" {
				continue
			}
			if isFuncType(l.subst.apply(o.Type())) {
				_, at, _ := l.assignments(o)
				whole := len(at) == 1 && at[0] != nil && l.facts.block[o] == l.facts.within[at[0].(*ast.AssignStmt)] &&
					l.facts.assigned[o] == 1 && !l.facts.byReference(o)
				if whole || l.declareChoice(id, o, &funcValue{null: true}) {
					continue // a whole one is bound by its assignment
				}
			}
			if l.declareDynamic(id, o) {
				continue
			}
			v := l.local(o)
			l.emit(&ir.Let{At: l.at(id), V: v})
			l.bind(o, v)
		}
	}
}

// ifStmt lowers an if statement. If its condition is constant, only the branch taken is lowered.
func (l *lowerer) ifStmt(s *ast.IfStmt) {
	if s.Init != nil {
		l.stmt(s.Init)
	}
	if l.stopsIterator(s) {
		l.yieldUnless(s.Cond)
		return
	}
	cond := l.expr(s.Cond)
	if c, ok := cond.(*ir.Const); ok && c.Val != nil {
		// The other branch may be impossible to lower in this specialization.
		if isTrue(c) {
			l.stmts(s.Body.List)
		} else if s.Else != nil {
			l.stmt(s.Else)
		}
		return
	}
	st := &ir.If{At: l.at(s), Cond: cond, Then: l.block(func() { l.stmts(s.Body.List) })}
	if s.Else != nil {
		st.Else = l.block(func() { l.stmt(s.Else) })
	}
	l.emit(st)
}

// returnStmt lowers a return: it assigns the results and leaves the function.
func (l *lowerer) returnStmt(s *ast.ReturnStmt) {
	if len(s.Results) > 0 {
		l.returnValues(s)
	}
	if len(l.deferred) > 0 && len(l.inlining.pending) > 0 {
		l.refuse(s, "return from a loop over a function",
			"deferred calls would run before the function ends its iteration", "return after the loop")
	}
	l.runDeferred(s)
	l.leave(s, l.exit)
}

// returnValues assigns the operands of a return to the results simultaneously.
func (l *lowerer) returnValues(s *ast.ReturnStmt) {
	var rs []ir.Expr
	if len(s.Results) == 1 && len(l.results) > 1 {
		for i, v := range l.callAll(s.Results[0], "r") {
			rs = append(rs, l.coerce(v.Load(), l.results[i].Type, s.Results[0]))
		}
		if len(rs) < len(l.results) {
			return // refused
		}
	} else {
		for i, e := range s.Results {
			if l.as != nil {
				k := l.devirtualize(e)
				rs = append(rs, l.coerce(k.value(), l.as, e))
				break
			}
			if len(s.Results) == 1 {
				rs = append(rs, l.coerce(l.rvalue(e), l.results[i].Type, e))
				break
			}
			rs = append(rs, l.coerce(l.expr(e), l.results[i].Type, e))
		}
	}
	places := make([]*ir.Place, len(rs))
	for i := range rs {
		places[i] = &ir.Place{Root: l.results[i]}
	}
	l.parallel(s, places, rs)
}

// branch lowers break and continue.
func (l *lowerer) branch(s *ast.BranchStmt) {
	name := ""
	if s.Label != nil {
		name = s.Label.Name
	}
	switch s.Tok {
	case token.GOTO:
		l.refuse(s, "goto", "only structured control flow is reversed", "use loops, break and continue with labels")
	case token.FALLTHROUGH:
		// switchStmt handles it.
	case token.BREAK, token.CONTINUE:
		for i := len(l.jumps) - 1; i >= 0; i-- {
			j := l.jumps[i]
			to := j.brk
			if s.Tok == token.CONTINUE {
				to = j.cont
			}
			if to.label == nil || name != "" && name != j.name {
				continue // continue ignores switches
			}
			l.leave(s, to)
			return
		}
		l.refuse(s, s.Tok.String(), "its target is not known", "")
	}
}
