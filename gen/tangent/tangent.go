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
}

// New returns an empty Program.
func New() *Program {
	return &Program{activity: activity.New(), funcs: map[*activity.Facts]*ir.Func{}}
}

// Of builds the tangent of f with the parameters in m active. Its parameters are those of
// f and the shadows of the active ones, which Facts.Params of the second result names; its
// results are those of f and the shadows of those in Facts.Results. Parameters that are
// slices or pointers have shadows of the same lengths and capacities, which overlap as they
// do.
func (p *Program) Of(f *ir.Func, m activity.Mask) (*ir.Func, *activity.Facts, error) {
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
	b := &builder{program: p, facts: facts, shadow: map[*ir.Var]*ir.Var{}, names: ir.NamerOf(f)}
	t := &ir.Func{
		Name: fmt.Sprintf("%s_tangent_%b", f.Name, facts.Params), Recv: f.Recv, Exit: f.Exit, Pos: f.Pos,
		Params: append([]*ir.Var(nil), f.Params...), Results: append([]*ir.Var(nil), f.Results...),
	}
	p.funcs[facts] = t // a recursive function calls it
	for i, v := range f.Params {
		if facts.Params.Has(i) {
			t.Params = append(t.Params, b.of(v))
		}
	}
	for i, v := range f.Results {
		if facts.Results.Has(i) {
			t.Results = append(t.Results, b.of(v))
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
	t.Body = b.block(f.Body)
	if b.err != nil {
		return nil, b.err
	}
	return t, nil
}

type builder struct {
	program *Program
	facts   *activity.Facts
	shadow  map[*ir.Var]*ir.Var
	names   *ir.Namer
	out     ir.Block
	at      ir.At
	err     error
}

// of is the shadow of v.
func (b *builder) of(v *ir.Var) *ir.Var {
	s := b.shadow[v]
	if s == nil {
		s = &ir.Var{Name: b.names.Name(v.Name + "Dot"), Type: v.Type, Kind: v.Kind, Pos: v.Pos}
		b.shadow[v] = s
	}
	return s
}

// place is where the shadow of what stands at p is; p's root is active.
func (b *builder) place(p *ir.Place) *ir.Place {
	return &ir.Place{Root: b.of(p.Root), Path: p.Path}
}

// carries reports whether the memory at p has a shadow.
func (b *builder) carries(p *ir.Place) bool {
	return b.facts.Active(p.Root) && activity.HasFloats(p.Type())
}

func (b *builder) emit(s ir.Stmt) { b.out = append(b.out, s) }

func (b *builder) block(in ir.Block) ir.Block {
	outer := b.out
	b.out = nil
	for _, s := range in {
		b.at = ir.At{Pos: s.Position()}
		b.stmt(s)
	}
	block := b.out
	b.out = outer
	return block
}

func (b *builder) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Let:
		b.emitValue(s.E, func(e ir.Expr) { b.emit(&ir.Let{At: s.At, V: s.V, E: e}) }, func(dot ir.Expr) {
			b.emit(&ir.Let{At: s.At, V: b.of(s.V), E: dot})
		}, b.facts.Active(s.V), s.V.Type)
	case *ir.Set:
		b.emitValue(s.E, func(e ir.Expr) { b.emit(&ir.Set{At: s.At, P: s.P, E: e}) }, func(dot ir.Expr) {
			b.emit(&ir.Set{At: s.At, P: b.place(s.P), E: dot})
		}, b.carries(s.P), s.P.Type())
	case *ir.Add:
		if b.carries(s.P) {
			val, dot := b.linear(s.E)
			if dot != nil {
				b.emit(&ir.Add{At: s.At, P: b.place(s.P), E: dot})
			}
			b.emit(&ir.Add{At: s.At, P: s.P, E: val})
			return
		}
		b.emit(s)
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

func (b *builder) refuse(format string, args ...any) {
	panic(&Error{Func: b.facts.Func.Name, What: fmt.Sprintf(format, args...)})
}

// emitValue writes an assignment of e, of type t, and before it, if it is active, that of
// the shadow.
func (b *builder) emitValue(e ir.Expr, primal, tangent func(ir.Expr), active bool, t types.Type) {
	switch {
	case !active:
		primal(e)
	case e == nil:
		tangent(nil)
		primal(nil)
	case activity.IsFloat(t):
		val, dot := b.linear(e)
		if dot == nil {
			dot = zero(t)
		}
		// The value is computed once where its own derivative reads it.
		tangent(dot)
		primal(val)
	default:
		tangent(b.shadowOf(e))
		primal(e)
	}
}

// zero is the zero value of a type.
func zero(t types.Type) ir.Expr { return &ir.Const{Typed: ir.Typed{T: t}} }

// shadowOf is the expression that gives the shadow of a value that is no number.
func (b *builder) shadowOf(e ir.Expr) ir.Expr {
	switch e := e.(type) {
	case *ir.Const:
		return zero(e.T)
	case *ir.Load:
		if !b.facts.Active(e.P.Root) {
			return zero(e.T)
		}
		return &ir.Load{Typed: e.Typed, P: b.place(e.P)}
	case *ir.Convert:
		return &ir.Convert{Typed: e.Typed, X: b.shadowOf(e.X)}
	case *ir.Slice:
		return &ir.Slice{Typed: e.Typed, X: b.shadowOf(e.X), Lo: e.Lo, Hi: e.Hi, Max: e.Max}
	case *ir.SliceAt:
		if !b.facts.Active(e.P.Root) {
			return zero(e.T)
		}
		return &ir.SliceAt{Typed: e.Typed, P: b.place(e.P), Lo: e.Lo, Hi: e.Hi, Max: e.Max}
	case *ir.Addr:
		if !b.facts.Active(e.P.Root) {
			return zero(e.T)
		}
		return &ir.Addr{Typed: e.Typed, P: b.place(e.P)}
	case *ir.Make, *ir.New:
		return e // of the same length and capacity
	case *ir.Literal:
		s := &ir.Literal{Typed: e.Typed, Len: e.Len}
		for i, x := range e.Elems {
			if dot := b.part(x); dot != nil {
				s.Keys, s.Elems = append(s.Keys, e.Keys[i]), append(s.Elems, dot)
			}
		}
		if _, slice := e.T.Underlying().(*types.Slice); slice && s.Len == 0 {
			for _, k := range e.Keys {
				s.Len = max(s.Len, k+1)
			}
		}
		return s
	}
	b.refuse("the shadow of a %T", e)
	return nil
}

// part is the shadow of an element of a literal or an argument, nil for zero.
func (b *builder) part(e ir.Expr) ir.Expr {
	t := e.Type()
	switch {
	case !activity.HasFloats(t):
		return nil
	case activity.IsFloat(t):
		_, dot := b.linear(e)
		return dot
	}
	return b.shadowOf(e)
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
				v := &ir.Var{Name: b.names.Name("zeros"), Type: e.Type()}
				b.emit(&ir.Let{At: s.At, V: v, E: &ir.Make{Typed: ir.Typed{T: e.Type()}, N: length(e)}})
				sh = v.Load()
			}
			d.Elems = append(d.Elems, sh)
			t.Elems = append(t.Elems, e)
		case activity.IsFloat(e.Type()):
			val, dot := b.linear(e)
			if dot == nil {
				dot = zero(e.Type())
			}
			d.Elems = append(d.Elems, dot)
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
	if callee.Params == 0 && callee.Results == 0 {
		b.emit(s)
		for _, r := range s.Results {
			if r != nil && b.facts.Active(r) {
				b.emit(&ir.Set{At: s.At, P: b.of(r).Place(), E: zero(r.Type)})
			}
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
			if dot == nil {
				dot = zero(a.Type())
			}
			c.Args = append(c.Args, dot)
			continue
		}
		c.Args = append(c.Args, b.shadowOf(a))
	}
	c.Results = append(c.Results, s.Results...)
	for i := range callee.Func.Results {
		if !callee.Results.Has(i) {
			continue
		}
		var sh *ir.Var
		if r := resultOf(s, i); r != nil && b.facts.Active(r) {
			sh = b.of(r)
		}
		c.Results = append(c.Results, sh)
	}
	for len(c.Results) < len(t.Results) { // a call whose results are all dropped
		c.Results = append(c.Results, nil)
	}
	b.emit(c)
	for i, r := range s.Results {
		if r != nil && b.facts.Active(r) && !callee.Results.Has(i) {
			b.emit(&ir.Set{At: s.At, P: b.of(r).Place(), E: zero(r.Type)})
		}
	}
}

func resultOf(s *ir.Call, i int) *ir.Var {
	if i < len(s.Results) {
		return s.Results[i]
	}
	return nil
}
