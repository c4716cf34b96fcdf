package shortcut

import (
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// eval returns the value of e.
func (r *region) eval(at *env, e ir.Expr) value {
	switch x := e.(type) {
	case *ir.Const:
		switch {
		case x.Val != nil:
			return value{kind: exact, c: x.Val}
		case ir.HasInfo(x.T, types.IsNumeric):
			return value{kind: exact, c: constant.MakeInt64(0)}
		case ir.HasInfo(x.T, types.IsBoolean):
			return value{kind: exact, c: constant.MakeBool(false)}
		}
	case *ir.Load:
		return r.load(at, x.P, x.T)
	case *ir.Unary:
		v := r.eval(at, x.X)
		switch {
		case v.kind == singular:
			return v
		case x.Op == token.ADD:
			return v
		case x.Op == token.SUB && v.kind == exact && (isSmall(v.c) || ir.IsContinuous(x.T)) &&
			!ir.HasInfo(x.T, types.IsUnsigned):
			v.c = constant.UnaryOp(token.SUB, v.c, 0)
			return v
		case x.Op == token.NOT && v.kind == exact:
			v.c = constant.MakeBool(!constant.BoolVal(v.c))
			return v
		case x.Op == token.SUB && v.kind == symbolic:
			return symbolicValue(&ir.Unary{Typed: x.Typed, Op: x.Op, X: v.e})
		}
	case *ir.Binary:
		return r.binary(at, x)
	case *ir.Math:
		args := make([]value, len(x.Args))
		for i, a := range x.Args {
			args[i] = r.eval(at, a)
		}
		return elementary(x, args)
	case *ir.Convert:
		return converted(r.eval(at, x.X), x.X.Type(), x.T)
	case *ir.Len:
		if v := ir.VarOf(x.X); v != nil {
			if l, ok := r.lookup(at, v).e.(*ir.Load); ok {
				return symbolicValue(&ir.Len{Typed: x.Typed, X: l, Cap: x.Cap})
			}
		}
	case *ir.Slice:
		// Only where it begins counts, for the elements that an index selects.
		base := r.eval(at, x.X)
		lo := value{kind: exact, c: constant.MakeInt64(0)}
		if x.Lo != nil {
			lo = r.eval(at, x.Lo)
		}
		if from := lo.expr(types.Typ[types.Int]); from != nil && base.kind == symbolic && !ir.IsString(x.T) {
			return symbolicValue(&ir.Slice{Typed: x.Typed, X: base.e, Lo: from})
		}
	}
	return value{}
}

// load returns the value of type t at p.
func (r *region) load(at *env, p *ir.Place, t types.Type) value {
	if p.Root == current {
		return value{kind: symbolic, e: ir.LoadOf(p, t)}
	}
	if len(p.Path) == 0 {
		return r.lookup(at, p.Root)
	}
	q := r.canonical(at, p)
	if !r.fresh[p.Root] && (!r.declared[p.Root] || p.Indirect()) {
		r.loads = append(r.loads, access{r.c.class(p.Root), q})
	}
	if q == nil || r.fresh[p.Root] || r.declared[p.Root] && !p.Indirect() {
		return value{}
	}
	if x := r.assumption(at, q); x.kind == exact {
		return x
	}
	return symbolicValue(ir.LoadOf(q, t))
}

// assumption returns the constant that is assumed at the canonical place q, an unknown value if there is none.
func (r *region) assumption(at *env, q *ir.Place) value {
	for _, a := range r.assumed {
		if b := r.canonical(at, a.place); q != nil && b != nil && !at.stored && equalPlace(q, b) {
			return value{kind: exact, c: a.c, assumed: true}
		}
	}
	return value{}
}

// canonical returns p with its root and indices replaced by their values, nil if one is unknown.
func (r *region) canonical(at *env, p *ir.Place) *ir.Place {
	q := &ir.Place{Root: p.Root}
	steps := slices.Clone(p.Path)
	for i, s := range steps {
		if s.Index != nil {
			e := r.eval(at, s.Index).expr(s.Index.Type())
			if e == nil {
				return nil
			}
			steps[i] = ir.IndexStep(e)
		}
	}
	if !p.Indirect() {
		if r.assigned[p.Root] {
			return nil
		}
		q.Path = steps
		return q
	}
	root := r.lookup(at, p.Root)
	if root.kind != symbolic {
		return nil
	}
	e := root.e
	for {
		s, ok := e.(*ir.Slice)
		if !ok {
			break
		}
		if k, ok := s.Lo.(*ir.Const); !ok || constant.Sign(numberOf(k)) != 0 {
			steps[0] = ir.IndexStep(sum(s.Lo, steps[0].Index))
		}
		e = s.X
	}
	l, ok := e.(*ir.Load)
	if !ok {
		return nil
	}
	q.Root, q.Path = l.P.Root, append(slices.Clone(l.P.Path), steps...)
	return q
}

// sum returns the index x + y.
func sum(x, y ir.Expr) ir.Expr {
	if k, ok := y.(*ir.Const); ok && constant.Sign(numberOf(k)) == 0 {
		return x
	}
	return ir.NewBinary(types.Typ[types.Int], token.ADD, x, y)
}

// binary returns the value of an operation, or of a comparison.
func (r *region) binary(at *env, b *ir.Binary) value {
	x, y := r.eval(at, b.X), r.eval(at, b.Y)
	truth := func(v bool) value { return value{kind: exact, c: constant.MakeBool(v)} }
	switch b.Op {
	case token.LAND, token.LOR:
		stop := b.Op == token.LOR
		for _, v := range []value{x, y} {
			if v.kind == exact && constant.BoolVal(v.c) == stop {
				return truth(stop)
			}
		}
		if x.kind == exact && y.kind == exact {
			return truth(!stop)
		}
		return value{}
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		if x.kind != exact || y.kind != exact || x.c.Kind() == constant.String || y.c.Kind() == constant.String {
			return value{}
		}
		if x.c.Kind() == constant.Bool {
			return truth(constant.Compare(x.c, b.Op, y.c))
		}
		order := b.Op != token.EQL && b.Op != token.NEQ
		if order && (x.assumed || y.assumed) && constant.Compare(x.c, token.EQL, y.c) {
			r.fail("it compares the number for order there")
			return value{}
		}
		return truth(constant.Compare(x.c, b.Op, y.c))
	}
	return arithmetic(b.Op, x, y, b.T)
}
