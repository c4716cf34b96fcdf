package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Iterators that return as soon as yield returns false. Their exits need no exit code: the leave
// from the loop body skips the rest of the iterator.

// returnsWhenStopped reports whether an iterator returns immediately when yield returns false:
// yield is used only in calls in conditions of an if that returns, see stopCalls, and in a call
// that is the last statement.
func returnsWhenStopped(info *types.Info, body *ast.BlockStmt, yield types.Object) bool {
	is := func(e ast.Expr) bool {
		id, ok := ast.Unparen(e).(*ast.Ident)
		return ok && info.Uses[id] == yield
	}
	// Every use of yield must be one of the permitted calls.
	good, uses := 0, 0
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if info.Uses[n] == yield {
				uses++
			}
		case *ast.IfStmt:
			if returnsOnly(n) {
				k, _ := stopCalls(n.Cond, is)
				good += k
			}
		case *ast.FuncLit:
			// A return in a literal does not return from the iterator.
			ast.Inspect(n, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && info.Uses[id] == yield {
					uses++
				}
				return true
			})
			return false
		}
		return true
	})
	list := body.List
	if k := len(list); k > 0 {
		if _, ok := list[k-1].(*ast.ReturnStmt); ok {
			list = list[:k-1]
		}
	}
	if k := len(list); k > 0 {
		if s, ok := list[k-1].(*ast.ExprStmt); ok {
			if call, ok := ast.Unparen(s.X).(*ast.CallExpr); ok && is(call.Fun) {
				good++
			}
		}
	}
	return good == uses
}

// returnsOnly reports whether the body of s is a single return without operands, and there is no
// else.
func returnsOnly(s *ast.IfStmt) bool {
	if s.Else != nil || len(s.Body.List) != 1 {
		return false
	}
	r, ok := s.Body.List[0].(*ast.ReturnStmt)
	return ok && len(r.Results) == 0
}

// stopCalls returns the number of calls of yield in a condition that is true once one of them has
// returned false: !yield(x), c && !yield(x), !yield(x) || !yield(y). It reports whether cond has
// this form.
func stopCalls(cond ast.Expr, is func(ast.Expr) bool) (int, bool) {
	switch x := ast.Unparen(cond).(type) {
	case *ast.UnaryExpr:
		call, ok := ast.Unparen(x.X).(*ast.CallExpr)
		if ok && x.Op == token.NOT && is(call.Fun) {
			return 1, true
		}
	case *ast.BinaryExpr:
		n, ok := stopCalls(x.Y, is)
		if !ok {
			break
		}
		if x.Op == token.LAND {
			return n, true
		}
		if x.Op == token.LOR {
			m, both := stopCalls(x.X, is)
			return m + n, both
		}
	}
	return 0, false
}

// isDirectYield reports whether e is a yield function whose loop needs no exit code, so that it
// returns true whenever it returns.
func (l *lowerer) isDirectYield(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	b := l.env[l.info.Uses[id]]
	return b != nil && b.value != nil && b.value.loop != nil && b.value.loop.more == nil
}

// stopsIterator reports whether s only returns from an iterator after yield returned false.
func (l *lowerer) stopsIterator(s *ast.IfStmt) bool {
	if !returnsOnly(s) {
		return false
	}
	_, ok := stopCalls(s.Cond, l.isDirectYield)
	return ok
}

// yieldUnless emits the calls of yield in a condition that stopsIterator accepts.
func (l *lowerer) yieldUnless(cond ast.Expr) {
	switch x := ast.Unparen(cond).(type) {
	case *ast.UnaryExpr:
		l.expr(x.X)
	case *ast.BinaryExpr:
		if x.Op == token.LOR {
			l.yieldUnless(x.X)
			l.yieldUnless(x.Y)
			return
		}
		c := l.expr(x.X)
		l.emit(&ir.If{At: l.at(x), Cond: c, Then: l.block(func() { l.yieldUnless(x.Y) })})
	}
}

// exitsEarly reports whether the body of a loop has an exit other than continue.
func exitsEarly(body *ast.BlockStmt) bool {
	inside := map[string]bool{} // labels in the body
	ast.Inspect(body, func(n ast.Node) bool {
		if s, ok := n.(*ast.LabeledStmt); ok {
			inside[s.Label.Name] = true
		}
		_, lit := n.(*ast.FuncLit)
		return !lit
	})
	found := false
	var walk func(n ast.Node, breaks bool)
	walk = func(n ast.Node, breaks bool) {
		ast.Inspect(n, func(m ast.Node) bool {
			if m == n {
				return true
			}
			switch m := m.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt:
				found = true
			case *ast.BranchStmt:
				switch {
				case m.Tok == token.FALLTHROUGH:
				case m.Label != nil:
					found = found || !inside[m.Label.Name]
				case m.Tok == token.BREAK:
					found = found || !breaks
				}
			case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
				walk(m, true)
				return false
			}
			return true
		})
	}
	walk(body, false)
	return found
}
