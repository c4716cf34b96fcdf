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
func (ls *locations) valueNumber(e ir.Expr) string {
	switch e := e.(type) {
	case *ir.Const:
		if e.Val == nil {
			return "0"
		}
		return e.Val.ExactString()
	case *ir.Load:
		// An index has another value in each iteration, other variables may be assigned in between.
		if !ls.invariant(e.P, true) || ls.loopIndex[e.P.Root] {
			return ""
		}
		if len(e.P.Path) == 0 {
			// Look through the definition of a variable that is assigned once.
			if l := ls.definition[e.P.Root]; l != nil && ls.assignments[e.P.Root] == 1 {
				if s := ls.valueNumber(l.E); s != "" {
					return s
				}
			}
		}
		return ls.valueNumberOfPlace(e.P)
	case *ir.Len:
		v := ir.VarOf(e.X)
		if v == nil || e.Cap || !ls.invariant(v.Place(), true) {
			return ""
		}
		// The length of the only allocation of the class, held by v itself rather than a part of it.
		if a := ls.allocSites[ls.class(v)]; a != nil && !a.multiple && a.variable == v {
			return ls.valueNumber(a.length)
		}
		return "len(" + v.Name + ")"
	case *ir.Binary:
		x, y := ls.valueNumber(e.X), ls.valueNumber(e.Y)
		if x == "" || y == "" || e.Op == token.QUO && !ir.IsInteger(e.T) {
			return ""
		}
		return "(" + x + e.Op.String() + y + ")"
	}
	return ""
}

// valueNumberOfPlace returns the value number of the contents of p, which must be invariant.
func (ls *locations) valueNumberOfPlace(p *ir.Place) string {
	var b strings.Builder
	b.WriteString(p.Root.Name)
	for _, s := range p.Path {
		switch {
		case s.IsDeref():
			b.WriteString(".*")
		case s.Index != nil:
			i := ls.valueNumber(s.Index)
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

// invariant reports whether p denotes the same place from the definition of its root to the end of the iteration: the
// root is assigned at most once, and no reference on the path is ever overwritten. If content is set, neither is the
// value at p. The test is flow-insensitive. Index expressions are not examined; callers visit them as expressions of
// their own.
func (ls *locations) invariant(p *ir.Place, content bool) bool {
	v := p.Root
	if v.Kind == ir.Global || ls.loopIndex[v] {
		return true
	}
	n, known := ls.assignments[v]
	if !known || n > 1 || n == 1 && v.Kind == ir.Param || v.Kind == ir.Result {
		return false
	}
	s := locationSet{}
	ls.addPathReads(s, p)
	if content && p.Indirect() {
		ls.addMemory(s, v, p.Type())
	}
	for k := range s {
		if k.isMemory() && ls.modified[k] {
			return false
		}
	}
	return true
}
