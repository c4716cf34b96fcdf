package adjoint

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// slots chooses where old values are kept: in a variable where there is one at most, and
// in frames where several are kept together.
func (e *emitter) slots(list []*node, depth int) {
	var run []*write
	for _, n := range list {
		for _, w := range n.writes {
			if !w.keep || w.inverse != nil {
				continue
			}
			local := e.local && depth == 0 && w.window == nil
			e.b.p.matter.NoLocals = e.b.p.matter.NoLocals || local
			if local && !e.b.p.opts.NoLocals {
				w.saved = e.b.g.local("old", w.t())
				e.top = append(e.top, &ir.Let{At: n.at, V: w.saved})
				continue
			}
			base := baseName(w)
			if e.framable(w) {
				run = append(run, w)
				continue
			}
			w.slot = e.stack(base, w.t())
		}
		if n.left != nil || n.fused || callsInside(n) {
			e.frame(run)
			run = nil
		}
		inner := depth
		switch {
		case n.fused:
			inner = 0
		case n.loop != nil:
			inner++
		}
		e.slots(n.then, inner)
		e.slots(n.els, inner)
	}
	e.frame(run)
}

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

// baseName is what a slot for a write is named after.
func baseName(w *write) string {
	switch {
	case w.place != nil:
		return w.place.Root.Name
	case w.window != nil:
		return w.window.Name
	}
	return "kept"
}

// stack is a new stack of the workspace.
func (e *emitter) stack(base string, t types.Type) *stack {
	s := stack{ws: e.b.ws, field: e.b.p.work.stack(base, t), of: t}
	e.b.stacks = append(e.b.stacks, s)
	return &s
}

func (e *emitter) keep(at ir.At, w *write) []ir.Stmt {
	switch {
	case w.inverse != nil:
		return nil
	case w.saved != nil:
		return []ir.Stmt{&ir.Set{At: at, P: w.saved.Place(), E: load(w.place, w.t())}}
	case w.frame != nil:
		return w.frame.keep(e.b.g, at, w)
	case w.window == nil:
		return []ir.Stmt{w.slot.push(at, load(w.place, w.t()))}
	}
	i := e.b.g.local("i", integer)
	body := ir.Block{w.slot.push(at, load(step(w.window.Place(), ir.IndexStep(i.Load())), w.t()))}
	return []ir.Stmt{upward(e.b.g.names, at, i, count(0), length(w.window.Load()), body)}
}

func (e *emitter) restore(at ir.At, w *write) []ir.Stmt {
	switch {
	case w.inverse != nil:
		return []ir.Stmt{&ir.Set{At: at, P: w.place, E: w.inverse}}
	case w.saved != nil:
		return []ir.Stmt{&ir.Set{At: at, P: w.place, E: w.saved.Load()}}
	case w.frame != nil:
		return w.frame.restore(e.b.g, at, w)
	case w.window == nil:
		return w.slot.pop(at, w.place)
	}
	i := e.b.g.local("i", integer)
	body := ir.Block(w.slot.pop(at, step(w.window.Place(), ir.IndexStep(i.Load()))))
	return []ir.Stmt{downward(e.b.g.names, at, i, count(0), length(w.window.Load()), body)}
}
