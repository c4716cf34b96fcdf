// Genkernels writes the kernels of package vector, in whose directory it runs.
//
// A function is written once, as operations on the numbers of a vector (functions.go), from which follow a kernel for
// AVX2, one for AVX-512, and in each a loop that computes two vectors at once. The macros of Go's assembler could share
// no more than arithmetic between these: registers, comparisons, selections, conversions, and constants in memory are
// written in another way for each, and two vectors at once take other registers than one.
package main

import (
	"fmt"
	"os"
)

func main() {
	src, err := source()
	if err == nil {
		err = os.WriteFile("kernels_amd64.s", src, 0o666)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
