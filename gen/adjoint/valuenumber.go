package adjoint

import (
	"fmt"
	"go/token"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// canon is a text that is the same for integers that are sure to be equal, empty where
// nothing is known.
func (f *flow) canon(e ir.Expr) string {
	switch e := e.(type) {
	case *ir.Const:
		if e.Val == nil {
			return "0"
		}
		return e.Val.ExactString()
	case *ir.Load:
		if !f.steady(e.P, true) || f.index[e.P.Root] {
			return ""
		}
		if len(e.P.Path) == 0 {
			if l := f.lets[e.P.Root]; l != nil && f.writes[e.P.Root] == 1 {
				if s := f.canon(l.E); s != "" {
					return s
				}
			}
		}
		return f.canonPlace(e.P)
	case *ir.Len:
		v := variable(e.X)
		if v == nil || e.Cap || !f.steady(v.Place(), true) {
			return ""
		}
		if a := f.made[f.class(v)]; a != nil && !a.others && a.v == v {
			return f.canon(a.n)
		}
		return "len(" + v.Name + ")"
	case *ir.Binary:
		x, y := f.canon(e.X), f.canon(e.Y)
		if x == "" || y == "" || e.Op == token.QUO && !isInteger(e.T) {
			return ""
		}
		return "(" + x + e.Op.String() + y + ")"
	}
	return ""
}

func (f *flow) canonPlace(p *ir.Place) string {
	var b strings.Builder
	b.WriteString(p.Root.Name)
	for _, s := range p.Path {
		switch {
		case s.IsDeref():
			b.WriteString(".*")
		case s.Index != nil:
			i := f.canon(s.Index)
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
