package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Tables of functions: slices, arrays and maps whose elements are known, as they are given by a literal and the
// variable is only read, see tableuse.go. They do not exist at run time.

// A funcTable describes a table. The functions are captures of the value.
type funcTable struct {
	elem types.Type
	keys []constant.Value // of a map, in the order of the functions; nil for slices and arrays
	key  types.Type
}

// isFuncTable reports whether t is a slice, an array or a map of functions.
func isFuncTable(t types.Type) bool { return tableElem(t) != nil }

// tableElem returns the element type of a slice, an array or a map of functions, or nil.
func tableElem(t types.Type) (elem types.Type) {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		elem = u.Elem()
	case *types.Array:
		elem = u.Elem()
	case *types.Map:
		elem = u.Elem()
	}
	if elem == nil || !isFuncType(elem) {
		return nil
	}
	return elem
}

// newTable returns the table of the functions in list.
func newTable(elem types.Type, list []*funcValue) *funcValue {
	v := &funcValue{table: &funcTable{elem: elem}}
	for _, f := range list {
		v.captures = append(v.captures, capture{value: f})
	}
	return v
}

// tableValue returns the table that e denotes, or nil if it is not known.
func (l *lowerer) tableValue(e ast.Expr) *funcValue {
	e = ast.Unparen(e)
	t := l.typeOf(e)
	if l.isDynamicTable(e) {
		return l.env[l.info.ObjectOf(identOf(e))].value
	}
	if !isFuncTable(t) {
		return nil
	}
	if l.info.Types[e].IsNil() {
		return newTable(tableElem(t), nil)
	}
	switch x := e.(type) {
	case *ast.Ident:
		if b := l.env[l.info.ObjectOf(x)]; b != nil {
			return b.value
		}
	case *ast.CompositeLit:
		return l.tableLiteral(x, t)
	case *ast.CallExpr:
		if len(x.Args) == 1 && l.info.Types[x.Fun].IsType() {
			return l.tableValue(x.Args[0])
		}
		return nil
	}
	if in, lit := l.p.constantExpr(l.d.pkg, e); in != nil {
		return in.tableValue(lit)
	}
	return nil
}

// tableLiteral returns the table of a literal of type t, or nil if an element is not known.
func (l *lowerer) tableLiteral(x *ast.CompositeLit, t types.Type) *funcValue {
	m, isMap := t.Underlying().(*types.Map)
	for _, e := range x.Elts { // before any of them is evaluated
		if kv, ok := e.(*ast.KeyValueExpr); ok && l.info.Types[kv.Key].Value == nil {
			return nil
		}
	}
	var list []*funcValue
	var keys []constant.Value
	next := 0
	for _, e := range x.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			key := l.info.Types[kv.Key].Value
			e = kv.Value
			if isMap {
				keys = append(keys, key)
			} else {
				k, _ := constant.Int64Val(constant.ToInt(key))
				next = int(k)
			}
		}
		if next > 1000 {
			return nil
		}
		f := l.function(e)
		if f == nil || f.loop != nil {
			return nil
		}
		for len(list) <= next {
			list = append(list, &funcValue{null: true})
		}
		list[next] = f
		next++
	}
	if a, ok := arrayOf(t); ok && a.Len() <= 1000 {
		for int64(len(list)) < a.Len() {
			list = append(list, &funcValue{null: true})
		}
	}
	v := newTable(tableElem(t), list)
	if isMap {
		v.table.keys, v.table.key = keys, m.Key()
	}
	return v
}

// element returns the function in the table t with the index or key e, and evaluates e.
func (l *lowerer) element(n ast.Node, t *funcValue, e ast.Expr) *funcValue {
	count := len(t.captures)
	integral := types.Typ[types.Int]
	i := l.expr(e)
	if t.table.key == nil {
		if k, ok := constInt(i); ok && k >= 0 && k < int64(count) {
			return t.captures[k].value
		}
		tag := l.temp(n, "which", i.Type(), i)
		// An array of that length panics as the table does.
		bounds := l.temp(n, "bounds", types.NewArray(types.Typ[types.Bool], int64(count)), nil)
		l.temp(n, "unused", types.Typ[types.Bool], ir.LoadOf(ir.Extend(bounds.Place(), ir.IndexStep(tag.Load())),
			types.Typ[types.Bool]))
		if !types.Identical(tag.Type, integral) {
			tag = l.temp(n, "which", integral, &ir.Convert{Typed: ir.Typed{T: integral}, X: tag.Load()})
		}
		return l.elementAt(t, tag)
	}
	return l.elementAt(t, l.keyIndex(n, t, e, i))
}

// keyIndex returns a variable with the index of the key i, which e denotes, in the table t of a map: the number of keys
// if it is none of them.
func (l *lowerer) keyIndex(n ast.Node, t *funcValue, e ast.Expr, i ir.Expr) *ir.Var {
	integral := types.Typ[types.Int]
	key := l.temp(n, "key", t.table.key, l.coerce(i, t.table.key, e))
	tag := l.temp(n, "which", integral, integer(int64(len(t.captures)), integral))
	for k, c := range t.table.keys {
		l.emit(&ir.If{At: l.at(n), Cond: &ir.Binary{Typed: boolean, Op: token.EQL, X: key.Load(),
			Y: &ir.Const{Typed: ir.Typed{T: t.table.key}, Val: c}},
			Then: ir.Block{&ir.Set{At: l.at(n), P: tag.Place(), E: integer(int64(k), integral)}}})
	}
	return tag
}

// tableTuple lowers f, ok := m[k] for a table m of functions, and reports whether it is one. If the key is a constant,
// the function is known, and so is ok.
func (l *lowerer) tableTuple(n ast.Node, lhs []ast.Expr, rhs ast.Expr, define bool) bool {
	x := l.mapElement(rhs)
	if x == nil || len(lhs) != 2 || !isFuncTable(l.typeOf(x.X)) {
		return false
	}
	o := l.newVar(lhs[0], define)
	if !isBlank(lhs[0]) && (o == nil || l.facts.assigned[o] != 1 || l.facts.byReference(o)) {
		return false
	}
	t := l.tableValue(x.X)
	if t == nil || t.table == nil || t.table.key == nil {
		return false
	}
	i := l.expr(x.Index)
	bind := func(v *funcValue) {
		if o != nil {
			l.env[o] = &binding{value: v}
		}
	}
	if c, ok := i.(*ir.Const); ok && c.Val != nil {
		same := func(v constant.Value) bool { return constant.Compare(v, token.EQL, c.Val) }
		k := slices.IndexFunc(t.table.keys, same)
		if k >= 0 {
			bind(t.captures[k].value)
		} else {
			bind(&funcValue{null: true})
		}
		l.assignTruth(n, lhs[1], define, k >= 0)
		return true
	}
	tag := l.keyIndex(n, t, x.Index, i)
	bind(l.elementAt(t, tag))
	found := &ir.Binary{Typed: boolean, Op: token.NEQ, X: tag.Load(), Y: integer(int64(len(t.captures)), tag.Type)}
	if v := l.newVar(lhs[1], define); v != nil {
		w := l.local(v)
		l.emit(&ir.Let{At: l.at(n), V: w, E: l.coerce(found, w.Type, lhs[1])})
		l.bind(v, w)
	} else if !isBlank(lhs[1]) {
		if p := l.lvalue(lhs[1]); p != nil {
			to, _ := placeType(p, nil)
			l.emit(&ir.Set{At: l.at(n), P: p, E: l.coerce(found, to, lhs[1])})
		}
	}
	return true
}

// elementAt returns the function in t whose index is in tag; for a map the last index is that of missing keys.
func (l *lowerer) elementAt(t *funcValue, tag *ir.Var) *funcValue {
	var list []*funcValue
	for _, c := range t.captures {
		list = append(list, c.value)
	}
	if t.table.key != nil || len(list) == 0 {
		list = append(list, &funcValue{null: true})
	}
	if len(list) == 1 && isFuncType(t.table.elem) {
		return list[0]
	}
	return newChoice(t.table.elem, tag.Place(), list)
}

// bindTable binds a variable that is declared with a table of functions, and reports whether o is one.
func (l *lowerer) bindTable(o types.Object, e ast.Expr) bool {
	if !isFuncTable(l.subst.apply(o.Type())) {
		return l.bindDynamicTable(o, e)
	}
	if l.facts.assigned[o] != 1 || l.facts.byReference(o) || !l.p.onlyReads(l.d.pkg, o) {
		return false
	}
	v := l.tableValue(e)
	if v == nil {
		return false
	}
	l.env[o] = &binding{value: v}
	return true
}

// bindDynamicTable binds a variable that is declared with a table of interface values, and reports whether o is one.
func (l *lowerer) bindDynamicTable(o types.Object, e ast.Expr) bool {
	if _, ok := ast.Unparen(e).(*ast.CompositeLit); !ok || l.facts.assigned[o] != 1 || l.facts.byReference(o) ||
		!l.onlyIndexed(o) {
		return false
	}
	v := l.dynamicLiteral(e)
	if v == nil {
		return false
	}
	l.env[o] = &binding{value: v}
	return true
}

// rangeTable lowers a loop over a table of functions that is no map.
func (l *lowerer) rangeTable(s *ast.RangeStmt, label string, t *funcValue) {
	key, value := s.Key, s.Value
	define := s.Tok == token.DEFINE
	if len(t.captures) == 0 {
		return
	}
	if !define && (key != nil && !isBlank(key) || value != nil && !isBlank(value)) {
		l.refuse(s, "range over functions", "its variables are declared before it", "declare them in the loop: :=")
		return
	}
	loop := l.newLoop(s, label)
	loop.V = &ir.Var{Name: l.names.fresh("i"), Type: types.Typ[types.Int], Pos: l.pos(s)}
	loop.Lo, loop.Hi, loop.Step = integer(0, loop.V.Type), integer(int64(len(t.captures)), loop.V.Type), 1
	loop.Body = l.block(func() {
		if key != nil {
			if o := l.newVar(key, define); o != nil {
				l.declare(s, o, loop.V.Load())
			}
		}
		if value != nil {
			if o := l.newVar(value, define); o != nil {
				if l.facts.assigned[o] > 1 || l.facts.byReference(o) {
					l.refuse(s, "range over functions", "the loop assigns to the function", "use another variable")
				}
				l.env[o] = &binding{value: l.elementAt(t, loop.V)}
			}
		}
	})
	loop.Body = append(loop.Body, l.loopBody(s.Body, label, loop.L, loop.Next)...)
	l.emit(loop)
}
