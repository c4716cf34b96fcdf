package lower

import (
	"go/token"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// The rewriting of functions with slot maps, see slotmaps.go. Inputs are not modified: functions that are affected are
// copied, with variables of other types.

// A mapRewriter rewrites the functions that one function reaches.
type mapRewriter struct {
	p        *Program
	a        *mapAnalysis
	affected map[*ir.Func]bool
	funcs    map[*ir.Func]*ir.Func // copies
	types    map[string]types.Type // type → type with slot maps, by typeKey
	declared *ir.Namer             // names of these types

	// The function that is being rewritten.
	vars  map[*ir.Var]*ir.Var
	names *ir.Namer
	slots bool // the value of the expression that is being rewritten holds slot maps
}

// The fields of the struct of a slot map.
const (
	slotIndex = iota // a Go map from keys to slots
	slotElems        // the elements by slot
)

// affects reports whether f has slot maps or calls a function that is affected.
func (w *mapRewriter) affects(f *ir.Func) bool {
	if f.Passive {
		return false
	}
	if slices.ContainsFunc(ir.Vars(f), func(v *ir.Var) bool { return w.a.group(v).isSlots() }) {
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

// typ returns the type t with slot maps.
func (w *mapRewriter) typ(t types.Type) types.Type {
	if !w.a.holdsMaps(t) {
		return t
	}
	key := typeKey(t)
	if u := w.types[key]; u != nil {
		return u
	}
	switch t := t.(type) {
	case *types.Alias:
		return w.typ(types.Unalias(t))
	case *types.Named:
		if _, ok := t.Underlying().(*types.Map); ok {
			return w.typ(t.Underlying())
		}
		u := types.NewNamed(types.NewTypeName(t.Obj().Pos(), nil, w.declared.Name(t.Obj().Name()), nil), nil, nil)
		w.types[key] = u // before the underlying type, which may refer to it
		u.SetUnderlying(w.typ(t.Underlying()))
		return u
	case *types.Map:
		u := types.NewNamed(types.NewTypeName(token.NoPos, nil, w.declared.Name("slotMap"), nil), nil, nil)
		w.types[key] = types.NewPointer(u)
		u.SetUnderlying(types.NewStruct([]*types.Var{
			slotIndex: types.NewField(token.NoPos, nil, "index", types.NewMap(t.Key(), types.Typ[types.Int]), false),
			slotElems: types.NewField(token.NoPos, nil, "elems", types.NewSlice(w.typ(t.Elem())), false),
		}, nil))
		return w.types[key]
	case *types.Pointer:
		return types.NewPointer(w.typ(t.Elem()))
	case *types.Slice:
		return types.NewSlice(w.typ(t.Elem()))
	case *types.Array:
		return types.NewArray(w.typ(t.Elem()), t.Len())
	case *types.Struct:
		var fields []*types.Var
		for f := range t.Fields() {
			fields = append(fields, types.NewField(f.Pos(), f.Pkg(), f.Name(), w.typ(f.Type()), false))
		}
		return types.NewStruct(fields, nil)
	}
	return t
}

// function returns the copy of f, or f itself if it is not affected.
func (w *mapRewriter) function(f *ir.Func) *ir.Func {
	if !w.affected[f] {
		return f
	}
	if g := w.funcs[f]; g != nil {
		return g
	}
	g := &ir.Func{}
	*g = *f
	w.funcs[f] = g
	vars, names := w.vars, w.names
	w.vars, w.names = map[*ir.Var]*ir.Var{}, ir.NamerOf(f)
	g.Params, g.Results = w.variables(f.Params), w.variables(f.Results)
	for i, v := range slices.Concat(g.Params, g.Results) {
		if v != slices.Concat(f.Params, f.Results)[i] {
			// Calls cannot call the declared function.
			g.Object, g.Recv, g.Variadic = nil, false, false
		}
	}
	if len(w.funcs) > 1 {
		g.Name = w.p.functionName(f.Name)
	}
	g.Body = w.block(f.Body)
	w.vars, w.names = vars, names
	return g
}

// variable returns the variable that replaces v.
func (w *mapRewriter) variable(v *ir.Var) *ir.Var {
	if !w.a.group(v).isSlots() {
		return v
	}
	u := w.vars[v]
	if u == nil {
		c := *v
		c.Type = w.typ(v.Type)
		u = &c
		w.vars[v] = u
	}
	return u
}

func (w *mapRewriter) variables(list []*ir.Var) []*ir.Var {
	out := slices.Clone(list)
	for i, v := range out {
		out[i] = w.variable(v)
	}
	return out
}

// parts returns a map over variables and expressions.
func (w *mapRewriter) parts() *ir.Map { return &ir.Map{Var: w.variable, Expr: w.retype} }

// place returns p with other variables.
func (w *mapRewriter) place(p *ir.Place) *ir.Place {
	w.slots = false
	return w.parts().RewritePlace(p)
}

// expr returns e with slot maps.
func (w *mapRewriter) expr(e ir.Expr) ir.Expr {
	w.slots = e != nil && w.a.value(e).isSlots()
	return w.parts().RewriteExpr(e)
}

// as returns e, a value that is assigned to a variable or parameter of the group of v.
func (w *mapRewriter) as(e ir.Expr, v *ir.Var) ir.Expr {
	if e == nil {
		return nil
	}
	w.slots = w.a.holdsMaps(e.Type()) && w.a.group(v).isSlots()
	return w.parts().RewriteExpr(e)
}

// retype returns e, whose parts are rewritten, with its type.
func (w *mapRewriter) retype(e ir.Expr) ir.Expr {
	if b, ok := e.(*ir.Binary); ok {
		x, y := b.X, b.Y
		if w.a.holdsMaps(x.Type()) && ir.IsConst(x) && !types.Identical(x.Type(), y.Type()) {
			x = ir.Zero(y.Type())
		}
		if w.a.holdsMaps(y.Type()) && ir.IsConst(y) && !types.Identical(x.Type(), y.Type()) {
			y = ir.Zero(x.Type())
		}
		return &ir.Binary{Typed: b.Typed, Op: b.Op, X: x, Y: y}
	}
	if !w.a.holdsMaps(e.Type()) {
		return e
	}
	switch x := e.(type) {
	case *ir.Load:
		if t := x.P.Type(); !w.a.holdsMaps(t) {
			return ir.LoadOf(x.P, t)
		}
	case *ir.Addr:
		if t := x.P.Type(); !w.a.holdsMaps(t) {
			return &ir.Addr{Typed: ir.Typed{T: types.NewPointer(t)}, P: x.P}
		}
	case *ir.Slice:
		if t := x.X.Type(); !w.a.holdsMaps(t) {
			return &ir.Slice{Typed: ir.Typed{T: t}, X: x.X, Lo: x.Lo, Hi: x.Hi, Max: x.Max}
		}
	case *ir.SliceAt:
		if t, ok := arrayOf(x.P.Type()); ok && !w.a.holdsMaps(t) {
			return &ir.SliceAt{Typed: ir.Typed{T: types.NewSlice(t.Elem())}, P: x.P, Lo: x.Lo, Hi: x.Hi, Max: x.Max}
		}
	case *ir.Convert:
		if w.a.holdsMaps(x.X.Type()) {
			break
		}
		t := w.typ(x.T)
		if types.Identical(t, x.X.Type()) {
			return x.X
		}
		return &ir.Convert{Typed: ir.Typed{T: t}, X: x.X}
	}
	if !w.slots {
		return e
	}
	switch x := e.(type) {
	case *ir.Const:
		return ir.Zero(w.typ(x.T))
	case *ir.New:
		return &ir.New{Typed: ir.Typed{T: w.typ(x.T)}}
	case *ir.Make:
		return &ir.Make{Typed: ir.Typed{T: w.typ(x.T)}, N: x.N, Cap: x.Cap}
	case *ir.Literal:
		return &ir.Literal{Typed: ir.Typed{T: w.typ(x.T)}, Keys: x.Keys, Elems: x.Elems, Len: x.Len}
	}
	return e
}

// block returns the rewritten statements of b.
func (w *mapRewriter) block(b ir.Block) (out ir.Block) {
	if b == nil {
		return nil
	}
	out = make(ir.Block, 0, len(b))
	for _, s := range b {
		switch s := s.(type) {
		case *ir.Let:
			out = append(out, &ir.Let{At: s.At, V: w.variable(s.V), E: w.as(s.E, s.V)})
		case *ir.Set:
			out = append(out, &ir.Set{At: s.At, P: w.place(s.P), E: w.as(s.E, s.P.Root)})
		case *ir.Append:
			t := &ir.Append{At: s.At, P: w.place(s.P), S: w.as(s.S, s.P.Root), Spread: s.Spread}
			for _, e := range s.Elems {
				t.Elems = append(t.Elems, w.as(e, s.P.Root))
			}
			out = append(out, t)
		case *ir.Call:
			out = w.call(out, s)
		case *ir.If:
			out = append(out, &ir.If{At: s.At, Cond: w.expr(s.Cond), Then: w.block(s.Then), Else: w.block(s.Else)})
		case *ir.Scope:
			out = append(out, &ir.Scope{At: s.At, L: s.L, Body: w.block(s.Body)})
		case *ir.Loop:
			c := *s
			c.Lo, c.Hi, c.Body = w.expr(s.Lo), w.expr(s.Hi), w.block(s.Body)
			out = append(out, &c)
		default:
			w.slots = false
			out = append(out, w.parts().Block(ir.Block{s})...)
		}
	}
	return out
}

// call appends a rewritten call.
func (w *mapRewriter) call(out ir.Block, s *ir.Call) ir.Block {
	c := &ir.Call{At: s.At, Results: w.variables(s.Results), Callee: s.Callee}
	r := s.Callee.Rule
	switch {
	case r == nil:
		for i, e := range s.Args {
			c.Args = append(c.Args, w.as(e, s.Callee.Func.Params[i]))
		}
		c.Callee = &ir.Callee{Func: w.function(s.Callee.Func)}
		return append(out, c)
	case r.Name == runtimePath+".MakeMap" && w.a.group(s.Results[0]).isSlots():
		return w.make(out, s, c.Results[0])
	}
	if m := mapOperand(s); m != nil && isSlotMap(m) && w.a.value(s.Args[0]).isSlots() {
		return w.operation(out, s, c, m)
	}
	for _, e := range s.Args {
		c.Args = append(c.Args, w.expr(e))
	}
	if r.Calls != nil && w.affected[r.Calls] {
		changed := *r
		changed.Calls = w.function(r.Calls)
		changed.Object = types.NewFunc(token.NoPos, r.Object.Pkg(), r.Object.Name(),
			types.NewSignatureType(nil, nil, nil, typesOf(c.Args), r.Object.Signature().Results(), false))
		c.Callee = &ir.Callee{Rule: &changed}
	}
	return append(out, c)
}

// typesOf returns parameters of the types of the expressions.
func typesOf(list []ir.Expr) *types.Tuple {
	var params []*types.Var
	for _, e := range list {
		params = append(params, types.NewParam(token.NoPos, nil, "", e.Type()))
	}
	return types.NewTuple(params...)
}

// temp appends the declaration of a variable.
func (w *mapRewriter) temp(out ir.Block, at ir.At, name string, t types.Type, e ir.Expr) (*ir.Var, ir.Block) {
	v := &ir.Var{Name: w.names.Name(name), Type: t, Pos: at.Pos}
	return v, append(out, &ir.Let{At: at, V: v, E: e})
}

// make appends statements that make a slot map.
func (w *mapRewriter) make(out ir.Block, s *ir.Call, v *ir.Var) ir.Block {
	st := v.Type.(*types.Pointer).Elem().Underlying().(*types.Struct)
	index, out := w.temp(out, s.At, "index", st.Field(slotIndex).Type(), nil)
	out = append(out, mapOperation(s.At, "MakeMap", nil, index))
	out = append(out, &ir.Set{At: s.At, P: v.Place(), E: &ir.New{Typed: ir.Typed{T: v.Type}}})
	return append(out, &ir.Set{At: s.At, P: ir.Extend(v.Place(), ir.DerefStep(), ir.FieldStep(slotIndex)),
		E: loadVar(index)})
}

// operation appends the statements of an operation on a slot map. Operations on nil do nothing, except a store, which
// panics.
func (w *mapRewriter) operation(out ir.Block, s, c *ir.Call, t *types.Map) ir.Block {
	g := w.a.value(s.Args[0]).find()
	m := w.expr(s.Args[0])
	v := ir.VarOf(m)
	if v == nil {
		v, out = w.temp(out, s.At, "m", m.Type(), m)
	}
	st := v.Type.(*types.Pointer).Elem().Underlying().(*types.Struct)
	index := ir.LoadOf(ir.Extend(v.Place(), ir.DerefStep(), ir.FieldStep(slotIndex)), st.Field(slotIndex).Type())
	elems := ir.Extend(v.Place(), ir.DerefStep(), ir.FieldStep(slotElems))
	list := st.Field(slotElems).Type()
	element := func(i *ir.Var) *ir.Place { return ir.Extend(elems, ir.IndexStep(loadVar(i))) }
	args := []ir.Expr{index}
	if len(s.Args) > 1 {
		args = append(args, w.expr(s.Args[1]))
	}
	name := s.Callee.Rule.Object.Name()
	var body ir.Block
	switch name {
	case "MapGet":
		i, b := w.temp(nil, s.At, "slot", types.Typ[types.Int], nil)
		found := c.Results[1]
		body = append(b, mapOperation(s.At, "MapGet", args, i, found),
			&ir.If{At: s.At, Cond: loadVar(found), Then: ir.Block{&ir.Set{At: s.At, P: c.Results[0].Place(),
				E: ir.LoadOf(element(i), ir.ElemOf(list))}}})
	case "MapSet":
		w.slots = true
		e := w.parts().RewriteExpr(s.Args[2])
		if !ir.IsConst(e) && ir.VarOf(e) == nil {
			var u *ir.Var
			u, out = w.temp(out, s.At, "element", ir.ElemOf(list), e)
			e = loadVar(u)
		}
		i, b := w.temp(out, s.At, "slot", types.Typ[types.Int], nil)
		found, b := w.temp(b, s.At, "found", types.Typ[types.Bool], nil)
		add := ir.Block{
			mapOperation(s.At, "MapSet", append(slices.Clone(args), ir.LenOf(ir.LoadOf(elems, list)))),
			&ir.Append{At: s.At, P: elems, S: ir.LoadOf(elems, list), Elems: []ir.Expr{e}}}
		return append(b, mapOperation(s.At, "MapGet", args, i, found), &ir.If{At: s.At, Cond: loadVar(found),
			Then: ir.Block{&ir.Set{At: s.At, P: element(i), E: e}}, Else: add})
	case "MapClear":
		body = ir.Block{mapOperation(s.At, name, args), &ir.Set{At: s.At, P: elems, E: ir.Zero(list)}}
	default:
		body = ir.Block{mapOperation(s.At, name, args, c.Results...)}
	}
	if g.nilable {
		return append(out, &ir.If{At: s.At, Cond: ir.Compare(token.NEQ, loadVar(v), ir.Zero(v.Type)), Then: body})
	}
	return append(out, body...)
}
