package gen

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// call returns the source of a call of the primal with its own parameters, for comments.
func (t *target) call() string {
	names := namesOf(t.f.Params)
	if !t.f.Recv {
		return t.of + "(" + strings.Join(names, ", ") + ")"
	}
	return names[0] + "." + t.Func.Name() + "(" + strings.Join(names[1:], ", ") + ")"
}

// namesOf returns the names of variables.
func namesOf(vars []*ir.Var) (names []string) {
	for _, v := range vars {
		names = append(names, v.Name)
	}
	return names
}

// tangentDoc returns the doc comment of a tangent of width n.
func tangentDoc(t *target, b *built, n int) string {
	var along, zero []string
	for i, r := range b.params {
		switch name := b.fn.Params[i].Name; {
		case r.slot == value:
		case !t.mask.Has(r.of):
			zero = append(zero, name)
		case t.shape == nil || r.of != t.shape.y:
			along = append(along, name)
		}
	}
	direction, derivative := " in the direction "+tuple(along), "its derivative"
	if n > 1 {
		direction, derivative = fmt.Sprintf(" in %d directions, those of %s", n,
			strings.Join(along, ", ")), "its derivatives"
	}
	var text strings.Builder
	switch {
	case len(t.f.Results) == 0:
		text.WriteString("computes " + t.call() + " and " + derivative + direction)
	case b.facts.Results.Empty():
		text.WriteString("returns " + t.call() + ", which has no derivative")
	case len(t.f.Results) == 1:
		text.WriteString("returns " + t.call() + " and " + derivative + direction)
	default:
		text.WriteString("returns " + t.call() + " and the derivatives of its results" + direction)
	}
	text.WriteString(", from " + t.where() + ".")
	if !b.facts.Written.Empty() {
		text.WriteString("\nThe derivatives of memory that it writes are written to the directions of the arguments,")
		text.WriteString("\nwhich must have the lengths of the arguments and overlap as these do.")
	}
	for _, name := range zero {
		text.WriteString(
			"\n" + name + " must hold zeros initially, in the shape of the argument that it is named after.",
		)
	}
	return text.String() + dataDoc(t, b)
}

// dataDoc returns a sentence on the parameters that have no shadows in b since the directive of t lists others.
func dataDoc(t *target, b *built) string {
	names := slices.DeleteFunc(t.data(), func(name string) bool {
		return slices.ContainsFunc(b.params, func(r role) bool {
			return !r.work && !r.result && r.slot != value && t.f.Params[r.of].Name == name
		})
	})
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "\n" + names[0] + " is data, which carries no derivative."
	}
	return "\n" + strings.Join(names, ", ") + " are data, which carry no derivatives."
}

// tuple returns a single name as it is, and several as (a, b).
func tuple(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// adjointDoc returns the doc comment of an adjoint.
func adjointDoc(t *target, b *built) string {
	seeds := b.namesOf(func(r role) bool { return r.result && r.slot == bar && !r.work })
	bars := func(want bool) []string {
		return b.namesOf(func(r role) bool {
			return !r.result && r.slot == bar && !r.work && (t.mask.Has(r.of) || b.outputs(t, r)) == want
		})
	}
	shadows := b.namesOf(func(r role) bool { return !r.result && r.slot == bar && !r.work && t.mask.Has(r.of) })
	weighted := ""
	if len(seeds) > 0 {
		weighted = ", weighted by " + strings.Join(seeds, ", ") + ","
	}
	var parts []string
	if len(shadows) > 0 {
		parts = append(parts, "adds the derivatives of the outputs"+weighted+" to "+strings.Join(shadows, ", "))
	}
	if names := b.resultNames(func(r role) bool { return !r.result && r.slot == bar }); len(names) > 0 {
		derivatives := "those"
		if len(shadows) == 0 {
			derivatives = "the derivatives of the outputs" + weighted
		}
		parts = append(
			parts,
			"returns "+derivatives+" with respect to arguments passed by value as "+strings.Join(names, ", "),
		)
	}
	text := "returns " + t.call()
	if len(t.f.Results) == 0 {
		text = "computes " + t.call()
	}
	text += ", from " + t.where() + "."
	if len(parts) > 0 {
		text += "\nIt " + strings.Join(parts, ", and ") + "."
	}
	text += b.resultsDoc(t, seeds)
	if !b.facts.Written.Empty() {
		text += "\nThe bars of memory that it writes hold the weights of the values written, and on return the " +
			"derivatives\nwith respect to the values overwritten."
	}
	for _, name := range bars(false) {
		text += "\n" + name + " must hold zeros initially, in the shape of the argument that it is named after."
	}
	return text + dataDoc(t, b) + b.nilDoc("Bars that are not wanted") + b.overlapDoc()
}

// overlapDoc returns a sentence on the slices that must not overlap.
func (b *built) overlapDoc() string {
	var list []string
	for _, c := range disjointChecks(b) {
		list = append(list, anyOf(namesOf(c.Written))+" shares memory with another slice")
	}
	if len(list) == 0 {
		return ""
	}
	return "\nIt panics with a *rt.OverlapError if " + strings.Join(list, ", or if ") + "."
}

// outputs reports whether r is the bar of a parameter in whose memory the function stores values for the caller, though
// it is not among those that it is differentiated with respect to.
func (b *built) outputs(t *target, r role) bool {
	return (t.shape == nil || t.shape.fields) && b.facts.Written.Has(r.of)
}

// resultsDoc returns sentences on the seeds of an adjoint and on its first results, those of the primal.
func (b *built) resultsDoc(t *target, seeds []string) (text string) {
	if len(t.f.Results) < 2 {
		return ""
	}
	names := b.resultNames(func(r role) bool { return r.result && r.slot == value })
	first, errs := names, ""
	if n := len(names) - 1; types.Identical(t.f.Results[n].Type, types.Universe.Lookup("error").Type()) {
		first, errs = names[:n], ", and the last is its error "+names[n]
	}
	text = "\nIts first results " + strings.Join(first, ", ") + " are those of " + t.of + errs
	var of []string
	for i, r := range b.params {
		if r.result && r.slot == bar && !r.work {
			of = append(of, b.fn.Params[i].Name+" of "+names[r.of])
		}
	}
	if len(of) > 0 {
		text += "; the weights are " + strings.Join(of, ", ")
	}
	text += "."
	if slices.ContainsFunc(b.seeds(), func(i int) bool { return !ir.IsFloat(b.fn.Params[i].Type) }) {
		text += " Weights that are nil are zero."
	}
	return text
}

// nilDoc returns a sentence on the shadows and workspaces of a derivative that may be nil; shadows describes which.
func (b *built) nilDoc(shadows string) string {
	work := strings.Join(b.namesOf(func(r role) bool { return r.work && r.slot == value }), ", ")
	has := slices.ContainsFunc(b.fn.Params, func(v *ir.Var) bool {
		r := b.params[slices.Index(b.fn.Params, v)]
		return !r.work && !r.result && r.slot != value && ir.HasRefs(v.Type)
	})
	switch {
	case work == "" && !has:
		return ""
	case work == "":
		return "\n" + shadows + " may be nil."
	case !has:
		return "\n" + work + " may be nil; using it again saves allocations."
	}
	return "\n" + shadows + " may be nil, and so may " + work + "; using it again saves allocations."
}

// anyOf returns a single name as it is, and several as one of a, b.
func anyOf(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return "one of " + strings.Join(names, ", ")
}

// secondDoc returns the doc comment of the tangent of an adjoint.
func secondDoc(t *target, b *built) string {
	text := "computes " + t.base + adjointBuild.suffix + " and the derivatives of its bars in the direction " +
		tuple(b.namesOf(directions(t))) + ",\nfor constant seeds, from " + t.where() + "."
	var bars, dots []string
	for i, r := range b.params {
		if j := slices.Index(b.params, role{of: r.of, slot: barDot}); r == (role{of: r.of, slot: bar}) && j >= 0 {
			bars, dots = append(bars, b.fn.Params[i].Name), append(dots, b.fn.Params[j].Name)
		}
	}
	var parts []string
	if len(bars) > 0 {
		parts = append(parts, "adds the derivatives of "+strings.Join(bars, ", ")+" to "+strings.Join(dots, ", "))
	}
	bars = b.resultNames(func(r role) bool { return !r.result && r.slot == bar })
	dots = b.resultNames(func(r role) bool { return !r.result && r.slot == barDot })
	if len(dots) > 0 {
		parts = append(parts, "returns those of "+strings.Join(bars, ", ")+" as "+strings.Join(dots, ", "))
	}
	if len(parts) > 0 {
		text += "\nIt " + strings.Join(parts, ", and ") + "."
	}
	if !b.facts.Written.Empty() {
		text += "\nOf memory that it writes, the derivatives of bars are zero initially, for constant weights."
	}
	return text + dataDoc(t, b) + b.nilDoc("Directions that are zero and bars that are not wanted") + b.overlapDoc()
}

// skipDoc returns a sentence on strong zeros if f or a callee leaves products with zeros out.
func skipDoc(f *ir.Func) string {
	if !skips(f, map[*ir.Func]bool{}) {
		return ""
	}
	return "\nThe product of a zero and an infinite derivative is taken to be 0, though it may be NaN; rt.Skipped " +
		"counts them."
}

// skips reports whether f or a callee calls [ir.SkipName].
func skips(f *ir.Func, seen map[*ir.Func]bool) (found bool) {
	if seen[f] {
		return false
	}
	seen[f] = true
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		ir.EachExpr(s, func(e ir.Expr) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				m, ok := e.(*ir.Math)
				found = found || ok && m.Name == ir.SkipName
				return !found
			})
		})
		if c, ok := s.(*ir.Call); ok && c.Callee.Func != nil && !found {
			found = skips(c.Callee.Func, seen)
		}
		return !found
	})
	return found
}
