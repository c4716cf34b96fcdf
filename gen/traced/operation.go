package traced

import (
	"go/types"
	"strings"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// operation returns the function over Reals that performs the function with rule r as one operation, building it if
// needed. All parameters with floats are over Reals, except those without derivative, and so are all results that are
// numbers. It refuses functions with other parameters and results than package print can write.
func (b *builder) operation(r *ir.Rule) *ir.Func {
	p := b.program
	if f := p.operations[r]; f != nil {
		return f
	}
	if r.Object == nil || r.Passive || r.Declared == nil && r.Tangent == nil && r.Pullback == nil {
		b.refuse("a call of "+r.Name, "it has only a rule, which does not apply to Reals",
			"write the function over nabla.Real by hand, with a nabla.Rule")
	}
	o := r.Object
	f := &ir.Func{Name: operationName(o), Exit: &ir.Label{Name: "exit"}, Pos: b.At.Pos}
	c := &ir.Call{At: b.At}
	shape, names := r.Shape(), ir.NewNamer()
	names.Reserve(f.Exit.Name)
	sig := &signature{b: b, r: r}
	for i, v := range shape.Params {
		q := &ir.Var{Name: names.Name(nameOf(v, "p")), Type: sig.param(i), Kind: ir.Param, Pos: b.At.Pos}
		f.Params = append(f.Params, q)
		c.Args = append(c.Args, q.Load())
	}
	for i, v := range shape.Results {
		t := sig.result(i)
		q := &ir.Var{Name: names.Name(nameOf(v, "r")), Type: t, Kind: ir.Result, Pos: b.At.Pos}
		f.Results = append(f.Results, q)
		w := &ir.Var{Name: names.Name("t"), Type: t, Pos: b.At.Pos}
		c.Results = append(c.Results, w)
		f.Body = append(f.Body, &ir.Let{At: b.At, V: w})
	}
	over := &ir.Rule{Name: r.Name, Object: types.NewFunc(o.Pos(), o.Pkg(), o.Name(), sig.of(f)),
		ReadOnly: r.ReadOnly, Operation: &ir.Operation{Of: r}}
	c.Callee = &ir.Callee{Rule: over}
	f.Body = append(f.Body, c)
	for i, v := range f.Results {
		f.Body = append(f.Body, &ir.Set{At: b.At, P: v.Place(), E: c.Results[i].Load()})
	}
	if p.operations == nil {
		p.operations = map[*ir.Rule]*ir.Func{}
	}
	p.operations[r] = f // before its derivatives, which may call it
	p.newOperations = append(p.newOperations, r)
	op := over.Operation
	if r.Declared != nil {
		op.Tangent, op.Pullback = p.overReals(&ir.Callee{Func: r.JVP}, r), p.overReals(&ir.Callee{Func: r.VJP}, r)
	} else {
		op.Tangent, op.Pullback = p.overReals(r.Tangent, r), p.overReals(r.Pullback, r)
	}
	op.Pure = pure(r, op.Tangent) && pure(r, op.Pullback)
	return f
}

// operationName returns the name of the operation for o in this form: path.F_real or (*path.T).F_real.
func operationName(o *types.Func) string {
	qualifier := (*types.Package).Name
	if recv := o.Signature().Recv(); recv != nil {
		return "(" + types.TypeString(recv.Type(), qualifier) + ")." + o.Name() + "_real"
	}
	return o.Pkg().Name() + "." + o.Name() + "_real"
}

// nameOf returns the name of v, or base if it has none.
func nameOf(v *types.Var, base string) string {
	if v.Name() == "" || v.Name() == "_" {
		return base
	}
	return v.Name()
}

// A signature determines the types of an operation.
type signature struct {
	b *builder
	r *ir.Rule
}

// param returns the type of parameter i.
func (s *signature) param(i int) types.Type {
	v := s.r.Shape().Params[i]
	if s.r.LacksDerivative(i) || !activity.HasPlainFloats(v.Type()) {
		if ir.HasRefs(v.Type()) && s.r.Writes(i) {
			s.b.refuse("parameter "+v.Name()+" of "+s.r.Name+" of type "+typeText(v.Type()),
				"the rule writes memory in it, or may do so, which each run of a recording would write again",
				"if it does not, say writes=none or list what it writes by writes= in its directive; otherwise return "+
					"what it writes, or give it a plain form by plain=")
		}
		return v.Type()
	}
	if reason := unpackable(v.Type(), true); reason != "" {
		s.refuse("parameter "+v.Name()+" of "+s.r.Name, v.Type(), reason)
	}
	return s.b.realType(v.Type(), v.Name())
}

// result returns the type of result i.
func (s *signature) result(i int) types.Type {
	v := s.r.Shape().Results[i]
	t := v.Type()
	if k := s.r.Returned(i); k >= 0 && ir.HasRefs(t) {
		return s.param(k)
	}
	if ir.IsInteger(t) || ir.IsBool(t) {
		return ir.Real // its conversion is a guard
	}
	if reason := unpackable(t, false); reason != "" {
		s.refuse("a result of "+s.r.Name, t, reason)
	}
	return s.b.realType(t, "a result")
}

// refuse refuses a parameter or result.
func (s *signature) refuse(what string, t types.Type, reason string) {
	s.b.refuse(what+" of type "+typeText(t), reason,
		"give it numbers, slices of float64, and arrays and structs of them, or a plain form by plain= in its "+
			"directive")
}

// of returns the signature of f.
func (s *signature) of(f *ir.Func) *types.Signature {
	vars := func(list []*ir.Var) *types.Tuple {
		var out []*types.Var
		for _, v := range list {
			out = append(out, types.NewParam(0, nil, v.Name, v.Type))
		}
		return types.NewTuple(out...)
	}
	return types.NewSignatureType(nil, nil, nil, vars(f.Params), vars(f.Results), false)
}

// unpackable returns why values of type t cannot be inputs, or results unless slice is set, of an operation, "" if they
// can.
func unpackable(t types.Type, slice bool) string {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Kind() == types.Float64 || u.Kind() == types.Complex128 {
			return ""
		}
		return "an operation over Reals has no such results"
	case *types.Slice:
		switch {
		case !slice:
			return "an operation over Reals returns no memory but that of its arguments"
		case !types.Identical(u.Elem(), types.Typ[types.Float64]):
			return "the memory of an operation over Reals is in slices of float64"
		}
		return ""
	case *types.Array:
		return unpackable(u.Elem(), false)
	case *types.Struct:
		for f := range u.Fields() {
			if !activity.HasPlainFloats(f.Type()) && slice {
				continue
			}
			if reason := unpackable(f.Type(), slice); reason != "" {
				return reason
			}
		}
		return ""
	}
	return "the memory of an operation over Reals is in slices of float64"
}

// overReals returns the form over Reals of a derivative of r, nil if there is none.
func (p *Program) overReals(c *ir.Callee, r *ir.Rule) *ir.Func {
	if c == nil || c.Func == nil {
		return nil
	}
	f, active := c.Func, activity.Mask{}
	for i, v := range f.Params {
		lacks := i < len(r.Shape().Params) && r.LacksDerivative(i)
		if !lacks && activity.HasPlainFloats(v.Type) {
			active = active.With(i)
		}
	}
	facts, err := p.activity.Analyze(f, active)
	if err != nil || facts.Params != active {
		return nil
	}
	first := len(p.added)
	t, err := p.build(facts)
	if err != nil {
		p.forget(first)
		return nil
	}
	return t
}

// forget drops the forms that have been built since there were n of them: they may call unfinished ones.
func (p *Program) forget(n int) {
	for _, k := range p.added[n:] {
		delete(p.funcs, k)
	}
	p.added = p.added[:n]
}

// pure reports whether the results of f, a derivative of r over Reals or nil, depend on its arguments alone, and these
// on no memory of plain values.
func pure(r *ir.Rule, f *ir.Func) bool {
	for i, v := range r.Shape().Params {
		if ir.HasRefs(v.Type()) && (r.LacksDerivative(i) || !activity.HasPlainFloats(v.Type())) {
			return false
		}
	}
	if f == nil {
		return true
	}
	seen := map[*ir.Func]bool{}
	var clean func(g *ir.Func) bool
	clean = func(g *ir.Func) bool {
		if seen[g] {
			return true
		}
		seen[g] = true
		for _, v := range ir.Vars(g) {
			if v.Kind == ir.Global {
				return false
			}
		}
		ok := true
		ir.Walk(g.Body, func(s ir.Stmt) bool {
			if c, is := s.(*ir.Call); is {
				if q := c.Callee.Rule; q != nil {
					ok = ok && !q.Effects && (q.Operation != nil || elementary(q.Name))
				} else {
					ok = ok && clean(c.Callee.Func)
				}
			}
			return ok
		})
		return ok
	}
	return clean(f)
}

// elementary reports whether a rule is for a function whose results depend on its arguments alone.
func elementary(name string) bool {
	return strings.HasPrefix(name, "math.") || strings.HasPrefix(name, "nabla.") || strings.HasPrefix(name, "cmplx.")
}
