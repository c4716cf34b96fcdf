// Package satellite has functions that use github.com/joshuaferrara/go-satellite: orbits of satellites as seen from the
// ground.
package satellite

import satellite "github.com/joshuaferrara/go-satellite"

// LookAngles returns the direction in which a satellite is seen.
//
//corpus:at 4400 -3200 4100 0.84 0.2
func LookAngles(x []float64) (az, el, rg float64) {
	sat := satellite.Vector3{X: x[0], Y: x[1], Z: x[2]}
	site := satellite.LatLong{Latitude: x[3], Longitude: x[4]}
	look := satellite.ECIToLookAngles(sat, site, 0.4, 2459000.3)
	return look.Az, look.El, look.Rg
}

// SubPoint returns the place below a satellite.
//
//corpus:at 4400 -3200 4100
func SubPoint(x, y, z float64) (altitude, lat, lon float64) {
	alt, _, ll := satellite.ECIToLLA(satellite.Vector3{X: x, Y: y, Z: z}, 1.2)
	return alt, ll.Latitude, ll.Longitude
}

// EarthFixed turns a position with the earth.
//
//corpus:at 4400 -3200 4100 1.2
func EarthFixed(x []float64) float64 {
	v := satellite.ECIToECEF(satellite.Vector3{X: x[0], Y: x[1], Z: x[2]}, x[3])
	return v.X + 2*v.Y + 3*v.Z
}

// Station is a position of a ground station in inertial coordinates.
//
//corpus:at 0.84 0.2 0.5
func Station(lat, lon, alt float64) (x, y, z float64) {
	p := satellite.LLAToECI(satellite.LatLong{Latitude: lat, Longitude: lon}, alt, 2459000.3)
	return p.X, p.Y, p.Z
}

// Visible is the elevation of a propagated satellite from a place.
//
//corpus:at 0.84 0.2
func Visible(lat, lon float64) float64 {
	sat := satellite.TLEToSat(
		"1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927",
		"2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537", satellite.GravityWGS72)
	pos, _ := satellite.Propagate(sat, 2008, 9, 20, 12, 30, 0)
	look := satellite.ECIToLookAngles(pos, satellite.LatLong{Latitude: lat, Longitude: lon}, 0, 2454730.02)
	return look.El
}
