package lower

import (
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower/retype"
)

// A functionRewriter rewrites function values to structs, see functions.go.
type functionRewriter struct {
	*retype.Rewriter[functionFacts]
	p *Program
	a *functionAnalysis
	// captured are the structs of captured variables.
	captured map[*storedFunction]*types.Named
}

// ReplaceType returns the struct of the values of type t in group g.
func (w *functionRewriter) ReplaceType(t types.Type, g *functionGroup) types.Type {
	return w.structOf(t.Underlying().(*types.Signature), g)
}

// structOf returns the struct of the values of type sig in group g: a number, and a struct of the captured variables of
// each function that has some, behind a pointer if function values are among them, which might be of the same type.
func (w *functionRewriter) structOf(sig *types.Signature, g *functionGroup) *types.Named {
	f := g.Facts()
	for _, m := range f.made {
		if types.Identical(m.sig, sig) {
			return m.t
		}
	}
	t := w.Declare(token.NoPos, "function")
	f.made = append(f.made, madeFunctionType{sig, t})
	fields := []*types.Var{types.NewField(token.NoPos, nil, "which", types.Typ[types.Int], false)}
	for i, m := range f.of(sig) {
		if m.captured > 0 {
			v := w.capturedType(m)
			if w.holdsFunction(m) {
				v = types.NewPointer(v)
			}
			fields = append(fields, types.NewField(token.NoPos, nil, "v"+strconv.Itoa(i+1), v, false))
		}
	}
	t.SetUnderlying(types.NewStruct(fields, nil))
	return t
}

// capturedType returns the struct of the captured variables of m.
func (w *functionRewriter) capturedType(m *storedFunction) types.Type {
	if t := w.captured[m]; t != nil {
		return t
	}
	t := w.Declare(token.NoPos, "captured")
	w.captured[m] = t
	_, captured := m.params()
	var fields []*types.Var
	for i, v := range captured {
		u := w.Type(v.Type, w.Group(v))
		fields = append(fields, types.NewField(token.NoPos, nil, "c"+strconv.Itoa(i+1), u, false))
	}
	t.SetUnderlying(types.NewStruct(fields, nil))
	return t
}

// holdsFunction reports whether a captured variable of m contains a function value.
func (w *functionRewriter) holdsFunction(m *storedFunction) bool {
	_, captured := m.params()
	for _, v := range captured {
		if containsFunction(v.Type) {
			return true
		}
	}
	return false
}

// containsFunction reports whether a value of type t contains a function.
func containsFunction(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Signature:
		return true
	case *types.Array:
		return containsFunction(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if containsFunction(f.Type()) {
				return true
			}
		}
	}
	return false
}

// fieldOf returns the field of the captured variables of the function with index k among those of type sig in g.
func (w *functionRewriter) fieldOf(sig *types.Signature, g *functionGroup, k int) int {
	n := 0
	for _, m := range g.Facts().of(sig)[:k+1] {
		if m.captured > 0 {
			n++
		}
	}
	return n
}

// ReplaceExpr returns function values, and comparisons of them with nil, as expressions over structs.
func (w *functionRewriter) ReplaceExpr(e ir.Expr, g *functionGroup) ir.Expr {
	switch x := e.(type) {
	case *ir.Binary:
		y := x.X
		if ir.IsConst(y) {
			y = x.Y
		}
		if isFuncType(y.Type()) && w.Replaces(w.Value(y)) {
			which := retype.Which(w.PlaceOf("fn", y))
			return &ir.Binary{Typed: x.Typed, Op: x.Op, X: which, Y: integer(0, types.Typ[types.Int])}
		}
	case *ir.Opaque:
		m := w.p.storedFunctionOf(x)
		switch {
		case m == nil:
		case w.Replaces(g):
			return w.make(x, m, g)
		case m.fn != nil && g.Foreign():
			return w.p.functionVar(m.fn).Load()
		}
	}
	return nil
}

// make returns a value of the function m, with the captured variables that e has, for a place of group g.
func (w *functionRewriter) make(e *ir.Opaque, m *storedFunction, g *functionGroup) ir.Expr {
	sig := e.T.Underlying().(*types.Signature)
	t := w.structOf(sig, g)
	k := 0
	for g.Facts().of(sig)[k] != m {
		k++
	}
	number := integer(int64(k+1), types.Typ[types.Int])
	lit := &ir.Literal{Typed: ir.Typed{T: t}, Keys: []int{0}, Elems: []ir.Expr{number}}
	if m.captured > 0 {
		_, captured := m.params()
		values := &ir.Literal{Typed: ir.Typed{T: w.capturedType(m)}}
		for i, x := range e.Args {
			values.Keys, values.Elems = append(values.Keys, i), append(values.Elems, w.Expr(x, w.Group(captured[i])))
		}
		y := w.Temp("captured", values.T, values).Load()
		if w.holdsFunction(m) {
			pointer := types.NewPointer(values.T)
			p := w.Temp("p", pointer, &ir.New{Typed: ir.Typed{T: pointer}})
			w.Emit(&ir.Set{At: w.At(), P: ir.Extend(p.Place(), ir.DerefStep()), E: y})
			y = p.Load()
		}
		lit.Keys, lit.Elems = append(lit.Keys, w.fieldOf(sig, g, k)), append(lit.Elems, y)
	}
	return w.Temp("fn", t, lit).Load()
}

// Affects reports whether s calls or makes a function value.
func (w *functionRewriter) Affects(s ir.Stmt) (found bool) {
	if c, ok := s.(*ir.Call); ok && isStoredCall(c.Callee.Rule) {
		return true
	}
	ir.EachExpr(s, func(e ir.Expr) {
		ir.WalkExpr(e, func(e ir.Expr) bool {
			found = found || w.p.storedFunctionOf(e) != nil
			return !found
		})
	})
	return found
}

// ReplaceStmt emits calls of function values, and operations on maps of them, which have other types.
func (w *functionRewriter) ReplaceStmt(stmt ir.Stmt) bool {
	s, ok := stmt.(*ir.Call)
	if !ok || s.Callee.Rule == nil {
		return false
	}
	if isStoredCall(s.Callee.Rule) {
		w.call(s, w.Value(s.Args[0]))
		return true
	}
	return w.mapCall(s)
}

// call emits a call of a function value of group g: a branch for each function that it may be.
func (w *functionRewriter) call(s *ir.Call, g *functionGroup) {
	sig := signatureOfValue(s)
	p := w.PlaceOf("fn", s.Args[0])
	list := g.Facts().of(sig)
	foreign := !w.Replaces(g)
	out := ir.Block{&ir.Panic{At: s.At, E: nilDereferenceError()}}
	if foreign {
		list = w.a.foreign[s.Callee.Rule]
		out = ir.Block{w.unknownFunction(s, p, list)}
	}
	if len(list) == 0 {
		w.Emit(out...)
		return
	}
	params, _ := list[0].params() // all have the same groups
	var args []ir.Expr
	for i, e := range s.Args[1:] {
		args = append(args, w.Expr(e, w.Group(params[i])))
	}
	results := w.Vars(s.Results)
	is := func(k int) ir.Expr {
		if foreign {
			return &ir.Opaque{Typed: boolean, Format: ir.IsFunctionCall,
				Args: []ir.Expr{ir.LoadOf(p, p.Type()), w.p.functionVar(list[k-1].fn).Load()}}
		}
		return &ir.Binary{Typed: boolean, Op: token.EQL, X: retype.Which(p), Y: integer(int64(k), types.Typ[types.Int])}
	}
	for k := len(list) - 1; k >= 0; k-- {
		m := list[k]
		c := &ir.Call{At: s.At, Results: results, Callee: &ir.Callee{Func: w.Func(m.e.f)}}
		var values []ir.Expr
		if m.captured > 0 {
			q := ir.Extend(p, ir.FieldStep(w.fieldOf(sig, g, k)))
			if w.holdsFunction(m) {
				q = ir.Extend(q, ir.DerefStep())
			}
			for i := range m.captured {
				r := ir.Extend(q, ir.FieldStep(i))
				values = append(values, ir.LoadOf(r, r.Type()))
			}
		}
		if m.before {
			c.Args = append(values, args...)
		} else {
			c.Args = append(append(c.Args, args...), values...)
		}
		out = ir.Block{&ir.If{At: s.At, Cond: is(k + 1), Then: ir.Block{c}, Else: out}}
	}
	w.Emit(out...)
}

// unknownFunction returns the panic for the value at p, which s calls, if it is none of the functions of list.
func (w *functionRewriter) unknownFunction(s *ir.Call, p *ir.Place, list []*storedFunction) ir.Stmt {
	text := func(s string) ir.Expr {
		return &ir.Const{Typed: ir.Typed{T: types.Typ[types.String]}, Val: constant.MakeString(s)}
	}
	var names []string
	for _, m := range list {
		names = append(names, m.fn.FullName())
	}
	return &ir.Panic{At: s.At, E: &ir.Opaque{Typed: ir.Typed{T: types.Universe.Lookup("error").Type()},
		Format: ir.UnknownFunctionCall, Args: []ir.Expr{ir.LoadOf(p, p.Type()),
			text(w.p.storedCalls[s.Callee.Rule].name()), text(strings.Join(names, ", "))}}}
}

// functionVar returns the declared function fn as a variable that is never written.
func (p *Program) functionVar(fn *types.Func) *ir.Var {
	if v := p.functionVars[fn]; v != nil {
		return v
	}
	if p.functionVars == nil {
		p.functionVars = map[*types.Func]*ir.Var{}
	}
	v := &ir.Var{Name: fn.Pkg().Name() + "." + fn.Name(), Type: fn.Signature(), Kind: ir.Global, Object: fn,
		Pos: p.fset.Position(fn.Pos())}
	p.functionVars[fn] = v
	return v
}

// mapCall emits an operation on a map whose elements hold function values, and reports whether s is one.
func (w *functionRewriter) mapCall(s *ir.Call) bool {
	var g *functionGroup
	switch {
	case mapOperand(s) != nil:
		g = w.Value(s.Args[0])
	case s.Callee.Rule.Name == runtimePath+".MakeMap":
		g = w.Group(s.Results[0])
	}
	if !w.Replaces(g) {
		return false
	}
	w.Emit(mapOperation(s.At, s.Callee.Rule.Object.Name(), w.Exprs(s.Args, g), w.Vars(s.Results)...))
	return true
}
