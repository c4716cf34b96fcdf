package rt

import (
	"runtime"

	"github.com/nabla-ad/nabla/internal/linetable"
)

// Lines registers the table of a generated file, which tells for each line of its functions over nabla.Real the line of
// the source that it was made from, for nabla.Trace. It is called by the initialiser of a variable, and returns true.
func Lines(forms ...string) bool {
	var pc [1]uintptr
	runtime.Callers(2, pc[:])
	f, _ := runtime.CallersFrames(pc[:]).Next()
	linetable.Register(f.File, f.Line, f.Function, forms)
	return true
}
