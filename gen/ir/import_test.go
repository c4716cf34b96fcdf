package ir_test

import (
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
)

// TestImportable asks the go command.
func TestImportable(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	imported := []string{
		"m/internal", "m/internal/b", "m/a/internal/b", "m/a/internal/b/internal/c", "m/a/internals/b", "m/main",
		"dep/open", "dep/internal/x",
		"internal/bytealg", "crypto/internal/boring", "vendor/golang.org/x/net/idna", "math", "dep",
	}
	by := []string{"m", "m/a", "m/a/x", "m/ab", "m/a/internal/b", "m/a/internal/b/internal/d"}
	write("go.mod", "module m\n\ngo 1.26\n\nrequire dep v0.0.0\n\nreplace dep => ./dep\n")
	write("dep/go.mod", "module dep\n\ngo 1.26\n")
	for _, path := range append(imported, by...) {
		name := filepath.Base(path)
		switch {
		case strings.HasPrefix(path, "dep"):
			write(path+"/a.go", "package "+name+"\n")
		case strings.HasPrefix(path, "m"):
			if path != "math" {
				write(strings.TrimPrefix(strings.TrimPrefix(path, "m"), "/")+"/a.go", "package "+name+"\n")
			}
		}
	}
	for _, path := range by {
		for _, of := range imported {
			if of == path {
				continue
			}
			file := strings.TrimPrefix(strings.TrimPrefix(path, "m"), "/") + "/import.go"
			write(file, "package "+filepath.Base(path)+"\n\nimport _ \""+of+"\"\n")
			cmd := exec.Command("go", "list", "-e", "-f", "{{range .DepsErrors}}{{.}}{{end}}{{.Error}}",
				"./"+filepath.Dir(file))
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			write(file, "package "+filepath.Base(path)+"\n")
			want := strings.TrimSpace(string(out)) == "<nil>"
			pkg := types.NewPackage(of, filepath.Base(of))
			if got := ir.Importable(pkg, path); got != want {
				t.Errorf("%s imports %s: %t, want %t: %s", path, of, got, want, out)
			}
		}
	}
}
