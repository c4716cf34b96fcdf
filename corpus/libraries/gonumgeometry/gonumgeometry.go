// Package gonumgeometry has functions that use vectors and numbers of gonum.org/v1/gonum: spatial/r2, spatial/r3,
// num/quat, num/dual and num/hyperdual.
package gonumgeometry

import (
	"math"

	"gonum.org/v1/gonum/num/dual"
	"gonum.org/v1/gonum/num/hyperdual"
	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r2"
	"gonum.org/v1/gonum/spatial/r3"
)

// TriangleArea is the area of a triangle in space.
//
//corpus:at 0 0.1 0.2 1 0.3 -0.2 0.4 1.2 0.5
func TriangleArea(x []float64) float64 {
	a, b, c := r3.Vec{X: x[0], Y: x[1], Z: x[2]}, r3.Vec{X: x[3], Y: x[4], Z: x[5]}, r3.Vec{X: x[6], Y: x[7], Z: x[8]}
	return r3.Norm(r3.Cross(r3.Sub(b, a), r3.Sub(c, a))) / 2
}

// TriangleMethods uses the methods of a triangle.
//
//corpus:at 0 0.1 0.2 1 0.3 -0.2 0.4 1.2 0.5
func TriangleMethods(x []float64) float64 {
	t := r3.Triangle{{X: x[0], Y: x[1], Z: x[2]}, {X: x[3], Y: x[4], Z: x[5]}, {X: x[6], Y: x[7], Z: x[8]}}
	return t.Area() + r3.Norm(t.Centroid())
}

// Rotated is a coordinate of a vector after a rotation by a quaternion.
//
//corpus:at 0.4 0.2 -0.3 0.9
func Rotated(x []float64) float64 {
	rot := r3.NewRotation(x[0], r3.Vec{X: x[1], Y: x[2], Z: x[3]})
	return rot.Rotate(r3.Vec{X: 1, Y: 2, Z: 3}).X
}

// Slerp interpolates between rotations.
//
//corpus:at 0.3 0.9 0.1 0.2 0.4
func Slerp(x []float64) float64 {
	q := quat.Number{Real: 1}
	p := quat.Number{Real: x[1], Imag: x[2], Jmag: x[3], Kmag: x[4]}
	p = quat.Scale(1/quat.Abs(p), p)
	s := quat.Mul(q, quat.Exp(quat.Scale(x[0], quat.Log(quat.Mul(quat.Inv(q), p)))))
	return s.Imag + 2*s.Kmag
}

// QuatFunctions applies functions of quaternions.
//
//corpus:at 0.3 0.9 0.1 0.2
func QuatFunctions(x []float64) float64 {
	q := quat.Number{Real: x[0], Imag: x[1], Jmag: x[2], Kmag: x[3]}
	return quat.Abs(quat.Sin(q)) + quat.Sqrt(q).Real
}

// PlaneAngle is the angle between edges of a path in the plane.
//
//corpus:at 0 0.1 1 0.3 0.4 1.2
func PlaneAngle(x []float64) float64 {
	a := r2.Sub(r2.Vec{X: x[2], Y: x[3]}, r2.Vec{X: x[0], Y: x[1]})
	b := r2.Sub(r2.Vec{X: x[4], Y: x[5]}, r2.Vec{X: x[2], Y: x[3]})
	return math.Acos(r2.Cos(a, b))
}

// Turned turns a point about another.
//
//corpus:at 0.7 1 2 0.3 0.4
func Turned(x []float64) (px, py float64) {
	p := r2.Rotate(r2.Vec{X: x[1], Y: x[2]}, x[0], r2.Vec{X: x[3], Y: x[4]})
	return p.X, p.Y
}

// NewtonDual is a Newton step with a derivative by dual numbers.
//
//corpus:at 1.4 0.6
func NewtonDual(x, a float64) float64 {
	d := dual.Number{Real: x, Emag: 1}
	f := dual.Sub(dual.Exp(dual.Scale(a, d)), dual.Number{Real: 2})
	return x - f.Real/f.Emag
}

// Curvature is a second derivative by hyperdual numbers.
//
//corpus:at 0.7
func Curvature(x float64) float64 {
	d := hyperdual.Number{Real: x, E1mag: 1, E2mag: 1}
	return hyperdual.Mul(hyperdual.Sin(d), hyperdual.Exp(d)).E1E2mag
}

// Jacobi is a transformation of a vector by a matrix of r3.
//
//corpus:at 0.4 0.2 -0.3
func Jacobi(x []float64) float64 {
	m := r3.NewMat([]float64{1, x[0], 0, x[1], 2, 0.5, 0, x[2], 1})
	return r3.Norm(m.MulVec(r3.Vec{X: 1, Y: -1, Z: 0.5})) + m.Det()
}
