package adjoint

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// framable reports whether the old value of w is a number, a bool or a string, and not one that
// belongs to the reverse sweep: there may be several of those at once.
func (e *emitter) framable(w *write) bool {
	e.b.p.matter.NoFrames = true
	if e.b.p.opts.NoFrames || w.window != nil || w.place == nil || e.b.flow.isShadow(w.place.Root) {
		return false
	}
	_, basic := w.t().Underlying().(*types.Basic)
	return basic
}

// frame puts old values that are kept together into a frame.
func (e *emitter) frame(run []*write) {
	if len(run) == 0 {
		return
	}
	if len(run) == 1 {
		run[0].slot = e.stack(baseName(run[0]), run[0].t())
		return
	}
	names := ir.NewNamer()
	fields := make([]*types.Var, len(run))
	for i, w := range run {
		fields[i] = types.NewField(token.NoPos, e.b.p.work.pkg, names.Name(baseName(w)), w.t(), false)
	}
	t := e.b.declared("Frame", fields)
	f := &frame{stack: e.stack(t.Obj().Name()+"s", t), writes: run}
	for _, w := range run {
		w.frame = f
	}
}
