package rt

import "github.com/nabla-ad/nabla/internal/vector"

// Exp sets dst[i] to math.Exp(src[i]) for all i, with the same bits, several at a time where the processor can. Dst and
// src have one length, and are one slice or apart. So it is with the functions below.
func Exp(dst, src []float64) { vector.Exp(dst, src) }

// Expm1 is for math.Expm1 what Exp is for math.Exp.
func Expm1(dst, src []float64) { vector.Expm1(dst, src) }

// Log is for math.Log what Exp is for math.Exp.
func Log(dst, src []float64) { vector.Log(dst, src) }

// Log1p is for math.Log1p what Exp is for math.Exp.
func Log1p(dst, src []float64) { vector.Log1p(dst, src) }

// Sin is for math.Sin what Exp is for math.Exp.
func Sin(dst, src []float64) { vector.Sin(dst, src) }

// Cos is for math.Cos what Exp is for math.Exp.
func Cos(dst, src []float64) { vector.Cos(dst, src) }

// Tanh is for math.Tanh what Exp is for math.Exp.
func Tanh(dst, src []float64) { vector.Tanh(dst, src) }

// Pow sets dst[i] to math.Pow(x[i], y[i]) for all i, as Exp does for math.Exp.
func Pow(dst, x, y []float64) { vector.Pow(dst, x, y) }
