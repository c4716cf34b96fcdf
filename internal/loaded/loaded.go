// Package loaded keeps the packages that tests load: parsing and type-checking the standard library, gonum and this
// module takes most of the time in which a small package is generated.
//
// A package is that of an earlier load if its files have the same names and contents, it is parsed in the same way, and
// its imports are those of an earlier load too. All loads of a process share one file set.
package loaded

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"

	"golang.org/x/tools/go/packages"
)

// complete is the mode of the loads whose results Packages keeps.
const complete = packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedTypesSizes |
	packages.NeedSyntax | packages.NeedTypesInfo

var (
	mu    sync.Mutex
	files = token.NewFileSet()
	known = map[string]*checked{} // by key
)

// A checked package has its number, and the results of parsing and type-checking.
type checked struct {
	number     int
	types      *types.Package
	syntax     []*ast.File
	info       *types.Info
	errors     []packages.Error
	typeErrors []types.Error
	illTyped   bool
}

// Packages is packages.Load for a configuration that requests syntax and types of all packages. Results must not be
// modified.
func Packages(c *packages.Config, patterns ...string) ([]*packages.Package, error) {
	if c.Mode&complete != complete || c.Fset != nil {
		return packages.Load(c, patterns...)
	}
	list := *c
	list.Mode = c.Mode&^(packages.NeedTypes|packages.NeedSyntax|packages.NeedTypesInfo) | packages.NeedCompiledGoFiles
	pkgs, err := packages.Load(&list, patterns...)
	if err != nil {
		return nil, err
	}
	mu.Lock()
	defer mu.Unlock()
	l := &loader{config: c, numbers: map[*packages.Package]int{}}
	packages.Visit(pkgs, nil, l.load) // imports before the packages that import them
	return pkgs, nil
}

var (
	onceMu sync.Mutex
	once   = map[string][]*packages.Package{}
)

// Once is Packages for files that do not change while the process runs, such as those of this module: it returns the
// packages of an earlier call with the same configuration, without asking the go command which they are.
func Once(c *packages.Config, patterns ...string) ([]*packages.Package, error) {
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%v %q %q %q %v %v %q\n", c.Mode, dir, env, c.BuildFlags, c.Tests,
		reflect.ValueOf(c.ParseFile).Pointer(), patterns)
	for _, name := range slices.Sorted(maps.Keys(c.Overlay)) {
		fmt.Fprintf(h, "%q %q\n", name, c.Overlay[name])
	}
	key := string(h.Sum(nil))
	onceMu.Lock()
	defer onceMu.Unlock()
	if once[key] == nil {
		pkgs, err := Packages(c, patterns...)
		if err != nil {
			return nil, err
		}
		once[key] = pkgs
	}
	return slices.Clone(once[key]), nil
}

// A loader is one call of Packages.
type loader struct {
	config  *packages.Config
	numbers map[*packages.Package]int // of the packages so far
}

// load parses and checks a package unless it is known.
func (l *loader) load(p *packages.Package) {
	p.Fset = files
	if p.PkgPath == "unsafe" {
		p.Types, p.Syntax, p.TypesInfo = types.Unsafe, []*ast.File{}, newInfo()
		l.numbers[p] = 0
		return
	}
	texts := make([][]byte, len(p.CompiledGoFiles))
	for i, name := range p.CompiledGoFiles {
		text, ok := l.config.Overlay[name]
		if !ok {
			var err error
			if text, err = os.ReadFile(name); err != nil {
				l.fail(p, err)
			}
		}
		texts[i] = text
	}
	key := l.key(p, texts)
	if k := known[key]; k != nil {
		p.Types, p.Syntax, p.TypesInfo = k.types, k.syntax, k.info
		p.Errors, p.TypeErrors, p.IllTyped = slices.Clone(k.errors), k.typeErrors, k.illTyped
		l.numbers[p] = k.number
		return
	}
	p.Types, p.TypesInfo = types.NewPackage(p.PkgPath, p.Name), newInfo()
	parse := l.config.ParseFile
	if parse == nil {
		parse = func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
			return parser.ParseFile(fset, name, src, parser.AllErrors|parser.ParseComments)
		}
	}
	for i, name := range p.CompiledGoFiles {
		f, err := parse(files, name, texts[i])
		if err != nil {
			l.fail(p, err)
		}
		if f != nil {
			p.Syntax = append(p.Syntax, f)
		}
	}
	conf := types.Config{Importer: importer{p}, Sizes: p.TypesSizes, Error: func(err error) { l.fail(p, err) }}
	if p.Module != nil && p.Module.GoVersion != "" {
		conf.GoVersion = "go" + p.Module.GoVersion
	}
	if err := types.NewChecker(&conf, files, p.Types, p.TypesInfo).Files(p.Syntax); err != nil && len(p.Errors) == 0 {
		l.fail(p, err)
	}
	p.IllTyped = len(p.Errors) > 0
	for _, in := range p.Imports {
		p.IllTyped = p.IllTyped || in.IllTyped
	}
	k := &checked{len(known) + 1, p.Types, p.Syntax, p.TypesInfo, slices.Clone(p.Errors), p.TypeErrors, p.IllTyped}
	known[key], l.numbers[p] = k, k.number
}

// key returns a hash of everything that the syntax, types and errors of a package depend on.
func (l *loader) key(p *packages.Package, texts [][]byte) string {
	version := ""
	if p.Module != nil {
		version = p.Module.GoVersion
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q %v %v %v\n", p.ID, p.PkgPath, p.Name, version,
		reflect.ValueOf(l.config.ParseFile).Pointer(), l.bodies(p), p.TypesSizes)
	paths := make([]string, 0, len(p.Imports))
	for path, in := range p.Imports {
		paths = append(paths, fmt.Sprintf("%q %d", path, l.numbers[in]))
	}
	slices.Sort(paths)
	fmt.Fprintln(h, paths, p.Errors)
	for i, name := range p.CompiledGoFiles {
		fmt.Fprintf(h, "%q %d\n", name, len(texts[i]))
		h.Write(texts[i])
	}
	return string(h.Sum(nil))
}

// bodies reports whether ParseFile keeps the bodies of the functions of a package, which may depend on the names of its
// files.
func (l *loader) bodies(p *packages.Package) bool {
	if l.config.ParseFile == nil || len(p.CompiledGoFiles) == 0 {
		return true
	}
	f, err := l.config.ParseFile(token.NewFileSet(), p.CompiledGoFiles[0], []byte("package p; func f() { f() }"))
	if err != nil || len(f.Decls) != 1 {
		return true
	}
	d, ok := f.Decls[0].(*ast.FuncDecl)
	if !ok || len(d.Body.List) != 1 {
		return false
	}
	_, ok = d.Body.List[0].(*ast.ExprStmt)
	return ok
}

// fail adds an error to those of a package, as packages.Load has them.
func (l *loader) fail(p *packages.Package, err error) {
	var path *os.PathError
	var list scanner.ErrorList
	var typ types.Error
	switch {
	case errors.As(err, &path):
		p.Errors = append(p.Errors, packages.Error{Pos: path.Path + ":1", Msg: path.Err.Error(),
			Kind: packages.ParseError})
	case errors.As(err, &list):
		for _, e := range list {
			p.Errors = append(p.Errors, packages.Error{Pos: e.Pos.String(), Msg: e.Msg, Kind: packages.ParseError})
		}
	case errors.As(err, &typ):
		p.TypeErrors = append(p.TypeErrors, typ)
		p.Errors = append(p.Errors, packages.Error{Pos: files.Position(typ.Pos).String(), Msg: typ.Msg,
			Kind: packages.TypeError})
	default:
		p.Errors = append(p.Errors, packages.Error{Pos: "-", Msg: err.Error()})
	}
}

// An importer returns the imports of a package.
type importer struct{ p *packages.Package }

func (i importer) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if in := i.p.Imports[path]; in != nil && in.Types != nil {
		return in.Types, nil
	}
	return nil, fmt.Errorf("no metadata for %s", path)
}

func newInfo() *types.Info {
	return &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{},
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		Scopes: map[ast.Node]*types.Scope{}, FileVersions: map[*ast.File]string{},
	}
}
