package loaded_test

import (
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/internal/loaded"
)

const mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedDeps | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo |
	packages.NeedModule

// seen returns the properties of packages and their imports that are compared: declarations, the number of types and
// uses, and errors.
func seen(pkgs []*packages.Package) (list []string) {
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		if p.Fset == nil || p.TypesSizes == nil {
			list = append(list, p.ID+" is not complete")
		}
		text := fmt.Sprintln(p.ID, p.Name, len(p.Syntax), p.Errors, len(p.TypeErrors), p.IllTyped,
			len(p.TypesInfo.Types), len(p.TypesInfo.Uses), len(p.TypesInfo.FileVersions))
		for _, name := range p.Types.Scope().Names() {
			text += types.ObjectString(p.Types.Scope().Lookup(name), nil) + "\n"
		}
		list = append(list, text)
	})
	slices.Sort(list)
	return list
}

// TestPackages compares packages with those of packages.Load, before and after their files change.
func TestPackages(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module m\n\ngo 1.26\n")
	write("a/a.go", "package a\n\nfunc F(x float64) float64 { return x }\n")
	write("m.go", "package m\n\nimport (\n\t\"math/bits\"\n\n\t\"m/a\"\n)\n\nvar X, N = a.F(1), bits.Len(3)\n")
	overlay := map[string][]byte{}
	load := func() (got *packages.Package) {
		t.Helper()
		c := &packages.Config{Mode: mode, Dir: dir, Env: append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off"),
			Overlay: overlay}
		pkgs, err := loaded.Packages(c, "./...")
		if err != nil {
			t.Fatal(err)
		}
		others, err := packages.Load(c, "./...")
		if err != nil {
			t.Fatal(err)
		}
		if got, want := seen(pkgs), seen(others); !slices.Equal(got, want) {
			t.Errorf("got %s\nwant %s", got, want)
		}
		return pkgs[slices.IndexFunc(pkgs, func(p *packages.Package) bool { return p.ID == "m" })]
	}
	c := &packages.Config{Mode: mode, Dir: dir, Env: append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")}
	kept := func(c *packages.Config) *packages.Package {
		t.Helper()
		pkgs, err := loaded.Once(c, "./a")
		if err != nil || len(pkgs) != 1 || len(pkgs[0].Errors) > 0 {
			t.Fatal(pkgs, err)
		}
		return pkgs[0]
	}
	once := kept(c)
	first, again := load(), load()
	if first.Types != again.Types || first == again {
		t.Error("a package that has not changed is checked again")
	}
	write("a/a.go", "package a\n\nfunc F(x float64) int { return 1 }\n")
	changed := load()
	if kept(c) != once {
		t.Error("a package that is loaded once is loaded again")
	}
	other := *c
	other.BuildFlags = []string{"-tags=other"}
	if kept(&other) == once || kept(&other).Types != changed.Imports["m/a"].Types {
		t.Error("another configuration has the packages of the first")
	}
	other.Overlay = map[string][]byte{filepath.Join(dir, "a", "a.go"): []byte("package a\n\nconst F = 1\n")}
	if p := kept(&other); p.Types.Scope().Lookup("F").Type() != types.Typ[types.UntypedInt] {
		t.Error("other contents on top of a file are not read")
	}
	if changed.Types == first.Types || changed.Imports["m/a"].Types == first.Imports["m/a"].Types ||
		changed.Imports["math/bits"].Types != first.Imports["math/bits"].Types {
		t.Error("after a change of an import the wrong packages are checked again")
	}
	write("a/a.go", "package a\n\nfunc F(x float64) int { return y }\n\nfunc G( {}\n")
	if got := load(); !got.IllTyped {
		t.Error("an import with errors is none")
	}
	write("a/a.go", "package a\n\nfunc F(x float64) float64 { return x }\n")
	if got := load(); got.Types != first.Types {
		t.Error("a package that is as it was is checked again")
	}
	overlay[filepath.Join(dir, "a", "a.go")] = []byte("package a\n\nfunc F(x float64) bool { return true }\n")
	if got := load(); got.Types == first.Types || got.Types == changed.Types {
		t.Error("other contents on top of a file are not read")
	}
	write("m.go", "package m\n\nimport \"m/nowhere\"\n\nvar X = nowhere.Y\n")
	load()
}
