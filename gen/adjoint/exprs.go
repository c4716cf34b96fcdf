package adjoint

import (
	"go/constant"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

var (
	integer = types.Typ[types.Int]
	boolean = types.Typ[types.Bool]
)

func count(n int64) ir.Expr {
	return &ir.Const{Typed: ir.Typed{T: integer}, Val: constant.MakeInt64(n)}
}

func length(s ir.Expr) ir.Expr { return &ir.Len{Typed: ir.Typed{T: integer}, X: s} }

// zero is the zero value of a type.
func zero(t types.Type) ir.Expr { return &ir.Const{Typed: ir.Typed{T: t}} }

func number(t types.Type, v float64) ir.Expr {
	return &ir.Const{Typed: ir.Typed{T: t}, Val: constant.MakeFloat64(v)}
}

func binary(t types.Type, op token.Token, x, y ir.Expr) ir.Expr {
	return &ir.Binary{Typed: ir.Typed{T: t}, Op: op, X: x, Y: y}
}

func compare(op token.Token, x, y ir.Expr) ir.Expr { return binary(boolean, op, x, y) }

func load(p *ir.Place, t types.Type) ir.Expr { return &ir.Load{Typed: ir.Typed{T: t}, P: p} }

// step is p with further steps.
func step(p *ir.Place, s ...ir.Step) *ir.Place {
	return &ir.Place{Root: p.Root, Path: append(p.Path[:len(p.Path):len(p.Path)], s...)}
}

// ownFloats reports whether a value of type t has numbers in itself, not behind slices
// and pointers.
func ownFloats(t types.Type) bool { return ir.OwnFloats(t) }

// leads reports whether a value of type t has slices or pointers in itself that lead to
// numbers.
func leads(t types.Type) bool { return ir.LeadsToFloats(t) }

// leaf says which parts of a value are meant.
type leaf uint8

const (
	floats leaf = iota // its own numbers
	refs               // its own slices and pointers that lead to numbers
)

func (l leaf) in(t types.Type) bool {
	if l == floats {
		return ownFloats(t)
	}
	return leads(t)
}

// only reports whether a value of type t has no other parts that a shadow keeps.
func (l leaf) only(t types.Type) bool { return l.in(t) && !(1 - l).in(t) }

// each calls visit for the smallest number of places that together are the parts of p
// that are meant, and only those. Arrays become loops, in what emit gets.
func (l leaf) each(names *ir.Namer, at ir.At, t types.Type, places []*ir.Place,
	visit func(t types.Type, places []*ir.Place) ir.Block) ir.Block {
	if l.only(t) {
		return visit(t, places)
	}
	down := func(s ir.Step) []*ir.Place {
		out := make([]*ir.Place, len(places))
		for i, p := range places {
			out[i] = step(p, s)
		}
		return out
	}
	var out ir.Block
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			if f := u.Field(i).Type(); l.in(f) {
				out = append(out, l.each(names, at, f, down(ir.FieldStep(i)), visit)...)
			}
		}
	case *types.Array:
		v := &ir.Var{Name: names.Name("i"), Type: integer}
		body := l.each(names, at, u.Elem(), down(ir.IndexStep(v.Load())), visit)
		out = ir.Block{upward(names, at, v, count(0), count(u.Len()), body)}
	}
	return out
}

// upward is a loop of v from lo to below hi.
func upward(names *ir.Namer, at ir.At, v *ir.Var, lo, hi ir.Expr, body ir.Block) *ir.Loop {
	return &ir.Loop{At: at, L: &ir.Label{Name: names.Name("loop")}, Next: &ir.Label{Name: names.Name("next")},
		V: v, Lo: lo, Hi: hi, Step: 1, Body: body}
}

// downward is a loop of v from below hi down to lo.
func downward(names *ir.Namer, at ir.At, v *ir.Var, lo, hi ir.Expr, body ir.Block) *ir.Loop {
	return &ir.Loop{At: at, L: &ir.Label{Name: names.Name("loop")}, Next: &ir.Label{Name: names.Name("next")},
		V: v, Lo: minus1(v.Type, hi), Hi: minus1(v.Type, lo), Step: -1, Body: body}
}

func minus1(t types.Type, e ir.Expr) ir.Expr {
	one := &ir.Const{Typed: ir.Typed{T: t}, Val: constant.MakeInt64(1)}
	if c, ok := e.(*ir.Const); ok {
		v := c.Val
		if v == nil {
			v = constant.MakeInt64(0)
		}
		return &ir.Const{Typed: ir.Typed{T: t}, Val: constant.BinaryOp(v, token.SUB, one.Val)}
	}
	return binary(t, token.SUB, e, one)
}

const (
	opAdd, opSub, opMul, opQuo = token.ADD, token.SUB, token.MUL, token.QUO
	opLss, opEql               = token.LSS, token.EQL
)

func basicKind(t types.Type) types.BasicKind {
	if b, ok := t.Underlying().(*types.Basic); ok {
		return b.Kind()
	}
	return types.Invalid
}

func integerOf(t types.Type, n int64) ir.Expr {
	return &ir.Const{Typed: ir.Typed{T: t}, Val: constant.MakeInt64(n)}
}

func plus1(e ir.Expr) ir.Expr {
	if c, ok := e.(*ir.Const); ok && c.Val != nil {
		return &ir.Const{Typed: c.Typed, Val: constant.BinaryOp(c.Val, token.ADD, constant.MakeInt64(1))}
	}
	return binary(e.Type(), token.ADD, e, integerOf(e.Type(), 1))
}

func convert(t types.Type, e ir.Expr) ir.Expr {
	if types.Identical(t, e.Type()) {
		return e
	}
	return &ir.Convert{Typed: ir.Typed{T: t}, X: e}
}

func truth(b bool) ir.Expr {
	return &ir.Const{Typed: ir.Typed{T: boolean}, Val: constant.MakeBool(b)}
}

func isSliceLiteral(e ir.Expr) bool {
	l, ok := e.(*ir.Literal)
	return ok && elemOf(l.T) != nil
}

// refParams are the parameters that lead to memory.
func refParams(f *ir.Func) (out []int) {
	for i, v := range f.Params {
		if activity.HasRefs(v.Type) {
			out = append(out, i)
		}
	}
	return out
}
