package main

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla/examples/internal/showtest"
	"go-hep.org/x/hep/fit"
	"gonum.org/v1/gonum/optimize"
)

func TestRun(t *testing.T) { showtest.Run(t, example) }

// TestFit: the parameters are those of go-hep's fit, within its tolerance, and the truth is within four errors.
func TestFit(t *testing.T) {
	h := events()
	res, err := solve(h, nil)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := fit.H1D(h, fit.Func1D{F: Model, Ps: start}, nil, &optimize.NelderMead{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Cost > theirs.F*(1+1e-9) {
		t.Errorf("cost %v, go-hep has %v", res.Cost, theirs.F)
	}
	for i, v := range res.X {
		e := math.Sqrt(res.Covariance.At(i, i))
		if math.Abs(v-truth[i]) > 4*e || math.Abs(v-theirs.X[i]) > 0.02*e {
			t.Errorf("parameter %d: %v ± %v, go-hep %v, truth %v", i, v, e, theirs.X[i], truth[i])
		}
	}
}
