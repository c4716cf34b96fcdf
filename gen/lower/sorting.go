package lower

import (
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Sorting with a comparison. The order is a passive result of a function of package rt, which sorts as the standard
// library does, with the lowered comparison; the elements are assigned in that order, so that derivatives move with
// them:
//
//	old := slices.Clone(s)
//	order := rt.Order(len(s), func(i, j int) int { return compare(old[i], old[j]) })
//	for i := range order { s[i] = old[order[i]] }
//
// The comparison of sort.Slice refers to the slice itself, which is sorted in place before it is assigned.

// orders maps the functions that sort with a comparison to the functions of package rt that return the order.
var orders = map[string]string{
	"slices.SortFunc": "Order", "slices.SortStableFunc": "OrderStable",
	"sort.Slice": "SortSlice", "sort.SliceStable": "SortSliceStable",
	"sort.Sort": "SortSlice", "sort.Stable": "SortSliceStable",
}

// sortCall lowers a call of a function that sorts with a comparison, and reports whether call is one.
func (l *lowerer) sortCall(call *ast.CallExpr) bool {
	c := l.callee(call)
	if c.kind != declared || l.p.ruleOf[c.fn.Origin()] != nil {
		return false
	}
	name := c.fn.FullName()
	to := orders[name]
	if to == "" {
		return false
	}
	inPlace := c.fn.Pkg().Path() == "sort"
	var method *types.Func
	if len(call.Args) == 1 { // sort.Sort has the algorithm of sort.Slice
		if method = l.plainSorter(l.typeOf(call.Args[0])); method == nil {
			return false
		}
	}
	st, ok := l.typeOf(call.Args[0]).Underlying().(*types.Slice)
	if !ok {
		l.refuse(call, "call of "+name, "the type of the slice is not known", "sort a slice of a known type")
		return true
	}
	if inPlace && ir.HasRefs(st.Elem()) {
		l.refuse(call, "call of "+name, "elements of type "+typeText(st.Elem())+" lead to other memory",
			"sort with slices.SortFunc")
		return true
	}
	s := l.temp(call, "s", l.typeOf(call.Args[0]), l.expr(call.Args[0]))
	var compare *ir.Func
	var captured []ir.Expr
	if method != nil {
		compare, captured = l.byReceiver(call, method, s.Type), []ir.Expr{s.Load()}
	} else {
		compare, captured = l.comparison(call, call.Args[1])
	}
	if compare == nil {
		return true
	}
	at := l.at(call)
	integer := types.Typ[types.Int]
	floats := ir.ContainsFloats(st.Elem()) || ir.ReachesFloats(st.Elem())
	var old *ir.Var
	if !inPlace || floats {
		old = l.temp(call, "old", s.Type, &ir.Make{Typed: ir.Typed{T: s.Type}, N: ir.LenOf(s.Load())})
		l.emit(&ir.Copy{At: at, Dst: old.Load(), Src: s.Load()})
	}
	first := ir.LenOf(s.Load())
	if inPlace {
		first = s.Load()
	} else {
		compare = l.byIndex(call, compare, s.Type)
		captured = append([]ir.Expr{old.Load()}, captured...)
	}
	// Arguments are variables, which the function literal in the generated code refers to.
	args := []ir.Expr{first}
	params := []*types.Var{types.NewParam(token.NoPos, nil, "", first.Type())}
	for _, e := range captured {
		if ir.VarOf(e) == nil {
			e = l.temp(call, "arg", e.Type(), e).Load()
		}
		args = append(args, e)
		params = append(params, types.NewParam(token.NoPos, nil, "", e.Type()))
	}
	list := types.NewSlice(integer)
	sig := types.NewSignatureType(nil, nil, nil, types.NewTuple(params...),
		types.NewTuple(types.NewParam(token.NoPos, nil, "", list)), false)
	r := &ir.Rule{Name: runtimePath + "." + to, Object: types.NewFunc(token.NoPos, runtimePackage, to, sig),
		Passive: true, Calls: compare, ReadOnly: slices.Repeat([]bool{true}, len(args))}
	r.ReadOnly[0] = !inPlace
	order := &ir.Var{Name: l.names.fresh("order"), Type: list, Pos: l.pos(call)}
	result := order
	if old == nil {
		result = nil
	} else {
		l.emit(&ir.Let{At: at, V: order})
	}
	l.emit(&ir.Call{At: at, Results: []*ir.Var{result}, Callee: &ir.Callee{Rule: r}, Args: args})
	if old == nil {
		return true
	}
	i := &ir.Var{Name: l.names.fresh("i"), Type: integer, Pos: l.pos(call)}
	loop := l.newLoop(call, "")
	loop.V, loop.Lo, loop.Hi, loop.Step = i, ir.Count(0), ir.LenOf(order.Load()), 1
	from := ir.LoadOf(ir.Extend(order.Place(), ir.IndexStep(i.Load())), integer)
	loop.Body = ir.Block{&ir.Set{At: at, P: ir.Extend(s.Place(), ir.IndexStep(i.Load())),
		E: ir.LoadOf(ir.Extend(old.Place(), ir.IndexStep(from)), st.Elem())}}
	l.emit(loop)
	return true
}

// comparison returns the lowered form of a comparison that is passed to a function, and its captured variables, which
// are its last parameters. It returns nil if the comparison is refused: it must be known and write nothing.
func (l *lowerer) comparison(call *ast.CallExpr, e ast.Expr) (*ir.Func, []ir.Expr) {
	v := l.function(e)
	refuse := func(reason, remedy string) (*ir.Func, []ir.Expr) {
		l.refuse(e, "comparison", reason, remedy)
		return nil, nil
	}
	if v == nil || v.lit == nil && v.fn == nil {
		return refuse("which function it is is not known", remedyStatic)
	}
	var to *specialization
	switch {
	case v.lit != nil:
		sig := v.signature()
		to = l.p.literal(v, sig, make([]*funcValue, sig.Params().Len()))
	case len(v.captures) > 0:
		return refuse("it is a method of a value", "call it in a function literal")
	default:
		d := l.p.decls[v.fn.Origin()]
		if d == nil || d.generated || l.p.ruleOf[v.fn.Origin()] != nil {
			return refuse("the source of "+v.fn.FullName()+" is not available", "call it in a function literal")
		}
		to = l.p.specialize(d, v.targs, nil)
	}
	if to == nil || !l.p.done[to.f] {
		return refuse("it calls this function again", "bound the recursion")
	}
	l.e.calls = append(l.e.calls, callSite{to, l.pos(call)})
	if written, _ := effects(to.f); slices.Contains(written, true) {
		return refuse("it writes memory", "only compare")
	}
	if to.hasReferenceMaps() {
		return refuse("it uses a map whose elements lead to other memory", "look it up before")
	}
	return to.f, l.captured(v)
}

// byIndex returns a function that compares the elements of a slice with two indices by compare. The slice is its third
// parameter, and captured variables follow.
func (l *lowerer) byIndex(n ast.Node, compare *ir.Func, slice types.Type) *ir.Func {
	return l.wrapper(n, compare, slice, types.Typ[types.Int], func(i, j, s *ir.Var) []ir.Expr {
		elem := func(k *ir.Var) ir.Expr {
			return ir.LoadOf(ir.Extend(s.Place(), ir.IndexStep(k.Load())), ir.ElemOf(slice))
		}
		return []ir.Expr{elem(i), elem(j)}
	})
}

// wrapper returns a function of two indices, a slice and the last parameters of f, that calls f with arguments made of
// the first three, and the others.
func (l *lowerer) wrapper(n ast.Node, f *ir.Func, slice, result types.Type,
	arguments func(i, j, s *ir.Var) []ir.Expr) *ir.Func {
	names := ir.NewNamer()
	variable := func(name string, t types.Type, kind ir.VarKind) *ir.Var {
		return &ir.Var{Name: names.Name(name), Type: t, Kind: kind, Pos: l.pos(n)}
	}
	integer := types.Typ[types.Int]
	i, j := variable("i", integer, ir.Param), variable("j", integer, ir.Param)
	s := variable("s", slice, ir.Param)
	g := l.p.function(l.f.Package, l.f.Name+"_compare", l.p.fset.Position(n.Pos()))
	g.Params, g.Exit = []*ir.Var{i, j, s}, &ir.Label{Name: names.Name("exit")}
	args := arguments(i, j, s)
	for _, p := range f.Params[len(args):] {
		q := variable(p.Name, p.Type, ir.Param)
		g.Params = append(g.Params, q)
		args = append(args, q.Load())
	}
	r, t := variable("r", result, ir.Result), variable("t", result, ir.Local)
	g.Results = []*ir.Var{r}
	at := l.at(n)
	g.Body = ir.Block{&ir.Let{At: at, V: t},
		&ir.Call{At: at, Results: []*ir.Var{t}, Callee: &ir.Callee{Func: f}, Args: args},
		&ir.Set{At: at, P: r.Place(), E: t.Load()}}
	return g
}

// plainSorter returns the method Less of a slice type whose methods Len and Swap return the length and swap elements,
// nil if t is none.
func (l *lowerer) plainSorter(t types.Type) *types.Func {
	if _, ok := t.Underlying().(*types.Slice); !ok {
		return nil
	}
	// method returns a method with its declaration, and the names of receiver and parameters.
	method := func(name string) (*types.Func, *ast.FuncDecl, []string) {
		o, path, indirect := types.LookupFieldOrMethod(t, true, nil, name)
		fn, ok := o.(*types.Func)
		if !ok || len(path) > 1 || indirect {
			return nil, nil, nil
		}
		d := l.p.decls[fn.Origin()]
		if d == nil || isPointer(fn.Signature().Recv().Type()) || isGeneric(fn) || l.p.ruleOf[fn] != nil {
			return nil, nil, nil
		}
		names := []string{fn.Signature().Recv().Name()}
		for v := range fn.Signature().Params().Variables() {
			names = append(names, v.Name())
		}
		return fn, d.node, names
	}
	// is reports whether the body of a method is one statement with the given text.
	is := func(d *ast.FuncDecl, names []string, format string) bool {
		if d == nil || d.Body == nil || len(d.Body.List) != 1 {
			return false
		}
		var text strings.Builder
		if printer.Fprint(&text, token.NewFileSet(), d.Body.List[0]) != nil {
			return false
		}
		args := make([]any, len(names))
		for i, name := range names {
			args[i] = name
		}
		return text.String() == fmt.Sprintf(format, args...)
	}
	_, length, names := method("Len")
	if !is(length, names, "return len(%[1]s)") {
		return nil
	}
	_, swap, names := method("Swap")
	if !is(swap, names, "%[1]s[%[2]s], %[1]s[%[3]s] = %[1]s[%[3]s], %[1]s[%[2]s]") {
		return nil
	}
	less, _, _ := method("Less")
	return less
}

// byReceiver returns a function that calls the method less of its third parameter with the first two.
func (l *lowerer) byReceiver(n *ast.CallExpr, less *types.Func, slice types.Type) *ir.Func {
	to := l.p.specialize(l.p.decls[less.Origin()], nil, nil)
	if to == nil || !l.p.done[to.f] {
		l.refuse(n, "comparison", "it calls this function again", "bound the recursion")
		return nil
	}
	l.e.calls = append(l.e.calls, callSite{to, l.pos(n)})
	if written, _ := effects(to.f); slices.Contains(written, true) {
		l.refuse(n, "comparison", "it writes memory", "only compare")
		return nil
	}
	return l.wrapper(n, to.f, slice, types.Typ[types.Bool], func(i, j, s *ir.Var) []ir.Expr {
		return []ir.Expr{s.Load(), i.Load(), j.Load()}
	})
}
