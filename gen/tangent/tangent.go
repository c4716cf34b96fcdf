package tangent

import (
	"fmt"
	"go/token"
	"slices"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/elementary"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lanes"
)

// A Program builds tangents of functions that call one another and keeps those it has built. It must not be used by
// several goroutines at once.
type Program struct {
	activity *activity.Program
	funcs    map[key]*ir.Func // finished tangents, and those being built
	added    []key            // keys added by the current call of Build
	lanes    *lanes.Program   // for vector mode, otherwise nil
}

// A key identifies a tangent: it lists everything in the facts about f that the tangent depends on.
type key struct {
	f               *ir.Func
	params, results activity.Mask
}

// New returns an empty Program.
func New() *Program { return &Program{activity: activity.New(), funcs: map[key]*ir.Func{}} }

// NewLanes returns an empty Program for tangents in n directions, the lanes. Primal values are computed once, and the
// tangent in each direction is the same bit for bit as that of a Program for one direction. See package lanes for the
// types of shadows.
func NewLanes(n int) *Program {
	if n == 1 {
		return New()
	}
	return NewWith(lanes.New(lanes.NewTypes(n), nil))
}

// NewWith is [NewLanes] with a given program for the lanes, which may be shared.
func NewWith(l *lanes.Program) *Program {
	return &Program{activity: activity.NewFollowing(SourceInLanes), funcs: map[key]*ir.Func{}, lanes: l}
}

// SourceInLanes returns the function that is differentiated in place of a rule in vector mode, nil if the rule is
// applied. The tangent of a rule is called once per lane, which is impossible if it takes slices.
func SourceInLanes(r *ir.Rule) *ir.Func {
	if isPerLane(r) {
		return nil
	}
	return r.Source
}

// Build returns the tangent of f with the given parameters active, and the facts about f. The parameters of the tangent
// are those of f followed by the shadows of the active ones, listed in Facts.Params; its results are those of f
// followed by the shadows of those in Facts.Results. Shadows of slices and pointers must have the same lengths and
// capacities as the parameters and overlap in the same way. In vector mode, a float has one shadow per lane. The error
// is of type *[Error] or *[activity.Error].
//
//	func f(x []float64, a float64) (y float64) exit {
//	    y = x[0] * a
//	}
//
// becomes, with both parameters active,
//
//	func f_tangent_11(x []float64, a float64, xDot []float64, aDot float64) (y float64, yDot float64) exit {
//	    let t float64 = x[0]
//	    yDot = xDot[0] * a + t * aDot
//	    y = t * a
//	}
func (p *Program) Build(f *ir.Func, active activity.Mask) (*ir.Func, *activity.Facts, error) {
	facts, err := p.activity.Analyze(f, active)
	if err != nil {
		return nil, nil, err
	}
	p.added = nil
	t, err := p.build(facts)
	if err != nil {
		for _, k := range p.added { // they may call unfinished ones
			delete(p.funcs, k)
		}
		return nil, nil, err
	}
	if p.lanes == nil {
		return t, facts, nil
	}
	if s := capacityRead(f); s != nil {
		what := "it reads a capacity that append chooses by the size of the elements"
		return nil, nil, inSeveral(f, &lanes.Error{What: what, Pos: s.Position()})
	}
	var params, results activity.Mask
	for i := len(f.Params); i < len(t.Params); i++ {
		params = params.With(i)
	}
	for i := len(f.Results); i < len(t.Results); i++ {
		results = results.With(i)
	}
	// All shadows are divergent, all primal values uniform.
	laneForm, err := p.lanes.Build(t, params, results)
	if e, ok := err.(*lanes.Error); ok {
		err = inSeveral(f, e)
	}
	return laneForm, facts, err
}

// inSeveral returns e as the error of the tangent of f in vector mode.
func inSeveral(f *ir.Func, e *lanes.Error) error {
	_, _, remedy := e.Refused()
	return &Error{Func: f.Name, What: "in several directions: " + e.What, Pos: e.Pos, Remedy: remedy}
}

// An Error reports a construct that has no tangent.
type Error struct {
	Func, What string
	Pos        token.Position // of the statement, if it is known
	Remedy     string         // the workaround, or "" for the general one
}

// Error returns the function, the construct and the workaround.
func (e *Error) Error() string {
	s := fmt.Sprintf("no tangent of %s: %s", e.Func, e.What)
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Position returns Pos.
func (e *Error) Position() token.Position { return e.Pos }

// Refused returns the function, the construct that has no tangent, and the workaround.
func (e *Error) Refused() (function, reason, remedy string) {
	remedy = e.Remedy
	if remedy == "" {
		remedy = "write a rule with //nabla:rule, or call another function"
	}
	return e.Func, "no tangent: " + e.What, remedy
}

// build returns the tangent for facts, building it and those of its callees if needed.
func (p *Program) build(facts *activity.Facts) (_ *ir.Func, err error) {
	f := facts.Func
	k := key{f, facts.Params, facts.Results}
	if t := p.funcs[k]; t != nil {
		return t, nil
	}
	b := &builder{
		program: p, facts: facts, names: ir.NamerOf(f), shadow: map[*ir.Var]*ir.Var{},
		addressed: elementary.Addressed(f.Body),
	}
	name := fmt.Sprintf("%s_tangent_%v", f.Name, facts.Params)
	if !facts.CallerActive.Empty() {
		name += fmt.Sprintf("_%v", facts.CallerActive)
	}
	t := &ir.Func{
		Name: name, Recv: f.Recv, Exit: f.Exit, Pos: f.Pos,
		Params: append([]*ir.Var(nil), f.Params...), Results: append([]*ir.Var(nil), f.Results...),
	}
	p.funcs[k] = t // before the body, for recursive calls
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

// A builder writes the tangent of one function.
type builder struct {
	ir.Writer
	program *Program
	facts   *activity.Facts
	names   *ir.Namer
	shadow  map[*ir.Var]*ir.Var // active variable → its shadow

	addressed map[*ir.Var]bool // variables that pointers may write
}

// shadowVar returns the shadow of v, creating it at the first use.
func (b *builder) shadowVar(v *ir.Var) *ir.Var {
	s := b.shadow[v]
	if s == nil {
		s = &ir.Var{Name: b.names.Name(v.Name + "Dot"), Type: v.Type, Kind: v.Kind, Pos: v.Pos}
		b.shadow[v] = s
	}
	return s
}

// shadowPlace returns the shadow of p, whose root must be active.
func (b *builder) shadowPlace(p *ir.Place) *ir.Place {
	return &ir.Place{Root: b.shadowVar(p.Root), Path: p.Path}
}

// isActive reports whether the contents of p have a shadow.
func (b *builder) isActive(p *ir.Place) bool {
	return b.facts.Active(p.Root) && activity.HasFloats(p.Type())
}

// block returns the tangent of a nested block.
func (b *builder) block(in ir.Block) (out ir.Block) {
	in = elementary.JoinPartners(in, b.addressed)
	for len(in) > 0 {
		n := 1
		if len(in) > 1 && elementary.Partners(in[0], in[1]) != nil {
			n = 2
		}
		list := b.EachStmt(in[:n], b.stmt)
		if n == 2 {
			list = usePartners(list)
		}
		out = append(out, list...)
		in = in[n:]
	}
	return out
}

// usePartners returns list, the tangents of two declarations of partners, in another order: the values come first and
// take the place of calls of their functions.
func usePartners(list ir.Block) ir.Block {
	for i, s := range list {
		for j := i + 1; j < len(list); j++ {
			if m := elementary.Partners(s, list[j]); m != nil {
				rest := slices.Concat(list[:i], list[i+1:j], list[j+1:])
				return append(ir.Block{s, list[j]}, m.Block(rest)...)
			}
		}
	}
	return list
}

// stmt writes the tangent of s: the operation on the shadows and then s itself.
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
			if elementary.IsSkip(s.E) { // a skipped term is skipped in the second derivative, too
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
		// A function of package math with two results is replaced by functions with one, which have derivatives.
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

// anyActive reports whether a variable in list is active; nil ones are not.
func (b *builder) anyActive(list []*ir.Var) bool {
	for _, v := range list {
		if v != nil && b.facts.Active(v) {
			return true
		}
	}
	return false
}

// refuse panics with an Error, which build returns.
func (b *builder) refuse(format string, args ...any) {
	panic(&Error{Func: b.facts.Func.Name, What: fmt.Sprintf(format, args...), Pos: b.At.Pos})
}
