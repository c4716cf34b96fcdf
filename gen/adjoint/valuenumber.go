package adjoint

import (
	"fmt"
	"go/token"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Symbolic value numbering of integers (Alpern, Wegman & Zadeck 1988), used to compare trip counts with lengths.

// valueNumber returns a string that two integer expressions share only if they always have equal values, or "" if it
// cannot number e. It looks through variables that are assigned once, and through lengths of slices with a single
// allocation site.
func (f *flow) valueNumber(e ir.Expr) string {
	switch e := e.(type) {
	case *ir.Const:
		if e.Val == nil {
			return "0"
		}
		return e.Val.ExactString()
	case *ir.Load:
		// An index has another value in each iteration, other variables may be assigned in between.
		if !f.invariant(e.P, true) || f.loopIndex[e.P.Root] {
			return ""
		}
		if len(e.P.Path) == 0 {
			// Look through the definition of a variable that is assigned once.
			if l := f.definition[e.P.Root]; l != nil && f.assignments[e.P.Root] == 1 {
				if s := f.valueNumber(l.E); s != "" {
					return s
				}
			}
		}
		return f.valueNumberOfPlace(e.P)
	case *ir.Len:
		v := variable(e.X)
		if v == nil || e.Cap || !f.invariant(v.Place(), true) {
			return ""
		}
		// The length of the only allocation of the class, held by v itself rather than a part of it.
		if a := f.allocSites[f.class(v)]; a != nil && !a.multiple && a.variable == v {
			return f.valueNumber(a.length)
		}
		return "len(" + v.Name + ")"
	case *ir.Binary:
		x, y := f.valueNumber(e.X), f.valueNumber(e.Y)
		if x == "" || y == "" || e.Op == token.QUO && !isInteger(e.T) {
			return ""
		}
		return "(" + x + e.Op.String() + y + ")"
	}
	return ""
}

// valueNumberOfPlace returns the value number of the contents of p, which must be invariant.
func (f *flow) valueNumberOfPlace(p *ir.Place) string {
	var b strings.Builder
	b.WriteString(p.Root.Name)
	for _, s := range p.Path {
		switch {
		case s.IsDeref():
			b.WriteString(".*")
		case s.Index != nil:
			i := f.valueNumber(s.Index)
			if i == "" {
				return ""
			}
			b.WriteString("[" + i + "]")
		default:
			fmt.Fprintf(&b, ".%d", s.Field)
		}
	}
	return b.String()
}
