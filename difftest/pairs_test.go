package difftest_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/difftest"
)

// TestPairs runs the operators of second order on every pair of exact engines; with
// -short on each over itself and over recorded reverse mode.
func TestPairs(t *testing.T) {
	engines := []nabla.Backend{
		forwarddiff.Backend{}, reversediff.Backend{}, reversediff.Backend{Compile: true}, tracker.Backend{},
	}
	for _, outer := range engines {
		for _, inner := range engines {
			if testing.Short() && outer != inner && inner != (reversediff.Backend{Compile: true}) {
				continue
			}
			b := nabla.SecondOrder{Outer: outer, Inner: inner}
			t.Run(b.Name(), func(t *testing.T) {
				difftest.Run(t, b, &difftest.Options{NoFirstOrder: true})
			})
		}
	}
}
