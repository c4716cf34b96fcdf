package nabla

import "github.com/nabla-ad/nabla/internal/core"

// Vec is a field of a bound struct: numbers that a traced function reads and that
// are not differentiated. They are parameters of a recording: between calls they
// may change in value without a new recording, and in length with one.
//
// Only a Vec that the function reaches through its bound struct is a parameter.
// The numbers of a captured one are constants of the recording, as those of any
// captured slice.
type Vec struct {
	data []float64
	t    *core.Tracer // nil where the numbers are constants
	gen  uint32
	base int32 // id of data[0]
}

// VecOf is the numbers of data, without a copy: later writes to data are seen.
func VecOf(data []float64) Vec { return Vec{data: data} }

// Len is the number of numbers.
func (v Vec) Len() int { return len(v.data) }

// At is number i.
func (v Vec) At(i int) Real {
	if v.t == nil {
		return Real{v: v.data[i]}
	}
	return Real{v: v.data[i], mark: mark{v.base + int32(i), v.gen}, t: v.t}
}

// Slice is the numbers from i up to but not including j, without a copy.
func (v Vec) Slice(i, j int) Vec {
	v.data = v.data[i:j:j]
	v.base += int32(i)
	return v
}

// Dot is Σ v[i]·x[i], summed from left to right. It panics with a *ShapeError
// unless x has the length of v.
func (v Vec) Dot(x []Real) Real {
	if len(x) != len(v.data) {
		panic(&ShapeError{Op: "Vec.Dot", Arg: "len(x)", Got: len(x), Want: len(v.data)})
	}
	var s Real
	for i := range v.data {
		s = s.Add(v.At(i).Mul(x[i]))
	}
	return s
}
