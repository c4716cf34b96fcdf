package nabla

import (
	"context"

	"github.com/nabla-ad/nabla/internal/core"
)

// Preparation is Backend with preparations that can be cancelled and that say how far they
// are: recording, detection of a sparsity pattern, colouring, derivation of programs, and
// the first products.
//
//	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
//	defer cancel()
//	p, err := nabla.PrepareHessian(f, nabla.Preparation{Backend: b, Context: ctx}, x)
//
// It may stand wherever a backend may, and around all others is the best place. Resize and
// Clone prepare too. The calls of what was prepared do not look at the context.
type Preparation struct {
	Backend Backend
	// Context cancels: the preparation ends soon, with a *[CanceledError]. Nil never does.
	// What cannot be interrupted is the function itself where it computes with float64.
	Context context.Context
	// Progress, unless nil, is called at the beginning and the end of each stage and now
	// and then between, by one goroutine at a time, which waits for it.
	Progress func(Progress)
}

// Name is that of the backend.
func (p Preparation) Name() string { return nameOf(p.Backend) }

// Progress is how far a stage of a preparation is.
type Progress = core.Progress
