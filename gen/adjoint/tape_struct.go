package adjoint

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Records: the scalars that a straight-line region records are the fields of one struct on one stack, so that they are
// pushed and popped together.

// A tapeRecord is a struct of recorded values. No other code pushes to or pops from its stack between the first and the
// last of its writes.
type tapeRecord struct {
	stack  *tapeStack
	writes []*write // in the order of the forward sweep, and of the fields
	top    *ir.Var  // points to the top of the stack, in the sweep being emitted
}

// pointToTop declares f.top and makes it point to the top of the stack.
func (f *tapeRecord) pointToTop(g *normalForm, at ir.At) ir.Stmt {
	t := types.NewPointer(f.stack.elem)
	f.top = g.local("top", t)
	return &ir.Let{At: at, V: f.top, E: &ir.Addr{Typed: ir.Typed{T: t}, P: f.stack.place(ir.IndexStep(f.stack.last()))}}
}

// place returns the field for w, through f.top.
func (f *tapeRecord) place(w *write) *ir.Place {
	return &ir.Place{Root: f.top, Path: []ir.Step{ir.DerefStep(), ir.FieldStep(slices.Index(f.writes, w))}}
}

// store returns statements that record the old value of w. The first write of the region pushes the record.
func (f *tapeRecord) store(g *normalForm, at ir.At, w *write) (out []ir.Stmt) {
	if w == f.writes[0] {
		out = append(out, f.stack.push(at, ir.Zero(f.stack.elem)), f.pointToTop(g, at))
	}
	return append(out, &ir.Set{At: at, P: f.place(w), E: ir.LoadOf(w.place, w.valueType())})
}

// restore returns statements that restore the old value of w. The first one that is restored, the last write of the
// region, points to the record, and the last one pops it.
func (f *tapeRecord) restore(g *normalForm, at ir.At, w *write) (out []ir.Stmt) {
	if w == f.writes[len(f.writes)-1] {
		out = append(out, f.pointToTop(g, at))
	}
	out = append(out, &ir.Set{At: at, P: w.place, E: ir.LoadOf(f.place(w), w.valueType())})
	if w == f.writes[0] {
		out = append(out, f.stack.drop(at))
	}
	return out
}
