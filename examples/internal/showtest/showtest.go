// Package showtest tests examples.
package showtest

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/nabla-ad/nabla/examples/internal/show"
)

var update = flag.Bool("update", false, "write output.txt and picture.svg")

// Run runs the example of the package under test and compares what it prints with output.txt and its picture with
// picture.svg.
func Run(t *testing.T, e show.Example) {
	t.Helper()
	picture := filepath.Join(t.TempDir(), "picture.svg")
	var output bytes.Buffer
	if err := e.Run(&output, picture); err != nil {
		t.Fatal(err)
	}
	drawn, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOARCH == "amd64" { // others contract products and sums, which changes last digits and random walks
		compare(t, "output.txt", output.Bytes())
		compare(t, "picture.svg", drawn)
	}
}

func compare(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not current, go test -update writes it; got:\n%.2000s", name, got)
	}
}
