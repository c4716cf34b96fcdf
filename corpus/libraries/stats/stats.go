// Package stats has functions that use github.com/montanaflynn/stats.
package stats

import (
	"math"

	"github.com/montanaflynn/stats"
)

// Summary returns mean, deviation and geometric mean.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1
func Summary(x []float64) (mean, deviation, geometric float64, err error) {
	mean, err = stats.Mean(x)
	if err != nil {
		return
	}
	deviation, err = stats.StandardDeviation(x)
	if err != nil {
		return
	}
	geometric, err = stats.GeometricMean(x)
	return
}

// Pearson is the correlation of two halves.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1
func Pearson(x []float64) (float64, error) { return stats.Pearson(x[:3], x[3:]) }

// Covariance is the sample covariance of two halves.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1
func Covariance(x []float64) (float64, error) {
	d := stats.Float64Data(x)
	return d[:3].Covariance(d[3:])
}

// Median is the median.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1
func Median(x []float64) (float64, error) { return stats.Median(x) }

// Spread is the range between quartiles.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1 0.2 3.1
func Spread(x []float64) (float64, error) { return stats.InterQuartileRange(x) }

// Upper is a percentile.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1 0.2 3.1
func Upper(x []float64) float64 {
	p, err := stats.Percentile(x, 82)
	if err != nil {
		return math.NaN()
	}
	return p
}

// Softmax is a weighted sum of the softmax of x.
//
//corpus:at 1.2 0.7 2.2 1.9
func Softmax(x []float64) (float64, error) {
	s, err := stats.SoftMax(x)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for i, v := range s {
		sum += v * float64(i*i)
	}
	return sum, nil
}

// Entropy is that of x after normalisation.
//
//corpus:at 1.2 0.7 2.2 1.9
func Entropy(x []float64) (float64, error) { return stats.Entropy(x) }

// Regression is the last value of a regression line.
//
//corpus:at 1.2 0.7 2.2 1.9
func Regression(y []float64) (float64, error) {
	var s stats.Series
	for i, v := range y {
		s = append(s, stats.Coordinate{X: float64(i), Y: v})
	}
	fit, err := stats.LinearRegression(s)
	if err != nil {
		return 0, err
	}
	return fit[len(fit)-1].Y, nil
}

// Exponential is a value of an exponential regression.
//
//corpus:at 1.2 0.7 2.2 1.9
func Exponential(y []float64) (float64, error) {
	var s stats.Series
	for i, v := range y {
		s = append(s, stats.Coordinate{X: float64(i + 1), Y: v})
	}
	fit, err := stats.ExponentialRegression(s)
	if err != nil {
		return 0, err
	}
	return fit[1].Y, nil
}

// Distances adds distances of the halves.
//
//corpus:at 1.2 0.7 2.2 1.9
func Distances(x []float64) (float64, error) {
	e, err := stats.EuclideanDistance(x[:2], x[2:])
	if err != nil {
		return 0, err
	}
	m, err := stats.MinkowskiDistance(x[:2], x[2:], 3)
	return e + m, err
}

// Autocorrelation is that with lag 1.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1
func Autocorrelation(x []float64) (float64, error) { return stats.AutoCorrelation(x, 1) }

// Normal is a density and a quantile.
//
//corpus:at 0.4 0.2 1.3
func Normal(x, loc, scale float64) (density, quantile float64) {
	return stats.NormPdf(x, loc, scale), stats.NormPpf(0.3, loc, scale)
}
