package ir

import (
	"go/types"
	"math"
)

// SkipName is the elementary function of no arguments that generated code calls to count a
// contribution that a strong zero left out. Its value is 0.
const SkipName = "rules.skip"

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
	SkipName:           func() float64 { return 0 },
	"math.Float64bits": math.Float64bits, "math.Float64frombits": math.Float64frombits,
}

// Elementary reports whether name is an elementary function, which a [Math] may call, and returns
// the types of its parameters and result. Those of min and max, which take any number of arguments
// of any one ordered type, are nil.
func Elementary(name string) (params []types.Type, result types.Type, ok bool) {
	if name == "min" || name == "max" {
		return nil, nil, true
	}
	f, ok := elementary[name]
	if !ok {
		return nil, nil, false
	}
	var (
		f32, f64 = types.Typ[types.Float32], types.Typ[types.Float64]
		u32, u64 = types.Typ[types.Uint32], types.Typ[types.Uint64]
		integer  = types.Typ[types.Int]
		boolean  = types.Typ[types.Bool]
		list     = func(t ...types.Type) []types.Type { return t }
	)
	switch f.(type) {
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
