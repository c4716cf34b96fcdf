package adjoint

import (
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/simplify"
)

// prepared is a function in the shape that a reverse sweep can be made of:
//
//   - no variable has an address: those that had one are behind a pointer;
//   - elementary functions and divisions of floats, their arguments and the float
//     arguments of calls are variables;
//   - bounds and conditions are variables, and so is all that the reverse sweep has to
//     know of the path that was taken.
type prepared struct {
	f     *ir.Func
	of    *ir.Func // what it was made of
	conds map[*ir.If]*ir.Var
	loops map[*ir.Loop]*loopInfo
	// left says of a loop or a scope whether it was left for somewhere behind its end.
	left  map[ir.Stmt]*ir.Var
	names *ir.Namer
	notes []Note
	// segment is set for iterations of a loop.
	segment *segment
}

type loopInfo struct {
	lo, hi  ir.Expr // what the bounds are for the reverse sweep
	started *ir.Var // how often the body was entered, nil where the bounds tell
}

// prepare prepares f and what it calls, each once.
func (p *Program) prepare(f *ir.Func) *prepared {
	if g := p.prepared[f]; g != nil {
		return g
	}
	clone, _ := ir.Clone(f, nil)
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		c, ok := s.(*ir.Call)
		p.matter.NoInline = p.matter.NoInline || ok && c.Callee.Func != nil
		return true
	})
	var notes []Note
	if marked(clone) {
		g := &prepared{f: clone, names: ir.NamerOf(clone)}
		g.box()
		p.outline(g, f)
		notes = g.notes
	}
	switch {
	case p.opts.NoSimplify:
	case p.opts.NoInline:
		simplify.Body(clone, p.work.pkg)
	default:
		simplify.Primal(clone, p.work.pkg)
	}
	names := ir.NamerOf(clone)
	g := &prepared{
		f: clone, of: f, names: names, notes: notes, segment: p.segments[f],
		conds: map[*ir.If]*ir.Var{}, loops: map[*ir.Loop]*loopInfo{}, left: map[ir.Stmt]*ir.Var{},
	}
	p.prepared[f] = g
	pairs := &ir.Map{Stmt: func(s ir.Stmt) []ir.Stmt {
		if c, ok := s.(*ir.Call); ok {
			if list := c.Expand(names); list != nil {
				return list
			}
		}
		return []ir.Stmt{s}
	}}
	clone.Body = pairs.Block(clone.Body)
	g.box()
	ir.Normalize(clone)
	clone.Body = (&hoister{g: g}).block(clone.Body)
	m := &ir.Map{Stmt: func(s ir.Stmt) []ir.Stmt {
		c, ok := s.(*ir.Call)
		if !ok {
			return []ir.Stmt{s}
		}
		d := *c
		switch r := c.Callee.Rule; {
		case r == nil:
			d.Callee = &ir.Callee{Func: p.prepare(c.Callee.Func).f}
		case r.Source != nil && slices.Contains(r.Fixed, true): // it may be looked into
			rule := *r
			rule.Source = p.prepare(r.Source).f
			d.Callee = &ir.Callee{Rule: &rule}
		}
		return []ir.Stmt{&d}
	}}
	clone.Body = m.Block(clone.Body)
	clone.Body = g.control(clone.Body)
	return g
}

func (g *prepared) local(base string, t types.Type) *ir.Var {
	return &ir.Var{Name: g.names.Name(base), Type: t}
}

// box puts the variables that have an address behind pointers.
func (g *prepared) box() {
	addressed := map[*ir.Var]*ir.Var{}
	ir.Walk(g.f.Body, func(s ir.Stmt) bool {
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				switch e.(type) {
				case *ir.Addr, *ir.SliceAt:
					if at := ir.PlaceOf(e); !at.Indirect() && at.Root.Kind != ir.Global && addressed[at.Root] == nil {
						v := at.Root
						addressed[v] = g.local(v.Name+"Ptr", types.NewPointer(v.Type))
					}
				}
				return true
			})
		}
		return true
	})
	if len(addressed) == 0 {
		return
	}
	behind := func(v *ir.Var) *ir.Place { return &ir.Place{Root: addressed[v], Path: []ir.Step{ir.DerefStep()}} }
	place := func(p *ir.Place) *ir.Place {
		if addressed[p.Root] == nil {
			return p
		}
		return &ir.Place{Root: addressed[p.Root], Path: append([]ir.Step{ir.DerefStep()}, p.Path...)}
	}
	m := &ir.Map{Place: place}
	fresh := func(at ir.At, v *ir.Var) ir.Stmt {
		q := addressed[v]
		return &ir.Let{At: at, V: q, E: &ir.New{Typed: ir.Typed{T: q.Type}}}
	}
	m.Stmt = func(s ir.Stmt) []ir.Stmt {
		switch s := s.(type) {
		case *ir.Let:
			if addressed[s.V] == nil {
				break
			}
			out := []ir.Stmt{fresh(s.At, s.V)}
			if s.E != nil {
				out = append(out, &ir.Set{At: s.At, P: behind(s.V), E: s.E})
			}
			return out
		case *ir.Call:
			c := *s
			c.Results = append([]*ir.Var(nil), s.Results...)
			var before, after []ir.Stmt
			for i, v := range c.Results {
				if v != nil && addressed[v] != nil {
					c.Results[i] = g.local(v.Name, v.Type)
					before = append(before, &ir.Let{At: s.At, V: c.Results[i]})
					after = append(after, &ir.Set{At: s.At, P: behind(v), E: c.Results[i].Load()})
				}
			}
			return append(append(before, &c), after...)
		case *ir.Copy:
			if s.N != nil && addressed[s.N] != nil {
				c := *s
				c.N = g.local(s.N.Name, s.N.Type)
				return []ir.Stmt{&ir.Let{At: s.At, V: c.N}, &c, &ir.Set{At: s.At, P: behind(s.N), E: c.N.Load()}}
			}
		case *ir.Loop:
			if s.V != nil && addressed[s.V] != nil {
				loop := *s
				loop.V = g.local(s.V.Name, s.V.Type)
				loop.Body = append(ir.Block{fresh(s.At, s.V), &ir.Set{At: s.At, P: behind(s.V), E: loop.V.Load()}},
					s.Body...)
				return []ir.Stmt{&loop}
			}
		}
		return []ir.Stmt{s}
	}
	body := m.Block(g.f.Body)
	var head, tail ir.Block
	at := ir.At{Pos: g.f.Pos}
	for _, v := range g.f.Params {
		if addressed[v] != nil {
			head = append(head, fresh(at, v), &ir.Set{At: at, P: behind(v), E: v.Load()})
		}
	}
	for _, v := range g.f.Results {
		if addressed[v] != nil {
			head = append(head, fresh(at, v))
			tail = append(tail, &ir.Set{At: at, P: v.Place(), E: load(behind(v), v.Type)})
		}
	}
	if len(tail) > 0 {
		exit := g.f.Exit
		g.f.Exit = &ir.Label{Name: g.names.Name("exit")}
		body = append(ir.Block{&ir.Scope{At: at, L: exit, Body: body}}, tail...)
	}
	g.f.Body = append(head, body...)
}

// hoister makes variables of what the reverse sweep wants to have at hand.
type hoister struct {
	ir.Writer
	g *prepared
}

func (h *hoister) block(in ir.Block) ir.Block {
	return h.EachStmt(in, func(s ir.Stmt) { h.Emit(h.stmt(s)) })
}

func (h *hoister) stmt(s ir.Stmt) ir.Stmt {
	switch s := s.(type) {
	case *ir.Let:
		return &ir.Let{At: s.At, V: s.V, E: h.top(s.E)}
	case *ir.Set:
		return &ir.Set{At: s.At, P: s.P, E: h.expr(s.E)}
	case *ir.Add:
		return &ir.Add{At: s.At, P: s.P, E: h.expr(s.E)}
	case *ir.Append:
		a := *s
		a.S = h.header(s.S)
		a.Elems = nil
		for _, e := range s.Elems {
			if s.Spread {
				a.Elems = append(a.Elems, h.header(e))
			} else {
				a.Elems = append(a.Elems, h.expr(e))
			}
		}
		return &a
	case *ir.Copy:
		return &ir.Copy{At: s.At, N: s.N, Dst: h.header(s.Dst), Src: h.header(s.Src)}
	case *ir.Clear:
		return &ir.Clear{At: s.At, S: h.header(s.S)}
	case *ir.Call:
		c := *s
		c.Args = nil
		for _, e := range s.Args {
			c.Args = append(c.Args, h.arg(e))
		}
		return &c
	case *ir.If:
		return &ir.If{At: s.At, Cond: s.Cond, Then: h.block(s.Then), Else: h.block(s.Else)}
	case *ir.Scope:
		return &ir.Scope{At: s.At, L: s.L, Body: h.block(s.Body)}
	case *ir.Loop:
		loop := *s
		loop.Body = h.block(s.Body)
		return &loop
	}
	return s
}

func (h *hoister) let(base string, e ir.Expr) ir.Expr {
	v := h.g.local(base, e.Type())
	h.Emit(&ir.Let{At: h.At, V: v, E: e})
	return v.Load()
}

// atom is e as a constant or a variable.
func (h *hoister) atom(base string, e ir.Expr) ir.Expr {
	switch x := e.(type) {
	case *ir.Const:
		return e
	case *ir.Load:
		if len(x.P.Path) == 0 {
			return e
		}
	}
	return h.let(base, e)
}

// header is a slice as a variable.
func (h *hoister) header(e ir.Expr) ir.Expr {
	if _, ok := e.(*ir.Const); ok {
		return e
	}
	return h.let("view", e)
}

// arg is an argument of a call.
func (h *hoister) arg(e ir.Expr) ir.Expr {
	return h.atom("arg", h.expr(e))
}

// top is what a variable is declared with: its own operation may stay.
func (h *hoister) top(e ir.Expr) ir.Expr {
	switch x := e.(type) {
	case *ir.Math:
		if ir.IsFloat(x.T) {
			return h.math(x)
		}
	case *ir.Binary:
		if x.Op == token.QUO && ir.IsFloat(x.T) {
			return binary(x.T, x.Op, h.expr(x.X), h.expr(x.Y))
		}
	}
	return h.expr(e)
}

func (h *hoister) math(x *ir.Math) ir.Expr {
	m := &ir.Math{Typed: x.Typed, Name: x.Name}
	for _, a := range x.Args {
		if _, ok := a.(*ir.Load); !ok && ir.IsFloat(a.Type()) {
			a = h.atom("arg", h.expr(a))
		}
		m.Args = append(m.Args, a)
	}
	return m
}

// expr hoists what is in a float expression.
func (h *hoister) expr(e ir.Expr) ir.Expr {
	if l, ok := e.(*ir.Literal); ok {
		m := *l
		m.Elems = nil
		for _, e := range l.Elems {
			m.Elems = append(m.Elems, h.expr(e))
		}
		return &m
	}
	if e == nil || !ir.IsFloat(e.Type()) {
		return e
	}
	switch x := e.(type) {
	case *ir.Unary:
		return &ir.Unary{Typed: x.Typed, Op: x.Op, X: h.expr(x.X)}
	case *ir.Convert:
		return &ir.Convert{Typed: x.Typed, X: h.expr(x.X)}
	case *ir.Binary:
		b := binary(x.T, x.Op, h.expr(x.X), h.expr(x.Y))
		if x.Op == token.QUO && !isConstant(x.Y) {
			return h.let("quo", b)
		}
		return b
	case *ir.Math:
		if len(x.Args) == 0 {
			return e
		}
		return h.let(nameOf(x.Name), h.math(x))
	}
	return e
}

// isConstant reports whether e is a constant or a conversion of one.
func isConstant(e ir.Expr) bool {
	switch x := e.(type) {
	case *ir.Const:
		return true
	case *ir.Convert:
		return isConstant(x.X)
	}
	return false
}

// nameOf makes a name of that of an elementary function: sin of math.Sin.
func nameOf(s string) string {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '.' {
			s = s[i+1:]
			break
		}
	}
	b := []byte(s)
	if b[0] >= 'A' && b[0] <= 'Z' {
		b[0] += 'a' - 'A'
	}
	return string(b)
}

// control makes variables of bounds, conditions and exits.
func (g *prepared) control(in ir.Block) ir.Block {
	var out ir.Block
	for _, s := range in {
		at := ir.At{Pos: s.Position()}
		switch s := s.(type) {
		case *ir.If:
			cond := s.Cond
			if !types.Identical(cond.Type(), boolean) { // a type of its own
				cond = &ir.Convert{Typed: ir.Typed{T: boolean}, X: cond}
			}
			c := g.local("cond", boolean)
			n := &ir.If{At: s.At, Cond: c.Load(), Then: g.control(s.Then), Else: g.control(s.Else)}
			g.conds[n] = c
			out = append(out, &ir.Let{At: at, V: c, E: cond}, n)
		case *ir.Scope:
			n := &ir.Scope{At: s.At, L: s.L, Body: g.control(s.Body)}
			g.exits(n, &out, at, &n.Body, s.L, nil)
			out = append(out, n)
		case *ir.Loop:
			n := *s
			n.Body = g.control(s.Body)
			info := &loopInfo{}
			bound := func(base string, e ir.Expr) ir.Expr {
				if isConstant(e) {
					return e
				}
				v := g.local(base, e.Type())
				out = append(out, &ir.Let{At: at, V: v, E: e})
				return v.Load()
			}
			if s.V != nil {
				n.Lo, n.Hi = bound("lo", s.Lo), bound("hi", s.Hi)
				info.lo, info.hi = n.Lo, n.Hi
			}
			if s.V == nil || ir.LeavesBeyond(s.Body, s.Next) {
				info.started = g.local("n", integer)
				out = append(out, &ir.Let{At: at, V: info.started, E: count(0)})
				n.Body = append(ir.Block{&ir.Add{At: at, P: info.started.Place(), E: count(1)}}, n.Body...)
			}
			g.exits(&n, &out, at, &n.Body, s.L, s.Next)
			g.loops[&n] = info
			out = append(out, &n)
		default:
			out = append(out, s)
		}
	}
	return out
}

// exits adds the variable that says whether s, whose labels l and next are, was left for
// somewhere beyond, and sets it where it is.
func (g *prepared) exits(s ir.Stmt, out *ir.Block, at ir.At, body *ir.Block, l, next *ir.Label) {
	inner := map[*ir.Label]bool{l: true, next: true}
	var beyond []*ir.Leave
	ir.Walk(*body, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Scope:
			inner[s.L] = true
		case *ir.Loop:
			inner[s.L], inner[s.Next] = true, true
		case *ir.Leave:
			if !inner[s.L] {
				beyond = append(beyond, s)
			}
		}
		return true
	})
	if len(beyond) == 0 {
		return
	}
	v := g.local("left", boolean)
	g.left[s] = v
	*out = append(*out, &ir.Let{At: at, V: v, E: truth(false)})
	set := map[*ir.Leave]bool{}
	for _, l := range beyond {
		set[l] = true
	}
	insert(body, set, v)
}

// insert sets v before the leaves in set.
func insert(b *ir.Block, set map[*ir.Leave]bool, v *ir.Var) {
	for _, s := range *b {
		for _, c := range ir.Blocks(s) {
			insert(c, set, v)
		}
	}
	if k := len(*b) - 1; k >= 0 {
		if l, ok := (*b)[k].(*ir.Leave); ok && set[l] {
			*b = append((*b)[:k:k], &ir.Set{At: l.At, P: v.Place(), E: truth(true)}, l)
		}
	}
}

func truth(b bool) ir.Expr {
	return &ir.Const{Typed: ir.Typed{T: boolean}, Val: constant.MakeBool(b)}
}
