package finitediff_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/internal/longtest"
)

func TestConformance(t *testing.T) {
	wide := map[string]string{"sparse/squarequadraticform_band1": "takes half a second",
		"sparse/squarequadraticform_band2": "takes a second"}
	type run struct {
		b nabla.Backend
		o difftest.Options
	}
	runs := []run{
		{finitediff.Backend{}, difftest.Options{Tol: 1e-8, SecondTol: 1e-5, AllocFree: true}},
		{finitediff.Backend{Method: finitediff.Forward, Workers: 2}, difftest.Options{Tol: 1e-5, SecondTol: 1e-5}},
		{finitediff.Backend{Method: finitediff.Complex},
			difftest.Options{SecondTol: 1e-8, AllocFree: true, Skip: wide}},
	}
	if longtest.Long() {
		o := difftest.Options{Tol: 1e-10, SecondTol: 1e-7, Skip: wide}
		plain := o
		plain.Plain = true
		runs = append(runs,
			run{finitediff.Backend{}, difftest.Options{Tol: 1e-8, SecondTol: 1e-5, Plain: true}},
			run{finitediff.Backend{Workers: 2}, difftest.Options{Tol: 1e-8, SecondTol: 1e-5}},
			run{finitediff.Backend{Method: finitediff.Forward},
				difftest.Options{Tol: 1e-5, SecondTol: 1e-5, AllocFree: true}},
			run{finitediff.Backend{Method: finitediff.Backward}, difftest.Options{Tol: 1e-5, SecondTol: 1e-5}},
			run{finitediff.Adaptive{}, difftest.Options{Tol: 1e-10, SecondTol: 1e-7, AllocFree: true, Skip: wide}},
			run{finitediff.Adaptive{}, plain}, run{finitediff.Adaptive{Workers: 2}, o},
			run{finitediff.Adaptive{Method: finitediff.Forward},
				difftest.Options{Tol: 1e-8, SecondTol: 1e-5, Skip: wide}},
			run{finitediff.Adaptive{Extrapolate: 4}, o}, run{finitediff.Adaptive{MeasureNoise: true, Points: 7}, o})
	}
	for i, c := range runs {
		c.o.NoModifiers = i > 0
		name := c.b.Name()
		if c.o.Plain {
			name += " of plain functions"
		}
		t.Run(name, func(t *testing.T) { difftest.Run(t, c.b, &c.o) })
	}
}

// TestConformanceOuter takes differences of exact gradients.
func TestConformanceOuter(t *testing.T) {
	b := nabla.SecondOrder{Outer: finitediff.Backend{}, Inner: reversediff.Backend{Compile: true}}
	difftest.Run(t, b, &difftest.Options{NoFirstOrder: true, SecondTol: 1e-8, NoModifiers: !longtest.Long()})
	b.Outer = finitediff.Adaptive{}
	difftest.Run(t, b, &difftest.Options{NoFirstOrder: true, SecondTol: 1e-9, NoModifiers: !longtest.Long()})
}
