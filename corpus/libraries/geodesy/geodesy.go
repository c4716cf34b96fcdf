// Package geodesy has functions that use github.com/tidwall/geodesic, github.com/StefanSchroeder/Golang-Ellipsoid,
// github.com/umahmood/haversine and github.com/wroge/wgs84.
package geodesy

import (
	"github.com/StefanSchroeder/Golang-Ellipsoid/ellipsoid"
	"github.com/tidwall/geodesic"
	"github.com/umahmood/haversine"
	"github.com/wroge/wgs84"
)

// Geodesic is the length of a geodesic and its direction.
//
//corpus:at 48.1 11.5 52.5 13.4
func Geodesic(x []float64) (distance, azimuth float64) {
	var s12, azi1 float64
	geodesic.WGS84.Inverse(x[0], x[1], x[2], x[3], &s12, &azi1, nil)
	return s12, azi1
}

// Sailed is the place at the end of a course.
//
//corpus:at 30 200000
func Sailed(course, distance float64) (lat, lon float64) {
	geodesic.WGS84.Direct(48.1, 11.5, course, distance, &lat, &lon, nil)
	return lat, lon
}

// Field is the area of a polygon on the ellipsoid, in square kilometres.
//
//corpus:at 48 11 48.1 12 49 12.2 49.2 11.1
func Field(x []float64) float64 {
	p := geodesic.WGS84.PolygonInit(false)
	for i := 0; i+1 < len(x); i += 2 {
		p.AddPoint(x[i], x[i+1])
	}
	var area, perimeter float64
	p.Compute(false, true, &area, &perimeter)
	return area / 1e6
}

// OnSphere is the distance on a sphere.
//
//corpus:at 48.1 11.5 52.5 13.4
func OnSphere(x []float64) float64 {
	var s float64
	geodesic.NewSpherical(6371000).Inverse(x[0], x[1], x[2], x[3], &s, nil, nil)
	return s
}

// Vincenty is the distance and bearing on an ellipsoid.
//
//corpus:at 48.1 11.5 52.5 13.4
func Vincenty(x []float64) (distance, bearing float64) {
	e := ellipsoid.Init("WGS84", ellipsoid.Degrees, ellipsoid.Meter, ellipsoid.LongitudeIsSymmetric,
		ellipsoid.BearingIsSymmetric)
	return e.To(x[0], x[1], x[2], x[3])
}

var earth = ellipsoid.Init("WGS84", ellipsoid.Degrees, ellipsoid.Kilometer, ellipsoid.LongitudeIsSymmetric,
	ellipsoid.BearingIsSymmetric)

// Target is the place at a distance and bearing.
//
//corpus:at 48.1 11.5 150 70
func Target(x []float64) (lat, lon float64) { return earth.At(x[0], x[1], x[2], x[3]) }

// Kilometres is the distance by the haversine formula.
//
//corpus:at 48.1 11.5 52.5 13.4
func Kilometres(x []float64) float64 {
	_, km := haversine.Distance(haversine.Coord{Lat: x[0], Lon: x[1]}, haversine.Coord{Lat: x[2], Lon: x[3]})
	return km
}

// Grid converts a place to UTM.
//
//corpus:at 11.5 48.1 500
func Grid(lon, lat, h float64) (east, north, height float64) {
	return wgs84.LonLat().To(wgs84.UTM(32, true))(lon, lat, h)
}

// Centred converts a place to geocentric coordinates.
//
//corpus:at 11.5 48.1 500
func Centred(lon, lat, h float64) (x, y, z float64) { return wgs84.LonLat().ToWGS84(lon, lat, h) }

// Web converts a place to the coordinates of web maps.
//
//corpus:at 11.5 48.1
func Web(lon, lat float64) (float64, float64) {
	x, y, z := wgs84.LonLat().ToWGS84(lon, lat, 0)
	east, north, _ := wgs84.WebMercator().FromWGS84(x, y, z)
	return east, north
}
