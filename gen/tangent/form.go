package tangent

import (
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// leaf is the shadow of a number in an expression for its derivative: a variable for each
// lane, or an array of them at a place.
type leaf struct {
	ir.Typed
	scalars []*ir.Var
	place   *ir.Place
}

// at is where lane k is.
func (x *leaf) at(k int) *ir.Place {
	if x.scalars != nil {
		return x.scalars[k].Place()
	}
	path := append(slices.Clip(x.place.Path), ir.IndexStep(lane(k)))
	return &ir.Place{Root: x.place.Root, Path: path}
}

func lane(k int) ir.Expr {
	return &ir.Const{Typed: ir.Typed{T: types.Typ[types.Int]}, Val: constant.MakeInt64(int64(k))}
}

// form is a sum of shadows with factors, which are numbers that all lanes share: it is
// made once for a statement and written for each lane.
type form struct {
	t     types.Type
	terms []term
}

// term is ±factor·leaf or ±factor·sub; a nil factor is 1. A sub of another type is
// converted.
type term struct {
	minus  bool
	factor ir.Expr
	leaf   *leaf
	sub    *form
}

// formOf brings the expression of a derivative into this form; factors are computed now.
func (b *builder) formOf(e ir.Expr) *form {
	f := &form{t: e.Type()}
	switch e := e.(type) {
	case *leaf:
		f.terms = []term{{leaf: e}}
	case *ir.Const: // zero
	case *ir.Unary:
		f = b.formOf(e.X)
		if e.Op == token.SUB {
			f = f.negated()
		}
	case *ir.Convert:
		x := b.formOf(e.X)
		if types.Identical(x.t, e.T) {
			return x
		}
		f.terms = []term{{sub: x}}
	case *ir.Binary:
		switch {
		case e.Op == token.ADD:
			return b.sum(b.formOf(e.X), b.formOf(e.Y))
		case e.Op == token.SUB:
			return b.sum(b.formOf(e.X), b.formOf(e.Y).negated())
		case e.Op == token.QUO:
			return b.scaled(b.formOf(e.X), b.combined(token.QUO, number(e.T, 1), e.Y))
		case moves(e.X):
			return b.scaled(b.formOf(e.X), b.atom(e.Y))
		default:
			return b.scaled(b.formOf(e.Y), b.atom(e.X))
		}
	default:
		b.refuse("the lanes of a %T", e)
	}
	return f
}

// moves reports whether a shadow is in the expression of a derivative.
func moves(e ir.Expr) bool {
	switch e := e.(type) {
	case *leaf:
		return true
	case *ir.Unary:
		return moves(e.X)
	case *ir.Convert:
		return moves(e.X)
	case *ir.Binary:
		return moves(e.X) || moves(e.Y)
	}
	return false
}

func (f *form) negated() *form {
	g := &form{t: f.t, terms: slices.Clone(f.terms)}
	for i := range g.terms {
		g.terms[i].minus = !g.terms[i].minus
	}
	return g
}

// sum brings together the factors of what stands in both.
func (b *builder) sum(f, g *form) *form {
	out := &form{t: f.t, terms: slices.Clone(f.terms)}
	for _, y := range g.terms {
		i := slices.IndexFunc(out.terms, func(x term) bool { return x.leaf != nil && x.leaf.is(y.leaf) })
		if i < 0 {
			out.terms = append(out.terms, y)
			continue
		}
		x := &out.terms[i]
		op := token.ADD
		if x.minus != y.minus {
			op = token.SUB
		}
		x.factor = b.combined(op, b.factor(f.t, *x), b.factor(f.t, y))
	}
	return out
}

func (b *builder) factor(t types.Type, x term) ir.Expr {
	if x.factor == nil {
		return number(t, 1)
	}
	return x.factor
}

// scaled is c·f. A sum of several shadows without factors is kept together, which is one
// multiplication for each lane; else c goes into the factors.
func (b *builder) scaled(f *form, c ir.Expr) *form {
	if v, ok := value(c); ok && v == 1 {
		return f
	} else if ok && v == -1 {
		return f.negated()
	}
	bare := 0
	for _, x := range f.terms {
		if x.factor == nil {
			bare++
		}
	}
	if bare > 1 {
		return &form{t: f.t, terms: []term{{factor: c, sub: f}}}
	}
	out := &form{t: f.t, terms: slices.Clone(f.terms)}
	for i := range out.terms {
		x := &out.terms[i]
		if x.factor == nil {
			x.factor = c
		} else {
			x.factor = b.combined(token.MUL, x.factor, c)
		}
	}
	return out
}

// combined is an operation on factors, which is done now if both are constants.
func (b *builder) combined(op token.Token, x, y ir.Expr) ir.Expr {
	u, uok := value(x)
	v, vok := value(y)
	if t, ok := x.Type().Underlying().(*types.Basic); uok && vok && ok && t.Kind() == types.Float64 {
		switch op {
		case token.ADD:
			u += v
		case token.SUB:
			u -= v
		case token.QUO:
			u /= v
		default:
			u *= v
		}
		if math.Abs(u) <= math.MaxFloat64 {
			return number(x.Type(), u)
		}
	}
	return b.atom(&ir.Binary{Typed: ir.Typed{T: x.Type()}, Op: op, X: x, Y: y})
}

// value is that of a constant.
func value(e ir.Expr) (v float64, ok bool) {
	c, ok := e.(*ir.Const)
	if !ok {
		return 0, false
	}
	if c.Val == nil {
		return 0, true
	}
	v, _ = constant.Float64Val(constant.ToFloat(c.Val))
	return v, true
}

// expr is the sum for lane k.
func (f *form) expr(k int) ir.Expr {
	var out ir.Expr
	typed := ir.Typed{T: f.t}
	for _, x := range f.ordered() {
		var e ir.Expr
		if x.leaf != nil {
			e = &ir.Load{Typed: x.leaf.Typed, P: x.leaf.at(k)}
		} else if e = x.sub.expr(k); !types.Identical(x.sub.t, f.t) {
			e = &ir.Convert{Typed: typed, X: e}
		}
		if x.factor != nil {
			e = &ir.Binary{Typed: typed, Op: token.MUL, X: x.factor, Y: e}
		}
		switch {
		case out == nil && x.minus:
			out = &ir.Unary{Typed: typed, Op: token.SUB, X: e}
		case out == nil:
			out = e
		case x.minus:
			out = &ir.Binary{Typed: typed, Op: token.SUB, X: out, Y: e}
		default:
			out = &ir.Binary{Typed: typed, Op: token.ADD, X: out, Y: e}
		}
	}
	if out == nil {
		return zero(f.t)
	}
	return out
}

// ordered has a term without a minus in front, if there is one.
func (f *form) ordered() []term {
	i := slices.IndexFunc(f.terms, func(x term) bool { return !x.minus })
	if i <= 0 {
		return f.terms
	}
	return slices.Concat(f.terms[i:i+1], f.terms[:i], f.terms[i+1:])
}

// reads lists the variables that the factors are.
func (f *form) reads() (list []*ir.Var) {
	for _, x := range f.terms {
		if l, ok := x.factor.(*ir.Load); ok {
			list = append(list, l.P.Root)
		}
		if x.sub != nil {
			list = append(list, x.sub.reads()...)
		} else if x.leaf.place != nil {
			for _, e := range x.leaf.place.Indices() {
				if l, ok := e.(*ir.Load); ok {
					list = append(list, l.P.Root)
				}
			}
		}
	}
	return list
}

// is reports whether y is the same shadow.
func (x *leaf) is(y *leaf) bool {
	switch {
	case y == nil:
		return false
	case x.scalars != nil || y.scalars != nil:
		return x.scalars != nil && y.scalars != nil && x.scalars[0] == y.scalars[0]
	}
	return samePlace(x.place, y.place)
}

// samePlace reports whether two places are written alike.
func samePlace(p, q *ir.Place) bool {
	return p.Root == q.Root && slices.EqualFunc(p.Path, q.Path, func(s, t ir.Step) bool {
		return s.Field == t.Field && (s.Index == nil) == (t.Index == nil) && (s.Index == nil || sameExpr(s.Index, t.Index))
	})
}

// sameExpr reports whether two expressions are written alike; it knows what is usual in
// an index.
func sameExpr(x, y ir.Expr) bool {
	if !types.Identical(x.Type(), y.Type()) {
		return false
	}
	switch x := x.(type) {
	case *ir.Const:
		y, ok := y.(*ir.Const)
		if !ok || (x.Val == nil) != (y.Val == nil) {
			return false
		}
		return x.Val == nil || x.Val.Kind() == y.Val.Kind() && x.Val.ExactString() == y.Val.ExactString()
	case *ir.Load:
		y, ok := y.(*ir.Load)
		return ok && samePlace(x.P, y.P)
	case *ir.Binary:
		y, ok := y.(*ir.Binary)
		return ok && x.Op == y.Op && sameExpr(x.X, y.X) && sameExpr(x.Y, y.Y)
	case *ir.Len:
		y, ok := y.(*ir.Len)
		return ok && x.Cap == y.Cap && sameExpr(x.X, y.X)
	}
	return false
}
