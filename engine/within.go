package engine

import (
	"fmt"

	"github.com/nabla-ad/nabla/internal/core"
)

// Within runs f over Reals inside a call of a function that an engine derived from
// it: c is the context that Def.Traced of the derived function was given, which is
// that of f and has been entered. Over would enter it again.
func (f *Function) Within(y, x []Real, c Context) error {
	if f.def.Traced == nil {
		return f.run(nil, y, x) // the error that says so
	}
	f.calls++
	for i := range y {
		y[i] = core.Poison()
	}
	if err := f.def.Traced(y, x, c); err != nil {
		return err
	}
	for i, r := range y {
		if r.Poisoned() {
			return fmt.Errorf("nabla: function %s: output %d: %w", f.def.Name, i, ErrOutputNotWritten)
		}
	}
	return nil
}
