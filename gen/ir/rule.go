package ir

import (
	"go/token"
	"go/types"
)

// Rule is a function whose derivative is written by hand, or of which only the name is
// known. The zero values of what is behind Object promise nothing.
type Rule struct {
	Name   string // path.Func
	Object *types.Func
	// Passive says that its results have no derivative.
	Passive bool
	// Tangent and Pullback are the derivatives, with the signatures that Shape tells; nil
	// where there is none.
	Tangent, Pullback *Callee
	// Fixed are the parameters by which there is no derivative.
	Fixed []bool
	// Source is the function itself, to be looked into for what the rule does not give;
	// nil where it is not to be.
	Source *Func
	// Plain does what the function does in code that may be followed for other numbers than
	// floats, by all parameters but those that are fixed; nil where there is none.
	Plain *Func
	// Real is the function over Reals. What is fixed is so there, and has the type that it
	// has here. It is nil where there is none.
	Real *Rule
	// ReadOnly are the parameters behind which nothing is written.
	ReadOnly []bool
	// Unread are the parameters whose memory the pullback does not read.
	Unread []bool
	// Returns says of each result that is a slice or a pointer which parameter it is, as
	// it came; negative where it is something else.
	Returns []int
}

// IsFixed says whether there is no derivative by parameter i.
func (r *Rule) IsFixed(i int) bool { return i < len(r.Fixed) && r.Fixed[i] }

// Writes says whether something may be written behind parameter i.
func (r *Rule) Writes(i int) bool { return i >= len(r.ReadOnly) || !r.ReadOnly[i] }

// Reads says whether the pullback may read what is behind parameter i.
func (r *Rule) Reads(i int) bool { return i >= len(r.Unread) || !r.Unread[i] }

// Returned is the parameter that result i is, negative if it is none.
func (r *Rule) Returned(i int) int {
	if i < len(r.Returns) {
		return r.Returns[i]
	}
	return -1
}

// Shape says how the derivatives of a function are called.
//
// The tangent has the parameters of the function and the shadows of those in Moving; its
// results are those of the function and the derivatives of those in Moved.
//
// The pullback has the parameters of the function, the shadows of those in Shadows and
// the seeds of the results in Seeds; its results are the adjoints of the parameters in
// Bars.
type Shape struct {
	Params, Results             []*types.Var // of the function, the receiver first
	ActiveParams, ActiveResults []int        // what holds or leads to floats
	Shadows, Seeds, Cotangents  []int        // what leads to floats; what has floats of its own
}

// Shape is that of the derivatives of r, which has an Object.
func (r *Rule) Shape() *Shape {
	s := &Shape{}
	sig := r.Object.Signature()
	if v := sig.Recv(); v != nil {
		s.Params = append(s.Params, v)
	}
	for v := range sig.Params().Variables() {
		s.Params = append(s.Params, v)
	}
	for v := range sig.Results().Variables() {
		s.Results = append(s.Results, v)
	}
	for i, v := range s.Params {
		if r.IsFixed(i) {
			continue
		}
		own, leads := OwnFloats(v.Type()), LeadsToFloats(v.Type())
		if own || leads {
			s.ActiveParams = append(s.ActiveParams, i)
		}
		if leads {
			s.Shadows = append(s.Shadows, i)
		}
		if own {
			s.Cotangents = append(s.Cotangents, i)
		}
	}
	for i, v := range s.Results {
		own := OwnFloats(v.Type())
		if own || LeadsToFloats(v.Type()) {
			s.ActiveResults = append(s.ActiveResults, i)
		}
		if own {
			s.Seeds = append(s.Seeds, i)
		}
	}
	return s
}

// signature is one of parameters and results with names of their own.
func signature(params, results []*types.Var) *types.Signature {
	n := NewNamer()
	named := func(list []*types.Var) *types.Tuple {
		out := make([]*types.Var, len(list))
		for i, v := range list {
			out[i] = types.NewParam(token.NoPos, nil, n.Name(v.Name()), v.Type())
		}
		return types.NewTuple(out...)
	}
	in := named(params)
	return types.NewSignatureType(nil, nil, nil, in, named(results), false)
}

// some are the variables in a list that are meant, their names with a suffix.
func some(list []*types.Var, base, suffix string, only []int) (out []*types.Var) {
	for _, i := range only {
		name := list[i].Name()
		if name == "" || name == "_" {
			name = base
		}
		out = append(out, types.NewParam(token.NoPos, nil, name+suffix, list[i].Type()))
	}
	return out
}

func all(list []*types.Var) (out []int) {
	for i := range list {
		out = append(out, i)
	}
	return out
}

// Tangent is the signature of the tangent.
func (s *Shape) Tangent() *types.Signature {
	params := append(some(s.Params, "p", "", all(s.Params)), some(s.Params, "p", "Dot", s.ActiveParams)...)
	results := append(some(s.Results, "v", "", all(s.Results)), some(s.Results, "v", "Dot", s.ActiveResults)...)
	return signature(params, results)
}

// Pullback is the signature of the pullback.
func (s *Shape) Pullback() *types.Signature {
	params := append(some(s.Params, "p", "", all(s.Params)), some(s.Params, "p", "Bar", s.Shadows)...)
	params = append(params, some(s.Results, "v", "Bar", s.Seeds)...)
	results := some(s.Params, "p", "Bar", s.Cotangents)
	return signature(params, results)
}

// OwnFloats reports whether a value of type t has floats in itself, not behind slices and
// pointers.
func OwnFloats(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsFloat != 0
	case *types.Array:
		return u.Len() > 0 && OwnFloats(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if OwnFloats(f.Type()) {
				return true
			}
		}
	}
	return false
}

// LeadsToFloats reports whether a value of type t has slices or pointers in itself that
// lead to floats.
func LeadsToFloats(t types.Type) bool { return leadsToFloats(t, map[types.Type]bool{}) }

func leadsToFloats(t types.Type, seen map[types.Type]bool) bool {
	behind := func(t types.Type) bool {
		if seen[t] {
			return false
		}
		seen[t] = true
		return OwnFloats(t) || leadsToFloats(t, seen)
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return behind(u.Elem())
	case *types.Pointer:
		return behind(u.Elem())
	case *types.Array:
		return u.Len() > 0 && leadsToFloats(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			if leadsToFloats(f.Type(), seen) {
				return true
			}
		}
	}
	return false
}
