package lower_test

import (
	"errors"
	"go/types"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/loaded"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// TestGonum lowers every function of large packages: each is lowered to something
// well-formed or refused, and the same twice. The counts are printed.
func TestGonum(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks large packages")
	}
	patterns := []string{"gonum.org/v1/gonum/floats"}
	if longtest.Long() {
		patterns = append(patterns, "gonum.org/v1/gonum/optimize", "gonum.org/v1/gonum/stat", "gonum.org/v1/gonum/mat")
	}
	pkgs, err := lower.Load("../..", patterns, lower.LoadOptions{Packages: loaded.Once})
	if err != nil {
		t.Fatal(err)
	}
	first := everything(t, pkgs)
	if second := everything(t, pkgs); first != second {
		t.Error("a second time is different")
	}
}

// everything lowers all functions of packages and returns a report, which it also prints.
func everything(t *testing.T, pkgs []*packages.Package) string {
	var all strings.Builder
	total, done := 0, 0
	why := map[string]int{}
	for _, pkg := range pkgs {
		p := lower.New(pkgs, lower.Options{})
		n, ok := 0, 0
		for _, fn := range functions(pkg.Types) {
			n++
			f, err := p.Func(fn)
			var rs lower.Refusals
			switch {
			case err == nil:
				ok++
				for _, g := range reach(f) {
					if err := ir.Check(g); err != nil {
						t.Errorf("%v\n%s", err, g)
					}
					h, _ := ir.Clone(g, nil)
					ir.Normalize(h)
					if err := errors.Join(ir.Check(h), ir.CheckNormal(h)); err != nil {
						t.Errorf("normal form: %v\n%s", err, h)
					}
				}
				all.WriteString(f.String())
			case errors.As(err, &rs):
				kinds := map[string]bool{}
				for _, r := range rs {
					kinds[kind(r)] = true
				}
				for k := range kinds {
					why[k]++
				}
				all.WriteString(err.Error() + "\n")
			default:
				t.Errorf("%s: %v", fn.FullName(), err)
			}
		}
		t.Logf("%-35s %4d functions, %4d lowered, %4d refused", pkg.PkgPath, n, ok, n-ok)
		total, done = total+n, done+ok
	}
	t.Logf("%-35s %4d functions, %4d lowered, %4d refused", "all", total, done, total-done)
	keys := []string{}
	for k := range why {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if why[a] != why[b] {
			return why[b] - why[a]
		}
		return strings.Compare(a, b)
	})
	for _, k := range keys[:min(len(keys), 40)] {
		t.Logf("%6d  %s", why[k], k)
	}
	return all.String()
}

// kind returns the construct of a refusal without the names in it.
func kind(r *lower.Refusal) string {
	w := strings.Fields(r.What)
	switch {
	case strings.HasPrefix(r.What, "call of interface method"):
		return "call of interface method"
	case w[0] == "field" || w[0] == "type" || w[0] == "variable" || w[0] == "function" || w[0] == "parameter":
		return w[0] + ": " + r.Reason
	case strings.HasPrefix(r.What, "call of ") && strings.Contains(r.Reason, "not known"):
		return "call of an unknown function"
	}
	return r.What
}

// functions are those of a package and the methods of its types.
func functions(pkg *types.Package) (out []*types.Func) {
	for _, name := range pkg.Scope().Names() {
		switch o := pkg.Scope().Lookup(name).(type) {
		case *types.Func:
			if o.Signature().TypeParams().Len() == 0 {
				out = append(out, o)
			}
		case *types.TypeName:
			if n, ok := o.Type().(*types.Named); ok && n.TypeParams().Len() == 0 && !o.IsAlias() &&
				!types.IsInterface(n) {
				for m := range n.Methods() {
					out = append(out, m)
				}
			}
		}
	}
	return out
}
