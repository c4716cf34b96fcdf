package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"
)

// Uses of tables of functions. A variable or parameter with a table does not exist at run time if the table is only
// read: its elements are read and ranged over, its length is taken, and it is passed to parameters of which the same is
// true. Other tables are slices, arrays and maps of function values in memory.

// readsTable reports whether the parameter o of a function that is not loaded from export data, a table of functions,
// is only read.
func (p *Program) readsTable(o *types.Var) bool {
	if known, ok := p.readTables[o]; ok {
		return known
	}
	if p.readTables == nil {
		p.readTables = map[*types.Var]bool{}
	}
	d := p.declarationAt(o.Pos())
	if d == nil {
		return false
	}
	p.readTables[o] = true // in a recursive call
	only := p.onlyReads(d.pkg.TypesInfo, d.node, o)
	p.readTables[o] = only
	return only
}

// declarationAt returns the declaration of the function that contains pos, or nil.
func (p *Program) declarationAt(pos token.Pos) *decl {
	if len(p.declared) != len(p.decls) {
		p.declared = p.declared[:0]
		for _, d := range p.decls {
			p.declared = append(p.declared, d)
		}
		slices.SortFunc(p.declared, func(a, b *decl) int { return int(a.node.Pos()) - int(b.node.Pos()) })
	}
	i, found := slices.BinarySearchFunc(p.declared, pos, func(d *decl, pos token.Pos) int {
		return int(d.node.Pos()) - int(pos)
	})
	if !found {
		i--
	}
	if !pos.IsValid() || i < 0 || pos >= p.declared[i].node.End() {
		return nil
	}
	return p.declared[i]
}

// onlyReads reports whether the variable o, a table of functions, is only read in node.
func (p *Program) onlyReads(info *types.Info, node ast.Node, o types.Object) bool {
	ok := true
	var stack []ast.Node
	ast.Inspect(node, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if id, is := n.(*ast.Ident); is && info.Uses[id] == o {
			ok = ok && p.readsIn(info, id, stack)
		}
		stack = append(stack, n)
		return ok
	})
	return ok
}

// readsIn reports whether a use of a table in the nodes of stack only reads it.
func (p *Program) readsIn(info *types.Info, id *ast.Ident, stack []ast.Node) bool {
	parent := func(k int) ast.Node {
		if k > len(stack) {
			return nil
		}
		return stack[len(stack)-k]
	}
	switch n := parent(1).(type) {
	case *ast.IndexExpr:
		switch above := parent(2).(type) {
		case *ast.AssignStmt:
			return n.X == id && !slices.Contains(above.Lhs, ast.Expr(n))
		case *ast.RangeStmt:
			return n.X == id && above.Key != n && above.Value != n
		case *ast.UnaryExpr:
			return n.X == id && above.Op != token.AND
		}
		return n.X == id
	case *ast.RangeStmt:
		return n.X == id
	case *ast.CallExpr:
		if b, ok := info.Uses[identOf(n.Fun)].(*types.Builtin); ok {
			return b.Name() == "len"
		}
		fn := typeutil.StaticCallee(info, n)
		i := slices.Index(n.Args, ast.Expr(id))
		if fn == nil || i < 0 {
			return false
		}
		params := fn.Origin().Signature().Params()
		if i >= params.Len() || !isFuncTable(params.At(i).Type()) {
			return false // an element of a variadic parameter, or of another type
		}
		return p.readsTable(params.At(i))
	}
	return false
}
