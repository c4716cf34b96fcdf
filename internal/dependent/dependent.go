// Package dependent is for tests that create modules which depend on this one and run the go command in them.
//
// Such a module requires the same versions as this one, so that nothing is downloaded that the tests of this module
// have not downloaded. Missing modules are downloaded as the environment specifies, and the test fails if that fails.
package dependent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Environ returns the environment of the go command in such a module. The command may complete go.mod, whose go version
// may be older, and ignores a workspace around the temporary directory.
func Environ() []string {
	return append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -mod=mod"), "GOWORK=off")
}

// Mod returns the contents of go.mod without the module line, and go.sum. The test must run in a directory of this
// module.
func Mod(t testing.TB) (mod, sum string) {
	t.Helper()
	root, err := root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	_, requires, found := strings.Cut(string(text), "\nrequire ")
	if !found {
		t.Fatalf("%s requires nothing", filepath.Join(root, "go.mod"))
	}
	return fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %[1]s => %s\n\nrequire %s", module, root, requires), string(sums)
}

const module = "github.com/nabla-ad/nabla"

// root returns the directory of this module.
func root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module "+module+"\n") {
			return dir, nil
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		if filepath.Dir(dir) == dir {
			return "", fmt.Errorf("no directory above is that of module %s", module)
		}
		dir = filepath.Dir(dir)
	}
}
