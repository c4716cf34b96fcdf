// Package tangent builds, from a function in the form of package ir, the one that
// computes its derivative in a direction too.
//
// Every variable that carries a derivative gets a shadow of its own type. Where the
// function reads, slices, copies, appends, stores or passes on a variable, the tangent
// does the same with its shadow, so that two slices overlap just where their shadows do,
// and no alias has to be known. A shadow is changed before its variable is: derivatives
// are those of the old values.
package tangent

import (
	"fmt"
	"go/types"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// Program builds the tangents of functions that call each other.
type Program struct {
	activity *activity.Program
	funcs    map[*activity.Facts]*ir.Func
	lanes    *lanes
}

// New returns an empty Program.
func New() *Program { return NewLanes(1) }

// NewLanes returns an empty Program for tangents in n directions at once, the lanes.
// Where the shadow of a T is a T for one, n variables are the shadow of a float for more,
// [][n]float64 is that of a []float64, and a struct has a twin, a type without a package
// that holds the shadows of those of its fields that hold floats, under their names.
//
// A derivative is the sum of the shadows times factors that all lanes share. They are
// computed once, so the lanes agree with tangents for one direction up to rounding.
func NewLanes(n int) *Program {
	return &Program{activity: activity.New(), funcs: map[*activity.Facts]*ir.Func{}, lanes: newLanes(n)}
}

// Of builds the tangent of f with the parameters in m active. Its parameters are those of
// f and the shadows of the active ones, which Facts.Params of the second result names; its
// results are those of f and the shadows of those in Facts.Results. Parameters that are
// slices or pointers have shadows of the same lengths and capacities, which overlap as they
// do. With several lanes there is a parameter or a result for each lane of a float.
func (p *Program) Of(f *ir.Func, m activity.Mask) (*ir.Func, *activity.Facts, error) {
	if p.lanes.n < 1 {
		return nil, nil, &Error{f.Name, fmt.Sprintf("in %d directions; one is the least", p.lanes.n)}
	}
	facts, err := p.activity.Of(f, m)
	if err != nil {
		return nil, nil, err
	}
	t, err := p.build(facts)
	if err != nil {
		return nil, nil, err
	}
	return t, facts, nil
}

// Error says what has no tangent.
type Error struct {
	Func, What string
}

func (e *Error) Error() string { return fmt.Sprintf("no tangent of %s: %s", e.Func, e.What) }

func (p *Program) build(facts *activity.Facts) (_ *ir.Func, err error) {
	if t := p.funcs[facts]; t != nil {
		return t, nil
	}
	f := facts.Func
	b := &builder{
		program: p, facts: facts, names: ir.NamerOf(f), addressed: addressedIn(f),
		shadow: map[*ir.Var]*ir.Var{}, lane: map[*ir.Var][]*ir.Var{}, reads: map[*ir.Var]bool{},
	}
	name := fmt.Sprintf("%s_tangent_%b", f.Name, facts.Params)
	if n := p.lanes.n; n > 1 {
		name = fmt.Sprintf("%s_tangent%d_%b", f.Name, n, facts.Params)
	}
	t := &ir.Func{
		Name: name, Recv: f.Recv, Exit: f.Exit, Pos: f.Pos,
		Params: append([]*ir.Var(nil), f.Params...), Results: append([]*ir.Var(nil), f.Results...),
	}
	p.funcs[facts] = t // a recursive function calls it
	for i, v := range f.Params {
		if facts.Params.Has(i) {
			t.Params = append(t.Params, b.shadows(v)...)
		}
	}
	for i, v := range f.Results {
		if facts.Results.Has(i) {
			t.Results = append(t.Results, b.shadows(v)...)
		}
	}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	t.Body = b.body(f.Body)
	return t, nil
}

// body is that of the tangent. Shadows of numbers whose address is taken come from the
// parameters and go to the results.
func (b *builder) body(body ir.Block) ir.Block {
	f := b.facts.Func
	var before, after ir.Block
	array := func(list []*ir.Var, active activity.Mask, block *ir.Block, load bool) {
		for i, v := range list {
			if b.width() == 1 || !active.Has(i) || !activity.IsFloat(v.Type) || !b.addressed[v] {
				continue
			}
			before = append(before, &ir.Let{V: b.of(v), E: zero(b.of(v).Type)})
			*block = append(*block, b.numbers(v, load)...)
		}
	}
	array(f.Params, b.facts.Params, &before, true)
	array(f.Results, b.facts.Results, &after, false)
	out := b.block(body)
	if len(after) > 0 {
		end := &ir.Label{Name: b.names.Name("end")}
		m := &ir.Map{Label: func(l *ir.Label) *ir.Label {
			if l == f.Exit {
				return end
			}
			return l
		}}
		out = append(ir.Block{&ir.Scope{L: end, Body: m.Block(out)}}, after...)
	}
	return append(before, out...)
}

type builder struct {
	program   *Program
	facts     *activity.Facts
	names     *ir.Namer
	addressed map[*ir.Var]bool
	shadow    map[*ir.Var]*ir.Var
	lane      map[*ir.Var][]*ir.Var // shadows of numbers, if there are several lanes
	out       ir.Block
	at        ir.At

	pending []lanesOp
	reads   map[*ir.Var]bool // by what is pending
	rows    []row
}

// of is the shadow of v as one variable.
func (b *builder) of(v *ir.Var) *ir.Var {
	s := b.shadow[v]
	if s == nil {
		s = &ir.Var{Name: b.names.Name(v.Name + "Dot"), Type: b.program.lanes.of(v.Type), Kind: v.Kind, Pos: v.Pos}
		if b.width() > 1 && activity.IsFloat(v.Type) {
			s.Kind = ir.Local // the signature has its lanes
		}
		b.shadow[v] = s
	}
	return s
}

// place is where the shadow of what stands at p is; p's root is active.
func (b *builder) place(p *ir.Place) *ir.Place {
	return &ir.Place{Root: b.of(p.Root), Path: b.program.lanes.path(p.Root.Type, p.Path)}
}

// typed is the type of the shadow of a T.
func (b *builder) typed(t types.Type) ir.Typed { return ir.Typed{T: b.program.lanes.of(t)} }

// carries reports whether the memory at p has a shadow.
func (b *builder) carries(p *ir.Place) bool {
	return b.facts.Active(p.Root) && activity.HasFloats(p.Type())
}

func (b *builder) emit(s ir.Stmt) { b.out = append(b.out, s) }

func (b *builder) block(in ir.Block) ir.Block {
	b.flush()
	outer := b.out
	b.out = nil
	for _, s := range in {
		b.at = ir.At{Pos: s.Position()}
		b.stmt(s)
	}
	b.flush()
	block := b.out
	b.out = outer
	return block
}

func (b *builder) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Let:
		b.let(s)
		return
	case *ir.Set:
		b.set(s)
		return
	case *ir.Add:
		if b.carries(s.P) {
			val, dot := b.linear(s.E)
			if dot != nil {
				b.add(s.At, s.P, dot)
			}
			s = &ir.Add{At: s.At, P: s.P, E: val}
		}
		b.assigned(s.P)
		b.emit(s)
		return
	}
	b.flush()
	switch s := s.(type) {
	case *ir.Append:
		b.appended(s)
	case *ir.Copy:
		b.copied(s)
	case *ir.Clear:
		if sh := b.memory(s.S); sh != nil {
			b.emit(&ir.Clear{At: s.At, S: sh})
		}
		b.emit(s)
	case *ir.Call:
		b.call(s)
	case *ir.If:
		b.emit(&ir.If{At: s.At, Cond: s.Cond, Then: b.block(s.Then), Else: b.block(s.Else)})
	case *ir.Scope:
		b.emit(&ir.Scope{At: s.At, L: s.L, Body: b.block(s.Body)})
	case *ir.Loop:
		loop := *s
		loop.Body = b.block(s.Body)
		b.emit(&loop)
	case *ir.Keep, *ir.Restore:
		b.refuse("a statement of a reverse sweep")
	default: // Leave, Panic
		b.emit(s)
	}
}

// let declares the shadow of a variable before the variable.
func (b *builder) let(s *ir.Let) {
	switch {
	case !b.facts.Active(s.V):
		b.emit(s)
	case activity.IsFloat(s.V.Type):
		// The value is computed once where its own derivative reads it.
		var val, dot ir.Expr
		if s.E != nil {
			val, dot = b.linear(s.E)
		}
		if s.E == nil && b.width() == 1 {
			b.emit(&ir.Let{At: s.At, V: b.of(s.V)})
		} else {
			b.declare(s.At, s.V, dot)
		}
		b.emit(&ir.Let{At: s.At, V: s.V, E: val})
	default:
		b.flush()
		val, dot := s.E, ir.Expr(nil)
		if s.E != nil {
			if l, ok := s.E.(*ir.Literal); ok && b.width() > 1 && fixed(l.T) {
				b.emit(&ir.Let{At: s.At, V: b.of(s.V)})
				b.emit(&ir.Let{At: s.At, V: s.V, E: b.filled(s.At, s.V.Place(), l)})
				return
			}
			val, dot = b.pair(s.E)
		}
		b.emit(&ir.Let{At: s.At, V: b.of(s.V), E: dot})
		b.emit(&ir.Let{At: s.At, V: s.V, E: val})
	}
}

// set assigns to the shadow of a place before it assigns to the place.
func (b *builder) set(s *ir.Set) {
	switch {
	case !b.carries(s.P):
		b.assigned(s.P)
		b.emit(s)
	case activity.IsFloat(s.P.Type()):
		val, dot := b.linear(s.E)
		b.store(s.At, s.P, dot)
		b.assigned(s.P)
		b.emit(&ir.Set{At: s.At, P: s.P, E: val})
	default:
		b.flush()
		if l, ok := s.E.(*ir.Literal); ok && b.width() > 1 && fixed(l.T) && !s.P.Behind() && !reads(l, s.P.Root) {
			if len(l.Keys) < size(l.T) {
				b.emit(&ir.Set{At: s.At, P: b.place(s.P), E: zero(b.typed(l.T).T)})
			}
			val := b.filled(s.At, s.P, l)
			b.flush()
			b.emit(&ir.Set{At: s.At, P: s.P, E: val})
			return
		}
		val, dot := b.pair(s.E)
		b.emit(&ir.Set{At: s.At, P: b.place(s.P), E: dot})
		b.emit(&ir.Set{At: s.At, P: s.P, E: val})
	}
}

// fixed reports whether a literal of type t is no slice.
func fixed(t types.Type) bool {
	_, slice := t.Underlying().(*types.Slice)
	return !slice
}

// size is how many parts a struct or an array has.
func size(t types.Type) int {
	switch t := t.Underlying().(type) {
	case *types.Struct:
		return t.NumFields()
	case *types.Array:
		return int(t.Len())
	}
	return 0
}

// reads reports whether e reads a part of v.
func reads(e ir.Expr, v *ir.Var) (found bool) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		if p := ir.PlaceOf(e); p != nil && p.Root == v {
			found = true
		}
		return !found
	})
	return found
}

// filled assigns to the parts of the shadow at p those of a literal, whose values it
// gives.
func (b *builder) filled(at ir.At, p *ir.Place, l *ir.Literal) *ir.Literal {
	out := &ir.Literal{Typed: l.Typed, Keys: l.Keys, Elems: append([]ir.Expr(nil), l.Elems...), Len: l.Len}
	_, st := l.T.Underlying().(*types.Struct)
	for i, x := range l.Elems {
		if !activity.HasFloats(x.Type()) {
			continue
		}
		step := ir.FieldStep(l.Keys[i])
		if !st {
			step = ir.IndexStep(lane(l.Keys[i]))
		}
		part := &ir.Place{Root: p.Root, Path: append(p.Path[:len(p.Path):len(p.Path)], step)}
		if activity.IsFloat(x.Type()) {
			val, dot := b.linear(x)
			out.Elems[i] = val
			b.store(at, part, dot)
			continue
		}
		b.flush()
		b.emit(&ir.Set{At: at, P: b.place(part), E: b.shadowOf(x)})
	}
	return out
}

func (b *builder) refuse(format string, args ...any) {
	panic(&Error{Func: b.facts.Func.Name, What: fmt.Sprintf(format, args...)})
}

// zero is the zero value of a type.
func zero(t types.Type) ir.Expr { return &ir.Const{Typed: ir.Typed{T: t}} }

// shadowOf is the expression that gives the shadow of a value that is no number.
func (b *builder) shadowOf(e ir.Expr) ir.Expr {
	_, dot := b.pair(e)
	return dot
}

// pair is a value that is no number, with what its derivative reads computed once, and
// the expression that gives its shadow.
func (b *builder) pair(e ir.Expr) (val, dot ir.Expr) {
	typed := b.typed(e.Type())
	switch e := e.(type) {
	case *ir.Const:
		return e, zero(typed.T)
	case *ir.Load:
		if !b.facts.Active(e.P.Root) {
			return e, zero(typed.T)
		}
		return e, &ir.Load{Typed: typed, P: b.place(e.P)}
	case *ir.Convert:
		return e, &ir.Convert{Typed: typed, X: b.shadowOf(e.X)}
	case *ir.Slice:
		return e, &ir.Slice{Typed: typed, X: b.shadowOf(e.X), Lo: e.Lo, Hi: e.Hi, Max: e.Max}
	case *ir.SliceAt:
		if !b.facts.Active(e.P.Root) {
			return e, zero(typed.T)
		}
		return e, &ir.SliceAt{Typed: typed, P: b.place(e.P), Lo: e.Lo, Hi: e.Hi, Max: e.Max}
	case *ir.Addr:
		if !b.facts.Active(e.P.Root) {
			return e, zero(typed.T)
		}
		return e, &ir.Addr{Typed: typed, P: b.place(e.P)}
	case *ir.Make: // of the same length and capacity
		return e, &ir.Make{Typed: typed, N: e.N, Cap: e.Cap}
	case *ir.New:
		return e, &ir.New{Typed: typed}
	case *ir.Literal:
		return b.literal(e)
	}
	b.refuse("the shadow of a %T", e)
	return nil, nil
}

// literal is a composite literal and its shadow.
func (b *builder) literal(e *ir.Literal) (val, dot *ir.Literal) {
	val = &ir.Literal{Typed: e.Typed, Keys: e.Keys, Elems: append([]ir.Expr(nil), e.Elems...), Len: e.Len}
	dot = &ir.Literal{Typed: b.typed(e.T), Len: e.Len}
	st, _ := e.T.Underlying().(*types.Struct)
	for i, x := range e.Elems {
		var part ir.Expr
		switch t := x.Type(); {
		case !activity.HasFloats(t):
		case activity.IsFloat(t):
			var d ir.Expr
			if val.Elems[i], d = b.linear(x); d != nil {
				part = b.whole(d, t)
			}
		default:
			part = b.shadowOf(x)
		}
		if part == nil {
			continue
		}
		k := e.Keys[i]
		if st != nil {
			k = b.program.lanes.field(st, k)
		}
		dot.Keys, dot.Elems = append(dot.Keys, k), append(dot.Elems, part)
	}
	if !fixed(e.T) && dot.Len == 0 {
		for _, k := range e.Keys {
			dot.Len = max(dot.Len, k+1)
		}
	}
	return val, dot
}

// memory is the shadow of a slice, nil if it has none.
func (b *builder) memory(s ir.Expr) ir.Expr {
	active := false
	ir.WalkExpr(s, func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Load:
			active = active || activity.HasRefs(e.T) && b.facts.Active(e.P.Root)
		case *ir.SliceAt:
			active = active || b.facts.Active(e.P.Root)
		}
		return !active
	})
	if !active || !activity.HasFloats(s.Type()) {
		return nil
	}
	return b.shadowOf(s)
}

// appended appends to the shadow as to the slice: both grow alike.
func (b *builder) appended(s *ir.Append) {
	if !b.carries(s.P) {
		b.emit(s)
		return
	}
	d := &ir.Append{At: s.At, P: b.place(s.P), S: b.shadowOf(s.S), Spread: s.Spread}
	t := *s
	t.Elems = nil
	for _, e := range s.Elems {
		switch {
		case s.Spread:
			sh := b.memory(e)
			if sh == nil { // as many zeros
				typed := b.typed(e.Type())
				v := &ir.Var{Name: b.names.Name("zeros"), Type: typed.T}
				b.emit(&ir.Let{At: s.At, V: v, E: &ir.Make{Typed: typed, N: length(e)}})
				sh = v.Load()
			}
			d.Elems = append(d.Elems, sh)
			t.Elems = append(t.Elems, e)
		case activity.IsFloat(e.Type()):
			val, dot := b.linear(e)
			d.Elems = append(d.Elems, b.whole(dot, e.Type()))
			t.Elems = append(t.Elems, val)
		default:
			d.Elems = append(d.Elems, b.shadowOf(e))
			t.Elems = append(t.Elems, e)
		}
	}
	b.emit(d)
	b.emit(&t)
}

func length(s ir.Expr) ir.Expr {
	return &ir.Len{Typed: ir.Typed{T: types.Typ[types.Int]}, X: s}
}

// copied copies the shadow as the slice; elements without a derivative bring zeros.
func (b *builder) copied(s *ir.Copy) {
	if dst := b.memory(s.Dst); dst != nil {
		if src := b.memory(s.Src); src != nil {
			b.emit(&ir.Copy{At: s.At, Dst: dst, Src: src})
		} else {
			n := &ir.Math{Typed: ir.Typed{T: types.Typ[types.Int]}, Name: "min", Args: []ir.Expr{length(s.Dst), length(s.Src)}}
			b.emit(&ir.Clear{At: s.At, S: &ir.Slice{Typed: ir.Typed{T: dst.Type()}, X: dst, Hi: n}})
		}
	}
	b.emit(s)
}

// call calls the tangent of a function some of whose arguments carry derivatives.
func (b *builder) call(s *ir.Call) {
	callee := b.facts.Callee(s)
	if callee == nil {
		for _, r := range s.Results {
			if r != nil && b.facts.Active(r) {
				b.refuse("function %s, of which only a rule is known", s.Callee.Rule.Name)
			}
		}
		b.emit(s)
		return
	}
	if callee.Params == 0 {
		b.emit(s)
		for _, r := range s.Results {
			b.still(s.At, r)
		}
		return
	}
	t, err := b.program.build(callee)
	if err != nil {
		if e, ok := err.(*Error); ok {
			panic(e)
		}
		b.refuse("%v", err)
	}
	c := &ir.Call{At: s.At, Callee: &ir.Callee{Func: t}}
	c.Args = append(c.Args, s.Args...)
	for i, a := range s.Args {
		if !callee.Params.Has(i) {
			continue
		}
		if activity.IsFloat(a.Type()) {
			val, dot := b.linear(a)
			c.Args[i] = val
			c.Args = append(c.Args, b.spread(dot, a.Type())...)
			continue
		}
		c.Args = append(c.Args, b.shadowOf(a))
	}
	c.Results = append(c.Results, s.Results...)
	var after ir.Block
	for i := range callee.Func.Results {
		if !callee.Results.Has(i) {
			continue
		}
		r := resultOf(s, i)
		switch v := callee.Func.Results[i]; {
		case r != nil && b.facts.Active(r) && b.width() > 1 && activity.IsFloat(r.Type) && !b.scalar(r):
			for k := range b.width() { // the lanes are in an array
				t := &ir.Var{Name: b.names.Name("t"), Type: r.Type}
				b.emit(&ir.Let{At: s.At, V: t})
				c.Results = append(c.Results, t)
				after = append(after, &ir.Set{At: s.At, P: (&leaf{place: b.of(r).Place()}).at(k), E: t.Load()})
			}
		case r != nil && b.facts.Active(r):
			c.Results = append(c.Results, b.shadows(r)...)
		case b.width() > 1 && activity.IsFloat(v.Type):
			c.Results = append(c.Results, make([]*ir.Var, b.width())...)
		default:
			c.Results = append(c.Results, nil)
		}
	}
	for len(c.Results) < len(t.Results) { // a call whose results are all dropped
		c.Results = append(c.Results, nil)
	}
	b.emit(c)
	b.out = append(b.out, after...)
	for i, r := range s.Results {
		if !callee.Results.Has(i) {
			b.still(s.At, r)
		}
	}
}

// still says that v, the result of a call that may be dropped, does not move.
func (b *builder) still(at ir.At, v *ir.Var) {
	switch {
	case v == nil || !b.facts.Active(v):
	case activity.IsFloat(v.Type):
		b.store(at, v.Place(), nil)
	default:
		b.emit(&ir.Set{At: at, P: b.of(v).Place(), E: zero(b.of(v).Type)})
	}
}

func resultOf(s *ir.Call, i int) *ir.Var {
	if i < len(s.Results) {
		return s.Results[i]
	}
	return nil
}
