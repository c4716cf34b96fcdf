package gen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/dependent"
	"github.com/nabla-ad/nabla/internal/loaded"
)

// TestHiddenTypes: the refusal of a call of an interface method names the types that generated code of this package
// cannot name, where there are only those.
func TestHiddenTypes(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks many packages")
	}
	dir := t.TempDir()
	mod, sum := dependent.Mod(t)
	for name, text := range map[string]string{
		"go.mod": "module example.com/hidden\n\ngo 1.26\n" + mod,
		"go.sum": sum,
		"shapes/shapes.go": "package shapes\n\ntype Shape interface{ Area(r float64) float64 }\n\n" +
			"type disc struct{}\n\nfunc (disc) Area(r float64) float64 { return 3 * r * r }\n\n" +
			"type square struct{}\n\nfunc (square) Area(r float64) float64 { return 4 * r * r }\n\n" +
			"func Of(corners int) Shape {\n\tif corners == 0 {\n\t\treturn disc{}\n\t}\n\treturn square{}\n}\n",
		"loss/loss.go": "package loss\n\nimport \"example.com/hidden/shapes\"\n\n//nabla:differentiate\n" +
			"func Loss(x []float64, n *struct{ Corners int }) float64 {\n\treturn shapes.Of(n.Corners).Area(x[0])\n}\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Load(dir, []string{"./loss"}, &Options{Load: lower.LoadOptions{Env: dependent.Environ(),
		Packages: loaded.Packages}})
	if err != nil {
		t.Fatal(err)
	}
	report, err := p.Generate()
	if err != nil {
		t.Fatal(err)
	}
	const want = "cannot name the types that are converted to shapes.Shape, shapes.disc and shapes.square"
	for _, problem := range report.Problems() {
		if strings.Contains(problem.Error(), want) {
			return
		}
	}
	t.Errorf("no problem says %q: %v", want, report.Problems())
}
