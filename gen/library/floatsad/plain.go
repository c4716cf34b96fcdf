package floatsad

import "math"

// Plain forms: the functions written as loops, which can be lifted to other number types than floats. Comparisons of
// numbers are guards of a recording, so there are few, and their outcomes depend on the elements as little as possible.

const (
	zeroLength   = "floats: zero length slice"
	shortSpan    = "floats: slice length less than 2"
	badLength    = "floats: slice lengths do not match"
	badDstLength = "floats: destination slice length does not match input"
)

// AddPlain is the plain form of floats.Add.
func AddPlain(dst, s []float64) {
	if len(dst) != len(s) {
		panic(badDstLength)
	}
	for i, v := range s {
		dst[i] += v
	}
}

// AddToPlain is the plain form of floats.AddTo.
func AddToPlain(dst, s, t []float64) []float64 {
	three(dst, s, t)
	for i, v := range s {
		dst[i] = v + t[i]
	}
	return dst
}

// three checks that three slices have equal lengths.
func three(dst, s, t []float64) {
	if len(s) != len(t) {
		panic(badLength)
	}
	if len(dst) != len(s) {
		panic(badDstLength)
	}
}

// SubPlain is the plain form of floats.Sub.
func SubPlain(dst, s []float64) {
	if len(dst) != len(s) {
		panic(badLength)
	}
	for i, v := range s {
		dst[i] -= v
	}
}

// SubToPlain is the plain form of floats.SubTo.
func SubToPlain(dst, s, t []float64) []float64 {
	three(dst, s, t)
	for i, v := range s {
		dst[i] = v - t[i]
	}
	return dst
}

// MulPlain is the plain form of floats.Mul.
func MulPlain(dst, s []float64) {
	if len(dst) != len(s) {
		panic(badLength)
	}
	for i, v := range s {
		dst[i] *= v
	}
}

// MulToPlain is the plain form of floats.MulTo.
func MulToPlain(dst, s, t []float64) []float64 {
	three(dst, s, t)
	for i, v := range t {
		dst[i] = v * s[i]
	}
	return dst
}

// DivPlain is the plain form of floats.Div.
func DivPlain(dst, s []float64) {
	if len(dst) != len(s) {
		panic(badLength)
	}
	for i, v := range s {
		dst[i] /= v
	}
}

// DivToPlain is the plain form of floats.DivTo.
func DivToPlain(dst, s, t []float64) []float64 {
	three(dst, s, t)
	for i, v := range s {
		dst[i] = v / t[i]
	}
	return dst
}

// AddConstPlain is the plain form of floats.AddConst.
func AddConstPlain(c float64, dst []float64) {
	for i := range dst {
		dst[i] += c
	}
}

// ScalePlain is the plain form of floats.Scale.
func ScalePlain(c float64, dst []float64) {
	for i := range dst {
		dst[i] *= c
	}
}

// ScaleToPlain is the plain form of floats.ScaleTo.
func ScaleToPlain(dst []float64, c float64, s []float64) []float64 {
	if len(dst) != len(s) {
		panic(badDstLength)
	}
	for i, v := range s {
		dst[i] = c * v
	}
	return dst
}

// AddScaledPlain is the plain form of floats.AddScaled.
func AddScaledPlain(dst []float64, alpha float64, s []float64) {
	if len(dst) != len(s) {
		panic(badLength)
	}
	for i, v := range s {
		dst[i] += alpha * v
	}
}

// AddScaledToPlain is the plain form of floats.AddScaledTo.
func AddScaledToPlain(dst, y []float64, alpha float64, s []float64) []float64 {
	if len(s) != len(y) {
		panic(badLength)
	}
	if len(dst) != len(y) {
		panic(badDstLength)
	}
	for i, v := range s {
		dst[i] = alpha*v + y[i]
	}
	return dst
}

// CumSumPlain is the plain form of floats.CumSum.
func CumSumPlain(dst, s []float64) []float64 {
	if len(dst) != len(s) {
		panic(badDstLength)
	}
	sum := 0.0
	for i, v := range s {
		sum += v
		dst[i] = sum
	}
	return dst
}

// CumProdPlain is the plain form of floats.CumProd.
func CumProdPlain(dst, s []float64) []float64 {
	if len(dst) != len(s) {
		panic(badDstLength)
	}
	prod := 1.0
	for i, v := range s {
		prod *= v
		dst[i] = prod
	}
	return dst
}

// SpanPlain is the plain form of floats.Span.
func SpanPlain(dst []float64, l, u float64) []float64 {
	n := len(dst)
	if n < 2 {
		panic(shortSpan)
	}
	if finite(l) && finite(u) {
		step := (u - l) / float64(n-1)
		for i := range dst {
			dst[i] = l + step*float64(i)
		}
		return dst
	}
	// Ends that are infinite or NaN are themselves elements of the span.
	noL, noU := math.IsNaN(l), math.IsNaN(u)
	both := math.IsInf(l, 0) && math.IsInf(u, 0)
	for i := range dst {
		switch {
		case noL && i < n-1, noU && !noL && i > 0:
			dst[i] = math.NaN()
		case noL:
			dst[i] = u
		case noU:
			dst[i] = l
		case both && n%2 == 1 && i == n/2 && l != u:
			dst[i] = 0
		case both && i < (n+1)/2, !both && math.IsInf(l, 0) && i < n-1, !both && !math.IsInf(l, 0) && i == 0:
			dst[i] = l
		default:
			dst[i] = u
		}
	}
	return dst
}

func finite(x float64) bool { return x-x == 0 }

// DotPlain is the plain form of floats.Dot.
func DotPlain(s1, s2 []float64) float64 {
	if len(s1) != len(s2) {
		panic(badLength)
	}
	sum := 0.0
	for i, v := range s1 {
		sum += v * s2[i]
	}
	return sum
}

// SumPlain is the plain form of floats.Sum.
func SumPlain(s []float64) float64 {
	sum := 0.0
	for _, v := range s {
		sum += v
	}
	return sum
}

// SumCompensatedPlain is the plain form of floats.SumCompensated. The error of each addition is had
// without asking which number is larger (Knuth, The Art of Computer Programming, volume 2, 4.2.2).
func SumCompensatedPlain(s []float64) float64 {
	sum, rest := 0.0, 0.0
	for _, v := range s {
		t := sum + v
		w := t - sum
		rest += (sum - (t - w)) + (v - w)
		sum = t
	}
	return sum + rest
}

// ProdPlain is the plain form of floats.Prod.
func ProdPlain(s []float64) float64 {
	prod := 1.0
	for _, v := range s {
		prod *= v
	}
	return prod
}

// MaxPlain is the plain form of floats.Max: the first of the greatest elements.
func MaxPlain(s []float64) float64 {
	if len(s) == 0 {
		panic(zeroLength)
	}
	top := s[0]
	for _, v := range s[1:] {
		top = math.Max(top, v)
	}
	if !math.IsNaN(top) {
		return top
	}
	first := true
	for _, v := range s {
		if !math.IsNaN(v) && (first || v > top) {
			top, first = v, false
		}
	}
	return top
}

// MinPlain is the plain form of floats.Min: the first of the least elements.
func MinPlain(s []float64) float64 {
	if len(s) == 0 {
		panic(zeroLength)
	}
	least := s[0]
	for _, v := range s[1:] {
		least = math.Min(least, v)
	}
	if !math.IsNaN(least) {
		return least
	}
	first := true
	for _, v := range s {
		if !math.IsNaN(v) && (first || v < least) {
			least, first = v, false
		}
	}
	return least
}

// LogSumExpPlain is the plain form of floats.LogSumExp. Exponents are shifted by a whole number, which has no
// derivative.
func LogSumExpPlain(s []float64) float64 {
	top := MaxPlain(s)
	if math.IsInf(top, 0) {
		return top
	}
	shift := math.Floor(top)
	sum := 0.0
	for _, v := range s {
		sum += math.Exp(v - shift)
	}
	return math.Log(sum) + shift
}

// NormPlain is the plain form of floats.Norm.
func NormPlain(s []float64, L float64) float64 {
	if len(s) == 0 {
		return 0
	}
	switch {
	case L == 2:
		return euclid(s)
	case L == 1:
		sum := 0.0
		for _, v := range s {
			sum += math.Abs(v)
		}
		return sum
	case math.IsInf(L, 1):
		return largest(s)
	}
	sum := 0.0
	for _, v := range s {
		// A power below the first has no derivative at 0, where the norm does not move.
		if L <= 0 || L >= 1 || v != 0 {
			sum += math.Pow(math.Abs(v), L)
		}
	}
	if sum == 0 && L > 0 {
		return 0
	}
	return math.Pow(sum, 1/L)
}

// largest returns the first of the largest magnitudes, 0 for no elements; the derivative is 0 then.
func largest(s []float64) float64 {
	top := 0.0
	for _, v := range s {
		top = math.Max(top, math.Abs(v))
	}
	return top
}

// euclid returns the Euclidean norm. At 0 its derivative is 0.
func euclid(s []float64) float64 {
	sum := 0.0
	for _, v := range s {
		sum += v * v
	}
	if 1e-280 < sum && sum < 1e280 {
		return math.Sqrt(sum)
	}
	if math.IsNaN(sum) {
		return sum
	}
	top := largest(s)
	if top == 0 {
		return 0
	}
	if math.IsInf(top, 1) {
		return top
	}
	_, e := math.Frexp(top)
	sum = 0
	for _, v := range s {
		v = math.Ldexp(v, -e)
		sum += v * v
	}
	return math.Ldexp(math.Sqrt(sum), e)
}

// DistancePlain is the plain form of floats.Distance.
func DistancePlain(s, t []float64, L float64) float64 {
	if len(s) != len(t) {
		panic(badLength)
	}
	d := make([]float64, len(s))
	for i, v := range s {
		d[i] = v - t[i]
	}
	if !math.IsInf(L, 1) {
		return NormPlain(d, L)
	}
	top := largest(d)
	if !math.IsNaN(top) {
		return top
	}
	top = 0
	for _, v := range d { // skips NaN
		if a := math.Abs(v); a > top {
			top = a
		}
	}
	return top
}
