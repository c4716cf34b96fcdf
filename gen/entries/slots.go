package entries

import (
	"slices"
	"strconv"

	"github.com/nabla-ad/nabla/gen/ir"
)

// slots describes the terms that a mutable dot may have.
type slots struct {
	shared  []shared // with an index that has one value wherever the variable is assigned
	private int      // with an index that differs
	carried bool     // it is assigned in a loop that begins after its declaration
	filled  int      // how many assignments have terms
}

// A shared index is a computation with variables that are declared before the dot and assigned once.
type shared struct {
	key   string
	index ir.Expr
	list  *ir.Var // the variable of a list, for a slot that is a multiple of it
	uses  int     // how many assignments have it
}

// A slotID is a private slot of a dot.
type slotID struct {
	of *ir.Var
	k  int
}

// An event is an assignment to a private slot, a use of it, or a statement with blocks.
type event struct {
	slot   slotID // zero for a statement
	use    bool
	blocks bool
	scope  int
	key    string // of the index that is assigned, empty for an empty slot
}

// held are the variables of the slots of a dot.
type held struct {
	of      *ir.Var
	loops   int // around its declaration
	shared  []term
	private []term
	list    *list
}

// terms returns the terms of the slots of v.
func (b *builder) terms(v *ir.Var) form {
	if f := b.current[v]; f != nil {
		b.checkLists(*f)
		return *f
	}
	h := b.held[v]
	if h.list != nil {
		return form{{by: ir.FloatConst(v.Type, 1), list: h.list, state: h.list.state}}
	}
	f := append(form(nil), h.shared...)
	b.checkLists(f)
	for k, t := range h.private {
		b.events = append(b.events, event{slot: slotID{v, k}, use: true})
		f = append(f, term{index: b.index(ir.Count(0), t.index), by: t.by, slot: slotID{v, k}})
	}
	return f
}

// hold makes variables for the slots of v, without declaring them.
func (b *builder) hold(v *ir.Var) {
	s := b.slots[v]
	if s == nil {
		s = new(slots)
		b.slots[v] = s
	}
	s.filled = 0
	for k := range s.shared {
		s.shared[k].uses = 0
	}
	h := &held{of: v, loops: b.loops}
	b.held[v] = h
	if b.sums[v] {
		h.list = b.newList(v)
		return
	}
	number := func() ir.Expr {
		w := &ir.Var{Name: b.names.Name(v.Name), Type: v.Type}
		b.mutable[w] = true
		return w.Load()
	}
	for _, x := range s.shared {
		if x.list != nil {
			h.shared = append(h.shared, term{by: number(), list: b.held[x.list].list})
			continue
		}
		h.shared = append(h.shared, term{index: b.index(ir.Count(0), x.index), by: number()})
	}
	for k := range s.private {
		id := b.class(slotID{v, k})
		at := b.indices[id]
		if at == nil {
			at = &ir.Var{Name: b.names.Name(id.of.Name + "At"), Type: intType}
			b.mutable[at] = true
			b.indices[id] = at
		}
		h.private = append(h.private, term{index: at.Load(), by: number()})
	}
}

// fill assigns f to the slots of v, or declares them.
func (b *builder) fill(v *ir.Var, f form, declares bool) {
	h, s := b.held[v], b.slots[v]
	if h == nil {
		b.refuse("derivatives in memory other than inputs and results")
	}
	s.carried = s.carried || b.loops > h.loops
	if len(f) > 0 {
		s.filled++
	}
	if h.list != nil {
		b.fillList(h.list, f)
		return
	}
	f = b.bound(f, v.Name)
	b.current[v] = &f
	zero := ir.Zero(v.Type)
	sums, own := make([]ir.Expr, len(h.shared)), make([]*term, len(h.private))
	var rest form
	owns := 0
	for k, t := range h.shared {
		if t.list != nil {
			h.shared[k].state = t.list.state
		}
	}
next:
	for _, t := range f {
		if t.list != nil {
			if !b.sees(v, t.list.of) {
				b.refuse("a number is computed from a sum of an inner loop")
			}
			k := b.sharedSlot(s, shared{key: "list " + strconv.Itoa(b.id(t.list.of)), list: t.list.of})
			if k < len(sums) {
				sums[k], h.shared[k].state = t.by, t.state
			}
			continue
		}
		for k, p := range h.private { // a term of v itself stays
			if t.slot == (slotID{v, k}) && b.isNow(t.index, ir.VarOf(p.index)) {
				own[k] = &term{index: t.index, by: t.by}
				owns++
				continue next
			}
		}
		if key, index := b.sharedIndex(v, t.index); key != "" && !b.single[v] {
			k := b.sharedSlot(s, shared{key: key, index: index})
			if k < len(sums) {
				sums[k] = t.by
			}
			continue
		}
		rest = append(rest, t)
	}
	if len(rest) > 0 && len(h.private) > 0 && owns == len(h.private) && b.loops > h.loops {
		b.sums[v], b.grown = true, true // terms are added in each iteration
		return
	}
	k := 0
	for _, t := range rest {
		for k < len(own) && own[k] != nil {
			k++
		}
		if k == len(own) {
			if s.private++; s.private > maxTerms {
				b.refuse("a number depends on more than %d inputs", maxTerms)
			}
			b.grown = true
			break
		}
		own[k] = &t
	}
	var vars []*ir.Var
	var values []ir.Expr
	assign := func(v *ir.Var, e ir.Expr) { vars, values = append(vars, v), append(values, e) }
	for k, t := range h.shared {
		if sums[k] == nil {
			sums[k] = zero
		}
		assign(ir.VarOf(t.by), sums[k])
	}
	for k, t := range h.private {
		e := event{slot: slotID{v, k}, scope: b.scopes[len(b.scopes)-1].id}
		at := ir.VarOf(t.index)
		if own[k] == nil {
			assign(ir.VarOf(t.by), zero)
		} else {
			if e.key, _ = b.key(own[k].index); e.key == "" {
				e.key = "?" + strconv.Itoa(len(b.events))
			}
			if !b.isNow(own[k].index, at) {
				assign(at, own[k].index)
			}
			assign(ir.VarOf(t.by), own[k].by)
		}
		b.events = append(b.events, e)
	}
	for k, t := range h.private { // an empty slot leaves an index to the slots that have the same
		at := ir.VarOf(t.index)
		if _, ok := b.declared[at]; own[k] == nil && !slices.Contains(vars, at) && (!ok || !b.isShared(slotID{v, k})) {
			assign(at, ir.Count(NoColumn))
		}
	}
	b.assign(vars, values, declares)
}

// sharedSlot returns the index of a shared slot, which it adds if it is new.
func (b *builder) sharedSlot(s *slots, x shared) int {
	k := 0
	for k < len(s.shared) && s.shared[k].key != x.key {
		k++
	}
	if k == len(s.shared) {
		s.shared = append(s.shared, x)
		b.grown = true
	}
	s.shared[k].uses++
	return k
}

// isNow reports whether an index is the present value of a variable.
func (b *builder) isNow(index ir.Expr, at *ir.Var) bool {
	v := ir.VarOf(index)
	return v != nil && (v == at || b.copies[v] == copied{at, b.versions[at]})
}

// assign gives variables their values, constants and variables that are assigned once. It declares those that are new
// if declares is set.
func (b *builder) assign(vars []*ir.Var, values []ir.Expr, declares bool) {
	for i, v := range vars {
		if _, ok := b.declared[v]; declares && !ok {
			b.Emit(&ir.Let{At: b.At, V: v, E: values[i]})
			b.declare(v)
		} else if ir.VarOf(values[i]) != v {
			b.Emit(&ir.Set{At: b.At, P: v.Place(), E: values[i]})
			b.bump(v)
		}
	}
}

// class returns the slot that stands for those whose index is always that of id.
func (a *analysis) class(id slotID) slotID {
	if c, ok := a.classes[id]; ok {
		return c
	}
	return id
}

// isShared reports whether the index of a slot is that of others too.
func (a *analysis) isShared(id slotID) bool {
	c := a.class(id)
	for other, of := range a.classes {
		if of == c && other != id {
			return true
		}
	}
	return false
}

// refine improves the slots after a round that built the function. It reports whether it changed any.
func (b *builder) refine() (changed bool) {
	for v, s := range b.slots {
		if b.single[v] || !s.carried || s.private == 0 {
			continue
		}
		// A slot that only some iterations fill is better one whose index varies.
		if slices.ContainsFunc(s.shared, func(x shared) bool { return x.uses < s.filled }) {
			b.single[v], changed = true, true
		}
	}
	if changed { // the slots of others may have been those of its terms
		clear(b.slots)
		return true
	}
	if b.classes != nil {
		for id, c := range b.classes {
			for other, of := range b.classes {
				if c == of && id != other && !b.agree(id, other) { // the terms have other slots now
					clear(b.classes)
					return true
				}
			}
		}
		return false
	}
	b.classes = map[slotID]slotID{}
	var ids []slotID
	for _, e := range b.events {
		if !e.blocks && !slices.Contains(ids, e.slot) {
			ids = append(ids, e.slot)
		}
	}
	if len(ids) > maxTerms {
		return false
	}
	var classes [][]slotID
next:
	for _, id := range ids {
		for k, members := range classes {
			if !slices.ContainsFunc(members, func(m slotID) bool { return !b.agree(id, m) }) {
				classes[k] = append(members, id)
				b.classes[id], b.classes[members[0]], changed = members[0], members[0], true
				continue next
			}
		}
		classes = append(classes, []slotID{id})
	}
	return changed
}

// agree reports whether two slots are always assigned one after the other, to the same index unless one is empty.
func (b *builder) agree(x, y slotID) bool {
	var open *event
	for i := range b.events {
		e := &b.events[i]
		switch {
		case e.blocks || e.use && (e.slot == x || e.slot == y):
			if open != nil {
				return false
			}
		case e.slot != x && e.slot != y:
		case open == nil:
			open = e
		case open.slot == e.slot || open.scope != e.scope || open.key != e.key && open.key != "" && e.key != "":
			return false
		default:
			open = nil
		}
	}
	return open == nil
}

// sharedIndex returns the computation of an index, and a text that identifies it, if all that it reads is declared
// before v and assigned once; otherwise "".
func (b *builder) sharedIndex(v *ir.Var, index ir.Expr) (string, ir.Expr) {
	key, pure := b.key(index)
	if key == "" || !pure {
		return "", nil
	}
	var expand func(e ir.Expr) ir.Expr
	known := true
	expand = func(e ir.Expr) ir.Expr {
		return (&ir.Map{Expr: func(e ir.Expr) ir.Expr {
			w := ir.VarOf(e)
			if w == nil {
				return e
			}
			d := b.declared[w]
			if d.is != nil {
				return expand(d.is)
			}
			known = known && !d.made && b.sees(v, w)
			return e
		}}).RewriteExpr(e)
	}
	out := expand(index)
	if !known {
		return "", nil
	}
	return key, out
}

// sees reports whether w is declared before v in a scope that v is in.
func (b *builder) sees(v, w *ir.Var) bool {
	at, ok := b.declared[v]
	d, known := b.declared[w]
	return ok && known && d.seq < at.seq && slices.Contains(at.active, d.scope)
}
