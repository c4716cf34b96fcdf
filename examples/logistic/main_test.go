package main

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/examples/internal/nuts"
	"github.com/nabla-ad/nabla/examples/internal/showtest"
)

func TestRun(t *testing.T) { showtest.Run(t, example) }

// TestLikelihood: the gradient of the likelihood is zero at the published coefficients, within their digits.
func TestLikelihood(t *testing.T) {
	c := []float64{15.0429 - 0.232163*70, -2.32163}
	g, err := nabla.Gradient(nabla.Bind(LogDensity, &flights), nil, c)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range g {
		if v += c[i] / 25; math.Abs(v) > 1e-3 { // without the prior's
			t.Errorf("element %d of the gradient is %v", i, v)
		}
	}
}

// TestPosterior compares the means with those by integration over a grid, within three standard errors.
func TestPosterior(t *testing.T) {
	var want [2]float64
	weight := 0.0
	for i := -400; i <= 400; i++ {
		for j := -400; j <= 400; j++ {
			c := []float64{float64(i) * 0.02, float64(j) * 0.04}
			w := math.Exp(LogDensity(c, &flights) + 10)
			weight += w
			want[0] += w * c[0]
			want[1] += w * c[1]
		}
	}
	chains, err := sample(nil, draws)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range want {
		s := nuts.Summarize(chains, coefficient(i))
		if v /= weight; math.Abs(s.Mean-v) > 3*s.Error {
			t.Errorf("coefficient %d: %.4f ± %.4f, want %.4f", i, s.Mean, s.Error, v)
		}
	}
}
