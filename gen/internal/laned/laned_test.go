package laned

import (
	"bytes"
	"flag"
	"go/types"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/gen/print"
	"github.com/nabla-ad/nabla/gen/simplify"
	"github.com/nabla-ad/nabla/gen/tangent"
	"github.com/nabla-ad/nabla/internal/problems"
	"github.com/nabla-ad/nabla/internal/timing/timingtest"
)

var update = flag.Bool("update", false, "rewrite the generated file")

// TestCurrent checks that the generated file is up to date.
func TestCurrent(t *testing.T) {
	const path = "github.com/nabla-ad/nabla/internal/problems"
	pkgs, err := lower.Load(".", []string{path}, lower.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p := lower.New(pkgs, lower.Options{})
	var funcs []print.Func
	for _, tt := range []struct {
		name, as string
		lanes    int
		m        uint64
	}{
		{"LorenzPlain", "lorenz", 1, 1}, {"LorenzPlain", "lorenz6", 6, 1},
		{"LorenzPlain", "flatLorenz", 1, 1}, {"LorenzPlain", "flatLorenz6", 6, 1},
		{"BrusselatorPlain", "flatBrusselator12", 12, 3},
		{"BrusselatorPlain", "brusselator", 1, 3}, {"BrusselatorPlain", "brusselator4", 4, 3},
		{"BrusselatorPlain", "brusselator12", 12, 3},
		{"ReprojectionPlain", "reprojection", 1, 3}, {"ReprojectionPlain", "reprojection5", 5, 3},
		{"LogPosteriorPlain", "logPosterior", 1, 1}, {"LogPosteriorPlain", "logPosterior4", 4, 1},
		{"LogisticLossPlain", "logistic", 1, 1}, {"LogisticLossPlain", "logistic4", 4, 1},
		{"RecurrentLossPlain", "recurrent", 1, 1}, {"RecurrentLossPlain", "recurrent4", 4, 1},
	} {
		f, err := p.Func(p.Lookup(path, tt.name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(tt.as, "flat") {
			f, _ = ir.Clone(f, nil)
			simplify.Primal(f, f.Object.Pkg())
		}
		g, _, err := tangent.NewLanes(tt.lanes).Build(f, activity.Bits(tt.m))
		if err != nil {
			t.Fatal(err)
		}
		funcs = append(funcs, print.Func{Func: g, Name: tt.as})
	}
	text, err := print.File(types.NewPackage("github.com/nabla-ad/nabla/gen/internal/laned", "laned"), funcs...)
	if err != nil {
		t.Fatal(err)
	}
	const file = "nabla_gen.go"
	if *update {
		if err := os.WriteFile(file, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(text, want) {
		t.Errorf("%s is not what is generated now; run with -update: %v", file, err)
	}
}

// TestValues compares the tangents with reference derivatives.
func TestValues(t *testing.T) {
	c := problems.T8().Select(0)
	seeds := make([][6]float64, 6)
	for i := range seeds {
		seeds[i][i] = 1
	}
	for _, f := range []func([]float64, [][6]float64) (y, d0, d1, d2, d3, d4, d5 float64){lorenz6, flatLorenz6} {
		var got [6]float64
		var y float64
		y, got[0], got[1], got[2], got[3], got[4], got[5] = f(c.X, seeds)
		if math.Abs(y-c.Value[0]) > 1e-12*math.Abs(y) {
			t.Errorf("value %v, want %v", y, c.Value[0])
		}
		for i, d := range got {
			if want := c.Derivative[i]; math.Abs(d-want) > 1e-11*math.Abs(want) {
				t.Errorf("derivative %d is %v, want %v", i, d, want)
			}
		}
	}
	for _, f := range []func(x, dx []float64) (y, dy float64){lorenz, flatLorenz} {
		v, want := []float64{1, -2, 0.5, 3, 0.25, -1}, 0.0
		for i, d := range c.Derivative {
			want += d * v[i]
		}
		if y, dy := f(c.X, v); math.Abs(y-c.Value[0]) > 1e-12*math.Abs(y) || math.Abs(dy-want) > 1e-11*math.Abs(want) {
			t.Errorf("value %v and derivative %v, want %v and %v", y, dy, c.Value[0], want)
		}
	}
	const n = 6
	c = problems.T4(n).Select(0)
	size := len(c.X)
	for lo := 0; lo < 2*size; lo += 12 {
		f, lo := brusselator12, lo
		if lo >= size {
			f, lo = flatBrusselator12, lo-size
		}
		y, ydot, xdot := make([]float64, size), make([][12]float64, size), make([][12]float64, size)
		for k := range 12 {
			xdot[lo+k][k] = 1
		}
		f(y, c.X, n, ydot, xdot)
		for i := range ydot {
			for k, d := range ydot[i] {
				if want := c.Derivative[i*size+lo+k]; math.Abs(d-want) > 1e-10*(1+math.Abs(want)) {
					t.Fatalf("element %d, %d is %v, want %v", i, lo+k, d, want)
				}
			}
		}
	}
}

// TestSingleDirections compares the tangents with those in one direction.
func TestSingleDirections(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = 2*r.Float64() - 1
		}
		return x
	}
	near := func(name string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	gmm := &problems.Mixture{D: 3, K: 2, Points: draw(30), Gamma: 1}
	rows := &problems.Regression{X: draw(40), Y: []float64{1, 0, 0, 1, 1, 0, 1, 0, 0, 1}, Cols: 4}
	text := &problems.Recurrent{Layers: 2, Bits: 3, State: draw(12), Text: draw(15)}
	for _, tt := range []struct {
		name string
		n    int
		one  func(x, dx []float64) (y, dy float64)
		four func(x []float64, dx [][4]float64) (y, d0, d1, d2, d3 float64)
	}{
		{"mixture", 2 * (1 + 3 + 6),
			func(x, dx []float64) (y, dy float64) { return logPosterior(x, gmm, dx) },
			func(x []float64, dx [][4]float64) (y, d0, d1, d2, d3 float64) { return logPosterior4(x, gmm, dx) }},
		{"regression", 4,
			func(x, dx []float64) (y, dy float64) { return logistic(x, rows, dx) },
			func(x []float64, dx [][4]float64) (y, d0, d1, d2, d3 float64) { return logistic4(x, rows, dx) }},
		{"recurrent", 2*8*3 + 9,
			func(x, dx []float64) (y, dy float64) { return recurrent(x, text, dx) },
			func(x []float64, dx [][4]float64) (y, d0, d1, d2, d3 float64) { return recurrent4(x, text, dx) }},
	} {
		x, dx := draw(tt.n), make([][4]float64, tt.n)
		for i := range dx {
			dx[i] = [4]float64(draw(4))
			dx[i][2] = 0
		}
		var y float64
		var d [4]float64
		y, d[0], d[1], d[2], d[3] = tt.four(x, dx)
		for k := range d {
			lane := make([]float64, tt.n)
			for i := range lane {
				lane[i] = dx[i][k]
			}
			want, wantDot := tt.one(x, lane)
			near(tt.name, y, want)
			near(tt.name, d[k], wantDot)
		}
		if d[2] != 0 {
			t.Errorf("%s: a lane that does not move has the derivative %v", tt.name, d[2])
		}
	}
	x, dx, seen := draw(15), make([][5]float64, 15), &problems.Feature{Z: draw(2)}
	for i := range dx {
		dx[i] = [5]float64(draw(5))
	}
	y, dy := make([]float64, 2), make([][5]float64, 2)
	reprojection5(y, x, seen, dy, dx)
	for k := range 5 {
		lane, want, wantDot := make([]float64, 15), make([]float64, 2), make([]float64, 2)
		for i := range lane {
			lane[i] = dx[i][k]
		}
		reprojection(want, x, seen, wantDot, lane)
		for i := range want {
			near("reprojection", y[i], want[i])
			near("reprojection", dy[i][k], wantDot[i])
		}
	}
}

var sink float64

func BenchmarkT8(b *testing.B) {
	x := problems.T8().Select(0).X
	plain := func() { sink = problems.LorenzPlain(x) }
	seeds, seed := make([][6]float64, 6), make([]float64, 6)
	for i := range seeds {
		seeds[i][i] = 1
	}
	b.Run("lanes=6", func(b *testing.B) {
		timingtest.Ratio(b, func() { sink, _, _, _, _, _, _ = lorenz6(x, seeds) }, plain)
	})
	b.Run("lanes=6/flat", func(b *testing.B) {
		timingtest.Ratio(b, func() { sink, _, _, _, _, _, _ = flatLorenz6(x, seeds) }, plain)
	})
	for i, f := range []func(x, dx []float64) (y, dy float64){lorenz, flatLorenz} {
		b.Run([]string{"lanes=1", "lanes=1/flat"}[i], func(b *testing.B) {
			timingtest.Ratio(b, func() {
				for i := range seed {
					seed[i] = 1
					sink, _ = f(x, seed)
					seed[i] = 0
				}
			}, plain)
		})
	}
}

func BenchmarkT4(b *testing.B) {
	for _, n := range []int{6, 32} {
		x := problems.T4(n).Select(0).X
		y := make([]float64, len(x))
		plain := func() { problems.BrusselatorPlain(y, x, n) }
		b.Run("n="+map[int]string{6: "72", 32: "2048"}[n], func(b *testing.B) {
			xdot, ydot := make([][12]float64, len(x)), make([][12]float64, len(x))
			for i := range xdot {
				xdot[i][i%12] = 1
			}
			b.Run("lanes=12", func(b *testing.B) {
				timingtest.Ratio(b, func() { brusselator12(y, x, n, ydot, xdot) }, plain)
			})
			b.Run("lanes=12/flat", func(b *testing.B) {
				timingtest.Ratio(b, func() { flatBrusselator12(y, x, n, ydot, xdot) }, plain)
			})
			xdot4, ydot4 := make([][4]float64, len(x)), make([][4]float64, len(x))
			for i := range xdot4 {
				xdot4[i][i%4] = 1
			}
			b.Run("lanes=4", func(b *testing.B) {
				timingtest.Ratio(b, func() {
					for range 3 {
						brusselator4(y, x, n, ydot4, xdot4)
					}
				}, plain)
			})
			xdot1, ydot1 := make([]float64, len(x)), make([]float64, len(x))
			for i := range xdot1 {
				xdot1[i] = float64(i % 2)
			}
			b.Run("lanes=1", func(b *testing.B) {
				timingtest.Ratio(b, func() {
					for range 12 {
						brusselator(y, x, n, ydot1, xdot1)
					}
				}, plain)
			})
		})
	}
}
