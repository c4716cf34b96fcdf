package gen_test

import "testing"

// TestNil calls derivatives with nil for shadows, for parts of shadows and for workspaces, and compares the results
// with those of calls with complete arguments.
func TestNil(t *testing.T) {
	together(t, "nils").passes(t)
}
