package lower

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Numbers in text. A function of the standard library may make a string of a number, and another one a number of a
// string; the derivative of that number would be lost without notice. The analysis finds the variables that may lead to
// text made of numbers, by propagation through the assignments of all functions, insensitive to control flow, until a
// fixed point is reached, and refuses calls that make numbers of them. Integers made of text are steps as functions of
// the number, so they need no derivative.

// A textAnalysis holds the variables that may lead to text made of floats.
type textAnalysis struct {
	text    map[*ir.Var]bool
	changed bool
}

// numbersFromText returns refusals for calls that may make floats of text that was made of floats.
func numbersFromText(funcs []*ir.Func) (out Refusals) {
	a := &textAnalysis{text: map[*ir.Var]bool{}}
	for again := true; again; again = a.changed {
		a.changed = false
		for _, f := range funcs {
			ir.Walk(f.Body, func(s ir.Stmt) bool {
				a.stmt(s)
				return true
			})
		}
	}
	for _, f := range funcs {
		ir.Walk(f.Body, func(s ir.Stmt) bool {
			if c, ok := s.(*ir.Call); ok && isStandardRule(c.Callee.Rule) && a.takesText(c) {
				for v := range c.Callee.Rule.Object.Signature().Results().Variables() {
					if ir.ContainsFloats(v.Type()) || ir.ReachesFloats(v.Type()) {
						out = append(out, &Refusal{s.Position(), f.Name, "call of " + c.Callee.Rule.Name,
							"its result is a number made of a text that may be made of a number, whose derivative " +
								"would be lost",
							"use the number itself, or call both functions in a //nabla:passive function"})
					}
				}
			}
			return true
		})
	}
	return out
}

// isStandardRule reports whether r is the rule of a function of the standard library that carries no derivative.
func isStandardRule(r *ir.Rule) bool {
	if r == nil || !r.Passive || r.Object == nil || r.Object.Pkg() == nil {
		return false
	}
	_, ok := passivePackages[r.Object.Pkg().Path()]
	return ok
}

// mark adds v if values of its type can lead to text.
func (a *textAnalysis) mark(v *ir.Var) {
	if v != nil && v.Kind != ir.Global && !a.text[v] && leadsToText(v.Type, map[types.Type]bool{}) {
		a.text[v], a.changed = true, true
	}
}

// leadsToText reports whether a string, bytes or an interface can be reached from a value of type t.
func leadsToText(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Slice:
		b, ok := u.Elem().Underlying().(*types.Basic)
		return ok && b.Info()&types.IsInteger != 0 || leadsToText(u.Elem(), seen)
	case *types.Array:
		b, ok := u.Elem().Underlying().(*types.Basic)
		return ok && b.Info()&types.IsInteger != 0 || leadsToText(u.Elem(), seen)
	case *types.Pointer:
		return leadsToText(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			if leadsToText(f.Type(), seen) {
				return true
			}
		}
		return false
	}
	return true
}

// has reports whether the value of e may be, or lead to, text made of floats. A float that becomes an interface value
// is text too.
func (a *textAnalysis) has(e ir.Expr) (found bool) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Load:
			found = found || a.text[e.P.Root] && leadsToText(e.T, map[types.Type]bool{})
		case *ir.Addr:
			found = found || a.text[e.P.Root]
		case *ir.SliceAt:
			found = found || a.text[e.P.Root]
		case *ir.Convert:
			found = found || types.IsInterface(e.T) && isNumeric(e.X)
		case *ir.Opaque:
			for _, x := range e.Args {
				found = found || isNumeric(x)
			}
		case *ir.Len:
			return false
		case *ir.Binary: // comparisons and arithmetic make no text
			return ir.IsString(e.T)
		}
		return !found
	})
	return found
}

// isNumeric reports whether e is a value with floats, other than a constant.
func isNumeric(e ir.Expr) bool {
	if _, ok := e.(*ir.Const); ok {
		return false
	}
	return ir.ContainsFloats(e.Type()) || ir.ReachesFloats(e.Type())
}

// takesText reports whether an argument of a call is a float, or leads to text made of floats.
func (a *textAnalysis) takesText(c *ir.Call) bool {
	for _, e := range c.Args {
		if isNumeric(e) || a.has(e) {
			return true
		}
	}
	return false
}

// assign notes that e is stored in the variable v, or in memory that it leads to.
func (a *textAnalysis) assign(v *ir.Var, e ir.Expr) {
	if e == nil {
		return
	}
	if a.has(e) {
		a.mark(v)
	}
	if a.text[v] && hasReferences(e.Type()) {
		eachReferenceRoot(e, a.mark)
	}
}

// stmt applies one statement.
func (a *textAnalysis) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Let:
		a.assign(s.V, s.E)
	case *ir.Set:
		a.assign(s.P.Root, s.E)
	case *ir.Add:
		a.assign(s.P.Root, s.E)
	case *ir.Append:
		a.assign(s.P.Root, s.S)
		for _, e := range s.Elems {
			a.assign(s.P.Root, e)
		}
	case *ir.Copy:
		eachReferenceRoot(s.Dst, func(v *ir.Var) { a.assign(v, s.Src) })
	case *ir.Call:
		a.call(s)
	}
}

// call applies a call. A rule of the standard library makes text of numbers and of text, in its results and in memory
// that its arguments refer to.
func (a *textAnalysis) call(s *ir.Call) {
	if f := s.Callee.Func; f != nil {
		for i, e := range s.Args {
			a.assign(f.Params[i], e)
		}
		for i, v := range s.Results {
			if v != nil && a.text[f.Results[i]] {
				a.mark(v)
			}
			if v != nil && a.text[v] && hasReferences(v.Type) {
				a.mark(f.Results[i])
			}
		}
		return
	}
	if !isStandardRule(s.Callee.Rule) || !a.takesText(s) {
		return
	}
	for _, v := range s.Results {
		a.mark(v)
	}
	for _, e := range s.Args {
		if hasReferences(e.Type()) {
			eachReferenceRoot(e, a.mark)
		}
	}
}
