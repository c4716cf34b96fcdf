package shortcut

import (
	"go/constant"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// block evaluates the statements of b from facts that it may modify, and returns the facts at its end.
func (r *region) block(b ir.Block, at *env) *env {
	for _, s := range b {
		if at == nil || r.failure != "" {
			break
		}
		r.At = ir.At{Pos: s.Position()}
		at = r.stmt(s, at)
	}
	return at
}

// leave notes that control leaves l with the facts at.
func (r *region) leave(l *ir.Label, at *env) {
	switch {
	case l == r.end:
		r.final = r.join(r.final, at)
		r.leavesEnd = true
	case r.inner[l]:
		r.labels[l] = r.join(r.labels[l], at)
	default:
		r.fail("it ends more than the shortcut does")
	}
}

// stmt evaluates s.
func (r *region) stmt(s ir.Stmt, at *env) *env {
	switch s := s.(type) {
	case *ir.Let:
		var x value
		if s.E != nil {
			x = r.eval(at, s.E)
			r.fresh[s.V] = r.allocates(s.E)
		} else if ir.HasInfo(s.V.Type, types.IsNumeric) {
			x = value{kind: exact, c: constant.MakeInt64(0)}
		} else if ir.HasInfo(s.V.Type, types.IsBoolean) {
			x = value{kind: exact, c: constant.MakeBool(false)}
		}
		r.forget(at, func(v *ir.Var) bool { return v == s.V })
		r.assign(at, s, s.V, x)
		r.emit(s)
	case *ir.Set:
		r.set(s, at)
	case *ir.Add:
		r.add(s, at)
	case *ir.Call:
		r.call(s, at)
	case *ir.Append:
		v := s.P.Root
		if len(s.P.Path) > 0 || !r.fresh[v] || ir.VarOf(s.S) != v {
			r.fail("it appends to a slice")
		}
		at.vals[v] = value{}
		r.emit(s)
	case *ir.Copy:
		if v := rootOf(s.Dst); v == nil || !r.fresh[v] {
			r.fail("it copies to memory")
		}
		if s.N != nil {
			r.assign(at, s, s.N, value{})
		}
		r.emit(s)
	case *ir.Clear:
		if v := rootOf(s.S); v == nil || !r.fresh[v] {
			r.fail("it clears memory")
		}
		r.emit(s)
	case *ir.If:
		return r.branch(s, at)
	case *ir.Scope:
		r.labels[s.L] = nil
		var out *env
		body := r.Nested(func() { out = r.block(s.Body, at) })
		r.emit(&ir.Scope{At: s.At, L: s.L, Body: body})
		return r.join(out, r.labels[s.L])
	case *ir.Loop:
		return r.loop(s, at)
	case *ir.Leave:
		r.leave(s.L, at)
		r.emit(s)
		return nil
	case *ir.Panic:
		r.emit(s)
		return nil
	}
	return at
}

// rootOf returns the variable that a slice is, or is a part of, nil for other expressions.
func rootOf(e ir.Expr) *ir.Var {
	if s, ok := e.(*ir.Slice); ok {
		return rootOf(s.X)
	}
	return ir.VarOf(e)
}

// allocates reports whether e leads to memory that the region allocates, and to no other.
func (r *region) allocates(e ir.Expr) bool {
	switch x := e.(type) {
	case *ir.Make, *ir.New:
		return !ir.HasRefs(elem(e.Type()))
	case *ir.Literal:
		_, ok := x.T.Underlying().(*types.Slice)
		return ok && !ir.HasRefs(elem(x.T))
	}
	v := rootOf(e)
	return v != nil && r.fresh[v] && r.once[v]
}

// elem returns the type of the elements of a slice, or of the variable behind a pointer.
func elem(t types.Type) types.Type {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return u.Elem()
	case *types.Pointer:
		return u.Elem()
	}
	return t
}

// free reports whether a store to p is of no concern to the statements after the region.
func (r *region) free(p *ir.Place) bool {
	return r.declared[p.Root] && !p.Indirect() || r.fresh[p.Root] && r.once[p.Root] && len(p.Path) == 1
}

// set evaluates an assignment.
func (r *region) set(s *ir.Set, at *env) {
	t := s.P.Type()
	number := ir.IsContinuous(t)
	if v := s.P.Root; r.declared[v] && len(s.P.Path) == 0 {
		r.assign(at, s, v, r.eval(at, s.E))
		r.emit(s)
		return
	}
	if r.free(s.P) {
		if len(s.P.Path) > 0 && !s.P.Indirect() {
			at.vals[s.P.Root] = value{}
		}
		r.emit(s)
		return
	}
	x, q := r.valueAt(at, s.P, s.E)
	if q != nil && len(q.Path) > 0 {
		r.targets = append(r.targets, q)
	}
	r.emit(r.stored1(s, x))
	switch {
	case isCurrent(x):
	case len(s.P.Path) == 0:
		r.assign(at, s, s.P.Root, r.eval(at, s.E))
	case !number:
		r.fail("it stores to memory other values than numbers")
	case !r.storable(x) || r.mode == immediate && x.kind != exact:
		r.fail("it stores a value to memory that the shortcut does not store")
	default:
		r.store(at, x.expr(t), access{r.c.class(s.P.Root), q})
	}
}

// stored1 returns the assignment s of the value x in the mode of the region.
func (r *region) stored1(s *ir.Set, x value) ir.Stmt {
	t := s.P.Type()
	old := ir.LoadOf(s.P, t)
	value, derivative := s.E, s.E
	memory := len(s.P.Path) > 0
	switch {
	case !ir.IsContinuous(t):
		return s
	case r.mode == plain:
		derivative = old
	case isCurrent(x) || memory && r.mode == deferred:
		value = old
	case x.kind == exact:
		value = x.expr(t)
	default:
		return s
	}
	return &ir.Set{At: s.At, P: s.P, E: ir.Graft(value, derivative)}
}

// add evaluates an increment.
func (r *region) add(s *ir.Add, at *env) {
	x := r.eval(at, s.E)
	t := s.P.Type()
	if v := s.P.Root; len(s.P.Path) == 0 && (r.declared[v] || !x.is(0)) {
		r.assign(at, s, v, arithmetic(token.ADD, r.lookup(at, v), x, t))
		r.emit(s)
		return
	}
	switch {
	case r.free(s.P):
		if !s.P.Indirect() {
			at.vals[s.P.Root] = value{}
		}
		r.emit(s)
	case x.is(0) && ir.IsContinuous(t):
		if q := r.canonical(at, s.P); q != nil {
			r.targets = append(r.targets, q)
		}
		if r.mode != plain { // neither its value nor its derivative counts in a shortcut
			r.emit(&ir.Add{At: s.At, P: s.P, E: ir.Graft(ir.Zero(t), s.E)})
		}
	case x.is(0):
	default:
		r.set(&ir.Set{At: s.At, P: s.P, E: ir.NewBinary(t, token.ADD, ir.LoadOf(s.P, t), s.E)}, at)
	}
}

// branch evaluates an if statement: one side of it if the condition is known, otherwise both.
func (r *region) branch(s *ir.If, at *env) *env {
	if x := r.eval(at, s.Cond); x.kind == exact {
		if constant.BoolVal(x.c) {
			return r.block(s.Then, at)
		}
		return r.block(s.Else, at)
	}
	var then, other *env
	a := r.Nested(func() { then = r.block(s.Then, at.clone()) })
	b := r.Nested(func() { other = r.block(s.Else, at.clone()) })
	r.emit(&ir.If{At: s.At, Cond: s.Cond, Then: a, Else: b})
	return r.join(then, other)
}

// maxRounds bounds the iterations for the facts at the head of a loop. In each, some fact gets lost.
const maxRounds = 20

// loop evaluates a loop: first its body until the facts at its head do not change, then as a statement.
func (r *region) loop(s *ir.Loop, at *env) *env {
	if s.V != nil {
		lo, hi := r.eval(at, s.Lo), r.eval(at, s.Hi)
		if lo.kind == exact && hi.kind == exact {
			enters := token.LSS
			if s.Step < 0 {
				enters = token.GTR
			}
			if !constant.Compare(lo.c, enters, hi.c) {
				return at
			}
		}
	}
	if r.depth++; r.depth > maxDepth {
		r.fail("its loops are nested too deeply")
	}
	defer func() { r.depth-- }()
	inside := map[*ir.Var]bool{}
	ir.Walk(s.Body, func(t ir.Stmt) bool {
		switch t := t.(type) {
		case *ir.Let:
			inside[t.V] = true
		case *ir.Loop:
			inside[t.V] = true
		}
		return true
	})
	inside[s.V] = true
	iteration := func(head *env) *env {
		r.labels[s.L], r.labels[s.Next] = nil, nil
		in := head.clone()
		for v, x := range in.vals {
			if x.kind == unknown && !r.once[v] {
				in.vals[v] = r.unknownAt(in, s, v)
			}
		}
		if s.V != nil {
			in.vals[s.V] = value{}
		}
		next := r.join(r.block(s.Body, in), r.labels[s.Next])
		r.forget(next, func(v *ir.Var) bool { return inside[v] })
		for v := range head.vals {
			if w := r.symbols[symbolKey{s, v}]; w != nil {
				r.forget(next, func(v *ir.Var) bool { return v == w })
			}
		}
		return next
	}
	head := at
	r.quiet++
	for n := 0; r.failure == ""; n++ {
		next := r.join(head, iteration(head))
		if r.equal(next, head) {
			break
		}
		if head = next; n > maxRounds {
			r.fail("its loops do not settle")
		}
	}
	r.quiet--
	loop := *s
	loop.Body = r.Nested(func() { iteration(head) })
	r.At = s.At
	r.emit(&loop)
	out := r.labels[s.L]
	for v := range head.vals {
		if w := r.symbols[symbolKey{s, v}]; w != nil {
			r.forget(out, func(v *ir.Var) bool { return v == w })
		}
	}
	r.forget(out, func(v *ir.Var) bool { return inside[v] })
	if s.V != nil {
		out = r.join(out, head)
	}
	return out
}

// maxDepth bounds the nesting of loops.
const maxDepth = 12
