// Package engine defines the interfaces between package nabla and the engines that compute derivatives, and the tools
// to implement an engine.
//
// An engine is a [Backend], a small value whose name shows its settings, that implements at least one of [Pusher] and
// [Puller]. Package nabla derives all operators from either. An engine that can do better implements optional
// interfaces, which are looked up once, when an operator is prepared.
//
// An engine differentiates a [Function]: the user's function as a map from n numbers to m numbers, whatever its Go
// signature. An engine may evaluate it ([Function.Value]), run it over its own numbers ([Function.Over] with
// [Overload]), or obtain it as a recorded program ([Function.Program]).
//
// Prepared objects are called by one goroutine at a time, with checked lengths and allocated destinations. They must
// not retain their arguments.
package engine

import (
	"github.com/nabla-ad/nabla/internal/core"
)

// Backend is an engine with its settings. Name returns the name of the engine with the settings that differ from the
// default, as in "reversediff(compile)".
type Backend interface{ Name() string }

// A Pusher computes pushforwards, J·v. Implementing it declares that they are cheap: about the cost of one evaluation
// each.
type Pusher interface {
	// PreparePushforward prepares pushforwards of up to lanes tangents at a time, at points of the length of x. The
	// function may be evaluated or recorded at x.
	PreparePushforward(f *Function, x []float64, lanes int) (Pushforward, error)
}

// A Puller computes pullbacks, Jᵀ·w. Implementing it declares that they are cheap: a small multiple of one evaluation
// each.
type Puller interface {
	// PreparePullback prepares pullbacks of up to lanes cotangents at a time, at points of the length of x.
	PreparePullback(f *Function, x []float64, lanes int) (Pullback, error)
}

// Pushforward writes y = f(x), of length m, and ydot = J(x)·xdot, m×k for an n×k block xdot with one column per
// tangent.
type Pushforward interface {
	Pushforward(y []float64, ydot Block, x []float64, xdot Block) error
}

// Pullback writes y = f(x), of length m, and xbar = J(x)ᵀ·ybar, n×k for an m×k block ybar with one column per
// cotangent.
type Pullback interface {
	Pullback(y []float64, xbar Block, x []float64, ybar Block) error
}

// A Gradienter computes gradients directly, faster than by a pullback of 1.
type Gradienter interface {
	PrepareGradient(f *Function, x []float64) (Gradient, error)
}

// Gradient writes grad = ∇f(x), of length n, and returns f(x).
type Gradient interface {
	ValueAndGradient(grad, x []float64) (float64, error)
}

// A BareGradient is a Gradient that is cheaper if the value is not computed.
type BareGradient interface {
	Gradient(grad, x []float64) error
}

// A Jacobianer computes dense Jacobians directly.
type Jacobianer interface {
	PrepareJacobian(f *Function, x []float64) (Jacobian, error)
}

// Jacobian writes y = f(x) and the m×n block jac = J(x). Row i holds the derivatives of y[i].
type Jacobian interface {
	ValueAndJacobian(y []float64, jac Block, x []float64) error
}

// An HVPer computes Hessian-vector products directly.
type HVPer interface {
	PrepareHVP(f *Function, x []float64, lanes int) (HVP, error)
}

// HVP writes hv = ∇²f(x)·v, n×k for an n×k block v with one column per vector, and the gradient, and returns f(x). If
// grad is nil the gradient is not written.
type HVP interface {
	ValueGradientAndHVP(grad []float64, hv Block, x []float64, v Block) (float64, error)
}

// A BareHVP is an HVP that is cheaper if value and gradient are not computed.
type BareHVP interface {
	HVP(hv Block, x []float64, v Block) error
}

// A Hessianer computes dense Hessians directly.
type Hessianer interface {
	PrepareHessian(f *Function, x []float64) (Hessian, error)
}

// Hessian writes the n×n block hess = ∇²f(x), both triangles, and the gradient, and returns f(x). If grad is nil the
// gradient is not written.
type Hessian interface {
	ValueGradientAndHessian(grad []float64, hess Block, x []float64) (float64, error)
}

// A Seconder computes second derivatives of functions of one number directly.
type Seconder interface {
	PrepareSecond(f *Function, t float64) (Second, error)
}

// A Lineariser stores the linearisation of a function at a point and applies it to many vectors.
type Lineariser interface {
	PrepareLinear(f *Function, x []float64) (Linear, error)
}

// A Linear is the Jacobian J of f at the point of the last At, as a linear operator: it computes products with J and Jᵀ
// without the entries of J.
type Linear interface {
	// At linearises at x and writes y = f(x). It must be called before Apply and Transpose.
	At(y, x []float64) error
	// Apply writes ydot = J·xdot at the point of the last At.
	Apply(ydot, xdot []float64) error
	// Transpose writes xbar = Jᵀ·ybar at the point of the last At.
	Transpose(xbar, ybar []float64) error
}

// A Laner chooses the width of vector mode. Lanes returns the preferred number of tangents or cotangents per sweep if n
// are needed in all.
type Laner interface{ Lanes(n int) int }

// An HVPLaner is a Laner that computes another number of products with a Hessian at a time.
type HVPLaner interface{ HVPLanes(n int) int }

// A Transformer returns the derivative of a function as a function, which another engine can differentiate. For an
// engine that is none, [GradientFunction] and [PushforwardFunction] derive it from the recorded program.
type Transformer interface {
	// GradientFunction returns x ↦ (∇f(x), f(x)), n inputs and n+1 outputs, for a function with one output.
	GradientFunction(f *Function) (*Function, error)
	// PushforwardFunction returns (x, v) ↦ (J(x)·v, f(x)), 2n inputs and 2m outputs.
	PushforwardFunction(f *Function) (*Function, error)
}

// A Tangenter is a Puller with cheap pushforwards that does not implement Pusher, so that an operator that could use
// either mode uses pullbacks. Tangents returns the Pusher to use if pushforwards are required, or nil.
type Tangenter interface{ Tangents() Backend }

// A CodeRunner is an engine that runs generated code, that of plain functions and of functions derived from them; see
// [GradientCode]. RunsCode reports whether it does.
type CodeRunner interface{ RunsCode() bool }

// A OneShotter is an engine whose preparation pays only after several calls. OneShot returns the backend to use for a
// gradient, derivative or pullback that is computed once, with the same results.
type OneShotter interface{ OneShot() Backend }

// An Approximator computes first derivatives with a truncation error. Accuracy returns the tolerance to compare them
// with exact ones, relative to the largest; 0 means that they are exact.
type Approximator interface{ Accuracy() float64 }

// A Limiter bounds the number of operations in a recording, also where another engine differentiates functions derived
// by it. A RecordLimit of 0 means DefaultLimit.
type Limiter interface{ RecordLimit() int }

// A Recorder counts the recordings that a prepared object made of the function.
type Recorder interface{ Recordings() int }

// A Block holds B vectors of length N as the columns of a row-major N×B matrix: row i holds component i of all vectors,
// in Data[i·Stride : i·Stride+B]. Blocks share Data when they are copied.
type Block struct {
	N, B, Stride int
	Data         []float64
}

// NewBlock allocates a block of b zero vectors of length n.
func NewBlock(n, b int) Block {
	return Block{N: n, B: b, Stride: b, Data: make([]float64, n*b)}
}

// Column returns v as a block with one column. It shares memory with v.
func Column(v []float64) Block { return Block{N: len(v), B: 1, Stride: 1, Data: v} }

// Row returns row i, of length B. It shares memory with b.
func (b Block) Row(i int) []float64 {
	o := i * b.Stride
	return b.Data[o : o+b.B : o+b.B]
}

// Whole reports whether the rows of b follow each other without a gap, so that Data[:N·B] has all elements.
func (b Block) Whole() bool { return b.Stride == b.B }

// CopyFrom copies the elements of src, a block with the same number of columns and at least as many rows.
func (b Block) CopyFrom(src Block) {
	if b.Whole() && src.Whole() {
		copy(b.Data[:b.N*b.B], src.Data)
		return
	}
	for i := range b.N {
		copy(b.Row(i), src.Row(i))
	}
}

// Cols returns columns j to j+k-1 as a block that shares memory with b.
func (b Block) Cols(j, k int) Block {
	if b.N == 0 || k == 0 {
		return Block{N: b.N, B: k, Stride: b.Stride}
	}
	return Block{N: b.N, B: k, Stride: b.Stride, Data: b.Data[j:]}
}

// Zero sets all elements of b to 0.
func (b Block) Zero() {
	for i := range b.N {
		clear(b.Row(i))
	}
}

// Real is a number under differentiation, with the layout of nabla.Real. A foreign engine creates them with the
// [Tracer] that [Overload] returns.
type Real = core.Rep

// Tracer owns the numbers of one trace. It must be closed after the function has returned.
type Tracer = core.Tracer

// Hook is the operator overloading of a foreign engine: it is called for every operation of a trace.
type Hook = core.Hook

// Custom is a derivative rule written by a user.
type Custom = core.Custom

// Overload opens a trace that reports its operations to h. [Tracer.Number] makes the numbers of the inputs, with ids
// greater than 0 that h chooses.
func Overload(h Hook) *Tracer {
	t := new(Tracer)
	t.StartHook(h)
	return t
}
