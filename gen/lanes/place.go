package lanes

import (
	"go/token"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// A laneNumber is a divergent float as a leaf of a laneExpr or the target of an assignment. Its lanes are either
// scalars or the elements of an array at place.
type laneNumber struct {
	ir.Typed
	scalars []*ir.Var
	place   *ir.Place
}

// lanePlace returns the place of lane k.
func (x *laneNumber) lanePlace(k int) *ir.Place {
	if x.scalars != nil {
		return x.scalars[k].Place()
	}
	return &ir.Place{Root: x.place.Root, Path: append(slices.Clip(x.place.Path), ir.IndexStep(ir.Count(k)))}
}

// loadLane returns the number of lane k, with the type of the original float.
func (x *laneNumber) loadLane(k int) ir.Expr {
	p := x.lanePlace(k)
	return convertNumber(x.T, &ir.Load{Typed: ir.Typed{T: p.Type()}, P: p})
}

// setLane returns the assignment of e to lane k.
func (x *laneNumber) setLane(at ir.At, k int, e ir.Expr) ir.Stmt {
	p := x.lanePlace(k)
	return &ir.Set{At: at, P: p, E: convertNumber(p.Type(), e)}
}

// addLane returns the addition of e to lane k. It is performed in the type of the original float.
func (x *laneNumber) addLane(at ir.At, k int, e ir.Expr) ir.Stmt {
	p := x.lanePlace(k)
	if types.Identical(p.Type(), e.Type()) {
		return &ir.Add{At: at, P: p, E: e}
	}
	return x.setLane(at, k, &ir.Binary{Typed: ir.Typed{T: x.T}, Op: token.ADD, X: x.loadLane(k), Y: e})
}

// convertNumber converts the number e to type t if it has another one: arrays of lanes have elements of unnamed types.
func convertNumber(t types.Type, e ir.Expr) ir.Expr {
	if types.Identical(t, e.Type()) {
		return e
	}
	if c, ok := e.(*ir.Const); ok {
		return &ir.Const{Typed: ir.Typed{T: t}, Val: c.Val, Text: c.Text}
	}
	return &ir.Convert{Typed: ir.Typed{T: t}, X: e}
}

// A rowPointer is a variable that points to the array of lanes at place; target is the array.
type rowPointer struct{ place, target *ir.Place }

// laneNumber returns the divergent float at p. The address of an array of lanes in memory is computed once and reused
// until the next flush, so that bounds are checked once and not per lane.
func (b *builder) laneNumber(p *ir.Place) *laneNumber {
	typed := ir.Typed{T: p.Type()}
	if len(p.Path) == 0 && b.hasScalars(p.Root) {
		return &laneNumber{Typed: typed, scalars: b.scalars(p.Root)}
	}
	q := b.divergentPlace(p)
	// An array in a local variable needs no pointer to its row, only indices that are cheap to repeat.
	if !q.Indirect() {
		for i, s := range q.Path {
			if s.Index != nil {
				q.Path[i] = ir.IndexStep(b.atom(s.Index))
			}
		}
		return &laneNumber{Typed: typed, place: q}
	}
	for _, r := range b.rows {
		if ir.EqualPlace(r.place, q) {
			return &laneNumber{Typed: typed, place: r.target}
		}
	}
	// Already a pointer to a row.
	if len(q.Path) == 1 && q.Path[0].IsDeref() {
		return &laneNumber{Typed: typed, place: q}
	}
	v := &ir.Var{Name: b.names.Name(p.Root.Name + "Row"), Type: types.NewPointer(q.Type())}
	b.Emit(&ir.Let{At: b.At, V: v, E: &ir.Addr{Typed: ir.Typed{T: v.Type}, P: q}})
	at := &ir.Place{Root: v, Path: []ir.Step{ir.DerefStep()}}
	if b.onlyLane < 0 {
		b.rows = append(b.rows, rowPointer{place: q, target: at})
		for _, e := range q.Indices() { // the pointer is stale if they change
			ir.WalkExpr(e, func(e ir.Expr) bool {
				if p := ir.PlaceOf(e); p != nil {
					b.pendingReads[p.Root] = true
				}
				return true
			})
		}
	}
	return &laneNumber{Typed: typed, place: at}
}

// divergentPlace returns the place of lane type that replaces the divergent place p.
func (b *builder) divergentPlace(p *ir.Place) *ir.Place {
	q := b.uniformIndices(p)
	if _, ok := b.cell(p).(field); !ok {
		return &ir.Place{Root: b.laneVar(p.Root), Path: b.types.Path(p.Root.Type, q.Path)}
	}
	// The path of a workspace place begins with a dereference and the field.
	of := (&ir.Place{Root: p.Root, Path: p.Path[:2]}).Type()
	path := []ir.Step{p.Path[0], ir.FieldStep(b.laneField(p.Path[1].Field, of))}
	return &ir.Place{Root: p.Root, Path: append(path, b.types.Path(of, q.Path[2:])...)}
}

// laneField returns the field of the workspace that is the lane form of field f of type t, adding it if needed.
func (p *Program) laneField(f int, t types.Type) int {
	g, ok := p.laneFields[f]
	if !ok {
		g = p.workspace.Field(f, p.types.LaneType(t))
		p.laneFields[f] = g
	}
	return g
}

// uniformIndices returns p with its indices rewritten. Indices are always uniform.
func (b *builder) uniformIndices(p *ir.Place) *ir.Place {
	q := &ir.Place{Root: p.Root, Path: slices.Clone(p.Path)}
	for i, s := range q.Path {
		if s.Index != nil {
			q.Path[i] = ir.IndexStep(b.uniform(s.Index))
		}
	}
	return q
}
