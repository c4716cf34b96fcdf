package adjoint

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Snapshots: the state before an iteration as a struct in the workspace. It holds the number of the iteration, the
// state variables, and the memory that the loop writes, in one list for each place in the types of the parameters.

// A snapshot describes the snapshots of a loop.
type snapshot struct {
	sp               *specialization
	t                *types.Named // type of a snapshot
	fields           []*types.Var // fields of t; field 0 is the number of the iteration
	states           []int        // indices of the fields of state variables
	shadows          []int        // indices of the fields of their shadows, or -1
	lists            []int        // indices of the fields of memory, in the order of walkMemory
	roots            []*ir.Var    // for each list, the parameter from which the memory is reached
	slots            tapeStack    // the stack of snapshots, of which used are valid
	used             *ir.Place    // field of the workspace that counts the valid snapshots
	pastLen          bool         // slices may be written between length and capacity
	readByIterations locationSet  // locations that iterations read
	unsupported      string       // why the loop has no snapshots, or empty
}

// layoutSnapshot returns the layout of the snapshots of sp, or one with unsupported set. Only in the first case it adds
// fields to the workspace.
func (sp *specialization) layoutSnapshot() *snapshot {
	segment := sp.checkpointed.segment
	s := &snapshot{sp: sp, readByIterations: segment.locations.effects(segment.plan.body...).reads}
	s.pastLen = mayReslicePastLen(sp.g.f.Body)
	s.field("at", integer)
	for _, c := range sp.g.segment.states {
		v := sp.g.f.Params[c.param]
		s.states = append(s.states, s.field(v.Name, v.Type))
		sh := -1
		if l := sp.checkpointed; l.snapshotsShadows && leadsToFloats(v.Type) && l.segment.facts.Params.Has(c.param) {
			sh = s.field(v.Name+"Bar", v.Type)
		}
		s.shadows = append(s.shadows, sh)
	}
	s.walkMemory(layingOut, sp.g.f.Params, nil, true)
	if s.unsupported != "" {
		return s
	}
	w := sp.p.work
	s.t = sp.declareStruct("Snapshot", s.fields)
	name := s.t.Obj().Name() + "s"
	s.slots = tapeStack{ws: sp.ws, field: w.addStack(name, s.t), elem: s.t}
	s.used = &ir.Place{Root: sp.ws, Path: []ir.Step{ir.DerefStep(), ir.FieldStep(w.addField(name+"Used", integer))}}
	sp.counters = append(sp.counters, s.used)
	return s
}

// field adds a field to the snapshot and returns its index.
func (s *snapshot) field(name string, t types.Type) int {
	names := ir.NewNamer()
	for _, f := range s.fields {
		names.Reserve(f.Name())
	}
	s.fields = append(s.fields, types.NewField(token.NoPos, s.sp.p.work.pkg, names.Name(name), t, false))
	return len(s.fields) - 1
}

// mayReslicePastLen reports whether b, or a function that it calls, appends or slices with an upper bound, so that
// memory between length and capacity may be written.
func mayReslicePastLen(b ir.Block) bool { return anywhere(b, mayExtend) }

// describe returns the text of the remark: contents, size and number of the snapshots.
func (s *snapshot) describe(p *ir.Checkpoint) string {
	how := fmt.Sprintf("in %d levels", p.Levels)
	switch {
	case p.Memory > 0:
		how = fmt.Sprintf("as many as %d KiB hold", p.Memory)
	case p.Snapshots > 0:
		how = fmt.Sprintf("%d at most, and reverses %d steps together", p.Snapshots, p.Steps)
	}
	var states, memory []string
	for _, c := range s.sp.g.segment.states {
		states = append(states, sourceName(s.sp.g.f.Params[c.param]))
	}
	for _, of := range s.roots {
		if text := "the memory of " + sourceName(of); !slices.Contains(memory, text) {
			memory = append(memory, text)
		}
	}
	size := fmt.Sprintf("%d bytes", s.stateBytes())
	if len(memory) > 0 {
		size += " and " + strings.Join(memory, ", ")
	}
	return fmt.Sprintf("runs again from snapshots of %s, each %s, %s",
		strings.Join(append([]string{"its step"}, states...), ", "), size, how)
}

// stateBytes returns the size of the number of the iteration and of the state variables on 64-bit platforms.
func (s *snapshot) stateBytes() int64 {
	bytes := int64(8)
	for _, c := range s.sp.g.segment.states {
		bytes += types.SizesFor("gc", "amd64").Sizeof(s.sp.g.f.Params[c.param].Type)
	}
	return bytes
}

// bytes returns the size of a snapshot that has the memory of snapshot k, on 64-bit platforms.
func (s *snapshot) bytes(k ir.Expr) ir.Expr {
	sizes := types.SizesFor("gc", "amd64")
	total := ir.Expr(ir.Count(sizes.Sizeof(s.t.Underlying())))
	for _, i := range s.lists {
		elem := s.fields[i].Type().(*types.Slice).Elem()
		total = plus(total, ir.NewBinary(integer, opMul, ir.LenOf(s.loadField(k, i)), ir.Count(sizes.Sizeof(elem))))
	}
	return total
}

// fieldAt returns the place of field i of snapshot k.
func (s *snapshot) fieldAt(k ir.Expr, i int) *ir.Place {
	return s.slots.place(ir.IndexStep(k), ir.FieldStep(i))
}

// loadField returns the value of field i of snapshot k.
func (s *snapshot) loadField(k ir.Expr, i int) ir.Expr {
	return ir.LoadOf(s.fieldAt(k, i), s.fields[i].Type())
}

// take emits the taking of a snapshot before iteration at. Vars are the current values of the parameters, shadows those
// of the shadows of state variables. Memory that the loop writes but iterations never read is saved only if at is from,
// the first iteration; a nil from stands for another one.
func (s *snapshot) take(w *writer, at ir.Expr, vars, shadows []*ir.Var, from ir.Expr) {
	full := ir.Compare(opEql, ir.LoadOf(s.used, integer), ir.LenOf(s.slots.load()))
	w.Emit(&ir.If{At: w.At, Cond: full, Then: ir.Block{s.slots.push(w.At, ir.Zero(s.t))}})
	k := w.let("k", ir.LoadOf(s.used, integer))
	set := func(i int, e ir.Expr) { w.Emit(&ir.Set{At: w.At, P: s.fieldAt(k, i), E: e}) }
	set(0, at)
	for i, c := range s.sp.g.segment.states {
		set(s.states[i], vars[c.param].Load())
		if s.shadows[i] >= 0 {
			set(s.shadows[i], shadows[i].Load())
		}
	}
	w.Emit(s.walkMemory(saving, vars, k, false)...)
	if first := s.walkMemory(saving, vars, k, true); from != nil && len(first) > 0 {
		w.Emit(&ir.If{At: w.At, Cond: ir.Compare(opEql, at, from), Then: first})
	}
	w.Emit(&ir.Add{At: w.At, P: s.used, E: ir.Count(1)})
}

// restore emits the restoration of state variables and of the memory that iterations read, from snapshot k.
func (s *snapshot) restore(w *writer, k ir.Expr, vars, shadows []*ir.Var) {
	for i, c := range s.sp.g.segment.states {
		w.Emit(&ir.Set{At: w.At, P: vars[c.param].Place(), E: s.loadField(k, s.states[i])})
		if s.shadows[i] >= 0 {
			w.Emit(&ir.Set{At: w.At, P: shadows[i].Place(), E: s.loadField(k, s.shadows[i])})
		}
	}
	w.Emit(s.walkMemory(restoring, vars, k, false)...)
}

// restoreMemory returns statements that restore all memory that the loop writes from snapshot k, the first one.
func (s *snapshot) restoreMemory(k ir.Expr, vars []*ir.Var) ir.Block {
	return append(s.walkMemory(restoring, vars, k, false), s.walkMemory(restoring, vars, k, true)...)
}

// A purpose is the action of a memoryWalk.
type purpose uint8

const (
	layingOut purpose = iota // add fields to the snapshot
	saving                   // copy memory to the lists
	restoring                // copy the lists to memory
)

// A memoryWalk walks through the types of the memory reachable from the parameters of a loop. All walks meet the lists
// in the same order.
type memoryWalk struct {
	ir.Writer
	s       *snapshot
	purpose purpose
	k       ir.Expr // index of the snapshot
	// visit the memory that only the first snapshot holds, instead of that in all
	firstOnly bool
	next      int                 // index in snapshot.lists of the next list
	root      *ir.Var             // the parameter
	head      ir.Block            // statements before the walk, which initialise the lists
	depth     int                 // number of loops around the current place
	onPath    map[types.Type]bool // types that enclose the current place
	cyclic    bool                // the type of the parameter is recursive
}

// walkMemory returns the statements that save or restore the memory reachable from vars, the current values of the
// parameters. If once is set it visits the memory that iterations do not read, otherwise that which they read. When
// laying out it may set s.unsupported.
func (s *snapshot) walkMemory(p purpose, vars []*ir.Var, k ir.Expr, once bool) ir.Block {
	v := &memoryWalk{Writer: ir.Writer{At: ir.At{Pos: s.sp.g.f.Pos}}, s: s, purpose: p, k: k, firstOnly: once,
		onPath: map[types.Type]bool{}}
	for _, i := range refParams(s.sp.g.f) {
		v.root, v.cyclic = s.sp.g.f.Params[i], false
		before := v.next
		v.referent(vars[i].Place(), vars[i].Type)
		if v.cyclic && v.next > before && s.unsupported == "" {
			s.unsupported = "it writes to memory of type " + types.TypeString(v.root.Type, nil) +
				", which leads to itself"
		}
	}
	return append(v.head, v.Out...)
}

// isModified reports whether the loop may write cells of type t in memory reached from the root.
func (v *memoryWalk) isModified(t types.Type) bool {
	ls := v.s.sp.checkpointed.segment.locations
	m := locationSet{}
	ls.addMemory(m, v.root, t)
	return m.intersects(ls.modified)
}

// skips reports whether this walk leaves out values of type t, and if so passes over their list.
func (v *memoryWalk) skips(t types.Type) bool {
	if v.purpose == layingOut {
		return false
	}
	m := locationSet{}
	ir.EachCell(t, func(t types.Type) { v.s.sp.checkpointed.segment.locations.addMemory(m, v.root, t) })
	if m.intersects(v.s.readByIterations) != v.firstOnly {
		return false
	}
	v.next++
	return true
}

// nextList returns the place of the next list, of values of type t, and for restoring a variable that counts the values
// restored from it.
func (v *memoryWalk) nextList(t types.Type) (l *ir.Place, taken *ir.Var) {
	of := types.NewSlice(t)
	i := v.next
	v.next++
	switch v.purpose {
	case layingOut:
		v.s.lists = append(v.s.lists, v.s.field(v.root.Name+"Was", of))
		v.s.roots = append(v.s.roots, v.root)
		return nil, nil
	case saving:
		l = v.s.fieldAt(v.k, v.s.lists[i])
		v.head = append(v.head, &ir.Set{At: v.At, P: l, E: cut(ir.LoadOf(l, of), nil, ir.Count(0))})
		return l, nil
	}
	taken = v.s.sp.g.local("taken", integer)
	v.head = append(v.head, &ir.Let{At: v.At, V: taken, E: ir.Count(0)})
	return v.s.fieldAt(v.k, v.s.lists[i]), taken
}

// value handles a value of type t at p.
func (v *memoryWalk) value(p *ir.Place, t types.Type) {
	if v.skips(t) {
		return
	}
	l, taken := v.nextList(t)
	of := types.NewSlice(t)
	switch v.purpose {
	case saving:
		v.Emit(&ir.Append{At: v.At, P: l, S: ir.LoadOf(l, of), Elems: []ir.Expr{ir.LoadOf(p, t)}})
	case restoring:
		v.Emit(&ir.Set{At: v.At, P: p, E: ir.LoadOf(ir.Extend(l, ir.IndexStep(taken.Load())), t)},
			&ir.Add{At: v.At, P: taken.Place(), E: ir.Count(1)})
	}
}

// elements handles all elements of the slice of type t at p.
func (v *memoryWalk) elements(p *ir.Place, t, elem types.Type) {
	if v.skips(elem) {
		return
	}
	l, taken := v.nextList(elem)
	of := types.NewSlice(elem)
	full := func() ir.Expr {
		if !v.s.pastLen {
			return ir.LoadOf(p, t)
		}
		return cut(ir.LoadOf(p, t), nil, &ir.Len{Typed: ir.Typed{T: integer}, X: ir.LoadOf(p, t), Cap: true})
	}
	switch v.purpose {
	case saving:
		v.Emit(&ir.Append{At: v.At, P: l, S: ir.LoadOf(l, of), Elems: []ir.Expr{full()}, Spread: true})
	case restoring:
		if v.depth == 0 {
			v.head = v.head[:len(v.head)-1] // the whole list belongs to this slice
			v.Emit(&ir.Copy{At: v.At, Dst: full(), Src: ir.LoadOf(l, of)})
			return
		}
		n := v.s.sp.g.local("n", integer)
		v.Emit(&ir.Let{At: v.At, V: n, E: &ir.Len{Typed: ir.Typed{T: integer}, X: ir.LoadOf(p, t), Cap: v.s.pastLen}},
			&ir.Copy{At: v.At, Dst: full(),
				Src: cut(ir.LoadOf(l, of), taken.Load(), ir.NewBinary(integer, opAdd, taken.Load(), n.Load()))},
			&ir.Add{At: v.At, P: taken.Place(), E: n.Load()})
	}
}

// inMemory visits a value of type t in memory, at p, and the memory reachable from it.
func (v *memoryWalk) inMemory(p *ir.Place, t types.Type) {
	if !ir.HasRefs(t) {
		if v.isModified(t) {
			v.value(p, t)
		}
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			v.inMemory(ir.Extend(p, ir.FieldStep(i)), u.Field(i).Type())
		}
		return
	case *types.Array:
		v.loop(ir.Count(u.Len()), func(i ir.Expr) { v.inMemory(ir.Extend(p, ir.IndexStep(i)), u.Elem()) })
		return
	}
	if v.isModified(t) && v.s.unsupported == "" {
		v.s.unsupported = "it assigns slices or pointers in memory of " + sourceName(v.root)
	}
	v.referent(p, t)
}

// referent visits the memory reachable from a value of type t at p, but not the value.
func (v *memoryWalk) referent(p *ir.Place, t types.Type) {
	if !ir.HasRefs(t) {
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			v.referent(ir.Extend(p, ir.FieldStep(i)), u.Field(i).Type())
		}
	case *types.Array:
		v.loop(ir.Count(u.Len()), func(i ir.Expr) { v.referent(ir.Extend(p, ir.IndexStep(i)), u.Elem()) })
	case *types.Pointer:
		v.follow(t, func() {
			if body := v.Nested(func() { v.inMemory(ir.Extend(p, ir.DerefStep()), u.Elem()) }); len(body) > 0 {
				v.Emit(&ir.If{At: v.At, Cond: ir.Compare(token.NEQ, ir.LoadOf(p, t), ir.Zero(t)), Then: body})
			}
		})
	case *types.Slice:
		v.follow(t, func() {
			if !ir.HasRefs(u.Elem()) {
				if v.isModified(u.Elem()) {
					v.elements(p, t, u.Elem())
				}
				return
			}
			v.loop(ir.LenOf(ir.LoadOf(p, t)), func(i ir.Expr) { v.inMemory(ir.Extend(p, ir.IndexStep(i)), u.Elem()) })
		})
	}
}

// follow calls f unless the walk is within a value of type t already, which makes the type recursive.
func (v *memoryWalk) follow(t types.Type, f func()) {
	if v.onPath[t] {
		v.cyclic = true
		return
	}
	v.onPath[t] = true
	f()
	delete(v.onPath, t)
}

// loop emits a loop over an index below n with the statements that f emits, unless there are none.
func (v *memoryWalk) loop(n ir.Expr, f func(i ir.Expr)) {
	i := v.s.sp.g.local("i", integer)
	v.depth++
	body := v.Nested(func() { f(i.Load()) })
	v.depth--
	if len(body) > 0 {
		v.Emit(upward(v.s.sp.g.names, v.At, i, ir.Count(0), n, body))
	}
}
