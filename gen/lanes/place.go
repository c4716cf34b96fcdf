package lanes

import (
	"go/token"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// leaf is a number that depends on the lane, in an expression: a variable for each lane,
// or an array of them at a place.
type laneNumber struct {
	ir.Typed
	scalars []*ir.Var
	place   *ir.Place
}

// at is where lane k is.
func (x *laneNumber) lanePlace(k int) *ir.Place {
	if x.scalars != nil {
		return x.scalars[k].Place()
	}
	return &ir.Place{Root: x.place.Root, Path: append(slices.Clip(x.place.Path), ir.IndexStep(intConst(k)))}
}

// load is the number for lane k.
func (x *laneNumber) loadLane(k int) ir.Expr {
	p := x.lanePlace(k)
	return convertNumber(x.T, &ir.Load{Typed: ir.Typed{T: p.Type()}, P: p})
}

// set assigns e to lane k.
func (x *laneNumber) setLane(at ir.At, k int, e ir.Expr) ir.Stmt {
	p := x.lanePlace(k)
	return &ir.Set{At: at, P: p, E: convertNumber(p.Type(), e)}
}

// add adds e to lane k. The sum is one of the number's own type.
func (x *laneNumber) addLane(at ir.At, k int, e ir.Expr) ir.Stmt {
	p := x.lanePlace(k)
	if types.Identical(p.Type(), e.Type()) {
		return &ir.Add{At: at, P: p, E: e}
	}
	return x.setLane(at, k, &ir.Binary{Typed: ir.Typed{T: x.T}, Op: token.ADD, X: x.loadLane(k), Y: e})
}

// retyped is a number as one of type t: memory for several lanes has numbers of types
// without names.
func convertNumber(t types.Type, e ir.Expr) ir.Expr {
	if types.Identical(t, e.Type()) {
		return e
	}
	if c, ok := e.(*ir.Const); ok {
		return &ir.Const{Typed: ir.Typed{T: t}, Val: c.Val, Text: c.Text}
	}
	return &ir.Convert{Typed: ir.Typed{T: t}, X: e}
}

// row is a pointer to the lanes of a number in memory.
type rowPointer struct{ place, target *ir.Place }

// leaf is the number at p, which depends on the lane.
func (b *builder) laneNumber(p *ir.Place) *laneNumber {
	typed := ir.Typed{T: p.Type()}
	if len(p.Path) == 0 && b.hasScalars(p.Root) {
		return &laneNumber{Typed: typed, scalars: b.scalars(p.Root)}
	}
	q := b.divergentPlace(p)
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
	if len(q.Path) == 1 && q.Path[0].IsDeref() {
		return &laneNumber{Typed: typed, place: q}
	}
	v := &ir.Var{Name: b.names.Name(p.Root.Name + "Row"), Type: types.NewPointer(q.Type())}
	b.Emit(&ir.Let{At: b.At, V: v, E: &ir.Addr{Typed: ir.Typed{T: v.Type}, P: q}})
	at := &ir.Place{Root: v, Path: []ir.Step{ir.DerefStep()}}
	if b.onlyLane < 0 {
		b.rows = append(b.rows, rowPointer{place: q, target: at})
		for _, e := range q.Indices() { // which the row is good for
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

// place is where what stands for p is, as a whole; p depends on the lane.
func (b *builder) divergentPlace(p *ir.Place) *ir.Place {
	q := b.uniformIndices(p)
	if _, ok := b.cell(p).(field); !ok {
		return &ir.Place{Root: b.laneVar(p.Root), Path: b.types.Path(p.Root.Type, q.Path)}
	}
	of := (&ir.Place{Root: p.Root, Path: p.Path[:2]}).Type()
	path := []ir.Step{p.Path[0], ir.FieldStep(b.laneField(p.Path[1].Field, of))}
	return &ir.Place{Root: p.Root, Path: append(path, b.types.Path(of, q.Path[2:])...)}
}

// stands is the field of the workspace that stands for one of type t.
func (p *Program) laneField(f int, t types.Type) int {
	g, ok := p.laneFields[f]
	if !ok {
		g = p.workspace.Field(f, p.types.LaneType(t))
		p.laneFields[f] = g
	}
	return g
}

// same is p with the indices on its path written as there is one of them.
func (b *builder) uniformIndices(p *ir.Place) *ir.Place {
	q := &ir.Place{Root: p.Root, Path: slices.Clone(p.Path)}
	for i, s := range q.Path {
		if s.Index != nil {
			q.Path[i] = ir.IndexStep(b.uniform(s.Index))
		}
	}
	return q
}
