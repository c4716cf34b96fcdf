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
	// StaleError reports that data captured by a recording has changed; it matches ErrStale.
	StaleError = engine.StaleError
	// CanceledError reports that the context of a [Preparation] cancelled a preparation. It wraps
	// context.Canceled or context.DeadlineExceeded.
	CanceledError = engine.CanceledError
	// StaleCodeError reports that generated code differs in its results from the function it was
	// generated from; it matches ErrStale.
	StaleCodeError = engine.StaleCodeError
)

// The variables below are errors without details of their own.
var (
	ErrBusy             = engine.ErrBusy
	ErrUnsupported      = engine.ErrUnsupported
	ErrGuard            = engine.ErrGuard
	ErrStale            = engine.ErrStale
	ErrForeignReal      = engine.ErrForeignReal
	ErrOutputNotWritten = engine.ErrOutputNotWritten
)
