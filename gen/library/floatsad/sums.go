package floatsad

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// DotTangent returns s1·s2 and its tangent s1Dot·s2 + s1·s2Dot.
func DotTangent(s1, s2, s1Dot, s2Dot []float64) (v, vDot float64) {
	v = floats.Dot(s1, s2)
	if s1Dot != nil {
		vDot += floats.Dot(s1Dot, s2)
	}
	if s2Dot != nil {
		vDot += floats.Dot(s1, s2Dot)
	}
	return v, vDot
}

// DotPullback adds vBar·s2 to s1Bar and vBar·s1 to s2Bar.
func DotPullback(s1, s2, s1Bar, s2Bar []float64, vBar float64) {
	if s1Bar != nil {
		floats.AddScaled(s1Bar, vBar, s2)
	}
	if s2Bar != nil {
		floats.AddScaled(s2Bar, vBar, s1)
	}
}

// SumTangent returns Σ s[i] and its tangent Σ sDot[i].
func SumTangent(s, sDot []float64) (v, vDot float64) { return floats.Sum(s), floats.Sum(sDot) }

// SumPullback adds vBar to each sBar[i].
func SumPullback(s, sBar []float64, vBar float64) { floats.AddConst(vBar, sBar) }

// SumCompensatedTangent returns Σ s[i] and its tangent Σ sDot[i], both by floats.SumCompensated.
func SumCompensatedTangent(s, sDot []float64) (v, vDot float64) {
	return floats.SumCompensated(s), floats.SumCompensated(sDot)
}

// SumCompensatedPullback adds vBar to each sBar[i].
func SumCompensatedPullback(s, sBar []float64, vBar float64) { floats.AddConst(vBar, sBar) }

// ProdTangent returns Π s[i] and its tangent. It applies the product rule to one factor after the other and does not
// divide by elements, which may be 0.
func ProdTangent(s, sDot []float64) (v, vDot float64) {
	v = 1
	for i, x := range s {
		vDot = vDot*x + v*at(sDot, i)
		v *= x
	}
	return v, vDot
}

// ProdPullback adds vBar times the product of all other elements to each sBar[i]. It multiplies the products of the
// elements before and after i, and allocates the former.
func ProdPullback(s, sBar []float64, vBar float64) {
	before := prefixes(s)
	for i := len(sBar) - 1; i >= 0; i-- {
		sBar[i] += vBar * before[i]
		vBar *= s[i]
	}
}

// MaxTangent returns the largest element s[k] and its tangent sDot[k], where k is its first index.
func MaxTangent(s, sDot []float64) (v, vDot float64) {
	i := floats.MaxIdx(s)
	return s[i], at(sDot, i)
}

// MaxPullback adds vBar to sBar[k], where k is the first index of the largest element.
func MaxPullback(s, sBar []float64, vBar float64) { give(sBar, floats.MaxIdx(s), vBar) }

// MinTangent returns the smallest element s[k] and its tangent sDot[k], where k is its first index.
func MinTangent(s, sDot []float64) (v, vDot float64) {
	i := floats.MinIdx(s)
	return s[i], at(sDot, i)
}

// MinPullback adds vBar to sBar[k], where k is the first index of the smallest element.
func MinPullback(s, sBar []float64, vBar float64) { give(sBar, floats.MinIdx(s), vBar) }

// LogSumExpTangent returns log Σ exp(s[i]) and its tangent Σ w[i]·sDot[i], where w[i] is exp(s[i]) / Σ exp(s[j]). If
// the value is infinite, the tangent is that of the first of the largest elements.
func LogSumExpTangent(s, sDot []float64) (v, vDot float64) {
	v = floats.LogSumExp(s)
	if math.IsInf(v, 0) {
		return v, at(sDot, floats.MaxIdx(s))
	}
	top, sum := expSum(s)
	for i, t := range sDot {
		vDot += math.Exp(s[i]-top) / sum * t
	}
	return v, vDot
}

// LogSumExpPullback adds w[i]·vBar to sBar[i], with the weights of [LogSumExpTangent]; if the value is infinite, vBar
// to that of the first of the largest elements only.
func LogSumExpPullback(s, sBar []float64, vBar float64) {
	if sBar == nil {
		return
	}
	if v := floats.LogSumExp(s); math.IsInf(v, 0) {
		sBar[floats.MaxIdx(s)] += vBar
		return
	}
	top, sum := expSum(s)
	for i, x := range s {
		sBar[i] += math.Exp(x-top) / sum * vBar
	}
}

// expSum returns the largest element, top, and sum = Σ exp(s[i]-top), so that exp(s[i]-top)/sum is the weight of
// element i. Weights computed as exp(s[i]-v) from the result v would have the absolute rounding error of v, which is
// large if v is.
func expSum(s []float64) (top, sum float64) {
	top = s[floats.MaxIdx(s)]
	for _, x := range s {
		sum += math.Exp(x - top)
	}
	return top, sum
}

// NormTangent returns the L-norm v of s and its tangent with respect to s, Σ ∂v/∂s[i]·sDot[i], with ∂v/∂s[i] as in
// slope: 0 at s = 0. For L = +Inf it is the tangent of the magnitude of the first of the elements of largest magnitude.
func NormTangent(s []float64, L float64, sDot []float64) (v, vDot float64) {
	v = floats.Norm(s, L)
	done := false
	for i, t := range sDot {
		w, last := slope(s[i], v, L)
		if !done {
			vDot += times(w, t)
		}
		done = done || last
	}
	return v, vDot
}

// NormPullback adds ∂v/∂s[i]·vBar to sBar[i], with the derivatives of [NormTangent]. There is no cotangent of L.
func NormPullback(s []float64, L float64, sBar []float64, vBar float64) {
	if sBar == nil {
		return
	}
	v := floats.Norm(s, L)
	for i, x := range s {
		w, last := slope(x, v, L)
		sBar[i] += times(w, vBar)
		if last {
			return
		}
	}
}

// slope returns the derivative of the L-norm v with respect to an element x, x·|x|^(L-2)/v^(L-1), or 0 for v = 0. last
// reports that the derivatives with respect to all later elements are taken to be 0, as in the maximum norm.
func slope(x, v, L float64) (w float64, last bool) {
	sign := 0.0
	if x > 0 {
		sign = 1
	} else if x < 0 {
		sign = -1
	}
	switch {
	case v == 0:
		return 0, false
	case L == 1:
		return sign, false
	case math.IsInf(L, 1):
		if math.Abs(x) == v {
			return sign, true
		}
		return 0, false
	case L == 2:
		return x / v, false
	}
	if x == 0 {
		return 0, false
	}
	return sign * math.Pow(math.Abs(x)/v, L-1), false
}

// DistanceTangent returns the L-norm of s-t and its tangent with respect to s and t, Σ w[i]·(sDot[i]-tDot[i]), where w
// is the derivative of the norm at s-t, see [NormTangent].
func DistanceTangent(s, t []float64, L float64, sDot, tDot []float64) (v, vDot float64) {
	v = floats.Distance(s, t, L)
	done := false
	for i := range s {
		w, last := slope(s[i]-t[i], v, L)
		if !done {
			vDot += times(w, at(sDot, i)-at(tDot, i))
		}
		done = done || last
	}
	return v, vDot
}

// DistancePullback adds w[i]·vBar to sBar[i] and subtracts it from tBar[i], where w is the derivative of the norm at
// s-t, see [NormTangent].
func DistancePullback(s, t []float64, L float64, sBar, tBar []float64, vBar float64) {
	v := floats.Distance(s, t, L)
	for i := range s {
		w, last := slope(s[i]-t[i], v, L)
		give(sBar, i, times(w, vBar))
		give(tBar, i, -times(w, vBar))
		if last {
			return
		}
	}
}
