package gen

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/dependent"
	"github.com/nabla-ad/nabla/internal/loaded"
)

// TestFollowed: packages that only generated files import are loaded without bodies, and so are the engines; the code
// is that of a load of everything.
func TestFollowed(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks many packages")
	}
	dir := t.TempDir()
	mod, sum := dependent.Mod(t)
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module m\n\ngo 1.26\n"+mod)
	write("go.sum", sum)
	// A file that has the name of a generated one, but is none.
	write("loss_nabla.go", "package m\n\nimport \"m/k\"\n\nvar K = k.K\n")
	write("k/k.go", "package k\n\nfunc K(x float64) float64 { return x * x }\n")
	write("with/with.go", "package with\n\nimport (\n\t\"gonum.org/v1/gonum/floats\"\n\n\t\""+nablaPath+"\"\n)\n\n"+
		"func F(x []float64) float64 { return floats.Sum(x) }\n\nfunc G(x []float64) ([]float64, error) { "+
		"return nabla.Gradient(F, nil, x) }\n")
	const loss = "package m\n\n//nabla:differentiate\nfunc Loss(x []float64) float64 { return x[0] * h(x[1]) }\n\n" +
		"func h(x float64) float64 { return "
	write("m.go", loss+"x }\n")
	env := dependent.Environ()
	o := Options{Load: lower.LoadOptions{Env: env, Packages: loaded.Packages}}
	generate := func(load func() (*Program, error)) string {
		t.Helper()
		p, err := load()
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Generate()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Write(); err != nil {
			t.Fatal(err)
		}
		return string(r.Packages[0].Files[0].Text)
	}
	generate(func() (*Program, error) { return Load(dir, []string{"."}, &o) })
	write("m.go", loss+"x * x }\n")
	s, err := NewSurvey(dir, []string{".", "./with"}, &o) // k is imported only
	if err != nil {
		t.Fatal(err)
	}
	follows := s.followed()
	packages.Visit(s.roots, nil, func(p *packages.Package) {
		want, known := map[string]bool{
			"m": true, "m/k": true, "m/with": true, "gonum.org/v1/gonum/floats": true,
			"gonum.org/v1/gonum/mat": false,
			nablaPath:                false, nablaPath + "/engine": false, nablaPath + "/gen/rt": false,
		}[p.PkgPath]
		if got := follows.bodies(directory(p)); known && got != want {
			t.Errorf("%s is followed: %v, want %v", p.PkgPath, got, want)
		}
		delete(follows, directory(p))
	})
	if len(follows) > 0 || !follows.bodies(t.TempDir()) {
		t.Errorf("directories that are none of packages: %v; others are not followed", follows)
	}
	some := generate(func() (*Program, error) { return s.Load() })
	if all := generate(func() (*Program, error) { return Load(dir, []string{".", "./with"}, &o) }); all != some {
		t.Errorf("a load without bodies gives other code")
	}
}
