package gen_test

import "testing"

// TestNil calls derivatives with nil for shadows, for parts of shadows and for workspaces, and compares the results
// with those of calls with complete arguments.
func TestNil(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	dir := module(t, map[string]string{
		"go.mod": "module golden/nils\n\ngo 1.26\n", "nils.go": read(t, "testdata/nil.txt"),
		"nils_test.go": read(t, "testdata/nil_test.txt"),
	})
	if _, err := generate(t, dir, ".").Write(); err != nil {
		t.Fatal(err)
	}
	runTests(t, dir, ".")
	command(t, dir, "vet", ".")
	staticcheck(t, dir)
}
