package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/ir"
)

// The dynamic types of interface values. A value gets into an interface by a conversion, mostly an implicit one, so the
// types that are converted to an interface anywhere in the loaded packages are those that its values can have, unless
// other packages, or conversions to a type parameter, make more; generated code panics on these. An interface converted
// or asserted to another passes on its types. This is a closed set as of rapid type analysis (Bacon & Sweeney 1996),
// for each interface.

// conversions maps interface types to the types that are converted to them. Keys are those of [Program.typeKey].
type conversions struct {
	p        *Program
	concrete map[string]map[string]types.Type // types that are no interfaces, by key
	from     map[string]map[string]bool       // keys of interfaces
	to       map[string]types.Type            // the interface types
}

// maxDynamicTypes bounds the dynamic types of an interface, as each makes a copy of the call.
const maxDynamicTypes = 64

// dynamicTypes returns the types of the program that are converted to the interface type t and that generated code can
// name, ordered by name; nil if there are none or too many. Errors do not count, as they are only passed on.
func (p *Program) dynamicTypes(t types.Type) []types.Type {
	found := p.convertedTypes(t)
	maps.DeleteFunc(found, func(_ string, c types.Type) bool { return !p.nameableType(c) })
	if len(found) > maxDynamicTypes {
		return nil
	}
	return slices.SortedFunc(maps.Values(found), compareTypes)
}

// noDynamicTypes says why dynamicTypes returns nil for t.
func (p *Program) noDynamicTypes(t types.Type) string {
	found := slices.SortedFunc(maps.Values(p.convertedTypes(t)), compareTypes)
	hidden := slices.DeleteFunc(slices.Clone(found), p.nameableType)
	switch {
	case len(found) == 0:
		return "no type of the program is converted to " + typeText(t)
	case len(hidden) < len(found):
		return fmt.Sprintf("%d types of the program are converted to %s, more than %d", len(found)-len(hidden),
			typeText(t), maxDynamicTypes)
	}
	var names []string
	for _, h := range hidden[:min(3, len(hidden))] {
		names = append(names, typeText(h))
	}
	if len(hidden) > len(names) {
		names = append(names, "others")
	}
	return "generated code cannot name the types that are converted to " + typeText(t) + ", " + and(names)
}

// and returns the words as a list.
func and(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// convertedTypes returns the types of the program, that are no interfaces and that are converted to the interface type
// t, by key.
func (p *Program) convertedTypes(t types.Type) map[string]types.Type {
	i, ok := t.Underlying().(*types.Interface)
	if !ok || !isDispatched(t) || i.NumMethods() == 0 {
		return nil
	}
	converted := p.conversions()
	found := map[string]types.Type{}
	seen := map[string]bool{}
	var visit func(key string)
	visit = func(key string) {
		if seen[key] {
			return
		}
		seen[key] = true
		for k, c := range converted.concrete[key] {
			// A value of a wider interface is asserted to have this one.
			if types.Implements(c, i) {
				found[k] = c
			}
		}
		for k := range converted.from[key] {
			visit(k)
		}
	}
	visit(p.typeKey(t))
	return found
}

// conversions returns the conversions in the loaded packages.
func (p *Program) conversions() *conversions {
	if p.converted == nil {
		p.converted = &conversions{p: p, concrete: map[string]map[string]types.Type{},
			from: map[string]map[string]bool{}, to: map[string]types.Type{}}
		packages.Visit(p.requested, nil, func(pkg *packages.Package) {
			if p.indexed[pkg] && pkg.TypesInfo != nil {
				for _, f := range pkg.Syntax {
					p.converted.file(pkg.TypesInfo, f)
				}
			}
		})
	}
	return p.converted
}

// nameableType reports whether generated code can name t: it is declared outside of functions, and exported unless its
// package is one that code is generated for.
func (p *Program) nameableType(t types.Type) bool {
	ok := true
	each := func(u types.Type) {
		n, named := u.(*types.Named)
		if !named || n.Obj().Pkg() == nil {
			return
		}
		own := slices.ContainsFunc(p.requested, func(pkg *packages.Package) bool {
			return pkg.PkgPath == n.Obj().Pkg().Path() || ir.CanName(n.Obj(), pkg.PkgPath)
		})
		ok = ok && own && !isLocal(n.Obj())
	}
	each(types.Unalias(deref(t)))
	if n, named := types.Unalias(deref(t)).(*types.Named); named {
		for i := range n.TypeArgs().Len() {
			each(types.Unalias(n.TypeArgs().At(i)))
		}
	}
	return ok
}

// add records a conversion of a value of type from to the type to.
func (c *conversions) add(to, from types.Type) {
	if to == nil || from == nil || !types.IsInterface(to) || hasTypeParam(to) || hasTypeParam(from) {
		return
	}
	if b, ok := from.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
		if b.Kind() == types.UntypedNil {
			return
		}
		from = types.Default(from)
	}
	key, k := c.p.typeKey(to), c.p.typeKey(from)
	c.to[key] = to
	if types.IsInterface(from) {
		if key != k {
			if c.from[key] == nil {
				c.from[key] = map[string]bool{}
			}
			c.from[key][k] = true
		}
		return
	}
	if c.concrete[key] == nil {
		c.concrete[key] = map[string]types.Type{}
	}
	c.concrete[key][k] = from
}

// hasTypeParam reports whether t is or contains a type parameter.
func hasTypeParam(t types.Type) bool {
	found := false
	ir.WalkType(t, func(u types.Type) {
		if _, ok := u.(*types.TypeParam); ok {
			found = true
		}
	})
	return found
}

// file records the conversions in a file.
func (c *conversions) file(info *types.Info, f *ast.File) {
	inspectFuncs(info, f, func(n ast.Node, sig *types.Signature) {
		if r, ok := n.(*ast.ReturnStmt); ok && sig != nil {
			c.tuple(info, sig.Results(), r.Results, false)
			return
		}
		c.node(info, n)
	})
}

// inspectFuncs calls visit for each node of a file, in the order of [ast.Inspect], with the signature of the innermost
// function that the node is in or that it is, nil outside of functions.
func inspectFuncs(info *types.Info, f *ast.File, visit func(n ast.Node, sig *types.Signature)) {
	signatures := []*types.Signature{nil} // of the enclosing functions
	var stack []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			switch stack[len(stack)-1].(type) {
			case *ast.FuncDecl, *ast.FuncLit:
				signatures = signatures[:len(signatures)-1]
			}
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, n)
		switch n := n.(type) {
		case *ast.FuncDecl:
			sig := new(types.Signature)
			if fn, ok := info.Defs[n.Name].(*types.Func); ok {
				sig = fn.Signature()
			}
			signatures = append(signatures, sig)
		case *ast.FuncLit:
			sig, ok := info.TypeOf(n).(*types.Signature)
			if !ok {
				sig = new(types.Signature)
			}
			signatures = append(signatures, sig)
		}
		visit(n, signatures[len(signatures)-1])
		return true
	})
}

// tuple records the conversions of values to the variables of a tuple, the last of which is variadic or not.
func (c *conversions) tuple(info *types.Info, to *types.Tuple, values []ast.Expr, variadic bool) {
	at := func(i int) types.Type {
		n := to.Len()
		if variadic && i >= n-1 {
			if s, ok := to.At(n - 1).Type().Underlying().(*types.Slice); ok {
				return s.Elem()
			}
			return nil
		}
		if i >= n {
			return nil
		}
		return to.At(i).Type()
	}
	if len(values) == 1 {
		if t, ok := info.TypeOf(values[0]).(*types.Tuple); ok {
			for i := range t.Len() {
				c.add(at(i), t.At(i).Type())
			}
			return
		}
	}
	for i, e := range values {
		c.add(at(i), info.TypeOf(e))
	}
}

// node records the conversions of n itself.
func (c *conversions) node(info *types.Info, n ast.Node) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		var to []*types.Var
		for _, e := range n.Lhs {
			t := info.TypeOf(e)
			if t == nil {
				t = types.Typ[types.Invalid]
			}
			to = append(to, types.NewVar(token.NoPos, nil, "", t))
		}
		c.tuple(info, types.NewTuple(to...), n.Rhs, false)
	case *ast.ValueSpec:
		var to []*types.Var
		for _, id := range n.Names {
			t := types.Type(types.Typ[types.Invalid])
			if o := info.Defs[id]; o != nil {
				t = o.Type()
			}
			to = append(to, types.NewVar(token.NoPos, nil, "", t))
		}
		c.tuple(info, types.NewTuple(to...), n.Values, false)
	case *ast.CallExpr:
		fun := info.Types[n.Fun]
		switch {
		case fun.IsType() && len(n.Args) == 1:
			c.add(fun.Type, info.TypeOf(n.Args[0]))
		case fun.Type != nil:
			// The signature that go/types records for a builtin is that of this call.
			if sig, ok := fun.Type.Underlying().(*types.Signature); ok {
				c.tuple(info, sig.Params(), n.Args, sig.Variadic() && !n.Ellipsis.IsValid())
			}
		}
	case *ast.TypeAssertExpr:
		if n.Type != nil {
			c.add(info.TypeOf(n.Type), info.TypeOf(n.X))
		}
	case *ast.TypeSwitchStmt:
		x, _ := switchOperand(n)
		for _, clause := range n.Body.List {
			for _, e := range clause.(*ast.CaseClause).List {
				if tv := info.Types[e]; tv.IsType() {
					c.add(tv.Type, info.TypeOf(x))
				}
			}
		}
	case *ast.SendStmt:
		if t := info.TypeOf(n.Chan); t != nil {
			if ch, ok := t.Underlying().(*types.Chan); ok {
				c.add(ch.Elem(), info.TypeOf(n.Value))
			}
		}
	case *ast.RangeStmt:
		if t := info.TypeOf(n.X); t != nil && n.Value != nil && n.Tok == token.ASSIGN {
			if s, ok := t.Underlying().(*types.Slice); ok {
				c.add(info.TypeOf(n.Value), s.Elem())
			}
		}
	case *ast.CompositeLit:
		c.literal(info, n)
	}
}

// literal records the conversions of the elements of a composite literal.
func (c *conversions) literal(info *types.Info, n *ast.CompositeLit) {
	t := info.TypeOf(n)
	if t == nil {
		return
	}
	var key, elem types.Type
	switch u := deref(t).Underlying().(type) {
	case *types.Struct:
		for i, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if id, ok := kv.Key.(*ast.Ident); ok {
					if f, ok := info.Uses[id].(*types.Var); ok {
						c.add(f.Type(), info.TypeOf(kv.Value))
					}
				}
			} else if i < u.NumFields() {
				c.add(u.Field(i).Type(), info.TypeOf(e))
			}
		}
		return
	case *types.Array:
		elem = u.Elem()
	case *types.Slice:
		elem = u.Elem()
	case *types.Map:
		key, elem = u.Key(), u.Elem()
	}
	for _, e := range n.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			c.add(key, info.TypeOf(kv.Key))
			e = kv.Value
		}
		c.add(elem, info.TypeOf(e))
	}
}
