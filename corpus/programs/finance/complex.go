package finance

import "math/cmplx"

func cmplxSqrt(z complex128) complex128 { return cmplx.Sqrt(z) }
func cmplxExp(z complex128) complex128  { return cmplx.Exp(z) }
func cmplxLog(z complex128) complex128  { return cmplx.Log(z) }
