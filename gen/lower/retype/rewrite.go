package retype

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/nabla-ad/nabla/gen/ir"
)

// A Replacer makes the new representation of values for a [Rewriter].
type Replacer[F any] interface {
	// ReplaceType returns the new representation of t, a type of values to replace, in group g.
	ReplaceType(t types.Type, g *Group[F]) types.Type
	// ReplaceExpr returns the rewritten e, for a place of group g, or nil for an expression that needs nothing beyond
	// other types and operands.
	ReplaceExpr(e ir.Expr, g *Group[F]) ir.Expr
	// ReplaceStmt emits the rewritten s, or returns false for a statement that needs nothing beyond other types and
	// operands.
	ReplaceStmt(s ir.Stmt) bool
	// Affects reports whether s is rewritten even if no values are replaced in it.
	Affects(s ir.Stmt) bool
}

// A Rewriter rewrites the functions that one function reaches. Inputs are not modified: functions that are affected are
// copied, with variables of other types.
type Rewriter[F any] struct {
	*Analysis[F]
	replacer Replacer[F]
	newName  func(f *ir.Func) string // returns a free name of a copy
	affected map[*ir.Func]bool
	copies   map[*ir.Func]*ir.Func
	types    typeutil.Map // *types.Named → *types.Named with other components
	declared *ir.Namer    // names of the types that are declared

	frame
}

// A frame is the state of the function that is being rewritten.
type frame struct {
	locals map[*ir.Var]*ir.Var // variables → those that replace them
	names  *ir.Namer
	out    ir.Block // the block that is being written
	at     ir.At    // the position of the statement that is being rewritten
}

// NewRewriter returns a rewriter of the functions of a finished analysis. Copies of functions other than the first get
// a name from newName.
func NewRewriter[F any](a *Analysis[F], r Replacer[F], newName func(f *ir.Func) string) *Rewriter[F] {
	w := &Rewriter[F]{Analysis: a, replacer: r, newName: newName, affected: map[*ir.Func]bool{},
		copies: map[*ir.Func]*ir.Func{}, declared: ir.NewNamer()}
	for again := true; again; {
		again = false
		for _, g := range a.funcs {
			if !w.affected[g] && a.called[g] && w.affects(g) {
				w.affected[g], again = true, true
			}
		}
	}
	return w
}

// affects reports whether f has variables of other types or calls a function that is affected.
func (w *Rewriter[F]) affects(f *ir.Func) bool {
	if f.Passive {
		return false
	}
	if slices.ContainsFunc(ir.Vars(f), func(v *ir.Var) bool { return w.Replaces(w.Group(v)) }) {
		return true
	}
	found := false
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if c, ok := s.(*ir.Call); ok {
			found = found || w.affected[c.Callee.Func] || c.Callee.Rule != nil && w.affected[c.Callee.Rule.Calls]
		}
		found = found || w.replacer.Affects(s)
		return !found
	})
	return found
}

// Declare returns a new type without underlying type, with a name like base.
func (w *Rewriter[F]) Declare(at token.Pos, base string) *types.Named {
	return types.NewNamed(types.NewTypeName(at, nil, w.declared.Name(base), nil), nil, nil)
}

// Type returns the type of values of group g that had type t.
func (w *Rewriter[F]) Type(t types.Type, g *Group[F]) types.Type {
	if !w.Holds(t) || !w.Replaces(g) {
		return t
	}
	t = types.Unalias(t)
	if w.values.IsReplaced(t) {
		return w.replacer.ReplaceType(t, g)
	}
	switch t := t.(type) {
	case *types.Named:
		if u, ok := w.types.At(t).(*types.Named); ok {
			return u
		}
		u := w.Declare(t.Obj().Pos(), t.Obj().Name())
		w.types.Set(t, u) // before the underlying type, which may refer to it
		u.SetUnderlying(w.Type(t.Underlying(), g))
		return u
	case *types.Pointer:
		return types.NewPointer(w.Type(t.Elem(), g))
	case *types.Slice:
		return types.NewSlice(w.Type(t.Elem(), g))
	case *types.Array:
		return types.NewArray(w.Type(t.Elem(), g), t.Len())
	case *types.Map:
		return types.NewMap(t.Key(), w.Type(t.Elem(), g))
	case *types.Struct:
		var fields []*types.Var
		for f := range t.Fields() {
			fields = append(fields, types.NewField(f.Pos(), f.Pkg(), f.Name(), w.Type(f.Type(), g), false))
		}
		return types.NewStruct(fields, nil)
	}
	return t
}

// Func returns the copy of f, or f itself if it is not affected.
func (w *Rewriter[F]) Func(f *ir.Func) *ir.Func {
	if !w.affected[f] {
		return f
	}
	if g := w.copies[f]; g != nil {
		return g
	}
	g := &ir.Func{}
	*g = *f
	w.copies[f] = g
	outer := w.frame
	w.frame = frame{locals: map[*ir.Var]*ir.Var{}, names: ir.NamerOf(f)}
	g.Params, g.Results = w.Vars(f.Params), w.Vars(f.Results)
	if !slices.Equal(g.Params, f.Params) || !slices.Equal(g.Results, f.Results) {
		g.Object, g.Recv, g.Variadic = nil, false, false // calls cannot call the declared function
	}
	if len(w.copies) > 1 {
		g.Name = w.newName(f)
	}
	g.Body = w.Block(f.Body)
	w.frame = outer
	return g
}

// Var returns the variable that replaces v.
func (w *Rewriter[F]) Var(v *ir.Var) *ir.Var {
	g := w.Group(v)
	if !w.Replaces(g) {
		return v
	}
	u := w.locals[v]
	if u == nil {
		c := *v
		c.Type = w.Type(v.Type, g)
		u = &c
		w.locals[v] = u
	}
	return u
}

// Vars returns the variables that replace those of a list.
func (w *Rewriter[F]) Vars(list []*ir.Var) []*ir.Var {
	out := slices.Clone(list)
	for i, v := range out {
		out[i] = w.Var(v)
	}
	return out
}

// Place returns p with other variables.
func (w *Rewriter[F]) Place(p *ir.Place) *ir.Place {
	q := &ir.Place{Root: w.Var(p.Root)}
	for _, s := range p.Path {
		s.Index = w.Expr(s.Index, nil)
		q.Path = append(q.Path, s)
	}
	return q
}

// Exprs returns the rewritten list, for places of group g.
func (w *Rewriter[F]) Exprs(list []ir.Expr, g *Group[F]) (out []ir.Expr) {
	for _, e := range list {
		out = append(out, w.Expr(e, g))
	}
	return out
}

// Expr returns the rewritten e, for a place of group g; nil stands for the group of e itself. It may emit statements.
func (w *Rewriter[F]) Expr(e ir.Expr, g *Group[F]) ir.Expr {
	if e == nil {
		return nil
	}
	if g == nil {
		g = w.Value(e)
	}
	if r := w.replacer.ReplaceExpr(e, g); r != nil {
		return r
	}
	replaced := w.Holds(e.Type()) && w.Replaces(g)
	switch x := e.(type) {
	case *ir.Const:
		if replaced {
			return ir.Zero(w.Type(x.T, g))
		}
	case *ir.Load:
		out := &ir.Load{Typed: x.Typed, P: w.Place(x.P)}
		if replaced {
			out.T = out.P.Type()
		}
		return out
	case *ir.Addr:
		out := &ir.Addr{Typed: x.Typed, P: w.Place(x.P)}
		if replaced {
			out.T = types.NewPointer(out.P.Type())
		}
		return out
	case *ir.SliceAt:
		out := &ir.SliceAt{Typed: x.Typed, P: w.Place(x.P), Lo: w.Expr(x.Lo, nil), Hi: w.Expr(x.Hi, nil),
			Max: w.Expr(x.Max, nil)}
		if array, ok := out.P.Type().Underlying().(*types.Array); ok && replaced {
			out.T = types.NewSlice(array.Elem())
		}
		return out
	case *ir.Slice:
		out := &ir.Slice{Typed: x.Typed, X: w.Expr(x.X, g), Lo: w.Expr(x.Lo, nil), Hi: w.Expr(x.Hi, nil),
			Max: w.Expr(x.Max, nil)}
		if replaced {
			out.T = out.X.Type()
		}
		return out
	case *ir.Unary:
		return &ir.Unary{Typed: x.Typed, Op: x.Op, X: w.Expr(x.X, nil)}
	case *ir.Binary: // a comparison, if there is anything to replace
		g := w.Value(x.X)
		if ir.IsConst(x.X) {
			g = w.Value(x.Y)
		}
		return &ir.Binary{Typed: x.Typed, Op: x.Op, X: w.Expr(x.X, g), Y: w.Expr(x.Y, g)}
	case *ir.Math:
		return &ir.Math{Typed: x.Typed, Name: x.Name, Args: w.Exprs(x.Args, nil)}
	case *ir.Len:
		return &ir.Len{Typed: x.Typed, X: w.Expr(x.X, nil), Cap: x.Cap}
	case *ir.Make:
		return &ir.Make{Typed: ir.Typed{T: w.Type(x.T, g)}, N: w.Expr(x.N, nil), Cap: w.Expr(x.Cap, nil)}
	case *ir.New:
		return &ir.New{Typed: ir.Typed{T: w.Type(x.T, g)}}
	case *ir.Literal:
		return &ir.Literal{Typed: ir.Typed{T: w.Type(x.T, g)}, Keys: x.Keys, Elems: w.Exprs(x.Elems, g), Len: x.Len}
	case *ir.TypeTest:
		return &ir.TypeTest{Typed: x.Typed, X: w.Expr(x.X, nil), Of: x.Of}
	case *ir.Convert:
		return w.convert(x, g)
	case *ir.Opaque:
		return &ir.Opaque{Typed: x.Typed, Format: x.Format, Args: w.Exprs(x.Args, nil)}
	}
	return e
}

// convert returns the rewritten x, for a place of group g. The new types of its operand and its value may be one.
func (w *Rewriter[F]) convert(x *ir.Convert, g *Group[F]) ir.Expr {
	if !w.Holds(x.X.Type()) {
		return &ir.Convert{Typed: x.Typed, X: w.Expr(x.X, nil)}
	}
	y, t := w.Expr(x.X, g), w.Type(x.T, g)
	if w.Replaces(g) && types.Identical(t, y.Type()) {
		return y
	}
	return &ir.Convert{Typed: ir.Typed{T: t}, X: y}
}

// Block returns the rewritten statements of b.
func (w *Rewriter[F]) Block(b ir.Block) ir.Block {
	if b == nil {
		return nil
	}
	outer := w.out
	w.out = make(ir.Block, 0, len(b))
	for _, s := range b {
		w.at = ir.At{Pos: s.Position()}
		if !w.replacer.ReplaceStmt(s) {
			w.stmt(s)
		}
		if n := len(w.out); n > 0 && ends(w.out[n-1]) {
			break
		}
	}
	out := w.out
	w.out = outer
	return out
}

// ends reports whether nothing is executed after s.
func ends(s ir.Stmt) bool {
	switch s.(type) {
	case *ir.Leave, *ir.Panic:
		return true
	}
	return false
}

// At returns the position of the statement that is being rewritten.
func (w *Rewriter[F]) At() ir.At { return w.at }

// Emit appends statements to the block that is being rewritten.
func (w *Rewriter[F]) Emit(list ...ir.Stmt) { w.out = append(w.out, list...) }

// NewVar returns a new local variable, to be declared by the caller.
func (w *Rewriter[F]) NewVar(name string, t types.Type) *ir.Var {
	return &ir.Var{Name: w.names.Name(name), Type: t, Pos: w.at.Pos}
}

// Temp emits the declaration of a new variable with value e.
func (w *Rewriter[F]) Temp(name string, t types.Type, e ir.Expr) *ir.Var {
	v := w.NewVar(name, t)
	w.Emit(&ir.Let{At: w.at, V: v, E: e})
	return v
}

// PlaceOf returns a place that holds the rewritten e: that of a variable with the given base name unless e is loaded.
func (w *Rewriter[F]) PlaceOf(name string, e ir.Expr) *ir.Place {
	y := w.Expr(e, nil)
	if l, ok := y.(*ir.Load); ok {
		return l.P
	}
	return w.Temp(name, y.Type(), y).Place()
}

// Which returns the first field of the struct at p: the number of the type or function that it holds.
func Which(p *ir.Place) ir.Expr {
	return ir.LoadOf(ir.Extend(p, ir.FieldStep(0)), types.Typ[types.Int])
}

// stmt emits the rewritten s.
func (w *Rewriter[F]) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Let:
		e := w.Expr(s.E, w.Group(s.V))
		w.Emit(&ir.Let{At: s.At, V: w.Var(s.V), E: e})
	case *ir.Set:
		p := w.Place(s.P)
		w.Emit(&ir.Set{At: s.At, P: p, E: w.Expr(s.E, w.stored(s.P, s.E))})
	case *ir.Add:
		w.Emit(&ir.Add{At: s.At, P: w.Place(s.P), E: w.Expr(s.E, nil)})
	case *ir.Append:
		g := w.stored(s.P, s.S)
		w.Emit(&ir.Append{At: s.At, P: w.Place(s.P), S: w.Expr(s.S, g), Elems: w.Exprs(s.Elems, g), Spread: s.Spread})
	case *ir.Copy:
		w.Emit(&ir.Copy{At: s.At, N: s.N, Dst: w.Expr(s.Dst, nil), Src: w.Expr(s.Src, nil)})
	case *ir.Clear:
		w.Emit(&ir.Clear{At: s.At, S: w.Expr(s.S, nil)})
	case *ir.Call:
		w.call(s)
	case *ir.If:
		cond := w.Expr(s.Cond, nil)
		w.Emit(&ir.If{At: s.At, Cond: cond, Then: w.Block(s.Then), Else: w.Block(s.Else)})
	case *ir.Scope:
		w.Emit(&ir.Scope{At: s.At, L: s.L, Body: w.Block(s.Body)})
	case *ir.Loop:
		c := *s
		c.Lo, c.Hi = w.Expr(s.Lo, nil), w.Expr(s.Hi, nil)
		c.Body = w.Block(s.Body)
		w.Emit(&c)
	case *ir.Panic:
		w.Emit(&ir.Panic{At: s.At, E: w.Expr(s.E, nil)})
	default:
		w.Emit(s)
	}
}

// stored returns the group of e, which is stored at p: that of p, or nil if there is nothing to replace in e.
func (w *Rewriter[F]) stored(p *ir.Place, e ir.Expr) *Group[F] {
	if !w.Holds(e.Type()) {
		return nil
	}
	return w.Group(p.Root)
}

// call emits a rewritten call.
func (w *Rewriter[F]) call(s *ir.Call) {
	c := &ir.Call{At: s.At, Results: w.Vars(s.Results), Callee: s.Callee}
	r := s.Callee.Rule
	if r == nil {
		for i, e := range s.Args {
			c.Args = append(c.Args, w.Expr(e, w.Group(s.Callee.Func.Params[i])))
		}
		c.Callee = &ir.Callee{Func: w.Func(s.Callee.Func)}
		w.Emit(c)
		return
	}
	c.Args = w.Exprs(s.Args, nil)
	if r.Calls != nil && w.affected[r.Calls] {
		changed := *r
		changed.Calls = w.Func(r.Calls)
		changed.Object = types.NewFunc(token.NoPos, r.Object.Pkg(), r.Object.Name(),
			types.NewSignatureType(nil, nil, nil, ir.ParamsOf(c.Args), r.Object.Signature().Results(), false))
		c.Callee = &ir.Callee{Rule: &changed}
	}
	w.Emit(c)
}
