package engine

import (
	"fmt"
	"math"

	"github.com/nabla-ad/nabla/internal/core"
)

// CodeVersion is the version of the interface between generated code and this
// module. Code of another version is not run.
const CodeVersion = 1

// Code is what was generated from a function: its derivatives as plain Go, with a
// workspace of their own, for one goroutine at a time. All of them see the function
// in one shape, from the numbers x to the numbers y; a number is a slice of length
// 1. p is the bound struct, nil where there is none. They return how many outputs
// the function has: where that is not len(y), nothing else is promised. A field is
// nil where it was not generated.
type Code struct {
	// Tangent writes y = f(x) and ydot = J·xdot.
	Tangent func(y, ydot, x, xdot []float64, p any) int

	// Tangent4 is four tangents at a time: row i has those of component i.
	Tangent4 func(y []float64, ydot [][4]float64, x []float64, xdot [][4]float64, p any) int

	// Adjoint writes y = f(x) and xbar = Jᵀ·ybar. It changes neither x nor ybar.
	Adjoint func(y, xbar, x, ybar []float64, p any) int

	// Adjoint4 is four adjoints at a time: row i of ybar and of xbar has those of
	// component i. Functions with one output have none.
	Adjoint4 func(y []float64, xbar [][4]float64, x []float64, ybar [][4]float64, p any) int

	// Gradient writes the gradient of a function with one output, without the
	// value. It is nil where that is no cheaper.
	Gradient func(xbar, x []float64, p any)

	// AdjointTangent is the tangent of Adjoint in direction xdot, for a constant
	// ybar: it writes y = f(x), xbar = Jᵀ·ybar and xbardot, the derivative of
	// Jᵀ·ybar along xdot. For a function with one output and ybar = 1 the latter
	// are the gradient and the Hessian times xdot.
	AdjointTangent func(y, xbar, xbardot, x, xdot, ybar []float64, p any) int

	// HVP writes hv = ∇²f(x)·v for a function with one output, without value and
	// gradient. It is nil where that is no cheaper.
	HVP func(hv, x, v []float64, p any)
}

// Generated is the generated code of a function, as engines see it.
type Generated struct {
	Name string
	// New makes code for one prepared object.
	New func() Code
	// WritesX says that the code writes to x and xdot, as the function does to x.
	WritesX bool
	// InPlace says that the function writes into its outputs, and may leave one out.
	InPlace bool
	// Refused says why there is no reverse code, where there is none, RefusedTangent why
	// there is no forward code, and RefusedTraced why there is no form over Reals.
	Refused, RefusedTangent, RefusedTraced string
}

// Code is new code for a function of n inputs. It does not write to x or xdot, and
// an output that the function leaves out ends the call.
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

// withOwnX is c with copies of x and xdot.
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

// withOutputs is c with a look at whether all outputs are written. Derivatives
// without the value do not show it.
func (c Code) withOutputs() (w Code) {
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

func written(y []float64, outputs int) int {
	if i := Unwritten(y); i >= 0 {
		panic(core.Abort{Err: fmt.Errorf("output %d: %w", i, ErrOutputNotWritten)})
	}
	return outputs
}

// unwritten is the NaN that a plain in-place function finds in its outputs. A
// result computed from it is a NaN with the same payload.
const unwritten = 0x7ff8_6e61_626c_6100

// Unwrite fills y with a NaN that says that nothing has been written.
func Unwrite(y []float64) {
	for i := range y {
		y[i] = math.Float64frombits(unwritten)
	}
}

// Unwritten is the first element of y in which nothing has been written, or -1.
func Unwritten(y []float64) int {
	for i, v := range y {
		if math.Float64bits(v) == unwritten {
			return i
		}
	}
	return -1
}
