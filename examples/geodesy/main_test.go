package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/examples/internal/showtest"
	"github.com/nabla-ad/nabla/optim"
)

func TestRun(t *testing.T) { showtest.Run(t, example) }

// TestTravel compares the derivatives of a travel time with the formula of spherical trigonometry: with the distance d
// between focus and station, ∂d/∂depth = -(r - R·cos Δ)/d for the focus at distance r from the centre.
func TestTravel(t *testing.T) {
	const degree = math.Pi / 180
	for _, s := range stations {
		lat, lng := truth[0]*math.Pi/180, truth[1]*math.Pi/180
		la, lo := s.Lat.Radians(), s.Lng.Radians()
		cos := math.Sin(lat)*math.Sin(la) + math.Cos(lat)*math.Cos(la)*math.Cos(lng-lo)
		r := radius - truth[2]
		d := math.Sqrt(r*r + radius*radius - 2*r*radius*cos)
		want := []float64{
			-r * radius * (math.Cos(lat)*math.Sin(la) - math.Sin(lat)*math.Cos(la)*math.Cos(lng-lo)) / d * degree,
			r * radius * math.Cos(lat) * math.Cos(la) * math.Sin(lng-lo) / d * degree,
			-(r - radius*cos) / d, velocity}
		for i := range want {
			want[i] /= -velocity * sigma
		}
		w := &Waves{Arrival: make([]float64, len(stations))}
		j, err := nabla.Jacobian(nabla.Bind(Late, w), nil, truth)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for i := range stations {
			same := stations[i] == s
			for k := range want {
				same = same && math.Abs(j.At(i, k)-want[k]) <= 1e-9*(1+math.Abs(want[k]))
			}
			found = found || same
		}
		if !found {
			t.Errorf("station at %v: want %v", s, want)
		}
	}
}

// TestLocate: the places of many sets of arrival times scatter around the truth as their standard errors say.
func TestLocate(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	showtest.Scatter(t, 400, truth[:], func() (*optim.LeastSquaresResult, error) { return locate(waves(r), nil) })
}
