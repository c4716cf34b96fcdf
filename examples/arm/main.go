// Arm finds the joint angles with which a robot arm of seven joints draws a figure eight, by least squares
// with the limits of the joints as bounds.
//
// The lengths, angles and limits are those of the Franka Emika Panda, in the modified convention of Denavit and
// Hartenberg, as the documentation of its control interface prints them.
package main

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/examples/internal/show"
	"github.com/nabla-ad/nabla/optim"
	"gonum.org/v1/gonum/spatial/r3"
	"gonum.org/v1/plot/plotter"
)

//go:generate go tool nabla gen

// A Link leads from a joint to the next: Offset along and Twist about the x axis, then Length along and the angle of
// the joint about the z axis.
type Link struct{ Offset, Length, Twist float64 }

var links = []Link{{0, 0.333, 0}, {0, 0, -math.Pi / 2}, {0, 0.316, math.Pi / 2}, {0.0825, 0, math.Pi / 2},
	{-0.0825, 0.384, -math.Pi / 2}, {0, 0, math.Pi / 2}, {0.088, 0, math.Pi / 2}}

const flange = 0.107 // from the last joint along its z axis to where the tool is

var (
	lower = []float64{-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973}
	upper = []float64{2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973}
	rest  = []float64{0, -math.Pi / 4, 0, -3 * math.Pi / 4, 0, math.Pi / 2, math.Pi / 4}
)

// A Frame is the position and the axes of a joint.
type Frame struct{ At, X, Y, Z r3.Vec }

// Chain returns the frames of the joints with angles q, and last that of the flange.
func Chain(q []float64) []Frame {
	f := Frame{X: r3.Vec{X: 1}, Y: r3.Vec{Y: 1}, Z: r3.Vec{Z: 1}}
	var frames []Frame
	for i, l := range links {
		f.At = r3.Add(f.At, r3.Scale(l.Offset, f.X))
		f.Y, f.Z = turn(f.Y, f.Z, l.Twist)
		f.X, f.Y = turn(f.X, f.Y, q[i])
		f.At = r3.Add(f.At, r3.Scale(l.Length, f.Z))
		frames = append(frames, f)
	}
	f.At = r3.Add(f.At, r3.Scale(flange, f.Z))
	return append(frames, f)
}

// turn turns the axes u and v in their plane.
func turn(u, v r3.Vec, angle float64) (r3.Vec, r3.Vec) {
	s, c := math.Sincos(angle)
	return r3.Add(r3.Scale(c, u), r3.Scale(s, v)), r3.Sub(r3.Scale(c, v), r3.Scale(s, u))
}

// Misses are the distances from the target in metres, the tilt of the tool, which is to point down, and with little
// weight the distances of the joints from rest, without which there would be many solutions.
func Misses(q []float64, target *r3.Vec) []float64 {
	frames := Chain(q)
	tool := frames[len(frames)-1]
	miss := r3.Sub(tool.At, *target)
	r := []float64{miss.X, miss.Y, miss.Z, tool.Z.X, tool.Z.Y, tool.Z.Z + 1}
	for i, v := range q {
		r = append(r, 1e-3*(v-rest[i]))
	}
	return r
}

// path returns n points of the figure.
func path(n int) []r3.Vec {
	points := make([]r3.Vec, n)
	for i := range points {
		s, c := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		points[i] = r3.Vec{X: 0.3 + 0.4*s*c, Y: 0.5 * s, Z: 0.3}
	}
	return points
}

var example = show.Example{Run: run, Solve: func(b nabla.Backend) (show.Solution, error) {
	poses, calls, err := follow(path(80), b, lower, upper)
	s := show.Solution{Calls: calls}
	for _, q := range poses {
		s.X = append(s.X, q...)
	}
	return s, err
}}

func main() { example.Main() }

// follow returns the angles at each of the points, and the number of Jacobians that they took.
func follow(points []r3.Vec, b nabla.Backend, lower, upper []float64) (poses [][]float64, calls int, err error) {
	q := rest
	for _, p := range points {
		res, err := optim.LeastSquares(nabla.Bind(Misses, &p), b, q, &optim.LeastSquaresSettings{
			Lower: lower, Upper: upper})
		if err != nil {
			return nil, calls, err
		}
		q = res.X
		poses, calls = append(poses, q), calls+res.Jacobians
	}
	return poses, calls, nil
}

func run(w io.Writer, picture string) error {
	points := path(80)
	free, _, err := follow(points, nil, nil, nil)
	if err != nil {
		return err
	}
	poses, _, err := follow(points, nil, lower, upper)
	if err != nil {
		return err
	}
	var away, tilt float64
	var at, beyond [7]int
	least, most := slices.Clone(rest), slices.Clone(rest)
	for k, q := range poses {
		r := Misses(q, &points[k])
		away, tilt = max(away, math.Hypot(math.Hypot(r[0], r[1]), r[2])), max(tilt, math.Hypot(r[3], r[4]))
		for i, v := range q {
			least[i], most[i] = min(least[i], v), max(most[i], v)
			if v == lower[i] || v == upper[i] {
				at[i]++
			}
			if free[k][i] < lower[i] || free[k][i] > upper[i] {
				beyond[i]++
			}
		}
	}
	const degree = math.Pi / 180
	fmt.Fprintf(w, "largest distance from the path %.3f mm, largest tilt %.4f°\n\n", 1000*away, tilt/degree)
	fmt.Fprint(w, "joint        angles in degrees      limits in degrees   points at limits   "+
		"beyond without bounds\n")
	for i := range rest {
		fmt.Fprintf(w, "%5d %11.1f to %7.1f %11.1f to %7.1f %18d %23d\n", i+1, least[i]/degree, most[i]/degree,
			lower[i]/degree, upper[i]/degree, at[i], beyond[i])
	}
	return draw(points, poses, picture)
}

// draw draws some of the poses and the path, seen obliquely from above.
func draw(points []r3.Vec, poses [][]float64, picture string) error {
	seen := func(v r3.Vec) plotter.XY {
		return plotter.XY{X: 0.94*v.Y - 0.34*v.X, Y: 0.9*v.Z - 0.42*(0.94*v.X+0.34*v.Y)}
	}
	plt := show.New("An arm of seven joints draws a figure eight", "", "")
	plt.HideAxes()
	plt.X.Min, plt.X.Max, plt.Y.Min, plt.Y.Max = -0.62, 0.53, -0.1, 0.62 // the scale is the same in both directions
	for k := 0; k < len(poses); k += 5 {
		at := plotter.XYs{seen(r3.Vec{})}
		for _, f := range Chain(poses[k]) {
			at = append(at, seen(f.At))
		}
		c := color.RGBA{R: 30, G: uint8(110 + 120*k/len(poses)), B: uint8(230 - 120*k/len(poses)), A: 255}
		plt.Line("", at, c, 2)
		plt.Points("", at, c, 2.5)
	}
	var figure plotter.XYs
	for _, p := range append(points, points[0]) {
		figure = append(figure, seen(p))
	}
	plt.Line("", figure, show.Red, 3)
	return plt.Save(picture)
}
