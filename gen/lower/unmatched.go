package lower

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Functions passed to operators for which no code can be generated, for warnings.

// finitediffPath is the path of the engine that needs only values, for which nothing is missing.
const finitediffPath = nablaPath + "/backend/finitediff"

// An Unmatched is a function that is passed to an operator and for which no code is generated,
// since it could not be matched to the function or would not be compiled with it.
type Unmatched struct {
	Pos            token.Position
	Operator       string
	Reason, Remedy string
	// Tested is a target that a test passes, for which there is code, maybe without what the operator needs; nil for
	// all others. There is no reason then.
	Tested *types.Func

	// Pkg, File, Call and Arg are the call and its argument in the source, nil in tests.
	Pkg  *packages.Package
	File *ast.File
	Call *ast.CallExpr
	Arg  ast.Expr
}

// Remedies that several of them have.
const (
	remedyLiteral = "declare it at package level, with captured variables in a struct that nabla.Bind binds"
	remedyMethod  = "pass the method expression with its receiver, nabla.BindMethod((*T).M, receiver), " +
		"and write //nabla:differentiate above the method"
	remedyTest = "declare it in a file of the package that is no test, with //nabla:differentiate above, " +
		"or use finitediff.Backend{}"
	remedyUnknown  = "write //nabla:differentiate above the functions that it may hold"
	remedyVariable = "pass a declared function, or assign the variable in its declaration only"
)

// Unmatched returns the unmatched functions over floats in a package passed to New and in its
// tests, in the order of the source. targets are those of the package.
func (p *Program) Unmatched(in *types.Package, targets []Target) (out []Unmatched) {
	for _, pkg := range p.requested {
		if pkg.Types != in {
			continue
		}
		held := p.heldFunctions(pkg)
		var marked []types.Type
		for _, t := range targets {
			if t.Operator == "" {
				sig := t.Func.Signature()
				marked = append(marked,
					types.NewSignatureType(nil, nil, nil, sig.Params(), sig.Results(), sig.Variadic()))
			}
		}
		for _, f := range pkg.Syntax {
			ast.Inspect(f, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					for _, u := range p.unmatched(pkg, call, held, marked) {
						u.Pkg, u.File, u.Call = pkg, f, call
						out = append(out, u)
					}
				}
				return true
			})
		}
		out = append(out, p.tests(pkg, targets)...)
	}
	slices.SortStableFunc(out, func(a, b Unmatched) int { return comparePositions(a.Pos, b.Pos) })
	return out
}

// heldFunctions returns the variables of a package that are initialised with a function literal or a method value, with
// these.
func (p *Program) heldFunctions(pkg *packages.Package) map[types.Object]ast.Expr {
	out := map[types.Object]ast.Expr{}
	note := func(lhs []*ast.Ident, rhs []ast.Expr) {
		for i, id := range lhs {
			if i >= len(rhs) || id == nil {
				continue
			}
			switch x := ast.Unparen(rhs[i]).(type) {
			case *ast.FuncLit:
				out[pkg.TypesInfo.Defs[id]] = x
			case *ast.SelectorExpr:
				if methodValue(pkg, x) {
					out[pkg.TypesInfo.Defs[id]] = x
				}
			}
		}
	}
	for _, f := range pkg.Syntax {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				note(n.Names, n.Values)
			case *ast.AssignStmt:
				var ids []*ast.Ident
				for _, e := range n.Lhs {
					id, _ := e.(*ast.Ident)
					ids = append(ids, id)
				}
				note(ids, n.Rhs)
			}
			return true
		})
	}
	return out
}

// methodValue reports whether x is a method value of a type that is no interface.
func methodValue(pkg *packages.Package, x *ast.SelectorExpr) bool {
	s := pkg.TypesInfo.Selections[x]
	return s != nil && s.Kind() == types.MethodVal && !types.IsInterface(s.Recv())
}

// unmatched returns the unmatched functions among the arguments of one call, of an operator or of a function that
// passes its parameter on to one. held are those of heldFunctions, and marked the types of the functions with a
// directive.
func (p *Program) unmatched(
	pkg *packages.Package, call *ast.CallExpr, held map[types.Object]ast.Expr, marked []types.Type,
) (out []Unmatched) {
	fn := calledFunc(pkg, call)
	op := operator(pkg, call)
	if fn == nil {
		return nil
	}
	for _, arg := range call.Args {
		t := pkg.TypesInfo.TypeOf(arg)
		if t == nil { // the call has an error
			return nil
		}
		n, ok := types.Unalias(deref(t)).(*types.Named)
		if ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == finitediffPath {
			return nil
		}
	}
	for i, arg := range call.Args {
		arg = ast.Unparen(arg)
		sig, ok := pkg.TypesInfo.TypeOf(arg).(*types.Signature)
		if !ok || !signatureOverFloats(sig) {
			continue
		}
		if known, _ := p.passedFunction(pkg, arg); known != nil || op == nil && !needsCode(p.forwards(fn, i)) {
			continue
		}
		u := Unmatched{Pos: p.fset.Position(arg.Pos()), Operator: fn.Name(), Arg: arg}
		p.explainUnmatched(&u, pkg, held, marked)
		if op == nil { // the parameter has a function type
			u.Arg = nil
			if u.Remedy == remedyLiteral || u.Remedy == remedyMethod {
				u.Remedy = "declare it at package level, or let " + fn.Name() +
					" take a *nabla.Func, as nabla.Bind and nabla.BindMethod return"
			}
		}
		if u.Reason != "" {
			out = append(out, u)
		}
	}
	return out
}

// needsCode reports whether one of the uses of a function may need generated code.
func needsCode(uses []Use) bool {
	return slices.ContainsFunc(uses, func(u Use) bool {
		return u.Open || slices.ContainsFunc(u.Engines, func(e string) bool {
			return strings.HasPrefix(e, "source.") || e == "nabla.Auto"
		})
	})
}

// explainUnmatched sets the reason and the remedy of u from its argument, if there is a reason.
func (p *Program) explainUnmatched(
	u *Unmatched, pkg *packages.Package, held map[types.Object]ast.Expr, marked []types.Type,
) {
	unknown := func(name string) {
		same := func(t types.Type) bool { return types.Identical(t, pkg.TypesInfo.TypeOf(u.Arg).Underlying()) }
		if !slices.ContainsFunc(marked, same) {
			u.Reason, u.Remedy = "which function "+name+" holds is not known", remedyUnknown
		}
		u.Arg = nil
	}
	switch x := u.Arg.(type) {
	case *ast.FuncLit:
		u.Reason, u.Remedy = "it is a function literal, to which generated code cannot be matched", remedyLiteral
	case *ast.IndexExpr:
		if pkg.TypesInfo.Types[x.X].IsValue() {
			unknown("the element")
		}
	case *ast.SelectorExpr:
		s := pkg.TypesInfo.Selections[x]
		switch o, _ := pkg.TypesInfo.Uses[x.Sel].(*types.Var); {
		case methodValue(pkg, x) && u.Operator == "BindMethod":
			u.Reason, u.Remedy = x.Sel.Name+" is a method value, and BindMethod binds the receiver",
				"pass the method expression, "+methodExpression(pkg, s)
			u.Arg = nil // the call is right but for this
		case s != nil && s.Kind() == types.MethodExpr && isPointer(s.Recv()) &&
			!isPointer(s.Obj().(*types.Func).Signature().Recv().Type()):
			u.Reason, u.Remedy = x.Sel.Name+" has a value as its receiver, which is copied at each call",
				"declare it with a pointer to "+types.TypeString(deref(s.Recv()), types.RelativeTo(pkg.Types))+
					" as its receiver"
			u.Arg = nil
		case methodValue(pkg, x):
			u.Reason, u.Remedy = x.Sel.Name+
				" is a method value, whose receiver generated code cannot reach", remedyMethod
		case s == nil && o != nil:
			u.Reason, u.Remedy = x.Sel.Name+
				" is a variable, and which function it holds is not known", remedyVariable
		case s != nil && s.Kind() == types.FieldVal:
			unknown(x.Sel.Name)
		}
	case *ast.Ident:
		o, _ := pkg.TypesInfo.Uses[x].(*types.Var)
		if o == nil {
			return
		}
		if o.Parent() == pkg.Types.Scope() {
			u.Reason, u.Remedy = x.Name+" is a variable, and which function it holds is not known", remedyVariable
			return
		}
		switch held[o].(type) {
		case *ast.FuncLit:
			u.Reason, u.Remedy = x.Name+
				" holds a function literal, to which generated code cannot be matched", remedyLiteral
		case *ast.SelectorExpr:
			u.Reason, u.Remedy = x.Name+
				" holds a method value, whose receiver generated code cannot reach", remedyMethod
		default:
			if o.Kind() == types.LocalVar { // calls that pass a parameter are looked at themselves
				unknown(x.Name)
			}
		}
	}
}

// methodExpression returns the source of the expression (*T).M for the selection of a method M.
func methodExpression(pkg *packages.Package, s *types.Selection) string {
	t := types.TypeString(deref(s.Recv()), types.RelativeTo(pkg.Types))
	return "(*" + t + ")." + s.Obj().Name()
}

// signatureOverFloats reports whether a function has float parameters and none over Reals.
func signatureOverFloats(sig *types.Signature) bool {
	floats := false
	for v := range sig.Params().Variables() {
		if isReal(v.Type()) {
			return false
		}
		floats = floats || hasFloats(v.Type())
	}
	return floats
}

// tests returns the unmatched functions in the tests of a package. These are only parsed, so a name
// is resolved syntactically.
func (p *Program) tests(pkg *packages.Package, targets []Target) (out []Unmatched) {
	if len(pkg.GoFiles) == 0 {
		return nil
	}
	names, _ := filepath.Glob(filepath.Join(filepath.Dir(pkg.GoFiles[0]), "*_test.go"))
	t := &testFiles{p: p, pkg: pkg, declared: map[string]*ast.FuncDecl{}, targets: map[*types.Func]bool{}}
	for _, target := range targets {
		t.targets[target.Func] = true
	}
	var files []*ast.File
	fset := token.NewFileSet()
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		f, _ := parser.ParseFile(fset, name, text, 0)
		if f == nil || f.Name == nil || strings.TrimSuffix(f.Name.Name, "_test") != pkg.Name {
			continue
		}
		files = append(files, f)
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil {
				t.declared[f.Name.Name+"."+d.Name.Name] = d
			}
		}
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				for _, u := range t.call(f, call) {
					u.Pos = fset.Position(token.Pos(u.Pos.Offset))
					out = append(out, u)
				}
			}
			return true
		})
	}
	return out
}

// A testFiles holds the declarations in the tests of a package.
type testFiles struct {
	p        *Program
	pkg      *packages.Package
	declared map[string]*ast.FuncDecl // functions by package.name
	targets  map[*types.Func]bool
}

// imported returns the path of the package that an identifier denotes in a file, or "".
func imported(f *ast.File, id *ast.Ident) string {
	if id.Obj != nil {
		return ""
	}
	for _, s := range f.Imports {
		path, err := strconv.Unquote(s.Path.Value)
		if err != nil {
			continue
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if s.Name != nil {
			name = s.Name.Name
		}
		if name == id.Name {
			return path
		}
	}
	return ""
}

// call returns the unmatched functions that a call of an operator in a test passes. Their Pos is an
// offset in the file set of the tests.
func (t *testFiles) call(f *ast.File, call *ast.CallExpr) (out []Unmatched) {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok || imported(f, x) != nablaPath || !sel.Sel.IsExported() || len(call.Args) == 0 || t.usesFinitediff(f, call) {
		return nil
	}
	for _, arg := range call.Args {
		u := Unmatched{Pos: token.Position{Offset: int(arg.Pos())}, Operator: sel.Sel.Name}
		switch a := ast.Unparen(arg).(type) {
		case *ast.FuncLit:
			if typeOverFloats(a.Type) {
				u.Reason, u.Remedy = "it is a function literal, to which generated code cannot be matched", remedyTest
			}
		case *ast.Ident:
			if d := t.declared[f.Name.Name+"."+a.Name]; d != nil && (a.Obj == nil || a.Obj.Decl == d) {
				if typeOverFloats(d.Type) {
					u.Reason, u.Remedy = a.Name+" is declared in a test, for which no code is generated", remedyTest
				}
			} else if a.Obj == nil && f.Name.Name == t.pkg.Name {
				u.Reason, u.Remedy = t.onlyTest(a.Name)
				u.Tested = t.target(a.Name)
			}
		case *ast.SelectorExpr:
			if id, ok := a.X.(*ast.Ident); ok && imported(f, id) == t.pkg.PkgPath {
				u.Reason, u.Remedy = t.onlyTest(a.Sel.Name)
				u.Tested = t.target(a.Sel.Name)
			}
		}
		if u.Reason != "" || u.Tested != nil {
			out = append(out, u)
		}
	}
	return out
}

// usesFinitediff reports whether a call names the engine that needs only values.
func (t *testFiles) usesFinitediff(f *ast.File, call *ast.CallExpr) bool {
	found := false
	for _, arg := range call.Args {
		ast.Inspect(arg, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if id, ok := s.X.(*ast.Ident); ok && imported(f, id) == finitediffPath {
					found = true
				}
			}
			return !found
		})
	}
	return found
}

// target returns the target of that name in the package, or nil.
func (t *testFiles) target(name string) *types.Func {
	if fn, ok := t.pkg.Types.Scope().Lookup(name).(*types.Func); ok && t.targets[fn] {
		return fn
	}
	return nil
}

// onlyTest returns a reason and a remedy for a function of the package that only a test passes,
// empty if there is code for it.
func (t *testFiles) onlyTest(name string) (reason, remedy string) {
	fn, ok := t.pkg.Types.Scope().Lookup(name).(*types.Func)
	if !ok || t.targets[fn] || t.p.passive[fn] || t.p.Generated(fn) || isGeneric(fn) ||
		!signatureOverFloats(fn.Signature()) {
		return "", ""
	}
	return "only a test passes " + name + ", and tests ask for no code",
		"write //nabla:differentiate above its declaration"
}

// typeOverFloats reports whether the source of a function type has parameters of float64 and none
// over Reals.
func typeOverFloats(t *ast.FuncType) bool {
	floats, reals := false, false
	for _, field := range t.Params.List {
		ast.Inspect(field.Type, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				floats = floats || id.Name == "float64"
				reals = reals || id.Name == "Real" || id.Name == "Vec"
			}
			return true
		})
	}
	return floats && !reals
}
