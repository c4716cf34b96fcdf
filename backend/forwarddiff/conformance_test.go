package forwarddiff_test

import (
	"testing"

	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/difftest"
)

func TestConformance(t *testing.T) {
	for _, b := range []forwarddiff.Backend{
		{}, {Chunk: 1}, {Chunk: 5}, {Workers: 2}, {Chunk: 1, Workers: 2},
	} {
		t.Run(b.Name(), func(t *testing.T) { difftest.Run(t, b, &difftest.Options{AllocFree: b.Workers < 2}) })
	}
}
