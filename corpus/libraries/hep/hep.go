// Package hep has functions that use go-hep.org/x/hep: four-momenta, histograms and fits.
package hep

import (
	"math"

	"go-hep.org/x/hep/fit"
	"go-hep.org/x/hep/fmom"
	"go-hep.org/x/hep/hbook"
	"gonum.org/v1/gonum/optimize"
)

// Mass is the invariant mass of two particles.
//
//corpus:at 10 5 -3 20 -8 2 4 15
func Mass(x []float64) float64 {
	p := fmom.NewPxPyPzE(x[0], x[1], x[2], x[3])
	q := fmom.NewPxPyPzE(x[4], x[5], x[6], x[7])
	return fmom.InvMass(&p, &q)
}

// Jet is the rapidity and transverse momentum of a jet.
//
//corpus:at 40 1.2 0.7 5
func Jet(x []float64) (rapidity, pt float64) {
	p := fmom.NewPtEtaPhiM(x[0], x[1], x[2], x[3])
	return p.Rapidity(), p.Px()*2 + p.Pz()
}

// Boosted is the energy in a frame that moves.
//
//corpus:at 10 5 -3 20
func Boosted(x []float64) float64 {
	p := fmom.NewPxPyPzE(x[0], x[1], x[2], x[3])
	parent := fmom.NewPxPyPzE(1, 2, 3, 10)
	q := fmom.Boost(&p, fmom.BoostOf(&parent))
	return q.E()
}

// Sum is the mass of a sum of particles.
//
//corpus:at 10 5 -3 20 -8 2 4 15
func Sum(x []float64) float64 {
	var particles []fmom.P4
	for i := 0; i+3 < len(x); i += 4 {
		p := fmom.NewPxPyPzE(x[i], x[i+1], x[i+2], x[i+3])
		particles = append(particles, &p)
	}
	total := fmom.NewPxPyPzE(0, 0, 0, 0)
	for _, p := range particles {
		fmom.IAdd(&total, p)
	}
	return total.M()
}

// Histogram is mean and width of a histogram with weights.
//
//corpus:at 0.5 1.2 0.8 0.3
func Histogram(w []float64) (mean, width float64) {
	h := hbook.NewH1D(10, 0, 5)
	for i, v := range w {
		h.Fill(0.7+float64(i), v)
	}
	return h.XMean(), h.XStdDev()
}

// Line is the slope of a fit.
//
//corpus:at 1.1 1.9 3.2 3.8
//corpus:tolerance 1e-3
func Line(y []float64) (float64, error) {
	res, err := fit.Curve1D(fit.Func1D{
		F: func(x float64, ps []float64) float64 { return ps[0] + ps[1]*x },
		N: 2, X: []float64{0, 1, 2, 3}, Y: y,
	}, nil, &optimize.NelderMead{})
	if err != nil {
		return math.NaN(), err
	}
	return res.X[1], nil
}
