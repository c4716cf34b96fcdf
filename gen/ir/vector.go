package ir

import (
	"go/token"
	"go/types"
)

// VectorPath is the path of the package that vectors come from.
const VectorPath = "simd/archsimd"

// VectorLanes is how many numbers a vector holds.
const VectorLanes = 4

// Vector is the type that stands for archsimd.Float64x4. Here it is an array of four
// float64s of another name. What is computed of vectors is computed for each lane, as it is
// of float64s: + - * /, a sign, math.Sqrt and math.Abs. [Convert] goes from a number to the
// vector of which it is every lane, from an array of four to its vector and back, and from
// a vector to its first lane.
var Vector types.Type

func init() {
	pkg := types.NewPackage(VectorPath, "archsimd")
	name := types.NewTypeName(token.NoPos, pkg, "Float64x4", nil)
	Vector = types.NewNamed(name, types.NewArray(types.Typ[types.Float64], VectorLanes), nil)
	pkg.Scope().Insert(name)
	pkg.MarkComplete()
}

func isVector(t types.Type) bool { return same(t, Vector) }

// vectorMath reports whether an elementary function is one of vectors too.
func vectorMath(name string) bool { return name == "math.Sqrt" || name == "math.Abs" }

// convertsVector reports whether a vector is made of a from, or a to of a vector.
func convertsVector(from, to types.Type) bool {
	return isVector(to) && isNumber(from) || isVector(from) && same(to, types.Typ[types.Float64])
}

// eachLane computes a vector lane by lane.
func eachLane(of func(k int) float64) Value {
	list := make(parts, VectorLanes)
	for k := range list {
		list[k] = floatValue(of(k))
	}
	return Value{ref: list}
}

// convertVector is a conversion of a vector, or to one.
func convertVector(v Value, from, to types.Type) Value {
	if isVector(to) {
		x := convertNumber(v, basic(from), types.Typ[types.Float64]).float()
		return eachLane(func(int) float64 { return x })
	}
	return v.parts()[0]
}
