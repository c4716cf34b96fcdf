package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/types/typeutil"
)

// Which package variables have memory of their own: those to whose memory no other name refers.

// isFresh reports whether the memory of a slice variable is its own when the program starts: it has no initialiser, or
// one that makes it.
func (p *Program) isFresh(o *types.Var) bool {
	if p.initialisers == nil {
		p.findWrittenVars()
	}
	in, ok := p.initialisers[o]
	if !ok {
		return true
	}
	switch e := ast.Unparen(in.e).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		id, ok := ast.Unparen(e.Fun).(*ast.Ident)
		if !ok {
			return false
		}
		_, ok = in.pkg.TypesInfo.Uses[id].(*types.Builtin)
		return ok && id.Name == "make"
	}
	return false
}

// leaks returns a position at which a reference to the memory of a package variable is stored elsewhere, "" if there is
// none in the loaded packages.
func (p *Program) leaks(o *types.Var) string { return p.leaksOf(o, map[types.Object]bool{}) }

func (p *Program) leaksOf(o types.Object, seen map[types.Object]bool) (at string) {
	if seen[o] {
		return ""
	}
	seen[o] = true
	packages.Visit(p.requested, nil, func(pkg *packages.Package) {
		if at != "" || !p.indexed[pkg] || pkg.TypesInfo == nil || pkg.Types != o.Pkg() && !o.Exported() {
			return
		}
		u := p.usageOf(pkg)
		for _, id := range u.uses[o] {
			if p.useLeaks(u, id, seen) {
				pos := p.fset.Position(id.Pos())
				at = pos.Filename[strings.LastIndexAny(pos.Filename, `/\`)+1:] + ":" + strconv.Itoa(pos.Line)
				return
			}
		}
	})
	return at
}

// useLeaks reports whether the use id of a variable may store a reference to its memory where the variable is not
// followed.
func (p *Program) useLeaks(u *usage, id *ast.Ident, seen map[types.Object]bool) bool {
	var at ast.Expr = id
	info := u.pkg.TypesInfo
	address := false // the value is an address or a slice of the variable
	for n := u.parents[id]; n != nil; n = u.parents[n] {
		switch n := n.(type) {
		case *ast.ParenExpr:
			at = n
		case *ast.SelectorExpr:
			if n.Sel == at {
				at = n
				continue
			}
			s := info.Selections[n]
			if s == nil || s.Kind() != types.FieldVal {
				fn, ok := info.Uses[n.Sel].(*types.Func)
				return !ok || !isPointer(fn.Signature().Recv().Type()) && !isSlice(fn.Signature().Recv().Type()) ||
					p.paramLeaks(fn, -1, seen)
			}
			at, address = n, false
		case *ast.IndexExpr:
			if n.X != at {
				return false
			}
			at, address = n, false
		case *ast.StarExpr:
			at, address = n, false
		case *ast.SliceExpr:
			if n.X != at {
				return false
			}
			at, address = n, true
		case *ast.UnaryExpr:
			at, address = n, n.Op == token.AND
		case *ast.BinaryExpr, *ast.RangeStmt, *ast.IncDecStmt, *ast.ExprStmt, *ast.IfStmt, *ast.SwitchStmt,
			*ast.ForStmt:
			return false
		case *ast.AssignStmt:
			if !address && !passesReference(info, at) || slices.Contains(n.Lhs, at) {
				return false
			}
			k := slices.Index(n.Rhs, at)
			if k < 0 || len(n.Lhs) != len(n.Rhs) {
				return true
			}
			to, ok := ast.Unparen(n.Lhs[k]).(*ast.Ident)
			return !ok || to.Name != "_" && p.leaksOf(info.ObjectOf(to), seen) != "" ||
				isGlobal(info.ObjectOf(to)) && !seen[info.ObjectOf(to)]
		case *ast.CallExpr:
			if !address && !passesReference(info, at) {
				return false
			}
			k := slices.Index(n.Args, at)
			if f, ok := ast.Unparen(n.Fun).(*ast.Ident); ok {
				if _, ok := info.Uses[f].(*types.Builtin); ok {
					if f.Name == "append" && k == 0 {
						at, address = n, true
						continue
					}
					return false
				}
			}
			fn := typeutil.StaticCallee(info, n)
			return k < 0 || fn == nil || p.paramLeaks(fn, k, seen)
		default:
			return address || passesReference(info, at)
		}
	}
	return true
}

// paramLeaks reports whether a function may store a reference that it gets as argument k, its receiver if k is -1.
func (p *Program) paramLeaks(fn *types.Func, k int, seen map[types.Object]bool) bool {
	sig := fn.Origin().Signature()
	v := sig.Recv()
	if k >= 0 {
		if sig.Variadic() && k >= sig.Params().Len()-1 {
			return true
		}
		v = sig.Params().At(k)
	}
	return p.decls[fn.Origin()] == nil || p.leaksOf(v, seen) != ""
}
