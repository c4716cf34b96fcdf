package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/examples/internal/showtest"
	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
)

func TestRun(t *testing.T) { showtest.Run(t, example) }

// TestRotate compares rotations with those of quaternions.
func TestRotate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	random := func() r3.Vec { return r3.Vec{X: r.NormFloat64(), Y: r.NormFloat64(), Z: r.NormFloat64()} }
	for _, scale := range []float64{1, 1e-3, 1e-13, 0} {
		w, p := r3.Scale(scale, random()), random()
		q := quat.Exp(quat.Scale(0.5, quat.Number{Imag: w.X, Jmag: w.Y, Kmag: w.Z}))
		turned := quat.Mul(quat.Mul(q, quat.Number{Imag: p.X, Jmag: p.Y, Kmag: p.Z}), quat.Conj(q))
		want := r3.Vec{X: turned.Imag, Y: turned.Jmag, Z: turned.Kmag}
		if got := rotate(w, p); r3.Norm(r3.Sub(got, want)) > 1e-14*10 {
			t.Errorf("rotated by %v: got %v, want %v", w, got, want)
		}
	}
}

// TestLooking: the origin is in the middle of all cameras, and above is up.
func TestLooking(t *testing.T) {
	_, truth, _ := scene(rand.New(rand.NewPCG(1, 2)))
	for i := range cameras - 1 {
		c := truth[i*ofCamera : (i+1)*ofCamera]
		u, v := Project(c, r3.Vec{})
		_, above := Project(c, r3.Vec{Z: 1})
		if math.Hypot(u, v) > 1e-9 || above < 10 {
			t.Errorf("camera %d sees the origin at (%v, %v), and a point above it at %v", i+1, u, v, above)
		}
	}
}

// TestAdjust: the deviations that are left are those of the pixels, whatever the errors.
func TestAdjust(t *testing.T) {
	var sum, freedom float64
	for seed := range uint64(10) {
		s, truth, start := scene(rand.New(rand.NewPCG(seed, 3)))
		res, err := adjust(s, start, source.Forward{})
		if err != nil {
			t.Fatal(err)
		}
		sum += 2 * res.Cost
		freedom += float64(2*len(s.Views) + 1 - len(truth))
		if points, places := apart(res.X, truth); points > 0.1 || places > 0.2 {
			t.Errorf("seed %d: points and cameras are %v and %v from the truth", seed, points, places)
		}
	}
	if math.Abs(sum-freedom) > 4*math.Sqrt(2*freedom) {
		t.Errorf("χ² is %v with %v degrees of freedom", sum, freedom)
	}
}
