package rt

import "github.com/nabla-ad/nabla/internal/core"

// A Loop is an execution of a loop of a function over nabla.Real. Generated code calls Next at the start of each
// iteration, so that an engine that records the function need not search for the loop in the recording. The calls have
// no effect on results. The zero value is one that has not begun.
type Loop struct{ l core.Loop }

// Next says that an iteration begins.
func (l *Loop) Next() { l.l.Next() }
