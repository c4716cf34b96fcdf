package difftest_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// TestSecondOrderPairs runs the operators of second order on pairs of exact engines: all pairs in the long form of the
// tests, otherwise each engine over itself and the next one, and with -short over recorded reverse mode.
func TestSecondOrderPairs(t *testing.T) {
	engines := []nabla.Backend{
		forwarddiff.Backend{}, reversediff.Backend{}, reversediff.Backend{Compile: true}, tracker.Backend{},
	}
	for i, outer := range engines {
		for _, inner := range engines {
			second := engines[(i+1)%len(engines)]
			if testing.Short() {
				second = reversediff.Backend{Compile: true}
			}
			if outer != inner && inner != second && !longtest.Long() {
				continue
			}
			b := nabla.SecondOrder{Outer: outer, Inner: inner}
			t.Run(b.Name(), func(t *testing.T) {
				difftest.Run(t, b, &difftest.Options{NoFirstOrder: true})
			})
		}
	}
}
