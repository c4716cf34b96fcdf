// Package engine is what the author of an engine implements and gets.
//
// An engine is a [Backend], a small value whose name shows its settings, that
// implements at least one of [Pusher] and [Puller]. Package nabla derives all
// operators from either; an engine that can do better implements the
// optional interfaces too. They are looked for once, when an operator is prepared.
//
// What an engine is given is a [Function]: the user's function as a map from n
// numbers to m numbers, whatever shape it had. An engine may evaluate it
// ([Function.Value]), run it over numbers of its own ([Function.Over] with
// [Overload]), or take it as a recorded program ([Function.Program]).
//
// Everything a prepared object returns is called by one goroutine at a time, with
// lengths checked and destinations allocated, and must not keep its arguments.
package engine

import (
	"github.com/nabla-ad/nabla/internal/core"
)

// Backend is an engine with its settings. Name shows the settings that are not
// the default, as in "reversediff(compile)".
type Backend interface{ Name() string }

// A Pusher computes J·v. To implement it is to say that it is cheap.
type Pusher interface {
	// PreparePushforward prepares for points of the length of x and the given
	// number of tangents at a time.
	PreparePushforward(f *Function, x []float64, lanes int) (Pushforward, error)
}

// A Puller computes Jᵀ·w. To implement it is to say that it is cheap.
type Puller interface {
	PreparePullback(f *Function, x []float64, lanes int) (Pullback, error)
}

// Pushforward writes y = f(x) and ydot = J(x)·xdot, one column per tangent.
type Pushforward interface {
	Pushforward(y []float64, ydot Block, x []float64, xdot Block) error
}

// Pullback writes y = f(x) and xbar = J(x)ᵀ·ybar, one column per cotangent.
type Pullback interface {
	Pullback(y []float64, xbar Block, x []float64, ybar Block) error
}

// A Gradienter has a gradient of its own, better than a pullback with cotangent 1.
type Gradienter interface {
	PrepareGradient(f *Function, x []float64) (Gradient, error)
}

// Gradient writes grad = ∇f(x) and returns f(x).
type Gradient interface {
	ValueAndGradient(grad, x []float64) (float64, error)
}

// A BareGradient is a Gradient that costs less without the value.
type BareGradient interface {
	Gradient(grad, x []float64) error
}

// A Jacobianer has a dense Jacobian of its own.
type Jacobianer interface {
	PrepareJacobian(f *Function, x []float64) (Jacobian, error)
}

// Jacobian writes y = f(x) and jac = J(x), row i holding the derivatives of y[i].
type Jacobian interface {
	ValueAndJacobian(y []float64, jac Block, x []float64) error
}

// An HVPer has Hessian-vector products of its own.
type HVPer interface {
	PrepareHVP(f *Function, x []float64, lanes int) (HVP, error)
}

// HVP writes hv = ∇²f(x)·v, one column per tangent, and the gradient, and returns
// f(x). A nil grad is not wanted.
type HVP interface {
	ValueGradientAndHVP(grad []float64, hv Block, x []float64, v Block) (float64, error)
}

// A BareHVP is an HVP that costs less without value and gradient.
type BareHVP interface {
	HVP(hv Block, x []float64, v Block) error
}

// A Hessianer has a dense Hessian of its own.
type Hessianer interface {
	PrepareHessian(f *Function, x []float64) (Hessian, error)
}

// Hessian writes hess = ∇²f(x), all of it, and the gradient, and returns f(x). A
// nil grad is not wanted.
type Hessian interface {
	ValueGradientAndHessian(grad []float64, hess Block, x []float64) (float64, error)
}

// A Seconder has second derivatives of functions of one number of its own.
type Seconder interface {
	PrepareSecond(f *Function, t float64) (Second, error)
}

// A Lineariser can keep what it learnt at a point and apply the derivative there
// to many vectors.
type Lineariser interface {
	PrepareLinear(f *Function, x []float64) (Linear, error)
}

// Linear is the derivative at one point.
type Linear interface {
	// At moves to x and writes y = f(x).
	At(y, x []float64) error
	// Apply writes ydot = J·xdot at the point last moved to.
	Apply(ydot, xdot []float64) error
	// Transpose writes xbar = Jᵀ·ybar at the point last moved to.
	Transpose(xbar, ybar []float64) error
}

// A Laner prefers a number of tangents at a time, out of n in all.
type Laner interface{ Lanes(n int) int }

// A Transformer turns a function into its derivative as a function again, which
// another engine can differentiate. An engine without one gets the reverse of the
// recorded program, [GradientFunction], and the tangent of it.
type Transformer interface {
	// GradientFunction is x ↦ ∇f(x) for a function with one output.
	GradientFunction(f *Function) (*Function, error)
	// PushforwardFunction is (x, v) ↦ J(x)·v: 2n inputs.
	PushforwardFunction(f *Function) (*Function, error)
}

// A Tangenter is an engine for pullbacks that can also push forward at the price of a
// pushforward, though it is not a Pusher: where either would do it pulls back. Tangents
// is the Pusher, or nil.
type Tangenter interface{ Tangents() Backend }

// A OneShotter has a preparation that pays for itself only after several calls.
// OneShot is the backend for a gradient, derivative or pullback that is asked for
// once; its results are the same.
type OneShotter interface{ OneShot() Backend }

// An Approximator computes first derivatives with a truncation error. Accuracy is
// how far they may be from exact ones, relative to the largest, before whoever
// compares calls them wrong; 0 means that they are exact after all.
type Approximator interface{ Accuracy() float64 }

// A Limiter bounds its recordings, also where another engine differentiates the
// functions it derives. Zero means DefaultLimit.
type Limiter interface{ RecordLimit() int }

// A Recorder counts how often a prepared object recorded the function.
type Recorder interface{ Recordings() int }

// Block holds B vectors of length N side by side: row i holds component i of all
// of them, from Data[i·Stride] on. It is the layout of a row-major N×B matrix.
type Block struct {
	N, B, Stride int
	Data         []float64
}

// NewBlock allocates a block.
func NewBlock(n, b int) Block {
	return Block{N: n, B: b, Stride: b, Data: make([]float64, n*b)}
}

// Column is the block of one vector, without a copy.
func Column(v []float64) Block { return Block{N: len(v), B: 1, Stride: 1, Data: v} }

// Row is row i.
func (b Block) Row(i int) []float64 {
	o := i * b.Stride
	return b.Data[o : o+b.B : o+b.B]
}

// Cols is the columns from j on, k of them, without a copy.
func (b Block) Cols(j, k int) Block {
	if b.N == 0 || k == 0 {
		return Block{N: b.N, B: k, Stride: b.Stride}
	}
	return Block{N: b.N, B: k, Stride: b.Stride, Data: b.Data[j:]}
}

// Zero sets all elements to 0.
func (b Block) Zero() {
	for i := range b.N {
		clear(b.Row(i))
	}
}

// Real is a number under differentiation, the layout of nabla.Real. A foreign
// engine gets numbers from a [Tracer] opened by [Overload].
type Real = core.Rep

// Tracer owns the numbers of one trace. Close it when the function has returned.
type Tracer = core.Tracer

// Hook is a foreign engine's operator overloading.
type Hook = core.Hook

// Custom is a rule written by a user, as engines see it.
type Custom = core.Custom

// Overload opens a trace whose operations are reported to h. The numbers of the
// inputs come from [Tracer.Number], with ids that h chooses, greater than 0.
func Overload(h Hook) *Tracer {
	t := new(Tracer)
	t.StartHook(h)
	return t
}
