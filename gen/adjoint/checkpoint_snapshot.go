package adjoint

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// snapshot is the state of a loop before an iteration as a struct of the workspace: the
// number of the iteration, the variables that iterations hand on, and what the loop
// writes of the memory that it can reach, in lists.
type snapshot struct {
	b                *builder
	t                *types.Named
	fields           []*types.Var
	states           []int     // fields of the state variables
	shadows          []int     // fields of their shadows, or -1
	lists            []int     // fields of what stands in memory, in the order in which it is gone through
	roots            []*ir.Var // the parameters that lead there
	slots            tapeStack
	used             *ir.Place   // how many there are
	pastLen          bool        // slices may be written behind their length
	readByIterations locationSet // what iterations read
	unsupported      string      // why there can be none
}

// layout finds out what a snapshot consists of.
func (b *builder) layoutSnapshot() *snapshot {
	s := &snapshot{b: b, readByIterations: b.checkpointed.segment.flow.effects(b.checkpointed.segment.body...).reads}
	s.pastLen = mayReslicePastLen(b.g.f.Body)
	s.field("at", integer)
	for _, c := range b.g.segment.states {
		v := b.g.f.Params[c.param]
		s.states = append(s.states, s.field(v.Name, v.Type))
		sh := -1
		if l := b.checkpointed; l.snapshotsShadows && leadsToFloats(v.Type) && l.segment.facts.Params.Has(c.param) {
			sh = s.field(v.Name+"Bar", v.Type)
		}
		s.shadows = append(s.shadows, sh)
	}
	s.walkMemory(layingOut, b.g.f.Params, nil, true)
	if s.unsupported != "" {
		return s
	}
	w := b.p.work
	s.t = b.declareStruct("Snapshot", s.fields)
	name := s.t.Obj().Name() + "s"
	s.slots = tapeStack{ws: b.ws, field: w.addStack(name, s.t), elem: s.t}
	s.used = &ir.Place{Root: b.ws, Path: []ir.Step{ir.DerefStep(), ir.FieldStep(w.addField(name+"Used", integer))}}
	b.counters = append(b.counters, s.used)
	return s
}

// field adds a field and returns its number.
func (s *snapshot) field(name string, t types.Type) int {
	names := ir.NewNamer()
	for _, f := range s.fields {
		names.Reserve(f.Name())
	}
	s.fields = append(s.fields, types.NewField(token.NoPos, s.b.p.work.pkg, names.Name(name), t, false))
	return len(s.fields) - 1
}

// lengthens reports whether slices are cut from others by an upper bound, which may be
// behind their length, at any distance.
func mayReslicePastLen(b ir.Block) bool {
	return anywhere(b, func(s ir.Stmt) (found bool) {
		if _, ok := s.(*ir.Append); ok {
			return true
		}
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				c, ok := e.(*ir.Slice)
				found = found || ok && c.Hi != nil
				return !found
			})
		}
		return found
	})
}

// said is what is kept of the loop, and how much that is.
func (s *snapshot) describe(p *ir.Checkpoint) string {
	how := fmt.Sprintf("in %d levels", p.Levels)
	if p.Snapshots > 0 {
		how = fmt.Sprintf("%d at most, and reverses %d steps at once", p.Snapshots, p.Steps)
	}
	var states, memory []string
	bytes := int64(8) // of the number of the step
	for _, c := range s.b.g.segment.states {
		v := s.b.g.f.Params[c.param]
		states = append(states, sourceName(v))
		bytes += types.SizesFor("gc", "amd64").Sizeof(v.Type)
	}
	for _, of := range s.roots {
		if text := "what is behind " + sourceName(of); !slices.Contains(memory, text) {
			memory = append(memory, text)
		}
	}
	size := fmt.Sprintf("%d bytes", bytes)
	if len(memory) > 0 {
		size += " and " + strings.Join(memory, ", ")
	}
	return fmt.Sprintf("runs again from snapshots of %s, each %s, %s",
		strings.Join(append([]string{"its step"}, states...), ", "), size, how)
}

// at is field i of snapshot k.
func (s *snapshot) fieldAt(k ir.Expr, i int) *ir.Place {
	return s.slots.place(ir.IndexStep(k), ir.FieldStep(i))
}

func (s *snapshot) loadField(k ir.Expr, i int) ir.Expr {
	return load(s.fieldAt(k, i), s.fields[i].Type())
}

// push takes a snapshot before iteration at. Vars are the parameters of the loop as they
// are there, shadows those of the state. What the loop writes and never reads is in the
// first snapshot alone: no iteration misses it.
func (s *snapshot) take(w *writer, at ir.Expr, vars, shadows []*ir.Var, from ir.Expr) {
	full := compare(opEql, load(s.used, integer), length(s.slots.load()))
	w.Emit(&ir.If{At: w.At, Cond: full, Then: ir.Block{s.slots.push(w.At, zero(s.t))}})
	k := w.let("k", load(s.used, integer))
	set := func(i int, e ir.Expr) { w.Emit(&ir.Set{At: w.At, P: s.fieldAt(k, i), E: e}) }
	set(0, at)
	for i, c := range s.b.g.segment.states {
		set(s.states[i], vars[c.param].Load())
		if s.shadows[i] >= 0 {
			set(s.shadows[i], shadows[i].Load())
		}
	}
	w.Emit(s.walkMemory(saving, vars, k, false)...)
	if first := s.walkMemory(saving, vars, k, true); from != nil && len(first) > 0 {
		w.Emit(&ir.If{At: w.At, Cond: compare(opEql, at, from), Then: first})
	}
	w.Emit(&ir.Add{At: w.At, P: s.used, E: count(1)})
}

// restore brings back what snapshot k holds.
func (s *snapshot) restore(w *writer, k ir.Expr, vars, shadows []*ir.Var) {
	for i, c := range s.b.g.segment.states {
		w.Emit(&ir.Set{At: w.At, P: vars[c.param].Place(), E: s.loadField(k, s.states[i])})
		if s.shadows[i] >= 0 {
			w.Emit(&ir.Set{At: w.At, P: shadows[i].Place(), E: s.loadField(k, s.shadows[i])})
		}
	}
	w.Emit(s.walkMemory(restoring, vars, k, false)...)
}

// bringBack restores all memory as the first snapshot, k, has it.
func (s *snapshot) restoreMemory(k ir.Expr, vars []*ir.Var) ir.Block {
	return append(s.walkMemory(restoring, vars, k, false), s.walkMemory(restoring, vars, k, true)...)
}

// purpose is why memory is gone through.
type purpose uint8

const (
	layingOut purpose = iota
	saving
	restoring
)

// visit goes through the memory that the parameters of a loop lead to.
type memoryWalk struct {
	ir.Writer
	s         *snapshot
	purpose   purpose
	k         ir.Expr // the snapshot
	firstOnly bool    // what only the first snapshot has, else what all have
	next      int     // the number of the list that is next
	root      *ir.Var // the parameter
	head      ir.Block
	depth     int // of loops around
	onPath    map[types.Type]bool
	cyclic    bool
}

// memory is what saves or restores the memory that vars, which stand for the parameters,
// lead to: what iterations read, or what they do not.
func (s *snapshot) walkMemory(p purpose, vars []*ir.Var, k ir.Expr, once bool) ir.Block {
	v := &memoryWalk{Writer: ir.Writer{At: ir.At{Pos: s.b.g.f.Pos}}, s: s, purpose: p, k: k, firstOnly: once,
		onPath: map[types.Type]bool{}}
	for _, i := range refParams(s.b.g.f) {
		v.root, v.cyclic = s.b.g.f.Params[i], false
		before := v.next
		v.referent(vars[i].Place(), vars[i].Type)
		if v.cyclic && v.next > before && s.unsupported == "" {
			s.unsupported = "it writes to memory of type " + types.TypeString(v.root.Type, nil) +
				", which leads to itself"
		}
	}
	return append(v.head, v.Out...)
}

// dirty reports whether the loop writes values of type t in this memory.
func (v *memoryWalk) isModified(t types.Type) bool {
	f := v.s.b.checkpointed.segment.flow
	m := locationSet{}
	f.addMemory(m, v.root, t)
	return m.intersects(f.modified)
}

// skips reports whether values of type t are not meant, whose list is next.
func (v *memoryWalk) skips(t types.Type) bool {
	if v.purpose == layingOut {
		return false
	}
	m := locationSet{}
	ir.EachCell(t, func(t types.Type) { v.s.b.checkpointed.segment.flow.addMemory(m, v.root, t) })
	if m.intersects(v.s.readByIterations) != v.firstOnly {
		return false
	}
	v.next++
	return true
}

// list is the next list, of values of type t, and for restoring how many of it are taken.
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
		v.head = append(v.head, &ir.Set{At: v.At, P: l, E: cut(load(l, of), nil, count(0))})
		return l, nil
	}
	taken = v.s.b.g.local("taken", integer)
	v.head = append(v.head, &ir.Let{At: v.At, V: taken, E: count(0)})
	return v.s.fieldAt(v.k, v.s.lists[i]), taken
}

// value is a value of type t, at p.
func (v *memoryWalk) value(p *ir.Place, t types.Type) {
	if v.skips(t) {
		return
	}
	l, taken := v.nextList(t)
	of := types.NewSlice(t)
	switch v.purpose {
	case saving:
		v.Emit(&ir.Append{At: v.At, P: l, S: load(l, of), Elems: []ir.Expr{load(p, t)}})
	case restoring:
		v.Emit(&ir.Set{At: v.At, P: p, E: load(step(l, ir.IndexStep(taken.Load())), t)},
			&ir.Add{At: v.At, P: taken.Place(), E: count(1)})
	}
}

// window is all elements of a slice at p.
func (v *memoryWalk) elements(p *ir.Place, t, elem types.Type) {
	if v.skips(elem) {
		return
	}
	l, taken := v.nextList(elem)
	of := types.NewSlice(elem)
	full := func() ir.Expr {
		if !v.s.pastLen {
			return load(p, t)
		}
		return cut(load(p, t), nil, &ir.Len{Typed: ir.Typed{T: integer}, X: load(p, t), Cap: true})
	}
	switch v.purpose {
	case saving:
		v.Emit(&ir.Append{At: v.At, P: l, S: load(l, of), Elems: []ir.Expr{full()}, Spread: true})
	case restoring:
		if v.depth == 0 {
			v.head = v.head[:len(v.head)-1] // all of the list is one window
			v.Emit(&ir.Copy{At: v.At, Dst: full(), Src: load(l, of)})
			return
		}
		n := v.s.b.g.local("n", integer)
		v.Emit(&ir.Let{At: v.At, V: n, E: &ir.Len{Typed: ir.Typed{T: integer}, X: load(p, t), Cap: v.s.pastLen}},
			&ir.Copy{At: v.At, Dst: full(),
				Src: cut(load(l, of), taken.Load(), binary(integer, opAdd, taken.Load(), n.Load()))},
			&ir.Add{At: v.At, P: taken.Place(), E: n.Load()})
	}
}

// inMemory goes through a value of type t that stands in memory, at p.
func (v *memoryWalk) inMemory(p *ir.Place, t types.Type) {
	if !activity.HasRefs(t) {
		if v.isModified(t) {
			v.value(p, t)
		}
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			v.inMemory(step(p, ir.FieldStep(i)), u.Field(i).Type())
		}
		return
	case *types.Array:
		v.loop(count(u.Len()), func(i ir.Expr) { v.inMemory(step(p, ir.IndexStep(i)), u.Elem()) })
		return
	}
	if v.isModified(t) && v.s.unsupported == "" {
		v.s.unsupported = "it assigns to slices or pointers that stand in memory behind " + sourceName(v.root)
	}
	v.referent(p, t)
}

// behind goes through what a value of type t, at p, leads to.
func (v *memoryWalk) referent(p *ir.Place, t types.Type) {
	if !activity.HasRefs(t) {
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			v.referent(step(p, ir.FieldStep(i)), u.Field(i).Type())
		}
	case *types.Array:
		v.loop(count(u.Len()), func(i ir.Expr) { v.referent(step(p, ir.IndexStep(i)), u.Elem()) })
	case *types.Pointer:
		v.follow(t, func() {
			if body := v.Nested(func() { v.inMemory(step(p, ir.DerefStep()), u.Elem()) }); len(body) > 0 {
				v.Emit(&ir.If{At: v.At, Cond: compare(token.NEQ, load(p, t), zero(t)), Then: body})
			}
		})
	case *types.Slice:
		v.follow(t, func() {
			if !activity.HasRefs(u.Elem()) {
				if v.isModified(u.Elem()) {
					v.elements(p, t, u.Elem())
				}
				return
			}
			v.loop(length(load(p, t)), func(i ir.Expr) { v.inMemory(step(p, ir.IndexStep(i)), u.Elem()) })
		})
	}
}

// follow goes on unless values of type t are gone through already.
func (v *memoryWalk) follow(t types.Type, f func()) {
	if v.onPath[t] {
		v.cyclic = true
		return
	}
	v.onPath[t] = true
	f()
	delete(v.onPath, t)
}

func (v *memoryWalk) loop(n ir.Expr, f func(i ir.Expr)) {
	i := v.s.b.g.local("i", integer)
	v.depth++
	body := v.Nested(func() { f(i.Load()) })
	v.depth--
	if len(body) > 0 {
		v.Emit(upward(v.s.b.g.names, v.At, i, count(0), n, body))
	}
}
