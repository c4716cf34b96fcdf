package forwarddiff_test

import (
	"testing"

	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/difftest"
)

func TestHyperConformance(t *testing.T) {
	for _, h := range []forwarddiff.Hyper{{}, {Chunk: 1}, {Chunk: 2}, {Chunk: 3, Workers: 2}} {
		t.Run(h.Name(), func(t *testing.T) {
			difftest.Run(t, h, &difftest.Options{AllocFree: true})
		})
	}
}
