package lower

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Portable forms of functions written in assembly. A package that has assembly for some machines has the same functions
// in Go for the others, in files that the build leaves out. Their source is differentiated in place of the assembly.
// The values differ by rounding at most, as those of one machine differ from those of another.

// portableTags are the build tags by which packages are asked for Go in place of assembly.
var portableTags = []string{"noasm", "purego", "safe", "generic", "appengine"}

// architectures are the suffixes of the names of files for one architecture.
var architectures = strings.Fields(`386 amd64 arm arm64 loong64 mips mips64 mips64le mipsle ppc64 ppc64le riscv64 s390x
	wasm`)

// portable returns the declaration in Go of a function that d declares without a body, or d if there is none.
func (p *Program) portable(d *decl) *decl {
	if d.node.Body != nil || d.fn.Signature().Recv() != nil {
		return d
	}
	found, ok := p.portables[d.pkg]
	if !ok {
		found = p.portableFuncs(d.pkg)
		if p.portables == nil {
			p.portables = map[*packages.Package]map[string]*decl{}
		}
		p.portables[d.pkg] = found
	}
	to := found[d.fn.Name()]
	if to == nil || !types.Identical(to.fn.Signature(), d.fn.Signature()) {
		return d
	}
	return to
}

// portableFuncs returns the functions with a body in the files that a build of pkg without assembly has, but this one
// has not, by name.
func (p *Program) portableFuncs(pkg *packages.Package) map[string]*decl {
	type source struct {
		file  *ast.File
		names []string // of its functions
		gives int      // number of those that have no body in pkg
	}
	var sources []source
	for _, name := range slices.Sorted(slices.Values(pkg.IgnoredFiles)) {
		if !isPortable(name) {
			continue
		}
		f, err := parser.ParseFile(p.fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || f.Name.Name != pkg.Name {
			continue
		}
		s := source{file: f}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil {
				s.names = append(s.names, d.Name.Name)
				fn, _ := pkg.Types.Scope().Lookup(d.Name.Name).(*types.Func)
				if of := p.decls[fn]; of != nil && of.node.Body == nil {
					s.gives++
				}
			}
		}
		sources = append(sources, s)
	}
	// Of alternatives the file is taken that has the most functions.
	slices.SortStableFunc(sources, func(a, b source) int { return b.gives - a.gives })
	var files []*ast.File
	declared := map[string]bool{}
	for _, s := range sources {
		if s.gives == 0 || slices.ContainsFunc(s.names, func(name string) bool { return declared[name] }) {
			continue
		}
		for _, name := range s.names {
			declared[name] = true
		}
		files = append(files, s.file)
	}
	if len(files) == 0 {
		return nil
	}
	// The files are checked as a package of their own, in whose scope are the objects that they do not declare.
	own := types.NewPackage(pkg.Types.Path(), pkg.Types.Name())
	for _, name := range pkg.Types.Scope().Names() {
		if !declared[name] {
			own.Scope().Insert(pkg.Types.Scope().Lookup(name))
		}
	}
	in := &packages.Package{
		ID: pkg.ID + " without assembly", PkgPath: pkg.PkgPath, Name: pkg.Name, Fset: p.fset, Types: own,
		TypesInfo: newInfo(), TypesSizes: pkg.TypesSizes, Module: pkg.Module, Imports: maps.Clone(pkg.Imports),
		Syntax: files,
	}
	conf := types.Config{Importer: importer{p}, Error: func(error) {}}
	if types.NewChecker(&conf, p.fset, own, in.TypesInfo).Files(files) != nil {
		return nil
	}
	out := map[string]*decl{}
	p.declare(in, false)
	for _, f := range files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && d.Body != nil {
				if fn, ok := in.TypesInfo.Defs[d.Name].(*types.Func); ok {
					out[d.Name.Name] = p.decls[fn]
				}
			}
		}
	}
	return out
}

// isPortable reports whether the file is built for an architecture that there is no assembly for.
func isPortable(name string) bool {
	base := strings.TrimSuffix(filepath.Base(name), ".go")
	if base == filepath.Base(name) || strings.HasSuffix(base, "_test") {
		return false
	}
	for _, a := range architectures {
		if strings.HasSuffix(base, "_"+a) {
			return false
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return false
	}
	f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil {
		return false
	}
	for _, g := range f.Comments {
		for _, c := range g.List {
			if !constraint.IsGoBuild(c.Text) || g.Pos() > f.Package {
				continue
			}
			e, err := constraint.Parse(c.Text)
			return err == nil && e.Eval(func(tag string) bool {
				return tag == "gc" || strings.HasPrefix(tag, "go1.") || slices.Contains(portableTags, tag)
			})
		}
	}
	return false
}
