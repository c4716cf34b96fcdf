package nuts

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// A Summary describes one number of all draws.
type Summary struct {
	Mean, Deviation float64
	Size            float64 // the effective number of independent draws
	Error           float64 // of the mean
}

// Summarize describes the numbers that of returns for the draws of chains of equal length. The effective size is that
// of Geyer's initial monotone sequence over all chains, as Vehtari et al. (2021) define it.
func Summarize(chains []*Chain, of func(x []float64) float64) Summary {
	n, m := len(chains[0].Draws), float64(len(chains))
	series := make([][]float64, len(chains))
	var all, means, variances []float64
	for c, chain := range chains {
		for _, x := range chain.Draws {
			series[c] = append(series[c], of(x))
		}
		all = append(all, series[c]...)
		mean, variance := stat.MeanVariance(series[c], nil)
		means, variances = append(means, mean), append(variances, variance)
	}
	within := stat.Mean(variances, nil)
	total := within * float64(n-1) / float64(n)
	if len(chains) > 1 {
		total += stat.Variance(means, nil)
	}
	correlation := func(lag int) float64 {
		sum := 0.0
		for c, s := range series {
			for i := range n - lag {
				sum += (s[i] - means[c]) * (s[i+lag] - means[c])
			}
		}
		return 1 - (within-sum/(m*float64(n)))/total
	}
	sum, last := -1.0, math.Inf(1)
	for lag := 0; lag+1 < n; lag += 2 {
		pair := correlation(lag) + correlation(lag+1)
		if pair < 0 {
			break
		}
		last = min(last, pair)
		sum += 2 * last
	}
	size := m * float64(n) / math.Max(sum, 1/math.Log10(m*float64(n)))
	mean, deviation := stat.MeanStdDev(all, nil)
	return Summary{mean, deviation, size, deviation / math.Sqrt(size)}
}
