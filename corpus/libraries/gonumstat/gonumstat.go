// Package gonumstat has functions that use gonum.org/v1/gonum/stat: moments, regression, tests and estimates.
package gonumstat

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

var weights = []float64{1, 2, 0.5, 1, 3, 1.5}

// TStatistic is that of Student's test of a mean.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1
func TStatistic(x []float64) float64 {
	mean, std := stat.MeanStdDev(x, nil)
	return (mean - 0.9) / stat.StdErr(std, float64(len(x)))
}

// WeightedSkew is the skewness with weights.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1
func WeightedSkew(x []float64) float64 { return stat.Skew(x, weights) }

// Kurtosis is the excess kurtosis.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1
func Kurtosis(x []float64) float64 { return stat.ExKurtosis(x, nil) }

// Slope returns intercept and slope of a regression of y on 0, 1, …
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1
func Slope(y []float64) (alpha, beta float64) {
	x := make([]float64, len(y))
	floats.Span(x, 0, float64(len(y)-1))
	return stat.LinearRegression(x, y, nil, false)
}

// Fit is R² of a regression.
//
//corpus:at 1.2 0.7 2.2 1.9 3.4 4.1
func Fit(y []float64) float64 {
	x := []float64{1, 2, 4, 5, 7, 11}
	alpha, beta := stat.LinearRegression(x, y, weights, false)
	return stat.RSquared(x, y, weights, alpha, beta)
}

// Correlated is the correlation of the halves of x.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1
func Correlated(x []float64) float64 {
	n := len(x) / 2
	return stat.Correlation(x[:n], x[n:], nil)
}

// Median sorts a copy and takes the empirical quantile.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1 0.8
func Median(x []float64) float64 {
	s := make([]float64, len(x))
	copy(s, x)
	sort.Float64s(s)
	return stat.Quantile(0.5, stat.LinInterp, s, nil)
}

// KullbackLeibler is the divergence from a fixed distribution.
//
//corpus:at 0.2 0.3 0.5
func KullbackLeibler(p []float64) float64 {
	q := make([]float64, len(p))
	copy(q, p)
	floats.Scale(1/floats.Sum(q), q)
	return stat.KullbackLeibler(q, []float64{0.4, 0.4, 0.2})
}

// Entropy is that of normalised weights.
//
//corpus:at 1.2 0.7 2.2
func Entropy(x []float64) float64 {
	total := floats.Sum(x)
	p := make([]float64, len(x))
	for i, v := range x {
		p[i] = v / total
	}
	return stat.Entropy(p)
}

// Hellinger is a distance of distributions.
//
//corpus:at 0.2 0.3 0.5
func Hellinger(p []float64) float64 { return stat.Hellinger(p, []float64{0.4, 0.4, 0.2}) }

// Covariance is the determinant of a covariance matrix of two columns.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1
func Covariance(x []float64) float64 {
	data := mat.NewDense(len(x)/2, 2, x)
	var cov mat.SymDense
	stat.CovarianceMatrix(&cov, data, nil)
	return mat.Det(&cov)
}

// Mahalanobis is a distance with a fixed covariance.
//
//corpus:at 0.3 0.8
func Mahalanobis(x []float64) (float64, error) {
	sigma := mat.NewSymDense(2, []float64{2, 0.3, 0.3, 1})
	var chol mat.Cholesky
	if ok := chol.Factorize(sigma); !ok {
		return math.NaN(), nil
	}
	return stat.Mahalanobis(mat.NewVecDense(2, x), mat.NewVecDense(2, nil), &chol), nil
}

// CircularMean is the mean of angles.
//
//corpus:at 0.2 0.9 1.4
func CircularMean(x []float64) float64 { return stat.CircularMean(x, nil) }

// GeometricMean is the exponential of the mean of logarithms, with weights.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1
func GeometricMean(x []float64) float64 {
	return stat.GeometricMean(x, weights) + stat.HarmonicMean(x, weights)
}

// ChiSquare compares counts with expectations.
//
//corpus:at 12 9 4 25
func ChiSquare(obs []float64) float64 {
	return stat.ChiSquare(obs, []float64{10, 10, 6, 24})
}
