package bench

import (
	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/problems"
)

// ByHand returns an Engine of the derivatives that are written by hand in Go: the limit for the others. Every task has
// one.
func ByHand() Engine {
	return Engine{
		Name: "by hand",
		Has:  func(Task) bool { return true },
		Sparse: func(p *problems.Problem) (Derivative, *nabla.SparsePlan, error) {
			hand := p.ByHand()
			d := func(y, d, x []float64) error {
				hand.Call(y, d, x)
				return nil
			}
			if hand.Pattern == nil {
				return d, nil, nil
			}
			return d, &nabla.SparsePlan{Pattern: hand.Pattern, Detector: "by hand"}, nil
		},
	}
}
