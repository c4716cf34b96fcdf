package problems

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
)

// TestAllocations requires that reverse sweeps do not allocate in repeated calls, including those of functions that
// copy or make slices.
func TestAllocations(t *testing.T) {
	for _, p := range oneOfEach(t) {
		if p.Bound == nil {
			continue
		}
		x := p.Cases[0].X
		prep, err := nabla.PreparePullback(p.Bound, nabla.Policy{Backend: source.Reverse{}, NoStaleCheck: true}, x)
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		y, xbar, ybar := make([]float64, p.M), make([]float64, len(x)), make([]float64, p.M)
		for i := range ybar {
			ybar[i] = 1
		}
		if n := testing.AllocsPerRun(10, func() {
			if _, _, err := prep.ValueAndPullback(y, xbar, x, ybar); err != nil {
				t.Error(p.Name, err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", p.Name, n)
		}
	}
}
