// Package vector computes functions of package math for many numbers at once, with the same bits.
//
// Where the processor has AVX2 and FMA, four numbers are computed at a time, and eight with AVX-512, by the operations
// that package math performs for one, in their order; of powers the exponentials and logarithms. Whether the results
// are the same is checked once, on some thousand numbers: with a version of Go, or for a level of the processor, that
// computes a function in another way, the kernels for four numbers or package math do all. Numbers near the ends of the
// range, and those that are not finite, are left to package math.
package vector

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

//go:generate go run ./internal/genkernels

// A function is one of package math, with kernels that compute blocks of numbers.
type function struct {
	one    func(float64) float64
	number int     // its place in the list of package genkernels
	center float64 // of the numbers by which the kernels are checked

	chosen  atomic.Bool
	once    sync.Once
	kernels kernels // valid once chosen is true
}

// kernels are the entries of those for blocks of eight and of four numbers, or 0 for none.
type kernels struct{ eight, four uintptr }

var (
	exp   = &function{number: 0, one: math.Exp}
	log   = &function{number: 1, one: math.Log, center: 1}
	log1p = &function{number: 2, one: math.Log1p}
	expm1 = &function{number: 3, one: math.Expm1}
	sin   = &function{number: 4, one: math.Sin}
	cos   = &function{number: 5, one: math.Cos}
	tanh  = &function{number: 6, one: math.Tanh}
)

// checked returns the kernels that return the bits of package math. It is inlined.
func (f *function) checked() kernels {
	if !f.chosen.Load() {
		f.choose()
	}
	return f.kernels
}

func (f *function) choose() {
	f.once.Do(func() {
		f.kernels = f.agreeing(f.available())
		f.chosen.Store(true)
	})
}

// agreeing returns those kernels that agree with the function, at distances from the center between 1e-12 and 1e3 to
// both sides.
func (f *function) agreeing(k kernels) kernels {
	if k == (kernels{}) {
		return k
	}
	const n = 1 << 12
	src, want, got := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range src {
		d := math.Pow(10, 15*float64(i)/n-12)
		if src[i] = f.center + d; i%2 == 1 {
			src[i] = f.center - math.Mod(d, 700)
		}
		want[i] = f.one(src[i])
	}
	agrees := func(k kernels) bool {
		f.compute(k, got, src)
		return slices.EqualFunc(got, want, same)
	}
	if !agrees(kernels{four: k.four}) {
		k.four = 0
	}
	if !agrees(kernels{eight: k.eight}) {
		k.eight = 0
	}
	return k
}

// available returns the kernels for which the processor has instructions.
func (f *function) available() kernels {
	var k kernels
	if supported() {
		k.four = entry(f.number, 4)
		if wide() {
			k.eight = entry(f.number, 8)
		}
	}
	return k
}

// apply is compute with the kernels of this processor, in less time where one call of a kernel computes all: that for
// the 16 numbers of generated code takes some nanoseconds.
func (f *function) apply(dst, src []float64) {
	dst = dst[:len(src)]
	k, n := f.checked(), 0
	switch {
	case len(src) >= 8 && k.eight != 0:
		n = 8 * run(k.eight, &dst[0], &src[0], len(src)/8)
	case len(src) >= 4 && k.four != 0:
		n = 4 * run(k.four, &dst[0], &src[0], len(src)/4)
	}
	if n < len(src) {
		f.compute(k, dst[n:], src[n:])
	}
}

// compute sets dst, which has the length of src. A block that a kernel leaves out is computed without it, and so are
// the numbers that do not fill one.
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
