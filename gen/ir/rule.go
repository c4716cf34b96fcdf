package ir

import (
	"go/token"
	"go/types"
)

// Rules: derivatives written by hand, or generated separately, for functions whose bodies are not
// differentiated. Shape derives the signatures of the derivatives from that of the function.

// A Rule describes a function whose derivative is supplied, or of which only the name is known. The
// zero values of the fields after Object make no promise.
type Rule struct {
	Name string // path.Func
	// Object is the function, nil if only its name is known. It determines the parameters and
	// results.
	Object *types.Func
	// Passive reports that the results have no derivative.
	Passive bool
	// Output reports that the function is passive and has no other effect than output that the program does not read.
	Output bool
	// Stores reports that a passive function stores its arguments where numbers have no
	// derivatives, as in a map: none of them may carry one.
	Stores bool
	// Calls is a function that the rule calls, nil if there is none. All arguments of a call but
	// the first are passed on to it, after those that the rule supplies, which have one type; they
	// are variables.
	Calls *Func
	// Effects reports that calls have effects besides those on the memory of the arguments, or depend on such effects
	// of others: they must remain in order, and must not be repeated.
	Effects bool
	// Declared is the variable of type nabla.Rule that declares the rule, nil if there is none.
	Declared *types.Var
	// Entry is the key of the rule in Declared if that is a table of rules, empty if it is a rule.
	Entry string
	// JVP and VJP are those functions of Declared, to be differentiated over Reals; nil if they have no source, or if
	// Declared has JVPReal or VJPReal.
	JVP, VJP *Func
	// Unusable is why generated code cannot call the functions of Declared, "" if it can.
	Unusable string
	// Tangent and Pullback are the derivatives, with the signatures that Shape returns; nil if
	// missing.
	Tangent, Pullback *Callee
	// NoDerivative[i] is set if there is no derivative with respect to parameter i.
	NoDerivative []bool
	// Wider is the rule for calls in which a parameter of NoDerivative carries a derivative: that of a function with
	// the same parameters and results; nil if there is none.
	Wider *Rule
	// Source is the function itself, to be differentiated for derivatives that the rule lacks; nil
	// if it must not be.
	Source *Func
	// Plain is an equivalent of the function whose code can be lifted to other number types than
	// floats, in all parameters that are not fixed; nil if there is none.
	Plain *Func
	// Real is the function over Reals, nil if there is none. Parameters that are fixed keep their
	// types.
	Real *Rule
	// Operation, if it is not nil, is the operation that calls perform: this is a rule for a function over Reals.
	Operation *Operation
	// ReadOnly[i] is set if memory reachable from parameter i is not written.
	ReadOnly []bool
	// Unread[i] is set if the pullback does not read memory of parameter i.
	Unread []bool
	// Returns[i] is the parameter that result i, a slice or pointer, is identical to; negative if
	// there is none.
	Returns []int
}

// An Operation is a function over Reals that engines see as one operation, with the derivatives of a rule.
type Operation struct {
	// Of is the rule, for a function over floats.
	Of *Rule
	// Tangent and Pullback are the derivatives of Of over Reals, nil if there are none. Their parameters and results
	// are those of Of.Tangent and Of.Pullback, or of Of.JVP and Of.VJP if the rule is a variable; results that carry no
	// derivative are floats.
	Tangent, Pullback *Func
	// Pure reports that the results of Tangent and Pullback depend on nothing but their arguments.
	Pure bool
}

// Missing returns a description of the function and a remedy for a refusal, where the tangent or the pullback is needed
// and is missing.
func (r *Rule) Missing(derivative string) (what, remedy string) {
	if r.Unusable != "" {
		return "function " + r.Name + ", whose rule " + r.Declared.Name() + " generated code cannot call: " +
			r.Unusable, "declare it as a function"
	}
	return "function " + r.Name + ", whose rule has no " + derivative, "name one with //nabla:rule " + derivative + "=…"
}

// LacksDerivative reports whether there is no derivative with respect to parameter i.
func (r *Rule) LacksDerivative(i int) bool { return i < len(r.NoDerivative) && r.NoDerivative[i] }

// Writes reports whether memory reachable from parameter i may be written.
func (r *Rule) Writes(i int) bool { return i >= len(r.ReadOnly) || !r.ReadOnly[i] }

// Reads reports whether the pullback may read memory of parameter i.
func (r *Rule) Reads(i int) bool { return i >= len(r.Unread) || !r.Unread[i] }

// Returned returns the parameter that result i is, or a negative number.
func (r *Rule) Returned(i int) int {
	if i < len(r.Returns) {
		return r.Returns[i]
	}
	return -1
}

// A Shape holds the calling convention of the derivatives of a function. Its lists are indices of
// parameters or results, in ascending order.
//
// The tangent takes the parameters of the function and the tangents or shadows of ActiveParams; it
// returns the results of the function and the tangents or shadows of ActiveResults.
//
// The pullback takes the parameters of the function, the shadows of those in Shadows and the seeds
// of the results in Seeds; it returns the cotangents of the parameters in Cotangents.
type Shape struct {
	Params, Results             []*types.Var // of the function, its receiver first
	ActiveParams, ActiveResults []int        // contain floats or references to floats
	Shadows, Seeds, Cotangents  []int        // contain references to floats; contain floats
}

// Shape returns the shape of the derivatives of r, whose Object must be set.
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
		if r.LacksDerivative(i) {
			continue
		}
		own, leads := ContainsFloats(v.Type()), ReachesFloats(v.Type())
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
		own := ContainsFloats(v.Type())
		if own || ReachesFloats(v.Type()) {
			s.ActiveResults = append(s.ActiveResults, i)
		}
		if own {
			s.Seeds = append(s.Seeds, i)
		}
	}
	return s
}

// signature returns a signature whose parameters and results have unique names.
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

// selectParams returns the variables of list with indices only, with a suffix appended to their
// names.
func selectParams(list []*types.Var, base, suffix string, only []int) (out []*types.Var) {
	for _, i := range only {
		name := list[i].Name()
		if name == "" || name == "_" {
			name = base
		}
		out = append(out, types.NewParam(token.NoPos, nil, name+suffix, list[i].Type()))
	}
	return out
}

// allIndices returns the indices of list.
func allIndices(list []*types.Var) (out []int) {
	for i := range list {
		out = append(out, i)
	}
	return out
}

// Tangent returns the signature of the tangent.
func (s *Shape) Tangent() *types.Signature {
	params := selectParams(s.Params, "p", "", allIndices(s.Params))
	params = append(params, selectParams(s.Params, "p", "Dot", s.ActiveParams)...)
	results := selectParams(s.Results, "v", "", allIndices(s.Results))
	results = append(results, selectParams(s.Results, "v", "Dot", s.ActiveResults)...)
	return signature(params, results)
}

// Pullback returns the signature of the pullback.
func (s *Shape) Pullback() *types.Signature {
	params := selectParams(s.Params, "p", "", allIndices(s.Params))
	params = append(params, selectParams(s.Params, "p", "Bar", s.Shadows)...)
	params = append(params, selectParams(s.Results, "v", "Bar", s.Seeds)...)
	results := selectParams(s.Params, "p", "Bar", s.Cotangents)
	return signature(params, results)
}

// ContainsFloats reports whether a value of type t contains floats or complex numbers directly, not through
// slices or pointers.
func ContainsFloats(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&(types.IsFloat|types.IsComplex) != 0
	case *types.Array:
		return u.Len() > 0 && ContainsFloats(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if ContainsFloats(f.Type()) {
				return true
			}
		}
	}
	return false
}

// ReachesFloats reports whether a value of type t contains slices, pointers or interfaces (see
// [IsCarrier]) through which floats or complex numbers can be reached.
func ReachesFloats(t types.Type) bool { return reachesFloats(t, map[types.Type]bool{}) }

// reachesFloats is ReachesFloats; seen holds the referenced types that were visited, which ends the
// recursion for recursive types.
func reachesFloats(t types.Type, seen map[types.Type]bool) bool {
	behind := func(t types.Type) bool {
		if seen[t] {
			return false
		}
		seen[t] = true
		return ContainsFloats(t) || reachesFloats(t, seen)
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return behind(u.Elem())
	case *types.Pointer:
		return behind(u.Elem())
	case *types.Interface:
		return IsCarrier(t)
	case *types.Array:
		return u.Len() > 0 && reachesFloats(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			if reachesFloats(f.Type(), seen) {
				return true
			}
		}
	}
	return false
}
