package adjoint

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Storage of recorded values: a local variable, a field of a record, or a stack.
//
//	storage  forward sweep                                reverse sweep
//	local    old = x                                      x = old
//	record   ws.frames = append(ws.frames, frame{})       top := &ws.frames[len(ws.frames)-1]
//	         top := &ws.frames[len(ws.frames)-1]          x = top.x; y = top.y
//	         top.x = x; …; top.y = y                      ws.frames = ws.frames[:len(ws.frames)-1]
//	stack    ws.x = append(ws.x, x)                       x = ws.x[len(ws.x)-1]; ws.x = ws.x[:len(ws.x)-1]
//	slice    ws.x = append(ws.x, s...)                    copy(s, ws.x[len(ws.x)-len(s):])
//	                                                      ws.x = ws.x[:len(ws.x)-len(s)]
//	inverse  nothing, for n += k                          n = n - k
//	exchange nothing, for t = u; u = v; v = t             t := v; s := u; u = t; v = s
//
// Stacks keep their memory between calls, so that from the second call on recording does not allocate.

// A storage is where the old value of a write is recorded; exactly one field is set.
type storage struct {
	stack  *tapeStack  // a stack of its own
	record *tapeRecord // a record that it shares with other writes
	local  *ir.Var     // a local variable
}

// assignStorage chooses where each recorded value of list, within depth loops, is stored: in a local variable if at
// most one is recorded per call and both sweeps are in one function; in a record shared with other scalars of the same
// straight-line region; or on a stack of its own. A call, an exit or a fused loop ends a region: the callee may push to
// the same stacks, and the statements after an exit may be skipped.
func (e *emitter) assignStorage(list []*node, depth int) {
	// Run collects the scalars recorded in the current region.
	var run []*write
	for _, n := range list {
		for _, w := range n.writes {
			if !e.sp.plan.recorded[w] || !w.stored() {
				continue
			}
			local := e.bothSweeps && depth == 0 && w.slice == nil
			if e.sp.p.apply(localStorage, local) {
				old := e.sp.g.local("old", w.valueType())
				e.storage[w] = storage{local: old}
				e.sharedDecls = append(e.sharedDecls, &ir.Let{At: n.at, V: old})
				continue
			}
			base := baseName(w)
			if e.sp.p.apply(recordStorage, e.fitsRecord(w)) {
				run = append(run, w)
				continue
			}
			e.storage[w] = storage{stack: e.newStack(base, w.valueType())}
		}
		// The region ends.
		if n.exited != nil || e.sp.plan.isFused(n) || containsCall(n) {
			e.assignRecord(run)
			run = nil
		}
		// In a fused loop each iteration has locals of its own.
		inner := depth
		switch {
		case e.sp.plan.isFused(n):
			inner = 0
		case n.loop != nil:
			inner++
		}
		e.assignStorage(n.then, inner)
		e.assignStorage(n.els, inner)
	}
	e.assignRecord(run)
}

// fitsRecord reports whether the old value of w can be the field of a record: a number, a bool or a string. Shadows
// cannot, as vector mode keeps several of them in fields of their own.
func (e *emitter) fitsRecord(w *write) bool {
	if w.slice != nil || w.place == nil || e.sp.locations.isShadow(w.place.Root) {
		return false
	}
	_, basic := w.valueType().Underlying().(*types.Basic)
	return basic
}

// assignRecord assigns a record to the writes of a region, or a stack if there is only one.
func (e *emitter) assignRecord(run []*write) {
	if len(run) == 0 {
		return
	}
	if len(run) == 1 {
		e.storage[run[0]] = storage{stack: e.newStack(baseName(run[0]), run[0].valueType())}
		return
	}
	names := ir.NewNamer()
	fields := make([]*types.Var, len(run))
	for i, w := range run {
		fields[i] = types.NewField(token.NoPos, e.sp.p.work.pkg, names.Name(baseName(w)), w.valueType(), false)
	}
	t := e.sp.declareStruct("Frame", fields)
	f := &tapeRecord{stack: e.newStack(t.Obj().Name()+"s", t), writes: run}
	for _, w := range run {
		e.storage[w] = storage{record: f}
	}
}

// baseName returns the name for the storage of w.
func baseName(w *write) string {
	switch {
	case w.place != nil:
		return w.place.Root.Name
	case w.slice != nil:
		return w.slice.Name
	}
	return "kept"
}

// newStack adds a stack to the workspace, to be emptied by resets.
func (e *emitter) newStack(base string, t types.Type) *tapeStack {
	s := tapeStack{ws: e.sp.ws, field: e.sp.p.work.addStack(base, t), elem: t}
	e.sp.stacks = append(e.sp.stacks, s)
	return &s
}

// emitRecord returns statements that record the old value of w. The elements of a slice are pushed together.
func (e *emitter) emitRecord(at ir.At, w *write) []ir.Stmt {
	to := e.storage[w]
	switch {
	case !w.stored():
		return nil
	case to.local != nil:
		return []ir.Stmt{&ir.Set{At: at, P: to.local.Place(), E: ir.LoadOf(w.place, w.valueType())}}
	case to.record != nil:
		return to.record.store(e.sp.g, at, w)
	case w.slice == nil:
		return []ir.Stmt{to.stack.push(at, ir.LoadOf(w.place, w.valueType()))}
	}
	return []ir.Stmt{to.stack.pushAll(at, w.slice.Load())}
}

// emitRestore returns statements that restore the old value of w.
func (e *emitter) emitRestore(at ir.At, w *write) []ir.Stmt {
	to := e.storage[w]
	switch {
	case w.exchanged: // the node at the end of the run restores it
		return nil
	case w.inverse != nil:
		return []ir.Stmt{&ir.Set{At: at, P: w.place, E: w.inverse}}
	case to.local != nil:
		return []ir.Stmt{&ir.Set{At: at, P: w.place, E: to.local.Load()}}
	case to.record != nil:
		return to.record.restore(e.sp.g, at, w)
	case w.slice == nil:
		return to.stack.pop(at, w.place)
	}
	return to.stack.popAll(at, w.slice.Load())
}

// emitExchange returns statements that give the variables of the exchange that ends with n their old values again.
func (e *emitter) emitExchange(n *node) (out ir.Block) {
	list := e.sp.plan.exchanged(n)
	values := make([]*ir.Var, len(list))
	for i, x := range list {
		v := x.w.whole()
		values[i] = e.sp.g.local("old", v.Type)
		e.sp.standsFor[values[i]] = v
		out = append(out, &ir.Let{At: n.at, V: values[i], E: x.now.Load()})
	}
	for i, x := range list {
		out = append(out, &ir.Set{At: n.at, P: x.w.place, E: values[i].Load()})
	}
	return out
}
