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
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// Program builds the tangents of functions that call each other.
type Program struct {
	activity *activity.Program
	funcs    map[key]*ir.Func
	fresh    []key // whose functions are being built
	lanes    *lanes
}

// key is all that the facts of a function depend on.
type key struct {
	f               *ir.Func
	params, results activity.Mask
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
	return &Program{activity: activity.New(), funcs: map[key]*ir.Func{}, lanes: newLanes(n)}
}

// Of builds the tangent of f with the parameters in m active. Its parameters are those of
// f and the shadows of the active ones, which Facts.Params of the second result names; its
// results are those of f and the shadows of those in Facts.Results. Parameters that are
// slices or pointers have shadows of the same lengths and capacities, which overlap as they
// do. With several lanes there is a parameter or a result for each lane of a float.
func (p *Program) Of(f *ir.Func, m activity.Mask) (*ir.Func, *activity.Facts, error) {
	if p.lanes.n < 1 {
		return nil, nil, &Error{Func: f.Name, What: fmt.Sprintf("in %d directions; one is the least", p.lanes.n)}
	}
	facts, err := p.activity.Of(f, m)
	if err != nil {
		return nil, nil, err
	}
	p.fresh = nil
	t, err := p.build(facts)
	if err != nil {
		for _, k := range p.fresh { // they may call what was not finished
			delete(p.funcs, k)
		}
		return nil, nil, err
	}
	return t, facts, nil
}

// Error says what has no tangent.
type Error struct {
	Func, What string
	Pos        token.Position // of the statement, if it is known
}

func (e *Error) Error() string { return fmt.Sprintf("no tangent of %s: %s", e.Func, e.What) }

// Position is Pos.
func (e *Error) Position() token.Position { return e.Pos }

// Refused is the function, what of it has no tangent, and the way round.
func (e *Error) Refused() (function, reason, remedy string) {
	return e.Func, "no tangent: " + e.What, "write a rule with //nabla:rule, or call another function"
}

func (p *Program) build(facts *activity.Facts) (_ *ir.Func, err error) {
	f := facts.Func
	k := key{f, facts.Params, facts.Results}
	if t := p.funcs[k]; t != nil {
		return t, nil
	}
	b := &builder{
		program: p, facts: facts, names: ir.NamerOf(f), addressed: addressedIn(f),
		shadow: map[*ir.Var]*ir.Var{}, lane: map[*ir.Var][]*ir.Var{}, reads: map[*ir.Var]bool{},
	}
	name := fmt.Sprintf("%s_tangent_%b", f.Name, facts.Params)
	if n := p.lanes.n; n > 1 {
		name = fmt.Sprintf("%s_tangent%d_%b", f.Name, n, facts.Params)
	}
	if facts.Wanted != 0 {
		name += fmt.Sprintf("_%b", facts.Wanted)
	}
	t := &ir.Func{
		Name: name, Recv: f.Recv, Exit: f.Exit, Pos: f.Pos,
		Params: append([]*ir.Var(nil), f.Params...), Results: append([]*ir.Var(nil), f.Results...),
	}
	p.funcs[k] = t // a recursive function calls it
	p.fresh = append(p.fresh, k)
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
		if list := s.Expand(); list != nil && b.anyActive(s.Results) {
			for _, s := range list {
				b.stmt(s)
			}
			return
		}
		b.call(s)
	case *ir.If:
		b.emit(&ir.If{At: s.At, Cond: s.Cond, Then: b.block(s.Then), Else: b.block(s.Else)})
	case *ir.Scope:
		b.emit(&ir.Scope{At: s.At, L: s.L, Body: b.block(s.Body)})
	case *ir.Loop:
		loop := *s
		loop.Body = b.block(s.Body)
		b.emit(&loop)
	default: // Leave, Panic
		b.emit(s)
	}
}

func (b *builder) anyActive(list []*ir.Var) bool {
	for _, v := range list {
		if v != nil && b.facts.Active(v) {
			return true
		}
	}
	return false
}

func (b *builder) refuse(format string, args ...any) {
	panic(&Error{Func: b.facts.Func.Name, What: fmt.Sprintf(format, args...), Pos: b.at.Pos})
}
