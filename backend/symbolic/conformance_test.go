package symbolic_test

import (
	"testing"

	"github.com/nabla-ad/nabla/backend/symbolic"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/internal/longtest"
)

func TestConformance(t *testing.T) {
	for _, b := range []symbolic.Backend{{}, {Exact: true}} {
		o := &difftest.Options{AllocFree: true, NoBranches: true, NoModifiers: !longtest.Long()}
		if b.Exact && !longtest.Long() { // a sample, since preparation derives every program anew
			o.Scenarios = longtest.Sample(difftest.Scenarios("default"), 30)
		}
		t.Run(b.Name(), func(t *testing.T) { difftest.Run(t, b, o) })
	}
}
