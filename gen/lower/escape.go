package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Captured variables of function literals that are stored. A literal that is only called refers to its variables where
// it is called; a stored one has those of the place where it is evaluated, by value unless they change afterwards.

// escaping returns v with its captured variables by pointer where they may change after the current statement; nil if
// that is refused.
func (l *lowerer) escaping(n ast.Node, v *funcValue) *funcValue {
	if v.lit == nil {
		return v
	}
	w := *v
	w.captures = slices.Clone(v.captures)
	for i := range w.captures {
		c := &w.captures[i]
		if c.self || c.reference || c.object == nil {
			continue
		}
		change := changesAfter(v.home, v.lit, c.object)
		if change == neverChanges {
			continue
		}
		// The variables of another function were copied when v was passed on.
		if change == loopVariableChanges || c.value != nil || c.dynamicType != nil || v.home.f != l.f || v.inherited {
			l.refuse(n, "function value", "it is stored with the variable "+c.object.Name()+
				", which is assigned again after the function literal", "use a variable that is assigned once")
			return nil
		}
		c.reference = true
		w.id += "&" + c.name
	}
	return &w
}

// A change says how a captured variable changes after a function literal is evaluated.
type change uint8

// The ways in which a variable changes.
const (
	neverChanges change = iota
	assignedLater
	loopVariableChanges // the body of the loop assigns to the variable, or all iterations of a range share it
)

// changesAfter reports how the variable o of the function that l lowers may change after lit is evaluated: by an
// assignment after it in the source, or in a loop around it in which o is not declared. Closures that assign to o
// capture it by pointer in any case.
func changesAfter(l *lowerer, lit *ast.FuncLit, o types.Object) change {
	if v, ok := o.(*types.Var); ok && isResult(l, v) {
		return assignedLater
	}
	out := neverChanges
	note := func(c change) { out = max(out, c) }
	var stack []ast.Node
	// later reports whether the statement at pos may be executed after lit is evaluated.
	later := func(pos token.Pos) bool {
		if pos > lit.Pos() {
			return true
		}
		for _, n := range stack {
			iteration := n // the nodes in which a variable is one of an iteration
			switch n := n.(type) {
			case *ast.ForStmt:
				if l.facts.perLoop {
					iteration = n.Body
				}
			case *ast.RangeStmt:
			default:
				continue
			}
			around := n.Pos() <= lit.Pos() && lit.End() <= n.End()
			declared := iteration.Pos() <= o.Pos() && o.Pos() < iteration.End()
			if around && !declared {
				return true
			}
		}
		return false
	}
	write := func(e ast.Expr) {
		if base(l.info, e) != o || l.info.Defs[identOf(e)] == o || !later(e.Pos()) {
			return
		}
		for _, n := range stack {
			f, ok := n.(*ast.ForStmt)
			if l.facts.perLoop || !ok || f.Init == nil || o.Pos() < f.Init.Pos() || f.Init.End() <= o.Pos() {
				continue
			}
			if f.Post == nil || e.Pos() < f.Post.Pos() || f.Post.End() <= e.Pos() {
				note(loopVariableChanges)
			}
			return // the post statement changes the variable of the next iteration
		}
		note(assignedLater)
	}
	ast.Inspect(l.d.node, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, n)
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				write(e)
			}
		case *ast.IncDecStmt:
			write(n.X)
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if e == nil {
					continue
				}
				if n.Tok == token.ASSIGN {
					write(e)
				} else if l.facts.perLoop && l.info.Defs[identOf(e)] == o {
					note(loopVariableChanges)
				}
			}
		}
		return true
	})
	return out
}

// changesCaptured reports whether the variable o may change after a function literal that refers to it is evaluated.
func changesCaptured(l *lowerer, o types.Object) (found bool) {
	ast.Inspect(l.d.node, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if !ok || lit.Pos() <= o.Pos() && o.Pos() < lit.End() {
			return !found
		}
		ast.Inspect(lit, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			found = found || ok && l.info.Uses[id] == o && changesAfter(l, lit, o) != neverChanges
			return !found
		})
		return !found
	})
	return found
}

// isResult reports whether v is a result with a name, which return statements assign, of a function around a literal.
func isResult(l *lowerer, v *types.Var) bool {
	of := func(t *ast.FuncType) bool {
		return t.Results != nil && t.Results.Pos() <= v.Pos() && v.Pos() < t.Results.End()
	}
	found := of(l.d.node.Type)
	ast.Inspect(l.d.node.Body, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncLit); ok {
			found = found || of(f.Type)
		}
		return true
	})
	return found
}
