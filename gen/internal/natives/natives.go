// Package natives has, for tests that evaluate, the functions that the functions of
// gen/lower/testdata/rules call by rules.
package natives

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower/testdata/rules"
)

// Path is that of the package of functions.
const Path = "github.com/nabla-ad/nabla/gen/lower/testdata/rules"

// Rules are for [ir.Machine].
func Rules() map[string]func([]ir.Value) []ir.Value {
	out := map[string]func([]ir.Value) []ir.Value{}
	for name, f := range map[string]any{
		Path + ".Root": rules.Root, Path + ".Squares": rules.Squares, Path + ".Forwards": rules.Forwards,
		Path + ".Backwards": rules.Backwards, Path + ".Least": rules.Least, Path + ".Turn": rules.Turn, "(*" + Path + ".Pair).Inner": (*rules.Pair).Inner,
		"math.Lgamma": math.Lgamma, "math.Sincos": math.Sincos, "math.Modf": math.Modf, "math.Frexp": math.Frexp,
	} {
		out[name] = ir.Native(f)
	}
	const fl, bl, me = "gonum.org/v1/gonum/floats.", "gonum.org/v1/gonum/blas/blas64.", "gonum.org/v1/gonum/mathext."
	for name, f := range map[string]any{
		"Add": floats.Add, "AddConst": floats.AddConst, "AddScaled": floats.AddScaled, "AddTo": floats.AddTo,
		"CumSum": floats.CumSum, "Distance": floats.Distance, "Div": floats.Div, "Dot": floats.Dot,
		"LogSumExp": floats.LogSumExp, "Max": floats.Max, "Mul": floats.Mul, "Norm": floats.Norm,
		"Scale": floats.Scale, "ScaleTo": floats.ScaleTo, "SubTo": floats.SubTo, "Sum": floats.Sum,
	} {
		out[fl+name] = ir.Native(f)
	}
	for name, f := range map[string]any{
		"Axpy": blas64.Axpy, "Copy": blas64.Copy, "Dot": blas64.Dot, "Gemm": blas64.Gemm, "Gemv": blas64.Gemv,
		"Ger": blas64.Ger, "Nrm2": blas64.Nrm2, "Trsv": blas64.Trsv,
	} {
		out[bl+name] = ir.Native(f)
	}
	for name, f := range map[string]any{
		"Beta": mathext.Beta, "Digamma": mathext.Digamma, "GammaIncReg": mathext.GammaIncReg, "Lbeta": mathext.Lbeta,
		"RegIncBeta": mathext.RegIncBeta,
	} {
		out[me+name] = ir.Native(f)
	}
	return out
}
