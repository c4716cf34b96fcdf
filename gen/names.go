package gen

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/lower"
)

// otherNames returns the package-level names that a package declares in files that are excluded from this build.
// Generated code avoids them, so that it is the same in each build. Files that cannot be read or parsed are ignored.
func otherNames(pkg *packages.Package) map[string]bool {
	out := map[string]bool{}
	list, _ := filepath.Glob(filepath.Join(directory(pkg), "*.go"))
	for _, name := range list {
		base := filepath.Base(name)
		if slices.Contains(pkg.GoFiles, name) || strings.HasSuffix(base, "_test.go") || base[0] == '_' ||
			base[0] == '.' {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil || lower.IsOutput(name, text) {
			continue
		}
		f, _ := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if f == nil || f.Name == nil || f.Name.Name != pkg.Name {
			continue
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					out[d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						out[spec.Name.Name] = true
					case *ast.ValueSpec:
						for _, id := range spec.Names {
							out[id.Name] = true
						}
					}
				}
			}
		}
	}
	return out
}
