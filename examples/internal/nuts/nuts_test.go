package nuts

import (
	"errors"
	"math"
	"testing"
)

// normal is a density of independent normal numbers with different scales and means.
func normal(gradient, x []float64) (float64, error) {
	value := 0.0
	for i, v := range x {
		scale := math.Pow(10, float64(i)-1)
		z := (v - float64(i)) / scale
		value -= z * z / 2
		gradient[i] = -z / scale
	}
	return value, nil
}

func TestNormal(t *testing.T) {
	var chains []*Chain
	for seed := range uint64(4) {
		c, err := Sample(normal, make([]float64, 3), 2000, seed)
		if err != nil {
			t.Fatal(err)
		}
		chains = append(chains, c)
	}
	for i := range 3 {
		scale := math.Pow(10, float64(i)-1)
		s := Summarize(chains, func(x []float64) float64 { return x[i] })
		if math.Abs(s.Mean-float64(i)) > 4*s.Error || s.Size < 2000 {
			t.Errorf("unknown %d: %+v", i, s)
		}
		square := Summarize(chains, func(x []float64) float64 {
			z := (x[i] - float64(i)) / scale
			return z * z
		})
		if math.Abs(square.Mean-1) > 4*square.Error {
			t.Errorf("square of unknown %d: %+v, want 1", i, square)
		}
	}
}

func TestError(t *testing.T) {
	want := errors.New("on purpose")
	calls := 0
	_, err := Sample(func(gradient, x []float64) (float64, error) {
		if calls++; calls > 100 {
			return 0, want
		}
		return normal(gradient, x)
	}, make([]float64, 3), 100, 1)
	if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}

// TestSize: the effective size of draws that depend on the one before by ρ is n·(1-ρ)/(1+ρ).
func TestSize(t *testing.T) {
	const rho, n = 0.8, 20000
	var chains []*Chain
	for seed := range uint64(2) {
		c := new(Chain)
		x := 0.0
		rng := newRand(seed)
		for range n {
			x = rho*x + math.Sqrt(1-rho*rho)*rng.NormFloat64()
			c.Draws = append(c.Draws, []float64{x})
		}
		chains = append(chains, c)
	}
	got := Summarize(chains, func(x []float64) float64 { return x[0] }).Size
	if want := 2 * n * (1 - rho) / (1 + rho); math.Abs(got-want) > 0.15*want {
		t.Errorf("size %.0f, want about %.0f", got, want)
	}
}
