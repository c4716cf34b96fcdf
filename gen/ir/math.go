package ir

import (
	"go/types"
	"math"
	"math/cmplx"
)

// SkipName is the elementary function of no arguments that generated code calls to count a
// contribution that a strong zero left out. Its value is 0.
const SkipName = "rules.skip"

// GraftName is the elementary function graft(x, y) with the value of x and the derivative of y, for numbers of any one
// type. Package shortcut writes it where a term is zero but has a derivative; printed code has the value only.
const GraftName = "graft"

// The builtin functions that take complex numbers apart and compose them. They are elementary functions for both
// complex types, with parts of the float type that belongs to it.
const (
	RealName, ImagName, ComplexName = "real", "imag", "complex"
	// ConjName is the conjugate, which occurs in cotangents.
	ConjName = "cmplx.Conj"
)

// elementary maps the names of elementary functions, apart from min and max, to their Go functions.
// rulemath.go adds those of package rules. Every function from floats to a float has a rule in
// package rules, so math.Dim is not among them: it is lowered to math.Max(0, x-y).
var elementary = map[string]any{
	"math.Abs": math.Abs, "math.Acos": math.Acos, "math.Acosh": math.Acosh, "math.Asin": math.Asin,
	"math.Asinh": math.Asinh, "math.Atan": math.Atan, "math.Atan2": math.Atan2, "math.Atanh": math.Atanh,
	"math.Cbrt": math.Cbrt, "math.Ceil": math.Ceil, "math.Copysign": math.Copysign, "math.Cos": math.Cos,
	"math.Cosh": math.Cosh, "math.Erf": math.Erf, "math.Erfc": math.Erfc,
	"math.Erfcinv": math.Erfcinv, "math.Erfinv": math.Erfinv, "math.Exp": math.Exp, "math.Exp2": math.Exp2,
	"math.Expm1": math.Expm1, "math.FMA": math.FMA, "math.Floor": math.Floor, "math.Gamma": math.Gamma,
	"math.Hypot": math.Hypot, "math.Ilogb": math.Ilogb, "math.Inf": math.Inf, "math.IsInf": math.IsInf,
	"math.IsNaN": math.IsNaN, "math.J0": math.J0, "math.J1": math.J1, "math.Jn": math.Jn,
	"math.Ldexp": math.Ldexp, "math.Log": math.Log, "math.Log10": math.Log10, "math.Log1p": math.Log1p,
	"math.Log2": math.Log2, "math.Logb": math.Logb, "math.Max": math.Max, "math.Min": math.Min,
	"math.Mod": math.Mod, "math.NaN": math.NaN, "math.Nextafter": math.Nextafter, "math.Nextafter32": math.Nextafter32,
	"math.Pow":   math.Pow,
	"math.Pow10": math.Pow10, "math.Remainder": math.Remainder, "math.Round": math.Round,
	"math.RoundToEven": math.RoundToEven, "math.Signbit": math.Signbit, "math.Sin": math.Sin,
	"math.Sinh": math.Sinh, "math.Sqrt": math.Sqrt, "math.Tan": math.Tan, "math.Tanh": math.Tanh,
	"math.Trunc": math.Trunc, "math.Y0": math.Y0, "math.Y1": math.Y1, "math.Yn": math.Yn,
	"math.Float32bits": math.Float32bits, "math.Float32frombits": math.Float32frombits,
	"cmplx.Acos": cmplx.Acos, "cmplx.Acosh": cmplx.Acosh, "cmplx.Asin": cmplx.Asin, "cmplx.Asinh": cmplx.Asinh,
	"cmplx.Atan": cmplx.Atan, "cmplx.Atanh": cmplx.Atanh, ConjName: cmplx.Conj, "cmplx.Cos": cmplx.Cos,
	"cmplx.Cosh": cmplx.Cosh, "cmplx.Cot": cmplx.Cot, "cmplx.Exp": cmplx.Exp, "cmplx.Log": cmplx.Log,
	"cmplx.Log10": cmplx.Log10, "cmplx.Pow": cmplx.Pow, "cmplx.Sin": cmplx.Sin, "cmplx.Sinh": cmplx.Sinh,
	"cmplx.Sqrt": cmplx.Sqrt, "cmplx.Tan": cmplx.Tan, "cmplx.Tanh": cmplx.Tanh,
	"cmplx.Inf": cmplx.Inf, "cmplx.IsInf": cmplx.IsInf, "cmplx.IsNaN": cmplx.IsNaN, "cmplx.NaN": cmplx.NaN,
	SkipName:           func() float64 { return 0 },
	"math.Float64bits": math.Float64bits, "math.Float64frombits": math.Float64frombits,
}

// Elementary reports whether name is an elementary function, which a [Math] may call, and returns
// the types of its parameters and result. They are nil for those whose types depend on the arguments: min
// and max, which take any number of arguments of any one ordered type, real, imag and complex, and graft.
func Elementary(name string) (params []types.Type, result types.Type, ok bool) {
	switch name {
	case "min", "max", RealName, ImagName, ComplexName, GraftName:
		return nil, nil, true
	}
	f, ok := elementary[name]
	if !ok {
		return nil, nil, false
	}
	var (
		f32, f64 = types.Typ[types.Float32], types.Typ[types.Float64]
		u32, u64 = types.Typ[types.Uint32], types.Typ[types.Uint64]
		c128     = types.Typ[types.Complex128]
		integer  = types.Typ[types.Int]
		boolean  = types.Typ[types.Bool]
		list     = func(t ...types.Type) []types.Type { return t }
	)
	switch f.(type) {
	case func() complex128:
		return nil, c128, true
	case func(complex128) bool:
		return list(c128), boolean, true
	case func(complex128) complex128:
		return list(c128), c128, true
	case func(complex128, complex128) complex128:
		return list(c128, c128), c128, true
	case func() float64:
		return nil, f64, true
	case func(float64) float64:
		return list(f64), f64, true
	case func(float64, float64) float64:
		return list(f64, f64), f64, true
	case func(float64, float64, float64) float64:
		return list(f64, f64, f64), f64, true
	case func(float64) bool:
		return list(f64), boolean, true
	case func(float64) int:
		return list(f64), integer, true
	case func(int) float64:
		return list(integer), f64, true
	case func(int, float64) float64:
		return list(integer, f64), f64, true
	case func(float64, int) float64:
		return list(f64, integer), f64, true
	case func(float64, int) bool:
		return list(f64, integer), boolean, true
	case func(float64) uint64:
		return list(f64), u64, true
	case func(uint64) float64:
		return list(u64), f64, true
	case func(float32, float32) float32:
		return list(f32, f32), f32, true
	case func(float32) uint32:
		return list(f32), u32, true
	case func(uint32) float32:
		return list(u32), f32, true
	}
	panic("ir: no signature for " + name)
}
