// Histogram fits a resonance over a background to a histogram of go-hep, with exact derivatives and errors of the
// parameters, and compares with go-hep's own fit.
//
// Package fit of go-hep takes gradients by finite differences and has no parameter for others; the same problem for
// optim.LeastSquares is a function of the residuals.
package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/examples/internal/show"
	"github.com/nabla-ad/nabla/optim"
	"go-hep.org/x/hep/fit"
	"go-hep.org/x/hep/hbook"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/plot/plotter"
)

//go:generate go tool nabla gen

// truth are the parameters that the events are drawn with: events of the background in a bin at mass 0 and the decay of
// their number with the mass, then events of the signal in a bin at its centre, the centre and the half-width.
var truth = []float64{400, 0.02, 300, 91.2, 2.5}

// Model is the number of events in a bin at mass m: an exponential background and a resonance of Breit and Wigner.
func Model(m float64, p []float64) float64 {
	d := (m - p[3]) / p[4]
	return p[0]*math.Exp(-p[1]*m) + p[2]/(1+d*d)
}

// events fills a histogram with Poisson numbers of events around the model.
func events() *hbook.H1D {
	rng := rand.New(rand.NewPCG(1, 2))
	h := hbook.NewH1D(120, 60, 120)
	for _, b := range h.Binning.Bins {
		// The number of waiting times, of mean 1, that fit into the expected number is a Poisson number.
		for left := Model(b.XMid(), truth); ; {
			if left -= rng.ExpFloat64(); left < 0 {
				break
			}
			h.Fill(b.XMid(), 1)
		}
	}
	return h
}

// Residuals writes the differences of the model and the bins of h, in standard errors.
func Residuals(r, p []float64, h *hbook.H1D) {
	for i := range h.Binning.Bins {
		b := &h.Binning.Bins[i]
		r[i] = (Model(b.XMid(), p) - b.SumW()) / b.ErrW()
	}
}

var start = []float64{300, 0.01, 200, 90, 4}

// solve fits the parameters.
func solve(h *hbook.H1D, b nabla.Backend) (*optim.LeastSquaresResult, error) {
	f := nabla.BindInPlace(h.Len(), Residuals, h)
	return optim.LeastSquares(f, b, start, &optim.LeastSquaresSettings{Covariance: true})
}

var example = show.Example{Run: run, Solve: func(b nabla.Backend) (show.Solution, error) {
	res, err := solve(events(), b)
	if err != nil {
		return show.Solution{}, err
	}
	return show.Solution{X: res.X, Calls: res.Jacobians}, nil
}}

func main() { example.Main() }

func run(w io.Writer, picture string) error {
	h := events()
	res, err := solve(h, nil)
	if err != nil {
		return err
	}
	// With BFGS, the line search fails on the errors of finite differences.
	theirs, err := fit.H1D(h, fit.Func1D{F: Model, Ps: start}, nil, &optimize.NelderMead{})
	if err != nil {
		return err
	}
	for i, name := range []string{"background", "decay", "signal", "mass", "half-width"} {
		// Residuals are in standard errors, so that the covariance is not scaled by their size.
		fmt.Fprintf(w, "%-10s %9.4f ± %.4f   go-hep %9.4f   truth %g\n", name, res.X[i],
			math.Sqrt(res.Covariance.At(i, i)), theirs.X[i], truth[i])
	}
	fmt.Fprintf(w, "χ² %.1f for %d bins; %d Jacobians, go-hep %d values\n", 2*res.Cost, h.Len(),
		res.Jacobians, theirs.FuncEvaluations)
	return draw(h, res.X, picture)
}

// draw draws the bins with their errors, the fit and its background.
func draw(h *hbook.H1D, p []float64, picture string) error {
	plt := show.New("A resonance over its background", "mass", "events")
	plt.Y.Min = 0
	var bins plotter.XYs
	var errors []float64
	for i := range h.Binning.Bins {
		b := &h.Binning.Bins[i]
		bins, errors = append(bins, plotter.XY{X: b.XMid(), Y: b.SumW()}), append(errors, b.ErrW())
	}
	background := func(m float64) float64 { return p[0] * math.Exp(-p[1]*m) }
	plt.Errors(bins, errors, show.Gray, 0)
	plt.Points("events in a bin", bins, show.Gray, 1)
	plt.Curve("fit", func(m float64) float64 { return Model(m, p) }, 60, 120, show.Blue, 1.5)
	plt.Curve("its background", background, 60, 120, show.Red, 1)
	return plt.Save(picture)
}
