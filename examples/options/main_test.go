package main

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/examples/internal/showtest"
)

func TestRun(t *testing.T) { showtest.Run(t, example) }

// TestSimulated: the simulated price and its derivatives are within four standard errors of the formula's, and the
// errors are small.
func TestSimulated(t *testing.T) {
	mean, deviation, err := simulate(market, nil)
	if err != nil {
		t.Fatal(err)
	}
	price, greeks, err := nabla.ValueAndGradient(Asian, nil, market)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range append([]float64{price}, greeks...) {
		if math.Abs(mean[i]-want) > 4*deviation[i] || deviation[i] > 0.01*math.Abs(want) {
			t.Errorf("%d: %.4f ± %.4f, want %.4f", i, mean[i], deviation[i], want)
		}
	}
}

// TestEuropean compares with the formulas of the textbooks.
func TestEuropean(t *testing.T) {
	_, greeks, gammas, err := nabla.ValueGradientAndHessian(European, nil, market)
	if err != nil {
		t.Fatal(err)
	}
	spot, strike, vol, rate, years := market[0], market[1], market[2], market[3], market[4]
	d1 := (math.Log(spot/strike) + (rate+vol*vol/2)*years) / (vol * math.Sqrt(years))
	d2 := d1 - vol*math.Sqrt(years)
	density := math.Exp(-d1*d1/2) / math.Sqrt(2*math.Pi)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"delta", greeks[0], phi(d1)},
		{"vega", greeks[2], spot * density * math.Sqrt(years)},
		{"rho", greeks[3], strike * years * math.Exp(-rate*years) * phi(d2)},
		{"gamma", gammas.At(0, 0), density / (spot * vol * math.Sqrt(years))},
		{"vanna", gammas.At(0, 2), -density * d2 / vol},
	} {
		if math.Abs(c.got-c.want) > 1e-12*math.Abs(c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}
