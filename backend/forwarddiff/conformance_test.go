package forwarddiff_test

import (
	"testing"

	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/internal/longtest"
)

func TestConformance(t *testing.T) {
	for i, b := range []forwarddiff.Backend{
		{}, {Chunk: 1, Workers: 2}, {Chunk: 1}, {Chunk: 5}, {Workers: 2},
	} {
		if i > 1 && !longtest.Long() {
			continue
		}
		o := &difftest.Options{AllocFree: b.Workers < 2, NoModifiers: i > 0 && !longtest.Long()}
		t.Run(b.Name(), func(t *testing.T) { difftest.Run(t, b, o) })
	}
}
