// Logistic samples a logistic regression by the No-U-Turn sampler: the chance that an O-ring of the space shuttle is
// damaged, by the temperature at the launch.
//
// The data are those of the 23 flights before the loss of Challenger, which started at 31 °F (Dalal, Fowlkes and
// Hoadley, 1989). They find 15.043 - 0.2322·t at the largest likelihood.
package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/examples/internal/nuts"
	"github.com/nabla-ad/nabla/examples/internal/show"
	"gonum.org/v1/gonum/stat/distuv"
	"gonum.org/v1/plot/plotter"
)

//go:generate go tool nabla gen

// Flights have temperatures in °F and whether O-rings were damaged, 1 or 0.
type Flights struct{ Temperature, Damage []float64 }

var flights = Flights{
	[]float64{66, 70, 69, 68, 67, 72, 73, 70, 57, 63, 70, 78, 67, 53, 67, 75, 70, 81, 76, 79, 75, 76, 58},
	[]float64{0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1},
}

// logit is the logarithm of the odds of damage for the coefficients c: at 70 °F, and its change by 10 °F.
func logit(c []float64, temperature float64) float64 { return c[0] + c[1]*(temperature-70)/10 }

// LogLikelihood is that of the coefficients c.
func LogLikelihood(c []float64, f *Flights) float64 {
	sum := 0.0
	for i, t := range f.Temperature {
		z := logit(c, t)
		if f.Damage[i] == 1 {
			z = -z
		}
		if z > 0 { // log(1+exp(z)) without overflow
			sum -= z + math.Log1p(math.Exp(-z))
		} else {
			sum -= math.Log1p(math.Exp(z))
		}
	}
	return sum
}

// LogDensity has a weak prior as well.
func LogDensity(c []float64, f *Flights) float64 {
	prior := distuv.Normal{Mu: 0, Sigma: 5}
	return LogLikelihood(c, f) + prior.LogProb(c[0]) + prior.LogProb(c[1])
}

// sample returns four chains with n draws each.
func sample(b nabla.Backend, n int) ([]*nuts.Chain, error) {
	start := make([]float64, 2)
	prep, err := nabla.PrepareGradient(nabla.Bind(LogDensity, &flights), b, start)
	if err != nil {
		return nil, err
	}
	return nuts.Chains(prep, start, 4, n)
}

const draws = 2000

func coefficient(i int) func(c []float64) float64 { return func(c []float64) float64 { return c[i] } }

var example = show.Example{Run: run, Solve: func(b nabla.Backend) (show.Solution, error) {
	start := time.Now()
	chains, err := sample(b, draws)
	if err != nil {
		return show.Solution{}, err
	}
	elapsed := time.Since(start)
	var s show.Solution
	for i := range 2 {
		s.X = append(s.X, nuts.Summarize(chains, coefficient(i)).Mean)
	}
	for _, c := range chains {
		s.Calls += c.Gradients
	}
	s.Note = fmt.Sprintf("%.0f independent draws/s", nuts.Summarize(chains, coefficient(1)).Size/elapsed.Seconds())
	return s, nil
}}

func main() { example.Main() }

func run(w io.Writer, picture string) error {
	chains, err := sample(nil, draws)
	if err != nil {
		return err
	}
	for i, name := range []string{"log odds at 70 °F", "change by 10 °F"} {
		s := nuts.Summarize(chains, coefficient(i))
		fmt.Fprintf(w, "%-18s %6.3f ± %.3f  (error of the mean %.3f)\n", name, s.Mean, s.Deviation, s.Error)
	}
	at31 := nuts.Summarize(chains, func(c []float64) float64 { return 1 / (1 + math.Exp(-logit(c, 31))) })
	fmt.Fprintf(w, "chance of damage at 31 °F %.3f\n", at31.Mean)
	return draw(chains, picture)
}

// draw draws the flights, and the chance of damage with the band that has nine tenths of the draws.
func draw(chains []*nuts.Chain, picture string) error {
	plt := show.New("Damage of O-rings by temperature", "°F at launch", "chance of damage")
	plt.X.Min, plt.X.Max = 30, 85
	var middle, below, above, points plotter.XYs
	for t := 30.0; t <= 85; t++ {
		var chances []float64
		for _, c := range chains {
			for _, d := range c.Draws {
				chances = append(chances, 1/(1+math.Exp(-logit(d, t))))
			}
		}
		slices.Sort(chances)
		n := len(chances)
		middle = append(middle, plotter.XY{X: t, Y: chances[n/2]})
		below = append(below, plotter.XY{X: t, Y: chances[n/20]})
		above = append(above, plotter.XY{X: t, Y: chances[n-1-n/20]})
	}
	for i, t := range flights.Temperature {
		points = append(points, plotter.XY{X: t, Y: flights.Damage[i]})
	}
	plt.Band(below, above)
	plt.Line("median, and nine tenths", middle, show.Blue, 2)
	plt.Points("flight", points, show.Red, 2.5)
	plt.Legend.Top, plt.Legend.Left, plt.Legend.YOffs = false, true, 10
	return plt.Save(picture)
}
