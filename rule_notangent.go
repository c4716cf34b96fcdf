package nabla

import (
	"fmt"

	"github.com/nabla-ad/nabla/internal/core"
)

// tangentProblem returns what is wrong with the inputs x of a rule that has inputs without derivative, "" if nothing
// is.
func (c *ruleCall) tangentProblem(x []Real) string {
	for _, i := range c.r.NoTangent {
		switch {
		case i < 0 || i >= len(x):
			return fmt.Sprintf("NoTangent lists input %d, and the call has %d inputs; list indices from 0 on", i,
				len(x))
		case !core.Inert(x[i].rep()):
			return fmt.Sprintf("input %d has no derivative by NoTangent, and the number passed for it has one; pass a "+
				"constant, or nabla.StopGradient(x) if the derivative is to be left out", i)
		}
	}
	return ""
}

// dropReal drops what has been computed for inputs without derivative.
func (c *ruleCall) dropReal(xbar []core.Rep) {
	for _, j := range c.r.NoTangent {
		xbar[j] = core.Rep{}
	}
}
