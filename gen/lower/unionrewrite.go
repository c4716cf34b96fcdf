package lower

import (
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"github.com/nabla-ad/nabla/gen/ir"
)

// The rewriting of functions with unions, see unions.go. Inputs are not modified: functions that are affected are
// copied, with variables of other types.

// A unionRewriter rewrites the functions that one function reaches.
type unionRewriter struct {
	p        *Program
	a        *unionAnalysis
	affected map[*ir.Func]bool
	funcs    map[*ir.Func]*ir.Func // copies
	types    map[string]types.Type // named type → type with unions, by typeKey
	declared *ir.Namer             // names of these types

	// The function that is being rewritten.
	vars  map[*ir.Var]*ir.Var
	names *ir.Namer
	out   ir.Block
	at    ir.At
	// known are the types that tests around the current statement have found, by the variables tested.
	known map[*ir.Var]types.Type
}

// affects reports whether f has unions or calls a function that is affected.
func (w *unionRewriter) affects(f *ir.Func) bool {
	if f.Passive {
		return false
	}
	if slices.ContainsFunc(ir.Vars(f), func(v *ir.Var) bool { return w.a.group(v).isUnion() }) {
		return true
	}
	found := false
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if c, ok := s.(*ir.Call); ok {
			found = found || w.affected[c.Callee.Func] || c.Callee.Rule != nil && w.affected[c.Callee.Rule.Calls]
		}
		return !found
	})
	return found
}

// typ returns the type t of values of group g with unions.
func (w *unionRewriter) typ(t types.Type, g *unionGroup) types.Type {
	if !w.a.holds(t) || !g.isUnion() {
		return t
	}
	t = types.Unalias(t)
	if isInterface(t) {
		return w.structOf(g.find())
	}
	switch t := t.(type) {
	case *types.Named:
		key := typeKey(t)
		if u := w.types[key]; u != nil {
			return u
		}
		u := types.NewNamed(types.NewTypeName(t.Obj().Pos(), nil, w.declared.Name(t.Obj().Name()), nil), nil, nil)
		w.types[key] = u // before the underlying type, which may refer to it
		u.SetUnderlying(w.typ(t.Underlying(), g))
		return u
	case *types.Pointer:
		return types.NewPointer(w.typ(t.Elem(), g))
	case *types.Slice:
		return types.NewSlice(w.typ(t.Elem(), g))
	case *types.Array:
		return types.NewArray(w.typ(t.Elem(), g), t.Len())
	case *types.Struct:
		var fields []*types.Var
		for f := range t.Fields() {
			fields = append(fields, types.NewField(f.Pos(), f.Pkg(), f.Name(), w.typ(f.Type(), g), false))
		}
		return types.NewStruct(fields, nil)
	}
	return t
}

// structOf returns the struct of the unions of group g, which is a representative. Groups merge no further when
// functions are rewritten, but representatives change.
func (w *unionRewriter) structOf(g *unionGroup) *types.Named {
	if g.made != nil {
		return g.made
	}
	u := types.NewNamed(types.NewTypeName(token.NoPos, nil, w.declared.Name("union"), nil), nil, nil)
	g.made = u
	fields := []*types.Var{types.NewField(token.NoPos, nil, "which", types.Typ[types.Int], false)}
	for i, t := range g.list() {
		v := w.typ(t, g)
		if w.containsUnion(t) {
			v = types.NewPointer(v)
		}
		fields = append(fields, types.NewField(token.NoPos, nil, "v"+strconv.Itoa(i+1), v, false))
	}
	u.SetUnderlying(types.NewStruct(fields, nil))
	return u
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

// number returns the number of type t in group g, 0 if no value has it.
func (w *unionRewriter) number(t types.Type, g *unionGroup) int {
	return 1 + slices.IndexFunc(g.list(), func(u types.Type) bool { return types.Identical(t, u) })
}

// function returns the copy of f, or f itself if it is not affected.
func (w *unionRewriter) function(f *ir.Func) *ir.Func {
	if !w.affected[f] {
		return f
	}
	if g := w.funcs[f]; g != nil {
		return g
	}
	g := &ir.Func{}
	*g = *f
	w.funcs[f] = g
	saved := *w
	w.vars, w.names, w.known = map[*ir.Var]*ir.Var{}, ir.NamerOf(f), map[*ir.Var]types.Type{}
	g.Params, g.Results = w.variables(f.Params), w.variables(f.Results)
	if !slices.Equal(g.Params, f.Params) || !slices.Equal(g.Results, f.Results) {
		g.Object, g.Recv, g.Variadic = nil, false, false // calls cannot call the declared function
	}
	if len(w.funcs) > 1 {
		g.Name = w.p.functionName(f.Name)
	}
	g.Body = w.block(f.Body)
	w.vars, w.names, w.known, w.out, w.at = saved.vars, saved.names, saved.known, saved.out, saved.at
	return g
}

// variable returns the variable that replaces v.
func (w *unionRewriter) variable(v *ir.Var) *ir.Var {
	g := w.a.group(v)
	if !g.isUnion() {
		return v
	}
	u := w.vars[v]
	if u == nil {
		c := *v
		c.Type = w.typ(v.Type, g)
		u = &c
		w.vars[v] = u
	}
	return u
}

func (w *unionRewriter) variables(list []*ir.Var) []*ir.Var {
	out := slices.Clone(list)
	for i, v := range out {
		out[i] = w.variable(v)
	}
	return out
}

// temp emits the declaration of a variable.
func (w *unionRewriter) temp(name string, t types.Type, e ir.Expr) *ir.Var {
	v := &ir.Var{Name: w.names.Name(name), Type: t, Pos: w.at.Pos}
	w.out = append(w.out, &ir.Let{At: w.at, V: v, E: e})
	return v
}

// place returns p with other variables.
func (w *unionRewriter) place(p *ir.Place) *ir.Place {
	q := &ir.Place{Root: w.variable(p.Root)}
	for _, s := range p.Path {
		if s.Index != nil {
			s.Index = w.expr(s.Index, nil)
		}
		q.Path = append(q.Path, s)
	}
	return q
}

// loaded returns the type of the value at q, which is of type t in the source.
func (w *unionRewriter) loaded(q *ir.Place, t types.Type) types.Type {
	if w.a.holds(t) {
		return q.Type()
	}
	return t
}

// exprs returns the rewritten list.
func (w *unionRewriter) exprs(list []ir.Expr, g *unionGroup) (out []ir.Expr) {
	for _, e := range list {
		out = append(out, w.expr(e, g))
	}
	return out
}

// expr returns e with unions, for a place of group g; nil stands for the group of e itself. It may emit statements.
func (w *unionRewriter) expr(e ir.Expr, g *unionGroup) ir.Expr {
	if e == nil {
		return nil
	}
	if g == nil {
		g = w.a.value(e)
	}
	switch x := e.(type) {
	case *ir.Const:
		if w.a.holds(x.T) && g.isUnion() {
			return ir.Zero(w.typ(x.T, g))
		}
	case *ir.Load:
		q := w.place(x.P)
		return ir.LoadOf(q, w.loaded(q, x.T))
	case *ir.Addr:
		q := w.place(x.P)
		if !w.a.holds(x.T) || !w.a.group(x.P.Root).isUnion() {
			return &ir.Addr{Typed: x.Typed, P: q}
		}
		return &ir.Addr{Typed: ir.Typed{T: types.NewPointer(q.Type())}, P: q}
	case *ir.SliceAt:
		q, t := w.place(x.P), x.T
		if array, ok := arrayOf(q.Type()); ok && w.a.holds(t) && w.a.group(x.P.Root).isUnion() {
			t = types.NewSlice(array.Elem())
		}
		return &ir.SliceAt{Typed: ir.Typed{T: t}, P: q, Lo: w.expr(x.Lo, nil), Hi: w.expr(x.Hi, nil),
			Max: w.expr(x.Max, nil)}
	case *ir.Slice:
		y, t := w.expr(x.X, nil), x.T
		if w.a.holds(t) {
			t = y.Type()
		}
		return &ir.Slice{Typed: ir.Typed{T: t}, X: y, Lo: w.expr(x.Lo, nil), Hi: w.expr(x.Hi, nil),
			Max: w.expr(x.Max, nil)}
	case *ir.Unary:
		return &ir.Unary{Typed: x.Typed, Op: x.Op, X: w.expr(x.X, nil)}
	case *ir.Binary:
		return w.binary(x)
	case *ir.Math:
		return &ir.Math{Typed: x.Typed, Name: x.Name, Args: w.exprs(x.Args, nil)}
	case *ir.Len:
		return &ir.Len{Typed: x.Typed, X: w.expr(x.X, nil), Cap: x.Cap}
	case *ir.Make:
		return &ir.Make{Typed: ir.Typed{T: w.typ(x.T, g)}, N: w.expr(x.N, nil), Cap: w.expr(x.Cap, nil)}
	case *ir.New:
		return &ir.New{Typed: ir.Typed{T: w.typ(x.T, g)}}
	case *ir.Literal:
		return &ir.Literal{Typed: ir.Typed{T: w.typ(x.T, g)}, Keys: x.Keys, Elems: w.exprs(x.Elems, g), Len: x.Len}
	case *ir.TypeTest:
		return w.test(x)
	case *ir.Convert:
		return w.convert(x, g)
	case *ir.Opaque:
		o := *x
		o.Args = nil
		for _, y := range x.Args {
			if w.a.value(y).isUnion() { // the error for a value of an unknown type, which only nil is here
				y = ir.Zero(types.Universe.Lookup("any").Type())
			}
			o.Args = append(o.Args, w.expr(y, nil))
		}
		return &o
	}
	return e
}

// binary returns the rewritten x. Interface values are compared with nil only.
func (w *unionRewriter) binary(x *ir.Binary) ir.Expr {
	g := w.a.value(x.X)
	if g == nil {
		return &ir.Binary{Typed: x.Typed, Op: x.Op, X: w.expr(x.X, nil), Y: w.expr(x.Y, nil)}
	}
	if !isInterface(x.X.Type()) || !g.isUnion() {
		return &ir.Binary{Typed: x.Typed, Op: x.Op, X: w.expr(x.X, g), Y: w.expr(x.Y, g)}
	}
	e := x.X
	if ir.IsConst(e) {
		e = x.Y
	}
	return &ir.Binary{Typed: x.Typed, Op: x.Op, X: w.which(w.placeOf(e)), Y: integer(0, types.Typ[types.Int])}
}

// placeOf returns the place of the rewritten interface value e.
func (w *unionRewriter) placeOf(e ir.Expr) *ir.Place {
	y := w.expr(e, nil)
	if l, ok := y.(*ir.Load); ok {
		return l.P
	}
	return w.temp("dyn", y.Type(), y).Place()
}

// which returns the number of the type of the union at p.
func (w *unionRewriter) which(p *ir.Place) ir.Expr {
	return ir.LoadOf(ir.Extend(p, ir.FieldStep(0)), types.Typ[types.Int])
}

// test returns the rewritten test of the type of an interface value.
func (w *unionRewriter) test(x *ir.TypeTest) ir.Expr {
	g := w.a.value(x.X)
	if !g.isUnion() {
		return &ir.TypeTest{Typed: x.Typed, X: w.expr(x.X, nil), Of: x.Of}
	}
	p := w.placeOf(x.X)
	var out ir.Expr = truth(false)
	for i, t := range g.list() {
		if in, ok := x.Of.Underlying().(*types.Interface); ok && !types.Implements(t, in) ||
			!ok && !types.Identical(t, x.Of) {
			continue
		}
		is := &ir.Binary{Typed: x.Typed, Op: token.EQL, X: w.which(p), Y: integer(int64(i+1), types.Typ[types.Int])}
		if ir.IsConst(out) {
			out = is
		} else {
			out = &ir.Binary{Typed: x.Typed, Op: token.LOR, X: out, Y: is}
		}
	}
	return out
}

// convert returns the rewritten conversion or assertion x, for a place of group g.
func (w *unionRewriter) convert(x *ir.Convert, g *unionGroup) ir.Expr {
	switch from := w.a.value(x.X); {
	case isInterface(x.X.Type()) && from.isUnion():
		return w.assert(x, from)
	case isInterface(x.T) && g.isUnion():
		n := w.number(x.X.Type(), g)
		u := w.structOf(g.find())
		y := w.expr(x.X, g)
		if w.containsUnion(x.X.Type()) {
			p := w.temp("p", types.NewPointer(y.Type()), &ir.New{Typed: ir.Typed{T: types.NewPointer(y.Type())}})
			w.out = append(w.out, &ir.Set{At: w.at, P: ir.Extend(p.Place(), ir.DerefStep()), E: y})
			y = loadVar(p)
		}
		return loadVar(w.temp("dyn", u, &ir.Literal{Typed: ir.Typed{T: u}, Keys: []int{0, n},
			Elems: []ir.Expr{integer(int64(n), types.Typ[types.Int]), y}}))
	}
	if !w.a.holds(x.X.Type()) || isInterface(x.X.Type()) {
		return &ir.Convert{Typed: x.Typed, X: w.expr(x.X, nil)}
	}
	y, t := w.expr(x.X, g), x.T
	if w.a.holds(t) && g.isUnion() {
		t = w.typ(t, g)
		if types.Identical(t, y.Type()) {
			return y
		}
	}
	return &ir.Convert{Typed: ir.Typed{T: t}, X: y}
}

// assert returns the value of an interface value of group g as one of the type of x, which may be another interface. It
// emits a panic for other types, unless a test around it has shown the type.
func (w *unionRewriter) assert(x *ir.Convert, g *unionGroup) ir.Expr {
	p := w.placeOf(x.X)
	tested := w.known[ir.VarOf(x.X)]
	if known := tested != nil && types.Identical(tested, x.T); !known && ir.IsAssertion(x) {
		test := w.test(&ir.TypeTest{Typed: boolean, X: x.X, Of: x.T})
		text := "interface conversion: interface value is not " + typeText(x.T)
		w.out = append(w.out, &ir.If{At: w.at, Cond: test, Else: ir.Block{&ir.Panic{At: w.at,
			E: &ir.Const{Typed: ir.Typed{T: types.Typ[types.String]}, Val: constant.MakeString(text)}}}})
	}
	if types.IsInterface(x.T) {
		return ir.LoadOf(p, p.Type())
	}
	n := w.number(x.T, g)
	if n == 0 {
		return ir.Zero(w.typ(x.T, g))
	}
	q := ir.Extend(p, ir.FieldStep(n))
	if w.containsUnion(x.T) {
		q = ir.Extend(q, ir.DerefStep())
	}
	return ir.LoadOf(q, q.Type())
}

// block returns the rewritten statements of b.
func (w *unionRewriter) block(b ir.Block) ir.Block {
	if b == nil {
		return nil
	}
	saved := w.out
	w.out = make(ir.Block, 0, len(b))
	for _, s := range b {
		w.at = ir.At{Pos: s.Position()}
		w.stmt(s)
		if terminates(w.out) {
			break
		}
	}
	out := w.out
	w.out = saved
	return out
}

// stmt emits the rewritten s.
func (w *unionRewriter) stmt(s ir.Stmt) {
	emit := func(s ir.Stmt) { w.out = append(w.out, s) }
	switch s := s.(type) {
	case *ir.Let:
		e := w.expr(s.E, w.a.group(s.V))
		emit(&ir.Let{At: s.At, V: w.variable(s.V), E: e})
	case *ir.Set:
		p := w.place(s.P)
		var g *unionGroup
		if w.a.holds(s.E.Type()) {
			g = w.a.group(s.P.Root)
		}
		e := w.expr(s.E, g)
		emit(&ir.Set{At: s.At, P: p, E: e})
	case *ir.Add:
		emit(&ir.Add{At: s.At, P: w.place(s.P), E: w.expr(s.E, nil)})
	case *ir.Append:
		var g *unionGroup
		if w.a.holds(s.S.Type()) {
			g = w.a.group(s.P.Root)
		}
		t := &ir.Append{At: s.At, P: w.place(s.P), S: w.expr(s.S, g), Spread: s.Spread}
		t.Elems = w.exprs(s.Elems, g)
		emit(t)
	case *ir.Copy:
		emit(&ir.Copy{At: s.At, N: s.N, Dst: w.expr(s.Dst, nil), Src: w.expr(s.Src, nil)})
	case *ir.Clear:
		emit(&ir.Clear{At: s.At, S: w.expr(s.S, nil)})
	case *ir.Call:
		w.call(s)
	case *ir.If:
		w.branch(s)
	case *ir.Scope:
		emit(&ir.Scope{At: s.At, L: s.L, Body: w.block(s.Body)})
	case *ir.Loop:
		c := *s
		c.Lo, c.Hi = w.expr(s.Lo, nil), w.expr(s.Hi, nil)
		c.Body = w.block(s.Body)
		emit(&c)
	case *ir.Panic:
		emit(&ir.Panic{At: s.At, E: w.expr(s.E, nil)})
	default:
		emit(s)
	}
}

// branch emits the rewritten s, without the branch of a type that no value has.
func (w *unionRewriter) branch(s *ir.If) {
	cond := w.expr(s.Cond, nil)
	test, _ := s.Cond.(*ir.TypeTest)
	if c, ok := cond.(*ir.Const); ok && test != nil {
		taken := s.Else
		if isTrue(c) {
			taken = s.Then
		}
		w.out = append(w.out, w.block(taken)...)
		return
	}
	out := &ir.If{At: s.At, Cond: cond}
	if v := varTested(test); v != nil {
		before := w.known[v]
		w.known[v] = test.Of
		out.Then = w.block(s.Then)
		w.known[v] = before
	} else {
		out.Then = w.block(s.Then)
	}
	out.Else = w.block(s.Else)
	w.out = append(w.out, out)
}

// varTested returns the variable of a test, a temporary that is assigned once, or nil.
func varTested(test *ir.TypeTest) *ir.Var {
	if test == nil {
		return nil
	}
	if v := ir.VarOf(test.X); v != nil && v.Object == nil && v.Kind == ir.Local {
		return v
	}
	return nil
}

// call emits a rewritten call.
func (w *unionRewriter) call(s *ir.Call) {
	c := &ir.Call{At: s.At, Results: w.variables(s.Results), Callee: s.Callee}
	r := s.Callee.Rule
	if r == nil {
		for i, e := range s.Args {
			c.Args = append(c.Args, w.expr(e, w.a.group(s.Callee.Func.Params[i])))
		}
		c.Callee = &ir.Callee{Func: w.function(s.Callee.Func)}
		w.out = append(w.out, c)
		return
	}
	c.Args = w.exprs(s.Args, nil)
	if r.Calls != nil && w.affected[r.Calls] {
		changed := *r
		changed.Calls = w.function(r.Calls)
		changed.Object = types.NewFunc(token.NoPos, r.Object.Pkg(), r.Object.Name(),
			types.NewSignatureType(nil, nil, nil, typesOf(c.Args), r.Object.Signature().Results(), false))
		c.Callee = &ir.Callee{Rule: &changed}
	}
	w.out = append(w.out, c)
}
