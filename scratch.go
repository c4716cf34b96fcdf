package nabla

import (
	"github.com/nabla-ad/nabla/internal/binding"
	"github.com/nabla-ad/nabla/internal/core"
)

// Scratch is a field of a bound struct: workspace of a traced function. Every prepared object and
// every clone has its own, which is zero at the start of each call. Of the Scratch in the bound
// struct only the length is used.
//
// A captured []Real can serve as workspace instead while only one goroutine differentiates the
// function. Two clones in parallel race on it.
type Scratch struct{ s binding.Scratch }

// NewScratch returns workspace for n numbers.
func NewScratch(n int) Scratch { return Scratch{binding.Scratch{Buf: make([]core.Rep, n)}} }

// Reals returns the workspace. Slices of it are valid until the function returns.
func (s Scratch) Reals() []Real { return reals(s.s.Buf) }
