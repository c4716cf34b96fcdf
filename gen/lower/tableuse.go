package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/packages"
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
	only := p.onlyReads(d.pkg, o)
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

// onlyReads reports whether the variable o of a function in pkg, a table of functions, is only read.
func (p *Program) onlyReads(pkg *packages.Package, o types.Object) bool {
	u := p.usageOf(pkg)
	return !slices.ContainsFunc(u.uses[o], func(id *ast.Ident) bool { return !p.readsIn(u, id) })
}

// readsIn reports whether a use of a table only reads it.
func (p *Program) readsIn(u *usage, id *ast.Ident) bool {
	info, parent := u.pkg.TypesInfo, u.parents[id]
	switch n := parent.(type) {
	case *ast.IndexExpr:
		switch above := u.parents[n].(type) {
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
