// Package library lists the library derivatives: derivatives that come with nabla of functions of
// other modules and of the standard library, namely those of gonum's floats, blas64 and mathext
// that end in assembly or iterate, and those that sort. The functions themselves are not
// differentiated.
//
// The derivatives of path.F are the functions FTangent and FPullback of a package below this one,
// which generated code imports; those of a generic function are for slices of float64. The source
// of these packages is embedded here, since second derivatives differentiate it.
//
// If the package has a function FPlain, code over nabla.Real follows that: it computes the results
// of path.F with loops and functions of package math alone, and panics if path.F does. If the
// derivatives of such code would be inaccurate, since it approximates or iterates, the package that
// [Rule] names in Real has F over Reals instead.
//
// The shapes of a function are parameters by which derivatives cost much more than by the others. FTangent and
// FPullback lack these; calls in which a shape carries a derivative are differentiated by FShapeTangent and
// FShapePullback, and over Reals FShape is called.
//
// A shadow may be nil: to a tangent it is zero, and a pullback does not compute that cotangent.
// Shadows overlap as their primals do.
package library

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

// Path is the import path of this package. The packages of derivatives are below it.
const Path = "github.com/nabla-ad/nabla/gen/library"

//go:embed */*.go
var sources embed.FS

// Source returns the source of the package pkg below this one by file name, nil if there is none. Tests are omitted.
func Source(pkg string) map[string][]byte {
	out := map[string][]byte{}
	list, err := fs.ReadDir(sources, pkg)
	if err != nil {
		return nil
	}
	for _, f := range list {
		if text, err := sources.ReadFile(pkg + "/" + f.Name()); err == nil && !strings.HasSuffix(f.Name(), "_test.go") {
			out[f.Name()] = text
		}
	}
	return out
}

// A Rule describes the derivatives of a function. Parameters are given by name.
type Rule struct {
	Package string   // the package with its derivatives, below this one
	Real    string   // the package of the function over Reals, empty if there is a plain form instead
	Writes  []string // parameters whose memory it writes
	Passive []string // parameters with respect to which it has no derivative
	Shapes  bool     // it has FShapeTangent and FShapePullback too, with derivatives with respect to those in Passive
	Returns string   // the parameter it returns, if it returns memory
}

// Lookup returns the rule for a function by its full name, path.F, and whether there is one.
func Lookup(name string) (Rule, bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return Rule{}, false
	}
	from, ok := table[name[:i]]
	if !ok {
		return Rule{}, false
	}
	text, ok := from.funcs[name[i+1:]]
	if !ok {
		return Rule{}, false
	}
	r := Rule{Package: from.pkg, Real: from.real}
	for _, f := range strings.Fields(text) {
		key, value, _ := strings.Cut(f, "=")
		switch list := strings.Split(value, ","); key {
		case "writes":
			r.Writes = list
		case "passive":
			r.Passive = list
		case "shapes":
			r.Passive, r.Shapes = list, true
		case "returns":
			r.Returns = value
		default:
			panic("library: unknown property " + f + " of " + name)
		}
	}
	return r, true
}

// Packages returns the paths of the packages of derivatives and of functions over Reals, sorted.
func Packages() (out []string) {
	for _, p := range table {
		out = append(out, Path+"/"+p.pkg)
		if p.real != "" {
			out = append(out, Path+"/"+p.real)
		}
	}
	for _, to := range substitutes {
		pkg, _, _ := strings.Cut(to, ".")
		out = append(out, Path+"/"+pkg)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// IsReal reports whether the package pkg below this one has functions over Reals.
func IsReal(pkg string) bool {
	for _, p := range table {
		if p.real == pkg && pkg != "" {
			return true
		}
	}
	return false
}

// Approximates reports whether the functions of a package compute special functions by series and tables that end
// where the value is accurate. The derivative of such a program is that of its branches: it can be wrong in the
// second digit, as for a parameter at which a series ends early. Their callers have rules instead.
func Approximates(path string) bool {
	return strings.HasPrefix(path, "gonum.org/v1/gonum/mathext/internal/")
}

// SkipsZeros reports whether the functions of a package test whether numbers are 0 and leave out terms that are 0
// there, but move, as implementations of BLAS and LAPACK do for the elements of matrices. The derivative of such a
// branch is not that of the function unless the branch is redundant, see package shortcut.
func SkipsZeros(path string) bool {
	path, ok := strings.CutPrefix(path, "gonum.org/v1/gonum/")
	return ok && (path == "blas/gonum" || path == "lapack/gonum" || strings.HasPrefix(path, "internal/asm/"))
}

// Substitute returns the package below this one and the function whose source is differentiated in place of that of
// the method or function with a full name, since it has derivatives where the original tests whether numbers are
// equal, or computes in goroutines.
func Substitute(name string) (pkg, fn string, ok bool) {
	name, ok = substitutes[name]
	pkg, fn, _ = strings.Cut(name, ".")
	return pkg, fn, ok
}

// Twin returns the path and the name of the type that the type with a name in the package pkg below this one has the
// fields of, and whether there is one. A function in whose source a pointer is converted to one to a twin is
// differentiated as one that refers to the unexported fields of the original. The twin is named in the conversion
// only.
func Twin(pkg, name string) (path, of string, ok bool) {
	of, ok = twins[pkg+"."+name]
	i := strings.LastIndexByte(of, '.')
	if !ok {
		return "", "", false
	}
	return of[:i], of[i+1:], true
}

// Reinterpreted returns the package below this one in which memory of the receiver of a method, given by its full
// name, has derivatives with another meaning than its source gives them, "" if there is none: the shadow of a
// factorisation is that of the matrix. Such a method is differentiated by its substitute or not at all.
func Reinterpreted(name string) string {
	recv, method, ok := strings.Cut(name, ").")
	if !ok || transparent[name] || transparent[method] {
		return ""
	}
	for _, twin := range []string{"matad.cholesky", "matad.lu"} {
		if "(*"+twins[twin] == recv {
			pkg, _, _ := strings.Cut(twin, ".")
			return pkg
		}
	}
	return ""
}

// transparent holds methods of types with twins whose own source is differentiated: by name those that look at sizes
// or empty the receiver, by full name those that copy memory with its shadow or call others.
var transparent = map[string]bool{
	"Dims": true, "IsEmpty": true, "Reset": true, "SymmetricDim": true, "T": true,
	"isValid": true, "isZero": true, "succFact": true, "valid": true,
	"(*gonum.org/v1/gonum/mat.Cholesky).Clone": true,
	"(*gonum.org/v1/gonum/mat.Cholesky).Det":   true,
	"(*gonum.org/v1/gonum/mat.LU).Pivot":       true,
	"(*gonum.org/v1/gonum/mat.LU).RowPivots":   true,
	"(*gonum.org/v1/gonum/mat.SVD).Kind":       true,
	"(*gonum.org/v1/gonum/mat.SVD).Rank":       true,
}

var twins = map[string]string{
	"matad.cholesky": "gonum.org/v1/gonum/mat.Cholesky",
	"matad.dense":    "gonum.org/v1/gonum/mat.Dense",
	"matad.eigenSym": "gonum.org/v1/gonum/mat.EigenSym",
	"matad.lq":       "gonum.org/v1/gonum/mat.LQ",
	"matad.lu":       "gonum.org/v1/gonum/mat.LU",
	"matad.qr":       "gonum.org/v1/gonum/mat.QR",
	"matad.svd":      "gonum.org/v1/gonum/mat.SVD",
	"matad.symDense": "gonum.org/v1/gonum/mat.SymDense",
	"matad.vecDense": "gonum.org/v1/gonum/mat.VecDense",
}

var substitutes = map[string]string{
	"(gonum.org/v1/gonum/blas/gonum.Implementation).Dgemm":    "blas64ad.Dgemm",
	"(gonum.org/v1/gonum/blas/gonum.Implementation).Dgemv":    "blas64ad.Dgemv",
	"(gonum.org/v1/gonum/blas/gonum.Implementation).Dger":     "blas64ad.Dger",
	"(gonum.org/v1/gonum/blas/gonum.Implementation).Drotg":    "lapackad.Drotg",
	"(gonum.org/v1/gonum/blas/gonum.Implementation).Dsymm":    "blas64ad.Dsymm",
	"(gonum.org/v1/gonum/blas/gonum.Implementation).Dsymv":    "blas64ad.Dsymv",
	"(gonum.org/v1/gonum/blas/gonum.Implementation).Dsyr":     "blas64ad.Dsyr",
	"(gonum.org/v1/gonum/blas/gonum.Implementation).Dsyr2":    "blas64ad.Dsyr2",
	"(gonum.org/v1/gonum/blas/gonum.Implementation).Dsyr2k":   "blas64ad.Dsyr2k",
	"(gonum.org/v1/gonum/blas/gonum.Implementation).Dsyrk":    "blas64ad.Dsyrk",
	"(gonum.org/v1/gonum/blas/gonum.Implementation).Dtrmm":    "blas64ad.Dtrmm",
	"(gonum.org/v1/gonum/blas/gonum.Implementation).Dtrmv":    "blas64ad.Dtrmv",
	"(gonum.org/v1/gonum/blas/gonum.Implementation).Dtrsm":    "blas64ad.Dtrsm",
	"(gonum.org/v1/gonum/blas/gonum.Implementation).Dtrsv":    "blas64ad.Dtrsv",
	"(gonum.org/v1/gonum/lapack/gonum.Implementation).Dlarf":  "lapackad.Dlarf",
	"(gonum.org/v1/gonum/lapack/gonum.Implementation).Dlarfg": "lapackad.Dlarfg",
	"(gonum.org/v1/gonum/lapack/gonum.Implementation).Dlarft": "lapackad.Dlarft",
	"(gonum.org/v1/gonum/lapack/gonum.Implementation).Dlartg": "lapackad.Dlartg",
	"(gonum.org/v1/gonum/lapack/gonum.Implementation).Dlassq": "lapackad.Dlassq",

	"(*gonum.org/v1/gonum/mat.Cholesky).At":               "matad.CholeskyAt",
	"(*gonum.org/v1/gonum/mat.Cholesky).Cond":             "matad.CholeskyCond",
	"(*gonum.org/v1/gonum/mat.Cholesky).ExtendVecSym":     "matad.CholeskyExtendVecSym",
	"(*gonum.org/v1/gonum/mat.Cholesky).Factorize":        "matad.CholeskyFactorize",
	"(*gonum.org/v1/gonum/mat.Cholesky).InverseTo":        "matad.CholeskyInverseTo",
	"(*gonum.org/v1/gonum/mat.Cholesky).LTo":              "matad.CholeskyLTo",
	"(*gonum.org/v1/gonum/mat.Cholesky).LogDet":           "matad.CholeskyLogDet",
	"(*gonum.org/v1/gonum/mat.Cholesky).RawU":             "matad.CholeskyRawU",
	"(*gonum.org/v1/gonum/mat.Cholesky).Scale":            "matad.CholeskyScale",
	"(*gonum.org/v1/gonum/mat.Cholesky).SetFromU":         "matad.CholeskySetFromU",
	"(*gonum.org/v1/gonum/mat.Cholesky).SolveCholTo":      "matad.CholeskySolveCholTo",
	"(*gonum.org/v1/gonum/mat.Cholesky).SolveTo":          "matad.CholeskySolveTo",
	"(*gonum.org/v1/gonum/mat.Cholesky).SolveVecTo":       "matad.CholeskySolveVecTo",
	"(*gonum.org/v1/gonum/mat.Cholesky).SymRankOne":       "matad.CholeskySymRankOne",
	"(*gonum.org/v1/gonum/mat.Cholesky).ToSym":            "matad.CholeskyToSym",
	"(*gonum.org/v1/gonum/mat.Cholesky).UTo":              "matad.CholeskyUTo",
	"(*gonum.org/v1/gonum/mat.Dense).Add":                 "matad.DenseAdd",
	"(*gonum.org/v1/gonum/mat.Dense).Apply":               "matad.DenseApply",
	"(*gonum.org/v1/gonum/mat.Dense).At":                  "matad.DenseAt",
	"(*gonum.org/v1/gonum/mat.Dense).Augment":             "matad.DenseAugment",
	"(*gonum.org/v1/gonum/mat.Dense).CloneFrom":           "matad.DenseCloneFrom",
	"(*gonum.org/v1/gonum/mat.Dense).Copy":                "matad.DenseCopy",
	"(*gonum.org/v1/gonum/mat.Dense).DivElem":             "matad.DenseDivElem",
	"(*gonum.org/v1/gonum/mat.Dense).Exp":                 "matad.DenseExp",
	"(*gonum.org/v1/gonum/mat.Dense).Inverse":             "matad.DenseInverse",
	"(*gonum.org/v1/gonum/mat.Dense).Kronecker":           "matad.DenseKronecker",
	"(*gonum.org/v1/gonum/mat.Dense).Mul":                 "matad.DenseMul",
	"(*gonum.org/v1/gonum/mat.Dense).MulElem":             "matad.DenseMulElem",
	"(*gonum.org/v1/gonum/mat.Dense).Norm":                "matad.DenseNorm",
	"(*gonum.org/v1/gonum/mat.Dense).Outer":               "matad.DenseOuter",
	"(*gonum.org/v1/gonum/mat.Dense).PermuteCols":         "matad.DensePermuteCols",
	"(*gonum.org/v1/gonum/mat.Dense).PermuteRows":         "matad.DensePermuteRows",
	"(*gonum.org/v1/gonum/mat.Dense).Pow":                 "matad.DensePow",
	"(*gonum.org/v1/gonum/mat.Dense).Product":             "matad.DenseProduct",
	"(*gonum.org/v1/gonum/mat.Dense).RankOne":             "matad.DenseRankOne",
	"(*gonum.org/v1/gonum/mat.Dense).Scale":               "matad.DenseScale",
	"(*gonum.org/v1/gonum/mat.Dense).Set":                 "matad.DenseSet",
	"(*gonum.org/v1/gonum/mat.Dense).Solve":               "matad.DenseSolve",
	"(*gonum.org/v1/gonum/mat.Dense).Stack":               "matad.DenseStack",
	"(*gonum.org/v1/gonum/mat.Dense).Sub":                 "matad.DenseSub",
	"(*gonum.org/v1/gonum/mat.Dense).T":                   "matad.DenseT",
	"(*gonum.org/v1/gonum/mat.Dense).at":                  "matad.DenseAt",
	"(*gonum.org/v1/gonum/mat.Dense).set":                 "matad.DenseSet",
	"(*gonum.org/v1/gonum/mat.DiagDense).At":              "matad.DiagDenseAt",
	"(*gonum.org/v1/gonum/mat.DiagDense).DiagFrom":        "matad.DiagDenseDiagFrom",
	"(*gonum.org/v1/gonum/mat.DiagDense).Norm":            "matad.DiagDenseNorm",
	"(*gonum.org/v1/gonum/mat.DiagDense).SetDiag":         "matad.DiagDenseSetDiag",
	"(*gonum.org/v1/gonum/mat.DiagDense).at":              "matad.DiagDenseAt",
	"(*gonum.org/v1/gonum/mat.DiagDense).setDiag":         "matad.DiagDenseSetDiag",
	"(*gonum.org/v1/gonum/mat.EigenSym).At":               "matad.EigenSymAt",
	"(*gonum.org/v1/gonum/mat.EigenSym).Factorize":        "matad.EigenSymFactorize",
	"(*gonum.org/v1/gonum/mat.EigenSym).RawQ":             "matad.EigenSymRawQ",
	"(*gonum.org/v1/gonum/mat.EigenSym).RawValues":        "matad.EigenSymRawValues",
	"(*gonum.org/v1/gonum/mat.EigenSym).Values":           "matad.EigenSymValues",
	"(*gonum.org/v1/gonum/mat.EigenSym).VectorsTo":        "matad.EigenSymVectorsTo",
	"(*gonum.org/v1/gonum/mat.LQ).At":                     "matad.LQAt",
	"(*gonum.org/v1/gonum/mat.LQ).Cond":                   "matad.LQCond",
	"(*gonum.org/v1/gonum/mat.LQ).Factorize":              "matad.LQFactorize",
	"(*gonum.org/v1/gonum/mat.LQ).LTo":                    "matad.LQLTo",
	"(*gonum.org/v1/gonum/mat.LQ).QTo":                    "matad.LQQTo",
	"(*gonum.org/v1/gonum/mat.LQ).SolveTo":                "matad.LQSolveTo",
	"(*gonum.org/v1/gonum/mat.LQ).SolveVecTo":             "matad.LQSolveVecTo",
	"(*gonum.org/v1/gonum/mat.LU).At":                     "matad.LUAt",
	"(*gonum.org/v1/gonum/mat.LU).Cond":                   "matad.LUCond",
	"(*gonum.org/v1/gonum/mat.LU).Det":                    "matad.LUDet",
	"(*gonum.org/v1/gonum/mat.LU).Factorize":              "matad.LUFactorize",
	"(*gonum.org/v1/gonum/mat.LU).LTo":                    "matad.LULTo",
	"(*gonum.org/v1/gonum/mat.LU).LogDet":                 "matad.LULogDet",
	"(*gonum.org/v1/gonum/mat.LU).RankOne":                "matad.LURankOne",
	"(*gonum.org/v1/gonum/mat.LU).SolveTo":                "matad.LUSolveTo",
	"(*gonum.org/v1/gonum/mat.LU).SolveVecTo":             "matad.LUSolveVecTo",
	"(*gonum.org/v1/gonum/mat.LU).UTo":                    "matad.LUUTo",
	"(*gonum.org/v1/gonum/mat.QR).At":                     "matad.QRAt",
	"(*gonum.org/v1/gonum/mat.QR).Cond":                   "matad.QRCond",
	"(*gonum.org/v1/gonum/mat.QR).Factorize":              "matad.QRFactorize",
	"(*gonum.org/v1/gonum/mat.QR).QTo":                    "matad.QRQTo",
	"(*gonum.org/v1/gonum/mat.QR).RTo":                    "matad.QRRTo",
	"(*gonum.org/v1/gonum/mat.QR).SolveTo":                "matad.QRSolveTo",
	"(*gonum.org/v1/gonum/mat.QR).SolveVecTo":             "matad.QRSolveVecTo",
	"(*gonum.org/v1/gonum/mat.SVD).Cond":                  "matad.SVDCond",
	"(*gonum.org/v1/gonum/mat.SVD).Factorize":             "matad.SVDFactorize",
	"(*gonum.org/v1/gonum/mat.SVD).UTo":                   "matad.SVDUTo",
	"(*gonum.org/v1/gonum/mat.SVD).VTo":                   "matad.SVDVTo",
	"(*gonum.org/v1/gonum/mat.SVD).Values":                "matad.SVDValues",
	"(*gonum.org/v1/gonum/mat.SymDense).AddSym":           "matad.SymDenseAddSym",
	"(*gonum.org/v1/gonum/mat.SymDense).At":               "matad.SymDenseAt",
	"(*gonum.org/v1/gonum/mat.SymDense).CopySym":          "matad.SymDenseCopySym",
	"(*gonum.org/v1/gonum/mat.SymDense).Norm":             "matad.SymDenseNorm",
	"(*gonum.org/v1/gonum/mat.SymDense).RankTwo":          "matad.SymDenseRankTwo",
	"(*gonum.org/v1/gonum/mat.SymDense).ScaleSym":         "matad.SymDenseScaleSym",
	"(*gonum.org/v1/gonum/mat.SymDense).SetSym":           "matad.SymDenseSetSym",
	"(*gonum.org/v1/gonum/mat.SymDense).SubsetSym":        "matad.SymDenseSubsetSym",
	"(*gonum.org/v1/gonum/mat.SymDense).SymOuterK":        "matad.SymDenseSymOuterK",
	"(*gonum.org/v1/gonum/mat.SymDense).SymRankK":         "matad.SymDenseSymRankK",
	"(*gonum.org/v1/gonum/mat.SymDense).SymRankOne":       "matad.SymDenseSymRankOne",
	"(*gonum.org/v1/gonum/mat.SymDense).at":               "matad.SymDenseAt",
	"(*gonum.org/v1/gonum/mat.SymDense).set":              "matad.SymDenseSetSym",
	"(*gonum.org/v1/gonum/mat.TriDense).At":               "matad.TriDenseAt",
	"(*gonum.org/v1/gonum/mat.TriDense).Copy":             "matad.TriDenseCopy",
	"(*gonum.org/v1/gonum/mat.TriDense).InverseTri":       "matad.TriDenseInverseTri",
	"(*gonum.org/v1/gonum/mat.TriDense).MulTri":           "matad.TriDenseMulTri",
	"(*gonum.org/v1/gonum/mat.TriDense).Norm":             "matad.TriDenseNorm",
	"(*gonum.org/v1/gonum/mat.TriDense).ScaleTri":         "matad.TriDenseScaleTri",
	"(*gonum.org/v1/gonum/mat.TriDense).SetTri":           "matad.TriDenseSetTri",
	"(*gonum.org/v1/gonum/mat.TriDense).SolveTo":          "matad.TriDenseSolveTo",
	"(*gonum.org/v1/gonum/mat.TriDense).T":                "matad.TriDenseT",
	"(*gonum.org/v1/gonum/mat.TriDense).TTri":             "matad.TriDenseTTri",
	"(*gonum.org/v1/gonum/mat.TriDense).at":               "matad.TriDenseAt",
	"(*gonum.org/v1/gonum/mat.TriDense).set":              "matad.TriDenseSetTri",
	"(*gonum.org/v1/gonum/mat.VecDense).AddScaledVec":     "matad.VecDenseAddScaledVec",
	"(*gonum.org/v1/gonum/mat.VecDense).AddVec":           "matad.VecDenseAddVec",
	"(*gonum.org/v1/gonum/mat.VecDense).At":               "matad.VecDenseAt",
	"(*gonum.org/v1/gonum/mat.VecDense).AtVec":            "matad.VecDenseAtVec",
	"(*gonum.org/v1/gonum/mat.VecDense).CloneFromVec":     "matad.VecDenseCloneFromVec",
	"(*gonum.org/v1/gonum/mat.VecDense).CopyVec":          "matad.VecDenseCopyVec",
	"(*gonum.org/v1/gonum/mat.VecDense).DivElemVec":       "matad.VecDenseDivElemVec",
	"(*gonum.org/v1/gonum/mat.VecDense).MulElemVec":       "matad.VecDenseMulElemVec",
	"(*gonum.org/v1/gonum/mat.VecDense).MulVec":           "matad.VecDenseMulVec",
	"(*gonum.org/v1/gonum/mat.VecDense).Norm":             "matad.VecDenseNorm",
	"(*gonum.org/v1/gonum/mat.VecDense).ScaleVec":         "matad.VecDenseScaleVec",
	"(*gonum.org/v1/gonum/mat.VecDense).SetVec":           "matad.VecDenseSetVec",
	"(*gonum.org/v1/gonum/mat.VecDense).SolveVec":         "matad.VecDenseSolveVec",
	"(*gonum.org/v1/gonum/mat.VecDense).SubVec":           "matad.VecDenseSubVec",
	"(*gonum.org/v1/gonum/mat.VecDense).T":                "matad.VecDenseT",
	"(*gonum.org/v1/gonum/mat.VecDense).TVec":             "matad.VecDenseTVec",
	"(*gonum.org/v1/gonum/mat.VecDense).at":               "matad.VecDenseAtVec",
	"(*gonum.org/v1/gonum/mat.VecDense).setVec":           "matad.VecDenseSetVec",
	"(gonum.org/v1/gonum/stat/distuv.Beta).LogProb":       "distuvad.BetaLogProb",
	"(gonum.org/v1/gonum/stat/distuv.Gamma).LogProb":      "distuvad.GammaLogProb",
	"(gonum.org/v1/gonum/stat/distuv.StudentsT).CDF":      "distuvad.StudentsTCDF",
	"(gonum.org/v1/gonum/stat/distuv.StudentsT).Quantile": "distuvad.StudentsTQuantile",
	"(gonum.org/v1/gonum/stat/distuv.StudentsT).Survival": "distuvad.StudentsTSurvival",
	"gonum.org/v1/gonum/integrate/quad.Fixed":             "quadad.Fixed",
	"gonum.org/v1/gonum/mat.Col":                          "matad.Col",
	"gonum.org/v1/gonum/mat.Det":                          "matad.Det",
	"gonum.org/v1/gonum/mat.Dot":                          "matad.Dot",
	"gonum.org/v1/gonum/mat.Equal":                        "matad.Equal",
	"gonum.org/v1/gonum/mat.EqualApprox":                  "matad.EqualApprox",
	"gonum.org/v1/gonum/mat.Inner":                        "matad.Inner",
	"gonum.org/v1/gonum/mat.LogDet":                       "matad.LogDet",
	"gonum.org/v1/gonum/mat.Max":                          "matad.Max",
	"gonum.org/v1/gonum/mat.Min":                          "matad.Min",
	"gonum.org/v1/gonum/mat.Norm":                         "matad.Norm",
	"gonum.org/v1/gonum/mat.Row":                          "matad.Row",
	"gonum.org/v1/gonum/mat.Sum":                          "matad.Sum",
	"gonum.org/v1/gonum/mat.Trace":                        "matad.Trace",
}

// Implementation reports whether a package variable, path.Name, holds an implementation of a fixed set of functions.
// The one in Go with which the variable is initialised is differentiated: another, which a program may choose,
// computes the same functions.
func Implementation(name string) bool {
	dir, name, ok := strings.Cut(strings.TrimPrefix(name, "gonum.org/v1/gonum/"), ".")
	if !ok {
		return false
	}
	switch dir {
	case "blas/blas32", "blas/blas64", "blas/cblas64", "blas/cblas128", "lapack/lapack64":
		return dir[strings.IndexByte(dir, '/')+1:] == name
	}
	return false
}

// Names returns the full names of the functions that have a rule, sorted.
func Names() (out []string) {
	for path, p := range table {
		for name := range p.funcs {
			out = append(out, path+"."+name)
		}
	}
	slices.Sort(out)
	return out
}

// A funcs holds the functions of one library package that have a rule.
type funcs struct {
	pkg   string
	real  string
	funcs map[string]string
}

var table = map[string]funcs{
	"gonum.org/v1/gonum/floats": {"floatsad", "", map[string]string{
		"Add": "writes=dst", "AddConst": "writes=dst", "AddScaled": "writes=dst",
		"AddScaledTo": "writes=dst returns=dst", "AddTo": "writes=dst returns=dst",
		"CumProd": "writes=dst returns=dst", "CumSum": "writes=dst returns=dst",
		"Distance": "passive=L", "Div": "writes=dst", "DivTo": "writes=dst returns=dst", "Dot": "",
		"LogSumExp": "", "Max": "", "Min": "", "Mul": "writes=dst", "MulTo": "writes=dst returns=dst",
		"Norm": "passive=L", "Prod": "", "Scale": "writes=dst",
		"ScaleTo": "writes=dst returns=dst", "Span": "writes=dst returns=dst", "Sub": "writes=dst",
		"SubTo": "writes=dst returns=dst", "Sum": "", "SumCompensated": "",
	}},
	"gonum.org/v1/gonum/blas/blas64": {"blas64ad", "", map[string]string{
		"Asum": "", "Axpy": "writes=y", "Copy": "writes=y", "Dot": "", "Gemm": "writes=c", "Gemv": "writes=y",
		"Ger": "writes=a", "Nrm2": "", "Scal": "writes=x", "Swap": "writes=x,y", "Symm": "writes=c",
		"Symv": "writes=y", "Syr": "writes=a", "Syr2": "writes=a", "Syr2k": "writes=c", "Syrk": "writes=c",
		"Trmm": "writes=b", "Trmv": "writes=x", "Trsm": "writes=b", "Trsv": "writes=x",
	}},
	"sort":   {"sortad", "", map[string]string{"Float64s": "writes=x"}},
	"slices": {"sortad", "", map[string]string{"Sort": "writes=x"}}, // of float64s
	"gonum.org/v1/gonum/mathext": {"mathextad", "mathextreal", map[string]string{
		"Beta": "", "CompleteE": "", "CompleteK": "", "Digamma": "", "EllipticE": "", "EllipticF": "",
		"GammaIncReg": "shapes=a", "GammaIncRegComp": "shapes=a", "GammaIncRegCompInv": "shapes=a",
		"GammaIncRegInv": "shapes=a", "InvRegIncBeta": "shapes=a,b", "Lbeta": "", "MvLgamma": "",
		"NormalQuantile": "", "RegIncBeta": "shapes=a,b", "Zeta": "passive=x",
	}},
}
