package lower_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/loaded"
)

// TestPackagesWithoutBodies: a call of a function that was loaded without its body is refused, and never lowered as
// what stands in its place; the same package with bodies is lowered in the same process.
func TestPackagesWithoutBodies(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module m\n\ngo 1.26\n")
	write(t, filepath.Join(dir, "m.go"),
		"package m\n\nimport \"m/a\"\n\nfunc F(x float64) float64 { return a.Twice(x) + a.Half(x) }\n")
	write(t, filepath.Join(dir, "a", "a.go"),
		"package a\n\nfunc Twice(x float64) float64 { return 2 * x }\n\n"+
			"func Half(x float64) float64 { return x / 2 }\n")
	for _, tt := range []struct {
		bodies  func(dir string) bool
		refused bool
	}{
		{nil, false},
		{func(dir string) bool { return filepath.Base(dir) != "a" }, true},
		{func(string) bool { return true }, false},
	} {
		pkgs, err := lower.Load(dir, []string{"."}, lower.LoadOptions{Packages: loaded.Packages, Bodies: tt.bodies})
		if err != nil {
			t.Fatal(err)
		}
		p := lower.New(pkgs, lower.Options{})
		f, err := p.Func(p.Lookup("m", "F"))
		switch {
		case !tt.refused && err != nil:
			t.Errorf("with bodies: %v", err)
		case tt.refused && (err == nil || !strings.Contains(err.Error(), "its source is not available")):
			t.Errorf("without bodies: %v, %v", f, err)
		}
	}
}
