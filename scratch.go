package nabla

import (
	"github.com/nabla-ad/nabla/internal/binding"
	"github.com/nabla-ad/nabla/internal/core"
)

// Scratch is a field of a bound struct: workspace of a traced function. Every
// prepared object and every clone of one has its own, which is zero at the start
// of each call; what is left in the struct that was bound gives the length only.
//
// A []Real that a function captures instead works as long as one goroutine
// differentiates it. Two clones in parallel race on it.
type Scratch struct{ s binding.Scratch }

// NewScratch is workspace for n numbers.
func NewScratch(n int) Scratch { return Scratch{binding.Scratch{Buf: make([]core.Rep, n)}} }

// Reals is the workspace. Slices of it are valid until the function returns.
func (s Scratch) Reals() []Real { return reals(s.s.Buf) }
