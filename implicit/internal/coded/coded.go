// Package coded has a function over float64 that calls an implicit function, with generated code, for tests.
package coded

import (
	"math"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/implicit"
)

// kepler is Kepler's equation E - e·sin E = M, where z is E, M and e.
func kepler(z []nabla.Real) []nabla.Real {
	return []nabla.Real{z[0].Sub(z[2].Mul(nabla.Sin(z[0]))).Sub(z[1])}
}

// newton finds E.
func newton(x, p []float64) error {
	x[0] = p[0]
	for range 30 {
		x[0] -= (x[0] - p[1]*math.Sin(x[0]) - p[0]) / (1 - p[1]*math.Cos(x[0]))
	}
	return nil
}

var solution = rule()

func rule() nabla.Rule {
	f, err := implicit.Root(kepler, nil, 1, []float64{1, 0.3}, newton, nil)
	if err != nil {
		panic(err)
	}
	return f.Rule()
}

// AnomalyRule is the rule of Anomaly. Its functions have names, by which generated code calls them.
var AnomalyRule = nabla.Rule{Name: "Anomaly", Value: Anomaly, JVP: anomalyJVP, VJP: anomalyVJP,
	JVPReal: solution.JVPReal}

// Anomaly writes the eccentric anomaly for the mean anomaly and the eccentricity p to x.
//
//nabla:rule rule=AnomalyRule
func Anomaly(x, p []float64) { solution.Value(x, p) }

func anomalyJVP(xdot, p, x, pdot []float64) { solution.JVP(xdot, p, x, pdot) }

func anomalyVJP(pbar, p, x, xbar []float64) { solution.VJP(pbar, p, x, xbar) }

// Radius is the distance of a planet from the sun, in half-axes.
//
//nabla:differentiate
func Radius(p []float64) float64 {
	var x [1]float64
	Anomaly(x[:], p)
	return 1 - p[1]*math.Cos(x[0])
}
