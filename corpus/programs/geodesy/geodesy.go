// Package geodesy has programs about the earth: distances, projections and surveys.
package geodesy

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

const (
	a  = 6378137.0
	f  = 1 / 298.257223563
	b  = a * (1 - f)
	e2 = f * (2 - f)
)

func rad(deg float64) float64 { return deg * math.Pi / 180 }
func deg(rad float64) float64 { return rad * 180 / math.Pi }

var errConvergence = errors.New("no convergence")

// Vincenty is the distance on the ellipsoid, by Vincenty's iteration.
//
//corpus:at 48.1 11.5 52.5 13.4
func Vincenty(lat1, lon1, lat2, lon2 float64) (float64, error) {
	u1, u2 := math.Atan((1-f)*math.Tan(rad(lat1))), math.Atan((1-f)*math.Tan(rad(lat2)))
	l := rad(lon2 - lon1)
	lambda := l
	su1, cu1 := math.Sincos(u1)
	su2, cu2 := math.Sincos(u2)
	for i := 0; i < 100; i++ {
		sl, cl := math.Sincos(lambda)
		ss := math.Hypot(cu2*sl, cu1*su2-su1*cu2*cl)
		if ss == 0 {
			return 0, nil
		}
		cs := su1*su2 + cu1*cu2*cl
		sigma := math.Atan2(ss, cs)
		sa := cu1 * cu2 * sl / ss
		c2a := 1 - sa*sa
		c2sm := cs - 2*su1*su2/c2a
		c := f / 16 * c2a * (4 + f*(4-3*c2a))
		last := lambda
		lambda = l + (1-c)*f*sa*(sigma+c*ss*(c2sm+c*cs*(-1+2*c2sm*c2sm)))
		if math.Abs(lambda-last) > 1e-15 {
			continue
		}
		uu := c2a * (a*a - b*b) / (b * b)
		ka := 1 + uu/16384*(4096+uu*(-768+uu*(320-175*uu)))
		kb := uu / 1024 * (256 + uu*(-128+uu*(74-47*uu)))
		ds := kb * ss * (c2sm + kb/4*(cs*(-1+2*c2sm*c2sm)-kb/6*c2sm*(-3+4*ss*ss)*(-3+4*c2sm*c2sm)))
		return b * ka * (sigma - ds), nil
	}
	return 0, errConvergence
}

// Geocentric converts latitude, longitude and height.
//
//corpus:at 48.1 11.5 500
func Geocentric(lat, lon, h float64) [3]float64 {
	s, c := math.Sincos(rad(lat))
	n := a / math.Sqrt(1-e2*s*s)
	return [3]float64{(n + h) * c * math.Cos(rad(lon)), (n + h) * c * math.Sin(rad(lon)), (n*(1-e2) + h) * s}
}

// Geodetic converts back, by Bowring's method and iteration.
//
//corpus:at 4180000 850000 4725000
func Geodetic(x, y, z float64) (lat, lon, h float64) {
	p := math.Hypot(x, y)
	lat = math.Atan2(z, p*(1-e2))
	for i := 0; i < 6; i++ {
		s := math.Sin(lat)
		n := a / math.Sqrt(1-e2*s*s)
		h = p/math.Cos(lat) - n
		lat = math.Atan2(z, p*(1-e2*n/(n+h)))
	}
	return deg(lat), deg(math.Atan2(y, x)), h
}

// A Projection maps the sphere to the plane.
type Projection func(lat, lon float64) (x, y float64)

// Projections are known by name.
var Projections = map[string]Projection{
	"mercator": func(lat, lon float64) (x, y float64) {
		return lon, math.Log(math.Tan(math.Pi/4 + lat/2))
	},
	"sinusoidal": func(lat, lon float64) (x, y float64) {
		return lon * math.Cos(lat), lat
	},
}

// Projected projects a place by a projection from the table.
//
//corpus:at 48.1 11.5
func Projected(lat, lon float64) (x, y float64, err error) {
	p, ok := Projections["mercator"]
	if !ok {
		return 0, 0, fmt.Errorf("unknown projection")
	}
	x, y = p(rad(lat), rad(lon))
	return
}

// Lambert makes a conformal conic projection as a closure.
func Lambert(lat1, lat2, lat0, lon0 float64) Projection {
	t := func(lat float64) float64 { return math.Tan(math.Pi/4 + lat/2) }
	n := math.Log(math.Cos(lat1)/math.Cos(lat2)) / math.Log(t(lat2)/t(lat1))
	k := math.Cos(lat1) * math.Pow(t(lat1), n) / n
	rho0 := k / math.Pow(t(lat0), n)
	return func(lat, lon float64) (x, y float64) {
		rho := k / math.Pow(t(lat), n)
		s, c := math.Sincos(n * (lon - lon0))
		return rho * s, rho0 - rho*c
	}
}

// Conic is a place in a conic projection.
//
//corpus:at 48.1 11.5
func Conic(lat, lon float64) (x, y float64) {
	p := Lambert(rad(46), rad(49), rad(47.5), rad(13.33))
	x, y = p(rad(lat), rad(lon))
	return x * a, y * a
}

// Meridian is the length of a meridian arc by a series with coefficients in a table.
//
//corpus:at 48.1
func Meridian(lat float64) float64 {
	const n = f / (2 - f)
	coefficients := [...]float64{1 + n*n/4 + n*n*n*n/64, -1.5 * (n - n*n*n/8), 15. / 16 * (n*n - n*n*n*n/4),
		-35. / 48 * n * n * n, 315. / 512 * n * n * n * n}
	phi := rad(lat)
	s := coefficients[0] * phi
	for k, c := range coefficients[1:] {
		s += c * math.Sin(2*float64(k+1)*phi)
	}
	return a / (1 + n) * s
}

// Area is the area of a polygon on a sphere by excess.
//
//corpus:at 48 11 48.1 12 49 12.2 49.2 11.1
func Area(x []float64) float64 {
	type place struct{ lat, lon float64 }
	var ring []place
	for i := 0; i < len(x); i += 2 {
		ring = append(ring, place{rad(x[i]), rad(x[i+1])})
	}
	sum := 0.0
	for i, p := range ring {
		q := ring[(i+1)%len(ring)]
		sum += (q.lon - p.lon) * (2 + math.Sin(p.lat) + math.Sin(q.lat))
	}
	return math.Abs(sum) * 6371 * 6371 / 2
}

// Parse sums degrees that were written as text, with a correction.
//
//corpus:at 0.25
func Parse(correction float64) (float64, error) {
	total := 0.0
	for _, word := range strings.Split("48:08:10,11:34:30", ",") {
		angle, unit := 0.0, 1.0
		for _, part := range strings.Split(word, ":") {
			v, err := strconv.ParseFloat(part, 64)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", word, err)
			}
			angle += v / unit
			unit *= 60
		}
		total += (angle + correction) * (angle + correction)
	}
	return total, nil
}

// Resection is a misfit of distances to known points.
//
//corpus:at 3.2 4.1
func Resection(x, y float64) float64 {
	points := map[string][2]float64{"church": {0, 0}, "tower": {10, 1}, "hill": {4, 9}}
	measured := map[string]float64{"church": 5.2, "tower": 7.5, "hill": 5}
	sum := 0.0
	for _, name := range []string{"church", "tower", "hill"} {
		p := points[name]
		d := math.Hypot(x-p[0], y-p[1]) - measured[name]
		sum += d * d
	}
	return sum
}

// Levelling is the closure error of a loop, by pointers in a list.
//
//corpus:at 1.2 -0.7 0.3
func Levelling(dh []float64) float64 {
	type leg struct {
		rise float64
		next *leg
	}
	var first *leg
	for _, v := range dh {
		first = &leg{v, first}
	}
	height, sum := 100.0, 0.0
	for l := first; l != nil; l = l.next {
		height += l.rise
		sum += height * height
	}
	return math.Sqrt(sum / float64(len(dh)))
}
