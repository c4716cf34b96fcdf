package lower

import (
	"go/ast"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// literal lowers a composite literal of type t. Nested literals are in temporaries.
func (l *lowerer) literal(x *ast.CompositeLit, t types.Type) ir.Expr {
	if p, ok := t.Underlying().(*types.Pointer); ok { // an element whose &T is elided
		e := l.literal(x, p.Elem())
		v := l.temp(x, "t", e.Type(), e)
		return l.address(x, &ir.Place{Root: v})
	}
	lit := &ir.Literal{Typed: ir.Typed{T: t}}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i, e := range x.Elts {
			k := i
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Value
				for k = range u.NumFields() {
					if u.Field(k).Name() == kv.Key.(*ast.Ident).Name {
						break
					}
				}
			}
			lit.Keys = append(lit.Keys, k)
			lit.Elems = append(lit.Elems, l.coerce(l.expr(e), u.Field(k).Type(), e))
		}
	case *types.Array:
		l.elements(lit, x, u.Elem())
	case *types.Slice:
		lit.Len = l.elements(lit, x, u.Elem())
	case *types.Map:
		return l.mapLiteral(x, t)
	default:
		return l.refuseExpr(x, "composite literal", "its type is not known", "")
	}
	return lit
}

// elements adds the elements of an array or a slice to lit and returns the length.
func (l *lowerer) elements(lit *ir.Literal, x *ast.CompositeLit, t types.Type) int {
	next, n := 0, 0
	for _, e := range x.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if tv := l.info.Types[kv.Key]; tv.Value != nil {
				k, _ := constInt(l.constant(kv.Key, tv.Value, types.Typ[types.Int]))
				next = int(k)
			}
			e = kv.Value
		}
		lit.Keys = append(lit.Keys, next)
		lit.Elems = append(lit.Elems, l.coerce(l.expr(e), t, e))
		next++
		n = max(n, next)
	}
	return n
}
