package lower

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/library"
	"github.com/nabla-ad/nabla/rules"
)

// Library derivatives: rules that come with nabla, for functions of gonum and the standard library.
// Their source is embedded in package library and type-checked against the loaded packages.

// runtimePath is the path of package rt, whose functions are elementary.
const runtimePath = nablaPath + "/gen/rt"

// libraryRule returns the rule for fn in package library, nil if there is none that fits the loaded
// version of the package of fn.
func (p *Program) libraryRule(fn *types.Func) *resolvedRule {
	k, ok := library.Lookup(fn.FullName())
	if !ok {
		return nil
	}
	pkg := p.libraryPackage(k.Package)
	if pkg == nil {
		return nil
	}
	w := &resolvedRule{library: true, rule: &ir.Rule{Name: ruleName(fn), Object: fn, ReadOnly: []bool{}}}
	r := w.rule
	params := r.Shape().Params
	index := func(name string) int {
		for i, v := range params {
			if v.Name() == name {
				return i
			}
		}
		return -1
	}
	r.NoDerivative = make([]bool, len(params))
	r.ReadOnly = make([]bool, len(params))
	for i := range r.ReadOnly {
		r.ReadOnly[i] = true
	}
	for _, name := range k.Writes {
		i := index(name)
		if i < 0 {
			return nil // the loaded version has other parameters
		}
		r.ReadOnly[i] = false
	}
	for _, name := range k.Passive {
		i := index(name)
		if i < 0 {
			return nil
		}
		r.NoDerivative[i] = true
	}
	if k.Returns != "" {
		i := index(k.Returns)
		if i < 0 {
			return nil
		}
		r.Returns = []int{i}
	}
	find := func(suffix string, want *types.Signature) *types.Func {
		f, _ := pkg.Types.Scope().Lookup(fn.Name() + suffix).(*types.Func)
		if f == nil || !sameTypes(f.Signature(), want) {
			return nil
		}
		return f
	}
	// derivatives finds the tangent and pullback of v.
	derivatives := func(v *resolvedRule, suffix string) bool {
		shape := v.rule.Shape()
		v.tangent, v.pullback = find(suffix+"Tangent", shape.Tangent()), find(suffix+"Pullback", shape.Pullback())
		return v.tangent != nil && v.pullback != nil
	}
	if !derivatives(w, "") {
		return nil
	}
	if k.Shapes {
		w.wider = &resolvedRule{rule: &ir.Rule{Name: r.Name, Object: fn, ReadOnly: r.ReadOnly}}
		if !derivatives(w.wider, "Shape") {
			return nil
		}
		r.Wider = w.wider.rule
		r.Wider.Real = realForm(fn, k.Real, fn.Name()+"Shape", nil)
	}
	if k.Real != "" {
		r.Real = realForm(fn, k.Real, fn.Name(), r.NoDerivative)
	} else {
		w.plain = find("Plain", fn.Signature())
	}
	return w
}

// sourceOf returns the declaration of a function that is called, nil if there is none. A function of a package of
// library derivatives calls the original of that in whose place it is differentiated.
func (l *lowerer) sourceOf(fn *types.Func) *decl {
	d := l.p.decls[fn]
	if d == nil || !strings.HasPrefix(l.d.pkg.PkgPath, library.Path+"/") || l.p.substitute(d).fn != l.d.fn {
		return d
	}
	w := *d
	w.original = true
	return &w
}

// substitute returns the declaration whose source is differentiated in place of d: that of a function of package
// library with the parameters of d, that of a portable form, or d.
func (p *Program) substitute(d *decl) *decl {
	if d.original {
		return d
	}
	name, f, ok := library.Substitute(d.fn.FullName())
	if !ok || p.opts.NoLibrary {
		return p.portable(d)
	}
	pkg := p.libraryPackage(name)
	if pkg == nil {
		return d
	}
	fn, _ := pkg.Types.Scope().Lookup(f).(*types.Func)
	if fn == nil || p.decls[fn] == nil {
		return d
	}
	have, want := (&ir.Rule{Object: fn}).Shape(), (&ir.Rule{Object: d.fn}).Shape()
	same := func(a, b []*types.Var) bool {
		return slices.EqualFunc(a, b, func(v, w *types.Var) bool { return types.Identical(v.Type(), w.Type()) })
	}
	if !same(have.Params, want.Params) || !same(have.Results, want.Results) {
		return d
	}
	return p.decls[fn]
}

// fixedArity returns the declaration whose source is differentiated in place of d, which is variadic, in a call with n
// arguments: that of the function of package library whose name ends in n. It returns nil if there is none.
func (p *Program) fixedArity(d *decl, call *ast.CallExpr, n int) *decl {
	name, f, ok := library.Substitute(d.fn.FullName())
	if !ok || !d.fn.Signature().Variadic() || call.Ellipsis.IsValid() || p.opts.NoLibrary {
		return nil
	}
	pkg := p.libraryPackage(name)
	if pkg == nil {
		return nil
	}
	fn, _ := pkg.Types.Scope().Lookup(f + strconv.Itoa(n)).(*types.Func)
	return p.decls[fn]
}

// realForm returns a rule for a function of numbers that is called name in a package of functions over Reals. Fixed
// parameters remain floats.
func realForm(fn *types.Func, pkg, name string, fixed []bool) *ir.Rule {
	in := types.NewPackage(library.Path+"/"+pkg, pkg)
	vars := func(list *types.Tuple, fixed []bool) *types.Tuple {
		var out []*types.Var
		for v := range list.Variables() {
			t := v.Type()
			if i := len(out); types.Identical(t, types.Typ[types.Float64]) && !(i < len(fixed) && fixed[i]) {
				t = ir.Real
			}
			out = append(out, types.NewParam(token.NoPos, in, v.Name(), t))
		}
		return types.NewTuple(out...)
	}
	sig := types.NewSignatureType(nil, nil, nil, vars(fn.Signature().Params(), fixed),
		vars(fn.Signature().Results(), nil), false)
	f := types.NewFunc(token.NoPos, in, name, sig)
	return &ir.Rule{Name: in.Path() + "." + name, Object: f, NoDerivative: fixed,
		ReadOnly: slices.Repeat([]bool{true}, sig.Params().Len())}
}

// libraryInstance returns the instance for float64 of a generic function with a library derivative,
// or nil if the type arguments are others or there is no rule.
func (p *Program) libraryInstance(fn *types.Func, targs []types.Type) *types.Func {
	if !isGeneric(fn) || p.opts.NoLibrary || p.ruleOf[fn] != nil {
		return nil
	}
	if _, ok := library.Lookup(fn.FullName()); !ok {
		return nil
	}
	number := types.Typ[types.Float64]
	var of []types.Type
	for _, t := range targs {
		switch {
		case types.Identical(t, number):
			of = append(of, number)
		case types.Identical(t.Underlying(), types.NewSlice(number)):
			of = append(of, types.NewSlice(number))
		default:
			return nil
		}
	}
	if f := p.instances[fn]; f != nil {
		return f
	}
	sig, err := types.Instantiate(nil, fn.Signature(), of, false)
	if err != nil {
		return nil
	}
	f := types.NewFunc(fn.Pos(), fn.Pkg(), fn.Name(), sig.(*types.Signature))
	p.instances[fn] = f
	return f
}

// libraryPackage returns a package of library derivatives, type-checked against the loaded packages
// so that its types are identical to theirs, or nil if that fails.
func (p *Program) libraryPackage(name string) *packages.Package {
	if pkg, ok := p.libraryPackages[name]; ok {
		return pkg
	}
	p.libraryPackages[name] = nil
	path := library.Path + "/" + name
	if pkg := p.loaded[path]; pkg != nil && len(pkg.Syntax) > 0 && len(pkg.Errors) == 0 {
		if !p.replaceTwins(pkg) {
			return nil
		}
		p.declare(pkg, false)
		p.libraryPackages[name] = pkg
		return pkg
	}
	pkg := &packages.Package{ID: path, PkgPath: path, Name: name, Fset: p.fset, TypesInfo: newInfo()}
	for file, text := range library.Source(name) {
		f, err := parser.ParseFile(p.fset, path+"/"+file, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil
		}
		pkg.Syntax = append(pkg.Syntax, f)
	}
	conf := types.Config{Importer: importer{p}}
	var err error
	if pkg.Types, err = conf.Check(path, p.fset, pkg.Syntax, pkg.TypesInfo); err != nil {
		return nil
	}
	if !p.replaceTwins(pkg) {
		return nil
	}
	for _, f := range pkg.Syntax {
		for _, d := range p.directives(pkg, f) {
			p.dirs[pkg] = append(p.dirs[pkg], d)
			if d.Name == "passive" && d.Func != nil {
				p.passive[d.Func] = true
			}
		}
	}
	p.ruleDirectives(pkg)
	p.declare(pkg, false)
	p.libraryPackages[name] = pkg
	return pkg
}

// newInfo returns an Info that records all facts that the lowering uses.
func newInfo() *types.Info {
	return &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{},
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		Scopes: map[ast.Node]*types.Scope{}, FileVersions: map[*ast.File]string{},
	}
}

// replaceTwins gives the expressions of a package of library derivatives that are pointers to a twin, see
// [library.Twin], the type of a pointer to the original. It reports whether the fields of all are the same.
func (p *Program) replaceTwins(pkg *packages.Package) bool {
	originals := map[types.Object]types.Type{}
	for _, name := range pkg.Types.Scope().Names() {
		path, of, ok := library.Twin(pkg.Name, name)
		if !ok {
			continue
		}
		o := pkg.Types.Scope().Lookup(name)
		from := p.loaded[path]
		if from == nil || from.Types == nil {
			return false
		}
		original := from.Types.Scope().Lookup(of)
		if original == nil || !sameFields(o.Type(), original.Type()) {
			return false // the loaded version has other fields
		}
		originals[o] = original.Type()
	}
	if len(originals) == 0 {
		return true
	}
	for e, tv := range pkg.TypesInfo.Types {
		ptr, ok := tv.Type.(*types.Pointer)
		if !ok {
			continue
		}
		if n, ok := ptr.Elem().(*types.Named); ok && originals[n.Obj()] != nil {
			tv.Type = types.NewPointer(originals[n.Obj()])
			pkg.TypesInfo.Types[e] = tv
		}
	}
	return true
}

// sameFields reports whether two types are structs with the same names and types of fields.
func sameFields(a, b types.Type) bool {
	s, ok := a.Underlying().(*types.Struct)
	t, is := b.Underlying().(*types.Struct)
	if !ok || !is || s.NumFields() != t.NumFields() {
		return false
	}
	for i := range s.NumFields() {
		if s.Field(i).Name() != t.Field(i).Name() || !types.Identical(s.Field(i).Type(), t.Field(i).Type()) {
			return false
		}
	}
	return true
}

// An importer returns loaded packages, and package rt.
type importer struct{ p *Program }

// Package returns a loaded package or a package of library derivatives, nil if there is none with
// this path.
func (p *Program) Package(path string) *types.Package {
	pkg := p.loaded[path]
	if name, ok := strings.CutPrefix(path, library.Path+"/"); ok && pkg == nil {
		pkg = p.libraryPackages[name]
	}
	if pkg == nil || pkg.Types == nil || !pkg.Types.Complete() {
		return nil
	}
	return pkg.Types
}

// IsRealPackage reports whether path is that of a package of functions over Reals.
func IsRealPackage(path string) bool {
	name, ok := strings.CutPrefix(path, library.Path+"/")
	return ok && library.IsReal(name)
}

// RealPackage returns the declarations of a package of functions over Reals, whose Real is that of
// the given package nabla, or nil if path is not such a package.
func RealPackage(path string, nabla *types.Package) *types.Package {
	return DeclaredPackage(path, library.Source(strings.TrimPrefix(path, library.Path+"/")), nabla)
}

// DeclaredPackage returns the declarations of a package that imports the given package nabla, from its source by file
// name. Declarations that need other packages are incomplete.
func DeclaredPackage(path string, source map[string][]byte, nabla *types.Package) *types.Package {
	fset := token.NewFileSet()
	var files []*ast.File
	for file, text := range source {
		f, err := ParseDeclarations(fset, file, text)
		if err != nil {
			return nil
		}
		files = append(files, f)
	}
	// Unexported declarations may need packages that are not loaded, so errors are ignored.
	conf := types.Config{Importer: singleImporter{nabla}, IgnoreFuncBodies: true, Error: func(error) {}}
	pkg, _ := conf.Check(path, fset, files, nil)
	return pkg
}

// A singleImporter returns one package.
type singleImporter struct{ pkg *types.Package }

// Import returns the package if path is its path.
func (o singleImporter) Import(path string) (*types.Package, error) {
	if o.pkg.Path() == path {
		return o.pkg, nil
	}
	return nil, errors.New("package " + path + " is not needed")
}

// Import returns a loaded package, or the declarations of package rt.
func (i importer) Import(path string) (*types.Package, error) {
	if pkg := i.p.loaded[path]; pkg != nil && pkg.Types != nil {
		return pkg.Types, nil
	}
	if path == runtimePath {
		return runtimePackage, nil
	}
	return nil, errors.New("package " + path + " is not loaded")
}

// runtimePackage declares the elementary functions of package rt.
var runtimePackage = func() *types.Package {
	pkg := types.NewPackage(runtimePath, "rt")
	number := types.Typ[types.Float64]
	for op := rules.Invalid + 1; op < rules.NumOps; op++ {
		r := rules.Info(op)
		if strings.HasPrefix(r.Value, "math.") {
			continue
		}
		var params []*types.Var
		for range r.Arity {
			params = append(params, types.NewParam(token.NoPos, pkg, "", number))
		}
		sig := types.NewSignatureType(nil, nil, nil, types.NewTuple(params...),
			types.NewTuple(types.NewParam(token.NoPos, pkg, "", number)), false)
		pkg.Scope().Insert(types.NewFunc(token.NoPos, pkg, strings.ToUpper(r.Name[:1])+r.Name[1:], sig))
	}
	pkg.MarkComplete()
	return pkg
}()

// elementary returns the name in the intermediate representation of a function of package math,
// math/cmplx or rt, "" for others.
func elementary(fn *types.Func) string {
	if fn.Pkg() == nil {
		return ""
	}
	switch fn.Pkg().Path() {
	case "math":
		return "math." + fn.Name()
	case "math/cmplx":
		return "cmplx." + fn.Name()
	case runtimePath:
		name := "rules." + strings.ToLower(fn.Name())
		if _, _, ok := ir.Elementary(name); ok {
			return name
		}
	}
	return ""
}
