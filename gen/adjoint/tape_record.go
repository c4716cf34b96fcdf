package adjoint

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// frame is where the old values are that a straight piece of code keeps together: one
// element of a stack of structs, instead of one on each of several stacks. Nothing in
// between takes from that stack or puts anything there.
type tapeRecord struct {
	stack  *tapeStack
	writes []*write // in the order of the forward sweep, as the fields
	top    *ir.Var  // points to the element, in the sweep that is written
}

// element is the pointer to what is on top, and what sets it.
func (f *tapeRecord) pointToTop(g *normalForm, at ir.At) ir.Stmt {
	t := types.NewPointer(f.stack.elem)
	f.top = g.local("top", t)
	return &ir.Let{At: at, V: f.top, E: &ir.Addr{Typed: ir.Typed{T: t}, P: f.stack.place(ir.IndexStep(f.stack.last()))}}
}

func (f *tapeRecord) place(w *write) *ir.Place {
	return &ir.Place{Root: f.top, Path: []ir.Step{ir.DerefStep(), ir.FieldStep(slices.Index(f.writes, w))}}
}

// keep writes the old value of w into the frame, which the first one puts on the stack.
func (f *tapeRecord) store(g *normalForm, at ir.At, w *write) (out []ir.Stmt) {
	if w == f.writes[0] {
		out = append(out, f.stack.push(at, zero(f.stack.elem)), f.pointToTop(g, at))
	}
	return append(out, &ir.Set{At: at, P: f.place(w), E: load(w.place, w.valueType())})
}

// restore reads the old value of w out of the frame, which the first one takes off the
// stack, the last that is restored.
func (f *tapeRecord) restore(g *normalForm, at ir.At, w *write) (out []ir.Stmt) {
	if w == f.writes[len(f.writes)-1] {
		out = append(out, f.pointToTop(g, at))
	}
	out = append(out, &ir.Set{At: at, P: w.place, E: load(f.place(w), w.valueType())})
	if w == f.writes[0] {
		out = append(out, f.stack.drop(at))
	}
	return out
}
