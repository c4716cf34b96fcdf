package difftest_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/internal/engines"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// TestSecondOrderPairs runs the operators of second order on pairs of exact engines: all pairs in the long form of the
// tests, otherwise each engine over the next one, and with -short over recorded reverse mode.
func TestSecondOrderPairs(t *testing.T) {
	exact := engines.Exact()
	for i, outer := range exact {
		for _, inner := range exact {
			second := exact[(i+1)%len(exact)]
			if testing.Short() {
				second = reversediff.Backend{Compile: true}
			}
			if inner != second && !longtest.Long() && !(testing.Short() && outer == inner) {
				continue
			}
			b := nabla.SecondOrder{Outer: outer, Inner: inner}
			t.Run(b.Name(), func(t *testing.T) {
				difftest.Run(t, b, &difftest.Options{NoFirstOrder: true})
			})
		}
	}
}
