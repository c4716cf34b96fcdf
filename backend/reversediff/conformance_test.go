package reversediff_test

import (
	"testing"

	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/internal/longtest"
)

func TestConformance(t *testing.T) {
	for _, b := range []reversediff.Backend{
		{}, {Compile: true},
	} {
		o := &difftest.Options{AllocFree: true, NoModifiers: !b.Compile && !longtest.Long()}
		t.Run(b.Name(), func(t *testing.T) { difftest.Run(t, b, o) })
	}
}
