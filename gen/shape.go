package gen

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// A shape is the signature of a function that operators of package nabla accept. Its ints are indices of parameters.
type shape struct {
	x      int
	number bool // x is a number
	fields bool // x is a pointer to a struct, whose numbers are the inputs; otherwise x is a slice or a number
	y      int  // parameter for the outputs, -1 if they are returned
	scalar bool // the result is a number
	bound  int  // pointer to the bound struct, -1 if there is none
	err    int  // result that is an error, the last one; -1 if there is none
}

// registers reports whether nabla.Register accepts a function of the shape.
func (s *shape) registers() bool { return !s.number || s.bound < 0 }

// ambiguous reports whether a function of the shape may be meant to be differentiated with respect to both of its
// parameters, so that the shape alone does not tell which carry derivatives.
func (s *shape) ambiguous() bool { return s.fields && s.bound >= 0 }

// isError reports whether r is the role of the error that the function returns.
func (s *shape) isError(r role) bool { return r.result && r.slot == value && r.of == s.err }

// mask returns the parameters that carry derivatives.
func (s *shape) mask() activity.Mask {
	m := activity.Mask{}.With(s.x)
	if s.y >= 0 {
		m = m.With(s.y)
	}
	return m
}

var (
	float64Type  = types.Typ[types.Float64]
	float64sType = types.NewSlice(float64Type)
	errorType    = types.Universe.Lookup("error").Type()
)

// shapeOf returns the shape of f, nil if operators do not accept it.
func shapeOf(f *ir.Func) *shape {
	isNumber := func(v *ir.Var) bool { return types.Identical(v.Type, float64Type) }
	isSlice := func(v *ir.Var) bool { return types.Identical(v.Type, float64sType) }
	s := &shape{y: -1, bound: -1, err: -1}
	first, last, outputs := 0, len(f.Params), len(f.Results)
	if outputs > 0 && types.Identical(f.Results[outputs-1].Type, errorType) {
		outputs--
		s.err = outputs
	}
	if f.Variadic {
		return nil
	}
	if outputs == 0 && !f.Recv && last > 1 && isSlice(f.Params[0]) && takesStruct(f.Params[1:]) {
		s.fields, s.y, s.x = true, 0, 1
		if last == 3 {
			s.bound = 2
		}
		return s
	}
	if outputs == 1 && (isNumber(f.Results[0]) || isSlice(f.Results[0])) && takesStruct(f.Params) {
		s.fields, s.scalar = true, isNumber(f.Results[0])
		if last == 2 {
			s.bound = 1
		}
		return s
	}
	switch {
	case f.Recv:
		if !isStructPointer(f.Params[0].Type) {
			return nil
		}
		s.bound, first = 0, 1
	case last > 1 && isStructPointer(f.Params[last-1].Type):
		last--
		s.bound = last
	}
	in := f.Params[first:last]
	switch {
	case len(in) == 2 && outputs == 0 && !f.Recv && isSlice(in[0]) && isSlice(in[1]):
		s.y, s.x = first, first+1
		return s
	case len(in) != 1 || outputs != 1:
		return nil
	}
	s.x = first
	s.number = isNumber(in[0])
	s.scalar = isNumber(f.Results[0])
	if !s.number && !isSlice(in[0]) || !s.scalar && !isSlice(f.Results[0]) || f.Recv && s.number {
		return nil
	}
	return s
}

// takesStruct reports whether params are a pointer to a struct of numbers and at most one other pointer to a struct.
func takesStruct(params []*ir.Var) bool {
	n := len(params)
	return (n == 1 || n == 2 && isStructPointer(params[1].Type)) && isStructPointer(params[0].Type) &&
		activity.HasPlainFloats(params[0].Type)
}

// isStructPointer reports whether t is a pointer to a named struct type.
func isStructPointer(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return false
	}
	_, named := types.Unalias(p.Elem()).(*types.Named)
	_, is := p.Elem().Underlying().(*types.Struct)
	return named && is
}
