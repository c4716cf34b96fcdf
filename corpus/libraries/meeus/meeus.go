// Package meeus has functions that use github.com/soniakeys/meeus: astronomical algorithms.
package meeus

import (
	"math"

	"github.com/soniakeys/meeus/v3/angle"
	"github.com/soniakeys/meeus/v3/coord"
	"github.com/soniakeys/meeus/v3/fit"
	"github.com/soniakeys/meeus/v3/globe"
	"github.com/soniakeys/meeus/v3/illum"
	"github.com/soniakeys/meeus/v3/interp"
	"github.com/soniakeys/meeus/v3/iterate"
	"github.com/soniakeys/meeus/v3/julian"
	"github.com/soniakeys/meeus/v3/kepler"
	"github.com/soniakeys/meeus/v3/moonposition"
	"github.com/soniakeys/meeus/v3/nutation"
	"github.com/soniakeys/meeus/v3/precess"
	"github.com/soniakeys/meeus/v3/refraction"
	"github.com/soniakeys/meeus/v3/sidereal"
	"github.com/soniakeys/meeus/v3/solar"
	"github.com/soniakeys/meeus/v3/stellar"
	"github.com/soniakeys/unit"
)

// Separation is the angle between two stars.
//
//corpus:at 3.73 0.33 3.51 -0.19
func Separation(x []float64) float64 {
	return angle.Sep(unit.Angle(x[0]), unit.Angle(x[1]), unit.Angle(x[2]), unit.Angle(x[3])).Deg()
}

// Ecliptic converts coordinates of a star.
//
//corpus:at 2.03 0.49 0.409
func Ecliptic(ra, dec, obliquity float64) (lon, lat float64) {
	sin, cos := math.Sincos(obliquity)
	l, b := coord.EqToEcl(unit.RA(ra), unit.Angle(dec), sin, cos)
	return l.Rad(), b.Rad()
}

// Anomaly solves Kepler's equation.
//
//corpus:at 0.1 0.9
func Anomaly(e, m float64) (float64, error) {
	ecc, err := kepler.Kepler2b(e, unit.Angle(m), 14)
	return ecc.Rad(), err
}

// Radius is a distance of a planet from the sun, by the bisection of the same package.
//
//corpus:at 0.1 0.9
func Radius(e, m float64) float64 {
	ecc := kepler.Kepler4(e, unit.Angle(m))
	return kepler.Radius(ecc, e, 1.5) + kepler.True(ecc, e).Rad()
}

// SunLongitude is the apparent longitude of the sun.
//
//corpus:at -0.072183436
func SunLongitude(t float64) float64 { return solar.ApparentLongitude(t).Rad() }

// SunRadius is the distance of the sun.
//
//corpus:at -0.072183436
func SunRadius(t float64) float64 { return solar.Radius(t) * 1e3 }

// Obliquity is the obliquity of the ecliptic with nutation.
//
//corpus:at 2446895.5
//corpus:tolerance 1e-4
func Obliquity(jde float64) float64 {
	_, eps := nutation.Nutation(jde)
	return (nutation.MeanObliquity(jde) + eps).Sec()
}

// Moon is the distance of the moon.
//
//corpus:at 2448724.5
//corpus:tolerance 1e-4
func Moon(jde float64) float64 {
	_, _, d := moonposition.Position(jde)
	return d
}

// Sidereal is the sidereal time.
//
//corpus:at 2446895.5
//corpus:tolerance 1e-4
func Sidereal(jd float64) float64 { return math.Sin(sidereal.Mean(jd).Rad()) }

// Extremum is the place of the extremum of three values.
//
//corpus:at 1.3814294 1.3812213 1.3812453
func Extremum(y []float64) (x, value float64, err error) {
	d, err := interp.NewLen3(12, 20, y)
	if err != nil {
		return 0, 0, err
	}
	return d.Extremum()
}

// Lagrange is a polynomial through points.
//
//corpus:at 1.2 0.7 2.2 1.9
func Lagrange(y []float64) float64 {
	var table []struct{ X, Y float64 }
	for i, v := range y {
		table = append(table, struct{ X, Y float64 }{float64(i * i), v})
	}
	return interp.Lagrange(3.3, table)
}

// Parabola fits a parabola.
//
//corpus:at 1.2 0.7 2.2 1.9 4.1
func Parabola(y []float64) (a, b, c float64) {
	p := make([]struct{ X, Y float64 }, len(y))
	for i, v := range y {
		p[i].X, p[i].Y = float64(i), v
	}
	return fit.Quadratic(p)
}

// Harmonic fits a sum of functions.
//
//corpus:at 1.2 0.7 2.2 1.9 4.1
func Harmonic(y []float64) float64 {
	p := make([]struct{ X, Y float64 }, len(y))
	for i, v := range y {
		p[i].X, p[i].Y = float64(i), v
	}
	a, b, c := fit.Func3(p, math.Sin, math.Cos, func(x float64) float64 { return x })
	return a*a + b*b + c
}

// Parallax is a term of the parallax at a place.
//
//corpus:at 0.58 1706
func Parallax(lat, height float64) (s, c float64) {
	return globe.Earth76.ParallaxConstants(unit.Angle(lat), height)
}

// EarthDistance is the distance of two places.
//
//corpus:at 0.85 0.04 0.68 -1.34
func EarthDistance(x []float64) float64 {
	a := globe.Coord{Lat: unit.Angle(x[0]), Lon: unit.Angle(x[1])}
	b := globe.Coord{Lat: unit.Angle(x[2]), Lon: unit.Angle(x[3])}
	return globe.Earth76.Distance(a, b)
}

// Root finds a root with full precision.
//
//corpus:at 1.7
func Root(a float64) (float64, error) {
	return iterate.FullPrecision(func(x float64) float64 { return (x + a/x) / 2 }, 1, 50)
}

// Refraction is the refraction at an altitude.
//
//corpus:at 0.2
func Refraction(h float64) float64 { return refraction.Bennett2(unit.Angle(h)).Sec() }

// Phase is the illuminated part of a planet.
//
//corpus:at 0.724 0.91 0.98
func Phase(r, delta, bigR float64) float64 {
	return illum.Fraction(r, delta, bigR) + illum.PhaseAngle(r, delta, bigR).Rad()
}

// Magnitude adds magnitudes of stars.
//
//corpus:at 4.73 5.22 5.6
func Magnitude(m []float64) float64 { return stellar.SumN(m...) }

// Precessed is the declination of a star at another epoch.
//
//corpus:at 0.72 0.86
func Precessed(ra, dec float64) float64 {
	from := &coord.Equatorial{RA: unit.RA(ra), Dec: unit.Angle(dec)}
	to := &coord.Equatorial{}
	precess.NewPrecessor(2000, 2028.9).Precess(from, to)
	return to.Dec.Rad() + 2*to.RA.Rad()
}

// Day is a Julian day of a fraction of a day.
//
//corpus:at 4.81
func Day(d float64) float64 { return (julian.CalendarGregorianToJD(1957, 10, d) - 2436116) * 3 }
