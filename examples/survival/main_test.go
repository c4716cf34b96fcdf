package main

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla/examples/internal/showtest"
	"gonum.org/v1/gonum/mat"
)

func TestRun(t *testing.T) { showtest.Run(t, example) }

// TestPublished compares with what R's survreg prints.
func TestPublished(t *testing.T) {
	res, hessian, err := fit(nil)
	if err != nil {
		t.Fatal(err)
	}
	var covariance mat.Dense
	if err := covariance.Inverse(hessian); err != nil {
		t.Fatal(err)
	}
	want, errors := []float64{3.516, -1.267, -0.312}, []float64{0.252, 0.311, 0.147}
	for i, v := range res.X {
		e := math.Sqrt(covariance.At(i, i))
		if math.Abs(v-want[i]) > 6e-4 || math.Abs(e-errors[i]) > 6e-4 {
			t.Errorf("%d: %.4f ± %.4f, want %.3f ± %.3f", i, v, e, want[i], errors[i])
		}
	}
}
