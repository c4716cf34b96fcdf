package lower_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/lower"
)

// module writes a module with the given files and loads all of it.
func module(t *testing.T, files map[string]string) (*lower.Program, string) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module m\n\ngo 1.26\n")
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	pkgs, err := lower.Load(dir, []string{"./..."}, lower.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return lower.New(pkgs, lower.Options{}), dir
}

const loss = `package m

import "m/dep"

func Loss(x []float64) (s float64) {
	for _, v := range x {
		s += v * v
	}
	return s
}

func Use(x, xbar []float64) float64 {
	var w LossWork
	return LossBar(x, xbar, 1, &w) + dep.Twice(1)
}

func Reaches(x float64) float64 { return Wrong(x) }

func Wrong(x float64) float64 {
	y := x * "a"
	return x + undefined
}
`

const dep = `package dep

func Twice(x float64) float64 { return 2 * x }
`

const generated = lower.Header + `

package m

import (
	"math"
	"strings"
)

type LossWork struct{ n int; b strings.Builder }

type hidden struct{}

// LossBar is stale: it has a parameter less.
func LossBar(x, xbar []float64, ybar float64, w *LossWork) float64 { return math.Sqrt(gone) }

func (w *LossWork) Reset() {}
func (h hidden) Reset() {}
func private() {}
`

// lowers checks whether a function of package m can be lowered, and returns its refusals.
func lowers(t *testing.T, p *lower.Program, name string, want bool) error {
	t.Helper()
	_, err := p.Func(p.Lookup("m", name))
	if (err == nil) != want {
		t.Errorf("%s: lowered is %v, want %v: %v", name, err == nil, want, err)
	}
	return err
}

// TestErrorsRefuseTheirFunctions lowers functions next to others that do not compile.
func TestErrorsRefuseTheirFunctions(t *testing.T) {
	for name, text := range map[string]string{
		"no generated file":       "",
		"a stale generated file":  generated,
		"a broken generated file": lower.Header + "\n\npackage m\n\nfunc LossBar(x []float64",
		"an empty generated file": lower.Header + "\n",
		"a generated file of errors": lower.Header +
			"\n\npackage m\n\nimport \"no/such\"\n\nfunc LossBar() { return 1 + no.No }\n",
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"loss.go": loss, "dep/dep.go": dep}
			if text != "" {
				files[lower.Output] = text
			}
			p, _ := module(t, files)
			lowers(t, p, "Loss", true)
			err := lowers(t, p, "Wrong", false)
			var rs lower.Refusals
			if !errors.As(err, &rs) || len(rs) != 2 || rs[0].Pos.Line != 20 || rs[1].Pos.Line != 21 {
				t.Errorf("Wrong is refused by %v", err)
			}
			lowers(t, p, "Reaches", false)
			// With stubs it compiles, but generated functions are not differentiated.
			err = lowers(t, p, "Use", false)
			if text == generated && (err == nil || !strings.Contains(err.Error(), "it is generated")) {
				t.Errorf("Use is refused by %v", err)
			}
		})
	}
}

// TestStaleOutputIsNotRead wants nothing from a generated file, and leaves it alone.
func TestStaleOutputIsNotRead(t *testing.T) {
	p, dir := module(t, map[string]string{"loss.go": loss, "dep/dep.go": dep, lower.Output: generated})
	if p.Lookup("m", "private") != nil {
		t.Error("an unexported function of the generated file is seen")
	}
	f, err := p.Func(p.Lookup("m", "LossBar"))
	if err != nil {
		t.Fatal(err)
	}
	if text := f.String(); !strings.Contains(text, "run nabla gen") || strings.Contains(text, "Sqrt") {
		t.Errorf("LossBar is not a stub:\n%s", text)
	}
	if text, err := os.ReadFile(filepath.Join(dir, lower.Output)); err != nil || string(text) != generated {
		t.Errorf("the generated file has changed: %v", err)
	}
}

// TestForeignOutputIsRead reads a file that only has the name of a generated one.
func TestForeignOutputIsRead(t *testing.T) {
	p, _ := module(t,
		map[string]string{"a.go": "package m\n\nfunc F(x float64) float64 { return g(x) }\n",
			lower.Output: "package m\n\nfunc g(x float64) float64 { return x }\n"})
	lowers(t, p, "F", true)
}

// TestSyntaxError refuses functions of a file that does not parse, and no others.
func TestSyntaxError(t *testing.T) {
	p, _ := module(t, map[string]string{
		"a.go": "package m\n\nfunc F(x float64) float64 { return x }\n",
		"b.go": "package m\n\nfunc G(x float64) float64 { return x }\n\nfunc H(x float64) { x = = }\n",
	})
	lowers(t, p, "F", true)
	lowers(t, p, "G", false)
}

func TestNoPackage(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module m\n\ngo 1.26\n")
	if _, err := lower.Load(dir, []string{"./nothing"}, lower.LoadOptions{}); err == nil {
		t.Error("a package that is not there is loaded")
	}
}
