package ir

import (
	"go/token"
	"go/types"
)

// RealPath is the path of the package that declares the number type of traced functions.
const RealPath = "github.com/nabla-ad/nabla"

// Real represents nabla.Real in traced functions. Here it is a defined type with underlying type
// float64, so operations on it are checked and evaluated like those on floats, and [Convert]
// converts between the two. When it is printed as Go, operators become method calls, and a
// conversion to a float or an integer takes the value out of the trace.
//
// Functions of package math take Reals in place of all their float64s.
var Real types.Type

// Complex represents nabla.Complex, the complex number of two Reals, likewise: its underlying type is complex128, and
// its parts are Reals. Functions of package math/cmplx take it in place of complex128, and are printed as method calls.
var Complex types.Type

// realPackage declares Real, Complex and the functions that traced functions call by rules.
var realPackage = types.NewPackage(RealPath, "nabla")

func init() {
	name := types.NewTypeName(token.NoPos, realPackage, "Real", nil)
	Real = types.NewNamed(name, types.Typ[types.Float64], nil)
	realPackage.Scope().Insert(name)
	complexName := types.NewTypeName(token.NoPos, realPackage, "Complex", nil)
	Complex = types.NewNamed(complexName, types.Typ[types.Complex128], nil)
	realPackage.Scope().Insert(complexName)
	for name, second := range map[string]types.Type{
		"Sincos": Real, "Modf": Real, "Lgamma": Real, "Frexp": types.Typ[types.Int],
	} {
		v := func(t types.Type) *types.Var { return types.NewParam(token.NoPos, realPackage, "", t) }
		sig := types.NewSignatureType(nil, nil, nil, types.NewTuple(v(Real)), types.NewTuple(v(Real), v(second)), false)
		realPackage.Scope().Insert(types.NewFunc(token.NoPos, realPackage, name, sig))
	}
	realPackage.MarkComplete()
}

// RealRule returns a rule for the function of package nabla that computes over Reals the function
// of package math with two results that name gives, such as math.Sincos, or nil if there is none.
// The sign that Lgamma returns is a Real too.
func RealRule(name string) *Rule {
	if len(name) < 5 || name[:5] != "math." {
		return nil
	}
	f, _ := realPackage.Scope().Lookup(name[5:]).(*types.Func)
	if f == nil {
		return nil
	}
	return &Rule{Name: "nabla." + f.Name(), Object: f}
}
