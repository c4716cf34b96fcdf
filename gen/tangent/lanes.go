package tangent

import (
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"strconv"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// lanesOp is what is to be done with each lane. It may be put off behind statements that
// change nothing that it reads: several are then written together, a few lanes at a time,
// so that what they hand on stays in registers.
type lanesOp func(lanes []int) []ir.Stmt

// together is how many lanes are written at a time.
const together = 2

// do has op done.
func (b *builder) do(reads []*ir.Var, op lanesOp) {
	if b.width() == 1 {
		b.out = append(b.out, op([]int{0})...)
		return
	}
	b.pending = append(b.pending, op)
	for _, v := range reads {
		b.reads[v] = true
	}
}

// flush writes what was put off.
func (b *builder) flush() {
	n := b.width()
	for lo := 0; lo < n && len(b.pending) > 0; lo += together {
		var list []int
		for k := lo; k < min(lo+together, n); k++ {
			list = append(list, k)
		}
		for _, op := range b.pending {
			b.out = append(b.out, op(list)...)
		}
	}
	b.pending, b.rows = nil, nil
	clear(b.reads)
}

func (b *builder) width() int { return b.program.lanes.N() }

// scalar reports whether the shadow of v is a variable for each lane. Where the address
// of a number is taken, its lanes are one array.
func (b *builder) scalar(v *ir.Var) bool {
	return b.width() > 1 && activity.IsFloat(v.Type) && !b.addressed[v]
}

// scalars are the variables that are the lanes of a number, in the function's signature
// or in its body.
func (b *builder) scalars(v *ir.Var) []*ir.Var {
	list := b.lane[v]
	if list == nil {
		for k := range b.width() {
			name := b.names.Name(v.Name + "Dot" + strconv.Itoa(k))
			list = append(list, &ir.Var{Name: name, Type: v.Type, Kind: v.Kind, Pos: v.Pos})
		}
		b.lane[v] = list
	}
	return list
}

// shadows are the variables of the signature that are the shadow of v.
func (b *builder) shadows(v *ir.Var) []*ir.Var {
	if b.width() > 1 && activity.IsFloat(v.Type) {
		return b.scalars(v)
	}
	return []*ir.Var{b.of(v)}
}

// load is the shadow of the number at p in an expression.
func (b *builder) load(e *ir.Load) ir.Expr {
	if b.width() == 1 {
		return &ir.Load{Typed: e.Typed, P: b.place(e.P)}
	}
	return b.leaf(e.P)
}

// leaf is the shadow of the number at p.
func (b *builder) leaf(p *ir.Place) *leaf {
	typed := ir.Typed{T: p.Type()}
	if b.scalar(p.Root) {
		return &leaf{Typed: typed, scalars: b.scalars(p.Root)}
	}
	q := b.place(p)
	if !q.Behind() {
		for i, s := range q.Path {
			if s.Index != nil {
				q.Path[i] = ir.IndexStep(b.atom(s.Index))
			}
		}
		return &leaf{Typed: typed, place: q}
	}
	for _, r := range b.rows {
		if samePlace(r.of, q) {
			return &leaf{Typed: typed, place: r.at}
		}
	}
	if n := len(q.Path); q.Path[n-1].IsDeref() { // a pointer that is a variable, or behind one
		if n == 1 {
			return &leaf{Typed: typed, place: q}
		}
	}
	v := &ir.Var{Name: b.names.Name(p.Root.Name + "Row"), Type: types.NewPointer(q.Type())}
	b.emit(&ir.Let{At: b.at, V: v, E: &ir.Addr{Typed: ir.Typed{T: v.Type}, P: q}})
	at := &ir.Place{Root: v, Path: []ir.Step{ir.DerefStep()}}
	b.rows = append(b.rows, row{of: q, at: at})
	return &leaf{Typed: typed, place: at}
}

// row is a pointer to the lanes of a number in memory.
type row struct{ of, at *ir.Place }

// dot is the derivative e for the lanes, and the variables that are read for it.
func (b *builder) dot(e ir.Expr, t types.Type) (of func(k int) ir.Expr, reads []*ir.Var) {
	switch {
	case e == nil:
		return func(int) ir.Expr { return zero(t) }, nil
	case b.width() == 1:
		return func(int) ir.Expr { return e }, nil
	}
	f := b.formOf(e)
	return f.expr, f.reads()
}

// store assigns the derivative e to the shadow of what is at p.
func (b *builder) store(at ir.At, p *ir.Place, e ir.Expr) {
	of, reads := b.dot(e, p.Type())
	if b.width() == 1 {
		b.emit(&ir.Set{At: at, P: b.place(p), E: of(0)})
		return
	}
	to := b.leaf(p)
	b.do(append(reads, to.reads()...), func(lanes []int) (out []ir.Stmt) {
		for _, k := range lanes {
			out = append(out, &ir.Set{At: at, P: to.at(k), E: of(k)})
		}
		return out
	})
}

// add adds the derivative e to the shadow of what is at p.
func (b *builder) add(at ir.At, p *ir.Place, e ir.Expr) {
	of, reads := b.dot(e, p.Type())
	if b.width() == 1 {
		b.emit(&ir.Add{At: at, P: b.place(p), E: of(0)})
		return
	}
	to := b.leaf(p)
	b.do(append(reads, to.reads()...), func(lanes []int) (out []ir.Stmt) {
		for _, k := range lanes {
			out = append(out, &ir.Add{At: at, P: to.at(k), E: of(k)})
		}
		return out
	})
}

func (x *leaf) reads() []*ir.Var { return (&form{terms: []term{{leaf: x}}}).reads() }

// declare makes the shadow of v, a number, with the derivative e.
func (b *builder) declare(at ir.At, v *ir.Var, e ir.Expr) {
	if b.width() > 1 && !b.scalar(v) {
		b.emit(&ir.Let{At: at, V: b.of(v), E: zero(b.of(v).Type)})
		if e != nil {
			b.store(at, v.Place(), e)
		}
		return
	}
	of, reads := b.dot(e, v.Type)
	list := []*ir.Var{nil}
	if b.width() == 1 {
		list[0] = b.of(v)
	} else {
		list = b.scalars(v)
	}
	b.do(reads, func(lanes []int) (out []ir.Stmt) {
		for _, k := range lanes {
			out = append(out, &ir.Let{At: at, V: list[k], E: of(k)})
		}
		return out
	})
}

// whole is the derivative e of a number of type t as a value that can be put into memory:
// a number or the array of its lanes.
func (b *builder) whole(e ir.Expr, t types.Type) ir.Expr {
	if b.width() == 1 {
		if e == nil {
			return zero(t)
		}
		return e
	}
	lt := b.program.lanes.Of(t)
	if e == nil {
		return zero(lt)
	}
	if x, ok := e.(*leaf); ok && x.place != nil {
		b.flush()
		return &ir.Load{Typed: ir.Typed{T: lt}, P: x.place}
	}
	v := &ir.Var{Name: b.names.Name("lanes"), Type: lt}
	b.emit(&ir.Let{At: b.at, V: v, E: zero(lt)})
	of, _ := b.dot(e, t)
	b.do(nil, func(lanes []int) (out []ir.Stmt) {
		to := &leaf{place: v.Place()}
		for _, k := range lanes {
			out = append(out, &ir.Set{At: b.at, P: to.at(k), E: of(k)})
		}
		return out
	})
	b.flush()
	return v.Load()
}

// spread is the derivative e of a number of type t as an expression for each lane.
func (b *builder) spread(e ir.Expr, t types.Type) (list []ir.Expr) {
	of, _ := b.dot(e, t)
	b.flush()
	for k := range b.width() {
		list = append(list, of(k))
	}
	return list
}

// numbers has the shadow of v, a number whose address is taken and that is in the
// signature, stand in an array as well.
func (b *builder) numbers(v *ir.Var, load bool) (out ir.Block) {
	to := &leaf{place: b.of(v).Place()}
	for k, x := range b.scalars(v) {
		if load {
			out = append(out, &ir.Set{P: to.at(k), E: x.Load()})
		} else {
			out = append(out, &ir.Set{P: x.Place(), E: &ir.Load{Typed: ir.Typed{T: x.Type}, P: to.at(k)}})
		}
	}
	return out
}

// addressedIn finds the numbers of a function whose address is taken.
func addressedIn(f *ir.Func) map[*ir.Var]bool {
	found := map[*ir.Var]bool{}
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				if a, ok := e.(*ir.Addr); ok && len(a.P.Path) == 0 {
					found[a.P.Root] = true
				}
				return true
			})
		}
		return true
	})
	return found
}

// guarded is the derivative of v = f(args) where the partial derivatives may be infinite,
// which does not meet a zero: the sum is made where the derivatives of the arguments are
// not zero. Several lanes are asked about one by one only where a partial is not finite.
func (b *builder) guarded(t types.Type, partials, dots []ir.Expr) ir.Expr {
	typed := ir.Typed{T: t}
	list := b.scalars(&ir.Var{Name: "d", Type: t})
	product := func(i, k int, of func(k int) ir.Expr) ir.Expr {
		return &ir.Binary{Typed: typed, Op: token.MUL, X: of(k), Y: partials[i]}
	}
	ofs := make([]func(k int) ir.Expr, len(dots))
	var reads []*ir.Var
	var finite ir.Expr
	for i, e := range dots {
		if e == nil {
			continue
		}
		of, r := b.dot(e, t)
		reads = append(reads, r...)
		if l, ok := partials[i].(*ir.Load); ok {
			reads = append(reads, l.P.Root)
		}
		ofs[i] = of
		size := ir.Expr(&ir.Math{Typed: ir.Typed{T: types.Typ[types.Float64]}, Name: "math.Abs", Args: []ir.Expr{partials[i]}})
		largest := &ir.Const{Typed: ir.Typed{T: types.Typ[types.Float64]}, Val: constant.MakeFloat64(math.MaxFloat64)}
		test := ir.Expr(&ir.Binary{Typed: ir.Typed{T: types.Typ[types.Bool]}, Op: token.LEQ, X: size, Y: largest})
		if finite == nil {
			finite = test
		} else {
			finite = &ir.Binary{Typed: ir.Typed{T: types.Typ[types.Bool]}, Op: token.LAND, X: finite, Y: test}
		}
	}
	b.do(reads, func(lanes []int) (out []ir.Stmt) {
		var each, all ir.Block
		for _, k := range lanes {
			out = append(out, &ir.Let{At: b.at, V: list[k], E: zero(t)})
			var sum ir.Expr
			for i, of := range ofs {
				if of == nil {
					continue
				}
				dx := of(k)
				if l, ok := dx.(*ir.Load); !ok || len(l.P.Path) > 0 {
					v := &ir.Var{Name: b.names.Name("t"), Type: t}
					each = append(each, &ir.Let{At: b.at, V: v, E: dx})
					dx = v.Load()
				}
				each = append(each, &ir.If{At: b.at,
					Cond: &ir.Binary{Typed: ir.Typed{T: types.Typ[types.Bool]}, Op: token.NEQ, X: dx, Y: number(t, 0)},
					Then: ir.Block{&ir.Add{At: b.at, P: list[k].Place(), E: &ir.Binary{Typed: typed, Op: token.MUL, X: dx, Y: partials[i]}}}})
				if p := product(i, k, of); sum == nil {
					sum = p
				} else {
					sum = &ir.Binary{Typed: typed, Op: token.ADD, X: sum, Y: p}
				}
			}
			all = append(all, &ir.Set{At: b.at, P: list[k].Place(), E: sum})
		}
		return append(out, &ir.If{At: b.at, Cond: finite, Then: all, Else: each})
	})
	return &leaf{Typed: typed, scalars: list}
}

// assigned has what was put off done before p is assigned to, if it may be read for that:
// what is no float may be an index or a pointer on the path to a shadow.
func (b *builder) assigned(p *ir.Place) {
	if !activity.IsFloat(p.Type()) || len(p.Path) == 0 && b.reads[p.Root] {
		b.flush()
	}
}
