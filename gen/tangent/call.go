package tangent

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// call writes a call of the tangent of the callee: shadows of active arguments and results are appended to the
// arguments and results. A passive callee is called itself.
func (b *builder) call(s *ir.Call) {
	callee := b.facts.Callee(s)
	if callee == nil {
		b.rule(s)
		return
	}
	if callee.Passive() {
		b.Emit(s)
		for _, r := range s.Results {
			b.zeroResult(s.At, r)
		}
		return
	}
	if callee.Func.RecordsPassive {
		b.refuseFor("passive function "+callee.Func.Name+", whose adjoint records values, for a second derivative",
			"let it return numbers, or call it before the function and pass on the result")
	}
	// An error in a callee is reported as it is.
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
		if ir.IsContinuous(a.Type()) {
			val, dot := b.valueAndDot(a)
			c.Args[i] = val
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
		r := resultOf(s, i)
		if r != nil && b.facts.Active(r) {
			r = b.shadowVar(r)
		} else {
			r = nil
		}
		c.Results = append(c.Results, r)
	}
	for len(c.Results) < len(t.Results) { // the call drops all results
		c.Results = append(c.Results, nil)
	}
	b.Emit(c)
	for i, r := range s.Results {
		if !callee.Results.Has(i) {
			// Active here because of other assignments, not because of this call.
			b.zeroResult(s.At, r)
		}
	}
}

// zeroResult sets the shadow of v to zero, if it has one: v is a result of a call, nil if dropped, that does not depend
// on active parameters.
func (b *builder) zeroResult(at ir.At, v *ir.Var) {
	if v != nil && b.facts.Active(v) {
		b.Emit(&ir.Set{At: at, P: b.shadowVar(v).Place(), E: ir.Zero(v.Type)})
	}
}

// resultOf returns the variable for result i of call s, or nil if it is dropped.
func resultOf(s *ir.Call, i int) *ir.Var {
	if i < len(s.Results) {
		return s.Results[i]
	}
	return nil
}
