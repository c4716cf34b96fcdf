package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/library"
	"github.com/nabla-ad/nabla/gen/lower"
)

const (
	// root is the prefix of the packages, runtime the package that generated code imports.
	root    = "gonum.org/v1/gonum/"
	runtime = "github.com/nabla-ad/nabla/gen/rt"
)

// imports lists packages that generated code imports.
var imports = append(library.Packages(), runtime)

// numeric lists the packages of gonum that compute with real numbers of double precision and are no tests of others.
var numeric = strings.Fields(`
	blas/blas64 blas/gonum diff/fd dsp/fourier dsp/transform dsp/window floats floats/scalar integrate integrate/quad
	interp lapack/gonum lapack/lapack64 mat mathext mathext/prng num/dual num/dualquat num/hyperdual num/quat
	optimize optimize/convex/lp optimize/functions spatial/barneshut spatial/curve spatial/kdtree spatial/r1 spatial/r2
	spatial/r3 spatial/transform spatial/vptree stat stat/card stat/combin stat/distmat stat/distmv stat/distuv stat/mds
	stat/samplemv stat/sampleuv stat/spatial`)

// load type-checks packages of gonum and returns them with all imported packages.
func load(dir string, names []string) ([]*packages.Package, importer, error) {
	patterns := make([]string, len(names))
	for i, name := range names {
		patterns[i] = root + name
	}
	patterns = append(patterns, imports...)
	pkgs, err := lower.Load(dir, patterns, lower.LoadOptions{})
	if err != nil {
		return nil, nil, err
	}
	for _, p := range pkgs {
		if len(p.Errors) > 0 {
			return nil, nil, fmt.Errorf("%s: %w", p.PkgPath, p.Errors[0])
		}
	}
	all := importer{}
	packages.Visit(pkgs, nil, func(p *packages.Package) { all[p.PkgPath] = p.Types })
	pkgs = slices.DeleteFunc(pkgs, func(p *packages.Package) bool { return slices.Contains(imports, p.PkgPath) })
	slices.SortFunc(pkgs, func(a, b *packages.Package) int { return cmp.Compare(a.PkgPath, b.PkgPath) })
	return pkgs, all, nil
}

// user returns a package of another module that imports pkgs, for which code is generated.
func user(pkgs []*packages.Package) *packages.Package {
	u := &packages.Package{
		ID: "example.com/user", PkgPath: "example.com/user", Name: "user", Fset: pkgs[0].Fset,
		Types: types.NewPackage("example.com/user", "user"), TypesInfo: &types.Info{}, TypesSizes: pkgs[0].TypesSizes,
		Imports: map[string]*packages.Package{}, Module: &packages.Module{Path: "example.com/user", Main: true},
	}
	for _, p := range pkgs {
		u.Imports[p.PkgPath] = p
	}
	return u
}

// functions returns the functions of a package that could have a derivative: floats enter by the parameters or the
// receiver, and leave by the results or by memory that is written. Generic functions are left out.
func functions(pkg *packages.Package) (out []*types.Func) {
	for _, f := range pkg.Syntax {
		for _, d := range f.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok || d.Body == nil {
				continue
			}
			fn, ok := pkg.TypesInfo.Defs[d.Name].(*types.Func)
			if !ok || fn.Signature().TypeParams().Len() > 0 || fn.Signature().RecvTypeParams().Len() > 0 {
				continue
			}
			if floatsIn(fn) && floatsOut(pkg.TypesInfo, d, fn) {
				out = append(out, fn)
			}
		}
	}
	return out
}

// params returns the parameters of a function, the receiver first.
func params(fn *types.Func) (out []*types.Var) {
	sig := fn.Signature()
	if r := sig.Recv(); r != nil {
		out = append(out, r)
	}
	for v := range sig.Params().Variables() {
		out = append(out, v)
	}
	return out
}

// floatsIn reports whether a parameter contains or leads to floats.
func floatsIn(fn *types.Func) bool {
	for _, v := range params(fn) {
		if activity.HasFloats(v.Type()) {
			return true
		}
	}
	return false
}

// floatsOut reports whether a result contains or leads to floats, or the function writes floats in memory of a
// parameter.
func floatsOut(info *types.Info, d *ast.FuncDecl, fn *types.Func) bool {
	for v := range fn.Signature().Results().Variables() {
		if activity.HasFloats(v.Type()) {
			return true
		}
	}
	memory := map[types.Object]bool{}
	for _, v := range params(fn) {
		if activity.HasFloats(v.Type()) && ir.HasRefs(v.Type()) {
			memory[v] = true
		}
	}
	return len(memory) > 0 && writes(info, d.Body, memory)
}

// writes reports whether a body may write to memory reachable from the variables in memory, directly or by passing it
// to a call. The analysis is intraprocedural. It adds other names of the memory to the map.
func writes(info *types.Info, body ast.Node, memory map[types.Object]bool) bool {
	found := false
	of := func(e ast.Expr) types.Object {
		for {
			switch x := ast.Unparen(e).(type) {
			case *ast.Ident:
				return info.ObjectOf(x)
			case *ast.SelectorExpr:
				e = x.X
			case *ast.IndexExpr:
				e = x.X
			case *ast.SliceExpr:
				e = x.X
			case *ast.StarExpr:
				e = x.X
			case *ast.UnaryExpr:
				e = x.X
			default:
				return nil
			}
		}
	}
	target := func(e ast.Expr) {
		if _, ok := ast.Unparen(e).(*ast.Ident); !ok && memory[of(e)] && activity.HasFloats(info.TypeOf(e)) {
			found = true
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, e := range n.Lhs {
				target(e)
				// Another name for the memory.
				id, ok := e.(*ast.Ident)
				if ok && i < len(n.Rhs) && memory[of(n.Rhs[i])] && ir.HasRefs(info.TypeOf(n.Rhs[i])) {
					memory[info.ObjectOf(id)] = true
				}
			}
		case *ast.IncDecStmt:
			target(n.X)
		case *ast.RangeStmt:
			if id, ok := n.Value.(*ast.Ident); ok && memory[of(n.X)] && ir.HasRefs(info.TypeOf(id)) {
				memory[info.ObjectOf(id)] = true
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok {
				if _, builtin := info.Uses[id].(*types.Builtin); builtin {
					if (id.Name == "copy" || id.Name == "clear") && memory[of(n.Args[0])] {
						found = true
					}
					return true
				}
			}
			for _, a := range n.Args {
				if t := info.TypeOf(a); t != nil && memory[of(a)] && activity.HasFloats(t) && ir.HasRefs(t) {
					found = true
				}
			}
			if s, ok := n.Fun.(*ast.SelectorExpr); ok {
				if sel := info.Selections[s]; sel != nil && sel.Kind() == types.MethodVal && memory[of(s.X)] {
					if _, ok := sel.Obj().(*types.Func).Signature().Recv().Type().(*types.Pointer); ok {
						found = true
					}
				}
			}
		}
		return true
	})
	return found
}
