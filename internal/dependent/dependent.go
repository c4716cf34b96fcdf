// Package dependent is for tests that make modules which depend on this one and run the go command there.
//
// Such a module requires what this one requires, in the same versions, so that nothing is downloaded where the tests of
// this
// module found everything. What is not there is fetched as the environment says, and where that fails the test does.
package dependent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Environ is the environment of the go command in such a module. It may complete go.mod, whose go version can be an
// older one, and
// a workspace around a temporary directory is none of its own.
func Environ() []string {
	return append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -mod=mod"), "GOWORK=off")
}

// Mod returns what go.mod has to say beside the name of the module, and go.sum. The test is in a directory of this
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

// root is the directory of this module.
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
