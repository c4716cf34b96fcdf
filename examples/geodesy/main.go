// Geodesy locates an earthquake by the method of Geiger (1912): from the arrival times of its first waves at stations,
// by least squares. The places are those of the module golang/geo, whose code is differentiated as it is.
//
// The stations are cities around the Ligurian Sea. The arrival times are made, with waves of 6 km/s along straight
// lines, errors of 0.1 s, and a fixed seed, so that the answer is known.
package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/golang/geo/s1"
	"github.com/golang/geo/s2"
	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/examples/internal/show"
	"github.com/nabla-ad/nabla/optim"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot/plotter"
)

//go:generate go tool nabla gen

const (
	radius   = 6371.0 // of the earth, in km
	velocity = 6.0    // km/s
	sigma    = 0.1    // of an arrival time, in s
)

var names = []string{"Nice", "Turin", "Milan", "Genoa", "Pisa", "Florence", "Bastia", "Ajaccio", "Toulon", "Parma",
	"Imperia", "Savona", "Albenga"}

var stations = []s2.LatLng{place(43.70, 7.27), place(45.07, 7.69), place(45.46, 9.19), place(44.41, 8.93),
	place(43.72, 10.40), place(43.77, 11.26), place(42.70, 9.45), place(41.93, 8.74), place(43.12, 5.93),
	place(44.80, 10.33), place(43.89, 8.04), place(44.31, 8.48), place(44.05, 8.21)}

func place(lat, lng float64) s2.LatLng { return s2.LatLngFromDegrees(lat, lng) }

// truth is the latitude and longitude in degrees, the depth in km and the time in s.
var truth = []float64{43.9, 8.4, 20, 3}

// Waves are the arrival times of the first waves.
type Waves struct{ Arrival []float64 }

// Travel is the time of the waves from the place at a latitude, longitude and depth to a station.
func Travel(p []float64, to s2.LatLng) float64 {
	at := s2.LatLng{Lat: s1.Angle(p[0]) * s1.Degree, Lng: s1.Angle(p[1]) * s1.Degree}
	focus := s2.PointFromLatLng(at).Mul(radius - p[2])
	return focus.Distance(s2.PointFromLatLng(to).Mul(radius)) / velocity
}

// Late is how much later the waves have arrived than they would from p, in standard deviations.
func Late(p []float64, w *Waves) []float64 {
	r := make([]float64, len(stations))
	for i, s := range stations {
		r[i] = (w.Arrival[i] - p[3] - Travel(p, s)) / sigma
	}
	return r
}

// waves returns arrival times with errors.
func waves(r *rand.Rand) *Waves {
	w := new(Waves)
	for _, s := range stations {
		w.Arrival = append(w.Arrival, truth[3]+Travel(truth, s)+sigma*r.NormFloat64())
	}
	return w
}

// locate returns the place and time of the waves, from the middle of the stations.
func locate(w *Waves, b nabla.Backend) (*optim.LeastSquaresResult, error) {
	return optim.LeastSquares(nabla.Bind(Late, w), b, []float64{43.9, 8.9, 10, 0},
		&optim.LeastSquaresSettings{Covariance: true})
}

var example = show.Example{Run: run, Solve: func(b nabla.Backend) (show.Solution, error) {
	var s show.Solution
	r := rand.New(rand.NewPCG(1912, 1))
	for range 100 {
		res, err := locate(waves(r), b)
		if err != nil {
			return s, err
		}
		s.X, s.Calls = append(s.X, res.X...), s.Calls+res.Jacobians
	}
	return s, nil
}}

func main() { example.Main() }

// kilometres returns the length of a degree of latitude and of longitude at the truth.
func kilometres() (north, east float64) {
	degree := radius * math.Pi / 180
	return degree, degree * math.Cos(truth[0]*math.Pi/180)
}

// ellipse returns the axes in km, and the azimuth of the longer one, of the ellipse with which 95 of 100 places agree.
func ellipse(cov mat.Symmetric) (long, short, azimuth float64) {
	north, east := kilometres()
	c := mat.NewSymDense(2, []float64{cov.At(0, 0) * north * north, cov.At(0, 1) * north * east,
		cov.At(0, 1) * north * east, cov.At(1, 1) * east * east})
	var e mat.EigenSym
	e.Factorize(c, true)
	var v mat.Dense
	e.VectorsTo(&v)
	const quantile = 5.991464547107979 // of χ² with two degrees of freedom
	values := e.Values(nil)
	azimuth = math.Mod(math.Atan2(v.At(1, 1), v.At(0, 1))+math.Pi, math.Pi)
	return math.Sqrt(quantile * values[1]), math.Sqrt(quantile * values[0]), azimuth
}

func run(w io.Writer, picture string) error {
	r := rand.New(rand.NewPCG(1912, 1))
	res, err := locate(waves(r), nil)
	if err != nil {
		return err
	}
	cov := res.Covariance
	fmt.Fprintf(w, "after %d Jacobians: χ² %.2f with %d degrees of freedom\n\n", res.Jacobians, 2*res.Cost,
		len(stations)-4)
	fmt.Fprintln(w, "            estimate   ± standard error     truth")
	for i, name := range []string{"latitude °", "longitude °", "depth km", "time s"} {
		fmt.Fprintf(w, "%-11s %8.3f   ± %.3f %17.3f\n", name, res.X[i], math.Sqrt(cov.At(i, i)), truth[i])
	}
	long, short, azimuth := ellipse(cov)
	fmt.Fprintf(w, "\n95 %% ellipse: half-axes %.2f and %.2f km, the longer one at azimuth %.0f°\n", long, short,
		azimuth*180/math.Pi)
	others, inside := plotter.XYs{}, 0
	north, east := kilometres()
	for range 400 {
		o, err := locate(waves(r), nil)
		if err != nil {
			return err
		}
		dn, de := (o.X[0]-truth[0])*north, (o.X[1]-truth[1])*east
		others = append(others, plotter.XY{X: de, Y: dn})
		s, c := math.Sincos(azimuth)
		if math.Hypot((dn*c+de*s)/long, (de*c-dn*s)/short) <= 1 {
			inside++
		}
	}
	fmt.Fprintf(w, "of 400 other sets of arrival times, %d give places in such an ellipse around the truth\n", inside)
	return draw(others, long, short, azimuth, picture)
}

// draw draws a map of the stations and, beside it, the places of many sets of arrival times around the truth.
func draw(others plotter.XYs, long, short, azimuth float64, picture string) error {
	north, east := kilometres()
	chart := show.New("Stations and the earthquake", "km east", "km north")
	var at plotter.XYs
	for _, s := range stations {
		at = append(at, plotter.XY{X: (s.Lng.Degrees() - truth[1]) * east, Y: (s.Lat.Degrees() - truth[0]) * north})
	}
	chart.Points("", at, show.Blue, 3.5)
	chart.Points("", plotter.XYs{{}}, show.Red, 4.5)
	chart.Label(names, at)
	near := show.New("400 places, and the ellipse of 95 %", "km east", "km north")
	near.Points("", others, show.Gray, 1.2)
	var ring plotter.XYs
	for i := range 181 {
		s, c := math.Sincos(float64(i) * math.Pi / 90)
		sa, ca := math.Sincos(azimuth)
		ring = append(ring, plotter.XY{X: long*c*sa + short*s*ca, Y: long*c*ca - short*s*sa})
	}
	near.Line("", ring, show.Blue, 2)
	near.Points("", plotter.XYs{{}}, show.Red, 3)
	return show.SaveGrid(picture, 2, chart, near)
}
