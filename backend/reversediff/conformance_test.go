package reversediff_test

import (
	"testing"

	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/difftest"
)

func TestConformance(t *testing.T) {
	for _, b := range []reversediff.Backend{
		{}, {Compile: true},
	} {
		t.Run(b.Name(), func(t *testing.T) { difftest.Run(t, b, &difftest.Options{AllocFree: true}) })
	}
}
