package adjoint

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/simplify"
)

// Normalisation, once for each function: normalize copies it and rewrites the copy into the form that the statement
// adjoints, and the analyses, presuppose. After outlining of checkpointed loops and simplification with inlining it
// boxes address-taken variables (normal_box.go), flattens operands (normal_flatten.go) and stores the control flow in
// variables (normal_control.go).

// A normalForm is a function in the form that can be reversed:
//
//   - no address of a variable is taken: such variables are boxed;
//   - divisions and elementary functions of floats are definitions of variables, their operands and the float arguments
//     of calls are variables or constants (A-normal form);
//   - conditions and loop bounds are variables or constants, and trip counts and exits that the bounds do not determine
//     are stored in variables.
//
// All specialisations of the function share it, and draw names from it. Its statements must not be replaced or
// modified, since conds, loops and exited are keyed by statement.
type normalForm struct {
	f      *ir.Func               // the rewritten copy
	source *ir.Func               // the function that it was made from
	conds  map[*ir.If]*ir.Var     // If → variable that holds its condition
	loops  map[*ir.Loop]*loopInfo // Loop → its bounds or trip count
	// Exited maps a Loop or Scope to its exit flag: a variable that is true if it was left for a label beyond its end.
	// Statements that are not left in this way have none.
	exited  map[ir.Stmt]*ir.Var
	names   *ir.Namer // the namer of the function, shared by its adjoints
	remarks []Remark  // remarks about loops that are not checkpointed
	segment *segment  // set if f runs the iterations of an outlined loop
}

// A loopInfo describes the iterations of a loop to the reverse sweep.
type loopInfo struct {
	lo, hi ir.Expr // the bounds as variables or constants; nil for a loop without index
	// the variable that counts iterations, nil if the bounds determine the trip count
	entered *ir.Var
}

// normalize returns the normal form of f and of the functions that it calls, each computed once. The result is
// registered before callees are normalised, which ends the recursion.
func (p *Program) normalize(f *ir.Func) *normalForm {
	if g := p.normalized[f]; g != nil {
		return g
	}
	// Work on a copy: f may be used by the caller, and by other Programs.
	clone, _ := ir.Clone(f, nil)
	// Outline marked loops before anything is inlined into them or moved out of them. Boxing comes first, so that the
	// state of a loop is in variables whose address is not taken.
	var notes []Remark
	if hasCheckpoint(clone) {
		g := &normalForm{f: clone, names: ir.NamerOf(clone)}
		g.boxAddressTaken()
		p.outline(g, f)
		notes = g.remarks
	}
	switch {
	case !p.enabled(simplification):
	case hasCall(f) && !p.apply(inlining, true):
		simplify.Body(clone, p.work.pkg)
	default:
		simplify.Primal(clone, p.work.pkg)
	}
	// Register the normal form before callees are normalised: a recursive call finds it.
	names := ir.NamerOf(clone)
	g := &normalForm{
		f: clone, source: f, names: names, remarks: notes, segment: p.segments[f],
		conds: map[*ir.If]*ir.Var{}, loops: map[*ir.Loop]*loopInfo{}, exited: map[ir.Stmt]*ir.Var{},
	}
	p.normalized[f] = g
	// Functions of package math with two results become elementary functions, which have rules.
	pairs := &ir.Map{Stmt: func(s ir.Stmt) []ir.Stmt {
		if c, ok := s.(*ir.Call); ok {
			if list := c.Expand(names); list != nil {
				return list
			}
		}
		return []ir.Stmt{s}
	}}
	clone.Body = pairs.Block(clone.Body)
	g.boxAddressTaken()
	ir.Normalize(clone)
	clone.Body = (&flattener{g: g}).block(clone.Body)
	// Direct calls to the normal forms of the callees.
	m := &ir.Map{Stmt: func(s ir.Stmt) []ir.Stmt {
		c, ok := s.(*ir.Call)
		if !ok {
			return []ir.Stmt{s}
		}
		d := *c
		switch r := c.Callee.Rule; {
		case r == nil:
			d.Callee = &ir.Callee{Func: p.normalize(c.Callee.Func).f}
		case r.Source != nil && slices.Contains(r.NoDerivative, true): // activity looks into its source
			rule := *r
			rule.Source = p.normalize(r.Source).f
			d.Callee = &ir.Callee{Rule: &rule}
		}
		return []ir.Stmt{&d}
	}}
	clone.Body = m.Block(clone.Body)
	clone.Body = g.control(clone.Body)
	return g
}

// hasCall reports whether f calls a function that could be inlined.
func hasCall(f *ir.Func) (found bool) {
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		c, ok := s.(*ir.Call)
		found = found || ok && c.Callee.Func != nil
		return !found
	})
	return found
}

// normalFormOf returns the normal form whose function is f. It panics with an Error if there is none.
func (p *Program) normalFormOf(f *ir.Func) *normalForm {
	for _, g := range p.normalized {
		if g.f == f {
			return g
		}
	}
	panic(&Error{Func: f.Name, What: "it is not prepared"})
}

// local returns a new local variable with a name derived from base.
func (g *normalForm) local(base string, t types.Type) *ir.Var {
	return &ir.Var{Name: g.names.Name(base), Type: t}
}

// addRemark notes why the loop s is not checkpointed.
func (g *normalForm) addRemark(s ir.Stmt, why string) {
	g.remarks = append(g.remarks, ignored(s.Position(), why))
}
