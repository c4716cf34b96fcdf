package bench

import (
	"math"

	"github.com/nabla-ad/nabla/internal/problems"
	"github.com/nabla-ad/nabla/sparsity"
)

// geometricMean returns the geometric mean of v without NaNs. It is the mean for ratios.
func geometricMean(v []float64) float64 {
	sum, n := 0.0, 0
	for _, a := range v {
		if !math.IsNaN(a) {
			sum, n = sum+math.Log(a), n+1
		}
	}
	return math.Exp(sum / float64(n))
}

// breakEven sets, for the rows of one task, the number of calls after which preparation has paid off: the smallest
// whole k for which
//
//	prepare + k·derivative ≤ k·alternative
//
// where the alternative is the cheapest unprepared call of any engine among the rows. An approximate engine is no
// alternative for an exact one. If a prepared call is not faster than the alternative, it is +Inf.
func breakEven(rows []Row) {
	for i := range rows {
		r := &rows[i]
		alternative := math.Inf(1)
		for _, a := range rows {
			if a.OK && a.UnpreparedNS < alternative && (r.Approximate || !a.Approximate) {
				alternative = a.UnpreparedNS
			}
		}
		switch {
		case !r.OK || math.IsNaN(r.UnpreparedNS) || math.IsNaN(r.PrepareNS):
			r.BreakEven = math.NaN()
		case r.DerivativeNS >= alternative:
			r.BreakEven = math.Inf(1)
		default:
			r.BreakEven = max(1, math.Ceil(r.PrepareNS/(alternative-r.DerivativeNS)))
		}
	}
}

// relative returns the largest difference of got from want, relative to the largest component of want. It is NaN if got
// has a NaN.
func relative(got, want []float64) float64 {
	worst, scale := 0.0, 0.0
	for i, w := range want {
		if got[i] != w { // the difference of equal infinities would be NaN
			worst = maxError(worst, math.Abs(got[i]-w))
		}
		scale = max(scale, math.Abs(w))
	}
	if worst == 0 || scale == 0 {
		return worst
	}
	return worst / scale
}

// relativeSparse is relative for a sparse matrix, whose elements outside of the pattern are zero.
func relativeSparse(p *sparsity.Pattern, got []float64, want []problems.Element) float64 {
	inside := make([]float64, p.NNZ())
	outside := map[[2]int]float64{}
	for _, e := range want {
		if k, has := p.Index(e.Row, e.Col); has {
			inside[k] += e.Value
		} else {
			outside[[2]int{e.Row, e.Col}] += e.Value
		}
	}
	for _, v := range outside {
		got, inside = append(got, 0), append(inside, v)
	}
	return relative(got, inside)
}

// maxError returns the larger of two errors; NaN is larger than any number.
func maxError(a, b float64) float64 {
	if a != a || b != b {
		return math.NaN()
	}
	return max(a, b)
}
