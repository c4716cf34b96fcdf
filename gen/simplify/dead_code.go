package simplify

import "github.com/nabla-ad/nabla/gen/ir"

// Dead removes what is computed for variables that nothing reads then, and reports whether
// there was any. What may panic is still computed. Memory counts as read.
func Dead(f *ir.Func) bool { return DeadWith(f, nil) }

// DeadWith is [Dead] where reading what certain variables lead to is known not to panic.
func DeadWith(f *ir.Func, trusted func(*ir.Var) bool) bool {
	d := &eliminator{f: f, trusted: trusted, use: usageOf(f.Body), liveAt: map[*ir.Label]bitSet{}}
	d.numbers = d.use.numbers
	for _, v := range f.Results {
		d.use.number(v)
	}
	end := d.emptySet()
	for _, v := range f.Results {
		d.add(end, v)
	}
	d.liveAt[f.Exit] = end
	d.removing = true
	f.Body, _ = d.block(f.Body, end)
	return d.changed
}

// set is a set of variables by their numbers.
type bitSet []uint64

func (s bitSet) union(t bitSet) bitSet {
	out := append(bitSet(nil), s...)
	for i, w := range t {
		out[i] |= w
	}
	return out
}

func (s bitSet) equal(t bitSet) bool {
	for i := range s {
		if s[i] != t[i] {
			return false
		}
	}
	return true
}

// dropper goes backwards and knows what is read later.
type eliminator struct {
	f        *ir.Func
	names    *ir.Namer // nil until one is needed
	numbers  map[*ir.Var]int
	use      *usage
	liveAt   map[*ir.Label]bitSet
	trusted  func(*ir.Var) bool
	removing bool
	changed  bool
}

func (d *eliminator) mayPanic(e ir.Expr) bool {
	if l, ok := e.(*ir.Load); ok && d.trusted != nil && d.trusted(l.P.Root) {
		return false
	}
	return mayPanic(e)
}

// name is a name that nothing has yet.
func (d *eliminator) newName(base string) string {
	if d.names == nil {
		d.names = ir.NamerOf(d.f)
	}
	return d.names.Name(base)
}

func (d *eliminator) emptySet() bitSet { return make(bitSet, len(d.numbers)/64+1) }

func (d *eliminator) add(s bitSet, v *ir.Var) { s[d.numbers[v]/64] |= 1 << (d.numbers[v] % 64) }

func (d *eliminator) remove(s bitSet, v *ir.Var) { s[d.numbers[v]/64] &^= 1 << (d.numbers[v] % 64) }

// live reports whether v is read later, or may be.
func (d *eliminator) isLive(s bitSet, v *ir.Var) bool {
	return s[d.numbers[v]/64]>>(d.numbers[v]%64)&1 != 0 || d.use.addressed[v]
}

// read adds what s itself reads.
func (d *eliminator) addReads(live bitSet, s ir.Stmt) {
	uses(s, func(v *ir.Var, how use) {
		if how != writes {
			d.add(live, v)
		}
	})
}

// block gives what stays of b and what is read from its beginning on.
func (d *eliminator) block(b ir.Block, out bitSet) (ir.Block, bitSet) {
	live := out.union(nil)
	kept := make(ir.Block, 0, len(b))
	for i := len(b) - 1; i >= 0; i-- {
		s := d.stmt(b[i], live)
		if s != nil {
			kept = append(kept, s)
		}
	}
	for i, j := 0, len(kept)-1; i < j; i, j = i+1, j-1 {
		kept[i], kept[j] = kept[j], kept[i]
	}
	return kept, live
}

// stmt is what stays of s, where live is what is read behind it and becomes what is read
// before it.
func (d *eliminator) stmt(s ir.Stmt, live bitSet) ir.Stmt {
	switch x := s.(type) {
	case *ir.Let:
		dead := !d.isLive(live, x.V) && x.E != nil && !mayPanic(x.E)
		d.remove(live, x.V)
		if !dead && x.E != nil {
			d.addReads(live, s)
		}
		switch {
		case d.use.reads[x.V] == 0 && d.use.writes[x.V] == 1 && !d.use.addressed[x.V] && (dead || x.E == nil):
			return d.removed()
		case dead && d.removing:
			d.changed = true
			return &ir.Let{At: x.At, V: x.V}
		}
		return s
	case *ir.Set:
		return d.assign(s, x.P, x.E, live)
	case *ir.Add:
		return d.assign(s, x.P, x.E, live)
	case *ir.Append:
		if p := ir.Target(s); len(p.Path) == 0 {
			d.remove(live, p.Root)
		}
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
	case *ir.If:
		then, a := d.block(x.Then, live)
		els, b := d.block(x.Else, live)
		if len(then)+len(els) == 0 && !mayPanic(x.Cond) {
			return d.removed()
		}
		copy(live, a.union(b))
		d.addReads(live, s)
		return &ir.If{At: x.At, Cond: x.Cond, Then: then, Else: els}
	case *ir.Scope:
		d.liveAt[x.L] = live.union(nil)
		body, in := d.block(x.Body, live)
		copy(live, in)
		return &ir.Scope{At: x.At, L: x.L, Body: body}
	case *ir.Loop:
		return d.loop(x, live)
	case *ir.Leave:
		copy(live, d.liveAt[x.L])
	case *ir.Panic:
		copy(live, d.emptySet())
	}
	d.addReads(live, s)
	return s
}

// gone is what stays of a statement that is dropped.
func (d *eliminator) removed() ir.Stmt {
	d.changed = d.changed || d.removing
	return nil
}

func (d *eliminator) assign(s ir.Stmt, p *ir.Place, e ir.Expr, live bitSet) ir.Stmt {
	v := p.Root
	if !p.Indirect() && len(p.Path) == 0 && !d.isLive(live, v) && d.mayPanic(e) { // it is computed, and goes nowhere
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
		for _, i := range p.Indices() {
			if mayPanic(i) {
				d.addReads(live, s)
				return s
			}
		}
		return d.removed()
	}
	if _, add := s.(*ir.Add); !add && len(p.Path) == 0 {
		d.remove(live, v)
	}
	d.addReads(live, s)
	return s
}

func (d *eliminator) loop(x *ir.Loop, live bitSet) ir.Stmt {
	d.liveAt[x.L] = live.union(nil)
	head := d.emptySet()
	if x.V != nil {
		head = live.union(nil)
	}
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
