// Package selection selects engines by the properties of a function and an operator. It measures nothing: the rules
// are those that benchmarks of the engines suggest, so that the same program always runs the same engines.
package selection

import (
	"slices"

	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/backend/taylor"
	"github.com/nabla-ad/nabla/engine"
)

// A Role is the part that an engine plays in the computation of an operator.
type Role uint8

const (
	Whole   Role = iota // it computes the operator by itself
	Sparse              // the same, for an operator whose matrix has a known sparsity pattern
	Outer               // the outer of two engines of second order
	Inner               // the inner of two engines of second order
	Forward             // products with the columns of a Jacobian
	Reverse             // products with its rows
)

// Facts describe a function and an operator.
type Facts struct {
	Op               string // the operator, as package engine names it
	N, M             int    // the numbers of inputs and outputs
	Tangent, Adjoint bool   // there is generated forward code, reverse code
	Reals            bool   // the function, or generated code, computes with Reals
	Once             bool   // the prepared object serves one call
	Approximate      bool   // differences are allowed
}

// FactsOf returns the facts of f and the operator op, for a prepared object that serves many calls.
func FactsOf(op string, f *engine.Function) Facts {
	n, m := f.Dims()
	facts := Facts{Op: op, N: n, M: m, Reals: f.Traceable()}
	if g := f.Generated(); g != nil && g.New != nil {
		facts.Tangent, facts.Adjoint = g.RefusedTangent == "", g.Refused == ""
	}
	return facts
}

// A Candidate is an engine, or two for an operator of second order, and the reason why it suits.
type Candidate struct {
	Outer, Inner engine.Backend // equal unless one differentiates what the other computes
	Why          string
}

// Candidates returns the engines for a role, the best first. The others take its place where it turns out that it
// cannot compute the operator. There are none if no engine that is allowed can run the function.
func Candidates(role Role, f Facts) []Candidate {
	var list []Candidate
	add := func(why string, outer, inner engine.Backend) {
		if !slices.ContainsFunc(list, func(c Candidate) bool { return c.Outer == outer && c.Inner == inner }) {
			list = append(list, Candidate{outer, inner, why})
		}
	}
	if taylorOnly(f.Op) {
		if f.Reals {
			add("it has derivatives of all orders", taylor.Backend{}, taylor.Backend{})
		}
		return list
	}
	if role == Sparse && f.Reals && !f.Once {
		// A recorded program computes the entries by themselves, where code computes products.
		limit := 0
		if f.Adjoint {
			limit = longRecording
		}
		b := reversediff.Backend{Compile: true, Limit: limit}
		add("a recorded program computes single entries", b, b)
	}
	codeFor(role, f, add)
	if f.Reals {
		realsFor(role, f, add)
	}
	if f.Approximate {
		b := finitediff.Backend{}
		add("it is a black box, and differences are allowed", b, b)
	}
	return list
}

// longRecording is the largest number of operations that are recorded of a function with generated code, which takes
// about a second.
const longRecording = 1 << 19

// codeFor adds engines of generated code.
func codeFor(role Role, f Facts, add func(why string, outer, inner engine.Backend)) {
	forward := role == Forward
	if role == Whole {
		switch f.Op {
		case "Pushforward", "Derivative", "CurveDerivative":
			forward = true
		}
	}
	const why = "the function has generated code"
	if forward && f.Tangent {
		add(why, source.Forward{}, source.Forward{})
	}
	if f.Adjoint {
		add(why, source.Reverse{}, source.Reverse{})
	}
	if f.Tangent && (!f.Reals || f.N <= few) {
		add(why, source.Forward{}, source.Forward{})
	}
}

// Limits of the rules below, from `go test -run XXX -bench Rules ./internal/selection`.
const (
	few  = 8   // inputs for which dual numbers are as fast as one reverse sweep, in a single call
	tall = 16  // rows for each column from which pullbacks are faster than dual numbers, in a single call
	many = 128 // inputs from which a Hessian by tangents of the gradient is faster than one program
)

// realsFor adds engines for functions over Reals.
func realsFor(role Role, f Facts, add func(why string, outer, inner engine.Backend)) {
	dual, compiled := forwarddiff.Backend{}, reversediff.Backend{Compile: true}
	tape := reversediff.Backend{}
	switch {
	case role == Forward, role == Outer:
		add("dual numbers differentiate whatever the function calls", dual, dual)
	case role == Reverse || role == Inner:
		if f.Once {
			add("a recording pays for one call", tape, tape)
		} else {
			add("the recorded program is replayed in many calls", compiled, compiled)
		}
	case secondOrder(f.Op):
		if f.Once {
			add("dual numbers over a recording pay for one call", dual, tape)
		} else if f.Op == "Hessian" && f.N > many {
			add("dual numbers over a recorded program suit many inputs", dual, compiled)
		} else {
			add("the recorded program is replayed in many calls", compiled, compiled)
		}
	case f.Op == "Pushforward" && f.M > 1:
		add("a product with the Jacobian is one evaluation over dual numbers", dual, dual)
	case !f.Once:
		add("the recorded program is replayed in many calls", compiled, compiled)
	case f.N <= few || f.Op == "Jacobian" && f.N <= tall*f.M:
		add("dual numbers pay for one call with few inputs", dual, dual)
	default:
		add("a recording pays for one call with many inputs", tape, tape)
	}
	add("dual numbers keep no recording", dual, dual)
}

// taylorOnly reports whether op is an operator of Taylor arithmetic.
func taylorOnly(op string) bool {
	switch op {
	case "TaylorCoefficients", "VectorTaylorCoefficients", "Derivatives", "CurveDerivatives", "PartialDerivatives":
		return true
	}
	return false
}

// secondOrder reports whether op is an operator of second order.
func secondOrder(op string) bool {
	switch op {
	case "SecondDerivative", "CurveSecondDerivative", "HVP", "Hessian", "HessianDiagonal", "WeightedHessian", "KKT",
		"Hessians":
		return true
	}
	return false
}
