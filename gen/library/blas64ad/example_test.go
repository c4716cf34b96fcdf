package blas64ad_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/library/blas64ad"
	"gonum.org/v1/gonum/blas/blas64"
)

// The cotangents of a scalar product are added.
func ExampleDotPullback() {
	vec := func(v ...float64) blas64.Vector { return blas64.Vector{N: len(v), Data: v, Inc: 1} }
	x, y, xBar, yBar := vec(1, 2), vec(3, 4), vec(0, 0), vec(10, 10)
	blas64ad.DotPullback(x, y, xBar, yBar, 1)
	fmt.Println(xBar.Data, yBar.Data)
	// Output:
	// [3 4] [11 12]
}
