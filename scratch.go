package nabla

// Scratch is a field of a bound struct: workspace of a traced function. Every
// prepared object and every clone of one has its own, which is zero at the start
// of each call; what is left in the struct that was bound gives the length only.
//
// A []Real that a function captures instead works as long as one goroutine
// differentiates it. Two clones in parallel race on it.
type Scratch struct{ buf []Real }

// NewScratch is workspace for n numbers.
func NewScratch(n int) Scratch { return Scratch{make([]Real, n)} }

// Reals is the workspace. Slices of it are valid until the function returns.
func (s Scratch) Reals() []Real { return s.buf }
