package distuvad_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/library/distuvad"
	"gonum.org/v1/gonum/stat/distuv"
)

// The plain form, which generated code differentiates in place of the method.
func ExampleGammaLogProb() {
	g := distuv.Gamma{Alpha: 2, Beta: 3}
	fmt.Printf("%.12f %.12f\n", distuvad.GammaLogProb(g, 0.5), g.LogProb(0.5))
	// Output:
	// 0.004077396776 0.004077396776
}
