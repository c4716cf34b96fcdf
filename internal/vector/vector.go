// Package vector computes functions of package math for many numbers at once, with the same bits.
//
// Where the processor has AVX2 and FMA, four numbers are computed at a time, by the operations that package math
// performs for one, in their order; of powers the exponentials and logarithms. Whether the results are the same is
// checked once, on some thousand numbers: with a version of Go, or for a level of the processor, that computes a
// function in another way, package math does all. Numbers near the ends of the range, and those that are not finite,
// are left to package math.
package vector

import (
	"math"
	"sync"
	"sync/atomic"
)

//go:generate go run ./internal/genkernels

// A function is one of package math, with kernels that compute several numbers at a time.
type function struct {
	one    func(float64) float64
	number int     // of its kernels
	center float64 // of the arguments with which they are checked

	once    sync.Once
	chosen  atomic.Bool
	kernels kernels // those that return the bits of one, once they are chosen
}

// kernels are the entries of those for blocks of eight and of four numbers, or 0.
type kernels struct{ eight, four uintptr }

// The order is that of package genkernels.
var (
	exp   = &function{one: math.Exp, number: 0}
	log   = &function{one: math.Log, number: 1, center: 1}
	log1p = &function{one: math.Log1p, number: 2}
	expm1 = &function{one: math.Expm1, number: 3}
	sin   = &function{one: math.Sin, number: 4}
	cos   = &function{one: math.Cos, number: 5}
	tanh  = &function{one: math.Tanh, number: 6}
)

const functionCount = 7

// all returns the kernels for which the processor has instructions.
func (f *function) all() kernels {
	var k kernels
	if supported() {
		k.four = entry(f.number)
	}
	if wide() {
		k.eight = entry(f.number + functionCount)
	}
	return k
}

// checked returns the kernels that return the bits of package math.
func (f *function) checked() kernels {
	if !f.chosen.Load() {
		f.choose()
	}
	return f.kernels
}

func (f *function) choose() {
	f.once.Do(func() {
		k := f.all()
		if !f.agrees(kernels{four: k.four}) {
			k.four = 0
		}
		if !f.agrees(kernels{eight: k.eight}) {
			k.eight = 0
		}
		f.kernels = k
		f.chosen.Store(true)
	})
}

// agrees compares a kernel with the function, at distances from the center between 1e-12 and 1e3 to both sides.
func (f *function) agrees(k kernels) bool {
	const n = 1 << 12
	src, dst := make([]float64, n), make([]float64, n)
	for i := range src {
		d := math.Pow(10, 15*float64(i)/n-12)
		if src[i] = f.center + d; i%2 == 1 {
			src[i] = f.center - math.Mod(d, 700)
		}
	}
	f.compute(k, dst, src)
	for i, x := range src {
		if !same(dst[i], f.one(x)) {
			return false
		}
	}
	return true
}

func (f *function) apply(dst, src []float64) { f.compute(f.checked(), dst[:len(src)], src) }

// compute sets dst, which has the length of src, by kernels: a block that one leaves out is left to the next one.
func (f *function) compute(k kernels, dst, src []float64) {
	if k.eight != 0 {
		for len(src) >= 8 {
			n := 8 * run(k.eight, &dst[0], &src[0], len(src)/8)
			dst, src = dst[n:], src[n:]
			if len(src) >= 8 {
				f.compute(kernels{four: k.four}, dst[:8], src[:8])
				dst, src = dst[8:], src[8:]
			}
		}
	}
	if k.four != 0 {
		for len(src) >= 4 {
			n := 4 * run(k.four, &dst[0], &src[0], len(src)/4)
			dst, src = dst[n:], src[n:]
			if len(src) >= 4 {
				for i, x := range src[:4] {
					dst[i] = f.one(x)
				}
				dst, src = dst[4:], src[4:]
			}
		}
	}
	for i, x := range src {
		dst[i] = f.one(x)
	}
}

// same reports whether a and b have the same bits or are both NaN.
func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

// Exp sets dst[i] = math.Exp(src[i]). dst has at least the length of src, and may be src.
func Exp(dst, src []float64) { exp.apply(dst, src) }

// Log sets dst[i] = math.Log(src[i]). dst has at least the length of src, and may be src.
func Log(dst, src []float64) { log.apply(dst, src) }

// Log1p sets dst[i] = math.Log1p(src[i]). dst has at least the length of src, and may be src.
func Log1p(dst, src []float64) { log1p.apply(dst, src) }

// Expm1 sets dst[i] = math.Expm1(src[i]). dst has at least the length of src, and may be src.
func Expm1(dst, src []float64) { expm1.apply(dst, src) }

// Sin sets dst[i] = math.Sin(src[i]). dst has at least the length of src, and may be src.
func Sin(dst, src []float64) { sin.apply(dst, src) }

// Cos sets dst[i] = math.Cos(src[i]). dst has at least the length of src, and may be src.
func Cos(dst, src []float64) { cos.apply(dst, src) }

// Tanh sets dst[i] = math.Tanh(src[i]). dst has at least the length of src, and may be src.
func Tanh(dst, src []float64) { tanh.apply(dst, src) }

// AnyNaN reports whether v has a NaN.
func AnyNaN(v []float64) bool {
	if len(v) >= 16 && supported() {
		n := len(v) &^ 15
		if nanBlocks(&v[0], n/16) {
			return true
		}
		v = v[n:]
	}
	// Sums do not wait for each other; that of infinities of both signs, or one that overflows, costs only time.
	var a, b, c, d float64
	rest := v
	for ; len(rest) >= 4; rest = rest[4:] {
		a, b, c, d = a+rest[0], b+rest[1], c+rest[2], d+rest[3]
	}
	for _, x := range rest {
		a += x
	}
	if a += b + c + d; a == a {
		return false
	}
	for _, x := range v {
		if x != x {
			return true
		}
	}
	return false
}

// CopyAnyNaN copies src to dst, which has at least its length and does not overlap it, and reports whether src has a
// NaN.
func CopyAnyNaN(dst, src []float64) bool {
	dst = dst[:len(src)]
	nan := false
	if len(src) >= 32 && supported() {
		n := len(src) &^ 15
		nan = copyBlocks(&dst[0], &src[0], n/16)
		dst, src = dst[n:], src[n:]
	}
	copy(dst, src)
	return nan || AnyNaN(src)
}
