// Kalman calibrates the noise of a Kalman filter, and its level over time, to the annual flow of the Nile at Aswan.
//
// Durbin and Koopman, "Time Series Analysis by State Space Methods" (2012), section 2.10, find the variances 15099 and
// 1469.1 at the largest likelihood.
package main

import (
	"fmt"
	"io"
	"math"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/examples/internal/show"
	"github.com/nabla-ad/nabla/optim/gonumopt"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/plot/plotter"
)

//go:generate go tool nabla gen

// nile is the flow in 10⁸ m³ from 1871 to 1970.
var nile = [...]float64{1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960, 1180,
	799, 958, 1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694, 940, 833, 701, 916, 692, 1020,
	1050, 969, 831, 726, 456, 824, 702, 1120, 1100, 832, 764, 821, 768, 845, 864, 862, 698, 845, 744, 796, 1040, 759,
	781, 865, 845, 944, 984, 897, 822, 1010, 771, 676, 649, 846, 812, 742, 801, 1040, 860, 874, 848, 890, 744, 749, 838,
	1050, 918, 986, 797, 923, 975, 815, 1020, 906, 901, 1170, 912, 746, 919, 718, 714, 740}

// A Level is what the filter knows of the level of the river: a normal distribution.
type Level struct{ Mean, Variance float64 }

// step predicts the next flow from l, and corrects l when it is observed. It returns half the square of the error of
// the prediction over its variance, and that variance.
func (l *Level) step(flow, noise, drift float64) (loss, variance float64) {
	err := flow - l.Mean
	variance = l.Variance + noise
	gain := l.Variance / variance
	l.Mean += gain * err
	l.Variance = l.Variance*(1-gain) + drift
	return err * err / variance / 2, variance
}

// NegLogLikelihood is that of flows, from the second on, for the logarithms p of the variances of the measurements and
// of the change of the level in a year.
func NegLogLikelihood(p []float64) float64 {
	noise, drift := math.Exp(p[0]), math.Exp(p[1])
	level := Level{nile[0], noise + drift}
	sum := 0.0
	for _, flow := range nile[1:] {
		loss, variance := level.step(flow, noise, drift)
		sum += loss + math.Log(2*math.Pi*variance)/2
	}
	return sum
}

var example = show.Example{Run: run, Solve: func(b nabla.Backend) (show.Solution, error) {
	res, _, err := fit(b)
	if err != nil {
		return show.Solution{}, err
	}
	return show.Solution{X: res.X, Calls: res.GradEvaluations + res.HessEvaluations}, nil
}}

func main() { example.Main() }

// fit returns the parameters of the largest likelihood and the Hessian there.
func fit(b nabla.Backend) (*optimize.Result, *mat.SymDense, error) {
	start := []float64{math.Log(10000), math.Log(10000)}
	problem, err := gonumopt.Problem(NegLogLikelihood, b, start)
	if err != nil {
		return nil, nil, err
	}
	res, err := optimize.Minimize(problem, start, &optimize.Settings{GradientThreshold: 1e-6}, &optimize.Newton{})
	if err != nil {
		return nil, nil, err
	}
	hessian := mat.NewSymDense(len(start), nil)
	problem.Hess(hessian, res.X)
	return res, hessian, nil
}

func run(w io.Writer, picture string) error {
	res, hessian, err := fit(nil)
	if err != nil {
		return err
	}
	var covariance mat.Dense
	if err := covariance.Inverse(hessian); err != nil {
		return err
	}
	for i, name := range []string{"variance of measurements", "variance of the level"} {
		v, e := math.Exp(res.X[i]), math.Sqrt(covariance.At(i, i)) // the error of the logarithm is a relative one
		fmt.Fprintf(w, "%-25s %6.0f, %.0f to %.0f within a standard error\n", name, v, v/math.Exp(e), v*math.Exp(e))
	}
	fmt.Fprintf(w, "log-likelihood %.2f\n", -res.F)
	return draw(math.Exp(res.X[0]), math.Exp(res.X[1]), picture)
}

// draw draws the flows and the level that the filter follows, with two standard deviations.
func draw(noise, drift float64, picture string) error {
	plt := show.New("Flow of the Nile at Aswan", "year", "10⁸ cubic metres")
	var flows, means, below, above plotter.XYs
	level := Level{nile[0], noise + drift}
	for i, flow := range nile {
		year := float64(1871 + i)
		if i > 0 {
			level.step(flow, noise, drift)
		}
		s := 2 * math.Sqrt(level.Variance-drift) // before the level changes
		flows = append(flows, plotter.XY{X: year, Y: flow})
		means = append(means, plotter.XY{X: year, Y: level.Mean})
		below = append(below, plotter.XY{X: year, Y: level.Mean - s})
		above = append(above, plotter.XY{X: year, Y: level.Mean + s})
	}
	plt.Band(below, above)
	plt.Line("level, two standard deviations", means, show.Blue, 2)
	plt.Points("flow of a year", flows, show.Red, 1.5)
	return plt.Save(picture)
}
