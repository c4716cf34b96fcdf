package forwarddiff_test

import (
	"testing"

	"github.com/nabla-ad/nabla/backend/forwarddiff"
)

// TestLanes: the default chunk takes as few sweeps as chunks of the widest size do, and is
// the narrowest one that does.
func TestLanes(t *testing.T) {
	widest := 0
	for n := range 200 {
		widest = max(widest, forwarddiff.Backend{}.Lanes(n))
	}
	sweeps := func(n, lanes int) int { return (n + lanes - 1) / lanes }
	for n := range 200 {
		got := forwarddiff.Backend{}.Lanes(n)
		switch {
		case n < 2 && got != 1:
			t.Errorf("%d lanes for %d directions, want 1", got, n)
		case sweeps(n, got) != sweeps(n, widest):
			t.Errorf("%d lanes for %d directions take %d sweeps, %d lanes take %d", got, n, sweeps(n, got), widest,
				sweeps(n, widest))
		case got > 1 && sweeps(n, got-1) == sweeps(n, got):
			t.Errorf("%d lanes for %d directions, and one less takes as many sweeps", got, n)
		}
		for _, chunk := range []int{1, 3, 300} {
			if got := (forwarddiff.Backend{Chunk: chunk}).Lanes(n); got != max(1, min(chunk, n)) {
				t.Errorf("%d lanes for %d directions and chunks of %d", got, n, chunk)
			}
		}
	}
}
