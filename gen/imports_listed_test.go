package gen_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen"
	"github.com/nabla-ad/nabla/gen/lower"
)

// TestImportsListed: where the go command cannot list what generated code imports, no function is blamed. A go.mod that
// requires nabla without the requirements of nabla is such a case: a package that does not import nabla yet loads.
func TestImportsListed(t *testing.T) {
	dir := module(t, map[string]string{"go.mod": "module m\n\ngo 1.26\n",
		"m.go": "package m\n\n//nabla:differentiate\nfunc F(x float64) float64 { return x * x }\n"})
	name := filepath.Join(dir, "go.mod")
	text, _, _ := strings.Cut(read(t, name), "\nrequire (")
	write(t, name, text+"\n")
	p, err := gen.Load(dir, []string{"."}, &gen.Options{Load: lower.LoadOptions{Env: append(os.Environ(), "GOFLAGS=")}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Generate()
	if err == nil || !strings.Contains(err.Error(), "go mod tidy") || strings.Contains(err.Error(), "internal error") ||
		strings.Contains(err.Error(), "stderr") {
		t.Fatalf("got %v, %v", r, err)
	}
	t.Log(err)
}
