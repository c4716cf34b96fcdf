// Garch fits a GARCH(1,1) model of volatility to daily changes of an exchange rate, with standard errors from the exact
// Hessian.
//
// The data are the 1974 changes of the Deutsche Mark to the British Pound, in per cent, of Bollerslev and Ghysels
// (1996), for which Fiorentini, Calzolari and Panattoni (1996) computed the estimates -0.00619041, 0.0107613, 0.153134
// and 0.805974 with standard errors of 0.00846212, 0.00285271, 0.0265228 and 0.0335527, by analytic derivatives.
// Programs that estimate GARCH models are compared with them.
package main

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/examples/internal/show"
	"github.com/nabla-ad/nabla/optim"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot/plotter"
)

//go:generate go tool nabla gen

//go:embed returns.txt
var lines string

// A Series has the changes of a day, in per cent.
type Series struct{ Returns []float64 }

// NegLogLikelihood is that of normal returns with mean p[0], whose variance is p[1] plus p[2] times the last square
// plus p[3] times the last variance. Both are at first the mean of the squares.
func NegLogLikelihood(p []float64, s *Series) float64 {
	variance := 0.0
	for _, r := range s.Returns {
		variance += (r - p[0]) * (r - p[0]) / float64(len(s.Returns))
	}
	square, sum := variance, 0.0
	for _, r := range s.Returns {
		variance = p[1] + p[2]*square + p[3]*variance
		square = (r - p[0]) * (r - p[0])
		sum += math.Log(2*math.Pi*variance) + square/variance
	}
	return sum / 2
}

var example = show.Example{Run: run, Solve: func(b nabla.Backend) (show.Solution, error) {
	res, err := fit(b)
	if err != nil {
		return show.Solution{}, err
	}
	return show.Solution{X: res.X, Calls: res.Gradients + res.Hessians}, nil
}}

func main() { example.Main() }

var series = parse(lines)

func parse(lines string) *Series {
	s := new(Series)
	for line := range strings.Lines(lines) {
		r, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
		if err != nil {
			panic(err)
		}
		s.Returns = append(s.Returns, r)
	}
	return s
}

// fit returns the parameters of the largest likelihood.
func fit(b nabla.Backend) (*optim.MinimizeResult, error) {
	inf := math.Inf(1)
	return optim.Bounded(nabla.Bind(NegLogLikelihood, series), b, []float64{0, 0.1, 0.1, 0.5},
		[]float64{-inf, 1e-6, 0, 0}, []float64{inf, inf, 1, 1}, nil)
}

func run(w io.Writer, picture string) error {
	res, err := fit(nil)
	if err != nil {
		return err
	}
	hessian, err := nabla.Hessian(nabla.Bind(NegLogLikelihood, series), nil, res.X)
	if err != nil {
		return err
	}
	var covariance mat.Dense
	if err := covariance.Inverse(hessian); err != nil {
		return err
	}
	for i, name := range []string{"mean", "omega", "alpha", "beta"} {
		fmt.Fprintf(w, "%-5s %9.6f ± %.6f\n", name, res.X[i], math.Sqrt(covariance.At(i, i)))
	}
	fmt.Fprintf(w, "log-likelihood %.4f after %d gradients and %d Hessians\n", -res.Value, res.Gradients, res.Hessians)
	return draw(res.X, picture)
}

// draw draws the returns between two standard deviations of the model.
func draw(p []float64, picture string) error {
	plt := show.New("Deutsche Mark to British Pound, 1984 to 1991", "trading day", "change in per cent")
	plt.Y.Max, plt.X.Max = 4, 2000
	var returns, above, below plotter.XYs
	square := 0.0
	for _, r := range series.Returns {
		square += (r - p[0]) * (r - p[0]) / float64(len(series.Returns))
	}
	variance := square
	for i, r := range series.Returns {
		variance = p[1] + p[2]*square + p[3]*variance
		square = (r - p[0]) * (r - p[0])
		day := float64(i)
		returns = append(returns, plotter.XY{X: day, Y: r})
		above = append(above, plotter.XY{X: day, Y: p[0] + 2*math.Sqrt(variance)})
		below = append(below, plotter.XY{X: day, Y: p[0] - 2*math.Sqrt(variance)})
	}
	plt.Line("", returns, show.Gray, 0.5)
	plt.Line("two standard deviations of the model", above, show.Red, 1)
	plt.Line("", below, show.Red, 1)
	return plt.Save(picture)
}
