package rt

import "github.com/nabla-ad/nabla/internal/vector"

// Exp sets dst[i] to math.Exp(src[i]) for all i, with the same bits, several at a time where the processor can. Dst and
// src have one length, and are one slice or apart. The functions below do the same for other functions of package math.
func Exp(dst, src []float64) { vector.Exp(dst, src) }

// Expm1 sets dst[i] to math.Expm1(src[i]). See [Exp].
func Expm1(dst, src []float64) { vector.Expm1(dst, src) }

// Log sets dst[i] to math.Log(src[i]). See [Exp].
func Log(dst, src []float64) { vector.Log(dst, src) }

// Log1p sets dst[i] to math.Log1p(src[i]). See [Exp].
func Log1p(dst, src []float64) { vector.Log1p(dst, src) }

// Sin sets dst[i] to math.Sin(src[i]). See [Exp].
func Sin(dst, src []float64) { vector.Sin(dst, src) }

// Cos sets dst[i] to math.Cos(src[i]). See [Exp].
func Cos(dst, src []float64) { vector.Cos(dst, src) }

// Tanh sets dst[i] to math.Tanh(src[i]). See [Exp].
func Tanh(dst, src []float64) { vector.Tanh(dst, src) }

// Pow sets dst[i] to math.Pow(x[i], y[i]) for all i, as Exp does for math.Exp.
func Pow(dst, x, y []float64) { vector.Pow(dst, x, y) }
