package nabla

import (
	"context"

	"github.com/nabla-ad/nabla/internal/core"
)

// Preparation is Backend with preparations that can be cancelled and that report their progress:
// recording, detection of a sparsity pattern, colouring, derivation of programs, and the first
// products.
//
//	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
//	defer cancel()
//	p, err := nabla.PrepareHessian(f, nabla.Preparation{Backend: b, Context: ctx}, x)
//
// It is allowed wherever a backend is; the outermost position is the best. Resize and Clone prepare
// too. Calls of prepared objects ignore the context; those at many points, as of [PrepareGradientMany], take one of
// their own and report to Progress.
type Preparation struct {
	Backend Backend
	// Context cancels the preparation, which then ends soon, with a *[CanceledError]. A nil Context
	// never cancels. A function that computes with float64 is not interrupted.
	Context context.Context
	// Progress, unless nil, is called at the beginning and the end of each stage and occasionally
	// in between, by one goroutine at a time, which waits for it.
	Progress func(Progress)
}

// Name returns the name of the backend.
func (p Preparation) Name() string { return nameOf(p.Backend) }

// Progress describes how far a stage of a preparation is.
type Progress = core.Progress
