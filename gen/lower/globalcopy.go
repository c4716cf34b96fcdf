package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Private copies of package-level variables that generated code cannot name: unexported ones of other packages, and
// those of internal packages. Generated code declares a copy of such a variable, initialised as the variable is, so
// the variable must never be written after its initialisation (neverwritten.go), and its initial value must be the
// same in each run.

// A globalCopy is the outcome of an attempt to copy the initial value of a variable.
type globalCopy struct {
	// init returns the value; it is nil if there can be no copy, for the reason why.
	init *specialization
	why  string
}

// packageVar returns the variable for o, which n mentions. If generated code may be unable to name it, the variable has
// the function that initialises a copy; if there can be no copy, it is refused.
func (l *lowerer) packageVar(n ast.Node, o *types.Var) *ir.Var {
	v := l.p.global(o)
	if l.p.namedEverywhere(o) {
		return v
	}
	foreign := l.p.isForeign(o.Pkg())
	c := l.p.copyOf(o)
	switch {
	case c.init != nil && foreign:
		v.Init = c.init.f
		l.e.calls = append(l.e.calls, callSite{c.init, l.pos(n)})
	case c.init != nil:
		// Code in the package of the variable uses the variable itself, whether it can be copied or not.
		if l.p.done[c.init.f] && c.init.isWhole() {
			v.Init = c.init.f
		}
	case foreign && !l.p.nameable(o):
		hides := "does not export it"
		if o.Exported() {
			hides = "is internal"
		}
		l.refuse(n, "variable "+o.Name(), fmt.Sprintf("package %s %s, and it cannot be copied: %s", o.Pkg().Path(),
			hides,
			c.why), remedyRule)
	}
	return v
}

// isForeign reports whether no code is generated in a package.
func (p *Program) isForeign(pkg *types.Package) bool {
	return !slices.ContainsFunc(p.requested, func(r *packages.Package) bool { return r.Types == pkg }) &&
		!p.own[pkg]
}

// namedEverywhere reports whether all packages that code is generated for can name o.
func (p *Program) namedEverywhere(o types.Object) bool {
	return !slices.ContainsFunc(p.requested, func(pkg *packages.Package) bool {
		return o.Pkg() != pkg.Types && !ir.CanName(o, pkg.PkgPath)
	})
}

// nameable reports whether a package that code is generated for can name an object of another package.
func (p *Program) nameable(o types.Object) bool {
	return slices.ContainsFunc(p.requested, func(pkg *packages.Package) bool {
		return o.Pkg() == nil || o.Pkg() != pkg.Types && ir.CanName(o, pkg.PkgPath)
	})
}

// copyOf lowers the initialiser of a package-level variable as a function without parameters.
func (p *Program) copyOf(o *types.Var) *globalCopy {
	if c := p.copies[o]; c != nil {
		return c
	}
	c := &globalCopy{}
	p.copies[o] = c // before the initialiser is lowered, which may mention other variables
	pkg := p.loaded[o.Pkg().Path()]
	if pkg == nil || pkg.Types != o.Pkg() || len(pkg.Syntax) == 0 {
		c.why = "its source is not available"
		return c
	}
	if c.why = p.written(o, pkg); c.why != "" {
		return c
	}
	rhs, why := initializer(o, pkg)
	if c.why = why; why != "" {
		return c
	}
	if c.why = p.varies(rhs, pkg, map[*types.Func]bool{}); c.why != "" {
		return c
	}
	sig := types.NewSignatureType(nil, nil, nil, nil,
		types.NewTuple(types.NewParam(token.NoPos, o.Pkg(), "", o.Type())), false)
	fn := types.NewFunc(o.Pos(), o.Pkg(), o.Name(), sig)
	at := o.Pos()
	ret := &ast.ReturnStmt{Return: at}
	if rhs != nil {
		at, ret.Results = rhs.Pos(), []ast.Expr{rhs}
	}
	node := &ast.FuncDecl{
		Name: &ast.Ident{NamePos: at, Name: o.Name()},
		Type: &ast.FuncType{Func: at, Params: &ast.FieldList{}},
		Body: &ast.BlockStmt{Lbrace: at, List: []ast.Stmt{ret}, Rbrace: at},
	}
	if rhs != nil {
		node.Body.Rbrace = rhs.End()
	}
	d := &decl{fn: fn, node: node, pkg: pkg}
	e := &specialization{f: p.function(o.Pkg(), o.Pkg().Name()+"."+o.Name(), p.fset.Position(at)),
		foreign: p.isForeign(o.Pkg())}
	c.init = e
	p.recoverRefusal(e, d, func() {
		l := p.lowerer(e, d, nil)
		l.nested = true
		l.declaration(node, nil)
	})
	p.done[e.f] = true
	return c
}

// initializer returns the expression that initialises a package-level variable, nil if there is none, or the reason why
// it is not known.
func initializer(o *types.Var, pkg *packages.Package) (e ast.Expr, why string) {
	for _, in := range pkg.TypesInfo.InitOrder {
		if !slices.Contains(in.Lhs, o) {
			continue
		}
		if len(in.Lhs) > 1 {
			return nil, "it is initialised together with others"
		}
		return in.Rhs, ""
	}
	return nil, ""
}

// varies returns the reason why the value of an initialiser may differ from run to run, or "": it reads a variable that
// may be assigned by then, or calls a function that may.
func (p *Program) varies(n ast.Node, pkg *packages.Package, seen map[*types.Func]bool) (why string) {
	if n == nil || n == ast.Expr(nil) {
		return ""
	}
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || why != "" {
			return why == ""
		}
		switch o := pkg.TypesInfo.Uses[id].(type) {
		case *types.Var:
			if !isGlobal(o) {
				return true
			}
			if from := p.loaded[o.Pkg().Path()]; from == nil || p.written(o, from) != "" {
				why = "its initial value depends on variable " + o.Pkg().Name() + "." + o.Name() +
					", which may be assigned"
			}
		case *types.Func:
			o = o.Origin()
			switch d := p.decls[o]; {
			case seen[o] || isMath(o) || isFormat(o):
			case d == nil || d.node.Body == nil:
				if o.Signature().Recv() == nil || !types.IsInterface(o.Signature().Recv().Type()) {
					why = "its initial value is that of " + o.FullName() + ", whose source is not available"
				}
			default:
				seen[o] = true
				why = p.varies(d.node.Body, d.pkg, seen)
			}
		}
		return true
	})
	return why
}

// isFormat reports whether fn builds an error or a string of its arguments alone.
func isFormat(fn *types.Func) bool {
	switch fn.FullName() {
	case "errors.New", "fmt.Errorf", "fmt.Sprintf", "fmt.Sprint":
		return true
	}
	return fn.Pkg() != nil && (fn.Pkg().Path() == "strings" || fn.Pkg().Path() == "strconv")
}
