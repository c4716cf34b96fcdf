package main

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla/constrain"
	"github.com/nabla-ad/nabla/examples/internal/nuts"
	"github.com/nabla-ad/nabla/examples/internal/showtest"
)

func TestRun(t *testing.T) { showtest.Run(t, example) }

// exact returns the posterior means of the mean, the deviation and the effects by integration over mean and deviation:
// given these, effects are normal.
func exact() (mean, deviation float64, effect [8]float64) {
	weight := 0.0
	for i := -400; i <= 400; i++ {
		mu := float64(i) * 0.08
		for j := 1; j <= 4000; j++ {
			tau := (float64(j) - 0.5) * 0.025
			logDensity := -mu*mu/50 - math.Log1p(tau*tau/25)
			for k, y := range effects {
				v := errors[k]*errors[k] + tau*tau
				logDensity -= (y-mu)*(y-mu)/(2*v) + math.Log(v)/2
			}
			w := math.Exp(logDensity)
			weight += w
			mean += w * mu
			deviation += w * tau
			for k, y := range effects {
				part := tau * tau / (tau*tau + errors[k]*errors[k])
				effect[k] += w * (mu + part*(y-mu))
			}
		}
	}
	for k := range effect {
		effect[k] /= weight
	}
	return mean / weight, deviation / weight, effect
}

// TestPosterior compares with integration, within three standard errors, and that with the published means.
func TestPosterior(t *testing.T) {
	mean, deviation, effect8 := exact()
	for i, published := range []float64{6.2, 4.9, 3.9, 4.8, 3.6, 4.0, 6.3, 4.9, 4.4, 3.6} {
		got := append(effect8[:], mean, deviation)[i]
		if math.Abs(got-published) > 0.11 {
			t.Errorf("integration: %d is %.3f, published is %.1f", i, got, published)
		}
	}
	chains, err := sample(nil, draws)
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, s nuts.Summary, want float64) {
		if math.Abs(s.Mean-want) > 3*s.Error {
			t.Errorf("%s: %.3f ± %.3f, want %.3f", name, s.Mean, s.Error, want)
		}
	}
	for i, want := range effect8 {
		check(string(rune('A'+i)), nuts.Summarize(chains, effect(i)), want)
	}
	check("mean", nuts.Summarize(chains, func(u []float64) float64 { return u[0] }), mean)
	check("deviation", nuts.Summarize(chains, func(u []float64) float64 {
		x, _ := constrain.Positive(u[1])
		return x
	}), deviation)
}
