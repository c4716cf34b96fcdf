// Schools samples the posterior of the model of eight schools (Rubin, 1981) by the No-U-Turn sampler: how much does
// coaching help in each school, if schools are alike to an unknown extent?
//
// The posterior means of the effects that Stan's examples give are 6.2, 4.9, 3.9, 4.8, 3.6, 4.0, 6.3 and 4.9, with 4.4
// for the mean of the schools and 3.6 for their deviation.
package main

import (
	"fmt"
	"io"
	"time"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/constrain"
	"github.com/nabla-ad/nabla/examples/internal/nuts"
	"github.com/nabla-ad/nabla/examples/internal/show"
	"gonum.org/v1/gonum/stat/distuv"
	"gonum.org/v1/plot/plotter"
)

//go:generate go tool nabla gen

var (
	effects = [8]float64{28, 8, -3, 7, -1, 1, 18, 12} // measured, in points of a test
	errors  = [8]float64{15, 10, 16, 11, 9, 11, 10, 18}
)

// LogDensity is that of the mean u[0] of the schools, of the logarithm u[1] of their deviation, and of the differences
// u[2:] of the schools from the mean, in deviations.
func LogDensity(u []float64) float64 {
	mean := u[0]
	deviation, sum := constrain.Positive(u[1])
	sum += distuv.Normal{Mu: 0, Sigma: 5}.LogProb(mean)
	sum += distuv.StudentsT{Mu: 0, Sigma: 5, Nu: 1}.LogProb(deviation)
	for i, v := range u[2:] {
		sum += distuv.Normal{Mu: 0, Sigma: 1}.LogProb(v)
		sum += distuv.Normal{Mu: mean + deviation*v, Sigma: errors[i]}.LogProb(effects[i])
	}
	return sum
}

// sample returns four chains with n draws each.
func sample(b nabla.Backend, n int) ([]*nuts.Chain, error) {
	start := make([]float64, 2+len(effects))
	prep, err := nabla.PrepareGradient(LogDensity, b, start)
	if err != nil {
		return nil, err
	}
	return nuts.Chains(prep, start, 4, n)
}

// effect is the effect of school i for a draw.
func effect(i int) func(u []float64) float64 {
	return func(u []float64) float64 {
		deviation, _ := constrain.Positive(u[1])
		return u[0] + deviation*u[2+i]
	}
}

const draws = 2000

var example = show.Example{Run: run, Solve: func(b nabla.Backend) (show.Solution, error) {
	start := time.Now()
	chains, err := sample(b, draws)
	if err != nil {
		return show.Solution{}, err
	}
	elapsed := time.Since(start)
	var s show.Solution
	for i := range effects {
		s.X = append(s.X, nuts.Summarize(chains, effect(i)).Mean)
	}
	for _, c := range chains {
		s.Calls += c.Gradients
	}
	s.Note = fmt.Sprintf("%.0f independent draws/s", nuts.Summarize(chains, effect(0)).Size/elapsed.Seconds())
	return s, nil
}}

func main() { example.Main() }

func run(w io.Writer, picture string) error {
	chains, err := sample(nil, draws)
	if err != nil {
		return err
	}
	var posterior []nuts.Summary
	for i := range effects {
		s := nuts.Summarize(chains, effect(i))
		fmt.Fprintf(w, "school %c        %5.2f ± %.2f  (error of the mean %.2f)\n", 'A'+i, s.Mean, s.Deviation, s.Error)
		posterior = append(posterior, s)
	}
	mean := nuts.Summarize(chains, func(u []float64) float64 { return u[0] })
	fmt.Fprintf(w, "mean of schools %5.2f ± %.2f  (error of the mean %.2f)\n", mean.Mean, mean.Deviation, mean.Error)
	deviation := nuts.Summarize(chains, func(u []float64) float64 { x, _ := constrain.Positive(u[1]); return x })
	fmt.Fprintf(w, "their deviation %5.2f ± %.2f  (error of the mean %.2f)\n", deviation.Mean, deviation.Deviation,
		deviation.Error)
	return draw(posterior, picture)
}

// draw draws measured effects beside those of the model, which are closer to each other.
func draw(posterior []nuts.Summary, picture string) error {
	plt := show.New("Effect of coaching in eight schools", "", "points of the test")
	plt.NominalX("A", "B", "C", "D", "E", "F", "G", "H")
	var measured, model plotter.XYs
	var deviations []float64
	for i, s := range posterior {
		measured = append(measured, plotter.XY{X: float64(i) - 0.12, Y: effects[i]})
		model = append(model, plotter.XY{X: float64(i) + 0.12, Y: s.Mean})
		deviations = append(deviations, s.Deviation)
	}
	plt.Errors(measured, errors[:], show.Gray, 4)
	plt.Errors(model, deviations, show.Blue, 4)
	plt.Points("measured, with its error", measured, show.Gray, 2.5)
	plt.Points("posterior, with its deviation", model, show.Blue, 2.5)
	return plt.Save(picture)
}
