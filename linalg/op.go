package linalg

import (
	"errors"

	"github.com/nabla-ad/nabla/internal/core"
)

// An op is an operation on matrices of fixed shapes. Its type is comparable, so that recordings can be compared.
type op interface {
	name() string
	// outputs returns the number of outputs.
	outputs() int
	value(y, x []float64)
	// push returns J(x)·xdot, and pull J(x)ᵀ·ybar. y is the value at x.
	push(x, y, xdot array) array
	pull(x, y, ybar array) array
}

// apply applies o to the elements of args.
func apply(o op, args ...array) array {
	x := join(args...)
	if x.over {
		return traced(core.Call(customOf(o), x.r))
	}
	y := make([]float64, o.outputs())
	o.value(y, x.f)
	return plain(y)
}

// customOf returns o in the form that engines call.
func customOf(o op) core.Custom {
	switch o := o.(type) {
	case factorization:
		return passive{custom{o}}
	case groupedOp:
		return grouped{custom{o}, o}
	}
	return custom{o}
}

// A custom implements core.Inlined and core.Continuous.
type custom struct{ op op }

func (c custom) Continuous() {}

func (c custom) Name() string { return "linalg." + c.op.name() }

func (c custom) Outputs(int) int { return c.op.outputs() }

func (c custom) Value(y, x []float64) { c.op.value(y, x) }

func (c custom) JVP(ydot, x, y, xdot []float64) {
	copy(ydot, c.op.push(plain(x), plain(y), plain(xdot)).f)
}

func (c custom) VJP(xbar, x, y, ybar []float64) {
	for i, v := range c.op.pull(plain(x), plain(y), plain(ybar)).f {
		xbar[i] += v
	}
}

func (c custom) PushOver(x, y, xdot []core.Rep) []core.Rep {
	return c.op.push(traced(x), traced(y), traced(xdot)).r
}

func (c custom) PullOver(x, y, ybar []core.Rep) []core.Rep {
	return c.op.pull(traced(x), traced(y), traced(ybar)).r
}

var errWalk = errors.New("nabla: linalg: a derivative of an operation was differentiated as a rule; " +
	"differentiate the program by program.JVP or program.VJP")

func (c custom) Tangent(n int) core.Custom {
	return &core.Applied{Of: c, N: n, Refuse: errWalk}
}

func (c custom) Cotangent(n int) core.Custom {
	return &core.Applied{Of: c, N: n, Reverse: true, Refuse: errWalk}
}

// A factorization is an op whose outputs are data for other operations, which have the factorised matrix as an argument
// too and are differentiated with respect to it. So the cotangent of a factor is never computed unless the function
// uses the factor itself, and a solution costs one more solution in the reverse sweep.
type factorization interface {
	op
	factorization()
}

type passive struct{ custom }

func (passive) Passive() {}

// A groupedOp is an op with groups of inputs; see core.Grouped.
type groupedOp interface {
	op
	groups() (groups [][]int, outputs [][2]int, curved bool)
}

type grouped struct {
	custom
	of groupedOp
}

// Groups implements core.Grouped.
func (g grouped) Groups(int) ([][]int, [][2]int, bool) { return g.of.groups() }

// seq returns k numbers from i on with the given step.
func seq(i, step, k int) []int {
	out := make([]int, k)
	for j := range out {
		out[j] = i + j*step
	}
	return out
}
