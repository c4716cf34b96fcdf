package difftest

import (
	"math"
	"testing"
)

// TestDifference checks the tolerance: a share of the component and a smaller share of the largest finite one.
func TestDifference(t *testing.T) {
	inf := math.Inf(1)
	const tol = 1e-9
	for _, c := range []struct {
		off, want, largest float64
		differs            bool
	}{
		{0.9e-9, 1, 1, false}, {1.1e-9, 1, 1, true},
		{0.9e-6, 0, 1e6, false}, {2e-5, 0, 1e6, true}, {2e-5, 0, -1e6, true}, {0.9e-6, 0, -1e6, false},
		{1e-3, 1, inf, true}, {1e-3, 1, math.NaN(), true}, {0.9e-9, 0, 0, false}, {1.1e-9, 0, 0, true},
	} {
		want := []float64{c.want, c.largest}
		got := []float64{c.want + c.off, c.largest}
		if text := difference(got, want, tol, 0); (text != "") != c.differs {
			t.Errorf("%v for %v: %q, differs: want %v", got, want, text, c.differs)
		}
	}
}
