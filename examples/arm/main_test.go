package main

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/examples/internal/showtest"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/spatial/r3"
)

func TestRun(t *testing.T) { showtest.Run(t, example) }

// flangeOf multiplies the homogeneous matrices of Craig's textbook.
func flangeOf(q []float64) *mat.Dense {
	t := mat.NewDense(4, 4, []float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1})
	for i, l := range append(links, Link{Length: flange}) {
		s, c := 0.0, 1.0
		if i < len(q) {
			s, c = math.Sincos(q[i])
		}
		st, ct := math.Sincos(l.Twist)
		var next mat.Dense
		next.Mul(t, mat.NewDense(4, 4, []float64{c, -s, 0, l.Offset, s * ct, c * ct, -st, -st * l.Length,
			s * st, c * st, ct, ct * l.Length, 0, 0, 0, 1}))
		t = &next
	}
	return t
}

// TestPoses finds the flange of all poses by matrices, and compares with the path. The flange of the pose rest is that
// of the arm's pose "ready": 0.3069 m before the base and 0.5903 m above it.
func TestPoses(t *testing.T) {
	f := flangeOf(rest)
	for i, want := range []float64{0.3069, 0, 0.5903} {
		if got := f.At(i, 3); math.Abs(got-want) > 5e-5 {
			t.Errorf("coordinate %d of the flange at rest is %v, want %v", i, got, want)
		}
	}
	points := path(80)
	poses, _, err := follow(points, nil, lower, upper)
	if err != nil {
		t.Fatal(err)
	}
	for k, q := range poses {
		f, p := flangeOf(q), points[k]
		for i, want := range []float64{p.X, p.Y, p.Z} {
			if got := f.At(i, 3); math.Abs(got-want) > 1e-4 {
				t.Errorf("point %d: coordinate %d is %v, want %v", k, i, got, want)
			}
		}
		if down := f.At(2, 2); math.Abs(down+1) > 1e-9 {
			t.Errorf("point %d: the tool has z axis %v, want -1", k, down)
		}
		for i, v := range q {
			if v < lower[i] || v > upper[i] {
				t.Errorf("point %d: joint %d has angle %v, not from %v to %v", k, i+1, v, lower[i], upper[i])
			}
		}
	}
}

// TestGeometricJacobian compares with the formula for revolute joints: the axis of the joint times the way from it.
func TestGeometricJacobian(t *testing.T) {
	j, err := nabla.Jacobian(nabla.Bind(Misses, &r3.Vec{}), nil, rest)
	if err != nil {
		t.Fatal(err)
	}
	frames := Chain(rest)
	for i, f := range frames[:7] {
		v := r3.Cross(f.Z, r3.Sub(frames[7].At, f.At))
		for k, want := range []float64{v.X, v.Y, v.Z} {
			if got := j.At(k, i); math.Abs(got-want) > 1e-15 {
				t.Errorf("coordinate %d by joint %d: %v, want %v", k, i+1, got, want)
			}
		}
	}
}
