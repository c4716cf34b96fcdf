package engine

import (
	"fmt"
	"math"

	"github.com/nabla-ad/nabla/internal/core"
)

// CodeVersion is the version of the interface between generated code and this module. Code of another version is not
// run.
const CodeVersion = 1

// Code holds the derivatives generated from a function as plain Go. The functions of one Code share a workspace, so
// only one goroutine may call them at a time.
//
// All of them treat the function as a map from x to y; a scalar is a slice of length 1. Row i of a slice of [4]float64
// holds component i of four vectors. p is the bound struct, nil without one. Each function that takes y returns the
// number of outputs of the function; if it differs from len(y), the contents of the results are undefined. A field is
// nil if its derivative was not generated.
type Code struct {
	// Tangent writes y = f(x) and ydot = J·xdot.
	Tangent func(y, ydot, x, xdot []float64, p any) int

	// Tangent4 is Tangent in vector mode of width 4.
	Tangent4 func(y []float64, ydot [][4]float64, x []float64, xdot [][4]float64, p any) int

	// Adjoint writes y = f(x) and xbar = Jᵀ·ybar. It does not modify x or ybar.
	Adjoint func(y, xbar, x, ybar []float64, p any) int

	// Adjoint4 is Adjoint in vector mode of width 4. It is nil for functions with one output.
	Adjoint4 func(y []float64, xbar [][4]float64, x []float64, ybar [][4]float64, p any) int

	// Gradient writes the gradient of a function with one output and does not compute the value. It is nil if it would
	// be no cheaper than Adjoint.
	Gradient func(xbar, x []float64, p any)

	// AdjointTangent is the tangent of Adjoint in direction xdot with constant ybar: it writes y = f(x), xbar = Jᵀ·ybar
	// and xbardot, the derivative of Jᵀ·ybar along xdot. For a function with one output and ybar = 1, xbar is the
	// gradient and xbardot the Hessian times xdot.
	AdjointTangent func(y, xbar, xbardot, x, xdot, ybar []float64, p any) int

	// HVP writes hv = ∇²f(x)·v for a function with one output and computes neither value nor gradient. It is nil if it
	// would be no cheaper than AdjointTangent.
	HVP func(hv, x, v []float64, p any)

	// Entries writes y = f(x) and the entries of the Jacobian to the places that a plan gives them. It returns the
	// number of outputs and whether the plan does not fit: then the results are incomplete.
	Entries func(y, entries, x []float64, plan []int32, p any) (int, bool)

	// Plan returns the entries that Entries computes at x. It writes y = f(x). See the package comment of gen/entries
	// for the list and the plan. The list may end at limit or after it.
	Plan func(y, x []float64, limit int, p any) []int32

	// PlanFixed reports that the plan is the same at all points. It may depend on integers of the bound struct.
	PlanFixed bool

	// PlanHead is the number of integers at the start of the plan that Entries compares with those it depends on. If it
	// is 0, Entries compares rows and columns.
	PlanHead int

	// HessianEntries is Entries for the Hessian of a function with one output, and writes the gradient to xbar.
	HessianEntries func(y, xbar, entries, x []float64, plan []int32, p any) (int, bool)

	// HessianPlan is Plan for HessianEntries.
	HessianPlan func(y, xbar, x []float64, limit int, p any) []int32

	// HessianPlanFixed is PlanFixed for HessianPlan.
	HessianPlanFixed bool

	// HessianPlanHead is PlanHead for HessianPlan.
	HessianPlanHead int
}

// Generated describes the code generated from a function.
type Generated struct {
	Name string
	// New returns code with a workspace of its own for one prepared object. It is nil if no code was generated.
	New func() Code
	// WritesX reports that the code modifies x and xdot, because the function modifies x.
	WritesX bool
	// InPlace reports that the function writes its results into y, so that it may leave an element unwritten.
	InPlace bool
	// Refused, RefusedTangent, RefusedSecond and RefusedTraced are the reasons why there is no reverse code, no forward
	// code, no code for second derivatives and no form over Reals. An empty string means that there is.
	Refused, RefusedTangent, RefusedSecond, RefusedTraced string
}

// Code returns new code for a function of n inputs that does not modify x or xdot. If the function leaves an output
// unwritten, a call panics with a core.Abort that holds [ErrOutputNotWritten]. Code returns the zero Code if g.New is
// nil.
func (g *Generated) Code(n int) Code {
	if g.New == nil {
		return Code{}
	}
	c := g.New()
	if g.WritesX {
		c = c.withOwnX(n)
	}
	if g.InPlace {
		c = c.withOutputs()
	}
	return c
}

// withOwnX returns c with each function wrapped to pass copies of x and xdot, of length n. The copies belong to the
// result and are reused between calls. There are no functions for entries, which have no tangents of x to modify.
func (c Code) withOwnX(n int) (w Code) {
	own, dot := make([]float64, n), make([]float64, n)
	if f := c.Tangent; f != nil {
		w.Tangent = func(y, ydot, x, xdot []float64, p any) int {
			copy(own, x)
			copy(dot, xdot)
			return f(y, ydot, own, dot, p)
		}
	}
	if f := c.Tangent4; f != nil {
		dot := make([][4]float64, n)
		w.Tangent4 = func(y []float64, ydot [][4]float64, x []float64, xdot [][4]float64, p any) int {
			copy(own, x)
			copy(dot, xdot)
			return f(y, ydot, own, dot, p)
		}
	}
	if f := c.Adjoint; f != nil {
		w.Adjoint = func(y, xbar, x, ybar []float64, p any) int {
			copy(own, x)
			return f(y, xbar, own, ybar, p)
		}
	}
	if f := c.Adjoint4; f != nil {
		w.Adjoint4 = func(y []float64, xbar [][4]float64, x []float64, ybar [][4]float64, p any) int {
			copy(own, x)
			return f(y, xbar, own, ybar, p)
		}
	}
	if f := c.Gradient; f != nil {
		w.Gradient = func(xbar, x []float64, p any) {
			copy(own, x)
			f(xbar, own, p)
		}
	}
	if f := c.AdjointTangent; f != nil {
		w.AdjointTangent = func(y, xbar, xbardot, x, xdot, ybar []float64, p any) int {
			copy(own, x)
			copy(dot, xdot)
			return f(y, xbar, xbardot, own, dot, ybar, p)
		}
	}
	if f := c.HVP; f != nil {
		w.HVP = func(hv, x, v []float64, p any) {
			copy(own, x)
			copy(dot, v)
			f(hv, own, dot, p)
		}
	}
	return w
}

// withOutputs returns c with each function that takes y wrapped to panic if an element of y is not written. Gradient
// and HVP have no y to check and are nil in the result. Callers of the functions for entries know from the plan which
// elements are written.
func (c Code) withOutputs() Code {
	w := Code{Entries: c.Entries, Plan: c.Plan, PlanFixed: c.PlanFixed, PlanHead: c.PlanHead}
	if f := c.Tangent; f != nil {
		w.Tangent = func(y, ydot, x, xdot []float64, p any) int {
			Unwrite(y)
			return written(y, f(y, ydot, x, xdot, p))
		}
	}
	if f := c.Tangent4; f != nil {
		w.Tangent4 = func(y []float64, ydot [][4]float64, x []float64, xdot [][4]float64, p any) int {
			Unwrite(y)
			return written(y, f(y, ydot, x, xdot, p))
		}
	}
	if f := c.Adjoint; f != nil {
		w.Adjoint = func(y, xbar, x, ybar []float64, p any) int {
			Unwrite(y)
			return written(y, f(y, xbar, x, ybar, p))
		}
	}
	if f := c.Adjoint4; f != nil {
		w.Adjoint4 = func(y []float64, xbar [][4]float64, x []float64, ybar [][4]float64, p any) int {
			Unwrite(y)
			return written(y, f(y, xbar, x, ybar, p))
		}
	}
	if f := c.AdjointTangent; f != nil {
		w.AdjointTangent = func(y, xbar, xbardot, x, xdot, ybar []float64, p any) int {
			Unwrite(y)
			return written(y, f(y, xbar, xbardot, x, xdot, ybar, p))
		}
	}
	return w
}

// written returns outputs. It panics with a core.Abort if an element of y was not written.
func written(y []float64, outputs int) int {
	if i := Unwritten(y); i >= 0 {
		panic(core.Abort{Err: fmt.Errorf("output %d: %w", i, ErrOutputNotWritten)})
	}
	return outputs
}

// unwritten is the bit pattern of the NaN that marks unwritten outputs of an in-place function. Arithmetic usually
// propagates the payload of a NaN, so a result computed from an unwritten output is detected too.
const unwritten = 0x7ff8_6e61_626c_6100

// Unwrite marks all elements of y as unwritten, by a NaN with a payload of its own.
func Unwrite(y []float64) {
	for i := range y {
		y[i] = math.Float64frombits(unwritten)
	}
}

// Unwritten returns the index of the first element of y that is marked as unwritten, or -1.
func Unwritten(y []float64) int {
	for i, v := range y {
		if math.Float64bits(v) == unwritten {
			return i
		}
	}
	return -1
}
