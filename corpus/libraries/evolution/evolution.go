// Package evolution has functions that use github.com/MaxHalford/eaopt: optimisation inside of a function.
package evolution

import (
	"math"
	"math/rand"

	"github.com/MaxHalford/eaopt"
)

// Best is the least value that a swarm finds, with respect to a parameter of the objective.
//
//corpus:at 0.7
//corpus:tolerance 1e-2
func Best(a float64) (float64, error) {
	spso, err := eaopt.NewSPSO(10, 30, -2, 2, 0.7, false, rand.New(rand.NewSource(1)))
	if err != nil {
		return 0, err
	}
	_, y, err := spso.Minimize(func(x []float64) float64 { return math.Pow(x[0]-a, 2) + math.Sin(a) }, 1)
	return y, err
}

// Average is the mean fitness of a population.
//
//corpus:at 0.7 1.2 0.3
func Average(x []float64) float64 {
	var population eaopt.Individuals
	for _, v := range x {
		population = append(population, eaopt.Individual{Fitness: v*v + math.Cos(v)})
	}
	return population.FitAvg() + population.FitStd()
}

// Crossed is a norm of two crossed genomes.
//
//corpus:at 0.7 1.2 0.3 0.9
func Crossed(x []float64) float64 {
	a, b := []float64{x[0], x[1]}, []float64{x[2], x[3]}
	eaopt.CrossUniformFloat64(a, b, rand.New(rand.NewSource(1)))
	return a[0]*b[1] + a[1]*a[1]
}
