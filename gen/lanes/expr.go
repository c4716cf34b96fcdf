package lanes

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// exprDivergent reports whether the number or condition e may differ between lanes. Lengths and comparisons of
// references with nil are uniform.
func (b *builder) exprDivergent(e ir.Expr) bool {
	switch e := e.(type) {
	case nil, *ir.Len:
		return false
	case *ir.Load:
		return b.isDivergent(e.P)
	case *ir.Binary:
		if refersToFloats(e.X.Type()) {
			return false
		}
	}
	return slices.ContainsFunc(ir.Operands(e), b.exprDivergent)
}

// uniform returns the uniform expression e in terms of the lane form. It refuses divergent operands.
func (b *builder) uniform(e ir.Expr) ir.Expr {
	if e == nil {
		return nil
	}
	list := func(list []ir.Expr) []ir.Expr {
		out := make([]ir.Expr, len(list))
		for i, x := range list {
			out[i] = b.uniform(x)
		}
		return out
	}
	switch e := e.(type) {
	case *ir.Load:
		if b.isDivergent(e.P) {
			b.refuse("%s, which differs between lanes, is used where all lanes share one", e.P.Root.Name)
		}
		return &ir.Load{Typed: e.Typed, P: b.uniformIndices(e.P)}
	case *ir.Addr:
		return &ir.Addr{Typed: e.Typed, P: b.uniformPlace(e.P)}
	case *ir.SliceAt:
		return &ir.SliceAt{Typed: e.Typed, P: b.uniformPlace(e.P), Lo: b.uniform(e.Lo),
			Hi: b.uniform(e.Hi), Max: b.uniform(e.Max)}
	case *ir.TypeTest:
		return &ir.TypeTest{Typed: e.Typed, X: b.uniform(e.X), Of: e.Of}
	case *ir.Unbox:
		return &ir.Unbox{Typed: e.Typed, X: b.uniform(e.X)}
	case *ir.Box:
		return &ir.Box{Typed: e.Typed, X: b.uniform(e.X)}
	case *ir.Len:
		return &ir.Len{Typed: e.Typed, X: b.operand(e.X, b.memoryDivergent(e.X)), Cap: e.Cap}
	case *ir.Unary:
		return &ir.Unary{Typed: e.Typed, Op: e.Op, X: b.uniform(e.X)}
	case *ir.Binary:
		if refersToFloats(e.X.Type()) && (b.memoryDivergent(e.X) || b.memoryDivergent(e.Y)) {
			return &ir.Binary{Typed: e.Typed, Op: e.Op, X: b.laneValue(e.X), Y: b.laneValue(e.Y)}
		}
		return &ir.Binary{Typed: e.Typed, Op: e.Op, X: b.uniform(e.X), Y: b.uniform(e.Y)}
	case *ir.Math:
		return &ir.Math{Typed: e.Typed, Name: e.Name, Args: list(e.Args)}
	case *ir.Convert:
		return &ir.Convert{Typed: e.Typed, X: b.uniform(e.X)}
	case *ir.Slice:
		return &ir.Slice{Typed: e.Typed, X: b.uniform(e.X), Lo: b.uniform(e.Lo),
			Hi: b.uniform(e.Hi), Max: b.uniform(e.Max)}
	case *ir.Make:
		return &ir.Make{Typed: e.Typed, N: b.uniform(e.N), Cap: b.uniform(e.Cap)}
	case *ir.Literal:
		return &ir.Literal{Typed: e.Typed, Keys: e.Keys, Elems: list(e.Elems), Len: e.Len}
	case *ir.Opaque:
		return &ir.Opaque{Typed: e.Typed, Format: e.Format, Args: list(e.Args)}
	}
	return e
}

// uniformPlace returns the uniform place p, of which the address is taken.
func (b *builder) uniformPlace(p *ir.Place) *ir.Place {
	if b.isDivergent(p) {
		b.refuse("the address of %s, which differs between lanes, is used where all lanes share one",
			p.Root.Name)
	}
	return b.uniformIndices(p)
}

// laneValue returns a value of the lane type of e with the values of all lanes, for a declaration or an assignment.
func (b *builder) laneValue(e ir.Expr) ir.Expr {
	t := e.Type()
	typed := ir.Typed{T: b.types.LaneType(t)}
	if ir.IsFloat(t) {
		return b.laneArray(b.laneExpr(e))
	}
	switch e := e.(type) {
	case *ir.Const:
		return &ir.Const{Typed: typed}
	case *ir.Load:
		if b.isDivergent(e.P) {
			return &ir.Load{Typed: typed, P: b.divergentPlace(e.P)}
		}
		if !ir.HasRefs(t) {
			return b.broadcast(e)
		}
	case *ir.Addr:
		if b.isDivergent(e.P) {
			return &ir.Addr{Typed: typed, P: b.divergentPlace(e.P)}
		}
	case *ir.SliceAt:
		if b.isDivergent(e.P) {
			return &ir.SliceAt{Typed: typed, P: b.divergentPlace(e.P), Lo: b.uniform(e.Lo),
				Hi: b.uniform(e.Hi), Max: b.uniform(e.Max)}
		}
	case *ir.Slice:
		return &ir.Slice{Typed: typed, X: b.laneValue(e.X), Lo: b.uniform(e.Lo),
			Hi: b.uniform(e.Hi), Max: b.uniform(e.Max)}
	case *ir.Convert:
		x := b.laneValue(e.X)
		if types.Identical(x.Type(), typed.T) {
			return x
		}
		return &ir.Convert{Typed: typed, X: x}
	// Lengths are uniform.
	case *ir.Make:
		return &ir.Make{Typed: typed, N: b.uniform(e.N), Cap: b.uniform(e.Cap)}
	case *ir.New:
		return &ir.New{Typed: typed}
	// Literals contain atoms and places only; nested ones are declared first.
	case *ir.Literal:
		out := &ir.Literal{Typed: typed, Len: e.Len}
		st, _ := t.Underlying().(*types.Struct)
		for i, x := range e.Elems {
			k := e.Keys[i]
			if st != nil {
				if !activity.HasFloats(x.Type()) {
					continue
				}
				k = b.types.Field(st, k)
			}
			out.Keys, out.Elems = append(out.Keys, k), append(out.Elems, b.laneOperand(x))
		}
		return out
	}
	b.refuse("a value of type %s that all lanes share, where each needs one", t)
	return nil
}

// laneOperand is laneValue for operands, which must not be literals: those are declared as variables.
func (b *builder) laneOperand(e ir.Expr) ir.Expr {
	x := b.laneValue(e)
	if l, ok := x.(*ir.Literal); ok {
		v := &ir.Var{Name: b.names.Name("lanes"), Type: l.T}
		b.Emit(&ir.Let{At: b.At, V: v, E: l})
		return v.Load()
	}
	return x
}

// maxBroadcast is the length of the longest uniform array that is broadcast to all lanes.
const maxBroadcast = 64

// broadcast returns a value of lane type in which all lanes have the value of e, a uniform struct or array.
func (b *builder) broadcast(e *ir.Load) ir.Expr {
	out := &ir.Literal{Typed: ir.Typed{T: e.T}}
	part := func(k int, s ir.Step) {
		p := &ir.Place{Root: e.P.Root, Path: append(slices.Clip(e.P.Path), s)}
		if activity.HasFloats(p.Type()) {
			out.Keys, out.Elems = append(out.Keys, k), append(out.Elems, &ir.Load{Typed: ir.Typed{T: p.Type()}, P: p})
		}
	}
	switch t := e.T.Underlying().(type) {
	case *types.Struct:
		for i := range t.NumFields() {
			part(i, ir.FieldStep(i))
		}
	case *types.Array:
		if t.Len() > maxBroadcast {
			b.refuse("an array of %d elements that all lanes share, where each needs one",
				t.Len())
		}
		for i := range int(t.Len()) {
			part(i, ir.IndexStep(ir.Count(i)))
		}
	}
	return b.laneValue(out)
}

// laneArray returns an array of the lanes of a laneExpr.
func (b *builder) laneArray(e ir.Expr) ir.Expr {
	t := e.Type()
	typed := ir.Typed{T: b.types.LaneType(t)}
	if x, ok := e.(*laneNumber); ok && x.place != nil {
		return &ir.Load{Typed: typed, P: x.place}
	}
	if c, ok := e.(*ir.Const); ok && c.Val == nil {
		return &ir.Const{Typed: typed}
	}
	out := &ir.Literal{Typed: typed}
	for k := range b.types.n {
		out.Keys = append(out.Keys, k)
		out.Elems = append(out.Elems, convertNumber(typed.T.(*types.Array).Elem(), forLane(e, k)))
	}
	return out
}

// laneExpr returns the number or condition e as a template from which forLane makes the expression of one lane. Uniform
// subexpressions are evaluated into variables now; divergent loads become laneNumbers.
func (b *builder) laneExpr(e ir.Expr) ir.Expr {
	// Hoisting: evaluated once for all lanes.
	if !b.exprDivergent(e) {
		return b.atom(b.uniform(e))
	}
	switch e := e.(type) {
	case *ir.Load:
		if !ir.IsFloat(e.T) {
			b.refuse("%s, which holds no number, in memory that differs between lanes", e.P.Root.Name)
		}
		return b.laneNumber(e.P)
	case *ir.Unary:
		return &ir.Unary{Typed: e.Typed, Op: e.Op, X: b.laneExpr(e.X)}
	case *ir.Binary:
		return &ir.Binary{Typed: e.Typed, Op: e.Op, X: b.laneExpr(e.X), Y: b.laneExpr(e.Y)}
	case *ir.Convert:
		if !ir.IsFloat(e.T) {
			b.refuse("a number of type %s that differs between lanes", e.T)
		}
		return &ir.Convert{Typed: e.Typed, X: b.laneExpr(e.X)}
	case *ir.Math:
		m := &ir.Math{Typed: e.Typed, Name: e.Name}
		for _, a := range e.Args {
			m.Args = append(m.Args, b.laneExpr(a))
		}
		return m
	}
	b.refuse("a %T that differs between lanes", e)
	return nil
}

// atom returns e as an operand that is free to evaluate repeatedly: a constant or a variable, declared if necessary.
func (b *builder) atom(e ir.Expr) ir.Expr {
	switch x := e.(type) {
	case *ir.Const:
		return e
	case *ir.Load:
		if len(x.P.Path) == 0 && !b.addressed[x.P.Root] {
			return e
		}
	}
	if b.onlyLane >= 0 { // it is used once
		return e
	}
	v := &ir.Var{Name: b.names.Name("t"), Type: e.Type()}
	b.Emit(&ir.Let{At: b.At, V: v, E: e})
	return v.Load()
}

// forLane returns the expression of lane k of a laneExpr.
func forLane(e ir.Expr, k int) ir.Expr {
	switch e := e.(type) {
	case *laneNumber:
		return e.loadLane(k)
	case *ir.Unary:
		return &ir.Unary{Typed: e.Typed, Op: e.Op, X: forLane(e.X, k)}
	case *ir.Binary:
		return &ir.Binary{Typed: e.Typed, Op: e.Op, X: forLane(e.X, k), Y: forLane(e.Y, k)}
	case *ir.Convert:
		return &ir.Convert{Typed: e.Typed, X: forLane(e.X, k)}
	case *ir.Math:
		m := &ir.Math{Typed: e.Typed, Name: e.Name}
		for _, a := range e.Args {
			m.Args = append(m.Args, forLane(a, k))
		}
		return m
	}
	return e
}

// uniformReads returns the uniform variables that a laneExpr reads, the roots of arrays of lanes included.
func uniformReads(e ir.Expr) (list []*ir.Var) {
	var visit func(e ir.Expr)
	visit = func(e ir.Expr) {
		if x, ok := e.(*laneNumber); ok {
			if x.place != nil {
				list = append(list, x.place.Root)
				for _, i := range x.place.Indices() {
					visit(i)
				}
			}
			return
		}
		if p := ir.PlaceOf(e); p != nil {
			list = append(list, p.Root)
			for _, i := range p.Indices() {
				visit(i)
			}
		}
		for _, x := range ir.Operands(e) {
			visit(x)
		}
	}
	visit(e)
	return list
}
