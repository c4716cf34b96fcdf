package rules_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/nabla-ad/nabla/rules/internal/rulegen"
)

var update = flag.Bool("update", false, "rewrite the generated files")

// TestGenerated runs the generator in memory and compares.
func TestGenerated(t *testing.T) {
	ops, err := os.ReadFile("op.go")
	if err != nil {
		t.Fatal(err)
	}
	files, err := rulegen.Files(ops)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if *update {
			if err := os.WriteFile(name, want, 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the table says; run go generate", name)
		}
	}
}
