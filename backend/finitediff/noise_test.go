package finitediff_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/engine"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

// scrambled returns a number in (-1, 1) that depends on all bits of x, with the variance 1/3 of a uniform distribution.
func scrambled(x float64) float64 {
	return rand.New(rand.NewPCG(math.Float64bits(x), 5)).Float64()*2 - 1
}

// noisy returns sin with uniform noise of standard deviation sigma.
func noisy(sigma float64) func(float64) float64 {
	return func(x float64) float64 { return math.Sin(x) + sigma*math.Sqrt(3)*scrambled(x) }
}

// TestECNoise estimates known noise on top of a quadratic polynomial, as in the experiments of Moré and Wild, §5: most
// estimates are within a factor of 4.
func TestECNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	close, found := 0, 0
	const n, sigma = 400, 1e-6
	for range n {
		values := make([]float64, 7+rng.IntN(3))
		for i := range values {
			h := 1e-3 * float64(i)
			values[i] = 1 + h + h*h + sigma*rng.NormFloat64()
		}
		noise, outcome := finitediff.ECNoise(values)
		if outcome == finitediff.NoiseFound {
			found++
			if sigma/4 <= noise && noise <= 4*sigma {
				close++
			}
		}
	}
	t.Logf("%d of %d found, %d within a factor of 4", found, n, close)
	if found < n*9/10 || close < found*9/10 {
		t.Errorf("%d of %d found, %d within a factor of 4", found, n, close)
	}
	for _, c := range []struct {
		values []float64
		want   finitediff.NoiseOutcome
	}{
		{[]float64{1, 1, 1, 1, 1, 1, 1}, finitediff.NoiseTooClose},
		{[]float64{1, 1, 1, 1, 1, 1.001, 1}, finitediff.NoiseTooClose},
		{[]float64{1, 2, 3, 4, 5, 6, 7}, finitediff.NoiseTooFar},            // it varies too much
		{[]float64{99, 98, 99.5, 99}, finitediff.NoiseTooFar},               // too few
		{[]float64{100, 101, 102, 103, 104, 105.5}, finitediff.NoiseTooFar}, // no level with both signs
		{[]float64{1, math.NaN(), 1, 1, 1, 1}, finitediff.NoiseTooFar},
		{[]float64{1e300, -1e300, 1e300, 0, 1, 1}, finitediff.NoiseTooFar},
	} {
		if _, got := finitediff.ECNoise(append([]float64(nil), c.values...)); got != c.want {
			t.Errorf("%v: %v, want %v", c.values, got, c.want)
		}
	}
}

// TestECNoiseByHand follows the definition for one table: differences of order 1 are ±2, of order 2 ±4, of order 3 ±8;
// γ₁ = 1/2, γ₂ = 1/6, γ₃ = 1/20.
func TestECNoiseByHand(t *testing.T) {
	values := []float64{101, 99, 101, 99, 101, 99, 101}
	want := math.Sqrt(0.5 * 4) // 1.41, beside √(16/6) = 1.63 and √(64/20) = 1.79
	if noise, outcome := finitediff.ECNoise(values); outcome != finitediff.NoiseFound || math.Abs(noise-want) > 1e-14 {
		t.Errorf("%v, %v, want %v", noise, outcome, want)
	}
}

func TestMeasureNoise(t *testing.T) {
	for _, sigma := range []float64{1e-4, 1e-8, 1e-12} {
		for _, x := range []float64{1, 0.3, -2, 100.5} {
			got, err := finitediff.MeasureNoise(noisy(sigma), x)
			if err != nil || got < sigma/5 || got > 5*sigma {
				t.Errorf("at %v: %v, %v, want about %v", x, got, err, sigma)
			}
		}
	}
	if got, err := finitediff.MeasureNoise(math.Exp, 1); err != nil || got > 1e-15 || got < 1e-17 {
		t.Errorf("rounding of exp: %v, %v, want about 1e-16", got, err)
	}
	constant := func(float64) float64 { return 3 }
	var none *finitediff.NoiseError
	if _, err := finitediff.MeasureNoise(constant, 1); !errors.As(err, &none) ||
		none.Outcome != finitediff.NoiseTooClose || !contains(err.Error(), "around 1: the points are too close") {
		t.Errorf("constant: %v", err)
	}
	var panicked *engine.PanicError
	if _, err := finitediff.MeasureNoise(func(float64) float64 { panic("no") }, 1); !errors.As(err, &panicked) {
		t.Errorf("panicking: %v", err)
	}
}

// TestNoisyFunctions differentiates a function with noise: found by itself, measured, and given. Estimates must bound
// the errors, and knowing the noise must not cost digits.
func TestNoisyFunctions(t *testing.T) {
	for _, sigma := range []float64{1e-5, 1e-8, 1e-11} {
		for _, a := range []finitediff.Adaptive{
			{}, {Noise: 2 * sigma}, {MeasureNoise: true}, {Factor: 2 * sigma / 0x1p-52}, {Extrapolate: 4},
			{Levels: 2}, {Method: finitediff.Forward},
		} {
			bounded, n, worst := 0, 0, 0.0
			d, err := a.PrepareDerivative(noisy(sigma), 1)
			if err != nil {
				t.Fatal(err)
			}
			for x := -2.0; x < 2; x += 0.01 {
				e, err := d.At(x)
				if err != nil {
					t.Fatal(err)
				}
				n++
				wrong := math.Abs(e.Value - math.Cos(x))
				if wrong <= e.Error {
					bounded++
				}
				worst = max(worst, wrong)
			}
			limit := 100 * math.Pow(sigma, 0.8)
			if a.Method == finitediff.Forward {
				limit *= 10
			}
			if testing.Verbose() {
				t.Logf("noise %v, %s: %d of %d bounded, largest error %.2g", sigma, a.Name(), bounded, n, worst)
			}
			if 100*bounded < 95*n || !(worst <= limit) {
				t.Errorf("noise %v, %s: %d of %d bounded, want 95 in 100; largest error %.2g, want %.2g", sigma,
					a.Name(), bounded, n, worst, limit)
			}
		}
	}
}
