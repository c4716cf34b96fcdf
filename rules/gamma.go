package rules

import "math"

// The positive root of ψ is digammaRootHi + digammaRootLo.
const (
	digammaRootHi = 1.4616321449683622
	digammaRootLo = 9.5499954299656977152e-17
)

// digammaTaylor holds the coefficients ψ^(k)(r)/k!, k ≥ 1, at the positive root r.
var digammaTaylor = [...]float64{
	0.96767224544762117043, -0.44276316898359210609, 0.25849976095565101062, -0.1639427054424065275,
	0.10782405069126236576, -0.072199561256454710926, 0.048804288164143107225, -0.033161126474847359292,
	0.02259764823221810466, -0.015424765904948959139, 0.010538791616612175388, -0.007204534386356868241,
	0.0049267813957298534464, -0.0033698016554393280828, 0.0023051263267349278369, -0.0015769367714301972593,
}

// digamma is ψ(x) = Γ'(x)/Γ(x). Near the positive root it is a Taylor series,
// so the result is accurate relative to itself; near the negative roots it is
// accurate relative to π·cot(πx).
//
//	digamma(±0)                = ∓Inf
//	digamma(negative integer)  = NaN
//	digamma(+Inf)              = +Inf
//	digamma(-Inf)              = NaN
//
// Sources: DLMF 5.5.2 (recurrence), 5.5.4 (reflection), 5.11.2 (asymptotic).
func digamma(x float64) float64 {
	if x <= 0 {
		if x == 0 {
			return math.Copysign(math.Inf(1), -x)
		}
		return digamma(1-x) - math.Pi*cotPi(x)
	}
	if d := x - digammaRootHi; math.Abs(d) < 0.125 {
		d -= digammaRootLo
		s := 0.0
		for i := len(digammaTaylor) - 1; i >= 0; i-- {
			s = s*d + digammaTaylor[i]
		}
		return s * d
	}
	sum := 0.0
	for ; x < 10; x++ {
		sum += 1 / x
	}
	w := 1 / (x * x)
	s := w * (1./12 - w*(1./120-w*(1./252-w*(1./240-w*(1./132-w*(691./32760-w*(1./12)))))))
	return math.Log(x) - 0.5/x - s - sum
}

// cotPi returns cot(πx), NaN for integers and ±Inf.
func cotPi(x float64) float64 {
	r := x - math.RoundToEven(x) // exact
	switch {
	case r == 0:
		return math.NaN()
	case r > 0.25:
		return math.Tan(math.Pi * (0.5 - r))
	case r < -0.25:
		return -math.Tan(math.Pi * (0.5 + r))
	}
	return 1 / math.Tan(math.Pi*r)
}

// polygamma is ψ^(n)(x), the n-th derivative of digamma; n = 0 is digamma.
//
//	polygamma(n, x)  = NaN   if n is negative or not an integer
//	polygamma(n, ±0) = +Inf  for odd n, ∓Inf for even n
//	polygamma(n, negative integer) = +Inf for odd n, NaN for even n
//	polygamma(n, +Inf) = 0   for n ≥ 1
//	polygamma(n, -Inf) = NaN
//
// For x < 0 the reflection formula is used with the derivative of the cotangent
// written as its series of poles, summed by polygamma itself: with a = -x and d
// the fraction of a, Σ n!/(x+k)^(n+1) over k ≥ 0 is the part k ≥ a, which is
// ψ^(n)(1-d), and a finite part, which is ψ^(n)(d) - ψ^(n)(a+1) up to sign.
//
// Orders above 500 lose digits in proportion to the order.
//
// Source: DLMF 5.15.1, 5.15.6.
func polygamma(degree, x float64) float64 {
	switch {
	case !(degree >= 0 && degree <= math.MaxInt32 && degree == math.Trunc(degree)), math.IsNaN(x), math.IsInf(x, -1):
		return math.NaN()
	case degree == 0:
		return digamma(x)
	}
	n := int(degree)
	odd := n&1 == 1
	if x > 0 {
		if p := absPolygamma(n, x); odd {
			return p
		} else {
			return -p
		}
	}
	a := -x
	d := a - math.Floor(a)
	switch {
	case d == 0 && odd:
		return math.Inf(1)
	case a == 0:
		return math.Copysign(math.Inf(1), -x)
	case d == 0:
		return math.NaN()
	case odd:
		return absPolygamma(n, 1-d) + (absPolygamma(n, d) - absPolygamma(n, a+1))
	}
	return (absPolygamma(n, d) - absPolygamma(n, 1-d)) - absPolygamma(n, a+1)
}

// bernoulli holds B(2k)/(2k)!, k ≥ 1.
var bernoulli = [...]float64{
	0.083333333333333333333, -0.0013888888888888888889, 0.000033068783068783068783, -8.2671957671957671958e-7,
	2.0876756987868098979e-8, -5.2841901386874931848e-10, 1.3382536530684678833e-11, -3.3896802963225828668e-13,
	8.5860620562778445641e-15, -2.174868698558061873e-16, 5.5090028283602295152e-18, -1.3954464685812523341e-19,
}

// absPolygamma is |ψ^(n)(x)| = Σ n!/(x+k)^(n+1) over k ≥ 0, for n ≥ 1 and x > 0.
// Factorials and powers are formed together, so they overflow only when the
// result does.
//
// Source: DLMF 5.15.5 (recurrence), 5.15.8 (asymptotic).
func absPolygamma(n int, x float64) float64 {
	if math.IsInf(x, 1) {
		return 0
	}
	far := float64(n + 10) // from here on the asymptotic series is exact to rounding
	fn := float64(n)
	f := 1 / x // (n-1)!/x^n
	if n <= 500 {
		for k := 1; k < n; k++ {
			f *= float64(k) / x
		}
	} else {
		f = math.Exp(lgamma(fn) - fn*math.Log(x)) // the product could underflow on its way
	}
	if x >= far {
		return f * polygammaSeries(n, x)
	}
	// With f·n/x = n!/x^(n+1), the sum is f·n/x·(Σ (x/(x+k))^(n+1) + tail).
	sum, t, X := 0.0, 1.0, x
	for ; X < far && t > 0x1p-60*sum; X++ {
		t = math.Pow(x/X, fn+1)
		sum += t
	}
	if X >= far {
		sum += math.Pow(x/X, fn+1) * (X / fn) * polygammaSeries(n, X)
	}
	return f * (fn / x) * sum
}

// polygammaSeries returns |ψ^(n)(x)|·x^n/(n-1)! for large x.
func polygammaSeries(n int, x float64) float64 {
	s := 1 + float64(n)/(2*x)
	t := 1.0 // n(n+1)…(n+2k-1)/x^2k
	for k, b := range bernoulli {
		i := float64(n + 2*k)
		t *= i / x * ((i + 1) / x)
		s += b * t
		if math.Abs(b*t) < 0x1p-60 {
			break
		}
	}
	return s
}
