package print

import (
	"go/constant"
	"go/types"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Places, indices and bounds as Go source.

// index returns an index or a bound. A constant that Go would reject as out of the range of n
// elements is printed as a run-time value; n is -1 if it is not known.
func (p *printer) index(e ir.Expr, n int64) string {
	if c, ok := e.(*ir.Const); ok && c.Val != nil {
		i, ok := constant.Int64Val(constant.ToInt(c.Val))
		if !ok || i < 0 || n >= 0 && i >= n {
			return p.runtimeValue(e)
		}
		return p.expr(e, e.Type())
	}
	return p.expr(e, e.Type())
}

// bounds returns the bounds of a slice expression. Constants that Go would reject, as they are not
// in order, are printed as run-time values.
func (p *printer) bounds(lo, hi, max ir.Expr) string {
	list := []string{"", ""}
	seen, last := false, int64(0)
	for i, e := range []ir.Expr{lo, hi, max} {
		if e == nil {
			continue
		}
		s := p.index(e, -1)
		if constantExpr(e) {
			switch n := number(e); {
			case seen && n < last:
				s = p.runtimeValue(e)
			case n < 0: // not representable: no later constant is known to be in order
				last = math.MaxInt64
			default:
				last = n
			}
			seen = true
		}
		if i == 2 {
			list = append(list, s)
		} else {
			list[i] = s
		}
	}
	return "[" + strings.Join(list, ":") + "]"
}

// literal returns a composite literal. A slice longer than its last key gets a zero element at the
// end.
func (p *printer) literal(e *ir.Literal) string {
	list := make([]string, len(e.Elems))
	st, _ := e.T.Underlying().(*types.Struct)
	var of types.Type
	switch t := e.T.Underlying().(type) {
	case *types.Array:
		of = t.Elem()
	case *types.Slice:
		of = t.Elem()
	}
	plain, last := true, 0
	for i, k := range e.Keys {
		plain = plain && k == i
		last = max(last, k+1)
	}
	for i, x := range e.Elems {
		switch {
		case st != nil:
			list[i] = p.field(e.T, e.Keys[i]) + ": " + p.expr(x, st.Field(e.Keys[i]).Type())
		case plain:
			list[i] = p.expr(x, of)
		default:
			list[i] = strconv.Itoa(e.Keys[i]) + ": " + p.expr(x, of)
		}
	}
	// A trailing zero element determines the length.
	if _, slice := e.T.Underlying().(*types.Slice); slice && e.Len > last {
		z, _ := p.constant(&ir.Const{Typed: ir.Typed{T: of}}, of)
		list = append(list, strconv.Itoa(e.Len-1)+": "+z)
	}
	fields := strings.Join(list, ", ")
	if st != nil && slices.ContainsFunc(e.Keys, func(k int) bool { return p.mirrored(e.T, k) }) {
		return p.unmirrored(e.T, fields)
	}
	return p.typ(e.T) + "{" + fields + "}"
}

// place returns a place in Go's syntax.
func (p *printer) place(at *ir.Place) string { return p.path(at, false) }

// path is place; if sliced is set, bounds follow. A field or an index of an array follows a pointer
// without a star.
func (p *printer) path(at *ir.Place, sliced bool) string {
	s := p.name(at.Root)
	t := at.Root.Type
	if b := p.boundaryOf(at.Root.Object); b != nil {
		s = p.converted(b, s)
	}
	pointer := false // s is a pointer to the value of type t
	suffix := func(x string) {
		if strings.HasPrefix(s, "*") {
			s = "(" + s + ")"
		}
		s += x
	}
	for i, step := range at.Path {
		next := (&ir.Place{Root: at.Root, Path: at.Path[:i+1]}).Type()
		if next == nil {
			p.refuse("a path that does not fit %s", at.Root.Name)
		}
		switch {
		case step.Field >= 0:
			if p.mirrored(t, step.Field) {
				s = p.asMirror(t, s, pointer)
			}
			suffix("." + p.field(t, step.Field))
		case step.Index != nil:
			n := int64(-1)
			if a, ok := t.Underlying().(*types.Array); ok {
				n = a.Len()
			}
			suffix("[" + p.index(step.Index, n) + "]")
		case i+1 < len(at.Path) &&
			(at.Path[i+1].Field >= 0 || at.Path[i+1].Index != nil && isArray(next)), i+1 == len(at.Path) && sliced:
			// no star
			suffix("")
			t, pointer = next, true
			continue
		default:
			s = "*" + s
		}
		t, pointer = next, false
	}
	if sliced {
		suffix("")
	}
	return s
}

func isArray(t types.Type) bool {
	_, ok := t.Underlying().(*types.Array)
	return ok
}

// field returns the name of a field of a value of type t, or of its mirror.
func (p *printer) field(t types.Type, i int) string {
	f := t.Underlying().(*types.Struct).Field(i)
	if f.Name() == "_" {
		p.refuse("a field without a name in %s", t)
	}
	return f.Name()
}

// number returns the value of an integer constant, -1 for other expressions.
func number(e ir.Expr) int64 {
	if c, ok := e.(*ir.Const); ok && c.Val == nil {
		return 0
	} else if ok {
		if n, ok := constant.Int64Val(constant.ToInt(c.Val)); ok {
			return n
		}
	}
	return -1
}
