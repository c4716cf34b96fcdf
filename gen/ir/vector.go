package ir

import (
	"go/token"
	"go/types"
)

// VectorPath is the path of the package that declares vectors.
const VectorPath = "simd/archsimd"

// VectorLanes is the number of lanes of a vector.
const VectorLanes = 4

// MaxKernelSlices is the largest number of slices among the parameters of a kernel of vectors, and MaxKernelState that
// of variables that its iterations leave to the next.
const MaxKernelSlices, MaxKernelState = 24, 6

// Vector represents archsimd.Float64x4. Here it is a defined type whose underlying type is an array
// of four float64s. Operations on vectors apply to each lane as to float64s: + - * /, negation,
// math.Sqrt and math.Abs. [Convert] broadcasts a number to all lanes, converts an array of four to
// a vector and back, and extracts the first lane of a vector.
var Vector types.Type

func init() {
	pkg := types.NewPackage(VectorPath, "archsimd")
	name := types.NewTypeName(token.NoPos, pkg, "Float64x4", nil)
	Vector = types.NewNamed(name, types.NewArray(types.Typ[types.Float64], VectorLanes), nil)
	pkg.Scope().Insert(name)
	pkg.MarkComplete()
}

// isVector reports whether t is Vector.
func isVector(t types.Type) bool { return same(t, Vector) }

// VectorMath reports whether an elementary function is defined for vectors.
func VectorMath(name string) bool { return name == "math.Sqrt" || name == "math.Abs" }

// convertsVector reports whether a conversion is a broadcast or extracts the first lane.
func convertsVector(from, to types.Type) bool {
	return isVector(to) && isNumber(from) && !IsComplex(from) || isVector(from) && same(to, types.Typ[types.Float64])
}

// eachLane returns a vector whose lane k is of(k).
func eachLane(of func(k int) float64) Value {
	list := make(parts, VectorLanes)
	for k := range list {
		list[k] = floatValue(of(k))
	}
	return Value{ref: list}
}

// convertVector evaluates a conversion that convertsVector reports.
func convertVector(v Value, from, to types.Type) Value {
	if isVector(to) {
		x := convertNumber(v, basic(from), types.Typ[types.Float64]).float()
		return eachLane(func(int) float64 { return x })
	}
	return v.parts()[0]
}
