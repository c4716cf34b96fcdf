// Package mathgl has functions that use github.com/go-gl/mathgl/mgl64: transformations of graphics.
package mathgl

import (
	"math"

	"github.com/go-gl/mathgl/mgl64"
)

// Projected is a point on the screen seen by a camera.
//
//corpus:at 1 0.5 -2 3 2 4
func Projected(x []float64) (sx, sy float64) {
	p := mgl64.Perspective(math.Pi/4, 1.5, 0.1, 100)
	v := mgl64.LookAtV(mgl64.Vec3{x[3], x[4], x[5]}, mgl64.Vec3{0, 0, 0}, mgl64.Vec3{0, 1, 0})
	c := p.Mul4(v).Mul4x1(mgl64.Vec4{x[0], x[1], x[2], 1})
	return c.X() / c.W(), c.Y() / c.W()
}

// Determinant is that of a transformation.
//
//corpus:at 0.3 0.7 1.2 0.5
func Determinant(x []float64) float64 {
	m := mgl64.HomogRotate3D(x[0], mgl64.Vec3{0, 0.6, 0.8}).Mul4(mgl64.Scale3D(x[1], x[2], x[3]))
	return m.Det() + m.Trace()
}

// Inverse is an entry of the inverse of a matrix.
//
//corpus:at 2 0.3 0.1 0.2 1.5 0.4 0.3 0.2 1.1
func Inverse(x []float64) float64 {
	m := mgl64.Mat3{x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]}
	return m.Inv().At(0, 2)
}

// Slerp is a rotation between two.
//
//corpus:at 0.3 0.4 0.8
func Slerp(t, a, b float64) float64 {
	q := mgl64.QuatRotate(a, mgl64.Vec3{0, 0, 1})
	r := mgl64.QuatRotate(b, mgl64.Vec3{0, 1, 0})
	v := mgl64.QuatSlerp(q, r, t).Rotate(mgl64.Vec3{1, 2, 3})
	return v.X() + 2*v.Y()
}

// Euler is a coordinate of a vector after rotations about three axes.
//
//corpus:at 0.3 0.4 0.8
func Euler(a, b, c float64) float64 {
	q := mgl64.AnglesToQuat(a, b, c, mgl64.ZYX)
	return q.Rotate(mgl64.Vec3{1, 2, 3}).Y()
}

// Bezier is a point of a curve with given control points.
//
//corpus:at 0.3 1 2 2 -1
func Bezier(x []float64) float64 {
	a, b := mgl64.Vec2{x[1], x[2]}, mgl64.Vec2{x[3], x[4]}
	p := mgl64.CubicBezierCurve2D(x[0], mgl64.Vec2{0, 0}, a, b, mgl64.Vec2{4, 0})
	return p.X() * p.Y()
}

// Lit is the brightness of a surface after Blinn and Phong.
//
//corpus:at 0.2 0.5 0.9 12
func Lit(x []float64) float64 {
	n := mgl64.Vec3{x[0], x[1], x[2]}.Normalize()
	light := mgl64.Vec3{1, 1, 1}.Normalize()
	half := light.Add(mgl64.Vec3{0, 0, 1}).Normalize()
	return 0.1 + 0.6*math.Max(n.Dot(light), 0) + 0.3*math.Pow(math.Max(n.Dot(half), 0), x[3])
}

// Spherical converts coordinates to and fro.
//
//corpus:at 0.2 0.5 0.9
func Spherical(x []float64) (r, theta, phi float64) {
	return mgl64.CartesianToSpherical(mgl64.Vec3{x[0], x[1], x[2]})
}

// Surface is the length of a Bezier curve through n points.
//
//corpus:at 0 0 1 2 2 -1 4 0.5
func Surface(x []float64) float64 {
	var points []mgl64.Vec2
	for i := 0; i+1 < len(x); i += 2 {
		points = append(points, mgl64.Vec2{x[i], x[i+1]})
	}
	length := 0.0
	last := points[0]
	for i := 1; i <= 10; i++ {
		p := mgl64.BezierCurve2D(float64(i)/10, points)
		length += p.Sub(last).Len()
		last = p
	}
	return length
}

// Unprojected finds the point behind a pixel.
//
//corpus:at 210 130 0.6
func Unprojected(x, y, z float64) (float64, error) {
	p := mgl64.Perspective(math.Pi/4, 1.5, 0.1, 100)
	v := mgl64.LookAt(1, 2, 5, 0, 0, 0, 0, 1, 0)
	o, err := mgl64.UnProject(mgl64.Vec3{x, y, z}, v, p, 0, 0, 300, 200)
	return o.X() + o.Y(), err
}

// Dynamic multiplies matrices of any size.
//
//corpus:at 1 2 3 4
func Dynamic(x []float64) float64 {
	a := mgl64.NewMatrixFromData(x, 2, 2)
	b := mgl64.NewMatrixFromData([]float64{1, 0.5, 2, 1}, 2, 2)
	return a.MulMxN(nil, b).Trace()
}
