package program

import "github.com/nabla-ad/nabla/internal/core"

// Types of the numbers and traces that programs are made from. Package engine documents their use.
type (
	// Real is the number that functions compute with under differentiation, with the memory of a nabla.Real.
	Real = core.Rep
	// Mark identifies a Real within a trace.
	Mark = core.Mark
	// Tracer owns the numbers of a trace.
	Tracer = core.Tracer
	// RecordOptions configures a recording.
	RecordOptions = core.RecordOptions
	// Recording is the raw form of a recorded function; see [FromRecording].
	Recording = core.Recorded
	// RecordedOp is one operation of a Recording.
	RecordedOp = core.Record
	// LoopRun is a part of a Recording that a loop of generated code may have made.
	LoopRun = core.Run
	// Custom is a custom rule: a function with derivatives of its own; see nabla.Rule.
	Custom = core.Custom
	// KeptPullback is what the call of a custom rule has kept for its reverse sweep, in a Recording; see
	// nabla.Rule.ValueVJP.
	KeptPullback = core.Pullback
	// Task is a preparation that can be cancelled and reports its progress.
	Task = core.Task
)
