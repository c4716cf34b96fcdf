package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Operations on maps are calls of functions of package rt, passive rules with effects, which derivatives perform once
// and in order. Elements are constants for differentiation; the activity analysis refuses calls that store numbers with
// derivatives. Maps whose elements may carry derivatives become slot maps afterwards, where that is possible, see
// slotmaps.go. A range statement is a loop over the keys at its beginning, without those that have been deleted when
// their turn comes.

// mapCall emits a call of a function of package rt on the map m, and returns its results. It returns nil if maps of
// the type of m are refused.
func (l *lowerer) mapCall(n ast.Node, name string, m ir.Expr, args []ir.Expr, results ...types.Type) []*ir.Var {
	t := m.Type().Underlying().(*types.Map)
	if ir.HasRefs(t.Key()) {
		l.refuse(n, "map of type "+typeText(m.Type()), "its keys lead to other memory",
			"use a map of numbers, strings or structs of them, or a slice")
		return nil
	}
	var vars []*ir.Var
	for _, r := range results {
		v := &ir.Var{Name: l.names.fresh("t"), Type: r, Pos: l.pos(n)}
		vars = append(vars, v)
		l.emit(&ir.Let{At: l.at(n), V: v})
	}
	l.emit(mapOperation(l.at(n), name, append([]ir.Expr{m}, args...), vars...))
	return vars
}

// mapOperation returns a call of a function of package rt on maps.
func mapOperation(at ir.At, name string, args []ir.Expr, results ...*ir.Var) *ir.Call {
	var outs []*types.Var
	for _, v := range results {
		outs = append(outs, types.NewParam(token.NoPos, nil, "", v.Type))
	}
	sig := types.NewSignatureType(nil, nil, nil, ir.ParamsOf(args), types.NewTuple(outs...), false)
	r := &ir.Rule{Name: runtimePath + "." + name, Object: types.NewFunc(token.NoPos, runtimePackage, name, sig),
		Passive: true}
	if name != "MakeMap" {
		r.Effects, r.Stores = true, name == "MapSet" || name == "MapDelete" || name == "MapClear"
		r.ReadOnly = slices.Repeat([]bool{true}, len(args))
	}
	return &ir.Call{At: at, Results: results, Callee: &ir.Callee{Rule: r}, Args: args}
}

// mapOf returns the type of e if it is a map.
func (l *lowerer) mapOf(e ast.Expr) *types.Map {
	m, _ := l.typeOf(e).Underlying().(*types.Map)
	return m
}

// mapElement returns x as an element of a map, nil if it is none.
func (l *lowerer) mapElement(e ast.Expr) *ast.IndexExpr {
	x, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok || l.info.Types[x.X].IsType() || l.typeOf(x.X) == types.Typ[types.Invalid] || l.mapOf(x.X) == nil {
		return nil
	}
	return x
}

// mapGet reads an element and whether it exists, nil if that is refused.
func (l *lowerer) mapGet(x *ast.IndexExpr) []*ir.Var {
	t := l.mapOf(x.X)
	m := l.expr(x.X)
	return l.mapCall(x, "MapGet", m, []ir.Expr{l.coerce(l.expr(x.Index), t.Key(), x.Index)}, t.Elem(),
		types.Typ[types.Bool])
}

// mapAssign lowers an assignment to an element of a map, and reports whether s is one: m[k] = v, m[k] op= v.
func (l *lowerer) mapAssign(n ast.Node, lhs ast.Expr, op token.Token, value func(t types.Type) ir.Expr) bool {
	x := l.mapElement(lhs)
	if x == nil {
		return false
	}
	t := l.mapOf(x.X)
	m := l.temp(n, "m", l.typeOf(x.X), l.expr(x.X)).Load()
	k := l.temp(n, "k", t.Key(), l.coerce(l.expr(x.Index), t.Key(), x.Index)).Load()
	var old []*ir.Var
	if op != token.ILLEGAL {
		if old = l.mapCall(n, "MapGet", m, []ir.Expr{k}, t.Elem(), types.Typ[types.Bool]); old == nil {
			return true
		}
	}
	v := value(t.Elem())
	if old != nil {
		v = &ir.Binary{Typed: ir.Typed{T: t.Elem()}, Op: op, X: old[0].Load(), Y: v}
	}
	l.mapCall(n, "MapSet", m, []ir.Expr{k, v})
	return true
}

// assignable is lvalue for one of several targets. An element of a map is assigned to a temporary first; the function
// that it returns performs store, and sets the element.
func (l *lowerer) assignable(n ast.Node, e ast.Expr, store func()) (*ir.Place, func()) {
	x := l.mapElement(e)
	if x == nil {
		return l.lvalue(e), store
	}
	t := l.mapOf(x.X)
	m := l.temp(n, "m", l.typeOf(x.X), l.expr(x.X)).Load()
	k := l.temp(n, "k", t.Key(), l.coerce(l.expr(x.Index), t.Key(), x.Index)).Load()
	v := l.temp(n, "v", t.Elem(), nil)
	return v.Place(), func() {
		store()
		l.mapCall(n, "MapSet", m, []ir.Expr{k, v.Load()})
	}
}

// mapTuple lowers v, ok = m[k], and reports whether rhs is an element of a map.
func (l *lowerer) mapTuple(n ast.Node, lhs []ast.Expr, rhs ast.Expr, define bool) bool {
	x := l.mapElement(rhs)
	if x == nil || len(lhs) != 2 {
		return false
	}
	results := l.mapGet(x)
	if results == nil {
		return true
	}
	var places []*ir.Place
	var es []ir.Expr
	var p *ir.Place
	store := func() {}
	for i, e := range lhs {
		if o := l.newVar(e, define); o != nil {
			v := l.local(o)
			l.emit(&ir.Let{At: l.at(n), V: v, E: results[i].Load()})
			l.bind(o, v)
		} else if p, store = l.assignable(n, e, store); p != nil {
			t, _ := placeType(p, nil)
			places, es = append(places, p), append(es, l.coerce(results[i].Load(), t, e))
		}
	}
	l.parallel(n, places, es)
	store()
	return true
}

// makeMap returns a new map of type t.
func (l *lowerer) makeMap(n ast.Node, t types.Type) *ir.Var {
	v := &ir.Var{Name: l.names.fresh("m"), Type: t, Pos: l.pos(n)}
	l.emit(&ir.Let{At: l.at(n), V: v})
	l.emit(mapOperation(l.at(n), "MakeMap", nil, v))
	return v
}

// mapLiteral lowers a composite literal of a map.
func (l *lowerer) mapLiteral(x *ast.CompositeLit, t types.Type) ir.Expr {
	m := l.makeMap(x, t)
	u := t.Underlying().(*types.Map)
	for _, e := range x.Elts {
		kv := e.(*ast.KeyValueExpr)
		k := l.coerce(l.expr(kv.Key), u.Key(), kv.Key)
		l.mapCall(kv, "MapSet", m.Load(), []ir.Expr{k, l.coerce(l.expr(kv.Value), u.Elem(), kv.Value)})
	}
	return m.Load()
}

// rangeMap lowers a range over a map.
func (l *lowerer) rangeMap(s *ast.RangeStmt, label string, t *types.Map) {
	m := l.temp(s, "m", l.typeOf(s.X), l.expr(s.X)).Load()
	keys := l.mapCall(s, "MapKeys", m, nil, types.NewSlice(t.Key()))
	if keys == nil {
		return
	}
	i := &ir.Var{Name: l.names.fresh("i"), Type: types.Typ[types.Int], Pos: l.pos(s)}
	loop := l.newLoop(s, label)
	loop.V, loop.Lo, loop.Hi, loop.Step = i, ir.Count(0), ir.LenOf(keys[0].Load()), 1
	loop.Body = l.block(func() {
		k := ir.LoadOf(ir.Extend(keys[0].Place(), ir.IndexStep(i.Load())), t.Key())
		k = l.temp(s, "k", t.Key(), k).Load()
		element := l.mapCall(s, "MapGet", m, []ir.Expr{k}, t.Elem(), types.Typ[types.Bool])
		l.leaveUnless(s, element[1].Load(), loop.Next)
		values := []ir.Expr{k, element[0].Load()}
		for i, e := range []ast.Expr{s.Key, s.Value} {
			if e == nil || isBlank(e) {
				continue
			}
			if o := l.newVar(e, s.Tok == token.DEFINE); o != nil {
				if l.facts.perLoop && l.facts.byReference(o) {
					l.refuse(s, "range over a map", "all iterations share "+o.Name()+", whose address is taken",
						"copy it in the body")
				}
				v := l.local(o)
				l.emit(&ir.Let{At: l.at(s), V: v, E: values[i]})
				l.bind(o, v)
			} else if p := l.lvalue(e); p != nil {
				to, _ := placeType(p, nil)
				l.emit(&ir.Set{At: l.at(s), P: p, E: l.coerce(values[i], to, e)})
			}
		}
		for _, st := range l.loopBody(s.Body, label, loop.L, loop.Next) {
			l.emit(st)
		}
	})
	l.emit(loop)
}

// one returns the constant 1 of type t.
func one(t types.Type) ir.Expr { return &ir.Const{Typed: ir.Typed{T: t}, Val: constant.MakeInt64(1)} }
