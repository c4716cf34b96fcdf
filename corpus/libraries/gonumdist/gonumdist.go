// Package gonumdist has functions that use gonum.org/v1/gonum/stat/distuv and distmv: log likelihoods, probabilities
// and quantiles of distributions.
package gonumdist

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/distuv"
)

var sample = []float64{0.7, 1.9, 1.1, 3.2, 0.2, 2.4}

// NormalLikelihood is that of mean and logarithm of the deviation.
//
//corpus:at 1.2 0.1
func NormalLikelihood(p []float64) float64 {
	n := distuv.Normal{Mu: p[0], Sigma: math.Exp(p[1])}
	ll := 0.0
	for _, v := range sample {
		ll += n.LogProb(v)
	}
	return ll
}

// GammaLikelihood is that of shape and rate.
//
//corpus:at 1.7 0.9
func GammaLikelihood(p []float64) float64 {
	g := distuv.Gamma{Alpha: p[0], Beta: p[1]}
	ll := 0.0
	for _, v := range sample {
		ll += g.LogProb(v)
	}
	return ll
}

// WeibullLikelihood is that of shape and scale, with censored data.
//
//corpus:at 1.4 1.9
func WeibullLikelihood(k, lambda float64) float64 {
	w := distuv.Weibull{K: k, Lambda: lambda}
	ll := 0.0
	for i, v := range sample {
		if i%3 == 2 {
			ll += w.LogSurvival(v)
		} else {
			ll += w.LogProb(v)
		}
	}
	return ll
}

// StudentLikelihood is that of location, scale and degrees of freedom.
//
//corpus:at 1.3 0.9 4.5
func StudentLikelihood(p []float64) float64 {
	t := distuv.StudentsT{Mu: p[0], Sigma: p[1], Nu: p[2]}
	ll := 0.0
	for _, v := range sample {
		ll += t.LogProb(v)
	}
	return ll
}

// BetaMode is density and mode of a beta distribution.
//
//corpus:at 2.3 3.1 0.4
func BetaMode(a, b, x float64) (density, mode float64) {
	d := distuv.Beta{Alpha: a, Beta: b}
	return d.Prob(x), d.Mode()
}

// BetaCDF is the regularised incomplete beta function.
//
//corpus:at 0.4
func BetaCDF(x float64) float64 { return distuv.Beta{Alpha: 2.5, Beta: 1.5}.CDF(x) }

// GammaTail is the survival function, with respect to the argument and the rate.
//
//corpus:at 1.3 0.8
func GammaTail(x, beta float64) float64 { return distuv.Gamma{Alpha: 2.5, Beta: beta}.Survival(x) }

// GammaShape is the distribution function with respect to the shape.
//
//corpus:at 2.5
func GammaShape(alpha float64) float64 { return distuv.Gamma{Alpha: alpha, Beta: 1}.CDF(1.7) }

// ValueAtRisk is a quantile of a normal distribution.
//
//corpus:at 0.03 0.2
func ValueAtRisk(mu, sigma float64) float64 {
	return -distuv.Normal{Mu: mu, Sigma: sigma}.Quantile(0.05)
}

// NormalCDF is a probability of an interval.
//
//corpus:at 0.3 1.4
func NormalCDF(mu, sigma float64) float64 {
	n := distuv.Normal{Mu: mu, Sigma: sigma}
	return n.CDF(1.5) - n.CDF(-0.5)
}

// LogNormalMean is the mean and a quantile of a log-normal distribution.
//
//corpus:at 0.1 0.5
func LogNormalMean(mu, sigma float64) (mean, upper float64) {
	l := distuv.LogNormal{Mu: mu, Sigma: sigma}
	return l.Mean(), l.Quantile(0.9)
}

// PoissonLikelihood is that of a rate per unit of exposure.
//
//corpus:at 1.7 0.2
func PoissonLikelihood(rate, trend float64) float64 {
	counts := []float64{3, 1, 4, 2, 5}
	ll := 0.0
	for i, c := range counts {
		ll += distuv.Poisson{Lambda: rate * math.Exp(trend*float64(i))}.LogProb(c)
	}
	return ll
}

// BinomialLikelihood is that of a probability behind a logistic function.
//
//corpus:at 0.3 -0.4
func BinomialLikelihood(p []float64) float64 {
	ll := 0.0
	for i, k := range []float64{3, 4, 6, 7} {
		q := 1 / (1 + math.Exp(-p[0]-p[1]*float64(i)))
		ll += distuv.Binomial{N: 10, P: q}.LogProb(k)
	}
	return ll
}

// ParetoExcess is the mean excess of a Pareto distribution.
//
//corpus:at 1.5 2.8
func ParetoExcess(xm, alpha float64) float64 {
	p := distuv.Pareto{Xm: xm, Alpha: alpha}
	return p.Mean()*p.Survival(3) + p.Entropy()
}

// Mixture is the log likelihood of two normal distributions.
//
//corpus:at 0.3 0.8 0.4 2.4 0.7
func Mixture(p []float64) float64 {
	parts := []distuv.Normal{{Mu: p[1], Sigma: p[2]}, {Mu: p[3], Sigma: p[4]}}
	share := []float64{p[0], 1 - p[0]}
	ll := 0.0
	for _, v := range sample {
		density := 0.0
		for i, n := range parts {
			density += share[i] * n.Prob(v)
		}
		ll += math.Log(density)
	}
	return ll
}

// Fitted is the log density at 1 of a distribution fitted to x.
//
//corpus:at 0.7 1.9 1.1 3.2 0.2 2.4
func Fitted(x []float64) float64 {
	var n distuv.Normal
	n.Fit(x, nil)
	return n.LogProb(1)
}

// Multivariate is a log density of a normal vector with respect to mean and correlation.
//
//corpus:at 0.2 -0.3 0.4
func Multivariate(p []float64) float64 {
	sigma := mat.NewSymDense(2, []float64{1, p[2], p[2], 2})
	n, ok := distmv.NewNormal(p[:2], sigma, nil)
	if !ok {
		return math.Inf(-1)
	}
	return n.LogProb([]float64{0.5, 0.1})
}

// Dirichlet is a log density with respect to the parameters.
//
//corpus:at 1.2 2.3 0.9
func Dirichlet(alpha []float64) float64 {
	d := distmv.NewDirichlet(alpha, nil)
	return d.LogProb([]float64{0.2, 0.5, 0.3})
}

// A Scorer has a log density.
type Scorer interface {
	LogProb(x float64) float64
}

// Scores adds log densities of different distributions.
//
//corpus:at 0.4 0.9
func Scores(loc, scale float64) float64 {
	var list []Scorer
	list = append(list, distuv.Normal{Mu: loc, Sigma: scale}, distuv.Laplace{Mu: loc, Scale: scale},
		distuv.Exponential{Rate: 1 / scale})
	s := 0.0
	for _, d := range list {
		s += d.LogProb(1.3)
	}
	return s
}
