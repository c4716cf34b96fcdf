package kalman

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/internal/timing/timingtest"
)

// model returns parameters and observations.
func model() (p []float64, z *mat.Dense) {
	r := rand.New(rand.NewPCG(1, 2))
	p = make([]float64, parameters)
	for i := range p {
		p[i] = 0.1 * r.NormFloat64()
		if i < states*states && i%(states+1) == 0 {
			p[i] += 0.8
		}
	}
	p[parameters-2], p[parameters-1] = 0.1, 0.3
	z = mat.NewDense(steps, observations, nil)
	for i := range steps {
		for j := range observations {
			z.Set(i, j, r.NormFloat64())
		}
	}
	return p, z
}

// like returns a matrix of zeros of the size of z.
func like(z *mat.Dense) *mat.Dense {
	r, c := z.Dims()
	return mat.NewDense(r, c, nil)
}

// TestGradient compares the gradient with differences, and second derivatives with those of the gradient.
func TestGradient(t *testing.T) {
	p, z := model()
	gradient := func(p []float64) []float64 {
		bar := make([]float64, len(p))
		if l := LogLikelihoodAdjoint(p, z, bar, like(z), 1, new(AdjointWork)); l != LogLikelihood(p, z) {
			t.Errorf("got %v, want %v", l, LogLikelihood(p, z))
		}
		return bar
	}
	d := make([]float64, len(p))
	for i := range d {
		d[i] = math.Sin(float64(i))
	}
	at := func(h float64) []float64 {
		x := make([]float64, len(p))
		for i := range x {
			x[i] = p[i] + h*d[i]
		}
		return x
	}
	const h = 1e-6
	g := gradient(p)
	want := (LogLikelihood(at(h), z) - LogLikelihood(at(-h), z)) / (2 * h)
	got := 0.0
	for i := range g {
		got += g[i] * d[i]
	}
	if math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
		t.Errorf("the gradient gives %v, want %v", got, want)
	}
	if _, tangent := LogLikelihoodTangent(p, z, d, like(z)); math.Abs(tangent-got) > 1e-10*(1+math.Abs(got)) {
		t.Errorf("the tangent is %v, want %v", tangent, got)
	}
	product := make([]float64, len(p))
	LogLikelihoodAdjointTangent(p, z, make([]float64, len(p)), like(z), 1, new(AdjointWork), d, like(z), product,
		like(z))
	up, down := gradient(at(h)), gradient(at(-h))
	for i := range product {
		if want := (up[i] - down[i]) / (2 * h); math.Abs(product[i]-want) > 1e-4*(1+math.Abs(want)) {
			t.Errorf("product %d is %v, want %v", i, product[i], want)
		}
	}
}

// BenchmarkGradient compares the gradient with the function.
func BenchmarkGradient(b *testing.B) {
	p, z := model()
	bar, zBar, ws := make([]float64, len(p)), like(z), new(AdjointWork)
	timingtest.Ratio(b, func() {
		clear(bar)
		LogLikelihoodAdjoint(p, z, bar, zBar, 1, ws)
	}, func() { LogLikelihood(p, z) })
}
