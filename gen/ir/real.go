package ir

import (
	"go/token"
	"go/types"
)

// RealPath is the path of the package that numbers of traced functions come from.
const RealPath = "github.com/nabla-ad/nabla"

// Real is the type that stands for nabla.Real in traced functions. Here it is a float64
// of another name, so that what is done with it reads, checks and evaluates as it does
// with floats; [Convert] goes from one to the other. Printed as Go, operators are calls
// of methods, and a conversion to a float or an integer lets a value leave the trace.
//
// Functions of package math take Reals where they take float64s, all of them.
var Real types.Type

// realPackage has Real and what traced functions call by a rule.
var realPackage = types.NewPackage(RealPath, "nabla")

func init() {
	name := types.NewTypeName(token.NoPos, realPackage, "Real", nil)
	Real = types.NewNamed(name, types.Typ[types.Float64], nil)
	realPackage.Scope().Insert(name)
	for name, second := range map[string]types.Type{
		"Sincos": Real, "Modf": Real, "Lgamma": Real, "Frexp": types.Typ[types.Int],
	} {
		v := func(t types.Type) *types.Var { return types.NewParam(token.NoPos, realPackage, "", t) }
		sig := types.NewSignatureType(nil, nil, nil, types.NewTuple(v(Real)), types.NewTuple(v(Real), v(second)), false)
		realPackage.Scope().Insert(types.NewFunc(token.NoPos, realPackage, name, sig))
	}
	realPackage.MarkComplete()
}

// RealRule is the function of package nabla that computes over Reals what a function of
// package math with two results does, math.Sincos say; nil if there is none. The sign that
// Lgamma returns is a Real too.
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
