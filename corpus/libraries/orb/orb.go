// Package orb has functions that use github.com/paulmach/orb: lengths, areas, distances and projections.
package orb

import (
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
	"github.com/paulmach/orb/planar"
	"github.com/paulmach/orb/project"
	"github.com/paulmach/orb/simplify"
)

func ring(x []float64) orb.Ring {
	var r orb.Ring
	for i := 0; i+1 < len(x); i += 2 {
		r = append(r, orb.Point{x[i], x[i+1]})
	}
	return append(r, r[0])
}

func line(x []float64) orb.LineString {
	ls := make(orb.LineString, 0, len(x)/2)
	for i := 0; i+1 < len(x); i += 2 {
		ls = append(ls, orb.Point{x[i], x[i+1]})
	}
	return ls
}

// Distance is the distance of places in metres.
//
//corpus:at 11.5 48.1 13.4 52.5
func Distance(x []float64) float64 {
	return geo.Distance(orb.Point{x[0], x[1]}, orb.Point{x[2], x[3]})
}

// Haversine is the same on a sphere.
//
//corpus:at 11.5 48.1 13.4 52.5
func Haversine(x []float64) float64 {
	return geo.DistanceHaversine(orb.Point{x[0], x[1]}, orb.Point{x[2], x[3]}) / 1000
}

// Bearing is the direction to a place.
//
//corpus:at 11.5 48.1 13.4 52.5
func Bearing(x []float64) float64 {
	return geo.Bearing(orb.Point{x[0], x[1]}, orb.Point{x[2], x[3]})
}

// Destination is the place at the end of a way.
//
//corpus:at 30 200000
func Destination(bearing, distance float64) (lon, lat float64) {
	p := geo.PointAtBearingAndDistance(orb.Point{11.5, 48.1}, bearing, distance)
	return p.Lon(), p.Lat()
}

// PlanarArea is the area of a polygon with a hole.
//
//corpus:at 0 0.1 4 0 5 3 1 4
func PlanarArea(x []float64) float64 {
	hole := orb.Ring{{1, 1}, {1, 2}, {2, 2}, {2, 1}, {1, 1}}
	return planar.Area(orb.Polygon{ring(x), hole})
}

// RingArea is the area of a ring, by its own method of a package.
//
//corpus:at 0 0.1 4 0 5 3 1 4
func RingArea(x []float64) float64 {
	c, area := planar.CentroidArea(ring(x))
	return area * (c[0] + 2*c[1])
}

// GeoArea is the area of a polygon in square metres.
//
//corpus:at 11 48 12 48.1 12.2 49 11.1 49.2
func GeoArea(x []float64) float64 { return geo.Area(orb.Polygon{ring(x)}) / 1e6 }

// SignedArea is the area of a ring in square metres.
//
//corpus:at 11 48 12 48.1 12.2 49 11.1 49.2
func SignedArea(x []float64) float64 { return geo.SignedArea(ring(x)) / 1e6 }

// PathLength is the length of a line.
//
//corpus:at 0 0.1 4 0 5 3 1 4
func PathLength(x []float64) float64 { return planar.Length(line(x)) }

// FromSegment is the distance of a point from a segment.
//
//corpus:at 0.5 2 -1 0.3 2 0.8
func FromSegment(x []float64) float64 {
	return planar.DistanceFromSegment(orb.Point{x[2], x[3]}, orb.Point{x[4], x[5]}, orb.Point{x[0], x[1]})
}

// FromGeometry is the distance of a point from a line.
//
//corpus:at 0.5 2
func FromGeometry(x []float64) float64 {
	return planar.DistanceFrom(orb.LineString{{0, 0}, {1, 0.5}, {3, 0.2}}, orb.Point{x[0], x[1]})
}

// Mercator projects a place and returns the scale there.
//
//corpus:at 11.5 48.1
func Mercator(lon, lat float64) (x, y, scale float64) {
	p := project.Point(orb.Point{lon, lat}, project.WGS84.ToMercator)
	return p[0], p[1], project.MercatorScaleFactor(orb.Point{lon, lat})
}

// Bounds is the size of the bound around a line, with a margin.
//
//corpus:at 0 0.1 4 0 5 3 1 4
func Bounds(x []float64) float64 {
	b := line(x).Bound().Pad(0.5)
	return (b.Max[0] - b.Min[0]) * (b.Max[1] - b.Min[1])
}

// Along is the length of a simplified line.
//
//corpus:at 0 0.1 4 0 5 3 1 4
func Along(x []float64) float64 {
	ls := simplify.DouglasPeucker(0.01).LineString(line(x))
	sum := 0.0
	for i := 1; i < len(ls); i++ {
		sum += math.Hypot(ls[i][0]-ls[i-1][0], ls[i][1]-ls[i-1][1])
	}
	return sum
}
