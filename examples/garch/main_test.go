package main

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla/examples/internal/showtest"
)

func TestRun(t *testing.T) { showtest.Run(t, example) }

// TestPublished compares with the estimates of Fiorentini, Calzolari and Panattoni.
func TestPublished(t *testing.T) {
	res, err := fit(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{-0.00619041, 0.0107613, 0.153134, 0.805974} {
		if v := res.X[i]; math.Abs(v-want) > 2e-5*math.Abs(want) {
			t.Errorf("%d: %.8f, want %v", i, v, want)
		}
	}
}
