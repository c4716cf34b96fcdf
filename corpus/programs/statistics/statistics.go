// Package statistics has programs that estimate: likelihoods, regressions, smoothing and resampling.
package statistics

import (
	"errors"
	"fmt"
	"math"
	"math/rand"
	"sort"
	"strings"
)

// A Sample is a list of observations with weights.
type Sample struct {
	values, weights []float64
}

// Option changes a sample.
type Option func(*Sample)

// WithWeights sets the weights.
func WithWeights(w []float64) Option { return func(s *Sample) { s.weights = w } }

// NewSample makes a sample.
func NewSample(values []float64, opts ...Option) *Sample {
	s := &Sample{values: values}
	for _, o := range opts {
		o(s)
	}
	if s.weights == nil {
		s.weights = make([]float64, len(values))
		for i := range s.weights {
			s.weights[i] = 1
		}
	}
	return s
}

// Mean is the weighted mean.
func (s *Sample) Mean() float64 {
	sum, total := 0.0, 0.0
	for i, v := range s.values {
		sum += v * s.weights[i]
		total += s.weights[i]
	}
	return sum / total
}

// Moment is a central moment.
func (s *Sample) Moment(k int) float64 {
	m := s.Mean()
	sum, total := 0.0, 0.0
	for i, v := range s.values {
		sum += math.Pow(v-m, float64(k)) * s.weights[i]
		total += s.weights[i]
	}
	return sum / total
}

// Skewness is that of a weighted sample.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1
func Skewness(x []float64) float64 {
	s := NewSample(x, WithWeights([]float64{1, 2, 1, 0.5, 1, 1}))
	return s.Moment(3) / math.Pow(s.Moment(2), 1.5)
}

// JarqueBera is a test statistic for normality.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1
func JarqueBera(x []float64) float64 {
	s := NewSample(x)
	skew := s.Moment(3) / math.Pow(s.Moment(2), 1.5)
	kurt := s.Moment(4) / math.Pow(s.Moment(2), 2)
	return float64(len(x)) / 6 * (skew*skew + (kurt-3)*(kurt-3)/4)
}

// TrimmedMean leaves out the smallest and the largest values.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1
func TrimmedMean(x []float64) float64 {
	s := append([]float64{}, x...)
	sort.Slice(s, func(i, j int) bool { return s[i] < s[j] })
	s = s[1 : len(s)-1]
	sum := 0.0
	for _, v := range s {
		sum += v
	}
	return sum / float64(len(s))
}

// Gini is the Gini coefficient of incomes.
//
//corpus:at 12 7 22 19 4 11
func Gini(incomes []float64) float64 {
	n := len(incomes)
	sorted := make([]float64, n)
	copy(sorted, incomes)
	sort.Sort(sort.Float64Slice(sorted))
	cum, total := 0.0, 0.0
	for i, v := range sorted {
		cum += float64(i+1) * v
		total += v
	}
	return 2*cum/(float64(n)*total) - float64(n+1)/float64(n)
}

// A record of a survey.
type record struct {
	group string
	value float64
}

// Anova is the F statistic of a comparison of groups.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1
func Anova(x []float64) float64 {
	labels := []string{"a", "b", "a", "c", "b", "c"}
	var records []record
	for i, v := range x {
		records = append(records, record{labels[i], v})
	}
	groups := make(map[string][]float64)
	grand := 0.0
	for _, r := range records {
		groups[r.group] = append(groups[r.group], r.value)
		grand += r.value / float64(len(records))
	}
	keys := make([]string, 0, len(groups))
	for k := range groups {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	between, within := 0.0, 0.0
	for _, k := range keys {
		mean := 0.0
		for _, v := range groups[k] {
			mean += v / float64(len(groups[k]))
		}
		between += float64(len(groups[k])) * (mean - grand) * (mean - grand)
		for _, v := range groups[k] {
			within += (v - mean) * (v - mean)
		}
	}
	return between / 2 / (within / 3)
}

// Likelihood is a negative log likelihood of a logistic regression.
//
//corpus:at 0.3 -0.7 0.2
func Likelihood(beta []float64) float64 {
	data := [][]float64{{1, 0.5, 1.2}, {1, -1, 0.3}, {1, 2, -0.7}, {1, 0.1, 0.1}}
	labels := []bool{true, false, true, false}
	nll := 0.0
	for i, row := range data {
		z := 0.0
		for j := range row {
			z += row[j] * beta[j]
		}
		p := 1 / (1 + math.Exp(-z))
		if labels[i] {
			nll -= math.Log(p)
		} else {
			nll -= math.Log(1 - p)
		}
	}
	return nll
}

// A Kernel is a smoothing kernel.
type Kernel interface {
	Weight(u float64) float64
	fmt.Stringer
}

type gaussian struct{}

func (gaussian) Weight(u float64) float64 { return math.Exp(-u*u/2) / math.Sqrt(2*math.Pi) }
func (gaussian) String() string           { return "gaussian" }

type epanechnikov struct{}

func (epanechnikov) Weight(u float64) float64 {
	if math.Abs(u) >= 1 {
		return 0
	}
	return 0.75 * (1 - u*u)
}
func (epanechnikov) String() string { return "epanechnikov" }

var kernels = map[string]Kernel{"gaussian": gaussian{}, "epanechnikov": epanechnikov{}}

// Smooth is a kernel regression at a point with a bandwidth.
//
//corpus:at 1.4 0.8
func Smooth(x, bandwidth float64) (float64, error) {
	k, ok := kernels["gaussian"]
	if !ok {
		return 0, errors.New("no such kernel")
	}
	return regress(k, x, bandwidth)
}

func regress(k Kernel, x, bandwidth float64) (float64, error) {
	xs, ys := []float64{0, 1, 2, 3}, []float64{0.2, 1.1, 1.9, 2.7}
	num, den := 0.0, 0.0
	for i := range xs {
		w := k.Weight((x - xs[i]) / bandwidth)
		num += w * ys[i]
		den += w
	}
	if den == 0 {
		return 0, fmt.Errorf("%v: no data near %g", k, x)
	}
	return num / den, nil
}

// Compact smooths with a kernel of bounded support, chosen by a switch.
//
//corpus:at 1.4 1.3
func Compact(x, bandwidth float64) (float64, error) {
	choose := func(bounded bool) Kernel {
		if bounded {
			return epanechnikov{}
		}
		return gaussian{}
	}
	return regress(choose(bandwidth > 1), x, bandwidth)
}

// Bootstrap is the deviation of means of resampled data.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1
func Bootstrap(x []float64) float64 {
	rng := rand.New(rand.NewSource(7))
	var means []float64
	for b := 0; b < 20; b++ {
		sum := 0.0
		for range x {
			sum += x[rng.Intn(len(x))]
		}
		means = append(means, sum/float64(len(x)))
	}
	return math.Sqrt(NewSample(means).Moment(2))
}

// Mixture is the likelihood after five steps of expectation and maximisation, from given means.
//
//corpus:at 0.5 2.8
func Mixture(m1, m2 float64) float64 {
	data := []float64{0.1, 0.4, 0.9, 2.2, 2.9, 3.3, 3.1}
	mu := [2]float64{m1, m2}
	share := [2]float64{0.5, 0.5}
	ll := 0.0
	for iter := 0; iter < 5; iter++ {
		var n, sum [2]float64
		ll = 0
		for _, v := range data {
			var p [2]float64
			total := 0.0
			for k := range p {
				p[k] = share[k] * math.Exp(-(v-mu[k])*(v-mu[k]))
				total += p[k]
			}
			ll += math.Log(total)
			for k := range p {
				n[k] += p[k] / total
				sum[k] += p[k] / total * v
			}
		}
		for k := range mu {
			mu[k] = sum[k] / n[k]
			share[k] = n[k] / float64(len(data))
		}
	}
	return ll
}

// Concordance is a smooth form of Kendall's tau.
//
//corpus:at 1.2 0.7 2.2 1.9
func Concordance(x []float64) float64 {
	y := []float64{1, 0.2, 3, 2.2}
	s, n := 0.0, 0
pairs:
	for i := range x {
		for j := range x {
			if j == i {
				continue pairs
			}
			s += math.Tanh(5 * (x[i] - x[j]) * (y[i] - y[j]))
			n++
		}
	}
	return s / float64(n)
}

// Forecast is a forecast by exponential smoothing with trend, of a series in a text.
//
//corpus:at 0.4 0.2
func Forecast(alpha, beta float64) (float64, error) {
	const text = "3.1 4.2 4.0 5.3 6.1 6.0 7.4"
	var series []float64
	for _, word := range strings.Fields(text) {
		var v float64
		if _, err := fmt.Sscan(word, &v); err != nil {
			return 0, err
		}
		series = append(series, v)
	}
	level, trend := series[0], series[1]-series[0]
	sse := 0.0
	for _, v := range series[1:] {
		e := v - level - trend
		sse += e * e
		last := level
		level = alpha*v + (1-alpha)*(level+trend)
		trend = beta*(level-last) + (1-beta)*trend
	}
	return level + trend + sse, nil
}

// Number is a type of numbers.
type Number interface{ ~float32 | ~float64 }

// Sum is the sum of a slice.
func Sum[T Number](x []T) (s T) {
	for _, v := range x {
		s += v
	}
	return s
}

// Map applies a function to each element.
func Map[T, U any](x []T, f func(T) U) []U {
	y := make([]U, 0, len(x))
	for _, v := range x {
		y = append(y, f(v))
	}
	return y
}

// LogMeanExp is a mean in logarithms, with generic helpers.
//
//corpus:at 1.2 0.7 2.2 1.9
func LogMeanExp(x []float64) float64 {
	top := x[0]
	for _, v := range x[1:] {
		top = max(top, v)
	}
	e := Map(x, func(v float64) float64 { return math.Exp(v - top) })
	return top + math.Log(Sum(e)/float64(len(x)))
}
