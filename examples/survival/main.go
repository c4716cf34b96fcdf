// Survival fits a Weibull distribution to times of remission, some of them censored, by Newton's method, with standard
// errors from the exact Hessian.
//
// The data are those of Freireich et al. (1963), "The effect of 6-mercaptopurine on the duration of steroid-induced
// remissions in acute leukemia", as many books on survival analysis print them. R's survreg finds the coefficients
// 3.516 and -1.267 with standard errors of 0.252 and 0.311, and the scale 0.732.
package main

import (
	"fmt"
	"image/color"
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

// A Trial has weeks of remission; negative ones are of patients who were still in remission after that time.
type Trial struct {
	Treated, Control []float64
}

var trial = Trial{
	Treated: []float64{6, 6, 6, -6, 7, -9, 10, -10, -11, 13, 16, -17, -19, -20, 22, 23, -25, -32, -32, -34, -35},
	Control: []float64{1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23},
}

// NegLogLikelihood is that of log times with mean p[0], for the control group p[0]+p[1], and scale exp(p[2]).
func NegLogLikelihood(p []float64, t *Trial) float64 {
	return group(t.Treated, p[0], p[2]) + group(t.Control, p[0]+p[1], p[2])
}

func group(weeks []float64, mean, logScale float64) float64 {
	s := 0.0
	for _, w := range weeks {
		z := (math.Log(math.Abs(w)) - mean) / math.Exp(logScale)
		s += math.Exp(z) // what the chance of lasting this long contributes
		if w > 0 {       // and that of ending then
			s += logScale - z + math.Log(w)
		}
	}
	return s
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
	start := []float64{2, 0, 0}
	f := nabla.Bind(NegLogLikelihood, &trial)
	problem, err := gonumopt.Problem(f, b, start)
	if err != nil {
		return nil, nil, err
	}
	res, err := optimize.Minimize(problem, start, &optimize.Settings{GradientThreshold: 1e-8}, &optimize.Newton{})
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
	var factors mat.Cholesky
	var covariance mat.SymDense
	if !factors.Factorize(hessian) {
		return fmt.Errorf("the Hessian at %v is not positive definite", res.X)
	}
	if err := factors.InverseTo(&covariance); err != nil {
		return err
	}
	for i, name := range []string{"treated, log weeks", "control, difference", "log of the scale"} {
		fmt.Fprintf(w, "%-20s %6.3f ± %.3f\n", name, res.X[i], math.Sqrt(covariance.At(i, i)))
	}
	fmt.Fprintf(w, "log-likelihood %.1f\n", -res.F)
	return draw(res.X, picture)
}

// draw draws the probability of remission over time: the fit and the estimate of Kaplan and Meier.
func draw(p []float64, picture string) error {
	plt := show.New("Remission of leukemia", "weeks", "part of patients in remission")
	plt.Y.Min, plt.X.Min, plt.X.Max = 0, 0, 36
	for _, g := range []struct {
		name  string
		weeks []float64
		mean  float64
		of    color.Color
	}{{"6-mercaptopurine", trial.Treated, p[0], show.Blue}, {"control", trial.Control, p[0] + p[1], show.Red}} {
		steps := kaplanMeier(g.weeks)
		plt.Line("", steps, g.of, 1)
		fitted := func(t float64) float64 { return math.Exp(-math.Pow(t/math.Exp(g.mean), math.Exp(-p[2]))) }
		plt.Curve(g.name, fitted, 0, steps[len(steps)-1].X, g.of, 2)
	}
	return plt.Save(picture)
}

// kaplanMeier returns the estimated part of patients in remission as steps over time, for weeks in ascending order.
func kaplanMeier(weeks []float64) plotter.XYs {
	points, part := plotter.XYs{{X: 0, Y: 1}}, 1.0
	for i, w := range weeks {
		points = append(points, plotter.XY{X: math.Abs(w), Y: part})
		if w > 0 {
			part *= 1 - 1/float64(len(weeks)-i)
			points = append(points, plotter.XY{X: w, Y: part})
		}
	}
	return points
}
