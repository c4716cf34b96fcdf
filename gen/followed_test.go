package gen

import (
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	write("with/with.go", "package with\n\nimport (\n\t\"gonum.org/v1/gonum/floats\"\n\n\t\""+nablaPath+"\"\n"+
		"\t\""+nablaPath+"/constrain\"\n)\n\n"+
		"func F(x []float64) float64 {\n\tv, j := constrain.Positive(floats.Sum(x))\n\treturn v + j\n}\n\n"+
		"func G(x []float64) ([]float64, error) { "+
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
			nablaPath + "/constrain": true, nablaPath: false,
			nablaPath + "/engine": false, nablaPath + "/gen/rt": false,
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

// TestTakers: the list has the packages whose functions take functions to be differentiated.
func TestTakers(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks many packages")
	}
	pkgs, err := loaded.Packages(&packages.Config{Mode: packages.LoadTypes}, nablaPath+"/...")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, pkg := range pkgs {
		if pkg.PkgPath != nablaPath && !strings.Contains(pkg.PkgPath, "/internal/") && takesFunctions(pkg) {
			got = append(got, pkg.PkgPath)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, takers) {
		t.Errorf("functions are taken by\n\t%v\nand the list has\n\t%v", got, takers)
	}
}

// takesFunctions reports whether an exported function has a type parameter with a constraint of package nabla, or, in a
// package that imports package nabla, a parameter that is a function over floats.
func takesFunctions(pkg *packages.Package) bool {
	imports := pkg.Imports[nablaPath] != nil
	for _, name := range pkg.Types.Scope().Names() {
		fn, ok := pkg.Types.Scope().Lookup(name).(*types.Func)
		if !ok || !fn.Exported() {
			continue
		}
		for i := range fn.Signature().TypeParams().Len() {
			c, ok := fn.Signature().TypeParams().At(i).Constraint().(*types.Named)
			if ok && c.Obj().Pkg() != nil && c.Obj().Pkg().Path() == nablaPath {
				return true
			}
		}
		for i := range fn.Signature().Params().Len() {
			f, ok := fn.Signature().Params().At(i).Type().(*types.Signature)
			over := func(v *types.Var) bool {
				return v.Type().String() == "float64" || v.Type().String() == "[]float64"
			}
			if ok && imports && f.Params().Len() > 0 && over(f.Params().At(0)) {
				return true
			}
		}
	}
	return false
}

// TestTaken: functions that are passed to solvers get the derivatives that the solvers compute with.
func TestTaken(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks many packages")
	}
	dir := t.TempDir()
	mod, sum := dependent.Mod(t)
	for name, text := range map[string]string{
		"go.mod": "module m\n\ngo 1.26\n" + mod, "go.sum": sum,
		"m.go": `package m

import (
	"` + nablaPath + `/optim"
	"` + nablaPath + `/optim/gonumopt"
)

func R(x []float64) []float64 { return []float64{x[0] * x[1], x[0]} }
func O(x []float64) float64   { return x[0] * x[1] }
func S(x []float64) float64   { return x[0] * x[1] }
func T(x []float64) float64   { return x[0] * x[1] }
func U(x []float64) float64   { return x[0] * x[1] }

func Fit(x []float64) {
	optim.LeastSquares(R, nil, x, nil)
	gonumopt.Problem(O, nil, x)
	optim.NewtonCG(S, nil, x, nil)
	optim.Bounded(T, nil, x, nil, nil, nil)
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Load: lower.LoadOptions{Env: dependent.Environ(), Packages: loaded.Packages}}
	s, err := NewSurvey(dir, []string{"."}, &o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]demand{
		"R": pushforwards | pullbacks | batches, "O": pullbacks | seconds, "S": pullbacks | seconds,
		"T": pullbacks | seconds,
	}
	for _, target := range p.lower.Targets() {
		d := demand(0)
		for _, use := range target.Uses {
			part, _ := demandOf(use)
			d |= part
		}
		name := target.Func.Name()
		if d&want[name] != want[name] || name == "R" && d&seconds != 0 {
			t.Errorf("%s gets %b, want %b", name, d, want[name])
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("no targets: %v", want)
	}
}
