package symbolic_test

import (
	"testing"

	"github.com/nabla-ad/nabla/backend/symbolic"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/internal/longtest"
)

func TestConformance(t *testing.T) {
	for _, b := range []symbolic.Backend{{}, {Exact: true}} {
		o := &difftest.Options{AllocFree: true, NoBranches: true, NoModifiers: b.Exact && !longtest.Long()}
		t.Run(b.Name(), func(t *testing.T) { difftest.Run(t, b, o) })
	}
}
