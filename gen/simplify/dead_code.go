package simplify

import "github.com/nabla-ad/nabla/gen/ir"

// Dead eliminates dead code: assignments to variables that are not live, and statements that are empty without them. It
// reports whether it changed anything. Expressions that may panic are still evaluated, and stores to memory are kept,
// since memory counts as live.
func Dead(f *ir.Func) bool { return DeadWith(f, nil) }

// DeadWith is [Dead] with loads through the variables for which trusted returns true known not to panic. Liveness is
// computed backward over the structured tree: the facts are sets of variables, the join is union, and loops are
// iterated to a fixed point. F is only modified in the final visit of each statement.
func DeadWith(f *ir.Func, trusted func(*ir.Var) bool) bool {
	d := &eliminator{f: f, trusted: trusted, use: usageOf(f.Body), liveAt: map[*ir.Label]bitSet{}}
	d.numbers = d.use.numbers
	for _, v := range f.Results {
		d.use.number(v)
	}
	// Results are live at the exit.
	end := d.emptySet()
	for _, v := range f.Results {
		d.add(end, v)
	}
	d.liveAt[f.Exit] = end
	d.removing = true
	f.Body, _ = d.block(f.Body, end)
	return d.changed
}

// A bitSet is a set of small integers: variables by number.
type bitSet []uint64

// union returns a new set with the elements of s and t, which must not be longer than s.
func (s bitSet) union(t bitSet) bitSet {
	out := append(bitSet(nil), s...)
	for i, w := range t {
		out[i] |= w
	}
	return out
}

// equal reports whether s and t, of one length, have the same elements.
func (s bitSet) equal(t bitSet) bool {
	for i := range s {
		if s[i] != t[i] {
			return false
		}
	}
	return true
}

// An eliminator performs liveness analysis and elimination in one backward walk. While a loop is iterated to its fixed
// point, removing is false: statements are visited for their effect on liveness only.
type eliminator struct {
	f        *ir.Func
	names    *ir.Namer            // nil until a name is needed
	numbers  map[*ir.Var]int      // variable → bit in the sets
	use      *usage               // of the whole body, before elimination
	liveAt   map[*ir.Label]bitSet // label → variables that are live at the target of its leaves
	trusted  func(*ir.Var) bool   // see DeadWith; may be nil
	removing bool                 // statements are removed, not only examined
	changed  bool                 // something was removed
	checks   ir.Block             // statements to be inserted before the one that is visited
}

// mayPanic is the function mayPanic, except that loads through trusted variables cannot panic. Only e itself is exempt,
// not its operands.
func (d *eliminator) mayPanic(e ir.Expr) bool {
	if l, ok := e.(*ir.Load); ok && d.trusted != nil && d.trusted(l.P.Root) {
		return false
	}
	return mayPanic(e)
}

// newName returns a name that does not occur in the function.
func (d *eliminator) newName(base string) string {
	if d.names == nil {
		d.names = ir.NamerOf(d.f)
	}
	return d.names.Name(base)
}

// emptySet returns a set with room for all variables.
func (d *eliminator) emptySet() bitSet { return make(bitSet, len(d.numbers)/64+1) }

// add inserts v into s.
func (d *eliminator) add(s bitSet, v *ir.Var) { s[d.numbers[v]/64] |= 1 << (d.numbers[v] % 64) }

// remove deletes v from s.
func (d *eliminator) remove(s bitSet, v *ir.Var) { s[d.numbers[v]/64] &^= 1 << (d.numbers[v] % 64) }

// isLive reports whether v may be read later. Addressed variables always may.
func (d *eliminator) isLive(s bitSet, v *ir.Var) bool {
	return s[d.numbers[v]/64]>>(d.numbers[v]%64)&1 != 0 || d.use.addressed[v]
}

// addReads adds the variables that s itself reads to live.
func (d *eliminator) addReads(live bitSet, s ir.Stmt) {
	uses(s, func(v *ir.Var, how use) {
		if how != writes {
			d.add(live, v)
		}
	})
}

// block returns the rest of b and the variables that are live at its start. Out are those that are live at its end;
// it is not modified.
func (d *eliminator) block(b ir.Block, out bitSet) (ir.Block, bitSet) {
	live := out.union(nil)
	kept := make(ir.Block, 0, len(b))
	for i := len(b) - 1; i >= 0; i-- {
		s := d.stmt(b[i], live)
		if s != nil {
			kept = append(kept, s)
		}
		for ; len(d.checks) > 0; d.checks = d.checks[:len(d.checks)-1] {
			kept = append(kept, d.checks[len(d.checks)-1])
		}
	}
	for i, j := 0, len(kept)-1; i < j; i, j = i+1, j-1 {
		kept[i], kept[j] = kept[j], kept[i]
	}
	return kept, live
}

// stmt returns the rest of s, or nil. On entry live is the set of variables live after s; stmt replaces its
// contents by those live before s.
func (d *eliminator) stmt(s ir.Stmt, live bitSet) ir.Stmt {
	switch x := s.(type) {
	case *ir.Let:
		return d.let(x, live)
	case *ir.Set:
		return d.assign(s, x.P, x.E, live)
	case *ir.Add:
		return d.assign(s, x.P, x.E, live)
	case *ir.Append:
		// An append is kept even if its target is dead: it may write memory.
		if p := ir.Target(s); len(p.Path) == 0 {
			d.remove(live, p.Root)
		}
	// A call is never removed, since it may have effects, but dead results are dropped. [Calls] removes some.
	case *ir.Call:
		c := *x
		c.Results = append([]*ir.Var(nil), x.Results...)
		for i, v := range c.Results {
			if v == nil {
				continue
			}
			if !d.isLive(live, v) && d.removing {
				c.Results[i] = nil
				d.changed = true
			}
			d.remove(live, v)
		}
		d.addReads(live, s)
		return &c
	// The number of elements is a result like that of a call.
	case *ir.Copy:
		if x.N != nil {
			c := *x
			if !d.isLive(live, x.N) && d.removing {
				c.N = nil
				d.changed = true
			}
			d.remove(live, x.N)
			d.addReads(live, s)
			return &c
		}
	// The join of both branches is live before the condition.
	case *ir.If:
		then, a := d.block(x.Then, live)
		els, b := d.block(x.Else, live)
		if len(then)+len(els) == 0 && !mayPanic(x.Cond) {
			return d.removed()
		}
		copy(live, a.union(b))
		d.addReads(live, s)
		return &ir.If{At: x.At, Cond: x.Cond, Then: then, Else: els}
	// A leave of the scope continues after it.
	case *ir.Scope:
		d.liveAt[x.L] = live.union(nil)
		body, in := d.block(x.Body, live)
		copy(live, in)
		return &ir.Scope{At: x.At, L: x.L, Body: body}
	case *ir.Loop:
		return d.loop(x, live)
	// The statements after the jump do not matter, only its target.
	case *ir.Leave:
		copy(live, d.liveAt[x.L])
	// Nothing is read after a panic.
	case *ir.Panic:
		copy(live, d.emptySet())
	}
	d.addReads(live, s)
	return s
}

// let is stmt for declarations. A declaration kills its variable. It is dropped if the variable is not used at all; if
// it is only assigned later, the value goes and the declaration stays.
func (d *eliminator) let(x *ir.Let, live bitSet) ir.Stmt {
	unread := x.E != nil && !d.isLive(live, x.V)
	dead := unread && !d.mayPanic(x.E)
	only := d.use.reads[x.V] == 0 && d.use.writes[x.V] == 1 && !d.use.addressed[x.V]
	d.remove(live, x.V)
	switch {
	case only && (dead || x.E == nil):
		return d.removed()
	case dead && d.removing:
		d.changed = true
		return &ir.Let{At: x.At, V: x.V}
	case unread && !only && d.removing:
		d.changed = true
		d.keepChecks(x.At, x.E, live)
		return &ir.Let{At: x.At, V: x.V}
	}
	if !dead && x.E != nil {
		d.addReads(live, x)
	}
	return x
}

// keepChecks inserts the declaration of an unused variable with the value e before the visited statement, if e may
// panic.
func (d *eliminator) keepChecks(at ir.At, e ir.Expr, live bitSet) {
	if !d.mayPanic(e) {
		return
	}
	l := &ir.Let{At: at, V: &ir.Var{Name: d.newName("unused"), Type: e.Type()}, E: e}
	d.addReads(live, l)
	d.checks = append(d.checks, l)
}

// removed notes the removal of a statement and returns the nil that replaces it.
func (d *eliminator) removed() ir.Stmt {
	d.changed = d.changed || d.removing
	return nil
}

// assign is stmt for a Set or an Add s of e to p. A dead assignment of an expression that may panic becomes the
// declaration of an unused variable. Assigning a part of a variable does not kill it, and neither does an Add, which
// reads it.
func (d *eliminator) assign(s ir.Stmt, p *ir.Place, e ir.Expr, live bitSet) ir.Stmt {
	v := p.Root
	if !p.Indirect() && len(p.Path) == 0 && !d.isLive(live, v) && d.mayPanic(e) {
		l := &ir.Let{At: ir.At{Pos: s.Position()}, V: &ir.Var{Name: "unused", Type: v.Type}, E: e}
		d.addReads(live, l)
		if !d.removing {
			return s
		}
		l.V.Name = d.newName("unused")
		d.changed = true
		return l
	}
	if !p.Indirect() && !d.isLive(live, v) && !d.mayPanic(e) && !placeMayPanic(p) {
		// The store is dead, but an index may panic.
		for _, i := range p.Indices() {
			if mayPanic(i) {
				d.addReads(live, s)
				return s
			}
		}
		return d.removed()
	}
	// An assignment to the whole variable kills it.
	if _, add := s.(*ir.Add); !add && len(p.Path) == 0 {
		d.remove(live, v)
	}
	d.addReads(live, s)
	return s
}

// loop is stmt for loops. Head is the set of variables live before an iteration: at first those live after the loop if
// it is counted, so that it may end there, then iterated over the body to a fixed point. It only grows, so the
// iteration ends. A counted loop with an empty body is removed if its bounds cannot panic; it always terminates.
func (d *eliminator) loop(x *ir.Loop, live bitSet) ir.Stmt {
	d.liveAt[x.L] = live.union(nil)
	head := d.emptySet()
	if x.V != nil {
		head = live.union(nil)
	}
	// Until the facts are stable, statements that seem dead may still be read by a later iteration.
	removing := d.removing
	d.removing = false
	for {
		d.liveAt[x.Next] = head
		_, in := d.block(x.Body, head)
		if next := head.union(in); next.equal(head) {
			break
		} else {
			head = next
		}
	}
	d.removing = removing
	loop := *x
	d.liveAt[x.Next] = head
	loop.Body, _ = d.block(x.Body, head)
	if len(loop.Body) == 0 && x.V != nil && !mayPanic(x.Lo) && !mayPanic(x.Hi) {
		return d.removed()
	}
	copy(live, head)
	d.addReads(live, x)
	if x.V != nil {
		d.remove(live, x.V)
	}
	return &loop
}
