package adjoint

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Reuse of allocations. Memory that does not escape from a call belongs to the workspace: later calls find it there and
// allocate nothing.
//
//	v := make([]float64, n)   becomes   if cap(ws.v) < n { ws.v = make([]float64, n) }
//	                                    clear(ws.v[:n]); v := ws.v[0:n:n]
//
// A statement that may run more than once in a call, in a loop or in a recursive function, has a list of buffers, of
// which a counter in the workspace says how many are in use: each execution takes the next one.

// recycleAllocations returns b, statements of the reverse sweep, with allocations taken from the workspace. They are
// temporaries of one statement adjoint, so one buffer serves all executions.
func (e *emitter) recycleAllocations(b ir.Block) (out ir.Block) {
	for _, s := range b {
		if l, ok := s.(*ir.Let); ok && e.sp.p.apply(bufferReuse, isNew(l.E)) {
			out = append(out, e.recycledAllocation(l.At, l.V, l.E, true, false)...)
			continue
		}
		out = append(out, s)
	}
	return out
}

// recycledAllocation returns statements that assign memory from the workspace, zeroed like new memory, to v, which was
// to be assigned the allocation x. If declare is set they declare v. Repeated must be set if the statement may be
// executed more than once in a call; then each execution has a buffer of its own.
func (e *emitter) recycledAllocation(at ir.At, v *ir.Var, x ir.Expr, declare, repeated bool) ir.Block {
	set := func(x ir.Expr) ir.Stmt {
		if declare {
			return &ir.Let{At: at, V: v, E: x}
		}
		return &ir.Set{At: at, P: v.Place(), E: x}
	}
	switch x := x.(type) {
	case *ir.Make:
		// Evaluate length and capacity once.
		size := x.Cap
		if size == nil {
			size = x.N
		}
		var out ir.Block
		atom := func(base string, x ir.Expr) ir.Expr {
			if isConstant(x) || ir.VarOf(x) != nil {
				return x
			}
			n := e.sp.g.local(base, x.Type())
			out = append(out, &ir.Let{At: at, V: n, E: x})
			return n.Load()
		}
		size = atom("n", size)
		length := size
		if x.Cap != nil {
			length = atom("n", x.N)
		}
		// Replace the buffer if it is too small, clear it, and slice it to length and capacity.
		p, before, after := e.buffer(at, v.Name, x.T, repeated)
		out = append(out, before...)
		capacity := &ir.Len{Typed: ir.Typed{T: integer}, X: ir.LoadOf(p, x.T), Cap: true}
		out = append(out, &ir.If{At: at, Cond: ir.Compare(opLss, capacity, ir.ConvertTo(integer, size)),
			Then: ir.Block{&ir.Set{At: at, P: p, E: &ir.Make{Typed: x.Typed, N: size}}}})
		all := &ir.Slice{Typed: x.Typed, X: ir.LoadOf(p, x.T), Lo: nil, Hi: size}
		out = append(out, &ir.Clear{At: at, S: all})
		out = append(out, set(&ir.Slice{Typed: x.Typed, X: ir.LoadOf(p, x.T), Lo: ir.Count(0), Hi: length, Max: size}))
		return append(out, after...)
	case *ir.New:
		// Allocate at the first use, and zero the value at each.
		of := x.T.Underlying().(*types.Pointer).Elem()
		p, before, after := e.buffer(at, v.Name, x.T, repeated)
		none := ir.Compare(opEql, ir.LoadOf(p, x.T), ir.Zero(x.T))
		out := append(before,
			&ir.If{At: at, Cond: none, Then: ir.Block{&ir.Set{At: at, P: p, E: x}}},
			&ir.Set{At: at, P: ir.Extend(p, ir.DerefStep()), E: zeroOf(of)},
			set(ir.LoadOf(p, x.T)))
		return append(out, after...)
	}
	return ir.Block{set(x)}
}

// buffer returns a place of the workspace that holds a value of type t, for statements at position at. If repeated is
// set it is an element of a list, selected by a counter of the buffers in use. Before and after hold the statements to
// be executed before and after those that use the place.
func (e *emitter) buffer(at ir.At, base string, t types.Type, repeated bool) (p *ir.Place, before, after ir.Block) {
	w := e.sp.p.work
	if !repeated {
		f := w.addField(base, t)
		return &ir.Place{Root: e.sp.ws, Path: []ir.Step{ir.DerefStep(), ir.FieldStep(f)}}, nil, nil
	}
	s := tapeStack{ws: e.sp.ws, field: w.addStack(base, t), elem: t}
	used := &ir.Place{Root: e.sp.ws, Path: []ir.Step{ir.DerefStep(), ir.FieldStep(w.addField(base+"Used", integer))}}
	e.sp.counters = append(e.sp.counters, used)
	now := ir.LoadOf(used, integer)
	full := ir.Compare(opEql, now, ir.LenOf(s.load()))
	before = ir.Block{&ir.If{At: at, Cond: full, Then: ir.Block{s.push(at, ir.Zero(t))}}}
	// Read and increment the counter first: the assigned memory may be passed to code that takes further buffers.
	k := e.sp.g.local("k", integer)
	before = append(before, &ir.Let{At: at, V: k, E: now}, &ir.Add{At: at, P: used, E: ir.Count(1)})
	return s.place(ir.IndexStep(k.Load())), before, nil
}

// resets returns statements that empty the stacks of sp and its callees and set their memory counters to 0. A panic in
// an earlier call may have left them otherwise.
func (sp *specialization) resets() (out ir.Block) {
	seen := map[*specialization]bool{}
	var visit func(c *specialization)
	visit = func(c *specialization) {
		if seen[c] {
			return
		}
		seen[c] = true
		at := ir.At{Pos: sp.g.f.Pos}
		own := func(p *ir.Place) *ir.Place { return &ir.Place{Root: sp.ws, Path: p.Path} }
		for _, s := range c.stacks {
			s.ws = sp.ws
			out = append(out, &ir.Set{At: at, P: s.place(), E: cut(s.load(), nil, ir.Count(0))})
		}
		for _, p := range c.counters {
			out = append(out, &ir.Set{At: at, P: own(p), E: ir.Count(0)})
		}
		for _, d := range c.callees() {
			visit(d)
		}
	}
	visit(sp)
	return out
}
