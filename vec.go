package nabla

import "github.com/nabla-ad/nabla/internal/binding"

// Vec is a field of a bound struct: numbers that a traced function reads and that
// are not differentiated. They are parameters of a recording: between calls they
// may change in value without a new recording, and in length with one.
//
// Only a Vec that the function reaches through its bound struct is a parameter.
// The numbers of a captured one are constants of the recording, as those of any
// captured slice.
type Vec struct{ v binding.Vec }

// VecOf returns a Vec of the numbers of data, without a copy: later writes to data are seen.
func VecOf(data []float64) Vec { return Vec{binding.Vec{Data: data}} }

// Len returns the number of elements.
func (v Vec) Len() int { return len(v.v.Data) }

// At returns element i. It panics if i is out of range, as indexing a slice does.
func (v Vec) At(i int) Real {
	if v.v.T == nil {
		return Real{v: v.v.Data[i]}
	}
	return Real{v: v.v.Data[i], mark: mark{v.v.Base + int32(i), v.v.Gen}, t: v.v.T}
}

// Slice returns the elements from i up to but not including j, without a copy. It panics unless
// 0 ≤ i ≤ j and j is at most the capacity of the data.
func (v Vec) Slice(i, j int) Vec {
	v.v.Data = v.v.Data[i:j:j]
	v.v.Base += int32(i)
	return v
}

// Dot returns Σ v[i]·x[i], summed from left to right. It panics with a *ShapeError
// unless x has the length of v.
func (v Vec) Dot(x []Real) Real {
	if len(x) != len(v.v.Data) {
		panic(&ShapeError{Op: "Vec.Dot", Arg: "len(x)", Got: len(x), Want: len(v.v.Data)})
	}
	var s Real
	for i := range v.v.Data {
		s = s.Add(v.At(i).Mul(x[i]))
	}
	return s
}
