package library_test

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"

	"github.com/nabla-ad/nabla/gen/library/blas64ad"
	"github.com/nabla-ad/nabla/gen/library/floatsad"
	"github.com/nabla-ad/nabla/gen/library/mathextad"
	"github.com/nabla-ad/nabla/gen/library/sortad"
)

// shapes holds the names of the functions whose derivatives with respect to shapes are among the checks.
var shapes = map[string]bool{}

func checks() (out []*check) {
	add := func(name string, f, tangent, pullback any, passive []int, lists ...[]any) {
		for _, args := range lists {
			out = append(out, &check{name, f, tangent, pullback, args, passive})
		}
	}
	list := func(args ...any) []any { return args }
	slice := func(x ...float64) []float64 { return x }
	x := func() []float64 { return slice(0.7, -1.3, 2.1, 0.4) }
	y := func() []float64 { return slice(1.5, 0.6, -0.8, 1.1) }
	z := func() []float64 { return slice(-0.2, 0.9, 1.7, 3) }
	one := x() // a slice that several parameters are

	const fl = "gonum.org/v1/gonum/floats."
	two := [][]any{list(x(), y()), list(one, one)}
	add(fl+"Add", floats.Add, floatsad.AddTangent, floatsad.AddPullback, nil, two...)
	add(fl+"Sub", floats.Sub, floatsad.SubTangent, floatsad.SubPullback, nil, two...)
	add(fl+"Mul", floats.Mul, floatsad.MulTangent, floatsad.MulPullback, nil, two...)
	add(fl+"Div", floats.Div, floatsad.DivTangent, floatsad.DivPullback, nil, two...)
	add(fl+"Dot", floats.Dot, floatsad.DotTangent, floatsad.DotPullback, nil, two...)
	add(fl+"CumSum", floats.CumSum, floatsad.CumSumTangent, floatsad.CumSumPullback, nil, two...)
	add(fl+"CumProd", floats.CumProd, floatsad.CumProdTangent, floatsad.CumProdPullback, nil,
		append(two, list(x(), slice(2, 0, 3, 0)))...)
	three := [][]any{list(x(), y(), z()), list(one, one, z()), list(one, y(), one), list(x(), one, one),
		list(one, one, one)}
	add(fl+"AddTo", floats.AddTo, floatsad.AddToTangent, floatsad.AddToPullback, nil, three...)
	add(fl+"SubTo", floats.SubTo, floatsad.SubToTangent, floatsad.SubToPullback, nil, three...)
	add(fl+"MulTo", floats.MulTo, floatsad.MulToTangent, floatsad.MulToPullback, nil, three...)
	add(fl+"DivTo", floats.DivTo, floatsad.DivToTangent, floatsad.DivToPullback, nil, three...)
	add(fl+"AddConst", floats.AddConst, floatsad.AddConstTangent, floatsad.AddConstPullback, nil, list(1.5, x()))
	add(fl+"Scale", floats.Scale, floatsad.ScaleTangent, floatsad.ScalePullback, nil, list(1.5, x()), list(0.0, x()))
	add(fl+"ScaleTo", floats.ScaleTo, floatsad.ScaleToTangent, floatsad.ScaleToPullback, nil, list(x(), 1.5, y()),
		list(one, 1.5, one))
	add(fl+"AddScaled", floats.AddScaled, floatsad.AddScaledTangent, floatsad.AddScaledPullback, nil,
		list(x(), 1.5, y()), list(one, 1.5, one))
	add(fl+"AddScaledTo", floats.AddScaledTo, floatsad.AddScaledToTangent, floatsad.AddScaledToPullback, nil,
		list(x(), y(), 1.5, z()), list(one, one, 1.5, z()), list(one, y(), 1.5, one), list(one, one, 1.5, one))
	add(fl+"Span", floats.Span, floatsad.SpanTangent, floatsad.SpanPullback, nil, list(x(), -0.5, 2.0))
	add(fl+"Sum", floats.Sum, floatsad.SumTangent, floatsad.SumPullback, nil, list(x()), list(slice()))
	add(fl+"SumCompensated", floats.SumCompensated, floatsad.SumCompensatedTangent, floatsad.SumCompensatedPullback,
		nil, list(x()))
	add(fl+"Prod", floats.Prod, floatsad.ProdTangent, floatsad.ProdPullback, nil, list(x()), list(slice(2, 0, 3)),
		list(slice(0, 0)))
	add(fl+"Max", floats.Max, floatsad.MaxTangent, floatsad.MaxPullback, nil, list(x()))
	add(fl+"Min", floats.Min, floatsad.MinTangent, floatsad.MinPullback, nil, list(x()))
	add(fl+"LogSumExp", floats.LogSumExp, floatsad.LogSumExpTangent, floatsad.LogSumExpPullback, nil, list(x()),
		list(slice(900, 899, -1000)))
	sorted := [][]any{list(x()), list(slice()), list(slice(3, -1, 2, 2.5, -4)), list(slice(1, 2, 3))}
	add("sort.Float64s", sort.Float64s, sortad.Float64sTangent, sortad.Float64sPullback, nil, sorted...)
	add("slices.Sort", slices.Sort[[]float64], sortad.SortTangent, sortad.SortPullback, nil, sorted...)
	for _, L := range []float64{1, 2, 3, 1.5, math.Inf(1)} {
		add(fl+"Norm", floats.Norm, floatsad.NormTangent, floatsad.NormPullback, []int{1}, list(x(), L))
		add(fl+"Distance", floats.Distance, floatsad.DistanceTangent, floatsad.DistancePullback, []int{2},
			list(x(), y(), L))
	}
	add(fl+"Distance", floats.Distance, floatsad.DistanceTangent, floatsad.DistancePullback, []int{2},
		list(one, one, 2.0))

	const me = "gonum.org/v1/gonum/mathext."
	add(me+"Beta", mathext.Beta, mathextad.BetaTangent, mathextad.BetaPullback, nil, list(1.5, 0.7))
	add(me+"Lbeta", mathext.Lbeta, mathextad.LbetaTangent, mathextad.LbetaPullback, nil, list(1.5, 0.7))
	add(me+"Digamma", mathext.Digamma, mathextad.DigammaTangent, mathextad.DigammaPullback, nil, list(1.7), list(-0.6))
	add(me+"MvLgamma", mathext.MvLgamma, mathextad.MvLgammaTangent, mathextad.MvLgammaPullback, nil, list(2.7, 3),
		list(2.7, 1))
	add(me+"NormalQuantile", mathext.NormalQuantile, mathextad.NormalQuantileTangent, mathextad.NormalQuantilePullback,
		nil, list(0.3), list(0.9))
	add(me+"CompleteK", mathext.CompleteK, mathextad.CompleteKTangent, mathextad.CompleteKPullback, nil, list(0.3),
		list(0.9), list(0.01))
	add(me+"CompleteE", mathext.CompleteE, mathextad.CompleteETangent, mathextad.CompleteEPullback, nil, list(0.3),
		list(0.9), list(0.01))
	angles := [][]any{list(0.7, 0.3), list(-1.2, 0.8), list(2.0, 0.4)}
	add(me+"EllipticF", mathext.EllipticF, mathextad.EllipticFTangent, mathextad.EllipticFPullback, nil, angles...)
	add(me+"EllipticE", mathext.EllipticE, mathextad.EllipticETangent, mathextad.EllipticEPullback, nil, angles...)
	gammas := [][]any{list(1.5, 0.7), list(0.4, 0.2), list(3.0, 5.0)}
	add(me+"GammaIncReg", mathext.GammaIncReg, mathextad.GammaIncRegTangent, mathextad.GammaIncRegPullback, []int{0},
		gammas...)
	add(me+"GammaIncRegComp", mathext.GammaIncRegComp, mathextad.GammaIncRegCompTangent,
		mathextad.GammaIncRegCompPullback, []int{0}, gammas...)
	add(me+"GammaIncRegInv", mathext.GammaIncRegInv, mathextad.GammaIncRegInvTangent, mathextad.GammaIncRegInvPullback,
		[]int{0}, list(1.5, 0.7), list(2.0, 0.2))
	add(me+"GammaIncRegCompInv", mathext.GammaIncRegCompInv, mathextad.GammaIncRegCompInvTangent,
		mathextad.GammaIncRegCompInvPullback, []int{0}, list(1.5, 0.7), list(2.0, 0.2))
	add(me+"RegIncBeta", mathext.RegIncBeta, mathextad.RegIncBetaTangent, mathextad.RegIncBetaPullback, []int{0, 1},
		list(1.5, 0.7, 0.4), list(3.0, 2.0, 0.8))
	add(me+"InvRegIncBeta", mathext.InvRegIncBeta, mathextad.InvRegIncBetaTangent, mathextad.InvRegIncBetaPullback,
		[]int{0, 1}, list(1.5, 0.7, 0.4), list(3.0, 2.0, 0.8))
	for _, c := range []struct {
		name                 string
		f, tangent, pullback any
		lists                [][]any
	}{
		{"GammaIncReg", mathext.GammaIncReg, mathextad.GammaIncRegShapeTangent, mathextad.GammaIncRegShapePullback,
			gammas},
		{"GammaIncRegComp", mathext.GammaIncRegComp, mathextad.GammaIncRegCompShapeTangent,
			mathextad.GammaIncRegCompShapePullback, gammas},
		{"GammaIncRegInv", mathext.GammaIncRegInv, mathextad.GammaIncRegInvShapeTangent,
			mathextad.GammaIncRegInvShapePullback, [][]any{list(1.5, 0.7), list(2.0, 0.4)}},
		{"GammaIncRegCompInv", mathext.GammaIncRegCompInv, mathextad.GammaIncRegCompInvShapeTangent,
			mathextad.GammaIncRegCompInvShapePullback, [][]any{list(1.5, 0.7), list(2.0, 0.2)}},
		{"RegIncBeta", mathext.RegIncBeta, mathextad.RegIncBetaShapeTangent, mathextad.RegIncBetaShapePullback,
			[][]any{list(1.5, 0.7, 0.4), list(2.0, 3.0, 0.5), list(3.0, 2.0, 0.8)}},
		{"InvRegIncBeta", mathext.InvRegIncBeta, mathextad.InvRegIncBetaShapeTangent,
			mathextad.InvRegIncBetaShapePullback, [][]any{list(1.5, 0.7, 0.4), list(3.0, 2.0, 0.8)}},
	} {
		shapes[me+c.name] = true
		add(me+c.name, c.f, c.tangent, c.pullback, nil, c.lists...)
	}
	add(me+"Zeta", mathext.Zeta, mathextad.ZetaTangent, mathextad.ZetaPullback, []int{0}, list(2.5, 0.7),
		list(4.0, 1.0))

	const bl = "gonum.org/v1/gonum/blas/blas64."
	vec := func(n, inc int, x ...float64) blas64.Vector { return blas64.Vector{N: n, Data: x, Inc: inc} }
	u := func(inc int) blas64.Vector { return vec(3, inc, 0.7, -1.3, 2.1, 0.4, 0.9, -0.6) }
	v := func(inc int) blas64.Vector { return vec(3, inc, 1.5, 0.6, -0.8, 1.1, 0.2, 2.2) }
	same := u(2)
	vectors := [][]any{list(u(1), v(1)), list(u(2), v(-1)), list(same, same)}
	add(bl+"Dot", blas64.Dot, blas64ad.DotTangent, blas64ad.DotPullback, nil, vectors...)
	// Vectors that overlap, such as rows and columns of one matrix.
	row := slice(0.7, -1.3, 2.1, 0.4, 0.9, -0.6, 1.7)
	overlapping := append(vectors, list(vec(4, 1, row[1:]...), vec(4, 1, row...)),
		list(vec(4, 1, row...), vec(4, 1, row[2:]...)), list(vec(3, 1, row[2:]...), vec(3, 3, row...)),
		list(vec(3, 2, row...), vec(3, 1, row[1:]...)), list(vec(4, -1, row...), vec(4, 1, row[1:]...)),
		list(vec(3, -2, row...), vec(3, -2, row[2:]...)))
	add(bl+"Copy", blas64.Copy, blas64ad.CopyTangent, blas64ad.CopyPullback, nil, overlapping...)
	add(bl+"Swap", blas64.Swap, blas64ad.SwapTangent, blas64ad.SwapPullback, nil, overlapping...)
	add(bl+"Nrm2", blas64.Nrm2, blas64ad.Nrm2Tangent, blas64ad.Nrm2Pullback, nil, list(u(1)), list(u(2)))
	add(bl+"Asum", blas64.Asum, blas64ad.AsumTangent, blas64ad.AsumPullback, nil, list(u(1)), list(u(2)))
	add(bl+"Scal", blas64.Scal, blas64ad.ScalTangent, blas64ad.ScalPullback, nil, list(1.5, u(1)), list(0.0, u(2)))
	for _, l := range vectors {
		add(bl+"Axpy", blas64.Axpy, blas64ad.AxpyTangent, blas64ad.AxpyPullback, nil, list(1.5, l[0], l[1]))
	}
	matrix := func(rows, cols int) blas64.General {
		m := blas64.General{Rows: rows, Cols: cols, Stride: cols + 1, Data: make([]float64, rows*(cols+1))}
		for i := range m.Data {
			m.Data[i] = math.Sin(float64(3*i + rows))
		}
		return m
	}
	w := func(inc int) blas64.Vector { return vec(2, inc, 0.3, -0.9, 1.2, 0.8) }
	for _, beta := range []float64{0, 0.6} {
		add(bl+"Gemv", blas64.Gemv, blas64ad.GemvTangent, blas64ad.GemvPullback, nil,
			list(blas.NoTrans, 1.5, matrix(2, 3), u(2), beta, w(1)),
			list(blas.Trans, 1.5, matrix(2, 3), w(-1), beta, u(2)),
			list(blas.NoTrans, 1.5, matrix(2, 3), blas64.Vector{Data: x(), Inc: 1}, beta,
				blas64.Vector{Data: y()[:2], Inc: 1}))
		for _, tA := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			for _, tB := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				a, b := matrix(2, 3), matrix(3, 2)
				if tA == blas.Trans {
					a = matrix(3, 2)
				}
				if tB == blas.Trans {
					b = matrix(2, 3)
				}
				add(bl+"Gemm", blas64.Gemm, blas64ad.GemmTangent, blas64ad.GemmPullback, nil,
					list(tA, tB, 1.5, a, b, beta, matrix(2, 2)))
			}
		}
		gram := matrix(3, 2)
		add(bl+"Gemm", blas64.Gemm, blas64ad.GemmTangent, blas64ad.GemmPullback, nil,
			list(blas.Trans, blas.NoTrans, 1.5, gram, gram, beta, matrix(2, 2)))
		for _, uplo := range []blas.Uplo{blas.Upper, blas.Lower} {
			s := blas64.Symmetric{Uplo: uplo, N: 3, Stride: 4, Data: matrix(3, 3).Data}
			add(bl+"Symv", blas64.Symv, blas64ad.SymvTangent, blas64ad.SymvPullback, nil,
				list(1.5, s, u(2), beta, v(-1)))
		}
	}
	add(bl+"Ger", blas64.Ger, blas64ad.GerTangent, blas64ad.GerPullback, nil, list(1.5, w(2), u(1), matrix(2, 3)),
		list(1.5, same, same, matrix(3, 3)))
	for _, t := range []blas.Transpose{blas.NoTrans, blas.Trans} {
		for _, uplo := range []blas.Uplo{blas.Upper, blas.Lower} {
			for _, diag := range []blas.Diag{blas.Unit, blas.NonUnit} {
				a := blas64.Triangular{Uplo: uplo, Diag: diag, N: 3, Stride: 4, Data: matrix(3, 3).Data}
				for i := range 3 {
					a.Data[i*5] += 2
				}
				add(bl+"Trmv", blas64.Trmv, blas64ad.TrmvTangent, blas64ad.TrmvPullback, nil, list(t, a, u(2)),
					list(t, a, u(-1)))
				add(bl+"Trsv", blas64.Trsv, blas64ad.TrsvTangent, blas64ad.TrsvPullback, nil, list(t, a, u(2)),
					list(t, a, u(-1)))
			}
		}
	}
	return append(out, level3()...)
}

// level3 returns the checks of symmetric updates and of products with triangles and symmetric matrices, for all flags.
func level3() (out []*check) {
	const bl = "gonum.org/v1/gonum/blas/blas64."
	add := func(name string, f, tangent, pullback any, args ...any) {
		out = append(out, &check{bl + name, f, tangent, pullback, args, nil})
	}
	data := func(rows, cols int, seed float64) []float64 {
		x := make([]float64, rows*(cols+1))
		for i := range x {
			x[i] = math.Sin(float64(3*i)+seed) + 0.1
		}
		return x
	}
	general := func(rows, cols int) blas64.General {
		return blas64.General{Rows: rows, Cols: cols, Stride: cols + 1, Data: data(rows, cols, float64(rows))}
	}
	vector := func(inc int, seed float64) blas64.Vector {
		return blas64.Vector{N: 3, Data: data(3, 1, seed), Inc: inc}
	}
	for _, uplo := range []blas.Uplo{blas.Upper, blas.Lower} {
		symmetric := func(n int) blas64.Symmetric {
			return blas64.Symmetric{Uplo: uplo, N: n, Stride: n + 1, Data: data(n, n, 1)}
		}
		same := vector(1, 2)
		for _, inc := range []int{1, 2, -1} {
			add("Syr", blas64.Syr, blas64ad.SyrTangent, blas64ad.SyrPullback, 1.5, vector(inc, 1), symmetric(3))
			add("Syr2", blas64.Syr2, blas64ad.Syr2Tangent, blas64ad.Syr2Pullback, 1.5, vector(inc, 1),
				vector(-inc, 2), symmetric(3))
		}
		add("Syr2", blas64.Syr2, blas64ad.Syr2Tangent, blas64ad.Syr2Pullback, 1.5, same, same, symmetric(3))
		for _, t := range []blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans} {
			a, b := general(3, 2), general(3, 2)
			if t != blas.NoTrans {
				a, b = general(2, 3), general(2, 3)
			}
			b.Data = data(b.Rows, b.Cols, 5)
			for _, beta := range []float64{0, 0.6, 1} {
				add("Syrk", blas64.Syrk, blas64ad.SyrkTangent, blas64ad.SyrkPullback, t, 1.5, a, beta, symmetric(3))
				add("Syr2k", blas64.Syr2k, blas64ad.Syr2kTangent, blas64ad.Syr2kPullback, t, 1.5, a, b, beta,
					symmetric(3))
			}
			add("Syr2k", blas64.Syr2k, blas64ad.Syr2kTangent, blas64ad.Syr2kPullback, t, 1.5, a, a, 0.6, symmetric(3))
			add("Syrk", blas64.Syrk, blas64ad.SyrkTangent, blas64ad.SyrkPullback, t, 0.0, a, 0.6, symmetric(3))
		}
		for _, s := range []blas.Side{blas.Left, blas.Right} {
			n := 3
			if s == blas.Right {
				n = 2
			}
			for _, beta := range []float64{0, 0.6, 1} {
				c := general(3, 2)
				c.Data = data(3, 2, 7)
				add("Symm", blas64.Symm, blas64ad.SymmTangent, blas64ad.SymmPullback, s, 1.5, symmetric(n),
					general(3, 2), beta, c)
			}
			for _, t := range []blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans} {
				for _, diag := range []blas.Diag{blas.Unit, blas.NonUnit} {
					a := blas64.Triangular{Uplo: uplo, Diag: diag, N: n, Stride: n + 1, Data: data(n, n, 1)}
					for i := range n {
						a.Data[i*(n+2)] += 2
					}
					for _, alpha := range []float64{1, 1.5} {
						add("Trmm", blas64.Trmm, blas64ad.TrmmTangent, blas64ad.TrmmPullback, s, t, alpha, a,
							general(3, 2))
						add("Trsm", blas64.Trsm, blas64ad.TrsmTangent, blas64ad.TrsmPullback, s, t, alpha, a,
							general(3, 2))
					}
				}
			}
		}
	}
	return out
}
