package gen_test

import "testing"

// TestWrt compares derivatives with respect to listed parameters with differences, and calls them without shadows for
// the other parameters.
func TestWrt(t *testing.T) {
	together(t, "wrt").passes(t)
}

func wrtFiles(t *testing.T) map[string]string {
	files := source(t, "wrt")
	files["wrt_test.go"] = read(t, "testdata/wrt_test.txt")
	return files
}
