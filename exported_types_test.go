package nabla_test

import (
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
)

// exposed collects the types of internal packages that exported declarations use without a public name.
type exposed struct {
	uses  map[string][]string      // type → the declarations
	named map[*types.TypeName]bool // types of internal packages with an alias in a public package
	done  map[types.Type]bool
}

// visit visits the types that are visible in t, which is part of the declaration where. In internal packages, any
// public name of a type will do; in public ones, it has to be used.
func (e *exposed) visit(t types.Type, where string, inside bool) {
	switch t := t.(type) {
	case *types.Alias:
		if o := t.Obj(); o.Pkg() != nil && !internal(o.Pkg()) {
			if n, ok := types.Unalias(t).(*types.Named); ok {
				e.members(n, where)
				return
			}
		}
		e.visit(t.Rhs(), where, inside)
	case *types.Named:
		if o := t.Obj(); o.Pkg() != nil && internal(o.Pkg()) && !(inside && e.named[o]) {
			name := o.Pkg().Name() + "." + o.Name()
			e.uses[name] = append(e.uses[name], where)
		}
		for a := range t.TypeArgs().Types() {
			e.visit(a, where, inside)
		}
		e.members(t, where)
	case interface{ Elem() types.Type }:
		if m, ok := t.(*types.Map); ok {
			e.visit(m.Key(), where, inside)
		}
		e.visit(t.Elem(), where, inside)
	case *types.Signature:
		for _, list := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range list.Variables() {
				e.visit(v.Type(), where, inside)
			}
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				e.visit(f.Type(), where+"."+f.Name(), inside)
			}
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			if m.Exported() {
				e.visit(m.Type(), where+"."+m.Name(), inside)
			}
		}
	}
}

// members visits the fields and methods of t, if it is of this module.
func (e *exposed) members(t *types.Named, where string) {
	pkg := t.Obj().Pkg()
	if pkg == nil || !ours(pkg.Path()) || e.done[t] {
		return
	}
	e.done[t] = true
	where = pkg.Name() + "." + t.Obj().Name()
	for m := range t.Methods() {
		if m.Exported() {
			e.visit(m.Type(), where+"."+m.Name(), internal(pkg))
		}
	}
	e.visit(t.Underlying(), where, internal(pkg))
}

func internal(pkg *types.Package) bool { return strings.Contains(pkg.Path()+"/", "/internal/") }

// TestNoInternalTypesInSignatures: the author of an engine can name every type in the signatures of public packages.
// Types of internal packages have an alias there.
func TestNoInternalTypesInSignatures(t *testing.T) {
	longtest.Serial(t)
	var paths []string
	for _, p := range listed(t) {
		here := relative(p.ImportPath)
		if !strings.Contains("/"+here+"/", "/internal/") && !slices.Contains([]string{"cmd", "gen"},
			strings.Split(here, "/")[0]) {
			paths = append(paths, p.ImportPath)
		}
	}
	out, err := exec.Command("go", slices.Concat([]string{"list", "-export", "-deps", "-f",
		"{{.ImportPath}}\t{{.Export}}"}, paths)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		files[path] = file
	}
	compiled := importer.ForCompiler(token.NewFileSet(), "gc",
		func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	e := exposed{map[string][]string{}, map[*types.TypeName]bool{}, map[types.Type]bool{}}
	var public []*types.Package
	for _, path := range paths {
		pkg, err := compiled.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		public = append(public, pkg)
		for _, name := range pkg.Scope().Names() {
			if o, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok && o.Exported() && o.IsAlias() {
				if n, ok := types.Unalias(o.Type()).(*types.Named); ok {
					e.named[n.Obj()] = true
				}
			}
		}
	}
	if len(public) < 10 || len(e.named) < 5 {
		t.Errorf("%d packages with %d aliases", len(public), len(e.named))
	}
	for _, pkg := range public {
		for _, name := range pkg.Scope().Names() {
			if o := pkg.Scope().Lookup(name); o.Exported() {
				e.visit(o.Type(), pkg.Name()+"."+name, false)
			}
		}
	}
	for name, uses := range e.uses {
		t.Errorf("%s has no public name in %s", name, strings.Join(uses, ", "))
	}
}
