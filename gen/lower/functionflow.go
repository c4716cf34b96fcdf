package lower

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/nabla-ad/nabla/gen/ir"
)

// The functions that a variable or a field of function type may hold, for values that other code makes: those that the
// loaded packages assign to it, directly or through other variables, parameters and results. A container stands for its
// elements. The analysis is insensitive to control flow and to the values that hold a field. Functions that it misses,
// such as those of other packages, end a call at run time.

// A functionFlow has the declared functions and the variables whose values flow to each variable, and to the parameters
// and results of calls whose callee is not known, by the type of the callee.
type functionFlow struct {
	info    *types.Info // of the package whose expressions are resolved
	direct  map[types.Object][]*types.Func
	from    map[types.Object][]types.Object
	unknown typeutil.Map          // *types.Signature → the identical one that stands for all
	values  map[*types.Func]bool  // declared functions that are used as values
	literal map[types.Object]bool // a function literal or a method value is assigned to the variable
}

// functionsIn returns the declared functions that the loaded packages assign to the variable or field of function type
// that e denotes, whose types info has, or to a container of such, ordered by name. It reports whether they assign
// function literals or method values too.
func (p *Program) functionsIn(info *types.Info, e ast.Expr) (list []*types.Func, literals bool) {
	p.findFunctionFlow()
	p.flow.info = info
	found := map[*types.Func]bool{}
	seen := map[types.Object]bool{nil: true}
	var visit func(o types.Object)
	visit = func(o types.Object) {
		if seen[o] {
			return
		}
		seen[o] = true
		literals = literals || p.flow.literal[o]
		for _, fn := range p.flow.direct[o] {
			found[fn] = true
		}
		for _, from := range p.flow.from[o] {
			visit(from)
		}
	}
	visit(p.flow.holder(e))
	byName := func(a, b *types.Func) int { return strings.Compare(a.FullName(), b.FullName()) }
	return slices.SortedFunc(maps.Keys(found), byName), literals
}

// findFunctionFlow finds the flow of functions in the loaded packages, once.
func (p *Program) findFunctionFlow() {
	if p.flow == nil {
		p.flow = &functionFlow{direct: map[types.Object][]*types.Func{}, from: map[types.Object][]types.Object{},
			values: map[*types.Func]bool{}, literal: map[types.Object]bool{}}
		packages.Visit(p.requested, nil, func(pkg *packages.Package) {
			if p.indexed[pkg] && pkg.TypesInfo != nil {
				p.flow.info = pkg.TypesInfo
				for _, f := range pkg.Syntax {
					p.flow.file(f)
				}
			}
		})
		p.flow.connect()
	}
}

// holdsFunctions reports whether values of type t are functions or contain some.
func holdsFunctions(t types.Type) (found bool) {
	if t == nil {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Signature:
		return true
	case interface{ Elem() types.Type }:
		return holdsFunctions(u.Elem())
	}
	return false
}

// holder returns the variable, field, parameter or result that e denotes or is an element of, or nil.
func (w *functionFlow) holder(e ast.Expr) types.Object {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := w.info.ObjectOf(x).(*types.Var); ok {
			return v.Origin()
		}
	case *ast.SelectorExpr:
		if v, ok := w.info.ObjectOf(x.Sel).(*types.Var); ok {
			return v.Origin()
		}
	case *ast.IndexExpr:
		return w.holder(x.X)
	case *ast.SliceExpr:
		return w.holder(x.X)
	case *ast.StarExpr:
		return w.holder(x.X)
	case *ast.UnaryExpr:
		return w.holder(x.X)
	case *ast.CallExpr:
		if r := w.result(x, 0); r != nil {
			return r
		}
	}
	return nil
}

// result returns result i of a call, or nil.
func (w *functionFlow) result(call *ast.CallExpr, i int) types.Object {
	results := w.signature(call).Results()
	if i >= results.Len() {
		return nil
	}
	return results.At(i)
}

// signature returns the type of the callee of a call, of the declaration if it is known. The variables of a type of
// callees that are not known are the same for all.
func (w *functionFlow) signature(call *ast.CallExpr) *types.Signature {
	if fn := typeutil.StaticCallee(w.info, call); fn != nil {
		return fn.Origin().Signature()
	}
	t := w.info.TypeOf(call.Fun)
	if t == nil {
		return new(types.Signature)
	}
	sig, ok := t.Underlying().(*types.Signature)
	if !ok {
		return new(types.Signature)
	}
	return w.representative(sig)
}

// representative returns one type for all that are identical to sig.
func (w *functionFlow) representative(sig *types.Signature) *types.Signature {
	if known, ok := w.unknown.At(sig).(*types.Signature); ok {
		return known
	}
	w.unknown.Set(sig, sig)
	return sig
}

// assign notes that the value of e flows to o.
func (w *functionFlow) assign(o types.Object, e ast.Expr) {
	t := w.info.TypeOf(e)
	if o == nil || !holdsFunctions(t) {
		return
	}
	e = ast.Unparen(e)
	if fn, _ := staticFunc(w.info, e); fn != nil {
		w.direct[o] = append(w.direct[o], fn.Origin())
		return
	}
	switch x := e.(type) {
	case *ast.FuncLit:
		w.literal[o] = true
		return
	case *ast.CompositeLit:
		for _, y := range x.Elts {
			if kv, ok := y.(*ast.KeyValueExpr); ok {
				y = kv.Value
			}
			w.assign(o, y)
		}
		return
	case *ast.CallExpr:
		if w.info.Types[x.Fun].IsType() && len(x.Args) == 1 {
			w.assign(o, x.Args[0])
			return
		}
		if b, ok := w.info.Uses[identOf(x.Fun)].(*types.Builtin); ok && b.Name() == "append" {
			for _, y := range x.Args {
				w.assign(o, y)
			}
			return
		}
	case *ast.SelectorExpr:
		if s := w.info.Selections[x]; s != nil && s.Kind() == types.MethodVal {
			w.literal[o] = true // it has a receiver, as a literal has captured variables
			return
		}
	}
	if from := w.holder(e); from != nil && from != o {
		w.from[o] = append(w.from[o], from)
	}
}

// assignAll notes an assignment of several values, which may be the results of one call.
func (w *functionFlow) assignAll(to []types.Object, values []ast.Expr) {
	if len(values) == 1 && len(to) > 1 {
		call, ok := ast.Unparen(values[0]).(*ast.CallExpr)
		for i, o := range to {
			if !ok || o == nil || !holdsFunctions(o.Type()) {
				continue
			}
			if r := w.result(call, i); r != nil {
				w.from[o] = append(w.from[o], r)
			}
		}
		return
	}
	for i, e := range values {
		if i < len(to) {
			w.assign(to[i], e)
		}
	}
}

// file notes the assignments in a file.
func (w *functionFlow) file(f *ast.File) {
	inspectFuncs(w.info, f, func(n ast.Node, sig *types.Signature) {
		switch n := n.(type) {
		case *ast.FuncLit:
			w.link(sig)
		case *ast.ReturnStmt:
			if sig != nil {
				w.assignAll(objectsOf(sig.Results()), n.Results)
			}
		default:
			w.node(n)
		}
	})
}

// link notes that the parameters and results of a function that is used as a value are those of calls of such values.
func (w *functionFlow) link(sig *types.Signature) {
	all := w.representative(sig)
	if all == sig {
		return
	}
	for i := range sig.Params().Len() {
		v := sig.Params().At(i)
		w.from[v] = append(w.from[v], all.Params().At(i))
	}
	for i := range sig.Results().Len() {
		v := all.Results().At(i)
		w.from[v] = append(w.from[v], sig.Results().At(i))
	}
}

// connect links the declared functions that are used as values.
func (w *functionFlow) connect() {
	for _, list := range w.direct {
		for _, fn := range list {
			if !w.values[fn] && fn.Signature().Recv() == nil {
				w.values[fn] = true
				w.link(fn.Signature())
			}
		}
	}
}

// objectsOf returns the variables of a tuple.
func objectsOf(t *types.Tuple) (list []types.Object) {
	for v := range t.Variables() {
		list = append(list, v)
	}
	return list
}

// node notes the assignments of n itself.
func (w *functionFlow) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		var to []types.Object
		for _, e := range n.Lhs {
			to = append(to, w.holder(e))
		}
		w.assignAll(to, n.Rhs)
	case *ast.ValueSpec:
		var to []types.Object
		for _, id := range n.Names {
			to = append(to, w.info.Defs[id])
		}
		w.assignAll(to, n.Values)
	case *ast.RangeStmt:
		if n.Value != nil && holdsFunctions(w.info.TypeOf(n.Value)) {
			if from, to := w.holder(n.X), w.holder(n.Value); from != nil && to != nil {
				w.from[to] = append(w.from[to], from)
			}
		}
	case *ast.CallExpr:
		if w.info.Types[n.Fun].IsType() {
			return
		}
		sig := w.signature(n)
		params := sig.Params()
		for i, e := range n.Args {
			if k := min(i, params.Len()-1); k >= 0 && (i < params.Len() || sig.Variadic()) {
				w.assign(params.At(k), e)
			}
		}
	case *ast.CompositeLit:
		t := w.info.TypeOf(n)
		if t == nil {
			return
		}
		u, ok := deref(t).Underlying().(*types.Struct)
		if !ok {
			return
		}
		for i, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if id, ok := kv.Key.(*ast.Ident); ok {
					w.assign(w.holder(id), kv.Value)
				}
			} else if i < u.NumFields() {
				w.assign(u.Field(i).Origin(), e)
			}
		}
	}
}

// foreignFunction returns fn, a function that other code may have stored in a value of type sig, as a function of
// values; nil if generated code cannot name it, or it cannot be differentiated.
func (p *Program) foreignFunction(e *specialization, fn *types.Func, sig *types.Signature) *storedFunction {
	d := e.sources[0]
	if isGeneric(fn) || fn.Signature().Recv() != nil || !ir.CanName(fn, d.pkg.PkgPath) {
		return nil
	}
	trial := &specialization{f: &ir.Func{Name: e.f.Name, Package: e.f.Package}}
	l := p.lowerer(trial, d, nil)
	v := &funcValue{fn: fn, d: p.decls[fn]}
	if !types.Identical(l.signatureOf(v), sig) {
		return nil
	}
	m := l.storedFunction(d.node, v)
	if m == nil || len(trial.refusals) > 0 || len(m.e.allRefusals()) > 0 {
		return nil
	}
	return m
}
