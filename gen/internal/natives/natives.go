// Package natives has the functions that the evaluator calls for rules: those with a rule in package library, those
// with which package mathextad computes derivatives, and those of gen/lower/testdata/rules.
package natives

import (
	"maps"
	"slices"
	"sort"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/library/lapackad"
	"github.com/nabla-ad/nabla/gen/library/matad"
	"github.com/nabla-ad/nabla/gen/library/mathextad"
	"github.com/nabla-ad/nabla/gen/lower/testdata/rules"
)

// Path is the import path of gen/lower/testdata/rules.
const Path = "github.com/nabla-ad/nabla/gen/lower/testdata/rules"

// Rules returns a new map for [ir.Machine.Rules]: the functions of [Library], those with which
// package mathextad computes derivatives, and those of package rules.
func Rules() map[string]func([]ir.Value) []ir.Value {
	out := maps.Clone(library)
	for name, f := range map[string]any{
		Path + ".Root": rules.Root, Path + ".Squares": rules.Squares, Path + ".Forwards": rules.Forwards,
		Path + ".Backwards": rules.Backwards, Path + ".Least": rules.Least, Path + ".Turn": rules.Turn,
		"(*" + Path + ".Pair).Inner": (*rules.Pair).Inner,
	} {
		out[name] = ir.Native(f)
	}
	for name, f := range map[string]any{
		"BetaBell": mathextad.BetaBell, "BetaInvShape": mathextad.BetaInvShape,
		"BetaInvSlope": mathextad.BetaInvSlope, "BetaShape": mathextad.BetaShape, "BetaSlope": mathextad.BetaSlope,
		"GammaBell": mathextad.GammaBell, "GammaInvShape": mathextad.GammaInvShape,
		"GammaInvSlope": mathextad.GammaInvSlope, "GammaShape": mathextad.GammaShape,
		"GammaSlope": mathextad.GammaSlope,
	} {
		out["github.com/nabla-ad/nabla/gen/library/mathextad."+name] = ir.Native(f)
	}
	for name, f := range map[string]any{
		"AddOuter": matad.AddOuter, "AddPairs": matad.AddPairs, "AddSymProduct": matad.AddSymProduct,
		"AddTriProduct": matad.AddTriProduct, "AdjugateLU": matad.AdjugateLU,
		"CholeskyCondition": matad.CholeskyCondition, "ConditionNumber": matad.ConditionNumber,
		"ConditionQR": matad.ConditionQR, "DetLU": matad.DetLU,
		"EigenElement": matad.EigenElement, "EigenValues": matad.EigenValues, "EigenVectors": matad.EigenVectors,
		"ElementCholesky": matad.ElementCholesky, "ElementLU": matad.ElementLU, "Exponential": matad.Exponential,
		"FactorCholesky": matad.FactorCholesky, "FactorEigen": matad.FactorEigen, "FactorLU": matad.FactorLU,
		"FactorQR": matad.FactorQR, "FactorSVD": matad.FactorSVD, "Gram": matad.Gram,
		"InverseCholesky": matad.InverseCholesky, "InverseLU": matad.InverseLU, "InverseTri": matad.InverseTri,
		"LUCondition": matad.LUCondition, "LUNorm": matad.LUNorm, "LogDetCholesky": matad.LogDetCholesky,
		"LogDetLU": matad.LogDetLU, "LongVectors": matad.LongVectors, "Magnitude": matad.Magnitude,
		"MakeCholesky": matad.MakeCholesky, "MatrixCholesky": matad.MatrixCholesky, "MultiplyQR": matad.MultiplyQR,
		"Product": matad.Product, "ProductVec": matad.ProductVec, "ReadCholesky": matad.ReadCholesky,
		"ReadLU": matad.ReadLU, "ReflectedQ": matad.ReflectedQ, "ShortVectors": matad.ShortVectors,
		"SingularQR": matad.SingularQR, "SingularValues": matad.SingularValues, "SolveBoth": matad.SolveBoth,
		"SolveCholesky": matad.SolveCholesky, "SolveLU": matad.SolveLU, "SolveQR": matad.SolveQR,
		"ThinQ": matad.ThinQ, "TriSolve": matad.TriSolve, "UpdateCholesky": matad.UpdateCholesky,
		"UpdateLU": matad.UpdateLU, "UpperR": matad.UpperR,
	} {
		out["github.com/nabla-ad/nabla/gen/library/matad."+name] = ir.Native(f)
	}
	for name, f := range map[string]any{
		"Unencoded": lapackad.Unencoded, "Unreflected": lapackad.Unreflected, "Unrotated": lapackad.Unrotated,
	} {
		out["github.com/nabla-ad/nabla/gen/library/lapackad."+name] = ir.Native(f)
	}
	return out
}

// Library returns the functions that have a rule in package library, by full name. The caller must not modify the map.
func Library() map[string]func([]ir.Value) []ir.Value { return library }

var library = func() map[string]func([]ir.Value) []ir.Value {
	out := map[string]func([]ir.Value) []ir.Value{}
	for path, list := range map[string]map[string]any{
		"gonum.org/v1/gonum/floats": {
			"Add": floats.Add, "AddConst": floats.AddConst, "AddScaled": floats.AddScaled,
			"AddScaledTo": floats.AddScaledTo,
			"AddTo":       floats.AddTo, "CumProd": floats.CumProd, "CumSum": floats.CumSum,
			"Distance": floats.Distance,
			"Div":      floats.Div, "DivTo": floats.DivTo, "Dot": floats.Dot, "LogSumExp": floats.LogSumExp,
			"Max": floats.Max,
			"Min": floats.Min, "Mul": floats.Mul, "MulTo": floats.MulTo, "Norm": floats.Norm, "Prod": floats.Prod,
			"Scale": floats.Scale, "ScaleTo": floats.ScaleTo, "Span": floats.Span, "Sub": floats.Sub,
			"SubTo": floats.SubTo,
			"Sum":   floats.Sum, "SumCompensated": floats.SumCompensated,
		},
		"gonum.org/v1/gonum/blas/blas64": {
			"Asum": blas64.Asum, "Axpy": blas64.Axpy, "Copy": blas64.Copy, "Dot": blas64.Dot, "Gemm": blas64.Gemm,
			"Gemv": blas64.Gemv, "Ger": blas64.Ger, "Nrm2": blas64.Nrm2, "Scal": blas64.Scal, "Swap": blas64.Swap,
			"Symm": blas64.Symm, "Symv": blas64.Symv, "Syr": blas64.Syr, "Syr2": blas64.Syr2, "Syr2k": blas64.Syr2k,
			"Syrk": blas64.Syrk, "Trmm": blas64.Trmm, "Trmv": blas64.Trmv, "Trsm": blas64.Trsm, "Trsv": blas64.Trsv,
		},
		"gonum.org/v1/gonum/mathext": {
			"Beta": mathext.Beta, "CompleteE": mathext.CompleteE, "CompleteK": mathext.CompleteK,
			"Digamma":   mathext.Digamma,
			"EllipticE": mathext.EllipticE, "EllipticF": mathext.EllipticF, "GammaIncReg": mathext.GammaIncReg,
			"GammaIncRegComp": mathext.GammaIncRegComp, "GammaIncRegCompInv": mathext.GammaIncRegCompInv,
			"GammaIncRegInv": mathext.GammaIncRegInv, "InvRegIncBeta": mathext.InvRegIncBeta, "Lbeta": mathext.Lbeta,
			"MvLgamma": mathext.MvLgamma, "NormalQuantile": mathext.NormalQuantile, "RegIncBeta": mathext.RegIncBeta,
			"Zeta": mathext.Zeta,
		},
		"sort":   {"Float64s": sort.Float64s},
		"slices": {"Sort": slices.Sort[[]float64]},
	} {
		for name, f := range list {
			out[path+"."+name] = ir.Native(f)
		}
	}
	return out
}()
