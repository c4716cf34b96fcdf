// Package distuvad has methods of gonum's package stat/distuv that have derivatives where those test whether numbers
// are equal and leave out a term that is 0 there, but moves: (shape-1)·log x where a shape is 1, and the distance to
// the centre of Student's distribution. The values are those of distuv. The source of these functions is
// differentiated in place of that of the methods.
package distuvad

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// BetaLogProb is the method LogProb of distuv.Beta.
func BetaLogProb(b distuv.Beta, x float64) float64 {
	if x < 0 || x > 1 {
		return math.Inf(-1)
	}
	if b.Alpha <= 0 || b.Beta <= 0 {
		panic("beta: negative parameters")
	}
	both, _ := math.Lgamma(b.Alpha + b.Beta)
	alpha, _ := math.Lgamma(b.Alpha)
	beta, _ := math.Lgamma(b.Beta)
	var left, right float64
	if b.Alpha != 1 || x > 0 {
		left = (b.Alpha - 1) * math.Log(x)
	}
	if b.Beta != 1 || x < 1 {
		right = (b.Beta - 1) * math.Log(1-x)
	}
	return both - alpha - beta + left + right
}

// GammaLogProb is the method LogProb of distuv.Gamma.
func GammaLogProb(g distuv.Gamma, x float64) float64 {
	if x < 0 {
		return math.Inf(-1)
	}
	l, _ := math.Lgamma(g.Alpha)
	if g.Alpha == 1 && !(x > 0 && x <= math.MaxFloat64) {
		return math.Log(g.Beta) - l - g.Beta*x
	}
	return g.Alpha*math.Log(g.Beta) - l + (g.Alpha-1)*math.Log(x) - g.Beta*x
}

// centre returns the density of the standard distribution with nu degrees of freedom at 0.
func centre(nu float64) float64 {
	above, _ := math.Lgamma((nu + 1) / 2)
	below, _ := math.Lgamma(nu / 2)
	return math.Exp(above-below) / math.Sqrt(math.Pi*nu)
}

// StudentsTCDF is the method CDF of distuv.StudentsT.
func StudentsTCDF(s distuv.StudentsT, x float64) float64 {
	y := (x - s.Mu) / s.Sigma
	if y == 0 {
		return 0.5 + y*centre(s.Nu)
	}
	t := s.Nu / (y*y + s.Nu)
	if y > 0 {
		return 1 - 0.5*mathext.RegIncBeta(0.5*s.Nu, 0.5, t)
	}
	return 0.5 * mathext.RegIncBeta(s.Nu/2, 0.5, t)
}

// StudentsTSurvival is the method Survival of distuv.StudentsT.
func StudentsTSurvival(s distuv.StudentsT, x float64) float64 {
	y := (x - s.Mu) / s.Sigma
	if y == 0 {
		return 0.5 - y*centre(s.Nu)
	}
	t := s.Nu / (y*y + s.Nu)
	if y > 0 {
		return 0.5 * mathext.RegIncBeta(s.Nu/2, 0.5, t)
	}
	return 1 - 0.5*mathext.RegIncBeta(s.Nu/2, 0.5, t)
}

// StudentsTQuantile is the method Quantile of distuv.StudentsT.
func StudentsTQuantile(s distuv.StudentsT, p float64) float64 {
	if p < 0 || p > 1 {
		panic("distuv: percentile out of bounds")
	}
	if p == 0.5 {
		return s.Mu + (p-0.5)*s.Sigma/centre(s.Nu)
	}
	var y float64
	if p > 0.5 {
		t := mathext.InvRegIncBeta(s.Nu/2, 0.5, 2*(1-p))
		y = math.Sqrt(s.Nu * (1 - t) / t)
	} else {
		t := mathext.InvRegIncBeta(s.Nu/2, 0.5, 2*p)
		y = -math.Sqrt(s.Nu * (1 - t) / t)
	}
	return y*s.Sigma + s.Mu
}
