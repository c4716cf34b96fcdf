package lapackad_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/library/lapackad"
	"gonum.org/v1/gonum/lapack/gonum"
)

// The plane rotation that maps (3, 4) to (5, 0), in a form that generated code differentiates.
func ExampleDlartg() {
	fmt.Println(lapackad.Dlartg(gonum.Implementation{}, 3, 4))
	// Output:
	// 0.6 0.8 5
}
