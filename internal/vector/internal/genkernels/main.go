// Genkernels writes the kernels of package vector, in whose directory it runs.
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
