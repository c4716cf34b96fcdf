package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Function values that are one of several known functions (choices): variables that are assigned known functions only,
// and elements of tables of functions. At run time a choice is a number, the index of the function; a call of it has a
// case for each. It specialises callees as a single function does, with the number and the captured variables of all
// its functions as parameters.

// newChoice returns the choice of the function with the index in tag among alternatives of a type.
func newChoice(t types.Type, tag *ir.Place, alternatives []*funcValue) *funcValue {
	if !isFuncType(t) {
		return newDynamicChoice(t, tag, alternatives)
	}
	v := &funcValue{choice: t.Underlying().(*types.Signature)}
	v.captures = append(v.captures, capture{name: "which", t: types.Typ[types.Int], place: tag})
	for _, a := range alternatives {
		v.captures = append(v.captures, capture{value: a})
	}
	return v
}

// nilDereferenceError returns the error of a nil dereference.
func nilDereferenceError() ir.Expr {
	return &ir.Opaque{Typed: ir.Typed{T: types.Universe.Lookup("error").Type()}, Format: ir.UnknownTypeCall,
		Args: []ir.Expr{ir.Zero(types.Universe.Lookup("any").Type()),
			&ir.Const{Typed: ir.Typed{T: types.Typ[types.String]}, Val: constant.MakeString("")}}}
}

// choose emits a call of one of the functions of v, or of a value in memory, with the declarations lets of its results
// before the cases.
func (l *lowerer) choose(call *ast.CallExpr, v *funcValue, lets ir.Block, results []*ir.Var) bool {
	given := l.evaluated(call, v.signature())
	for _, s := range lets {
		l.emit(s)
	}
	l.callKnown(call, v, given, results)
	return true
}

// evaluated returns the arguments of a call of a function of type sig as variables and constants, which several cases
// can refer to.
func (l *lowerer) evaluated(call *ast.CallExpr, sig *types.Signature) *operands {
	args, values := l.arguments(call, call.Args, sig, l.subst)
	for i, e := range args {
		if k, ok := e.(*ir.Load); !ir.IsConst(e) && !(ok && len(k.P.Path) == 0) {
			args[i] = l.temp(call, "arg", e.Type(), e).Load()
		}
	}
	return &operands{args, values}
}

// chosen emits the cases of a call of v with given arguments.
func (l *lowerer) chosen(call *ast.CallExpr, v *funcValue, given *operands, results []*ir.Var) {
	tag := ir.LoadOf(v.captures[0].place, v.captures[0].t)
	var from func(k int)
	from = func(k int) {
		if k == len(v.captures)-2 { // the number is in range
			l.callKnown(call, v.captures[k+1].value, given, results)
			return
		}
		is := &ir.Binary{Typed: boolean, Op: token.EQL, X: tag, Y: integer(int64(k), tag.Type())}
		st := &ir.If{At: l.at(call), Cond: is}
		st.Then = l.block(func() { l.callKnown(call, v.captures[k+1].value, given, results) })
		st.Else = l.block(func() { from(k + 1) })
		l.emit(st)
	}
	from(0)
}

// callKnown emits a call of v with given arguments.
func (l *lowerer) callKnown(call *ast.CallExpr, v *funcValue, given *operands, results []*ir.Var) {
	switch {
	case v.null:
		l.nilDereference(call)
	case v.choice != nil:
		l.chosen(call, v, given, results)
	case v.stored != nil:
		l.callStored(call, v, given, results)
	case v.fn != nil && isMath(v.fn) && v.fn.Signature().Results().Len() == 1:
		if results[0] != nil {
			t := v.fn.Signature().Results().At(0).Type()
			e := l.mathOf(call, v.fn, slices.Clone(given.args), t)
			l.emit(&ir.Set{At: l.at(call), P: results[0].Place(), E: l.coerce(e, results[0].Type, call)})
		}
	case v.fn != nil && isOpaque(v.fn):
		l.refuse(call, "call of "+v.fn.FullName(), "it is one of several functions", "call it directly")
	default:
		if to, args := l.callValueWith(call, v, given); to != nil {
			l.emit(&ir.Call{At: l.at(call), Results: results, Callee: to, Args: args})
		}
	}
}

// callOperand emits the call of a function that an expression other than a name denotes, such as an element of a table
// or the result of a call. It reports whether that was possible.
func (l *lowerer) callOperand(call *ast.CallExpr, c callee, lets ir.Block, results []*ir.Var) bool {
	n := len(l.e.refusals)
	v := l.function(call.Fun)
	if v == nil || v.loop != nil {
		if len(l.e.refusals) == n {
			l.refuse(call, c.why[0], c.why[1], c.why[2])
		}
		return false
	}
	given := l.evaluated(call, l.typeOf(call.Fun).Underlying().(*types.Signature))
	for i, t := range given.values {
		if t == nil && isFuncType(l.typeOf(call.Fun).Underlying().(*types.Signature).Params().At(i).Type()) {
			return false // refused
		}
	}
	for _, s := range lets {
		l.emit(s)
	}
	l.callKnown(call, v, given, results)
	return true
}

// assignments returns the expressions that are assigned to the variable o, its declaration included, and the statements
// that assign them. It reports whether that are all its values: no other statement assigns it.
func (l *lowerer) assignments(o types.Object) (list []ast.Expr, at []ast.Stmt, all bool) {
	all = true
	is := func(e ast.Expr) bool {
		id, ok := ast.Unparen(e).(*ast.Ident)
		return ok && l.info.ObjectOf(id) == o
	}
	ast.Inspect(l.d.node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, e := range n.Lhs {
				switch {
				case !is(e):
				case len(n.Lhs) == len(n.Rhs):
					list, at = append(list, ast.Unparen(n.Rhs[i])), append(at, n)
				default:
					all = false
				}
			}
		case *ast.RangeStmt:
			if n.Key != nil && is(n.Key) || n.Value != nil && is(n.Value) {
				all = false
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				switch {
				case !is(id) || len(n.Values) == 0:
				case len(n.Names) == len(n.Values):
					list, at = append(list, ast.Unparen(n.Values[i])), append(at, nil)
				default:
					all = false
				}
			}
		}
		return true
	})
	return list, at, all
}

// declareChoice declares o as a choice of first and the functions that are assigned to it, and reports whether they are
// all known where it is declared. A nil first is the first of them. A variable that changes after a function literal
// has captured it is none, as the literal may be stored.
func (l *lowerer) declareChoice(n ast.Node, o types.Object, first *funcValue) bool {
	list, _, all := l.assignments(o)
	if !all || l.facts.byReference(o) || changesCaptured(l, o) {
		return false
	}
	index := map[ast.Expr]int{}
	var alternatives []*funcValue
	if first != nil {
		alternatives = append(alternatives, first)
	}
	for _, e := range list {
		v := l.knownFunction(e)
		if v == nil {
			return false
		}
		index[e] = len(alternatives)
		alternatives = append(alternatives, v)
	}
	tag := l.temp(n, o.Name(), types.Typ[types.Int], integer(0, types.Typ[types.Int]))
	t := l.subst.apply(o.Type())
	l.env[o] = &binding{value: newChoice(t, tag.Place(), alternatives), alternatives: index}
	return true
}

// knownFunction returns the function that e denotes wherever it is evaluated, nil if there is none: a declared
// function, nil, a variable bound to one function, or a literal all of whose captured variables exist here.
func (l *lowerer) knownFunction(e ast.Expr) *funcValue {
	e = ast.Unparen(e)
	switch x := e.(type) {
	case *ast.FuncLit:
		ok := true
		ast.Inspect(x, func(n ast.Node) bool {
			id, is := n.(*ast.Ident)
			if !is {
				return true
			}
			v, is := l.info.Uses[id].(*types.Var)
			if !is || v.IsField() || v.Pos() >= x.Pos() && v.Pos() < x.End() {
				return true
			}
			b := l.env[v]
			ok = ok && (isGlobal(v) || b != nil && (b.value == nil || b.alternatives == nil))
			return true
		})
		if !ok {
			return nil
		}
		return l.closure(x, nil)
	case *ast.CallExpr:
		if len(x.Args) == 1 && l.info.Types[x.Fun].IsType() {
			return l.knownFunction(x.Args[0])
		}
		return nil
	case *ast.Ident:
		b := l.env[l.info.ObjectOf(x)]
		if b != nil && (b.value == nil || b.alternatives != nil || b.value.choice != nil) {
			return nil
		}
	case *ast.SelectorExpr:
		if s := l.info.Selections[x]; s != nil && s.Kind() == types.MethodVal {
			return nil // the receiver is evaluated with it
		}
	case *ast.IndexExpr, *ast.IndexListExpr:
		if fn, _ := staticFunc(l.info, e); fn == nil {
			return nil
		}
	}
	return l.staticFunction(e)
}

// copyChoice returns the function that the variable with the choice v holds now.
func (l *lowerer) copyChoice(n ast.Node, v *funcValue) *funcValue {
	w := *v
	w.captures = slices.Clone(v.captures)
	tag := &w.captures[0]
	tag.place = l.temp(n, tag.name, tag.t, ir.LoadOf(tag.place, tag.t)).Place()
	return &w
}

// setChoice assigns the function e to a variable that is a choice.
func (l *lowerer) setChoice(n ast.Node, b *binding, e ast.Expr) {
	k, ok := b.alternatives[ast.Unparen(e)]
	if !ok {
		l.refuse(e, "function value", "the function is not known statically", remedyStatic)
		return
	}
	tag := b.value.captures[0].place
	l.emit(&ir.Set{At: l.at(n), P: tag, E: integer(int64(k), types.Typ[types.Int])})
}

// isNull returns whether the function v is nil.
func (l *lowerer) isNull(v *funcValue) ir.Expr {
	if v.stored != nil {
		return ir.Compare(token.EQL, ir.LoadOf(v.captures[0].place, v.stored), ir.Zero(v.stored))
	}
	if v.choice == nil && v.dynamic == nil {
		return truth(v.null)
	}
	var out ir.Expr = truth(false)
	for k, c := range v.captures[1:] {
		tag := ir.LoadOf(v.captures[0].place, v.captures[0].t)
		test := ir.Expr(&ir.Binary{Typed: boolean, Op: token.EQL, X: tag, Y: integer(int64(k), tag.Type())})
		switch null := l.isNull(c.value).(type) {
		case *ir.Const:
			if !isTrue(null) {
				continue
			}
		default:
			test = &ir.Binary{Typed: boolean, Op: token.LAND, X: test, Y: null}
		}
		if c, ok := out.(*ir.Const); ok && !isTrue(c) {
			out = test
		} else {
			out = &ir.Binary{Typed: boolean, Op: token.LOR, X: out, Y: test}
		}
	}
	return out
}
