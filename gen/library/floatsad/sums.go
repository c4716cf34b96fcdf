package floatsad

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// DotTangent is the tangent of floats.Dot.
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

// DotPullback is the pullback of floats.Dot.
func DotPullback(s1, s2, s1Bar, s2Bar []float64, vBar float64) {
	if s1Bar != nil {
		floats.AddScaled(s1Bar, vBar, s2)
	}
	if s2Bar != nil {
		floats.AddScaled(s2Bar, vBar, s1)
	}
}

// SumTangent is the tangent of floats.Sum.
func SumTangent(s, sDot []float64) (v, vDot float64) { return floats.Sum(s), floats.Sum(sDot) }

// SumPullback is the pullback of floats.Sum.
func SumPullback(s, sBar []float64, vBar float64) { floats.AddConst(vBar, sBar) }

// SumCompensatedTangent is the tangent of floats.SumCompensated.
func SumCompensatedTangent(s, sDot []float64) (v, vDot float64) {
	return floats.SumCompensated(s), floats.SumCompensated(sDot)
}

// SumCompensatedPullback is the pullback of floats.SumCompensated.
func SumCompensatedPullback(s, sBar []float64, vBar float64) { floats.AddConst(vBar, sBar) }

// ProdTangent is the tangent of floats.Prod.
func ProdTangent(s, sDot []float64) (v, vDot float64) {
	v = 1
	for i, x := range s {
		vDot = vDot*x + v*at(sDot, i)
		v *= x
	}
	return v, vDot
}

// ProdPullback is the pullback of floats.Prod. It allocates.
func ProdPullback(s, sBar []float64, vBar float64) {
	before := prefixes(s)
	for i := len(sBar) - 1; i >= 0; i-- {
		sBar[i] += vBar * before[i]
		vBar *= s[i]
	}
}

// MaxTangent is the tangent of floats.Max. The derivative is that of the first of the largest elements.
func MaxTangent(s, sDot []float64) (v, vDot float64) {
	i := floats.MaxIdx(s)
	return s[i], at(sDot, i)
}

// MaxPullback is the pullback of floats.Max.
func MaxPullback(s, sBar []float64, vBar float64) { give(sBar, floats.MaxIdx(s), vBar) }

// MinTangent is the tangent of floats.Min. The derivative is that of the first of the smallest elements.
func MinTangent(s, sDot []float64) (v, vDot float64) {
	i := floats.MinIdx(s)
	return s[i], at(sDot, i)
}

// MinPullback is the pullback of floats.Min.
func MinPullback(s, sBar []float64, vBar float64) { give(sBar, floats.MinIdx(s), vBar) }

// LogSumExpTangent is the tangent of floats.LogSumExp. If that is infinite, the derivative is that of the first of the
// largest elements.
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

// LogSumExpPullback is the pullback of floats.LogSumExp.
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

// expSum returns the greatest element and the sum of exponentials of the distances to it. Quotients with the sum are
// the
// weights of elements. Those by way of the result, exp(x-v), have its rounding error, which is large if it is.
func expSum(s []float64) (top, sum float64) {
	top = s[floats.MaxIdx(s)]
	for _, x := range s {
		sum += math.Exp(x - top)
	}
	return top, sum
}

// NormTangent is the tangent of floats.Norm with respect to s. At 0 the derivative is 0; for L = +Inf it is that of the
// first of the elements of largest magnitude.
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

// NormPullback is the pullback of floats.Norm by s.
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

// slope returns the derivative of the norm v with respect to an element x, x·|x|^(L-2)/v^(L-1), and whether all other
// derivatives are 0.
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

// DistanceTangent is the tangent of floats.Distance by s and t, see [NormTangent].
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

// DistancePullback is the pullback of floats.Distance by s and t.
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
