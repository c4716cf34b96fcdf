package print_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/gen/print"
	"github.com/nabla-ad/nabla/gen/tangent"
	"github.com/nabla-ad/nabla/internal/loaded"
)

// TestRules compiles derivatives of functions that call others by rules, which another
// package has or their own, and compares them with differences.
func TestRules(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	const path = "github.com/nabla-ad/nabla/gen/lower/testdata/rules"
	const dir = "../lower/testdata/rules"
	pkgs, err := lower.Load(".", []string{path}, lower.LoadOptions{Packages: loaded.Once})
	if err != nil {
		t.Fatal(err)
	}
	p := lower.New(pkgs, lower.Options{})
	pkg := pkgs[0].Types
	tangents, adjoints := tangent.New(), adjoint.New(pkg, "Work", adjoint.Options{})
	var funcs []print.Func
	for _, name := range []string{"Roots", "Overwritten", "Still", "Method", "Vectors", "Matrices", "Special",
		"Returned", "Values"} {
		f, err := p.Func(p.Lookup(path, name))
		if err != nil {
			t.Fatal(err)
		}
		m := activity.Bits(1)
		if n := len(f.Params); n == 2 {
			m = activity.Bits(3)
		}
		tan, _, err := tangents.Build(f, m)
		if err != nil {
			t.Fatal(err)
		}
		adj, err := adjoints.Of(f, m)
		if err != nil {
			t.Fatal(err)
		}
		funcs = append(funcs, print.Func{Func: tan, Name: name + "Tangent"},
			print.Func{Func: adj.Func, Name: name + "Adjoint"})
		if name == "Vectors" { // the tangent of the adjoint
			second, _, err := tangents.Build(adj.Func, activity.Bits(1<<len(adj.Func.Params)-1))
			if err != nil {
				t.Fatal(err)
			}
			funcs = append(funcs, print.Func{Func: second, Name: name + "Second"})
		}
	}
	text, err := print.File(pkg, funcs...)
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	replace := map[string]string{}
	put := func(name string, text []byte) {
		at := filepath.Join(temp, name)
		if err := os.WriteFile(at, text, 0o666); err != nil {
			t.Fatal(err)
		}
		abs, err := filepath.Abs(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		replace[abs] = at
	}
	put(lower.Output, text)
	main, err := os.ReadFile("testdata/rules_test.txt")
	if err != nil {
		t.Fatal(err)
	}
	put("run_test.go", main)
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(temp, "overlay.json")
	if err := os.WriteFile(at, overlay, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "test", "-overlay", at, dir).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s\n%s", err, out, text)
	}
}
