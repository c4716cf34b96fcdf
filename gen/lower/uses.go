package lower

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Uses: which operators are called with a function, and with which engines.

// A Use is a call of an operator with a function. If the function reaches the operator through a wrapper such as
// nabla.Bind, in the same expression or in a variable, the operator is that which gets the wrapped function.
type Use struct {
	// Operator is the name of the operator, as in "PrepareGradient", or of the wrapper if the calls that get its result
	// are not known.
	Operator string
	// Engines are the engines in the backend of the call, as in "source.Reverse", and "nabla.Auto" for a nil one.
	Engines []string
	// Open reports whether there may be others, because the value of the backend is not known.
	Open bool
}

// backendsPath is the directory of the engines that nabla comes with.
const backendsPath = nablaPath + "/backend/"

// A resultFlow answers where the results of calls in a package go.
type resultFlow struct {
	pkg     *packages.Package
	parents map[ast.Node]ast.Node         // of the expressions of the package
	reads   map[types.Object][]*ast.Ident // uses of variables
}

// resultFlow returns the flow of a package, which is made on demand.
func (p *Program) resultFlow(pkg *packages.Package) *resultFlow {
	if p.results[pkg] != nil {
		return p.results[pkg]
	}
	f := &resultFlow{pkg, map[ast.Node]ast.Node{}, map[types.Object][]*ast.Ident{}}
	for _, file := range pkg.Syntax {
		var stack []ast.Node
		ast.Inspect(file, func(n ast.Node) bool {
			if n == nil {
				stack = stack[:len(stack)-1]
				return true
			}
			if len(stack) > 0 {
				f.parents[n] = stack[len(stack)-1]
			}
			if id, ok := n.(*ast.Ident); ok {
				if v, ok := pkg.TypesInfo.Uses[id].(*types.Var); ok {
					f.reads[v] = append(f.reads[v], id)
				}
			}
			stack = append(stack, n)
			return true
		})
	}
	if p.results == nil {
		p.results = map[*packages.Package]*resultFlow{}
	}
	p.results[pkg] = f
	return f
}

// uses returns the uses of a function that is passed to op in a call.
func (p *Program) uses(pkg *packages.Package, call *ast.CallExpr, op *types.Func) []Use {
	if i := backendParam(op); i >= 0 {
		u := Use{Operator: op.Name(), Open: i >= len(call.Args)}
		if !u.Open {
			u.engines(pkg, call.Args[i])
			slices.Sort(u.Engines)
			u.Engines = slices.Compact(u.Engines)
		}
		return []Use{u}
	}
	unknown := []Use{{Operator: op.Name(), Open: true}}
	if op.Signature().Results().Len() != 1 { // no wrapper
		return unknown
	}
	f := p.resultFlow(pkg)
	var list []Use
	for _, e := range f.ends(call) {
		outer, _ := f.parent(e).(*ast.CallExpr)
		if outer == nil || !slices.ContainsFunc(outer.Args, func(a ast.Expr) bool { return ast.Unparen(a) == e }) {
			return unknown
		}
		next := operator(pkg, outer)
		if next == nil {
			return unknown
		}
		list = append(list, p.uses(pkg, outer, next)...)
	}
	if len(list) == 0 {
		return unknown
	}
	return list
}

// parent returns the node around e, without parentheses.
func (f *resultFlow) parent(e ast.Node) ast.Node {
	n := f.parents[e]
	for {
		x, ok := n.(*ast.ParenExpr)
		if !ok {
			return n
		}
		n = f.parents[x]
	}
}

// ends returns the expressions that have the result of e as their value: e itself, or, if e is the value of a variable
// that is declared with it, the uses of the variable. A variable that other packages see has none.
func (f *resultFlow) ends(e ast.Expr) (list []ast.Expr) {
	var id *ast.Ident
	switch n := f.parent(e).(type) {
	case *ast.AssignStmt:
		if len(n.Lhs) == 1 && len(n.Rhs) == 1 {
			id, _ = n.Lhs[0].(*ast.Ident)
		}
	case *ast.ValueSpec:
		if len(n.Names) == 1 {
			id = n.Names[0]
		}
	default:
		return []ast.Expr{e}
	}
	if id == nil {
		return nil
	}
	v, _ := f.pkg.TypesInfo.Defs[id].(*types.Var)
	if v == nil || v.Parent() == f.pkg.Types.Scope() && v.Exported() {
		return nil
	}
	for _, id := range f.reads[v] {
		list = append(list, id)
	}
	return list
}

// backendParam returns the index of the parameter of op that is a backend, or -1.
func backendParam(op *types.Func) int {
	for i := range op.Signature().Params().Len() {
		if isBackend(op.Signature().Params().At(i).Type()) {
			return i
		}
	}
	return -1
}

// isBackend reports whether t is the interface type nabla.Backend.
func isBackend(t types.Type) bool {
	n := namedType(t)
	return n != nil && n.Obj().Pkg() != nil && types.IsInterface(n) && n.Obj().Name() == "Backend" &&
		(n.Obj().Pkg().Path() == nablaPath || n.Obj().Pkg().Path() == nablaPath+"/engine")
}

// namedType returns the defined type that t is or points to, or nil.
func namedType(t types.Type) *types.Named {
	n, _ := types.Unalias(deref(types.Unalias(t))).(*types.Named)
	return n
}

// engines adds the engines in the backend e to u.
func (u *Use) engines(pkg *packages.Package, e ast.Expr) {
	e = ast.Unparen(e)
	tv := pkg.TypesInfo.Types[e]
	if tv.IsNil() {
		u.Engines = append(u.Engines, "nabla.Auto")
		return
	}
	n := namedType(tv.Type)
	if n == nil || n.Obj().Pkg() == nil || types.IsInterface(n) {
		u.Open = true
		return
	}
	path, name := n.Obj().Pkg().Path(), n.Obj().Name()
	switch dir, engine := strings.CutPrefix(path, backendsPath); {
	case engine:
		u.Engines = append(u.Engines, dir+"."+name)
	case path == nablaPath && name == "Auto":
		u.Engines = append(u.Engines, "nabla.Auto")
	case path == nablaPath:
		u.composite(pkg, e, n)
	default:
		u.Open = true
	}
}

// composite adds the engines in e, a backend of a struct type of package nabla that is made of others. Fields without a
// value hold nil.
func (u *Use) composite(pkg *packages.Package, e ast.Expr, n *types.Named) {
	if x, ok := e.(*ast.UnaryExpr); ok {
		e = ast.Unparen(x.X)
	}
	lit, ok := e.(*ast.CompositeLit)
	s, isStruct := n.Underlying().(*types.Struct)
	if !ok || !isStruct {
		u.Open = true
		return
	}
	left := map[string]bool{}
	for f := range s.Fields() {
		if isBackend(f.Type()) {
			left[f.Name()] = true
		}
	}
	for i, elem := range lit.Elts {
		name := ""
		if kv, ok := elem.(*ast.KeyValueExpr); ok {
			elem = kv.Value
			if id, ok := kv.Key.(*ast.Ident); ok {
				name = id.Name
			}
		} else if i < s.NumFields() {
			name = s.Field(i).Name()
		}
		if left[name] {
			delete(left, name)
			u.engines(pkg, elem)
		}
	}
	if len(left) > 0 {
		u.Engines = append(u.Engines, "nabla.Auto")
	}
}

// forwards returns the uses of the function that fn gets as argument i: those in calls that pass the parameter on, as
// it is, to an operator or to another such function.
func (p *Program) forwards(fn *types.Func, i int) []Use {
	if fn == nil {
		return nil
	}
	fn = fn.Origin()
	d, params := p.decls[fn], fn.Signature().Params()
	if d == nil || d.node.Body == nil || i >= params.Len() || !p.reachesNabla(d.pkg) {
		return nil
	}
	param := params.At(i)
	if list, ok := p.forwarded[param]; ok {
		return list
	}
	if p.forwarded == nil {
		p.forwarded = map[*types.Var][]Use{}
	}
	p.forwarded[param] = nil // while calls of fn in fn are followed
	f := p.resultFlow(d.pkg)
	var list []Use
	for _, id := range f.reads[param] {
		call, _ := f.parent(id).(*ast.CallExpr)
		if call == nil {
			continue
		}
		at := slices.IndexFunc(call.Args, func(a ast.Expr) bool { return ast.Unparen(a) == id })
		if at < 0 {
			continue
		}
		if op := operator(d.pkg, call); op != nil {
			list = append(list, p.uses(d.pkg, call, op)...)
		} else {
			list = append(list, p.forwards(calledFunc(d.pkg, call), at)...)
		}
	}
	p.forwarded[param] = list
	return list
}

// reachesNabla reports whether a package imports package nabla, directly or not.
func (p *Program) reachesNabla(pkg *packages.Package) bool {
	if reaches, ok := p.reaching[pkg]; ok {
		return reaches
	}
	if p.reaching == nil {
		p.reaching = map[*packages.Package]bool{}
	}
	p.reaching[pkg] = false
	for path, q := range pkg.Imports {
		if path == nablaPath || p.reachesNabla(q) {
			p.reaching[pkg] = true
			break
		}
	}
	return p.reaching[pkg]
}
