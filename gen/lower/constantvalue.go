package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Package variables that the loaded packages never write: their values are those of their initialisers. Functions in
// them, in fields of structs and in tables, are known.

// An initialiser is the value of a package variable as of its declaration.
type initialiser struct {
	pkg  *packages.Package
	e    ast.Expr
	name string // of the variable
}

// constantExpr returns the expression that e in pkg stands for, the initialiser of a package variable or an element of
// one, and a lowerer for it; nil if e is none or if the variable may be written.
func (p *Program) constantExpr(pkg *packages.Package, e ast.Expr) (*lowerer, ast.Expr) {
	v, ok := p.resolveConstant(initialiser{pkg: pkg, e: e})
	if !ok {
		return nil, nil
	}
	key := pkg.PkgPath + "@" + strconv.Itoa(int(v.e.Pos()))
	if l := p.homes[key]; l != nil {
		return l, v.e
	}
	// A function with the expression as its body.
	at := v.e.Pos()
	d := &decl{
		fn:  types.NewFunc(at, v.pkg.Types, v.name, types.NewSignatureType(nil, nil, nil, nil, nil, false)),
		pkg: v.pkg, canGenerate: p.canGenerate(v.pkg),
		node: &ast.FuncDecl{Name: ast.NewIdent(v.name), Type: &ast.FuncType{Func: at, Params: &ast.FieldList{}},
			Body: &ast.BlockStmt{Lbrace: at, List: []ast.Stmt{&ast.ExprStmt{X: v.e}}, Rbrace: v.e.End()}},
	}
	entry := &specialization{f: &ir.Func{Name: v.pkg.Types.Name() + "." + v.name, Package: v.pkg.Types,
		Pos: p.fset.Position(v.e.Pos())}}
	l := p.lowerer(entry, d, nil)
	l.out = &entry.f.Body
	if p.homes == nil {
		p.homes = map[string]*lowerer{}
	}
	p.homes[key] = l
	return l, v.e
}

// canGenerate reports whether code can be generated in a package with functions.
func (p *Program) canGenerate(pkg *packages.Package) bool {
	for _, d := range p.decls {
		if d.pkg == pkg {
			return d.canGenerate
		}
	}
	return false
}

// resolveConstant follows names of variables and selections of fields to the expression of a value. It reports whether
// it followed one at least.
func (p *Program) resolveConstant(v initialiser) (initialiser, bool) {
	info := v.pkg.TypesInfo
	switch x := ast.Unparen(v.e).(type) {
	case *ast.Ident:
		return p.initialiserOf(info.Uses[x])
	case *ast.SelectorExpr:
		s := info.Selections[x]
		if s == nil {
			return p.initialiserOf(info.Uses[x.Sel])
		}
		if s.Kind() != types.FieldVal || len(s.Index()) != 1 {
			return v, false
		}
		base, ok := p.resolveConstant(initialiser{pkg: v.pkg, e: x.X})
		if !ok {
			return v, false
		}
		e := ast.Unparen(base.e)
		if u, is := e.(*ast.UnaryExpr); is && u.Op == token.AND {
			e = ast.Unparen(u.X)
		}
		lit, is := e.(*ast.CompositeLit)
		if !is {
			return v, false
		}
		for i, e := range lit.Elts {
			kv, keyed := e.(*ast.KeyValueExpr)
			if !keyed {
				if i == s.Index()[0] {
					return p.followConstant(initialiser{base.pkg, e, base.name})
				}
				continue
			}
			if id, is := kv.Key.(*ast.Ident); is && id.Name == s.Obj().Name() {
				return p.followConstant(initialiser{base.pkg, kv.Value, base.name})
			}
		}
	}
	return v, false
}

// followConstant returns the initialiser that v stands for, or v itself.
func (p *Program) followConstant(v initialiser) (initialiser, bool) {
	if w, ok := p.resolveConstant(v); ok {
		return w, true
	}
	return v, true
}

// initialiserOf returns the initialiser of a package variable that is never written.
func (p *Program) initialiserOf(o types.Object) (initialiser, bool) {
	v, ok := o.(*types.Var)
	if !ok || !isGlobal(v) {
		return initialiser{}, false
	}
	if p.writtenVars == nil {
		p.findWrittenVars()
	}
	in, ok := p.initialisers[v]
	if !ok || p.writtenVars[v] {
		return initialiser{}, false
	}
	return p.followConstant(in)
}

// isWritten reports whether a package variable may be written.
func (p *Program) isWritten(o types.Object) bool {
	if p.writtenVars == nil {
		p.findWrittenVars()
	}
	return p.writtenVars[o]
}

// findWrittenVars looks for writes to package variables in all loaded packages.
func (p *Program) findWrittenVars() {
	p.writtenVars, p.initialisers = map[types.Object]bool{}, map[types.Object]initialiser{}
	packages.Visit(p.requested, nil, func(pkg *packages.Package) {
		if !p.indexed[pkg] || pkg.TypesInfo == nil {
			return
		}
		for _, in := range pkg.TypesInfo.InitOrder {
			if len(in.Lhs) == 1 {
				p.initialisers[in.Lhs[0]] = initialiser{pkg, in.Rhs, in.Lhs[0].Name()}
			}
		}
		for _, f := range pkg.Syntax {
			var stack []ast.Node
			ast.Inspect(f, func(n ast.Node) bool {
				if n == nil {
					stack = stack[:len(stack)-1]
					return true
				}
				if id, ok := n.(*ast.Ident); ok {
					v, ok := pkg.TypesInfo.Uses[id].(*types.Var)
					if ok && isGlobal(v) && mayWrite(pkg.TypesInfo, id, stack) {
						p.writtenVars[v] = true
					}
				}
				stack = append(stack, n)
				return true
			})
		}
	})
}

// mayWrite reports whether a use of a package variable, in the nodes of stack, may lead to a write to the variable or
// to memory that it refers to: it is assigned, its address is taken, or a reference to its memory is passed on.
func mayWrite(info *types.Info, id *ast.Ident, stack []ast.Node) bool {
	var at ast.Expr = id
	for i := len(stack) - 1; i >= 0; i-- {
		switch n := stack[i].(type) {
		case *ast.ParenExpr:
			at = n
		case *ast.SelectorExpr:
			if n.Sel == at { // the package is the operand
				at = n
				continue
			}
			s := info.Selections[n]
			if s == nil || s.Kind() != types.FieldVal {
				return true // a method, which may write
			}
			at = n
		case *ast.IndexExpr:
			if n.X != at {
				return passesReference(info, at)
			}
			at = n
		case *ast.StarExpr:
			at = n
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if ast.Unparen(e) == at {
					return true
				}
			}
			return passesReference(info, at)
		case *ast.IncDecStmt:
			return true
		case *ast.UnaryExpr:
			return n.Op == token.AND || passesReference(info, at)
		case *ast.RangeStmt:
			if n.X != at {
				return true
			}
			if n.Value != nil {
				if t := info.TypeOf(n.Value); t != nil && !isFuncType(t) && hasReferences(t) {
					return true
				}
			}
			return false
		case *ast.CallExpr:
			if n.Fun == at {
				return false
			}
			if b, ok := ast.Unparen(n.Fun).(*ast.Ident); ok {
				if _, builtin := info.Uses[b].(*types.Builtin); builtin && (b.Name == "len" || b.Name == "cap") {
					return false
				}
			}
			return passesReference(info, at)
		case *ast.BinaryExpr:
			return false
		default:
			return passesReference(info, at)
		}
	}
	return true
}

// passesReference reports whether the value of e refers to memory that could be written through it. A function does
// not.
func passesReference(info *types.Info, e ast.Expr) bool {
	t := info.TypeOf(e)
	if pair, ok := t.(*types.Tuple); ok { // of v, ok = m[k]
		t = pair.At(0).Type()
	}
	return t == nil || !isFuncType(t) && hasReferences(t)
}
