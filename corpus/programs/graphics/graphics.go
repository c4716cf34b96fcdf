// Package graphics has programs that draw: rays, curves, meshes and distance fields.
package graphics

import (
	"errors"
	"math"
)

// V is a vector.
type V struct{ X, Y, Z float64 }

// Add is the sum.
func (a V) Add(b V) V { return V{a.X + b.X, a.Y + b.Y, a.Z + b.Z} }

// Sub is the difference.
func (a V) Sub(b V) V { return V{a.X - b.X, a.Y - b.Y, a.Z - b.Z} }

// Mul is a multiple.
func (a V) Mul(s float64) V { return V{a.X * s, a.Y * s, a.Z * s} }

// Dot is the scalar product.
func (a V) Dot(b V) float64 { return a.X*b.X + a.Y*b.Y + a.Z*b.Z }

// Len is the length.
func (a V) Len() float64 { return math.Sqrt(a.Dot(a)) }

// Unit has length one.
func (a V) Unit() V { return a.Mul(1 / a.Len()) }

// A Ray has an origin and a direction.
type Ray struct{ O, D V }

// A Shape can be hit.
type Shape interface {
	Hit(r Ray) (t float64, ok bool)
	Normal(p V) V
}

// Sphere is a sphere.
type Sphere struct {
	C V
	R float64
}

// Hit implements Shape.
func (s *Sphere) Hit(r Ray) (float64, bool) {
	oc := r.O.Sub(s.C)
	b := oc.Dot(r.D)
	d := b*b - oc.Dot(oc) + s.R*s.R
	if d < 0 {
		return 0, false
	}
	t := -b - math.Sqrt(d)
	return t, t > 1e-6
}

// Normal implements Shape.
func (s *Sphere) Normal(p V) V { return p.Sub(s.C).Unit() }

// Plane is a plane.
type Plane struct {
	N V
	D float64
}

// Hit implements Shape.
func (p Plane) Hit(r Ray) (float64, bool) {
	k := p.N.Dot(r.D)
	if math.Abs(k) < 1e-9 {
		return 0, false
	}
	t := (p.D - p.N.Dot(r.O)) / k
	return t, t > 1e-6
}

// Normal implements Shape.
func (p Plane) Normal(V) V { return p.N }

// A Scene has shapes and a light.
type Scene struct {
	Shapes []Shape
	Light  V
}

// Trace returns the brightness along a ray, with reflections.
func (s *Scene) Trace(r Ray, depth int) float64 {
	var hit Shape
	nearest := math.Inf(1)
	for _, shape := range s.Shapes {
		if t, ok := shape.Hit(r); ok && t < nearest {
			nearest, hit = t, shape
		}
	}
	if hit == nil {
		return 0.2
	}
	p := r.O.Add(r.D.Mul(nearest))
	n := hit.Normal(p)
	l := s.Light.Sub(p).Unit()
	c := math.Max(n.Dot(l), 0)
	if depth > 0 {
		c = 0.7*c + 0.3*s.Trace(Ray{p, r.D.Sub(n.Mul(2 * n.Dot(r.D)))}, depth-1)
	}
	return c
}

// Rendered is the brightness of a pixel of a scene.
//
//corpus:at 0.1 0.2 1.1
func Rendered(x, y, radius float64) float64 {
	s := &Scene{Light: V{3, 4, -3}, Shapes: []Shape{&Sphere{V{0, 0, 3}, radius}, Plane{V{0, 1, 0}, -1.5}}}
	return s.Trace(Ray{V{}, V{x, y, 1}.Unit()}, 2)
}

// Sphered is the brightness of a sphere, without interfaces.
//
//corpus:at 0.1 0.2 1.1
func Sphered(x, y, radius float64) (float64, error) {
	s := Sphere{V{0, 0, 3}, radius}
	r := Ray{V{}, V{x, y, 1}.Unit()}
	t, ok := s.Hit(r)
	if !ok {
		return 0, errors.New("missed")
	}
	p := r.O.Add(r.D.Mul(t))
	return s.Normal(p).Dot(V{3, 4, -3}.Sub(p).Unit()), nil
}

// casteljau evaluates a Bezier curve by recursion.
func casteljau(p []V, t float64) V {
	if len(p) == 1 {
		return p[0]
	}
	next := make([]V, len(p)-1)
	for i := range next {
		next[i] = p[i].Mul(1 - t).Add(p[i+1].Mul(t))
	}
	return casteljau(next, t)
}

// Curve is the length of a Bezier curve with given control points.
//
//corpus:at 0 0 1 1 2 -1 3 0.5
func Curve(x []float64) float64 {
	var p []V
	for i := 0; i+1 < len(x); i += 2 {
		p = append(p, V{x[i], x[i+1], 0})
	}
	length, last := 0.0, p[0]
	for k := 1; k <= 12; k++ {
		q := casteljau(p, float64(k)/12)
		length += q.Sub(last).Len()
		last = q
	}
	return length
}

// SDF is a signed distance.
type SDF func(p V) float64

// Ball is the field of a ball.
func Ball(r float64) SDF { return func(p V) float64 { return p.Len() - r } }

// Moved moves a field.
func (s SDF) Moved(d V) SDF { return func(p V) float64 { return s(p.Sub(d)) } }

// Union joins fields smoothly.
func Union(k float64, fields ...SDF) SDF {
	return func(p V) float64 {
		sum := 0.0
		for _, f := range fields {
			sum += math.Exp(-k * f(p))
		}
		return -math.Log(sum) / k
	}
}

// Field is the value of a field that is composed of others.
//
//corpus:at 0.3 0.8 -0.2
func Field(p V) float64 {
	return Union(8, Ball(0.7), Ball(0.4).Moved(V{0.6, 0.3, 0}))(p)
}

// March is the distance that a ray marches to a ball.
//
//corpus:at 0.1 0.2 0.8
func March(dx, dy, radius float64) float64 {
	d := V{dx, dy, 1}.Unit()
	centre := V{0, 0, 3}
	t := 0.0
	for i := 0; i < 100; i++ {
		dist := d.Mul(t).Sub(centre).Len() - radius
		if dist < 1e-12 {
			break
		}
		t += dist
	}
	return t
}

// A Mesh has vertices and triangles.
type Mesh struct {
	Vertices  []V
	Triangles [][3]int
}

// Volume is the volume of a tetrahedron with given corners.
//
//corpus:at 0 0 0.1 1 0.1 0 0 1 0.2 0.3 0.2 1
func Volume(x []float64) float64 {
	var m Mesh
	for i := 0; i+2 < len(x); i += 3 {
		m.Vertices = append(m.Vertices, V{x[i], x[i+1], x[i+2]})
	}
	m.Triangles = append(m.Triangles, [3]int{0, 2, 1}, [3]int{0, 1, 3}, [3]int{1, 2, 3}, [3]int{2, 0, 3})
	sum := 0.0
	for _, t := range m.Triangles {
		a, b, c := m.Vertices[t[0]], m.Vertices[t[1]], m.Vertices[t[2]]
		sum += a.X*(b.Y*c.Z-b.Z*c.Y) - a.Y*(b.X*c.Z-b.Z*c.X) + a.Z*(b.X*c.Y-b.Y*c.X)
	}
	return sum / 6
}

// Smoothed moves vertices to the mean of their neighbours and measures the change.
//
//corpus:at 0 0 0.1 1 0.1 0 0 1 0.2 0.3 0.2 1
func Smoothed(x []float64) float64 {
	verts := make([]*V, 0)
	for i := 0; i < len(x)/3; i++ {
		verts = append(verts, &V{x[3*i], x[3*i+1], x[3*i+2]})
	}
	neighbours := map[int][]int{0: {1, 2}, 1: {0, 3}, 2: {0, 3}, 3: {1, 2}}
	change := 0.0
	for i, v := range verts {
		var mean V
		for _, j := range neighbours[i] {
			mean = mean.Add(*verts[j])
		}
		mean = mean.Mul(1 / float64(len(neighbours[i])))
		d := mean.Sub(*v)
		change += d.Dot(d)
		*v = v.Add(d.Mul(0.5))
	}
	return change
}

// Camera projects the corner of a cube with matrices as slices.
//
//corpus:at 0.4 0.3 5
func Camera(yaw, pitch, distance float64) (x, y float64) {
	mul := func(a, b [][]float64) [][]float64 {
		out := make([][]float64, len(a))
		for i := range a {
			out[i] = make([]float64, len(b[0]))
			for j := range b[0] {
				for k := range b {
					out[i][j] += a[i][k] * b[k][j]
				}
			}
		}
		return out
	}
	sy, cy := math.Sincos(yaw)
	sp, cp := math.Sincos(pitch)
	ry := [][]float64{{cy, 0, sy}, {0, 1, 0}, {-sy, 0, cy}}
	rx := [][]float64{{1, 0, 0}, {0, cp, -sp}, {0, sp, cp}}
	p := mul(mul(rx, ry), [][]float64{{1}, {1}, {1}})
	return p[0][0] / (p[2][0] + distance), p[1][0] / (p[2][0] + distance)
}

// Winding is a smooth winding number of a polygon about a point.
//
//corpus:at 0.4 0.3
func Winding(x, y float64) float64 {
	polygon := [][2]float64{{0, 0}, {1, 0.1}, {0.9, 1}, {-0.1, 0.8}}
	sum := 0.0
	for i := range polygon {
		p, q := polygon[i], polygon[(i+1)%len(polygon)]
		ax, ay, bx, by := p[0]-x, p[1]-y, q[0]-x, q[1]-y
		sum += math.Atan2(ax*by-ay*bx, ax*bx+ay*by) * math.Hypot(ax, ay)
	}
	return sum
}
