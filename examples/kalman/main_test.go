package main

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla/examples/internal/showtest"
)

func TestRun(t *testing.T) { showtest.Run(t, example) }

// TestPublished compares with the estimates of Durbin and Koopman.
func TestPublished(t *testing.T) {
	res, _, err := fit(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{15099, 1469.1} {
		if v := math.Exp(res.X[i]); math.Abs(v-want) > 1e-4*want {
			t.Errorf("variance %d: %.2f, want %.1f", i, v, want)
		}
	}
}
