// Package go3d has functions that use github.com/ungerik/go3d/float64: vectors, curves and rotations.
package go3d

import (
	"github.com/ungerik/go3d/float64/bezier2"
	"github.com/ungerik/go3d/float64/hermit2"
	"github.com/ungerik/go3d/float64/mat4"
	"github.com/ungerik/go3d/float64/quaternion"
	"github.com/ungerik/go3d/float64/vec2"
	"github.com/ungerik/go3d/float64/vec3"
)

// Curve is the height and slope of a Bezier curve.
//
//corpus:at 0.3 1 2 2 -1
func Curve(x []float64) float64 {
	b := bezier2.T{P0: vec2.T{0, 0}, P1: vec2.T{x[1], x[2]}, P2: vec2.T{x[3], x[4]}, P3: vec2.T{3, 0}}
	p, d := b.Point(x[0]), b.Tangent(x[0])
	return p[1] + d[0]*d[1]
}

// Hermite is the length of a part of a curve.
//
//corpus:at 0.7 1 2
func Hermite(t, dx, dy float64) float64 {
	a, ta, b, tb := vec2.T{0, 0}, vec2.T{dx, dy}, vec2.T{3, 1}, vec2.T{1, 0}
	p := hermit2.Point(&a, &ta, &b, &tb, t)
	return p.Length()
}

// Turned turns a vector by a quaternion.
//
//corpus:at 0.7 0.2 0.3 0.9
func Turned(x []float64) float64 {
	axis := vec3.T{x[1], x[2], x[3]}
	axis.Normalize()
	q := quaternion.FromAxisAngle(&axis, x[0])
	v := vec3.T{1, 2, 3}
	q.RotateVec3(&v)
	return v[0] + 2*v[1] + v[2]
}

// Between interpolates rotations.
//
//corpus:at 0.3 0.4 0.8
func Between(t, a, b float64) (y, x, z float64) {
	p, q := quaternion.FromXAxisAngle(a), quaternion.FromZAxisAngle(b)
	s := quaternion.Slerp(&p, &q, t)
	return s.ToEulerAngles()
}

// Placed transforms a point by a matrix.
//
//corpus:at 0.3 0.4 0.8 1.2
func Placed(x []float64) float64 {
	m := mat4.Ident
	m.AssignEulerRotation(x[0], x[1], x[2])
	m.TranslateX(x[3])
	v := vec3.T{1, 0.5, -1}
	m.TransformVec3(&v)
	return v[0]*v[1] + v[2]
}

// Angles adds angles between vectors.
//
//corpus:at 1 0.2 0.3 -0.4 1.1 0.5
func Angles(x []float64) float64 {
	a, b := vec3.T{x[0], x[1], x[2]}, vec3.T{x[3], x[4], x[5]}
	c := vec3.Cross(&a, &b)
	return vec3.Angle(&a, &b) + c.Length() + vec3.Distance(&a, &b)
}
