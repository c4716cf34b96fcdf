package lower

import (
	"go/constant"
	"go/token"
	"go/types"
	"strconv"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower/retype"
)

// A unionRewriter rewrites interface values to unions, see unions.go.
type unionRewriter struct {
	*retype.Rewriter[unionFacts]
	// known are the types that tests around the current statement have found, by the variables tested.
	known map[*ir.Var]types.Type
}

// isUnion reports whether the interface values of e become unions.
func (w *unionRewriter) isUnion(e ir.Expr) bool { return w.Replaces(w.Value(e)) }

// ReplaceType returns the struct of the unions of group g. Groups merge no further when functions are rewritten, but
// representatives change.
func (w *unionRewriter) ReplaceType(_ types.Type, g *unionGroup) types.Type { return w.structOf(g) }

func (w *unionRewriter) structOf(g *unionGroup) *types.Named {
	f := g.Facts()
	if f.made != nil {
		return f.made
	}
	f.made = w.Declare(token.NoPos, "union")
	fields := []*types.Var{types.NewField(token.NoPos, nil, "which", types.Typ[types.Int], false)}
	for i, t := range f.types {
		v := w.Type(t, g)
		if w.containsUnion(t) {
			v = types.NewPointer(v)
		}
		fields = append(fields, types.NewField(token.NoPos, nil, "v"+strconv.Itoa(i+1), v, false))
	}
	f.made.SetUnderlying(types.NewStruct(fields, nil))
	return f.made
}

// containsUnion reports whether a value of type t contains an interface value itself: a union with it would contain
// another one, and so refers to it by a pointer.
func (w *unionRewriter) containsUnion(t types.Type) bool {
	if isInterface(t) {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		return w.containsUnion(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if w.containsUnion(f.Type()) {
				return true
			}
		}
	}
	return false
}

// ReplaceExpr returns comparisons, tests, conversions and assertions of interface values as expressions over unions.
func (w *unionRewriter) ReplaceExpr(e ir.Expr, g *unionGroup) ir.Expr {
	switch x := e.(type) {
	case *ir.Binary: // interface values are compared with nil only
		y := x.X
		if ir.IsConst(y) {
			y = x.Y
		}
		if isInterface(y.Type()) && w.isUnion(y) {
			which := retype.Which(w.PlaceOf("dyn", y))
			return &ir.Binary{Typed: x.Typed, Op: x.Op, X: which, Y: integer(0, types.Typ[types.Int])}
		}
	case *ir.TypeTest:
		if w.isUnion(x.X) {
			return w.test(x)
		}
	case *ir.Convert:
		switch {
		case isInterface(x.X.Type()) && w.isUnion(x.X):
			return w.assert(x, w.Value(x.X))
		case isInterface(x.T) && w.Replaces(g):
			return w.convert(x, g)
		}
	case *ir.Opaque:
		o := *x
		o.Args = nil
		for _, y := range x.Args {
			if w.isUnion(y) { // the error for a value of an unknown type, which only nil is here
				y = ir.Zero(types.Universe.Lookup("any").Type())
			}
			o.Args = append(o.Args, w.Expr(y, nil))
		}
		return &o
	}
	return nil
}

// test returns the test x of the type of a union.
func (w *unionRewriter) test(x *ir.TypeTest) ir.Expr {
	p := w.PlaceOf("dyn", x.X)
	var out ir.Expr = truth(false)
	for i, t := range w.Value(x.X).Facts().types {
		if in, ok := x.Of.Underlying().(*types.Interface); ok && !types.Implements(t, in) ||
			!ok && !types.Identical(t, x.Of) {
			continue
		}
		is := &ir.Binary{
			Typed: x.Typed, Op: token.EQL, X: retype.Which(p), Y: integer(int64(i+1), types.Typ[types.Int]),
		}
		if ir.IsConst(out) {
			out = is
		} else {
			out = &ir.Binary{Typed: x.Typed, Op: token.LOR, X: out, Y: is}
		}
	}
	return out
}

// convert returns the union that the conversion x to an interface makes, for a place of group g.
func (w *unionRewriter) convert(x *ir.Convert, g *unionGroup) ir.Expr {
	n := g.Facts().number(x.X.Type())
	u := w.structOf(g)
	y := w.Expr(x.X, g)
	if w.containsUnion(x.X.Type()) {
		p := w.Temp("p", types.NewPointer(y.Type()), &ir.New{Typed: ir.Typed{T: types.NewPointer(y.Type())}})
		w.Emit(&ir.Set{At: w.At(), P: ir.Extend(p.Place(), ir.DerefStep()), E: y})
		y = p.Load()
	}
	return w.Temp("dyn", u, &ir.Literal{Typed: ir.Typed{T: u}, Keys: []int{0, n},
		Elems: []ir.Expr{integer(int64(n), types.Typ[types.Int]), y}}).Load()
}

// assert returns the value of an interface value of group g as one of the type of x, which may be another interface. It
// emits a panic for other types, unless a test around it has shown the type.
func (w *unionRewriter) assert(x *ir.Convert, g *unionGroup) ir.Expr {
	p := w.PlaceOf("dyn", x.X)
	tested := w.known[ir.VarOf(x.X)]
	if known := tested != nil && types.Identical(tested, x.T); !known && ir.IsAssertion(x) {
		test := w.test(&ir.TypeTest{Typed: boolean, X: x.X, Of: x.T})
		text := "interface conversion: interface value is not " + typeText(x.T)
		w.Emit(&ir.If{At: w.At(), Cond: test, Else: ir.Block{&ir.Panic{At: w.At(),
			E: &ir.Const{Typed: ir.Typed{T: types.Typ[types.String]}, Val: constant.MakeString(text)}}}})
	}
	if types.IsInterface(x.T) {
		return ir.LoadOf(p, p.Type())
	}
	n := g.Facts().number(x.T)
	if n == 0 {
		return ir.Zero(w.Type(x.T, g))
	}
	q := ir.Extend(p, ir.FieldStep(n))
	if w.containsUnion(x.T) {
		q = ir.Extend(q, ir.DerefStep())
	}
	return ir.LoadOf(q, q.Type())
}

// Affects is false: values of other types are not affected.
func (w *unionRewriter) Affects(ir.Stmt) bool { return false }

// ReplaceStmt emits branches on the type of a value, without those of types that no value has.
func (w *unionRewriter) ReplaceStmt(stmt ir.Stmt) bool {
	s, ok := stmt.(*ir.If)
	if !ok {
		return false
	}
	test, ok := s.Cond.(*ir.TypeTest)
	if !ok {
		return false
	}
	cond := w.Expr(test, nil)
	if c, ok := cond.(*ir.Const); ok {
		taken := s.Else
		if isTrue(c) {
			taken = s.Then
		}
		w.Emit(w.Block(taken)...)
		return true
	}
	out := &ir.If{At: s.At, Cond: cond}
	if v := varTested(test); v != nil {
		before := w.known[v]
		w.known[v] = test.Of
		out.Then = w.Block(s.Then)
		w.known[v] = before
	} else {
		out.Then = w.Block(s.Then)
	}
	out.Else = w.Block(s.Else)
	w.Emit(out)
	return true
}

// varTested returns the variable of a test, a temporary that is assigned once, or nil.
func varTested(test *ir.TypeTest) *ir.Var {
	if v := ir.VarOf(test.X); v != nil && v.Object == nil && v.Kind == ir.Local {
		return v
	}
	return nil
}
