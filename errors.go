package nabla

import "github.com/nabla-ad/nabla/engine"

// Errors caused by the caller have one of the types below, which errors.As finds, or match one of
// the variables below with errors.Is. The prepared object stays usable.
type (
	// ShapeError reports an argument of the wrong length.
	ShapeError = engine.ShapeError
	// PanicError reports a panic in the user's function. It carries the panic value and the stack,
	// and unwraps to the value if that is an error.
	PanicError = engine.PanicError
	// ReturnedError reports that the user's function returned an error, and unwraps to it.
	ReturnedError = engine.ReturnedError
	// ContextError reports a field of a bound struct that a recording would freeze, or a function
	// that wrote to a field it may only read.
	ContextError = engine.ContextError
	// FuncError reports a mistake in a function, or in the struct bound to it, found before
	// anything is computed.
	FuncError = engine.FuncError
	// UnsupportedError reports an operation that an engine cannot perform, with a remedy.
	UnsupportedError = engine.UnsupportedError
	// LimitError reports that a recording exceeded its limit, or that an allocation would exceed
	// the memory limit.
	LimitError = engine.LimitError
	// OrderError reports an order of differentiation that is negative or above a limit.
	OrderError = engine.OrderError
	// StaleError reports that data captured by a recording has changed; it matches ErrStale.
	StaleError = engine.StaleError
	// CanceledError reports that the context of a [Preparation] cancelled a preparation. It wraps
	// context.Canceled or context.DeadlineExceeded.
	CanceledError = engine.CanceledError
	// StaleCodeError reports that generated code differs in its results from the function it was
	// generated from; it matches ErrStale.
	StaleCodeError = engine.StaleCodeError
)

// Errors of calls match these variables with errors.Is.
var (
	// ErrBusy reports that a second goroutine called a prepared object during a call.
	ErrBusy = engine.ErrBusy
	// ErrUnsupported reports an operation that an engine cannot perform; every *UnsupportedError matches it.
	ErrUnsupported = engine.ErrUnsupported
	// ErrGuard reports that the function left the recorded branch under a [Policy] with OnGuard: Fail.
	ErrGuard = engine.ErrGuard
	// ErrStale reports that a recording or generated code computes something else than the function; every *StaleError
	// and *StaleCodeError matches it.
	ErrStale = engine.ErrStale
	// ErrForeignReal reports a Real that was used after the call that made it, or in the trace of another function.
	ErrForeignReal = engine.ErrForeignReal
	// ErrOutputNotWritten reports an output that an in-place function did not write, or read before it wrote it.
	ErrOutputNotWritten = engine.ErrOutputNotWritten
)
