// Package noise has functions that use github.com/aquilax/go-perlin and github.com/ojrac/opensimplex-go: landscapes of
// noise.
package noise

import (
	"math"

	"github.com/aquilax/go-perlin"
	"github.com/ojrac/opensimplex-go"
)

var (
	hills   = perlin.NewPerlin(2, 2, 3, 100)
	simplex = opensimplex.New(7)
)

// Height is the height of a landscape.
//
//corpus:at 0.37 1.41
func Height(x, y float64) float64 { return 10 + 3*hills.Noise2D(x, y) }

// Clouds is noise in space that drifts.
//
//corpus:at 0.37 1.41 0.83
func Clouds(x, y, t float64) float64 { return math.Abs(hills.Noise3D(x+0.1*t, y, t)) }

// Wave is noise on a line, from a generator of its own.
//
//corpus:at 0.37
func Wave(x float64) float64 {
	p := perlin.NewPerlin(1.5, 2, 2, 42)
	return p.Noise1D(x) + 0.5*p.Noise1D(2*x+0.13)
}

// Terrain adds octaves of simplex noise.
//
//corpus:at 0.37 1.41
func Terrain(x, y float64) float64 {
	h, amplitude := 0.0, 1.0
	for range 4 {
		h += amplitude * simplex.Eval2(x, y)
		x, y, amplitude = 2*x, 2*y, amplitude/2
	}
	return h
}

// Marble is a colour of marble.
//
//corpus:at 0.37 1.41 0.83
func Marble(p []float64) float64 {
	n := opensimplex.NewNormalized(3)
	return 0.5 + 0.5*math.Sin(4*p[0]+3*n.Eval3(p[0], p[1], p[2]))
}
