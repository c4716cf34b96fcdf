package taylor_test

import (
	"testing"

	"github.com/nabla-ad/nabla/backend/taylor"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/internal/longtest"
)

func TestConformance(t *testing.T) {
	for _, b := range longtest.Sample([]taylor.Backend{{Chunk: 1}, {}, {Chunk: 5}}, 1) {
		t.Run(b.Name(), func(t *testing.T) { difftest.Run(t, b, &difftest.Options{AllocFree: true}) })
	}
}
