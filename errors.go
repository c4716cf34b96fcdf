package nabla

import "github.com/nabla-ad/nabla/engine"

// Everything that can go wrong on the side of the caller comes back as an error
// that errors.Is and errors.As recognise. The prepared object stays usable.
type (
	// ShapeError says that an argument has the wrong length.
	ShapeError = engine.ShapeError
	// PanicError says that the user's function panicked; it carries the value and
	// the stack, and unwraps to the value where that is an error.
	PanicError = engine.PanicError
	// ContextError says that a bound struct has a field that a recording would
	// freeze, or that the function wrote to a field it may only read.
	ContextError = engine.ContextError
	// FuncError reports a mistake in a function, or in the struct that is bound to it, found before anything is
	// computed.
	FuncError = engine.FuncError
	// UnsupportedError says what an engine cannot do and what can be done instead.
	UnsupportedError = engine.UnsupportedError
	// LimitError says that a recording grew beyond its limit, or that something would
	// take more memory than its limit.
	LimitError = engine.LimitError
	// StaleError says that a recording is of data that has changed; it matches
	// ErrStale.
	StaleError = engine.StaleError
	// CanceledError says that a preparation was cancelled by the context of a
	// [Preparation]. It wraps context.Canceled or context.DeadlineExceeded.
	CanceledError = engine.CanceledError
	// StaleCodeError says that generated code computes something else than the
	// function it was generated from; it matches ErrStale.
	StaleCodeError = engine.StaleCodeError
)

// Errors without details of their own.
var (
	ErrBusy             = engine.ErrBusy
	ErrUnsupported      = engine.ErrUnsupported
	ErrGuard            = engine.ErrGuard
	ErrStale            = engine.ErrStale
	ErrForeignReal      = engine.ErrForeignReal
	ErrOutputNotWritten = engine.ErrOutputNotWritten
)
