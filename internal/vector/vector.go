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
)

// A function is one of package math, with a kernel for blocks of four numbers.
type function struct {
	one     func(float64) float64
	kernel  kernel
	checked func() bool // reports whether the kernel returns the bits of one
}

// A kernel is the number of a function in assembly.
type kernel int

const (
	expKernel kernel = iota
	logKernel
	log1pKernel
	expm1Kernel
	sinKernel
	cosKernel
	tanhKernel
)

// run computes blocks of four numbers and returns their number before one that it leaves out. It calls the functions by
// their names, so that its arguments do not escape.
func (k kernel) run(dst, src []float64) int {
	blocks := len(src) / 4
	switch k {
	case expKernel:
		return expBlocks(&dst[0], &src[0], blocks)
	case logKernel:
		return logBlocks(&dst[0], &src[0], blocks)
	case log1pKernel:
		return log1pBlocks(&dst[0], &src[0], blocks)
	case expm1Kernel:
		return expm1Blocks(&dst[0], &src[0], blocks)
	case sinKernel:
		return sinBlocks(&dst[0], &src[0], blocks)
	case cosKernel:
		return cosBlocks(&dst[0], &src[0], blocks)
	}
	return tanhBlocks(&dst[0], &src[0], blocks)
}

var (
	exp   = newFunction(math.Exp, expKernel, 0)
	log   = newFunction(math.Log, logKernel, 1)
	log1p = newFunction(math.Log1p, log1pKernel, 0)
	expm1 = newFunction(math.Expm1, expm1Kernel, 0)
	sin   = newFunction(math.Sin, sinKernel, 0)
	cos   = newFunction(math.Cos, cosKernel, 0)
	tanh  = newFunction(math.Tanh, tanhKernel, 0)
)

// newFunction returns a function whose arguments are around a center.
func newFunction(one func(float64) float64, k kernel, center float64) *function {
	f := &function{one: one, kernel: k}
	f.checked = sync.OnceValue(func() bool { return supported() && f.agrees(center) })
	return f
}

// agrees compares the kernel with the function, at distances from center between 1e-12 and 1e3 to both sides.
func (f *function) agrees(center float64) bool {
	const n = 1 << 12
	src, dst := make([]float64, n), make([]float64, n)
	for i := range src {
		d := math.Pow(10, 15*float64(i)/n-12)
		if src[i] = center + d; i%2 == 1 {
			src[i] = center - math.Mod(d, 700)
		}
	}
	f.blocks(dst, src)
	for i, x := range src {
		if !same(dst[i], f.one(x)) {
			return false
		}
	}
	return true
}

// blocks computes dst = f(src), whose length is a multiple of 4.
func (f *function) blocks(dst, src []float64) {
	for len(src) > 0 {
		n := 4 * f.kernel.run(dst, src)
		dst, src = dst[n:], src[n:]
		for i := range min(4, len(src)) {
			dst[i] = f.one(src[i])
		}
		dst, src = dst[min(4, len(src)):], src[min(4, len(src)):]
	}
}

func (f *function) apply(dst, src []float64) {
	dst = dst[:len(src)]
	n := 0
	if len(src) >= 4 && f.checked() {
		n = len(src) &^ 3
		f.blocks(dst[:n], src[:n])
	}
	for i, x := range src[n:] {
		dst[n+i] = f.one(x)
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
