package bench

import (
	"math"

	"github.com/nabla-ad/nabla/internal/problems"
	"github.com/nabla-ad/nabla/sparsity"
)

// geometricMean is the right mean of ratios. NaNs do not count.
func geometricMean(v []float64) float64 {
	sum, n := 0.0, 0
	for _, a := range v {
		if !math.IsNaN(a) {
			sum, n = sum+math.Log(a), n+1
		}
	}
	return math.Exp(sum / float64(n))
}

// breakEven fills in, for the rows of one task, after how many calls preparation has
// paid for itself: the smallest whole k for which
//
//	prepare + k·derivative ≤ k·alternative
//
// where the alternative is the cheapest unprepared call of any engine among the
// rows. An engine that approximates is no alternative to one that does not. Where a
// prepared call takes as long as the alternative, there is no such k: +Inf.
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

// relative is the largest difference of the two, relative to the largest of want.
// It is NaN where got has a NaN.
func relative(got, want []float64) float64 {
	worst, scale := 0.0, 0.0
	for i, w := range want {
		if got[i] != w { // equal infinities have no difference
			worst = worse(worst, math.Abs(got[i]-w))
		}
		scale = max(scale, math.Abs(w))
	}
	if worst == 0 || scale == 0 {
		return worst
	}
	return worst / scale
}

// relativeSparse does the same for a sparse matrix, whose elements off the pattern are zero.
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

// worse is the larger of two errors; NaN is worse than any number.
func worse(a, b float64) float64 {
	if a != a || b != b {
		return math.NaN()
	}
	return max(a, b)
}
