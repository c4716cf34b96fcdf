package adjoint

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// emitter writes the sweeps of an analysed function.
type emitter struct {
	b     *builder
	at    ir.At
	top   ir.Block // declarations of what both sweeps know, in a function of both
	fresh map[*ir.Var]*ir.Var
	local bool             // both sweeps are in one function
	depth int              // of loops around
	raise map[*ir.Var]bool // variables that are declared at the top
	// results are the variables that stand for results in a function of both sweeps.
	results map[*ir.Var]*ir.Var
	// early are the variables whose adjoints are there before the forward sweep ends.
	early map[*ir.Var]bool
}

func (b *builder) emitter() *emitter {
	e := &emitter{b: b, at: ir.At{Pos: b.g.f.Pos}, fresh: map[*ir.Var]*ir.Var{}, local: b.key.mode == joint || b.key.mode == together, raise: map[*ir.Var]bool{}, results: map[*ir.Var]*ir.Var{}, early: map[*ir.Var]bool{}}
	each(b.body, func(n *node) {
		for _, w := range n.writes {
			if l, ok := n.s.(*ir.Let); ok && b.flow.wanted[l.V] {
				e.raise[l.V] = true
			}
			if w.keep && w.whole() != nil {
				e.raise[w.whole()] = true
			}
		}
	})
	if e.local && !b.p.opts.KeepAll && !leavesBeyond(b.g.f.Body, nil) {
		e.lower(b.body)
	}
	each(b.body, func(n *node) {
		if n.fused && !leavesIn(n) {
			e.lower(n.then)
		}
	})
	for _, v := range b.g.f.Params {
		delete(e.raise, v)
	}
	for _, v := range b.g.f.Results {
		delete(e.raise, v)
	}
	e.slots(b.body, 0)
	e.adjoints(b.body)
	return e
}

// adjoints declares, at the top, the adjoints of variables around loops that are fused.
func (e *emitter) adjoints(list []*node) {
	if !anyFused(list) {
		return
	}
	k := fusedAt(list)
	head := list
	if k >= 0 {
		head = list[:k]
		e.adjoints(list[k].then)
	}
	for _, n := range head {
		if l, ok := n.s.(*ir.Let); ok && e.b.carries(l.V) && e.b.twins[l.V] == nil {
			e.early[l.V] = true
			e.top = append(e.top, &ir.Let{At: n.at, V: e.b.own(l.V)})
		}
		e.adjoints(n.then)
		e.adjoints(n.els)
	}
}

// anyFused reports whether a loop is fused in a list or in the branches in it.
func anyFused(list []*node) bool {
	for _, n := range list {
		if n.fused {
			return true
		}
		if _, ok := n.s.(*ir.If); ok && (anyFused(n.then) || anyFused(n.els)) {
			return true
		}
	}
	return false
}

// lower declares variables where they are: the reverse sweep stands in the same block.
func (e *emitter) lower(list []*node) {
	for _, n := range list {
		if l, ok := n.s.(*ir.Let); ok {
			delete(e.raise, l.V)
		}
	}
}

// slots chooses where old values are kept: in a variable where there is one at most.
func (e *emitter) slots(list []*node, depth int) {
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
			base := "kept"
			if w.place != nil {
				base = w.place.Root.Name
			} else if w.window != nil {
				base = w.window.Name
			}
			w.slot = e.stack(base, w.t())
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
}

// stack is a new stack of the workspace.
func (e *emitter) stack(base string, t types.Type) *stack {
	s := stack{ws: e.b.ws, field: e.b.p.work.stack(base, t), of: t}
	e.b.stacks = append(e.b.stacks, s)
	return &s
}

// forward writes the forward sweep.
func (e *emitter) forward(list []*node) (out ir.Block) {
	if k := fusedAt(list); k >= 0 {
		head, tail := list[:k:k], list[k+1:]
		out = e.forward(head)
		out = append(out, e.rename(e.reverse(tail))...)
		out = append(out, e.fusedLoop(list[k]))
		return append(out, e.forward(tail)...)
	}
	for _, n := range list {
		for _, w := range n.writes {
			if w.keep {
				out = append(out, e.keep(n.at, w)...)
			}
		}
		switch s := n.s.(type) {
		case nil:
		case *ir.If:
			out = append(out, &ir.If{At: s.At, Cond: s.Cond, Then: e.forward(n.then), Else: e.forward(n.els)})
		case *ir.Scope:
			out = append(out, &ir.Scope{At: s.At, L: s.L, Body: e.forward(n.then)})
		case *ir.Loop:
			loop := *s
			e.depth++
			loop.Body = e.forward(n.then)
			e.depth--
			out = append(out, &loop)
		case *ir.Let:
			if e.early[s.V] {
				out = append(out, &ir.Set{At: n.at, P: e.b.own(s.V).Place(), E: zeroOf(s.V.Type)})
			}
			if isNew(s.E) && !e.b.flow.escapes(s.V) && e.recycles() {
				out = append(out, e.memory(s.At, s.V, s.E, !e.raise[s.V], !e.local || e.depth > 0)...)
				break
			}
			if !e.raise[s.V] {
				out = append(out, s)
				break
			}
			v := s.E
			if v == nil {
				v = zero(s.V.Type)
			}
			out = append(out, &ir.Set{At: s.At, P: s.V.Place(), E: v})
		default:
			out = append(out, s)
		}
	}
	return out
}

// recycles reports whether memory that nobody sees belongs to the workspace.
func (e *emitter) recycles() bool {
	e.b.p.matter.NoRecycle = true
	return !e.b.p.opts.NoRecycle
}

// isNew reports whether e is memory that is made.
func isNew(e ir.Expr) bool {
	switch e.(type) {
	case *ir.Make, *ir.New:
		return true
	}
	return false
}

func (e *emitter) keep(at ir.At, w *write) []ir.Stmt {
	switch {
	case w.inverse != nil:
		return nil
	case w.saved != nil:
		return []ir.Stmt{&ir.Set{At: at, P: w.saved.Place(), E: load(w.place, w.t())}}
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
	case w.window == nil:
		return w.slot.pop(at, w.place)
	}
	i := e.b.g.local("i", integer)
	body := ir.Block(w.slot.pop(at, step(w.window.Place(), ir.IndexStep(i.Load()))))
	return []ir.Stmt{downward(e.b.g.names, at, i, count(0), length(w.window.Load()), body)}
}

// reverse writes the reverse sweep of a block: what is behind a statement that may have
// been left for somewhere else is reversed if it was not.
func (e *emitter) reverse(list []*node) ir.Block {
	if !busy(list) {
		return nil
	}
	var head, tail ir.Block
	k := fusedAt(list)
	if k >= 0 { // the rest is reversed already
		list = list[:k]
	}
	for i, n := range list {
		if n.left != nil && busy(list[i+1:]) {
			rest := e.reverse(list[i+1:])
			tail = ir.Block{&ir.If{At: n.at, Cond: n.left.Load(), Else: rest}}
			list = list[:i+1]
			break
		}
	}
	for _, n := range list {
		l, ok := n.s.(*ir.Let)
		if !ok {
			continue
		}
		if e.b.flow.reruns[l.V] {
			head = append(head, &ir.Let{At: n.at, V: e.renamed(l.V), E: l.E})
		}
		if !e.early[l.V] && e.b.carries(l.V) && e.b.twins[l.V] == nil {
			head = append(head, &ir.Let{At: n.at, V: e.b.own(l.V)})
		}
	}
	out := append(head, tail...)
	for i := len(list) - 1; i >= 0; i-- {
		out = append(out, e.undo(list[i])...)
	}
	return out
}

func (e *emitter) renamed(v *ir.Var) *ir.Var {
	w := e.b.g.local(v.Name, v.Type)
	e.fresh[v] = w
	return w
}

func (e *emitter) undo(n *node) (out ir.Block) {
	switch s := n.s.(type) {
	case *ir.If:
		then, els := e.reverse(n.then), e.reverse(n.els)
		if len(then)+len(els) > 0 {
			out = append(out, &ir.If{At: n.at, Cond: n.cond.Load(), Then: then, Else: els})
		}
		return out
	case *ir.Scope:
		return e.reverse(n.then)
	case *ir.Loop:
		return e.backwards(n, s)
	}
	var restored ir.Block
	for i := len(n.writes) - 1; i >= 0; i-- {
		if w := n.writes[i]; w.keep {
			restored = append(restored, e.restore(n.at, w)...)
		}
	}
	out = append(out, e.recycled(n.pre)...)
	post := e.recycled(n.post)
	if n.late {
		return append(append(out, post...), restored...)
	}
	return append(append(out, restored...), post...)
}

// recycled takes the memory that a reversal needs, for itself only, from the workspace.
func (e *emitter) recycled(b ir.Block) (out ir.Block) {
	for _, s := range b {
		if l, ok := s.(*ir.Let); ok && isNew(l.E) && e.recycles() {
			out = append(out, e.memory(l.At, l.V, l.E, true, false)...)
			continue
		}
		out = append(out, s)
	}
	return out
}

// backwards is the reverse of a loop.
func (e *emitter) backwards(n *node, s *ir.Loop) ir.Block {
	body := e.reverse(n.then)
	if len(body) == 0 {
		return nil
	}
	names := e.b.g.names
	if n.loop.started == nil && basicKind(s.V.Type) == types.Int {
		v := e.renamed(s.V)
		free := s.Step == 1 && anyOrder(body, e.b.flow.isShadow)
		e.b.p.matter.NoOrder = e.b.p.matter.NoOrder || free
		if free && !e.b.p.opts.NoOrder {
			return ir.Block{upward(names, n.at, v, n.loop.lo, n.loop.hi, body)}
		}
		switch s.Step {
		case 1:
			return ir.Block{downward(names, n.at, v, n.loop.lo, n.loop.hi, body)}
		case -1:
			return ir.Block{upward(names, n.at, v, plus1(n.loop.hi), plus1(n.loop.lo), body)}
		}
	}
	var out ir.Block
	k := e.b.g.local("k", integer)
	var many ir.Expr
	if n.loop.started != nil {
		many = n.loop.started.Load()
	} else {
		m := e.b.g.local("n", integer)
		out = append(out, e.iterations(n, s, m)...)
		many = m.Load()
	}
	if s.V != nil {
		v := e.renamed(s.V)
		t := s.V.Type
		by := binary(t, opMul, convert(t, k.Load()), integerOf(t, s.Step))
		body = append(ir.Block{&ir.Let{At: n.at, V: v, E: binary(t, opAdd, n.loop.lo, by)}}, body...)
	}
	return append(out, downward(names, n.at, k, count(0), many, body))
}

// iterations computes how often a counted loop runs.
func (e *emitter) iterations(n *node, s *ir.Loop, m *ir.Var) ir.Block {
	t := s.V.Type
	lo, hi, by := n.loop.lo, n.loop.hi, s.Step
	cond := compare(opLss, lo, hi)
	if by < 0 {
		lo, hi, by = hi, lo, -by
		cond = compare(opLss, lo, hi)
	}
	// The first of the numbers that the last one may be away from the bound is left out.
	span := binary(t, opSub, binary(t, opSub, hi, lo), integerOf(t, 1))
	some := binary(integer, opAdd, convert(integer, binary(t, opQuo, span, integerOf(t, by))), count(1))
	return ir.Block{
		&ir.Let{At: n.at, V: m},
		&ir.If{At: n.at, Cond: cond, Then: ir.Block{&ir.Set{At: n.at, P: m.Place(), E: some}}},
	}
}

// rename gives variables that are made again in the reverse sweep names of their own.
func (e *emitter) rename(b ir.Block) ir.Block {
	m := &ir.Map{Var: func(v *ir.Var) *ir.Var {
		if w := e.fresh[v]; w != nil {
			return w
		}
		return v
	}}
	return m.Block(b)
}

func (e *emitter) declare(list []*ir.Var) (out ir.Block) {
	for _, v := range list {
		out = append(out, &ir.Let{At: e.at, V: v})
	}
	return out
}

// raised are the variables that are declared before a list of nodes, in the order of the
// function.
func (e *emitter) raised(list []*node) (out []*ir.Var) {
	for _, n := range list {
		if l, ok := n.s.(*ir.Let); ok && e.raise[l.V] {
			out = append(out, l.V)
		}
		if !n.fused {
			out = append(out, e.raised(n.then)...)
			out = append(out, e.raised(n.els)...)
		}
	}
	return out
}

// fusedLoop is a loop whose iterations run forward and back.
func (e *emitter) fusedLoop(n *node) ir.Stmt {
	s := *n.s.(*ir.Loop)
	e.depth++
	body := e.forward(n.then)
	e.depth--
	if leavesBeyond(body, nil) {
		end := &ir.Label{Name: e.b.g.names.Name("end")}
		m := &ir.Map{Label: func(l *ir.Label) *ir.Label {
			if l == s.Next {
				return end
			}
			return l
		}}
		body = ir.Block{&ir.Scope{At: n.at, L: end, Body: m.Block(body)}}
	}
	body = append(e.declare(e.raised(n.then)), body...)
	s.Body = append(body, e.rename(e.reverse(n.then))...)
	return &s
}

// around makes a scope of the forward sweep, whose returns go to its end.
func (e *emitter) around(body ir.Block) ir.Block {
	exit := e.b.g.f.Exit
	if !leavesBeyond(body, nil) {
		return body
	}
	end := &ir.Label{Name: e.b.g.names.Name("end")}
	m := &ir.Map{Label: func(l *ir.Label) *ir.Label {
		if l == exit {
			return end
		}
		return l
	}}
	return ir.Block{&ir.Scope{At: e.at, L: end, Body: m.Block(body)}}
}

func (b *builder) paramsWithShadows() []*ir.Var {
	out := append([]*ir.Var(nil), b.g.f.Params...)
	for i, v := range b.g.f.Params {
		if b.facts.Params.Has(i) && leads(v.Type) {
			s := b.of(v)
			s.Kind = ir.Param
			out = append(out, s)
		}
	}
	return out
}

// joint is the function of both sweeps.
func (b *builder) joint(f *ir.Func) *Adjoint {
	e := b.emitter()
	a := &Adjoint{Facts: b.facts}
	out := &ir.Func{Name: f.Name + "_adjoint", Recv: f.Recv, Exit: &ir.Label{Name: b.g.names.Name("exit")}, Pos: f.Pos}
	out.Params = b.paramsWithShadows()
	var tail ir.Block
	for i, r := range b.g.f.Results {
		res := &ir.Var{Name: b.g.names.Name(r.Name), Type: r.Type, Kind: ir.Result, Pos: r.Pos}
		local := &ir.Var{Name: b.g.names.Name(r.Name), Type: r.Type, Pos: r.Pos}
		e.results[r] = local
		e.top = append(e.top, &ir.Let{At: e.at, V: local})
		tail = append(tail, &ir.Set{At: e.at, P: res.Place(), E: local.Load()})
		out.Results = append(out.Results, res)
		if !b.facts.Results.Has(i) {
			continue
		}
		a.Seeds |= 1 << i
		switch {
		case !leads(r.Type):
			seed := b.own(r)
			seed.Kind = ir.Param
			out.Params = append(out.Params, seed)
		default:
			of := elemOf(r.Type)
			if of == nil || !floats.only(of) {
				b.g.refuse("a result of type %s, which leads to numbers", r.Type)
			}
			sh := b.of(r)
			sh.Kind = ir.Local
			e.top = append(e.top, &ir.Let{At: e.at, V: sh})
			seed := &ir.Var{Name: b.g.names.Name(r.Name + "Seed"), Type: r.Type, Kind: ir.Param}
			out.Params = append(out.Params, seed)
			w := &writer{b: b, at: e.at}
			w.loop(length(seed.Load()), func(i ir.Expr) {
				w.sum(of, step(sh.Place(), ir.IndexStep(i)), step(seed.Place(), ir.IndexStep(i)))
			})
			tail = append(tail, w.out...)
		}
	}
	for i, v := range b.g.f.Params {
		if !b.facts.Params.Has(i) {
			continue
		}
		if leads(v.Type) {
			a.Shadows |= 1 << i
		}
		if ownFloats(v.Type) {
			a.Bars |= 1 << i
			bar := b.own(v)
			bar.Kind = ir.Result
			out.Results = append(out.Results, bar)
		}
	}
	out.Params = append(out.Params, b.ws)
	forward := e.around(e.forward(b.body))
	reverse := e.rename(e.reverse(b.body))
	out0 := e.outputs(out.Results[:len(b.g.f.Results)])
	body := append(b.resets(), out0.start...)
	body = append(body, e.top...)
	body = append(body, e.declare(e.raised(b.body))...)
	body = append(body, forward...)
	body = append(body, tail...)
	body = append(body, out0.save...)
	body = append(body, reverse...)
	m := &ir.Map{Var: func(v *ir.Var) *ir.Var {
		if w := e.results[v]; w != nil {
			return w
		}
		return v
	}}
	out.Body = m.Block(append(body, out0.back...))
	a.Func, _ = ir.Clone(out, nil)
	return a
}

// split writes the two sweeps of a function that others call.
func (b *builder) split() {
	e := b.emitter()
	name := b.g.f.Name
	fwd := &ir.Func{Name: name + "_forward", Recv: b.g.f.Recv, Exit: b.g.f.Exit, Pos: b.g.f.Pos}
	rev := &ir.Func{Name: name + "_reverse", Exit: &ir.Label{Name: b.g.names.Name("exit")}, Pos: b.g.f.Pos}
	fwd.Params = append(b.paramsWithShadows(), b.ws)
	fwd.Results = append([]*ir.Var(nil), b.g.f.Results...)
	for i, r := range b.g.f.Results {
		if b.facts.Results.Has(i) && leads(r.Type) {
			sh := b.of(r)
			sh.Kind = ir.Result
			fwd.Results = append(fwd.Results, sh)
		}
	}
	body := append(e.declare(e.raised(b.body)), e.around(e.forward(b.body))...)
	var start ir.Block
	inRev := map[*ir.Var]bool{} // declared in the reverse sweep already
	for i, v := range b.g.f.Params {
		if b.needs(i) {
			rev.Params = append(rev.Params, v)
		}
		if b.facts.Params.Has(i) && ownFloats(v.Type) {
			bar := b.own(v)
			bar.Kind = ir.Result
			rev.Results = append(rev.Results, bar)
		}
	}
	for _, v := range b.paramsWithShadows() {
		if b.flow.writes[v] == 0 {
			inRev[v] = true
		}
	}
	for i, v := range b.g.f.Params {
		if b.facts.Params.Has(i) && leads(v.Type) {
			rev.Params = append(rev.Params, b.of(v))
		}
	}
	for i, r := range b.g.f.Results {
		if b.facts.Results.Has(i) && ownFloats(r.Type) {
			seed := b.own(r)
			seed.Kind = ir.Param
			rev.Params = append(rev.Params, seed)
		}
	}
	rev.Params = append(rev.Params, b.ws)
	reverse := e.reverse(b.body)
	for _, v := range e.shared() {
		if inRev[v] {
			continue
		}
		w := e.renamed(v)
		start = append(start, &ir.Let{At: e.at, V: w})
		if b.flow.exit[version{v: v}] {
			s := e.stack(v.Name, v.Type)
			body = append(body, s.push(e.at, v.Load()))
			start = append(start, s.pop(e.at, w.Place())...)
		}
	}
	fwd.Body = body
	rev.Body = e.rename(append(start, reverse...))
	f, _ := ir.Clone(fwd, nil)
	*b.fwd = *f
	r, _ := ir.Clone(rev, nil)
	*b.rev = *r
}

// shared are the variables of the forward sweep that the reverse sweep has too.
func (e *emitter) shared() (out []*ir.Var) {
	f := e.b.flow
	seen := map[*ir.Var]bool{}
	add := func(v *ir.Var) {
		if !seen[v] && (f.wanted[v] || e.raise[v]) {
			seen[v] = true
			out = append(out, v)
		}
	}
	for _, v := range e.b.paramsWithShadows() {
		add(v)
	}
	for _, v := range e.b.g.f.Results {
		add(v)
		if e.b.leads(v) {
			add(e.b.of(v))
		}
	}
	each(e.b.body, func(n *node) {
		for _, w := range n.writes {
			if v := w.whole(); v != nil {
				add(v)
			}
		}
	})
	return out
}
