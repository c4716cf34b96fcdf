package traced

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// A Program builds traced forms of functions that call one another and keeps those it has built. It must not be used by
// several goroutines at once.
type Program struct {
	activity *activity.Program
	funcs    map[*activity.Facts]*ir.Func // finished forms, and those being built
	added    []*activity.Facts            // keys added by the current call of Build
	types    *realTypes                   // counterparts of types over Reals
	// operations holds the functions that perform those with a rule as one operation, newOperations the rules of those
	// added by the current call of Build.
	operations    map[*ir.Rule]*ir.Func
	newOperations []*ir.Rule
}

// New returns an empty Program. Types that traced forms need are created in pkg, the package that they are printed in.
func New(pkg *types.Package) *Program {
	return &Program{activity: activity.NewOverReals(tracedSource), funcs: map[*activity.Facts]*ir.Func{},
		types: &realTypes{pkg: pkg}}
}

// tracedSource returns the function that is traced for a function with rule r: its plain form or its source. It returns
// nil if there is a counterpart over Reals, which is called.
func tracedSource(r *ir.Rule) *ir.Func {
	switch {
	case r.Real != nil:
		return nil
	case r.Plain != nil:
		return r.Plain
	}
	return r.Source
}

// Build returns the traced form of f with the given parameters active, and the facts about f. It has the parameters and
// results of f; those in Facts.Params and Facts.Results are over Reals. Callees are replaced by their traced forms if
// these differ. The error is of type *[Error] or *[activity.Error].
//
//	func f(x []float64, n int) (y float64) exit {
//	    let c float64 = float64(n)
//	    y = x[0] * c
//	}
//
// becomes, with x active,
//
//	func f_traced_1(x []nabla.Real, n int) (y nabla.Real) exit {
//	    let c float64 = float64(n)
//	    y = x[0] * nabla.Real(c)
//	}
//
// where the conversion makes a constant of the trace.
//
// Values behind interfaces carry no derivatives: parameters with no other numbers are not active.
func (p *Program) Build(f *ir.Func, active activity.Mask) (*ir.Func, *activity.Facts, error) {
	boxed := f
	if f.Unboxed != nil {
		f = f.Unboxed
	}
	given := active
	active = activity.Mask{}
	for i, v := range f.Params {
		if given.Has(i) && activity.HasPlainFloats(v.Type) {
			active = active.With(i)
		}
	}
	facts, err := p.activity.Analyze(f, active)
	if err != nil {
		return nil, nil, err
	}
	p.added, p.newOperations = nil, nil
	t, err := p.build(facts)
	if err != nil {
		p.forget(0)
		for _, r := range p.newOperations {
			delete(p.operations, r)
		}
		return nil, nil, err
	}
	if t == f {
		t = boxed
	}
	return t, facts, nil
}

// An Error reports a construct that has no traced form.
type Error struct {
	Func   string
	Pos    token.Position
	What   string // the construct
	Reason string
	Remedy string // the workaround
}

// Error returns position, function, construct, reason and workaround.
func (e *Error) Error() string {
	s := fmt.Sprintf("no traced form of %s: %s: %s", e.Func, e.What, e.Reason)
	if e.Pos.IsValid() {
		s = e.Pos.String() + ": " + s
	}
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// build returns the traced form for facts, building it if needed. That of a passive function is the function itself.
func (p *Program) build(facts *activity.Facts) (_ *ir.Func, err error) {
	if t := p.funcs[facts]; t != nil {
		return t, nil
	}
	if facts.Passive() {
		return facts.Func, nil
	}
	f := facts.Func
	b := &builder{program: p, facts: facts, vars: map[*ir.Var]*ir.Var{}, names: ir.NamerOf(f),
		Writer: ir.Writer{At: ir.At{Pos: f.Pos}}}
	t := &ir.Func{
		Name: fmt.Sprintf("%s_traced_%v", f.Name, facts.Params), Object: f.Object, Recv: f.Recv, Variadic: f.Variadic,
		Exit: f.Exit, Pos: f.Pos,
	}
	// Forms with different active results but no active parameter need different names.
	if facts.Params.Empty() {
		t.Name = fmt.Sprintf("%s_traced_0_%v", f.Name, facts.Results)
	}
	p.funcs[facts] = t // before the body, for recursive calls
	p.added = append(p.added, facts)
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	t.Params, t.Results = b.realVars(f.Params), b.realVars(f.Results)
	t.Body = b.block(f.Body)
	return t, nil
}

// A builder writes the traced form of one function.
type builder struct {
	ir.Writer
	program *Program
	facts   *activity.Facts
	vars    map[*ir.Var]*ir.Var // active variable → its counterpart over Reals
	names   *ir.Namer
}

// refuse panics with an Error, which build returns.
func (b *builder) refuse(what, reason, remedy string) {
	panic(&Error{Func: b.facts.Func.Name, Pos: b.At.Pos, What: what, Reason: reason, Remedy: remedy})
}

// varActive reports whether v is active.
func (b *builder) varActive(v *ir.Var) bool { return b.facts.Active(v) }

// realVar returns the variable that replaces v: its counterpart over Reals if v is active, otherwise v itself.
func (b *builder) realVar(v *ir.Var) *ir.Var {
	if v == nil || !b.varActive(v) {
		return v
	}
	w := b.vars[v]
	if w == nil {
		c := *v
		c.Type = b.realType(v.Type, v.Name)
		w = &c
		b.vars[v] = w
	}
	return w
}

// realVars returns realVar of each variable in list.
func (b *builder) realVars(list []*ir.Var) []*ir.Var {
	out := make([]*ir.Var, len(list))
	for i, v := range list {
		out[i] = b.realVar(v)
	}
	return out
}

// realType returns the counterpart of t over Reals. It refuses types with float32; name says in the message where t
// occurs.
func (b *builder) realType(t types.Type, name string) types.Type {
	if hasFloat32(t) {
		b.refuse(name+" of type "+typeText(t), "there are no derivatives in single precision over Reals", "use float64")
	}
	return b.program.types.realType(t)
}

// temp declares a new variable with value e.
func (b *builder) temp(name string, t types.Type, e ir.Expr) *ir.Var {
	v := &ir.Var{Name: b.names.Name(name), Type: t, Pos: b.At.Pos}
	b.Emit(&ir.Let{At: b.At, V: v, E: e})
	return v
}

// block returns the traced form of a nested block.
func (b *builder) block(in ir.Block) ir.Block { return b.EachStmt(in, b.stmt) }

// placeActive reports whether the contents of p are over Reals.
func (b *builder) placeActive(p *ir.Place) bool {
	return b.varActive(p.Root) && activity.HasPlainFloats(p.Type())
}

// stmt writes the traced form of s.
func (b *builder) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Let:
		b.Emit(&ir.Let{At: s.At, V: b.realVar(s.V), E: b.rewriteAs(s.E, b.varActive(s.V))})
	case *ir.Set:
		p := b.place(s.P)
		b.Emit(&ir.Set{At: s.At, P: p, E: b.rewriteAs(s.E, b.placeActive(s.P))})
	case *ir.Add:
		p := b.place(s.P)
		b.Emit(&ir.Add{At: s.At, P: p, E: b.rewriteAs(s.E, b.placeActive(s.P))})
	case *ir.Append:
		b.appendStmt(s)
	// Elements of a plain slice are lifted before they are copied into an active one.
	case *ir.Copy:
		c := &ir.Copy{At: s.At, N: b.realVar(s.N), Dst: b.rewrite(s.Dst)}
		if c.Src = b.rewrite(s.Src); b.exprActive(s.Dst) {
			c.Src = b.liftedSlice(s.Src)
		}
		b.Emit(c)
	case *ir.Clear:
		b.Emit(&ir.Clear{At: s.At, S: b.rewrite(s.S)})
	case *ir.Call:
		b.call(s)
	case *ir.If:
		cond := b.rewrite(s.Cond)
		b.Emit(&ir.If{At: s.At, Cond: cond, Then: b.block(s.Then), Else: b.block(s.Else)})
	case *ir.Scope:
		b.Emit(&ir.Scope{At: s.At, L: s.L, Body: b.block(s.Body)})
	case *ir.Loop:
		loop := *s
		loop.Lo, loop.Hi = b.rewrite(s.Lo), b.rewrite(s.Hi)
		loop.Body = b.block(s.Body)
		loop.Marked = b.marked(s)
		b.Emit(&loop)
	case *ir.Panic:
		b.Emit(&ir.Panic{At: s.At, E: b.plainExpr(s.E)})
	case *ir.Leave:
		b.Emit(s)
	default:
		b.refuse(fmt.Sprintf("a %T", s), "it is part of a reverse sweep", "trace the function itself")
	}
}

// appendStmt writes the traced form of an append. Plain elements appended to an active slice are lifted.
func (b *builder) appendStmt(s *ir.Append) {
	active := b.placeActive(s.P)
	a := &ir.Append{At: s.At, P: b.place(s.P), S: b.rewriteAs(s.S, active), Spread: s.Spread}
	for _, e := range s.Elems {
		switch {
		case s.Spread && active:
			a.Elems = append(a.Elems, b.liftedSlice(e))
		// Statements that only reverse sweeps contain.
		default:
			a.Elems = append(a.Elems, b.rewriteAs(e, active && activity.HasPlainFloats(e.Type())))
		}
	}
	b.Emit(a)
}

// call writes a call of the traced form of the callee. Active parameters get Reals, the others plain values.
func (b *builder) call(s *ir.Call) {
	callee := b.facts.Callee(s)
	if callee == nil {
		b.ruleCall(s)
		return
	}
	f, err := b.program.build(callee)
	if err != nil {
		if e, ok := err.(*Error); ok {
			panic(e)
		}
		b.refuse("a call of "+callee.Func.Name, err.Error(), "")
	}
	c := &ir.Call{At: s.At, Callee: &ir.Callee{Func: f}}
	// A passive callee is called as it is.
	if f == callee.Func {
		c.Callee = s.Callee
	}
	for i, a := range s.Args {
		if callee.Params.Has(i) {
			c.Args = append(c.Args, b.rewriteAs(a, true))
		} else {
			c.Args = append(c.Args, b.plainExpr(a))
		}
	}
	b.emitCall(s, c, func(i int) (types.Type, bool) { return callee.Func.Results[i].Type, callee.Results.Has(i) })
}

// ruleCall writes a call of a function with a rule that is not traced. If an argument is active, the counterpart over
// Reals is called: that of the rule, for package math that of package nabla, otherwise an operation with the
// derivatives of the rule.
func (b *builder) ruleCall(s *ir.Call) {
	active := false
	for _, a := range s.Args {
		active = active || b.exprActive(a)
	}
	if s.Callee.Rule.Output && (!active || stores[s.Callee.Rule.Name]) &&
		!slices.ContainsFunc(s.Results, func(v *ir.Var) bool { return v != nil }) {
		return // a replay would not print, and printed numbers would be guards
	}
	if !active {
		c := &ir.Call{At: s.At, Callee: s.Callee}
		for _, a := range s.Args {
			c.Args = append(c.Args, b.rewrite(a))
		}
		b.emitCall(s, c, func(i int) (types.Type, bool) { return s.Results[i].Type, false })
		return
	}
	of := b.facts.RuleOf(s)
	r := of.Real
	if strings.HasPrefix(s.Callee.Rule.Name, "cmplx.") {
		for _, t := range s.Expand(b.names) {
			b.stmt(t)
		}
		return
	}
	if r == nil {
		r = ir.RealRule(s.Callee.Rule.Name)
	}
	c := &ir.Call{At: s.At, Callee: &ir.Callee{Rule: r}}
	var results []types.Type
	if r == nil {
		r = of
		c.Callee = &ir.Callee{Func: b.operation(of)}
		for _, v := range c.Callee.Func.Results {
			results = append(results, v.Type)
		}
	} else {
		for v := range r.Object.Signature().Results().Variables() {
			results = append(results, v.Type())
		}
	}
	for i, a := range s.Args {
		if r.LacksDerivative(i) && b.exprActive(a) {
			b.refuse("the argument "+r.Shape().Params[i].Name()+" of "+s.Callee.Rule.Name+
				", which carries a derivative",
				"its rule has no derivative with respect to it",
				"pass a constant, or write the function over nabla.Real by hand, with a nabla.Rule")
		}
		c.Args = append(c.Args, b.ruleArgument(a, activity.HasPlainFloats(a.Type()) && !r.LacksDerivative(i)))
	}
	b.emitCall(s, c, func(i int) (types.Type, bool) {
		return s.Callee.Rule.Object.Signature().Results().At(i).Type(), overReals(results[i])
	})
}

// ruleArgument returns the argument a of a function over Reals. The elements of a plain slice that is to be over Reals
// are lifted into new memory: the function only reads them, since slices that it writes are active.
func (b *builder) ruleArgument(a ir.Expr, active bool) ir.Expr {
	if _, ok := a.Type().Underlying().(*types.Slice); ok && active && !b.exprActive(a) {
		if _, empty := a.(*ir.Const); !empty {
			return b.liftedSlice(a)
		}
	}
	return b.rewriteAs(a, active)
}

// overReals reports whether t holds Reals.
func overReals(t types.Type) bool {
	switch u := types.Unalias(t).(type) {
	case *types.Named:
		return types.Identical(u, ir.Real) || types.Identical(u, ir.Complex) || overReals(u.Underlying())
	case *types.Slice:
		return overReals(u.Elem())
	case *types.Array:
		return overReals(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if overReals(f.Type()) {
				return true
			}
		}
	}
	return false
}

// emitCall emits c, the traced form of call s. Kind returns the type of result i in s and whether c returns it over
// Reals. A result whose variable is of the other kind is converted after the call.
func (b *builder) emitCall(s, c *ir.Call, kind func(i int) (t types.Type, active bool)) {
	var after ir.Block
	for i, r := range s.Results {
		if r == nil {
			c.Results = append(c.Results, nil)
			continue
		}
		t, active := kind(i)
		if active == b.varActive(r) {
			c.Results = append(c.Results, b.realVar(r))
			continue
		}
		if active && !activity.HasPlainFloats(t) { // an integer or a bool that c returns as a Real
			v := b.temp(r.Name, ir.Real, nil)
			c.Results = append(c.Results, v)
			var e ir.Expr = &ir.Convert{Typed: ir.Typed{T: t}, X: v.Load()}
			if ir.IsBool(t) {
				zero := &ir.Const{Typed: ir.Typed{T: types.Typ[types.Float64]}, Val: constant.MakeInt64(0)}
				e = &ir.Binary{Typed: ir.Typed{T: t}, Op: token.GTR, X: v.Load(), Y: b.lift(zero)}
			}
			after = append(after, &ir.Set{At: s.At, P: r.Place(), E: e})
			continue
		}
		if active { // assigned to an interface
			v := b.temp(r.Name, b.realType(t, r.Name), nil)
			c.Results = append(c.Results, v)
			after = append(after, &ir.Set{At: s.At, P: r.Place(), E: b.escape(v.Load(), t, true)})
			continue
		}
		v := b.temp(r.Name, t, nil)
		c.Results = append(c.Results, v)
		after = append(after, b.Nested(func() {
			e := b.lift(v.Load())
			b.Emit(&ir.Set{At: s.At, P: b.realVar(r).Place(), E: e})
		})...)
	}
	b.Emit(c)
	b.Emit(after...)
}
