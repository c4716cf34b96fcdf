package activity

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// rule is a call of which only a rule is known: if one argument is active, so are all
// results and all memory that is written.
func (f *Facts) ruleCall(s *ir.Call) {
	r := s.Callee.Rule
	if r.Passive {
		return
	}
	for i, a := range s.Args {
		if r.Writes(i) {
			f.noteWrites(a)
		}
	}
	active, stores := false, false
	for i, a := range s.Args {
		active = active || f.exprActive(a)
		stores = stores || r.Writes(i) && pointsToRefs(a.Type())
	}
	// Headers come from arguments to results, and to memory that can hold them.
	var merged *aliasClass
	join := func(e ir.Expr) {
		f.eachClass(e, func(c *aliasClass) {
			if merged != nil {
				f.union(merged, c)
			}
			merged = c
		})
	}
	if stores {
		for _, a := range s.Args {
			join(a)
		}
	}
	for i, v := range s.Results {
		if v == nil || !HasRefs(v.Type) {
			continue
		}
		if k := r.Returned(i); k >= 0 && k < len(s.Args) {
			f.eachClass(s.Args[k], func(c *aliasClass) { f.union(c, f.classOf(v)) })
		} else {
			for _, a := range s.Args {
				join(a)
			}
			join(v.Load())
		}
		active = active || f.Active(v)
	}
	if !active {
		return
	}
	for i, a := range s.Args {
		if r.Writes(i) && HasFloats(a.Type()) {
			f.eachClass(a, f.activate)
		}
	}
	for _, v := range s.Results {
		if v != nil && HasFloats(v.Type) {
			f.activate(f.classOf(v))
		}
	}
}

// Carries reports whether a value, or memory that it leads to, carries derivatives.
func (f *Facts) Carries(e ir.Expr) bool { return HasFloats(e.Type()) && f.exprActive(e) }

// source is the function that is looked into for a call, nil where a rule stands for it.
func (f *Facts) analyzedFunc(s *ir.Call) *ir.Func {
	r := s.Callee.Rule
	if r == nil {
		return s.Callee.Func
	}
	for i, a := range s.Args {
		if r.IsFixed(i) && f.Carries(a) {
			return r.Source
		}
	}
	if f.program.source != nil {
		return f.program.source(r)
	}
	return nil
}

// CallsRule reports whether a call of which a rule is known needs a derivative: something
// that carries one goes in, and something comes out.
func (f *Facts) NeedsRule(s *ir.Call) bool {
	r := s.Callee.Rule
	in, out := false, false
	for i, a := range s.Args {
		if !r.Passive && f.Carries(a) {
			in = true
			out = out || r.Writes(i) && ir.LeadsToFloats(a.Type())
		}
	}
	for _, v := range s.Results {
		out = out || v != nil && f.Active(v)
	}
	return in && out
}

func (f *Facts) exprActive(e ir.Expr) (active bool) {
	f.eachRoot(e, func(v *ir.Var, t types.Type) {
		active = active || HasFloats(t) && f.Active(v)
	})
	return active
}

// refs visits the classes of the memory that e leads to.
func (f *Facts) eachClass(e ir.Expr, visit func(*aliasClass)) {
	f.eachRoot(e, func(v *ir.Var, t types.Type) {
		if v.Kind != ir.Global && HasRefs(t) {
			visit(f.classOf(v))
		}
	})
}

// leadsToRefs reports whether what a value of type t leads to can hold slices or
// pointers.
func pointsToRefs(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return HasRefs(u.Elem())
	case *types.Pointer:
		return HasRefs(u.Elem())
	case *types.Array:
		return pointsToRefs(u.Elem())
	case *types.Struct:
		for v := range u.Fields() {
			if pointsToRefs(v.Type()) {
				return true
			}
		}
	case *types.Map, *types.Chan, *types.Signature, *types.Interface:
		return true
	}
	return false
}
