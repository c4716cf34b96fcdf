package simplify

import (
	"go/token"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Overwrite makes f overwrite the slice parameter memory, where it expects zeros and accumulates into them: loops that
// accumulate into each element of a range before anything else uses it store their first contributions instead, and the
// elements outside the range are cleared. The memory of no other parameter overlaps with it, and the parameter like has
// the same length. If no loop of f has that form, Overwrite returns false and f is unchanged.
//
//	for i := 0; i < n; i++ {        if 0 < n { clear(p[n:]) } else { clear(p) }
//	    p[i] += a                   for i := 0; i < n; i++ {
//	    p[i] += b                       p[i] = a
//	}                                   p[i] += b
//	p[0] += c                       }
//	                                p[0] += c
//
// An element may become -0 where it was 0.
func Overwrite(f *ir.Func, memory, like *ir.Var) bool {
	g := *f
	g.Body = lengthsOf(memory, like).Block(f.Body)
	o := &overwriter{memory: memory, like: like, views: viewsOf(memory, g.Body), polynomials: newPolynomials(&g)}
	body := o.block(g.Body, nil)
	if o.stores {
		f.Body = body
	}
	return o.stores
}

// An overwriter applies Overwrite to one function.
type overwriter struct {
	memory *ir.Var
	like   *ir.Var // of the same length
	views  views
	*polynomials
	stores bool // a loop stores
}

// A region is the elements from, …, to-1 of the memory. A statement overwrites them if the numbers in positive are.
type region struct {
	from, to polynomial
	positive []polynomial
	partial  bool // the function may use only a part of them, so they have to be in range
	shared   bool // other elements are used too, as those of the next row may be
}

// block returns statements that leave the memory as b does where it begins with zeros. The numbers in positive are.
func (o *overwriter) block(b ir.Block, positive []polynomial) (out ir.Block) {
	for i, s := range b {
		if ir.LeavesBeyond(ir.Block{s}) {
			return append(append(out, o.clear(nil, nil)), b[i:]...)
		}
		if !o.touches(s) {
			out = append(out, s)
			continue
		}
		var now ir.Block
		switch s := s.(type) {
		case *ir.If:
			if o.views.occursInExpr(s.Cond) {
				break
			}
			had := o.stores
			o.stores = false
			then := o.block(s.Then, append(positive[:len(positive):len(positive)], o.implied(s.Cond)...))
			other := o.block(s.Else, positive)
			if o.stores {
				now = ir.Block{&ir.If{At: s.At, Cond: s.Cond, Then: then, Else: other}}
			}
			o.stores = o.stores || had
		case *ir.Loop:
			if l, r, ok := o.loop(s); ok && (!r.partial || o.inRange(r)) {
				o.stores = true
				outside, rest := o.clearOutside(r, b[i+1:], positive)
				return append(append(append(out, outside...), l), rest...)
			}
		}
		if now == nil {
			now = ir.Block{o.clear(nil, nil), s}
		}
		return append(append(out, now...), b[i+1:]...)
	}
	return append(out, o.clear(nil, nil))
}

// touches reports whether s, or a statement in its blocks, uses the memory. Declarations of views do not.
func (o *overwriter) touches(s ir.Stmt) (found bool) {
	ir.Walk(ir.Block{s}, func(s ir.Stmt) bool {
		found = found || !o.views.declaresView(s) && o.views.occursIn(s)
		return !found
	})
	return found
}

// clear returns the statement that clears the elements from lo to hi; nil bounds are those of the memory.
func (o *overwriter) clear(lo, hi polynomial) ir.Stmt {
	e := ir.Expr(o.memory.Load())
	if lo != nil || hi != nil {
		s := &ir.Slice{Typed: ir.Typed{T: o.memory.Type}, X: e}
		if lo != nil {
			s.Lo = o.expr(lo)
		}
		if hi != nil {
			s.Hi = o.expr(hi)
		}
		e = s
	}
	return &ir.Clear{S: e}
}

// inRange reports whether the elements of r are known to exist.
func (o *overwriter) inRange(r region) bool {
	n, _ := o.length(o.like.Load())
	first, ok := r.from.constant()
	behind, ok2 := n.plus(r.to, -1).constant()
	return ok && ok2 && first >= 0 && behind >= 0
}

// clearOutside returns statements that clear the elements outside of the region r of a loop, and the statements after
// the loop, in which stores may have replaced accumulations into elements that are not cleared then. The numbers in
// positive are.
func (o *overwriter) clearOutside(r region, after ir.Block, positive []polynomial) (out, rest ir.Block) {
	var conds []polynomial
	for _, n := range r.positive {
		k, constant := n.constant()
		if !slices.ContainsFunc(slices.Concat(positive, conds), n.equals) && !(constant && k > 0) {
			conds = append(conds, n)
		}
	}
	whole := true
	for _, end := range [...]struct{ lo, hi polynomial }{{nil, r.from}, {r.to, nil}} {
		lo, hi := end.lo, end.hi // a nil polynomial is 0
		if hi == nil {
			hi, _ = o.length(o.like.Load())
		}
		switch size, constant := hi.plus(lo, -1).constant(); {
		case constant && size == 0:
			continue
		case constant && size == 1 && !r.shared && o.store(&after, lo):
			continue
		}
		out, whole = append(out, o.clear(end.lo, end.hi)), false
	}
	zero := ir.IntConst(integer, 0)
	none := ir.Block{o.clear(nil, nil)}
	switch {
	case len(conds) == 0 || whole && len(conds) == 1 && conds[0].equals(r.to):
		return out, after
	case whole:
		return ir.Block{&ir.If{Cond: o.joined(conds, token.LEQ, zero, token.LOR), Then: none}}, after
	}
	return ir.Block{&ir.If{Cond: o.joined(conds, token.GTR, zero, token.LAND), Then: out, Else: none}}, after
}

// store replaces the first accumulation of b into the element at by a store and reports whether it could: nothing
// before it uses that element.
func (o *overwriter) store(b *ir.Block, at polynomial) bool {
	for i, s := range *b {
		if ir.LeavesBeyond(ir.Block{s}) {
			return false
		}
		if !o.touches(s) {
			continue
		}
		a, ok := s.(*ir.Add)
		if !ok {
			return false
		}
		index, ok := o.index(a)
		if !ok {
			return false
		}
		switch distance, constant := index.plus(at, -1).constant(); {
		case !constant:
			return false
		case distance == 0:
			*b = slices.Clone(*b)
			(*b)[i] = &ir.Set{At: a.At, P: a.P, E: a.E}
			return true
		}
	}
	return false
}

// joined returns the comparisons of numbers with x, joined by a logical operation.
func (o *overwriter) joined(list []polynomial, comparison token.Token, x ir.Expr, operation token.Token) (e ir.Expr) {
	for _, n := range list {
		c := ir.Compare(comparison, o.expr(n), x)
		if e == nil {
			e = c
		} else {
			e = ir.NewBinary(boolean, operation, e, c)
		}
	}
	return e
}

// implied returns numbers that are positive if the condition e holds.
func (o *overwriter) implied(e ir.Expr) []polynomial {
	b, ok := e.(*ir.Binary)
	if !ok {
		return nil
	}
	if b.Op == token.LAND {
		return append(o.implied(b.X), o.implied(b.Y)...)
	}
	x, ok := o.of(b.X)
	y, ok2 := o.of(b.Y)
	if !ok || !ok2 {
		return nil
	}
	switch b.Op {
	case token.LSS:
		return []polynomial{y.plus(x, -1)}
	case token.LEQ:
		return []polynomial{y.plus(x, -1).plus(constantPolynomial(1), 1)}
	case token.GTR:
		return []polynomial{x.plus(y, -1)}
	case token.GEQ:
		return []polynomial{x.plus(y, -1).plus(constantPolynomial(1), 1)}
	}
	return nil
}

// loop returns l with stores in the place of first accumulations, and the region that they overwrite.
func (o *overwriter) loop(l *ir.Loop) (ir.Stmt, region, bool) {
	if l.V == nil || l.Step != 1 && l.Step != -1 || o.leaves(l.Body) {
		return nil, region{}, false
	}
	lo, ok := o.of(l.Lo)
	hi, ok2 := o.of(l.Hi)
	body, r, ok3 := o.body(l.Body, l)
	if !ok || !ok2 || !ok3 || r.shared {
		return nil, region{}, false
	}
	one := constantPolynomial(1)
	if l.Step < 0 {
		lo, hi = hi.plus(one, 1), lo.plus(one, 1)
	}
	at := func(q, i polynomial) polynomial { return o.substitute(q, l.V, i) }
	next := o.factor(l.V.Load()).plus(one, 1)
	whole := region{positive: append(r.positive[:len(r.positive):len(r.positive)], hi.plus(lo, -1)), partial: r.partial,
		shared: len(o.users(l.Body)) > 1}
	switch {
	case r.to.equals(at(r.from, next)):
		whole.from, whole.to = at(r.from, lo), at(r.from, hi)
	case r.from.equals(at(r.to, next)):
		whole.from, whole.to = at(r.to, hi), at(r.to, lo)
	default:
		return nil, region{}, false
	}
	if o.writes(l, append(whole.positive[:len(whole.positive):len(whole.positive)], whole.from, whole.to)...) {
		return nil, region{}, false
	}
	loop := *l
	loop.Body = body
	return &loop, whole, true
}

// writes reports whether s, or a statement in its blocks, writes a variable that one of the numbers depends on.
func (o *overwriter) writes(s ir.Stmt, numbers ...polynomial) bool {
	return slices.ContainsFunc(numbers, func(q polynomial) bool {
		return slices.ContainsFunc(o.mentions(q), func(v *ir.Var) bool { return writesVar(s, v) })
	})
}

// leaves reports whether a statement of b ends something before its end.
func (o *overwriter) leaves(b ir.Block) (found bool) {
	ir.Walk(b, func(s ir.Stmt) bool {
		_, leave := s.(*ir.Leave)
		found = found || leave
		return !found
	})
	return found
}

// body returns b with stores in the place of first accumulations, and the region that they overwrite, if b is executed
// for each index of the loop l, or as a branch if l is nil. Other statements of b may use the region, but only elements
// that earlier iterations, or statements before in this one, have stored, or that are not in the region of the loop.
func (o *overwriter) body(b ir.Block, l *ir.Loop) (ir.Block, region, bool) {
	users := o.users(b)
	if len(users) == 0 {
		return nil, region{}, false
	}
	first := users[0]
	if len(users) > 1 {
		if first = o.leader(b, users, l); first < 0 {
			return nil, region{}, false
		}
	}
	s, r, ok := o.statement(b[first])
	if !ok {
		return nil, region{}, false
	}
	b = slices.Clone(b)
	b[first] = s
	return b, r, true
}

// users returns the indices of the statements of b that use the memory.
func (o *overwriter) users(b ir.Block) (list []int) {
	for i, s := range b {
		if o.touches(s) {
			list = append(list, i)
		}
	}
	return list
}

// leader returns the index of the accumulation in b that is the first one into its elements, or -1. All users of the
// memory have to be accumulations whose indices differ by constants.
func (o *overwriter) leader(b ir.Block, users []int, l *ir.Loop) int {
	lead, direction := -1, int64(0)
	var leading polynomial
	for _, i := range users {
		a, ok := b[i].(*ir.Add)
		if !ok {
			return -1
		}
		at, ok := o.index(a)
		if !ok {
			return -1
		}
		if lead < 0 {
			lead, leading = i, at
			if l != nil {
				one := constantPolynomial(1)
				next := o.substitute(at, l.V, o.factor(l.V.Load()).plus(one, 1))
				if direction, ok = next.plus(at, -1).constant(); !ok {
					return -1
				}
				direction *= l.Step
			}
			continue
		}
		ahead, ok := at.plus(leading, -1).constant()
		if !ok || direction == 0 && ahead != 0 {
			return -1
		}
		if ahead*direction > 0 {
			lead, leading = i, at
		}
	}
	return lead
}

// index returns the number of the element that a accumulates into. The statement must not use the memory otherwise.
func (o *overwriter) index(a *ir.Add) (polynomial, bool) {
	if !o.views[a.P.Root] || len(a.P.Path) != 1 || a.P.Path[0].Index == nil || o.views.occursInExpr(a.E) ||
		o.views.occursInExpr(a.P.Path[0].Index) {
		return nil, false
	}
	at, ok := o.of(a.P.Path[0].Index)
	base, ok2 := o.offset(a.P.Root.Load())
	return at.plus(base, 1), ok && ok2
}

// offset returns the number of the first element of a view.
func (o *overwriter) offset(e ir.Expr) (polynomial, bool) {
	switch e := e.(type) {
	case *ir.Slice:
		base, ok := o.offset(e.X)
		if !ok || e.Lo == nil {
			return base, ok
		}
		lo, ok := o.of(e.Lo)
		return base.plus(lo, 1), ok
	case *ir.Load:
		v := ir.VarOf(e)
		if v == o.memory {
			return constantPolynomial(0), true
		}
		if def := o.defs[v]; def != nil {
			return o.offset(def)
		}
	}
	return nil, false
}

// statement returns s with stores in the place of first accumulations, and the region that they overwrite.
func (o *overwriter) statement(s ir.Stmt) (ir.Stmt, region, bool) {
	switch s := s.(type) {
	case *ir.Add:
		at, ok := o.index(s)
		return &ir.Set{At: s.At, P: s.P, E: s.E}, region{from: at, to: at.plus(constantPolynomial(1), 1)}, ok
	case *ir.Loop:
		return o.loop(s)
	case *ir.If:
		if o.views.occursInExpr(s.Cond) {
			break
		}
		if t, r, ok := o.branches(s); ok {
			return t, r, ok
		}
		positive := o.implied(s.Cond)
		if b, ok := s.Cond.(*ir.Binary); !ok || len(positive) != 1 || !types.Identical(b.X.Type(), integer) ||
			slices.ContainsFunc(s.Else, o.touches) {
			break
		}
		then, r, ok := o.body(s.Then, nil)
		r.positive = append(r.positive[:len(r.positive):len(r.positive)], positive...)
		return &ir.If{At: s.At, Cond: s.Cond, Then: then, Else: s.Else}, r, ok
	}
	return nil, region{}, false
}

// branches is statement for an if of which at least one branch accumulates into an element. A branch that does not
// stores a zero.
func (o *overwriter) branches(s *ir.If) (ir.Stmt, region, bool) {
	out := &ir.If{At: s.At, Cond: s.Cond, Then: s.Then, Else: s.Else}
	var found region
	bodies := [...]*ir.Block{&out.Then, &out.Else}
	for _, b := range bodies {
		first := slices.IndexFunc(*b, o.touches)
		if first < 0 {
			continue
		}
		if _, ok := (*b)[first].(*ir.Add); !ok {
			return nil, region{}, false
		}
		body, r, ok := o.body(*b, nil)
		if !ok || found.from != nil && !found.from.equals(r.from) {
			return nil, region{}, false
		}
		*b, found = body, r
	}
	if found.from == nil {
		return nil, region{}, false
	}
	for _, b := range bodies {
		if slices.ContainsFunc(*b, o.touches) {
			continue
		}
		if o.writes(s, found.from) { // the element has no name in the other branch
			return nil, region{}, false
		}
		element := &ir.Place{Root: o.memory, Path: []ir.Step{ir.IndexStep(o.expr(found.from))}}
		*b = append((*b)[:len(*b):len(*b)], &ir.Set{At: s.At, P: element, E: ir.Zero(element.Type())})
		found.partial = true
	}
	return out, found, true
}
