// Options computes the sensitivities ("Greeks") of options: of a European call from the formula of Black and Scholes,
// to second order, and of an Asian call by Monte Carlo, from the derivatives of the simulated paths.
//
// The Asian call pays by the geometric mean of the prices at the end of each week, for which Kemna and Vorst (1990)
// have a formula; the simulated price and its sensitivities are compared with that and its derivatives.
package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/examples/internal/show"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot/plotter"
)

//go:generate go tool nabla gen

// names are those of the elements of the market data: p in the functions below.
var names = []string{"spot", "strike", "volatility", "rate", "years"}

func phi(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// lognormal is the price of a call on a price whose logarithm is normal at the end.
func lognormal(mean, deviation, strike, discount float64) float64 {
	d := (mean - math.Log(strike)) / deviation
	return discount * (math.Exp(mean+deviation*deviation/2)*phi(d+deviation) - strike*phi(d))
}

// European is the price of a European call by Black and Scholes.
func European(p []float64) float64 {
	spot, strike, vol, rate, years := p[0], p[1], p[2], p[3], p[4]
	return lognormal(math.Log(spot)+(rate-vol*vol/2)*years, vol*math.Sqrt(years), strike, math.Exp(-rate*years))
}

const weeks = 52

// Asian is the price of a call on the geometric mean of the prices at the ends of the weeks.
func Asian(p []float64) float64 {
	spot, strike, vol, rate, years := p[0], p[1], p[2], p[3], p[4]
	const n = float64(weeks)
	mean := math.Log(spot) + (rate-vol*vol/2)*years*(n+1)/(2*n)
	deviation := vol * math.Sqrt(years*(n+1)*(2*n+1)/(6*n*n))
	return lognormal(mean, deviation, strike, math.Exp(-rate*years))
}

// Draws has normal numbers for some paths, one for each week.
type Draws struct{ Normal []float64 }

// Simulated is the mean of the discounted payments of the Asian call over paths of the price.
func Simulated(p []float64, d *Draws) float64 {
	spot, strike, vol, rate, years := p[0], p[1], p[2], p[3], p[4]
	step := years / weeks
	paths := len(d.Normal) / weeks
	sum := 0.0
	for i := range paths {
		price, product := math.Log(spot), 0.0
		for _, z := range d.Normal[i*weeks : (i+1)*weeks] {
			price += (rate-vol*vol/2)*step + vol*math.Sqrt(step)*z
			product += price
		}
		if mean := math.Exp(product / weeks); mean > strike {
			sum += mean - strike
		}
	}
	return sum / float64(paths) * math.Exp(-rate*years)
}

const batches, perBatch = 40, 2500

// simulate returns the mean of the price and of its derivatives over batches of paths, and their standard errors.
func simulate(p []float64, b nabla.Backend) (mean, deviation []float64, err error) {
	rng := rand.New(rand.NewPCG(1, 2))
	draws := &Draws{make([]float64, perBatch*weeks)}
	prep, err := nabla.PrepareGradient(nabla.Bind(Simulated, draws), b, p)
	if err != nil {
		return nil, nil, err
	}
	samples := make([][]float64, 1+len(p)) // of the price and of its derivatives
	gradient := make([]float64, len(p))
	for range batches {
		for i := range draws.Normal {
			draws.Normal[i] = rng.NormFloat64()
		}
		price, _, err := prep.ValueAndGradient(gradient, p)
		if err != nil {
			return nil, nil, err
		}
		for i, v := range append([]float64{price}, gradient...) {
			samples[i] = append(samples[i], v)
		}
	}
	for _, s := range samples {
		m, d := stat.MeanStdDev(s, nil)
		mean, deviation = append(mean, m), append(deviation, stat.StdErr(d, batches))
	}
	return mean, deviation, nil
}

var market = []float64{100, 105, 0.25, 0.03, 1}

var example = show.Example{Run: run, Solve: func(b nabla.Backend) (show.Solution, error) {
	mean, _, err := simulate(market, b)
	return show.Solution{X: mean, Calls: batches}, err
}}

func main() { example.Main() }

func run(w io.Writer, picture string) error {
	price, greeks, gammas, err := nabla.ValueGradientAndHessian(European, nil, market)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "European call: price %.4f, delta %.4f, gamma %.4f, vega %.4f, rho %.4f, vanna %.4f\n",
		price, greeks[0], gammas.At(0, 0), greeks[2], greeks[3], gammas.At(0, 2))

	mean, deviation, err := simulate(market, nil)
	if err != nil {
		return err
	}
	price, greeks, err = nabla.ValueAndGradient(Asian, nil, market)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "Asian call     simulated            formula\n")
	for i, want := range append([]float64{price}, greeks...) {
		name := "price"
		if i > 0 {
			name = names[i-1]
		}
		fmt.Fprintf(w, "%-10s %9.4f ± %.4f %12.4f\n", name, mean[i], deviation[i], want)
	}
	return draw(picture)
}

// draw draws the delta of both calls over the spot, and the simulated delta of the Asian one.
func draw(picture string) error {
	plt := show.New("Delta of calls with the strike 105", "spot", "change of the price with the spot")
	plt.X.Min, plt.X.Max, plt.Y.Min, plt.Y.Max, plt.Legend.Left = 70, 140, 0, 1.1, true
	at := func(spot float64) []float64 { return append([]float64{spot}, market[1:]...) }
	european, err := nabla.PrepareGradient(European, nil, market)
	if err != nil {
		return err
	}
	asian, err := nabla.PrepareGradient(Asian, nil, market)
	if err != nil {
		return err
	}
	delta := func(prep *nabla.GradientPrep) func(float64) float64 {
		return func(spot float64) float64 {
			g, err := prep.Gradient(nil, at(spot))
			if err != nil {
				return math.NaN() // which cannot be drawn
			}
			return g[0]
		}
	}
	plt.Curve("European", delta(european), 70, 140, show.Gray, 1.5)
	plt.Curve("Asian, formula", delta(asian), 70, 140, show.Blue, 1.5)
	var points plotter.XYs
	for spot := 75.0; spot <= 135; spot += 10 {
		mean, _, err := simulate(at(spot), nil)
		if err != nil {
			return err
		}
		points = append(points, plotter.XY{X: spot, Y: mean[1]})
	}
	plt.Points("Asian, simulated", points, show.Red, 2.5)
	return plt.Save(picture)
}
