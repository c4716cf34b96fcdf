package gen_test

import (
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestRunComplex compiles the derivatives of functions of complex numbers and compares them with differences.
func TestRunComplex(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	files := map[string]string{}
	a, err := txtar.ParseFile("testdata/complex.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		files[f.Name] = string(f.Data)
	}
	dir := module(t, files)
	r := generate(t, dir, ".")
	for _, line := range strings.Split(strings.TrimSpace(problems(r, dir)), "\n") {
		if !strings.Contains(line, "which have no lane type") && !strings.Contains(line, "Single: no traced form") {
			t.Error(line)
		}
	}
	if _, err := r.Write(); err != nil {
		t.Fatal(err)
	}
	runTests(t, dir, ".")
	staticcheck(t, dir)
}
