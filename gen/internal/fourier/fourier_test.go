package fourier

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/internal/timing/timingtest"
)

func random() []complex128 {
	r := rand.New(rand.NewPCG(1, 2))
	z := make([]complex128, N)
	for i := range z {
		z[i] = complex(r.NormFloat64(), r.NormFloat64())
	}
	return z
}

// TestPower compares the gradient with its closed form, which is another transform: with w = diag(k)·F·z it is
// 2·F*·w, and F* is the transform of the conjugate.
func TestPower(t *testing.T) {
	z := random()
	w := Transform(z)
	want := 0.0
	for k := range w {
		want += float64(k) * real(w[k]*cmplx.Conj(w[k]))
		w[k] = cmplx.Conj(w[k]) * complex(2*float64(k), 0)
	}
	gradient := Transform(w)
	bar := make([]complex128, N)
	if r := PowerAdjoint(z, bar, 1, nil); math.Abs(r-want) > 1e-12*want {
		t.Errorf("got %v, want %v", r, want)
	}
	scale := 0.0
	for _, g := range gradient {
		scale = max(scale, cmplx.Abs(g))
	}
	for i, g := range gradient {
		if cmplx.Abs(bar[i]-cmplx.Conj(g)) > 1e-12*scale {
			t.Errorf("derivative %d is %v, want %v", i, bar[i], cmplx.Conj(g))
		}
	}
	// The Hessian-vector product of a quadratic function is the gradient at the direction.
	product := make([]complex128, N)
	PowerAdjointTangent(make([]complex128, N), make([]complex128, N), 1, nil, z, product)
	for i, g := range gradient {
		if cmplx.Abs(product[i]-cmplx.Conj(g)) > 1e-12*scale {
			t.Errorf("product %d is %v, want %v", i, product[i], cmplx.Conj(g))
		}
	}
}

// BenchmarkPower compares the gradient with the function.
func BenchmarkPower(b *testing.B) {
	z, bar, ws := random(), make([]complex128, N), new(AdjointWork)
	timingtest.Ratio(b, func() {
		clear(bar)
		PowerAdjoint(z, bar, 1, ws)
	}, func() { Power(z) })
}
