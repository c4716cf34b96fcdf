package library_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/library"
)

// The derivatives of a function of gonum are in a package below.
func ExampleLookup() {
	r, ok := library.Lookup("gonum.org/v1/gonum/floats.AddScaled")
	fmt.Println(r.Package, r.Writes, ok)
	// Output:
	// floatsad [dst] true
}
