// Bundle finds the positions of cameras and of the points that they see, from the pixels at which they see them: bundle
// adjustment, by sparse least squares.
//
// The camera is that of the data sets "Bundle Adjustment in the Large" (Agarwal and others, 2010): a rotation vector, a
// translation, a focal length and two terms of radial distortion. The scene is made: twelve cameras go round a temple
// of eight columns, with errors of half a pixel and a fixed seed, so that the answer is known. A pixel gives no scale,
// and no place of the whole: camera 0 is held, and the focal length of all cameras is known.
package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/examples/internal/show"
	"github.com/nabla-ad/nabla/optim"
	"gonum.org/v1/gonum/spatial/r3"
	"gonum.org/v1/plot/plotter"
)

//go:generate go tool nabla gen

const (
	cameras  = 12
	focal    = 800.0 // pixels
	sigma    = 0.5   // pixels
	ofCamera = 8     // unknowns: rotation, translation, distortion
)

// A View is where a camera sees a point, in pixels from the middle.
type View struct {
	Camera, Point int
	U, V          float64
}

// Scene is what is known.
type Scene struct {
	Points int
	First  [ofCamera]float64 // camera 0
	Scale  float64           // the distance of camera 1 from camera 0
	Views  []View
}

// rotate turns p by the rotation vector w: about it, by its length (Rodrigues' formula).
func rotate(w, p r3.Vec) r3.Vec {
	angle := r3.Norm(w)
	if angle < 1e-12 {
		return r3.Add(p, r3.Cross(w, p))
	}
	s, c := math.Sincos(angle)
	axis := r3.Scale(1/angle, w)
	return r3.Add(r3.Add(r3.Scale(c, p), r3.Scale(s, r3.Cross(axis, p))), r3.Scale((1-c)*r3.Dot(axis, p), axis))
}

// Project returns where a camera sees p.
func Project(camera []float64, p r3.Vec) (u, v float64) {
	q := r3.Add(rotate(r3.Vec{X: camera[0], Y: camera[1], Z: camera[2]}, p),
		r3.Vec{X: camera[3], Y: camera[4], Z: camera[5]})
	u, v = -q.X/q.Z, -q.Y/q.Z
	r2 := u*u + v*v
	k := focal * (1 + r2*(camera[6]+r2*camera[7]))
	return k * u, k * v
}

// centre returns the place of a camera.
func centre(camera []float64) r3.Vec {
	w := r3.Vec{X: -camera[0], Y: -camera[1], Z: -camera[2]}
	return r3.Scale(-1, rotate(w, r3.Vec{X: camera[3], Y: camera[4], Z: camera[5]}))
}

// Misses are the deviations in standard deviations, for the cameras from 1 on and then the points in x, and last that
// of the scale.
func Misses(x []float64, s *Scene) []float64 {
	r := make([]float64, 0, 2*len(s.Views)+1)
	points := x[(cameras-1)*ofCamera:]
	for _, w := range s.Views {
		camera := s.First[:]
		if w.Camera > 0 {
			camera = x[(w.Camera-1)*ofCamera : w.Camera*ofCamera]
		}
		p := points[3*w.Point : 3*w.Point+3]
		u, v := Project(camera, r3.Vec{X: p[0], Y: p[1], Z: p[2]})
		r = append(r, (w.U-u)/sigma, (w.V-v)/sigma)
	}
	between := r3.Norm(r3.Sub(centre(x[:ofCamera]), centre(s.First[:])))
	return append(r, (between-s.Scale)/1e-3)
}

// looking returns a camera at a place that looks at the origin.
func looking(from r3.Vec) []float64 {
	z := r3.Unit(from) // a camera looks along its negative z axis
	x := r3.Unit(r3.Cross(r3.Vec{Z: 1}, z))
	y := r3.Cross(z, x)
	// The rotation matrix with rows x, y, z as a vector.
	angle := math.Acos((x.X + y.Y + z.Z - 1) / 2)
	w := r3.Scale(angle/(2*math.Sin(angle)), r3.Vec{X: z.Y - y.Z, Y: x.Z - z.X, Z: y.X - x.Y})
	t := rotate(w, from)
	return []float64{w.X, w.Y, w.Z, -t.X, -t.Y, -t.Z, -0.1, 0.02}
}

// scene returns a scene and the truth: the unknowns, and those with errors from which the adjustment starts.
func scene(r *rand.Rand) (s *Scene, truth, start []float64) {
	s = new(Scene)
	var all [][]float64
	for i := range cameras {
		sin, cos := math.Sincos(2 * math.Pi * (float64(i) + 0.3) / cameras)
		all = append(all, looking(r3.Vec{X: 9 * cos, Y: 9 * sin, Z: 2.5 + 0.5*sin}))
	}
	copy(s.First[:], all[0])
	for _, c := range all[1:] {
		truth = append(truth, c...)
	}
	s.Scale = r3.Norm(r3.Sub(centre(all[1]), centre(all[0])))
	for column := range 8 { // with eight points each, and a step between every two columns
		sin, cos := math.Sincos(math.Pi / 4 * float64(column))
		for h := range 8 {
			truth = append(truth, 2.5*cos, 2.5*sin, -1.5+0.4*float64(h))
		}
		sin, cos = math.Sincos(math.Pi/4*float64(column) + math.Pi/8)
		truth = append(truth, 3*cos, 3*sin, -1.7)
	}
	points := truth[(cameras-1)*ofCamera:]
	s.Points = len(points) / 3
	for i, c := range all {
		for k := range s.Points {
			p := r3.Vec{X: points[3*k], Y: points[3*k+1], Z: points[3*k+2]}
			if r3.Dot(p, centre(c)) < -2 {
				continue // behind the others
			}
			u, v := Project(c, p)
			s.Views = append(s.Views, View{i, k, u + sigma*r.NormFloat64(), v + sigma*r.NormFloat64()})
		}
	}
	for i, v := range truth {
		switch {
		case i >= (cameras-1)*ofCamera:
			v += 0.2 * r.NormFloat64()
		case i%ofCamera < 3:
			v += 0.02 * r.NormFloat64()
		case i%ofCamera < 6:
			v += 0.15 * r.NormFloat64()
		default:
			v = 0
		}
		start = append(start, v)
	}
	return s, truth, start
}

// adjust returns the adjustment.
func adjust(s *Scene, start []float64, b nabla.Backend) (*optim.LeastSquaresResult, error) {
	return optim.LeastSquares(nabla.Bind(Misses, s), nabla.AutoSparse{Dense: b}, start, nil)
}

var example = show.Example{Run: run, Solve: func(b nabla.Backend) (show.Solution, error) {
	if b == nil {
		b = source.Forward{}
	}
	s, _, start := scene(rand.New(rand.NewPCG(2010, 1)))
	res, err := adjust(s, start, b)
	if err != nil {
		return show.Solution{}, err
	}
	return show.Solution{X: res.X, Calls: res.Jacobians}, nil
}}

func main() { example.Main() }

// apart returns the root of the mean square of the distances of the points, and of the places of the cameras.
func apart(a, b []float64) (points, places float64) {
	const first = (cameras - 1) * ofCamera
	for i := first; i < len(a); i++ {
		points += (a[i] - b[i]) * (a[i] - b[i])
	}
	for i := 0; i < first; i += ofCamera {
		places += r3.Norm2(r3.Sub(centre(a[i:i+ofCamera]), centre(b[i:i+ofCamera])))
	}
	return math.Sqrt(points / float64((len(a)-first)/3)), math.Sqrt(places / (cameras - 1))
}

func run(w io.Writer, picture string) error {
	s, truth, start := scene(rand.New(rand.NewPCG(2010, 1)))
	res, err := adjust(s, start, source.Forward{})
	if err != nil {
		return err
	}
	prep, err := nabla.PrepareJacobian(nabla.Bind(Misses, s), nabla.AutoSparse{Dense: source.Forward{}}, start)
	if err != nil {
		return err
	}
	m, n := prep.Dims()
	plan := prep.Plan()
	fmt.Fprintf(w, "%d views of %d points by %d cameras: a Jacobian of %d×%d with %d entries, from %d products\n",
		len(s.Views), s.Points, cameras, m, n, plan.Pattern.NNZ(), plan.Products())
	cost := 0.0
	for _, r := range Misses(start, s) {
		cost += r * r
	}
	fmt.Fprintf(w, "after %d Jacobians: χ² %.0f with %d degrees of freedom, %.0f at the start\n\n", res.Jacobians,
		2*res.Cost, m-n, cost)
	before, placesBefore := apart(start, truth)
	after, places := apart(res.X, truth)
	fmt.Fprintln(w, "from the truth        start   adjusted")
	fmt.Fprintf(w, "points           %10.4f %10.4f\ncameras          %10.4f %10.4f\n", before, after, placesBefore,
		places)
	return draw(truth, start, res.X, picture)
}

// draw draws points and cameras from above, before and after.
func draw(truth, start, found []float64, picture string) error {
	var plots []*show.Picture
	for k, x := range [][]float64{start, found} {
		p := show.New([]string{"before", "after"}[k], "", "")
		var at, places, want plotter.XYs
		const first = (cameras - 1) * ofCamera
		for i := first; i < len(x); i += 3 {
			at = append(at, plotter.XY{X: x[i], Y: x[i+1]})
			want = append(want, plotter.XY{X: truth[i], Y: truth[i+1]})
		}
		for i := 0; i < first; i += ofCamera {
			c := centre(x[i : i+ofCamera])
			places = append(places, plotter.XY{X: c.X, Y: c.Y})
			c = centre(truth[i : i+ofCamera])
			want = append(want, plotter.XY{X: c.X, Y: c.Y})
		}
		p.Points("", want, show.Light, 4)
		p.Points("", at, show.Blue, 1.5)
		p.Points("", places, show.Red, 2.5)
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -10, 10, -10, 10
		plots = append(plots, p)
	}
	return show.SaveGrid(picture, 2, plots...)
}
