package symbolic_test

import (
	"testing"

	"github.com/nabla-ad/nabla/backend/symbolic"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/internal/longtest"
)

func TestConformance(t *testing.T) {
	for _, b := range longtest.Sample([]symbolic.Backend{{Exact: true}, {}}, 1) {
		o := &difftest.Options{AllocFree: true, NoBranches: true, NoModifiers: !longtest.Long()}
		if !longtest.Long() { // a sample, since preparation derives every program anew
			o.Scenarios = longtest.Sample(difftest.Scenarios(""), 90)
		}
		t.Run(b.Name(), func(t *testing.T) { difftest.Run(t, b, o) })
	}
}
