package lower

import (
	"go/ast"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// parallel assigns es to places simultaneously, as Go does: a value or an operand of a place that
// an earlier assignment may change is saved in a temporary first. The value for a nil place is
// discarded; a place that is a new variable is declared.
func (l *lowerer) parallel(n ast.Node, places []*ir.Place, es []ir.Expr) {
	for i := range es {
		for j := range i {
			w := places[j]
			if w == nil {
				continue
			}
			// Assignment j comes before assignment i: the values that i reads must not depend on it.
			if l.readBy(w, es[i]) {
				es[i] = l.temp(n, "t", es[i].Type(), es[i]).Load()
			}
			if places[i] != nil && l.readByPlace(w, places[i]) {
				places[i] = l.freeze(n, places[i])
			}
		}
	}
	for i, p := range places {
		switch {
		case p == nil:
			if mayPanic(es[i]) {
				l.temp(n, "unused", es[i].Type(), es[i])
			}
		case p.Root.Kind == ir.Local && len(p.Path) == 0 && l.env[p.Root.Object] == nil && p.Root.Object != nil:
			l.emit(&ir.Let{At: l.at(n), V: p.Root, E: es[i]})
		case isLoadOf(es[i], p):
		default:
			l.emit(&ir.Set{At: l.at(n), P: p, E: es[i]})
		}
	}
}

// isLoadOf reports whether e reads the whole variable p.
func isLoadOf(e ir.Expr, p *ir.Place) bool {
	x, ok := e.(*ir.Load)
	return ok && x.P.Root == p.Root && len(x.P.Path) == 0 && len(p.Path) == 0
}

// freeze returns p with its indices, and the slices and pointers on its path, in temporaries, so
// that later assignments do not change which memory it denotes.
func (l *lowerer) freeze(n ast.Node, p *ir.Place) *ir.Place {
	q := &ir.Place{Root: p.Root}
	for _, s := range p.Path {
		t, _ := placeType(q, nil)
		switch t.Underlying().(type) {
		case *types.Slice, *types.Pointer:
			q = &ir.Place{Root: l.temp(n, "t", t, ir.LoadOf(q, t))}
		}
		if s.Index != nil {
			if _, ok := constInt(s.Index); !ok {
				s = ir.IndexStep(l.temp(n, "i", s.Index.Type(), s.Index).Load())
			}
		}
		q.Path = append(q.Path, s)
	}
	return q
}
