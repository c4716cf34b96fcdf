package simplify

import "github.com/nabla-ad/nabla/gen/ir"

// Dead removes what is computed for variables that nothing reads then, and reports whether
// there was any. What may panic is still computed. Memory counts as read.
func Dead(f *ir.Func) bool { return DeadWith(f, nil) }

// DeadWith is [Dead] where reading what certain variables lead to is known not to panic.
func DeadWith(f *ir.Func, trusted func(*ir.Var) bool) bool {
	d := &dropper{f: f, trusted: trusted, use: usageOf(f.Body), labels: map[*ir.Label]set{}}
	d.numbers = d.use.numbers
	for _, v := range f.Results {
		d.use.number(v)
	}
	end := d.none()
	for _, v := range f.Results {
		d.add(end, v)
	}
	d.labels[f.Exit] = end
	d.dropping = true
	f.Body, _ = d.block(f.Body, end)
	return d.changed
}

// set is a set of variables by their numbers.
type set []uint64

func (s set) with(t set) set {
	out := append(set(nil), s...)
	for i, w := range t {
		out[i] |= w
	}
	return out
}

func (s set) equal(t set) bool {
	for i := range s {
		if s[i] != t[i] {
			return false
		}
	}
	return true
}

// dropper goes backwards and knows what is read later.
type dropper struct {
	f        *ir.Func
	names    *ir.Namer // nil until one is needed
	numbers  map[*ir.Var]int
	use      *usage
	labels   map[*ir.Label]set
	trusted  func(*ir.Var) bool
	dropping bool
	changed  bool
}

func (d *dropper) mayPanic(e ir.Expr) bool {
	if l, ok := e.(*ir.Load); ok && d.trusted != nil && d.trusted(l.P.Root) {
		return false
	}
	return mayPanic(e)
}

// name is a name that nothing has yet.
func (d *dropper) name(base string) string {
	if d.names == nil {
		d.names = ir.NamerOf(d.f)
	}
	return d.names.Name(base)
}

func (d *dropper) none() set { return make(set, len(d.numbers)/64+1) }

func (d *dropper) add(s set, v *ir.Var) { s[d.numbers[v]/64] |= 1 << (d.numbers[v] % 64) }

func (d *dropper) remove(s set, v *ir.Var) { s[d.numbers[v]/64] &^= 1 << (d.numbers[v] % 64) }

// live reports whether v is read later, or may be.
func (d *dropper) live(s set, v *ir.Var) bool {
	return s[d.numbers[v]/64]>>(d.numbers[v]%64)&1 != 0 || d.use.addressed[v]
}

// read adds what s itself reads.
func (d *dropper) read(live set, s ir.Stmt) {
	uses(s, func(v *ir.Var, how use) {
		if how != writes {
			d.add(live, v)
		}
	})
}

// block gives what stays of b and what is read from its beginning on.
func (d *dropper) block(b ir.Block, out set) (ir.Block, set) {
	live := out.with(nil)
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
func (d *dropper) stmt(s ir.Stmt, live set) ir.Stmt {
	switch x := s.(type) {
	case *ir.Let:
		dead := !d.live(live, x.V) && x.E != nil && !mayPanic(x.E)
		d.remove(live, x.V)
		if !dead && x.E != nil {
			d.read(live, s)
		}
		switch {
		case d.use.reads[x.V] == 0 && d.use.writes[x.V] == 1 && !d.use.addressed[x.V] && (dead || x.E == nil):
			return d.gone()
		case dead && d.dropping:
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
			if !d.live(live, v) && d.dropping {
				c.Results[i] = nil
				d.changed = true
			}
			d.remove(live, v)
		}
		d.read(live, s)
		return &c
	case *ir.Copy:
		if x.N != nil {
			c := *x
			if !d.live(live, x.N) && d.dropping {
				c.N = nil
				d.changed = true
			}
			d.remove(live, x.N)
			d.read(live, s)
			return &c
		}
	case *ir.If:
		then, a := d.block(x.Then, live)
		els, b := d.block(x.Else, live)
		if len(then)+len(els) == 0 && !mayPanic(x.Cond) {
			return d.gone()
		}
		copy(live, a.with(b))
		d.read(live, s)
		return &ir.If{At: x.At, Cond: x.Cond, Then: then, Else: els}
	case *ir.Scope:
		d.labels[x.L] = live.with(nil)
		body, in := d.block(x.Body, live)
		copy(live, in)
		return &ir.Scope{At: x.At, L: x.L, Body: body}
	case *ir.Loop:
		return d.loop(x, live)
	case *ir.Leave:
		copy(live, d.labels[x.L])
	case *ir.Panic:
		copy(live, d.none())
	}
	d.read(live, s)
	return s
}

// gone is what stays of a statement that is dropped.
func (d *dropper) gone() ir.Stmt {
	d.changed = d.changed || d.dropping
	return nil
}

func (d *dropper) assign(s ir.Stmt, p *ir.Place, e ir.Expr, live set) ir.Stmt {
	v := p.Root
	if !p.Indirect() && len(p.Path) == 0 && !d.live(live, v) && d.mayPanic(e) { // it is computed, and goes nowhere
		l := &ir.Let{At: ir.At{Pos: s.Position()}, V: &ir.Var{Name: "unused", Type: v.Type}, E: e}
		d.read(live, l)
		if !d.dropping {
			return s
		}
		l.V.Name = d.name("unused")
		d.changed = true
		return l
	}
	if !p.Indirect() && !d.live(live, v) && !d.mayPanic(e) && !placeMayPanic(p) {
		for _, i := range p.Indices() {
			if mayPanic(i) {
				d.read(live, s)
				return s
			}
		}
		return d.gone()
	}
	if _, add := s.(*ir.Add); !add && len(p.Path) == 0 {
		d.remove(live, v)
	}
	d.read(live, s)
	return s
}

func (d *dropper) loop(x *ir.Loop, live set) ir.Stmt {
	d.labels[x.L] = live.with(nil)
	head := d.none()
	if x.V != nil {
		head = live.with(nil)
	}
	dropping := d.dropping
	d.dropping = false
	for {
		d.labels[x.Next] = head
		_, in := d.block(x.Body, head)
		if next := head.with(in); next.equal(head) {
			break
		} else {
			head = next
		}
	}
	d.dropping = dropping
	loop := *x
	d.labels[x.Next] = head
	loop.Body, _ = d.block(x.Body, head)
	if len(loop.Body) == 0 && x.V != nil && !mayPanic(x.Lo) && !mayPanic(x.Hi) {
		return d.gone()
	}
	copy(live, head)
	d.read(live, x)
	if x.V != nil {
		d.remove(live, x.V)
	}
	return &loop
}
