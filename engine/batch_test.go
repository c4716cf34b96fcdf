package engine_test

import (
	"errors"
	"testing"

	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/engine"
)

// TestBatchSize: as few batches as the threshold allows, and among these the smallest.
func TestBatchSize(t *testing.T) {
	for _, c := range []struct{ n, most, want int }{
		{0, 12, 1}, {1, 12, 1}, {12, 12, 12}, {13, 12, 7}, {24, 12, 12}, {25, 12, 9}, {100, 12, 12}, {101, 12, 12},
		{5, 1, 1}, {17, 16, 9},
	} {
		if got := engine.BatchSize(c.n, c.most); got != c.want {
			t.Errorf("BatchSize(%d, %d) is %d, want %d", c.n, c.most, got, c.want)
		}
	}
	for n := 1; n < 300; n++ {
		for most := 1; most < 40; most++ {
			size := engine.BatchSize(n, most)
			count := func(size int) int { return (n + size - 1) / size }
			if size < 1 || size > min(n, most) || count(size) != count(min(n, most)) ||
				size > 1 && count(size-1) == count(size) {
				t.Fatalf("BatchSize(%d, %d) is %d", n, most, size)
			}
		}
	}
}

func TestBatches(t *testing.T) {
	for _, c := range []struct {
		n, size         int
		want            engine.Batches
		single, aligned bool
	}{
		{0, 1, engine.Batches{Size: 1}, true, true},
		{0, 5, engine.Batches{Size: 5}, true, true},
		{5, 5, engine.Batches{5, 5, 1, 5}, true, true},
		{6, 3, engine.Batches{6, 3, 2, 3}, false, true},
		{7, 3, engine.Batches{7, 3, 3, 1}, false, false},
	} {
		got, err := engine.NewBatches(c.n, c.size)
		if err != nil || got != c.want || got.Single() != c.single || got.Aligned() != c.aligned {
			t.Errorf("%d by %d: %+v, %v, %v, %v", c.n, c.size, got, got.Single(), got.Aligned(), err)
		}
	}
	for _, c := range [][2]int{{3, 4}, {3, 0}, {0, 0}, {-1, 1}} {
		var shape *engine.ShapeError
		if b, err := engine.NewBatches(c[0], c[1]); !errors.As(err, &shape) {
			t.Errorf("%d by %d: %+v, %v", c[0], c[1], b, err)
		}
	}
	for n := range 60 { // with and without a preference, and with a fixed size
		for _, b := range []engine.Backend{forwarddiff.Backend{}, tracker.Backend{}, forwarddiff.Backend{Chunk: 5}} {
			if p := engine.PickBatches(b, n); p.Size != engine.LanesOf(b, n) || p.N != n || p.Count*p.Size < n ||
				n > 0 && (p.Count-1)*p.Size+p.Last != n {
				t.Errorf("%s, %d: %+v", b.Name(), n, p)
			}
		}
	}
}
