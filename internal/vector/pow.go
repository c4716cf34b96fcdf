package vector

import (
	"math"
	"math/rand/v2"
	"sync"
)

// powChunk is the number of powers that are computed together.
const powChunk = 64

// powers are the steps of math.Pow for some numbers at once: the fractional part of the exponent by exponentials and
// logarithms, and the integer part by multiplications.
type powers struct {
	log, frac [powChunk]float64 // log x and the fractional part, then x to the power of it
	whole     [powChunk]int64
	rest      [powChunk]bool // left to package math
}

// compute sets dst = x^y for at most powChunk numbers.
func (p *powers) compute(dst, x, y []float64) {
	n := len(x)
	y, dst = y[:n], dst[:n]
	fractions := false
	for i, v := range x {
		w := math.Abs(y[i])
		yi := math.Trunc(w)
		yf := w - yi
		// Package math has cases for these.
		p.rest[i] = !(v >= 0x1p-1022 && v <= math.MaxFloat64 && v != 1 && w < 1<<62 && w != 0 && w != 0.5 && y[i] != 1)
		p.log[i], p.frac[i], p.whole[i] = v, 0, 0
		switch {
		case p.rest[i]:
			p.log[i] = 1
		case yf != 0:
			if fractions = true; yf > 0.5 {
				yf--
				yi++
			}
			fallthrough
		default:
			p.frac[i], p.whole[i] = yf, int64(yi)
		}
	}
	if fractions {
		log.apply(p.log[:n], p.log[:n])
		for i, v := range p.log[:n] {
			p.log[i] = p.frac[i] * v
		}
		exp.apply(p.log[:n], p.log[:n])
	}
	for i, v := range x {
		if p.rest[i] {
			dst[i] = math.Pow(v, y[i])
			continue
		}
		a := 1.0
		if p.frac[i] != 0 {
			a = p.log[i]
		}
		dst[i] = scaled(a, v, p.whole[i], y[i] < 0)
	}
}

const (
	exponent     = 0x7ff << 52
	exponentHalf = 1022 << 52 // of numbers from 0.5 to 1
)

// scaled returns a·xⁿ, or its inverse, for a normal x.
func scaled(a, x float64, n int64, inverse bool) float64 {
	bits := math.Float64bits(x)
	x1, xe := math.Float64frombits(bits&^exponent|exponentHalf), int(bits>>52)-1022
	ae := 0
	for ; n != 0; n >>= 1 {
		if xe < -1<<12 || 1<<12 < xe {
			ae += xe
			break
		}
		if n&1 == 1 {
			a *= x1
			ae += xe
		}
		x1 *= x1
		xe <<= 1
		if x1 < .5 {
			x1 += x1
			xe--
		}
	}
	if inverse {
		a = 1 / a
		ae = -ae
	}
	bits = math.Float64bits(a)
	if e := int(bits >> 52); e > 0 && e < 0x7ff && e+ae > 0 && e+ae < 0x7ff {
		return math.Float64frombits(bits + uint64(ae)<<52)
	}
	return math.Ldexp(a, ae)
}

// powAgrees compares powers with those of package math.
var powAgrees = sync.OnceValue(func() bool {
	if exp.checked() == (kernels{}) || log.checked() == (kernels{}) {
		return false
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var p powers
	var x, y, got [powChunk]float64
	for range 64 {
		for i := range x {
			x[i], y[i] = math.Exp(20*rng.NormFloat64()), 4*rng.NormFloat64()
			if rng.IntN(2) == 0 {
				y[i] = math.Round(y[i])
			}
		}
		p.compute(got[:], x[:], y[:])
		for i, v := range got {
			if !same(v, math.Pow(x[i], y[i])) {
				return false
			}
		}
	}
	return true
})

// Pow sets dst[i] = math.Pow(x[i], y[i]). dst and y have at least the length of x, and dst may be x or y.
func Pow(dst, x, y []float64) {
	if len(x) < 4 || !powAgrees() {
		for i, v := range x {
			dst[i] = math.Pow(v, y[i])
		}
		return
	}
	var p powers
	for len(x) > 0 {
		n := min(len(x), powChunk)
		p.compute(dst[:n], x[:n], y[:n])
		dst, x, y = dst[n:], x[n:], y[n:]
	}
}

// PowScalar sets dst[i] = math.Pow(x[i], y). dst has at least the length of x, and may be x.
func PowScalar(dst, x []float64, y float64) {
	var ys [powChunk]float64
	for i := range ys[:min(len(x), powChunk)] {
		ys[i] = y
	}
	for len(x) > 0 {
		n := min(len(x), powChunk)
		Pow(dst[:n], x[:n], ys[:n])
		dst, x = dst[n:], x[n:]
	}
}
