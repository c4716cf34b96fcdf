package adjoint

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// frame is where the old values of one type are that a straight piece of code keeps
// together: one element of a stack of arrays, instead of one on each of several stacks.
// Nothing in between takes from that stack or puts anything there.
type frame struct {
	stack  *stack
	writes []*write // in the order of the forward sweep
	top    *ir.Var  // points to the element, in the sweep that is written
}

// framable reports whether the old value of w is a number, and not one that belongs to the
// reverse sweep: there may be several of those at once.
func (e *emitter) framable(w *write) bool {
	e.b.p.matter.NoFrames = true
	if e.b.p.opts.NoFrames || w.window != nil || w.place == nil || e.b.flow.isShadow(w.place.Root) {
		return false
	}
	_, number := w.t().Underlying().(*types.Basic)
	return number
}

// callsInside reports whether a function with sweeps of its own is called: it may be the one that
// is written, and use the same stacks.
func callsInside(n *node) (found bool) {
	each([]*node{n}, func(m *node) { found = found || m.callee != nil })
	return found
}

// frames puts old values that are kept together into frames, one for each type.
func (e *emitter) frames(run []*write) {
	for len(run) > 0 {
		t := run[0].t()
		var same, rest []*write
		for _, w := range run {
			if types.Identical(w.t(), t) {
				same = append(same, w)
			} else {
				rest = append(rest, w)
			}
		}
		if run = rest; len(same) == 1 {
			same[0].slot = e.stack(baseName(same[0]), t)
			continue
		}
		f := &frame{stack: e.stack(baseName(same[0])+"s", types.NewArray(t, int64(len(same)))), writes: same}
		for _, w := range same {
			w.frame = f
		}
	}
}

// element is the pointer to what is on top, and what sets it.
func (f *frame) element(g *prepared, at ir.At) ir.Stmt {
	t := types.NewPointer(f.stack.of)
	f.top = g.local("top", t)
	return &ir.Let{At: at, V: f.top, E: &ir.Addr{Typed: ir.Typed{T: t}, P: f.stack.place(ir.IndexStep(f.stack.last()))}}
}

func (f *frame) place(w *write) *ir.Place {
	return &ir.Place{Root: f.top, Path: []ir.Step{ir.DerefStep(), ir.IndexStep(count(int64(slices.Index(f.writes, w))))}}
}

// keep writes the old value of w into the frame, which the first one puts on the stack.
func (f *frame) keep(g *prepared, at ir.At, w *write) (out []ir.Stmt) {
	if w == f.writes[0] {
		out = append(out, f.stack.push(at, zero(f.stack.of)), f.element(g, at))
	}
	return append(out, &ir.Set{At: at, P: f.place(w), E: load(w.place, w.t())})
}

// restore reads the old value of w out of the frame, which the first one takes off the
// stack, the last that is restored.
func (f *frame) restore(g *prepared, at ir.At, w *write) (out []ir.Stmt) {
	if w == f.writes[len(f.writes)-1] {
		out = append(out, f.element(g, at))
	}
	out = append(out, &ir.Set{At: at, P: w.place, E: load(f.place(w), w.t())})
	if w == f.writes[0] {
		out = append(out, f.stack.drop(at))
	}
	return out
}
