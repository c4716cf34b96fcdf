// Pde finds the surface of least area over a square whose boundary is given, by Newton's method with sparse Hessians.
//
// The boundary is that of Scherk's surface z = ln(cos y/cos x), which is minimal; the error of the solution falls like
// the square of the spacing.
package main

import (
	"fmt"
	"io"
	"math"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/examples/internal/show"
	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparse/direct"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
)

//go:generate go tool nabla gen

// A Grid has the heights of a surface over the points of a square grid from -1.2 to 1.2, row by row. Those at the
// boundary are given.
type Grid struct {
	Side    int // the number of points in a row
	Heights []float64
}

const half = 1.2 // half of the length of a side of the square

func scherk(x, y float64) float64 { return math.Log(math.Cos(y) / math.Cos(x)) }

func newGrid(side int) *Grid {
	g := &Grid{side, make([]float64, side*side)}
	for k := range g.Heights {
		if i, j := k/side, k%side; i == 0 || j == 0 || i == side-1 || j == side-1 {
			g.Heights[k] = scherk(g.at(j), g.at(i))
		}
	}
	return g
}

func (g *Grid) at(i int) float64 { return half * (2*float64(i)/float64(g.Side-1) - 1) }

// height is that of point (i, j), from z, the heights of the inner points, or from the boundary.
func (g *Grid) height(z []float64, i, j int) float64 {
	if i == 0 || j == 0 || i == g.Side-1 || j == g.Side-1 {
		return g.Heights[i*g.Side+j]
	}
	return z[(i-1)*(g.Side-2)+j-1]
}

// Area is the area of the surface, of two triangles for each square of the grid.
func Area(z []float64, g *Grid) float64 {
	h := 2 * half / float64(g.Side-1)
	sum := 0.0
	for i := range g.Side - 1 {
		for j := range g.Side - 1 {
			a, b := g.height(z, i, j), g.height(z, i, j+1)
			c, d := g.height(z, i+1, j), g.height(z, i+1, j+1)
			sum += math.Sqrt(h*h+(b-a)*(b-a)+(c-a)*(c-a)) + math.Sqrt(h*h+(d-c)*(d-c)+(d-b)*(d-b))
		}
	}
	return sum * h / 2
}

var example = show.Example{Run: run, Solve: func(b nabla.Backend) (show.Solution, error) {
	z, steps, err := solve(newGrid(62), b)
	return show.Solution{X: z, Calls: steps}, err
}}

func main() { example.Main() }

// solve returns the heights of the inner points of the surface of least area, after a number of Newton steps.
func solve(g *Grid, b nabla.Backend) (z []float64, steps int, err error) {
	if b == nil {
		b = source.Reverse{}
	}
	z = make([]float64, (g.Side-2)*(g.Side-2))
	prep, err := nabla.PrepareHessian(nabla.Bind(Area, g), nabla.AutoSparse{Dense: b}, z)
	if err != nil {
		return nil, 0, err
	}
	var hessian sparse.SymCSC
	var factors direct.LDL
	gradient, step, trial := make([]float64, len(z)), make([]float64, len(z)), make([]float64, len(z))
	for steps = 1; steps <= 30; steps++ {
		area, _, _, err := prep.ValueGradientAndSparse(gradient, &hessian, z)
		if err != nil {
			return z, steps, err
		}
		if err := factors.FactorizeDefinite(&hessian); err != nil {
			return z, steps, err
		}
		if err := factors.Solve(step, gradient); err != nil {
			return z, steps, err
		}
		length := 1.0
		for length > 1e-6 && Area(floats.AddScaledTo(trial, z, -length, step), g) > area {
			length /= 2
		}
		copy(z, trial)
		if floats.Norm(step, math.Inf(1)) < 1e-6 {
			return z, steps, nil
		}
	}
	return z, steps, fmt.Errorf("no convergence in %d steps", steps-1)
}

func run(w io.Writer, picture string) error {
	var g *Grid
	for _, side := range []int{17, 32, 62} {
		g = newGrid(side)
		z, steps, err := solve(g, nil)
		if err != nil {
			return err
		}
		largest := 0.0
		for i := 1; i < side-1; i++ {
			for j := 1; j < side-1; j++ {
				k := i*side + j
				g.Heights[k] = g.height(z, i, j)
				largest = max(largest, math.Abs(g.Heights[k]-scherk(g.at(j), g.at(i))))
			}
		}
		fmt.Fprintf(w, "%4d unknowns: %d steps, at most %.5f from Scherk's surface\n", len(z), steps, largest)
	}
	return draw(g, picture)
}

// A surface is the grid as a plotter.GridXYZ.
type surface struct{ *Grid }

func (s surface) Dims() (c, r int)   { return s.Side, s.Side }
func (s surface) X(c int) float64    { return s.at(c) }
func (s surface) Y(r int) float64    { return s.at(r) }
func (s surface) Z(c, r int) float64 { return s.Heights[r*s.Side+c] }

// draw draws the heights as colours.
func draw(g *Grid, picture string) error {
	plt := plot.New()
	plt.Title.Text = "The surface of least area: heights from -1 (blue) to 1 (red)"
	heat := plotter.NewHeatMap(surface{g}, moreland.SmoothBlueRed().Palette(255))
	heat.Rasterized = true
	plt.Add(heat)
	return plt.Save(400, 400, picture)
}
