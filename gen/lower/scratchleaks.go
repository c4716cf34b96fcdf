package lower

import (
	"go/ast"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
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
		for _, f := range pkg.Syntax {
			var stack []ast.Node
			ast.Inspect(f, func(n ast.Node) bool {
				if n == nil {
					stack = stack[:len(stack)-1]
					return true
				}
				if id, ok := n.(*ast.Ident); ok && at == "" && pkg.TypesInfo.Uses[id] == o {
					if p.useLeaks(pkg.TypesInfo, id, stack, seen) {
						pos := p.fset.Position(id.Pos())
						at = pos.Filename[strings.LastIndexAny(pos.Filename, `/\`)+1:] + ":" + strconv.Itoa(pos.Line)
					}
				}
				stack = append(stack, n)
				return true
			})
		}
	})
	return at
}

// useLeaks reports whether the use id of a variable, in the nodes of stack, may store a reference to its memory where
// the variable is not followed.
func (p *Program) useLeaks(info *types.Info, id *ast.Ident, stack []ast.Node, seen map[types.Object]bool) bool {
	var at ast.Expr = id
	address := false // the value is an address or a slice of the variable
	for i := len(stack) - 1; i >= 0; i-- {
		switch n := stack[i].(type) {
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
			at, address = n, n.Op.String() == "&"
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
			fn := calledFunc(info, n)
			return k < 0 || fn == nil || p.paramLeaks(fn, k, seen)
		default:
			return address || passesReference(info, at)
		}
	}
	return true
}

// isGlobal reports whether o is a package-level variable.
func isGlobal(o types.Object) bool {
	return o != nil && o.Pkg() != nil && o.Parent() == o.Pkg().Scope()
}

// calledFunc returns the declared function that a call calls, or nil.
func calledFunc(info *types.Info, n *ast.CallExpr) *types.Func {
	switch f := ast.Unparen(n.Fun).(type) {
	case *ast.Ident:
		fn, _ := info.Uses[f].(*types.Func)
		return fn
	case *ast.SelectorExpr:
		fn, _ := info.Uses[f.Sel].(*types.Func)
		return fn
	}
	return nil
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
