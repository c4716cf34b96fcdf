package forwarddiff_test

import (
	"testing"

	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/internal/longtest"
)

func TestHyperConformance(t *testing.T) {
	for _, h := range longtest.Sample([]forwarddiff.Hyper{{}, {Chunk: 1}, {Chunk: 2}, {Chunk: 3, Workers: 2}}, 2) {
		t.Run(h.Name(), func(t *testing.T) {
			difftest.Run(t, h, &difftest.Options{AllocFree: true})
		})
	}
}
