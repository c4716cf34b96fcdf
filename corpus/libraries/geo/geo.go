// Package geo has functions that use github.com/golang/geo: angles, distances and areas on the sphere.
package geo

import (
	"math"

	"github.com/golang/geo/r1"
	"github.com/golang/geo/r2"
	"github.com/golang/geo/r3"
	"github.com/golang/geo/s1"
	"github.com/golang/geo/s2"
)

const radius = 6371.01 // km

// Distance is the length of a great circle in km between two places in degrees.
//
//corpus:at 48.1 11.5 52.5 13.4
func Distance(x []float64) float64 {
	a, b := s2.LatLngFromDegrees(x[0], x[1]), s2.LatLngFromDegrees(x[2], x[3])
	return a.Distance(b).Radians() * radius
}

// CapArea is the area of a spherical cap.
//
//corpus:at 0.4
func CapArea(angle float64) float64 {
	return s2.CapFromCenterAngle(s2.PointFromCoords(0, 0, 1), s1.Angle(angle)).Area()
}

// TriangleArea is the area of a spherical triangle.
//
//corpus:at 10 5 40 15 20 50
func TriangleArea(x []float64) float64 {
	p := func(i int) s2.Point { return s2.PointFromLatLng(s2.LatLngFromDegrees(x[i], x[i+1])) }
	return s2.PointArea(p(0), p(2), p(4)) * radius * radius
}

// GirardArea is the same by angles.
//
//corpus:at 10 5 40 15 20 50
func GirardArea(x []float64) float64 {
	p := func(i int) s2.Point { return s2.PointFromLatLng(s2.LatLngFromDegrees(x[i], x[i+1])) }
	return s2.GirardArea(p(0), p(2), p(4))
}

// TrackLength is the length of a polyline.
//
//corpus:at 48.1 11.5 49.4 12.6 51.3 12.4 52.5 13.4
func TrackLength(x []float64) float64 {
	var lls []s2.LatLng
	for i := 0; i+1 < len(x); i += 2 {
		lls = append(lls, s2.LatLngFromDegrees(x[i], x[i+1]))
	}
	return s2.PolylineFromLatLngs(lls).Length().Radians() * radius
}

// CrossTrack is the distance of a place from a segment.
//
//corpus:at 50 12 48.1 11.5 52.5 13.4
func CrossTrack(x []float64) float64 {
	p := func(i int) s2.Point { return s2.PointFromLatLng(s2.LatLngFromDegrees(x[i], x[i+1])) }
	return s2.DistanceFromSegment(p(0), p(2), p(4)).Radians() * radius
}

// Midway is the latitude of a point between two places.
//
//corpus:at 0.4 48.1 11.5
func Midway(t, lat, lng float64) (float64, float64) {
	a := s2.PointFromLatLng(s2.LatLngFromDegrees(lat, lng))
	b := s2.PointFromLatLng(s2.LatLngFromDegrees(40.7, -74))
	ll := s2.LatLngFromPoint(s2.Interpolate(t, a, b))
	return ll.Lat.Degrees(), ll.Lng.Degrees()
}

// LoopArea is the area of a polygon on the sphere.
//
//corpus:at 10 5 20 25 40 20 30 2
func LoopArea(x []float64) float64 {
	var points []s2.Point
	for i := 0; i+1 < len(x); i += 2 {
		points = append(points, s2.PointFromLatLng(s2.LatLngFromDegrees(x[i], x[i+1])))
	}
	return s2.LoopFromPoints(points).Area()
}

// Turn is the angle at the middle one of three places.
//
//corpus:at 10 5 20 25 40 20
func Turn(x []float64) float64 {
	p := func(i int) s2.Point { return s2.PointFromLatLng(s2.LatLngFromDegrees(x[i], x[i+1])) }
	return s2.TurnAngle(p(0), p(2), p(4)).Degrees()
}

// Rotated turns a point about an axis.
//
//corpus:at 0.5 0.2 0.1 0.9
func Rotated(x []float64) float64 {
	axis := s2.PointFromCoords(x[1], x[2], x[3])
	q := s2.Rotate(s2.PointFromCoords(1, 0.5, 0.2), axis, s1.Angle(x[0]))
	return q.X + 2*q.Y
}

// Vector computes with vectors of r3.
//
//corpus:at 1 0.2 -0.3 0.4 2 0.1
func Vector(x []float64) float64 {
	a, b := r3.Vector{X: x[0], Y: x[1], Z: x[2]}, r3.Vector{X: x[3], Y: x[4], Z: x[5]}
	return a.Cross(b).Norm() * math.Cos(a.Angle(b).Radians()) / a.Distance(b)
}

// Box is the area of the rectangle around points, and the length of an interval.
//
//corpus:at 1 0.2 -0.3 0.4 2 0.1
func Box(x []float64) float64 {
	rect := r2.EmptyRect()
	for i := 0; i+1 < len(x); i += 2 {
		rect = rect.AddPoint(r2.Point{X: x[i], Y: x[i+1]})
	}
	size := rect.Size()
	return size.X*size.Y + r1.Interval{Lo: x[0], Hi: x[4]}.Length()
}

// ChordAngle is an angle by the length of its chord.
//
//corpus:at 0.7
func ChordAngle(a float64) float64 {
	c := s1.ChordAngleFromAngle(s1.Angle(a))
	return c.Sin() + c.Tan() + float64(c.Add(s1.ChordAngleFromAngle(0.3)).Angle())
}

// Mercator projects a place.
//
//corpus:at 48.1 11.5
func Mercator(lat, lng float64) (x, y float64) {
	proj := s2.NewMercatorProjection(math.Pi)
	p := proj.FromLatLng(s2.LatLngFromDegrees(lat, lng))
	return p.X, p.Y
}
