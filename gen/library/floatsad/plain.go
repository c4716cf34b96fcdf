package floatsad

import "math"

// Plain forms: the functions written as loops, without calls of gonum, from which code over nabla.Real is generated.
// There, a comparison of numbers is a guard: a recording holds only for points at which it has the same outcome. So the
// functions compare as little as possible.

const (
	zeroLength   = "floats: zero length slice"
	shortSpan    = "floats: slice length less than 2"
	badLength    = "floats: slice lengths do not match"
	badDstLength = "floats: destination slice length does not match input"
)

// AddPlain adds s to dst, as floats.Add does.
func AddPlain(dst, s []float64) {
	if len(dst) != len(s) {
		panic(badDstLength)
	}
	for i, v := range s {
		dst[i] += v
	}
}

// AddToPlain sets dst to s + t and returns it, as floats.AddTo does.
func AddToPlain(dst, s, t []float64) []float64 {
	three(dst, s, t)
	for i, v := range s {
		dst[i] = v + t[i]
	}
	return dst
}

// three panics as gonum does if the lengths of the slices differ.
func three(dst, s, t []float64) {
	if len(s) != len(t) {
		panic(badLength)
	}
	if len(dst) != len(s) {
		panic(badDstLength)
	}
}

// SubPlain subtracts s from dst, as floats.Sub does.
func SubPlain(dst, s []float64) {
	if len(dst) != len(s) {
		panic(badLength)
	}
	for i, v := range s {
		dst[i] -= v
	}
}

// SubToPlain sets dst to s - t and returns it, as floats.SubTo does.
func SubToPlain(dst, s, t []float64) []float64 {
	three(dst, s, t)
	for i, v := range s {
		dst[i] = v - t[i]
	}
	return dst
}

// MulPlain multiplies each dst[i] by s[i], as floats.Mul does.
func MulPlain(dst, s []float64) {
	if len(dst) != len(s) {
		panic(badLength)
	}
	for i, v := range s {
		dst[i] *= v
	}
}

// MulToPlain sets each dst[i] to s[i]·t[i] and returns dst, as floats.MulTo does.
func MulToPlain(dst, s, t []float64) []float64 {
	three(dst, s, t)
	for i, v := range t {
		dst[i] = v * s[i]
	}
	return dst
}

// DivPlain divides each dst[i] by s[i], as floats.Div does.
func DivPlain(dst, s []float64) {
	if len(dst) != len(s) {
		panic(badLength)
	}
	for i, v := range s {
		dst[i] /= v
	}
}

// DivToPlain sets each dst[i] to s[i]/t[i] and returns dst, as floats.DivTo does.
func DivToPlain(dst, s, t []float64) []float64 {
	three(dst, s, t)
	for i, v := range s {
		dst[i] = v / t[i]
	}
	return dst
}

// AddConstPlain adds c to each element of dst, as floats.AddConst does.
func AddConstPlain(c float64, dst []float64) {
	for i := range dst {
		dst[i] += c
	}
}

// ScalePlain multiplies each element of dst by c, as floats.Scale does.
func ScalePlain(c float64, dst []float64) {
	for i := range dst {
		dst[i] *= c
	}
}

// ScaleToPlain sets dst to c·s and returns it, as floats.ScaleTo does.
func ScaleToPlain(dst []float64, c float64, s []float64) []float64 {
	if len(dst) != len(s) {
		panic(badDstLength)
	}
	for i, v := range s {
		dst[i] = c * v
	}
	return dst
}

// AddScaledPlain adds alpha·s to dst, as floats.AddScaled does.
func AddScaledPlain(dst []float64, alpha float64, s []float64) {
	if len(dst) != len(s) {
		panic(badLength)
	}
	for i, v := range s {
		dst[i] += alpha * v
	}
}

// AddScaledToPlain sets dst to y + alpha·s and returns it, as floats.AddScaledTo does.
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

// CumSumPlain sets dst[i] to the sum of s[0] to s[i] and returns dst, as floats.CumSum does.
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

// CumProdPlain sets dst[i] to the product of s[0] to s[i] and returns dst, as floats.CumProd does.
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

// SpanPlain sets dst to equidistant numbers from l to u and returns it, as floats.Span does. It panics if dst has fewer
// than two elements.
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

// DotPlain returns Σ s1[i]·s2[i], as floats.Dot does.
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

// SumPlain returns the sum of s, as floats.Sum does.
func SumPlain(s []float64) float64 {
	sum := 0.0
	for _, v := range s {
		sum += v
	}
	return sum
}

// SumCompensatedPlain returns the sum of s, as floats.SumCompensated does. It computes the rounding error of each
// addition without comparing the operands (Knuth, The Art of Computer Programming, volume 2, 4.2.2).
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

// ProdPlain returns the product of s, as floats.Prod does.
func ProdPlain(s []float64) float64 {
	prod := 1.0
	for _, v := range s {
		prod *= v
	}
	return prod
}

// MaxPlain returns the largest element of s, as floats.Max does: NaNs are skipped unless there is nothing else. The
// derivative is that of the first of the largest elements. It panics if s is empty.
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

// MinPlain returns the smallest element of s, as floats.Min does: NaNs are skipped unless there is nothing else. The
// derivative is that of the first of the smallest elements. It panics if s is empty.
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

// LogSumExpPlain returns log Σ exp(s[i]), as floats.LogSumExp does. The exponents are shifted by an integer, the floor
// of the largest element, which is constant for differentiation.
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

// NormPlain returns the L-norm of s, as floats.Norm does, 0 if s is empty.
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
		// For 0 < L < 1 the power has an infinite derivative at 0. Elements that are 0 are skipped, so that the
		// derivative with respect to them is 0.
		if L <= 0 || L >= 1 || v != 0 {
			sum += math.Pow(math.Abs(v), L)
		}
	}
	if sum == 0 && L > 0 {
		return 0
	}
	return math.Pow(sum, 1/L)
}

// largest returns the largest magnitude of an element of s, or 0 with derivative 0 if s is empty. The derivative is
// that of the first element of this magnitude.
func largest(s []float64) float64 {
	top := 0.0
	for _, v := range s {
		top = math.Max(top, math.Abs(v))
	}
	return top
}

// euclid returns the Euclidean norm of s. It divides by a power of two if the sum of squares leaves the range where it
// is accurate. At s = 0 the derivative is 0.
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

// DistancePlain returns the L-norm of s-t, as floats.Distance does, and allocates the difference.
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
