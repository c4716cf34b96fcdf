package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/packages"
)

// Variables of function type as targets: those that are assigned once, where they are declared. A package variable with
// a function literal is lowered as a declared function of its name, and generated code refers to it by that name. It is
// registered before any init function can assign it, so a variable that is assigned elsewhere is not found, but never
// taken for the literal.

// assignedOnce returns the expression that a variable of pkg is declared with, nil if the variable may be assigned
// elsewhere in pkg.
func (p *Program) assignedOnce(pkg *packages.Package, o *types.Var) ast.Expr {
	u := p.usageOf(pkg)
	for _, id := range u.uses[o] {
		e := ast.Node(id)
		for {
			paren, ok := u.parents[e].(*ast.ParenExpr)
			if !ok {
				break
			}
			e = paren
		}
		switch x := u.parents[e].(type) {
		case *ast.AssignStmt:
			for _, l := range x.Lhs {
				if l == e {
					return nil
				}
			}
		case *ast.RangeStmt:
			if x.Key == e || x.Value == e {
				return nil
			}
		case *ast.UnaryExpr:
			if x.Op == token.AND {
				return nil
			}
		}
	}
	return u.initial(o)
}

// initial returns the expression that a variable is declared with, nil if it has none of its own.
func (u *usage) initial(o *types.Var) ast.Expr {
	id := u.defs[o]
	if id == nil {
		return nil
	}
	switch x := u.parents[id].(type) {
	case *ast.ValueSpec:
		for i, name := range x.Names {
			if name == id && len(x.Values) == len(x.Names) {
				return x.Values[i]
			}
		}
	case *ast.AssignStmt:
		for i, l := range x.Lhs {
			if l == id && len(x.Lhs) == len(x.Rhs) {
				return x.Rhs[i]
			}
		}
	}
	return nil
}

// passedFunction returns the function that an argument of an operator denotes, with its type arguments: a declared
// function, or the one in a variable of the package that is assigned once.
func (p *Program) passedFunction(pkg *packages.Package, e ast.Expr) (*types.Func, []types.Type) {
	for range 10 { // variables may hold those of others
		if fn, targs := staticFunc(pkg.TypesInfo, e); fn != nil {
			return fn, targs
		}
		id, ok := ast.Unparen(e).(*ast.Ident)
		if !ok {
			return nil, nil
		}
		o, ok := pkg.TypesInfo.Uses[id].(*types.Var)
		if !ok || o.Pkg() != pkg.Types || o.IsField() {
			return nil, nil
		}
		value := p.assignedOnce(pkg, o)
		if lit, ok := ast.Unparen(value).(*ast.FuncLit); ok {
			if o.Parent() != pkg.Types.Scope() || o.Name() == "_" {
				return nil, nil
			}
			return p.literalFunction(pkg, o, lit), nil
		}
		if value == nil {
			return nil, nil
		}
		e = value
	}
	return nil, nil
}

// variableDirectives finds the functions in the variables of pkg that have a directive to differentiate them.
func (p *Program) variableDirectives(pkg *packages.Package) {
	for i := range p.dirs[pkg] {
		d := &p.dirs[pkg][i]
		if d.Var == nil || d.Name != "differentiate" {
			continue
		}
		value := p.assignedOnce(pkg, d.Var)
		if lit, ok := ast.Unparen(value).(*ast.FuncLit); ok && d.Var.Name() != "_" {
			d.Func = p.literalFunction(pkg, d.Var, lit)
		} else if value != nil {
			d.Func, _ = p.passedFunction(pkg, value)
		}
	}
}

// literalFunction returns the function literal in a package variable as a declared function with the name of the
// variable.
func (p *Program) literalFunction(pkg *packages.Package, o *types.Var, lit *ast.FuncLit) *types.Func {
	fn := p.functionIn[o]
	if fn == nil {
		sig := pkg.TypesInfo.TypeOf(lit).(*types.Signature)
		fn = types.NewFunc(o.Pos(), pkg.Types, o.Name(), sig)
		name := &ast.Ident{NamePos: o.Pos(), Name: o.Name()}
		p.decls[fn] = &decl{fn: fn, node: &ast.FuncDecl{Name: name, Type: lit.Type, Body: lit.Body}, pkg: pkg,
			canGenerate: p.own[pkg.Types], generated: p.Generated(o)}
		p.functionIn[o], p.variableOf[fn] = fn, o
	}
	return fn
}

// Variable returns the package variable that holds the literal which a target stands for, nil if the target is a
// declared function.
func (p *Program) Variable(fn *types.Func) *types.Var { return p.variableOf[fn] }
