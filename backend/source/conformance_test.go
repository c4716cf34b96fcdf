package source_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/difftest/coded"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// TestConformance runs the kit on functions with generated code.
func TestConformance(t *testing.T) {
	usual := !longtest.Long()
	for _, b := range []nabla.Backend{source.Forward{}, source.Reverse{}} {
		t.Run(b.Name(), func(t *testing.T) {
			difftest.Run(t, b, &difftest.Options{Function: coded.Function, AllocFree: true,
				NoModifiers: usual && b.Name() == "source(forward)"})
		})
	}
	for _, b := range []nabla.Backend{nabla.AutoSparse{Dense: source.Forward{}},
		nabla.AutoSparse{Dense: source.Reverse{}}} {
		t.Run(b.Name(), func(t *testing.T) {
			difftest.Run(t, b, &difftest.Options{Function: coded.Function, Scenarios: difftest.Scenarios("sparse")})
		})
	}
	// The others run the form over Reals. Slices that functions write to have none.
	traced := func(s *difftest.Scenario) *difftest.Function {
		if f := coded.Function(s); f != nil && !f.Shared {
			return f
		}
		return nil
	}
	for _, b := range longtest.Sample([]nabla.Backend{
		forwarddiff.Backend{}, reversediff.Backend{Compile: true}, tracker.Backend{},
	}, 1) {
		t.Run(b.Name(), func(t *testing.T) {
			difftest.Run(t, b, &difftest.Options{Function: traced, NoModifiers: usual})
		})
	}
	type pair struct {
		outer, inner nabla.Backend
		function     func(s *difftest.Scenario) *difftest.Function
	}
	for _, c := range longtest.Sample([]pair{
		{source.Forward{}, source.Reverse{}, coded.Function}, {source.Reverse{}, source.Forward{}, coded.Function},
		{forwarddiff.Backend{}, source.Reverse{}, traced}, {source.Forward{}, tracker.Backend{}, traced},
	}, 2) {
		b := nabla.SecondOrder{Outer: c.outer, Inner: c.inner}
		t.Run(b.Name(), func(t *testing.T) {
			difftest.Run(t, b, &difftest.Options{Function: c.function, NoFirstOrder: true, NoModifiers: usual})
		})
	}
}

// TestNothingIsSkipped: there is a function for each scenario of the catalogue, and of each
// modifier but one, whose name is that of the shapes of a function.
func TestNothingIsSkipped(t *testing.T) {
	for _, s := range difftest.Scenarios("") {
		if s.Group == "behaviour" {
			continue
		}
		if coded.Function(&s) == nil {
			t.Errorf("there is no function of %s", s.Name)
		}
		for _, m := range []difftest.Modifier{
			difftest.Constantify, difftest.Structurify, difftest.Cachify, difftest.CachifyStruct,
			difftest.ConstantOrCachify, difftest.Smaller,
		} {
			if mod := m(s); s.Group == "default" && coded.Function(&mod) == nil {
				t.Errorf("there is no function of %s", mod.Name)
			}
		}
	}
	closure := difftest.Closurify(difftest.Scenarios("default")[0])
	if coded.Function(&closure) != nil {
		t.Error("there is a function of what is captured")
	}
}
