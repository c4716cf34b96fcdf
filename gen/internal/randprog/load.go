package randprog

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/loaded"
)

// A Case is a lowered program with inputs.
type Case struct {
	Program *Program // nil for a file
	Sig     Signature
	F       *ir.Func
	Also    *ir.Func // another function func(x []float64) float64 that calls helpers of F, or nil
	Wide    *ir.Func // F with float64 for float32; F itself if it has none
	Inputs  []*Input
	source  string
}

// Source returns the program as a file.
func (c *Case) Source() string {
	if c.Program != nil {
		return c.Program.Source()
	}
	return c.source
}

// standard holds the packages that programs and generated code import.
var standard = sync.OnceValues(func() (map[string]*packages.Package, error) {
	paths := append([]string{"github.com/nabla-ad/nabla/rules", "github.com/nabla-ad/nabla/gen/rt"}, libraryImports...)
	list, err := lower.Load(".", paths, lower.LoadOptions{Packages: loaded.Packages})
	if err != nil {
		return nil, err
	}
	all := map[string]*packages.Package{}
	packages.Visit(list, nil, func(p *packages.Package) { all[p.PkgPath] = p })
	return all, nil
})

// An importer returns loaded packages by path.
type importer map[string]*packages.Package

func (m importer) Import(path string) (*types.Package, error) {
	if p := m[path]; p != nil {
		return p.Types, nil
	}
	return nil, fmt.Errorf("no package %s", path)
}

// typeCheck checks files as package rnd, without the go command.
func typeCheck(files []string) (*packages.Package, error) {
	std, err := standard()
	if err != nil {
		return nil, err
	}
	fset := std["math"].Fset
	var names []string
	var syntax []*ast.File
	for i, src := range files {
		name := fmt.Sprintf("rnd%d.go", i)
		f, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		names, syntax = append(names, name), append(syntax, f)
	}
	p := &packages.Package{
		ID: "rnd", Name: "rnd", PkgPath: "rnd", Fset: fset, Syntax: syntax, TypesSizes: std["math"].TypesSizes,
		GoFiles: names, CompiledGoFiles: names, Imports: map[string]*packages.Package{},
		TypesInfo: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
			Uses:      map[*ast.Ident]types.Object{},
			Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{},
			Scopes:     map[ast.Node]*types.Scope{},
			Selections: map[*ast.SelectorExpr]*types.Selection{}, FileVersions: map[*ast.File]string{},
		},
	}
	var errs []error
	conf := types.Config{Importer: importer(std), Sizes: p.TypesSizes, GoVersion: "go1.26",
		Error: func(err error) { errs = append(errs, err) }}
	p.Types, _ = conf.Check("rnd", fset, p.Syntax, p.TypesInfo)
	if len(errs) > 0 {
		return nil, errors.Join(errs[:min(len(errs), 5)]...)
	}
	for _, q := range p.Types.Imports() {
		if std[q.Path()] != nil {
			p.Imports[q.Path()] = std[q.Path()]
		}
	}
	return p, nil
}

// release removes the files of a package from its file set, which would otherwise grow without limit.
func release(p *packages.Package) {
	for _, f := range p.Syntax {
		p.Fset.RemoveFile(p.Fset.File(f.FileStart))
	}
}

// Lower type-checks files of package rnd and lowers functions of it.
func Lower(names []string, files ...string) ([]*ir.Func, error) {
	pkg, err := typeCheck(files)
	if err != nil {
		return nil, err
	}
	defer release(pkg)
	// The evaluator can access unexported objects, so the source of the standard library is differentiated too.
	p := lower.New(
		[]*packages.Package{pkg},
		lower.Options{CanGenerate: func(string) bool { return true }, NoLibrary: true},
	)
	var out []*ir.Func
	for _, name := range names {
		f, err := p.Func(p.Lookup("rnd", name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, f)
	}
	return out, nil
}

// Declared lowers the functions and methods without type parameters that a file declares. refused holds the refusals of
// the others; err is set if the file does not type-check.
func Declared(src string) (lowered []*ir.Func, refused []error, err error) {
	pkg, err := typeCheck([]string{src})
	if err != nil {
		return nil, nil, err
	}
	defer release(pkg)
	p := lower.New(
		[]*packages.Package{pkg},
		lower.Options{CanGenerate: func(string) bool { return true }, NoLibrary: true},
	)
	for _, d := range pkg.Syntax[0].Decls {
		d, ok := d.(*ast.FuncDecl)
		if !ok || d.Type.TypeParams != nil {
			continue
		}
		fn, ok := pkg.TypesInfo.Defs[d.Name].(*types.Func)
		if !ok || fn.Signature().RecvTypeParams().Len() > 0 {
			continue
		}
		f, err := p.Func(fn)
		if err != nil {
			refused = append(refused, err)
			continue
		}
		lowered = append(lowered, f)
	}
	return lowered, refused, nil
}

// withFloat64 returns the source with float64 for float32.
func withFloat64(src string) string {
	return strings.Replace(src, "type small = float32", "type small = float64", 1)
}

// Load type-checks and lowers programs as one package, and gives each the same number of inputs.
func Load(list []*Program, inputs int) ([]*Case, error) {
	names := make([]string, len(list))
	out := make([]*Case, len(list))
	for i, p := range list {
		names[i] = "F" + mark(i)
		out[i] = &Case{Program: p, Sig: p.Sig}
		for k := range inputs {
			out[i].Inputs = append(out[i].Inputs, p.Input(k))
		}
	}
	for i, p := range list {
		if p.hasSecondFunction() {
			names = append(names, "G"+mark(i))
		}
	}
	fs, err := Lower(names, Batch(list)...)
	if err != nil {
		return nil, err
	}
	var again []*Program
	var at []int
	others := fs[len(list):]
	for i, p := range list {
		out[i].F, out[i].Wide = fs[i], fs[i]
		if p.hasSecondFunction() {
			out[i].Also, others = others[0], others[1:]
		}
		if p.single() {
			again, at = append(again, p), append(at, i)
		}
	}
	if len(again) == 0 {
		return out, nil
	}
	files := Batch(again)
	for i := range files {
		files[i] = withFloat64(files[i])
	}
	ws, err := Lower(names[:len(again)], files...)
	if err != nil {
		return nil, err
	}
	for k, i := range at {
		out[i].Wide = ws[k]
	}
	return out, nil
}

// Globals returns the values of the package-level variables of the library.
func Globals() map[string]ir.Value {
	return map[string]ir.Value{"rnd.table": ir.ValueOf([4]float64{0.5, -1, 0.25, 2}),
		"rnd.weights": ir.ValueOf([]float64{0.5, -0.25, 1.5}), "rnd.level": ir.ValueOf(0.0),
		"rnd.pad": ir.ValueOf([4]float64{}),
		"rnd.state": ir.ValueOf(struct {
			a, b float64
			k    int
		}{})}
}

// eval runs a function of a program with a limit of steps.
func eval(f *ir.Func, args []ir.Value) ([]ir.Value, error) {
	m := ir.Machine{Globals: Globals(), Steps: 2_000_000}
	return m.Eval(f, args)
}

// Run returns the outcome of the program for input k.
func (c *Case) Run(k int) (*Outcome, error) {
	args := c.Inputs[k].Values(c.Sig)
	results, err := eval(c.F, args[:len(args)-1])
	var p *ir.PanicError
	switch {
	case errors.As(err, &p) && p.Runtime():
		return &Outcome{Panic: "runtime"}, nil
	case errors.As(err, &p):
		return &Outcome{Panic: p.Text}, nil
	case err != nil:
		return nil, err
	}
	return &Outcome{Floats: Outputs(c.Sig, results, args), Ints: integers(c.Sig, results, args)}, nil
}
