package gen_test

import (
	"testing"

	"github.com/nabla-ad/nabla/gen"
)

// TestWrt compares derivatives with respect to listed parameters with differences, and calls them without shadows for
// the other parameters.
func TestWrt(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	files := source(t, "wrt")
	files["wrt_test.go"] = read(t, "testdata/wrt_test.txt")
	dir := module(t, files)
	p, err := gen.Load(dir, []string{"."}, &gen.Options{Lanes: []int{4}, Load: loading})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Generate()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Write(); err != nil {
		t.Fatal(err)
	}
	runTests(t, dir, ".")
	staticcheck(t, dir)
}
