package activity

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// ruleCall applies a call of a function that is known by a rule. If an argument is active, so are all results and all
// memory that the rule may write. References may flow from arguments to results, and into memory that can hold
// references; where the rule does not promise which, all are merged.
func (f *Facts) ruleCall(s *ir.Call) {
	r := s.Callee.Rule
	if r.Passive && r.Calls == nil {
		return
	}
	for i, a := range s.Args {
		if r.Writes(i) {
			f.noteWrites(a)
		}
	}
	if r.Passive {
		return
	}
	active, stores := false, false
	for i, a := range s.Args {
		active = active || f.exprActive(a)
		stores = stores || r.Writes(i) && pointsToRefs(a.Type())
	}
	// Merge all classes that may exchange references.
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
		if v == nil || !ir.HasRefs(v.Type) {
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
		if r.Writes(i) && f.hasFloats(a.Type()) {
			f.eachClass(a, f.activate)
		}
	}
	for _, v := range s.Results {
		if v != nil && f.hasFloats(v.Type) {
			f.activate(f.classOf(v))
		}
	}
}

// Carries reports whether the value of e, or memory that it refers to, carries derivatives.
func (f *Facts) Carries(e ir.Expr) bool { return f.hasFloats(e.Type()) && f.exprActive(e) }

// analyzedFunc returns the function whose body is analysed for call s, or nil if a rule is applied.
func (f *Facts) analyzedFunc(s *ir.Call) *ir.Func {
	if s.Callee.Rule == nil {
		return s.Callee.Func
	}
	r := f.RuleOf(s)
	for i, a := range s.Args {
		if r.LacksDerivative(i) && f.Carries(a) {
			return r.Source
		}
	}
	if f.program.source != nil {
		return f.program.source(r)
	}
	return nil
}

// RuleOf returns the rule by which s is differentiated: that of its callee, or the wider one if an argument carries a
// derivative with respect to which the former has none.
func (f *Facts) RuleOf(s *ir.Call) *ir.Rule {
	r := s.Callee.Rule
	for i, a := range s.Args {
		if r.Wider != nil && r.LacksDerivative(i) && f.Carries(a) {
			return r.Wider
		}
	}
	return r
}

// NeedsRule reports whether the derivative of the rule of s is needed: some argument carries derivatives, and so does a
// result, or memory with floats that the rule may write through such an argument.
func (f *Facts) NeedsRule(s *ir.Call) bool {
	r := s.Callee.Rule
	in, out := false, false
	for i, a := range s.Args {
		if !r.Passive && f.Carries(a) {
			in = true
			out = out || r.Writes(i) && ir.ReachesFloats(a.Type())
		}
	}
	for _, v := range s.Results {
		out = out || v != nil && f.Active(v)
	}
	return in && out
}

// exprActive reports whether a variable with floats that e is computed from or refers to is active.
func (f *Facts) exprActive(e ir.Expr) (active bool) {
	f.eachRoot(e, func(v *ir.Var, t types.Type) {
		active = active || f.hasFloats(t) && f.Active(v)
	})
	return active
}

// eachClass visits the classes of the memory that e refers to.
func (f *Facts) eachClass(e ir.Expr, visit func(*aliasClass)) {
	f.eachRoot(e, func(v *ir.Var, t types.Type) {
		if v.Kind != ir.Global && ir.HasRefs(t) {
			visit(f.classOf(v))
		}
	})
}

// pointsToRefs reports whether memory reachable from a value of type t can hold references itself, so that storing into
// it can create aliases.
func pointsToRefs(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return ir.HasRefs(u.Elem())
	case *types.Pointer:
		return ir.HasRefs(u.Elem())
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
