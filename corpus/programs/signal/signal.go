// Package signal has programs about signals: transforms, filters and detectors.
package signal

import (
	"math"
	"math/bits"
	"math/cmplx"
	"slices"
)

// fft is the recursive transform of Cooley and Tukey.
func fft(x []complex128) []complex128 {
	n := len(x)
	if n == 1 {
		return x
	}
	even, odd := make([]complex128, n/2), make([]complex128, n/2)
	for i := range even {
		even[i], odd[i] = x[2*i], x[2*i+1]
	}
	e, o := fft(even), fft(odd)
	y := make([]complex128, n)
	for k := range e {
		t := cmplx.Rect(1, -2*math.Pi*float64(k)/float64(n)) * o[k]
		y[k], y[k+n/2] = e[k]+t, e[k]-t
	}
	return y
}

// Power is the power of the low half of the spectrum.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1 -0.3 0.8
func Power(x []float64) float64 {
	c := make([]complex128, len(x))
	for i, v := range x {
		c[i] = complex(v, 0)
	}
	s := 0.0
	for k, v := range fft(c)[:len(x)/2] {
		s += float64(k) * real(v*cmplx.Conj(v))
	}
	return s
}

// InPlace is an amplitude by a transform in place with reversed bits.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1 -0.3 0.8
func InPlace(x []float64) float64 {
	n := len(x)
	re, im := slices.Clone(x), make([]float64, n)
	shift := 64 - bits.Len(uint(n-1))
	for i := range re {
		if j := int(bits.Reverse64(uint64(i)) >> shift); i < j {
			re[i], re[j] = re[j], re[i]
		}
	}
	for size := 2; size <= n; size *= 2 {
		for start := 0; start < n; start += size {
			for k := 0; k < size/2; k++ {
				s, c := math.Sincos(-2 * math.Pi * float64(k) / float64(size))
				i, j := start+k, start+k+size/2
				tr, ti := c*re[j]-s*im[j], c*im[j]+s*re[j]
				re[j], im[j] = re[i]-tr, im[i]-ti
				re[i], im[i] = re[i]+tr, im[i]+ti
			}
		}
	}
	return math.Hypot(re[3], im[3])
}

// Goertzel is the power at one frequency.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1
func Goertzel(x []float64) float64 {
	c := 2 * math.Cos(2*math.Pi*1.3/float64(len(x)))
	s1, s2 := 0.0, 0.0
	for _, v := range x {
		s1, s2 = v+c*s1-s2, s1
	}
	return s1*s1 + s2*s2 - c*s1*s2
}

// Haar is the sum of the shrunken coefficients of a wavelet transform.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1 -0.3 0.8
func Haar(x []float64) float64 {
	a := append([]float64(nil), x...)
	energy := 0.0
	for n := len(a); n > 1; n /= 2 {
		half := make([]float64, n/2)
		for i := range half {
			half[i] = (a[2*i] + a[2*i+1]) / math.Sqrt2
			d := (a[2*i] - a[2*i+1]) / math.Sqrt2
			if math.Abs(d) > 0.2 {
				energy += math.Pow(math.Abs(d)-0.2, 2)
			}
		}
		a = half
	}
	return energy + a[0]
}

// Autocorrelation is the largest normalised autocorrelation, with lags in a list.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1 -0.3 0.8
func Autocorrelation(x []float64) float64 {
	mean := 0.0
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	at := func(lag int) (s float64) {
		for i := lag; i < len(x); i++ {
			s += (x[i] - mean) * (x[i-lag] - mean)
		}
		return
	}
	var list []float64
	for lag := 1; lag < 4; lag++ {
		list = append(list, at(lag)/at(0))
	}
	return slices.Max(list)
}

// Levinson is the prediction error of an autoregressive model.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1 -0.3 0.8
func Levinson(x []float64) float64 {
	const order = 3
	var r [order + 1]float64
	for k := range r {
		for i := k; i < len(x); i++ {
			r[k] += x[i] * x[i-k]
		}
	}
	a := []float64{1}
	e := r[0]
	for k := 1; k <= order; k++ {
		acc := 0.0
		for i, v := range a {
			acc += v * r[k-i]
		}
		reflection := -acc / e
		next := append(a, 0)
		old := slices.Clone(next)
		slices.Reverse(old)
		for i := range next {
			next[i] += reflection * old[i]
		}
		a = next
		e *= 1 - reflection*reflection
	}
	return e
}

// A Filter processes samples.
type Filter interface{ Process(x float64) float64 }

// FilterFunc is a function that is a filter.
type FilterFunc func(float64) float64

// Process calls the function.
func (f FilterFunc) Process(x float64) float64 { return f(x) }

// Delay makes a filter with feedback over a ring of samples.
func Delay(n int, feedback float64) Filter {
	ring := make([]float64, n)
	pos := 0
	return FilterFunc(func(x float64) float64 {
		y := x + feedback*ring[pos]
		ring[pos] = y
		pos = (pos + 1) % n
		return y
	})
}

// Echo is the energy of an echo.
//
//corpus:at 0.6 0.3
func Echo(feedback, drive float64) float64 {
	d := Delay(3, feedback)
	e := 0.0
	for i := 0; i < 12; i++ {
		y := d.Process(math.Tanh(drive * float64(i%4)))
		e += y * y
	}
	return e
}

// MovingRMS is the level of a signal in a window that slides.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1 -0.3 0.8
func MovingRMS(x []float64) []float64 {
	const w = 3
	out := make([]float64, 0, len(x)-w+1)
	sum := 0.0
	for i, v := range x {
		sum += v * v
		if i >= w {
			sum -= x[i-w] * x[i-w]
		}
		if i >= w-1 {
			out = append(out, math.Sqrt(sum/w))
		}
	}
	return out
}

// Envelope is the last level of a follower with attack and release.
//
//corpus:at 0.3 0.05
func Envelope(attack, release float64) float64 {
	level := 0.0
	for i := 0; i < 20; i++ {
		v := math.Abs(math.Sin(float64(i)))
		k := release
		if v > level {
			k = attack
		}
		level += k * (v - level)
	}
	return level
}

// MedianFilter is the energy behind a filter that takes medians.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1
func MedianFilter(x []float64) float64 {
	e := 0.0
	for i := 1; i+1 < len(x); i++ {
		w := []float64{x[i-1], x[i], x[i+1]}
		slices.Sort(w)
		e += w[1] * w[1]
	}
	return e
}

// Pitch is a period by interpolation of the deepest valley of differences.
//
//corpus:at 4.3
func Pitch(period float64) float64 {
	x := make([]float64, 24)
	for i := range x {
		x[i] = math.Sin(2 * math.Pi * float64(i) / period)
	}
	d := make([]float64, 8)
	for lag := range d {
		for i := 0; i < 16; i++ {
			d[lag] += (x[i] - x[i+lag]) * (x[i] - x[i+lag])
		}
	}
	best := 2
	for lag := 3; lag < 7; lag++ {
		if d[lag] < d[best] {
			best = lag
		}
	}
	l, m, r := d[best-1], d[best], d[best+1]
	return float64(best) + (l-r)/(2*(l-2*m+r))
}
