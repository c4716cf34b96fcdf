package gen

import (
	"embed"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"go/version"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/gen/print"
)

// oldestGo is the language version that this module requires of the modules that use it.
const oldestGo = "go1.26"

// typeCheck returns the first error that the compiler would report in the generated files texts (name → text), or the
// go command for their imports. The other functions of the package are checked without bodies, as these may still
// contain errors.
func (h *home) typeCheck(texts map[string][]byte) error {
	fset := h.pkg.Fset
	files := h.declarations()
	own := len(files)
	paths := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		f, err := parser.ParseFile(fset, name, texts[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		defer fset.RemoveFile(fset.File(f.FileStart))
		for _, s := range f.Imports {
			path, err := strconv.Unquote(s.Path.Value)
			if err != nil {
				return err
			}
			paths[path] = true
		}
		files = append(files, f)
	}
	if err := h.mayImport(paths); err != nil {
		return err
	}
	conf := types.Config{Importer: h.program, Sizes: h.pkg.TypesSizes, GoVersion: oldestGo}
	if m := h.pkg.Module; m != nil && version.Compare("go"+m.GoVersion, oldestGo) > 0 {
		conf.GoVersion = "go" + m.GoVersion
	}
	var first error
	conf.Error = func(err error) {
		var e types.Error
		if first != nil || !errors.As(err, &e) || strings.HasPrefix(e.Msg, "could not import") {
			return
		}
		at := fset.Position(e.Pos)
		if text := texts[at.Filename]; text != nil && at.IsValid() {
			line := strings.Split(string(text), "\n")[at.Line-1]
			first = fmt.Errorf("%s, at %s", e.Msg, strings.TrimSpace(line))
		}
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, _ := conf.Check(h.pkg.PkgPath, fset, files, &info) // its errors have been reported
	if err := print.Redeclared(pkg, info.Uses, files[own:], first == nil); err != nil {
		return err
	}
	return first
}

// declarations returns the syntax of the package without the bodies of functions and without files that are replaced.
func (h *home) declarations() (files []*ast.File) {
	for _, f := range h.pkg.Syntax {
		if h.program.lower.IsStub(h.pkg.Fset.Position(f.Package).Filename) {
			continue
		}
		g := *f
		g.Decls = slices.Clone(f.Decls)
		for i, d := range g.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				e := *d
				e.Body = nil
				g.Decls[i] = &e
			}
		}
		files = append(files, &g)
	}
	return files
}

// mayImport loads the packages in paths that are not loaded yet, and returns an error for the first one that the
// package may not import. A package that is not found is no error here, since the module may not require nabla yet; the
// go command reports it.
func (h *home) mayImport(paths map[string]bool) error {
	var missing []string
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		// Loaded on its own, a package of functions over Reals would have Reals of its own.
		if _, err := h.program.Import(path); err != nil && !isOverReals(path) {
			missing = append(missing, path)
		}
	}
	if err := h.program.load(directory(h.pkg), missing); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		pkg, err := h.program.Import(path)
		switch {
		case err != nil:
		case !ir.Importable(pkg, h.pkg.PkgPath):
			return fmt.Errorf("package %s may not be imported by %s", path, h.pkg.PkgPath)
		case imports(pkg, h.pkg.PkgPath, map[*types.Package]bool{}):
			return fmt.Errorf("package %s imports %s", path, h.pkg.PkgPath)
		}
	}
	return nil
}

// imports reports whether pkg is the package path or imports it directly or indirectly. The packages in seen count as
// not importing it.
func imports(pkg *types.Package, path string, seen map[*types.Package]bool) bool {
	if seen[pkg] {
		return false
	}
	seen[pkg] = true
	return pkg.Path() == path || slices.ContainsFunc(pkg.Imports(), func(p *types.Package) bool {
		return imports(p, path, seen)
	})
}

// Import returns a loaded package for generated code. It implements types.Importer.
func (p *Program) Import(path string) (*types.Package, error) {
	if pkg := p.lower.Package(path); pkg != nil {
		return pkg, nil
	}
	if pkg := p.extra[path]; pkg != nil {
		return pkg, nil
	}
	if isOverReals(path) {
		if nabla, err := p.Import(ir.RealPath); err == nil {
			if pkg := overReals(path, nabla); pkg != nil {
				if p.extra == nil {
					p.extra, p.sought = map[string]*types.Package{}, map[string]bool{}
				}
				p.extra[path] = pkg
				return pkg, nil
			}
		}
	}
	return nil, errors.New("package " + path + " is not loaded")
}

//go:embed rt/realrule/*.go
var realruleSource embed.FS

// realrulePath is the path of the package with operations over Reals.
const realrulePath = rtPath + "/realrule"

// isOverReals reports whether path is that of a package whose declarations refer to Reals, for use by generated code.
func isOverReals(path string) bool { return path == realrulePath || lower.IsRealPackage(path) }

// overReals returns the declarations of such a package, with the Reals of nabla, nil if there are none.
func overReals(path string, nabla *types.Package) *types.Package {
	if path != realrulePath {
		return lower.RealPackage(path, nabla)
	}
	const dir = "rt/realrule"
	source := map[string][]byte{}
	list, err := realruleSource.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, f := range list {
		text, err := realruleSource.ReadFile(dir + "/" + f.Name())
		if err == nil && !strings.HasSuffix(f.Name(), "_test.go") {
			source[f.Name()] = text
		}
	}
	return lower.DeclaredPackage(path, source, nabla)
}

// An importsError says that the go command cannot list the packages that generated code imports, as when go.mod lacks
// requirements. No function is to blame.
type importsError struct{ err error }

func (e *importsError) Error() string {
	return "the packages that generated code imports cannot be listed: " + e.err.Error()
}

func (e *importsError) Unwrap() error { return e.err }

// loadPackages is a variable so that tests can share loaded packages between programs.
var loadPackages = packages.Load

// load loads the packages in paths without bodies of functions and adds them to p.extra. Each path is tried once.
func (p *Program) load(dir string, paths []string) error {
	paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return p.sought[path] })
	if len(paths) == 0 {
		return nil
	}
	env := p.opts.Load.Env
	if slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(path, "simd/") }) {
		if env == nil {
			env = os.Environ()
		}
		env = append(slices.Clip(env), "GOEXPERIMENT=simd")
	}
	pkgs, err := loadPackages(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedTypes |
			packages.NeedTypesSizes |
			packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule,
		Dir: dir, Env: env, BuildFlags: p.opts.Load.Flags, ParseFile: lower.ParseDeclarations,
	}, paths...)
	if err != nil {
		return &importsError{lower.ListError(dir, env, err)}
	}
	if p.extra == nil {
		p.extra, p.sought = map[string]*types.Package{}, map[string]bool{}
	}
	for _, path := range paths {
		p.sought[path] = true
	}
	packages.Visit(pkgs, nil, func(pkg *packages.Package) {
		if pkg.Types != nil && pkg.Types.Complete() && p.extra[pkg.PkgPath] == nil && len(pkg.Syntax) > 0 {
			p.extra[pkg.PkgPath] = pkg.Types
		}
	})
	return nil
}
