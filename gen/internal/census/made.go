package main

import (
	"go/types"
	"strings"
)

// Types with a rule for the shadow of their memory, such as factorisations, whose shadow is that of the matrix. Memory
// with random numbers is no value of such a type. Callers pass a value that a function of its package makes.

// makers has the statements that make a variable V of a type, by the name of the type. MAT is package mat, PKG the
// package of the type, and P0, P1 are parameters of the types before the bar.
var makers = map[string]string{
	root + "mat.Cholesky": "*MAT.SymDense|var V PKG.Cholesky\nV.Factorize(definite(P0))\n",
	root + "mat.LU":       "*MAT.Dense|var V PKG.LU\nV.Factorize(P0)\n",
	root + "mat.QR":       "*MAT.Dense|var V PKG.QR\nV.Factorize(P0)\n",
	root + "mat.LQ":       "*MAT.Dense|var V PKG.LQ\nV.Factorize(P0)\n",
	root + "mat.SVD":      "*MAT.Dense|var V PKG.SVD\nV.Factorize(P0, MAT.SVDThin)\n",
	root + "mat.EigenSym": "*MAT.SymDense|var V PKG.EigenSym\nV.Factorize(P0, true)\n",
	root + "stat/distmv.PositivePartEigenSym": "*MAT.SymDense|var VEigen MAT.EigenSym\n" +
		"VEigen.Factorize(definite(P0), true)\nVAt := PKG.NewPositivePartEigenSym(&VEigen)\nV := *VAt\n",
	root + "stat/distmv.Normal": "[]float64,*MAT.SymDense|VAt, ok := PKG.NewNormal(P0, definite(P1), nil)\n" +
		"if !ok {\npanic(\"the covariance is not positive definite\")\n}\nV := *VAt\n",
	root + "stat.PC": "*MAT.Dense|var V PKG.PC\nV.PrincipalComponents(P0, nil)\n",
	root + "stat.CC": "*MAT.Dense,*MAT.Dense|var V PKG.CC\nV.CanonicalCorrelations(P0, P1, nil)\n",
}

// definite is the source of the function that makes a matrix positive definite.
const definite = `
func definite(a *MAT.SymDense) *MAT.SymDense {
	var s MAT.SymDense
	s.SymOuterK(1, a)
	for i := range a.SymmetricDim() {
		s.SetSym(i, i, s.At(i, i)+1)
	}
	return &s
}
`

// maker returns the entry of makers for a type or for that to which it points.
func maker(t types.Type) (statements string, pointer, ok bool) {
	_, pointer = t.(*types.Pointer)
	n, is := types.Unalias(deref(t)).(*types.Named)
	if !is || n.Obj().Pkg() == nil {
		return "", false, false
	}
	statements, ok = makers[n.Obj().Pkg().Path()+"."+n.Obj().Name()]
	return statements, pointer, ok
}

// made reports whether callers of fn make one of its arguments.
func made(fn *types.Func) bool {
	sig := fn.Signature()
	if r := sig.Recv(); r != nil {
		if _, _, ok := maker(r.Type()); ok {
			return true
		}
	}
	for p := range sig.Params().Variables() {
		if _, _, ok := maker(p.Type()); ok {
			return true
		}
	}
	return false
}

// make adds the statements that make the variable v of type t, and the parameters that they take. It reports whether
// t is a type with a maker.
func (w *callWriter) make(v string, t types.Type, param func(text string) string) (setup, arg string, ok bool) {
	text, pointer, ok := maker(t)
	if !ok {
		return "", "", false
	}
	types0, body, _ := strings.Cut(text, "|")
	names := []string{"MAT", w.importName(root+"mat", "mat"), "PKG",
		w.qualify(types.Unalias(deref(t)).(*types.Named).Obj().Pkg()),
		"VAt", v + "At", "VEigen", v + "Eigen", "V.", v + ".", "V ", v + " "}
	for i, p := range strings.Split(types0, ",") {
		names = append(names, "P"+string(rune('0'+i)), param(strings.NewReplacer(names[:2]...).Replace(p)))
	}
	arg = v
	if pointer {
		arg = "&" + v
	}
	return strings.NewReplacer(names...).Replace(body), arg, true
}

// deref returns the type that t points to, t if it is no pointer.
func deref(t types.Type) types.Type {
	if p, ok := t.(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}
