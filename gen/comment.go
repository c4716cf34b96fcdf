package gen

import (
	"fmt"
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
