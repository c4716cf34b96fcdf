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

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/elementary"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lanes"
)

// Program builds the tangents of functions that call each other.
type Program struct {
	activity *activity.Program
	funcs    map[key]*ir.Func
	added    []key          // whose functions are being built
	lanes    *lanes.Program // for several directions at once
}

// key is all that the facts of a function depend on.
type key struct {
	f               *ir.Func
	params, results activity.Mask
}

// New returns an empty Program.
func New() *Program { return &Program{activity: activity.New(), funcs: map[key]*ir.Func{}} }

// NewLanes returns an empty Program for tangents in n directions at once, the lanes. What
// the lanes have in common is computed once, and each is the same as a tangent in one
// direction bit for bit; see package lanes for what stands for a shadow.
func NewLanes(n int) *Program {
	if n == 1 {
		return New()
	}
	return NewWith(lanes.New(lanes.NewTypes(n), nil))
}

// NewWith is [NewLanes] with lanes that others use too.
func NewWith(l *lanes.Program) *Program {
	// Rules are called once for each lane, which those of slices cannot be.
	follow := func(r *ir.Rule) *ir.Func {
		if isPerLane(r) {
			return nil
		}
		return r.Source
	}
	return &Program{activity: activity.NewFollowing(follow), funcs: map[key]*ir.Func{}, lanes: l}
}

// Of builds the tangent of f with the parameters in m active. Its parameters are those of
// f and the shadows of the active ones, which Facts.Params of the second result names; its
// results are those of f and the shadows of those in Facts.Results. Parameters that are
// slices or pointers have shadows of the same lengths and capacities, which overlap as they
// do. With several lanes there is a parameter or a result for each lane of a float.
func (p *Program) Build(f *ir.Func, active activity.Mask) (*ir.Func, *activity.Facts, error) {
	facts, err := p.activity.Analyze(f, active)
	if err != nil {
		return nil, nil, err
	}
	p.added = nil
	t, err := p.build(facts)
	if err != nil {
		for _, k := range p.added { // they may call what was not finished
			delete(p.funcs, k)
		}
		return nil, nil, err
	}
	if p.lanes == nil {
		return t, facts, nil
	}
	var params, results activity.Mask
	for i := len(f.Params); i < len(t.Params); i++ {
		params = params.With(i)
	}
	for i := len(f.Results); i < len(t.Results); i++ {
		results = results.With(i)
	}
	laneForm, err := p.lanes.Build(t, params, results)
	if e, ok := err.(*lanes.Error); ok {
		err = &Error{Func: f.Name, What: "in several directions: " + e.What, Pos: e.Pos}
	}
	return laneForm, facts, err
}

// Error says what has no tangent.
type Error struct {
	Func, What string
	Pos        token.Position // of the statement, if it is known
	Remedy     string         // the way round, if it is not that of all
}

func (e *Error) Error() string {
	s := fmt.Sprintf("no tangent of %s: %s", e.Func, e.What)
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Position is Pos.
func (e *Error) Position() token.Position { return e.Pos }

// Refused is the function, what of it has no tangent, and the way round.
func (e *Error) Refused() (function, reason, remedy string) {
	remedy = e.Remedy
	if remedy == "" {
		remedy = "write a rule with //nabla:rule, or call another function"
	}
	return e.Func, "no tangent: " + e.What, remedy
}

func (p *Program) build(facts *activity.Facts) (_ *ir.Func, err error) {
	f := facts.Func
	k := key{f, facts.Params, facts.Results}
	if t := p.funcs[k]; t != nil {
		return t, nil
	}
	b := &builder{
		program: p, facts: facts, names: ir.NamerOf(f), shadow: map[*ir.Var]*ir.Var{},
	}
	name := fmt.Sprintf("%s_tangent_%v", f.Name, facts.Params)
	if !facts.CallerActive.Empty() {
		name += fmt.Sprintf("_%v", facts.CallerActive)
	}
	t := &ir.Func{
		Name: name, Recv: f.Recv, Exit: f.Exit, Pos: f.Pos,
		Params: append([]*ir.Var(nil), f.Params...), Results: append([]*ir.Var(nil), f.Results...),
	}
	p.funcs[k] = t // a recursive function calls it
	p.added = append(p.added, k)
	for i, v := range f.Params {
		if facts.Params.Has(i) {
			t.Params = append(t.Params, b.shadowVar(v))
		}
	}
	for i, v := range f.Results {
		if facts.Results.Has(i) {
			t.Results = append(t.Results, b.shadowVar(v))
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
	return t, nil
}

type builder struct {
	ir.Writer
	program *Program
	facts   *activity.Facts
	names   *ir.Namer
	shadow  map[*ir.Var]*ir.Var
}

// of is the shadow of v.
func (b *builder) shadowVar(v *ir.Var) *ir.Var {
	s := b.shadow[v]
	if s == nil {
		s = &ir.Var{Name: b.names.Name(v.Name + "Dot"), Type: v.Type, Kind: v.Kind, Pos: v.Pos}
		b.shadow[v] = s
	}
	return s
}

// place is where the shadow of what stands at p is; p's root is active.
func (b *builder) shadowPlace(p *ir.Place) *ir.Place {
	return &ir.Place{Root: b.shadowVar(p.Root), Path: p.Path}
}

// carries reports whether the memory at p has a shadow.
func (b *builder) isActive(p *ir.Place) bool {
	return b.facts.Active(p.Root) && activity.HasFloats(p.Type())
}

func (b *builder) block(in ir.Block) ir.Block { return b.EachStmt(in, b.stmt) }

func (b *builder) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Let:
		b.let(s)
		return
	case *ir.Set:
		b.set(s)
		return
	case *ir.Add:
		if b.isActive(s.P) {
			val, dot := b.derivative(s.E)
			if elementary.IsSkip(s.E) { // what is left out is so of its derivative too
				dot = s.E
			}
			if dot != nil {
				b.Emit(&ir.Add{At: s.At, P: b.shadowPlace(s.P), E: dot})
			}
			s = &ir.Add{At: s.At, P: s.P, E: val}
		}
		b.Emit(s)
		return
	}
	switch s := s.(type) {
	case *ir.Append:
		b.appendStmt(s)
	case *ir.Copy:
		b.copyStmt(s)
	case *ir.Clear:
		if sh := b.sliceShadow(s.S); sh != nil {
			b.Emit(&ir.Clear{At: s.At, S: sh})
		}
		b.Emit(s)
	case *ir.Call:
		if list := s.Expand(b.names); list != nil && b.anyActive(s.Results) {
			for _, s := range list {
				b.stmt(s)
			}
			return
		}
		b.call(s)
	case *ir.If:
		b.Emit(&ir.If{At: s.At, Cond: s.Cond, Then: b.block(s.Then), Else: b.block(s.Else)})
	case *ir.Scope:
		b.Emit(&ir.Scope{At: s.At, L: s.L, Body: b.block(s.Body)})
	case *ir.Loop:
		loop := *s
		loop.Body = b.block(s.Body)
		b.Emit(&loop)
	default: // Leave, Panic
		b.Emit(s)
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
	panic(&Error{Func: b.facts.Func.Name, What: fmt.Sprintf(format, args...), Pos: b.At.Pos})
}
