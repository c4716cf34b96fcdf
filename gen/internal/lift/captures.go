package lift

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Captured variables: which there are, whether a struct can carry them, and whether by value or by reference.

// free finds the variables and constants of the enclosing functions that a literal refers to.
func (l *lifter) free(lit *ast.FuncLit) {
	by := map[types.Object]*capture{}
	constants := map[types.Object]bool{}
	ast.Inspect(lit, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		o := l.info.Uses[id]
		if o == nil || o.Pkg() != l.Pkg.Types || o.Parent() == l.Pkg.Types.Scope() ||
			o.Pos() >= lit.Pos() && o.Pos() < lit.End() {
			return true
		}
		switch o := o.(type) {
		case *types.Var:
			if o.IsField() {
				return true
			}
			if by[o] == nil {
				by[o] = &capture{v: o}
				l.captures = append(l.captures, by[o])
			}
			by[o].uses = append(by[o].uses, id)
		case *types.Const:
			if !constants[o] {
				constants[o] = true
				l.constants = append(l.constants, l.constant(id, o))
			}
		case *types.TypeName:
			if _, ok := o.Type().(*types.TypeParam); ok {
				l.refuse(id, "it depends on the type parameter %s", o.Name())
			}
			l.refuse(id, "it refers to the type %s, which is declared in a function; declare it at package level",
				o.Name())
		}
		return true
	})
	for _, c := range l.captures {
		l.carry(lit, c)
	}
}

// constant returns the declaration of a constant of an enclosing function.
func (l *lifter) constant(id *ast.Ident, o *types.Const) string {
	text := ""
	ast.Inspect(l.top, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || len(spec.Values) != 1 || l.info.Defs[spec.Names[0]] != o {
			return true
		}
		simple := true
		ast.Inspect(spec.Values[0], func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				u := l.info.Uses[id]
				simple = simple && u != nil && u.Name() != "iota" && (u.Pkg() == nil || u.Parent() == u.Pkg().Scope() ||
					u.Parent() == nil)
			}
			return true
		})
		if simple {
			text = "const " + l.source(spec.Pos(), spec.End())
		}
		return true
	})
	if text == "" {
		l.refuse(id, "it refers to the constant %s, which is declared in a function; declare it at package level",
			o.Name())
	}
	return text
}

// carry decides how the struct carries a captured variable, or refuses it.
func (l *lifter) carry(lit *ast.FuncLit, c *capture) {
	switch c.v.Type().Underlying().(type) {
	case *types.Signature:
		l.refuse(c.uses[0], "it captures the function %s, which is not known in a struct; declare it at package level",
			c.v.Name())
	case *types.Chan:
		l.refuse(c.uses[0], "it captures the channel %s, which cannot be copied for clones", c.v.Name())
	}
	c.reference = hasLock(c.v.Type())
	inside := map[*ast.Ident]bool{}
	for _, id := range c.uses {
		inside[id] = true
		if l.assigned(id) {
			l.refuse(id, "it assigns %s, which it captures; return the value instead", c.v.Name())
		}
	}
	ast.Inspect(l.top, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || l.info.Uses[id] != c.v || inside[id] || !l.assigned(id) {
			return true
		}
		c.reference = c.reference || id.Pos() > lit.Pos() || l.addressed(id) || l.later(id, lit, c.v)
		return true
	})
	l.typeName(c.uses[0], c.v.Type())
}

// assigned reports whether the variable that an identifier refers to may change there: it or a part of it is assigned,
// or its address is taken.
func (l *lifter) assigned(id *ast.Ident) bool { return l.changes(id, false) }

// addressed reports whether the address of the variable, or of a part, is taken there.
func (l *lifter) addressed(id *ast.Ident) bool { return l.changes(id, true) }

func (l *lifter) changes(id *ast.Ident, address bool) bool {
	var e ast.Expr = id
	for {
		switch x := l.parents[e].(type) {
		case *ast.ParenExpr:
			e = x
			continue
		case *ast.SelectorExpr:
			s := l.info.Selections[x]
			if s == nil || x.X != e || isPointer(l.info.TypeOf(e)) || s.Kind() == types.FieldVal && s.Indirect() {
				return false
			}
			if s.Kind() == types.MethodVal {
				return isPointer(s.Obj().(*types.Func).Signature().Recv().Type())
			}
			e = x
			continue
		case *ast.IndexExpr:
			if _, ok := l.info.TypeOf(e).Underlying().(*types.Array); !ok || x.X != e {
				return false
			}
			e = x
			continue
		case *ast.SliceExpr:
			_, ok := l.info.TypeOf(e).Underlying().(*types.Array)
			return ok && x.X == e
		case *ast.UnaryExpr:
			return x.Op == token.AND
		case *ast.AssignStmt:
			for _, left := range x.Lhs {
				if left == e {
					return !address
				}
			}
		case *ast.IncDecStmt:
			return !address
		case *ast.RangeStmt:
			return !address && (x.Key == e || x.Value == e)
		}
		return false
	}
}

// later reports whether code at id, before a literal, may run after the literal is made: both are in a loop, outside of
// which v is declared, the code is in another literal, or there is a goto.
func (l *lifter) later(id *ast.Ident, lit *ast.FuncLit, v *types.Var) bool {
	outside := func(n ast.Node) bool { return v.Pos() < n.Pos() || v.Pos() >= n.End() }
	for n := l.parents[ast.Node(id)]; n != nil; n = l.parents[n] {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if outside(n) && n.Pos() <= lit.Pos() && lit.Pos() < n.End() {
				return true
			}
		case *ast.FuncLit:
			if outside(n) {
				return true
			}
		}
	}
	jumps := false
	ast.Inspect(l.top, func(n ast.Node) bool {
		if b, ok := n.(*ast.BranchStmt); ok {
			jumps = jumps || b.Tok == token.GOTO
		}
		return true
	})
	return jumps
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// hasLock reports whether values of type t must not be copied, as they have a method Lock by pointer or contain such a
// value.
func hasLock(t types.Type) bool {
	if types.NewMethodSet(types.NewPointer(t)).Lookup(nil, "Lock") != nil && !types.IsInterface(t) && !isPointer(t) {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		return hasLock(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if hasLock(f.Type()) {
				return true
			}
		}
	}
	return false
}

// typeText returns the type of a field for a captured variable.
func (l *lifter) typeText(c *capture) string { return l.typeName(l.Arg, c.v.Type()) }

// typeName returns a type as the file refers to it, and notes the imports that this needs. It refuses types that a
// declaration at package level cannot name.
func (l *lifter) typeName(n ast.Node, t types.Type) string {
	l.nameable(n, t, map[types.Type]bool{})
	return types.TypeString(t, func(p *types.Package) string {
		if p == l.Pkg.Types {
			return ""
		}
		for _, s := range l.File.Imports {
			if strings.Trim(s.Path.Value, "\"`") != p.Path() {
				continue
			}
			switch {
			case s.Name == nil:
				return p.Name()
			case s.Name.Name == ".":
				return ""
			case s.Name.Name != "_":
				return s.Name.Name
			}
		}
		name := ""
		for l.clashes(cmp.Or(name, p.Name())) {
			name = cmp.Or(name, p.Name()) + "2"
		}
		l.change.imports[p.Path()] = name
		return cmp.Or(name, p.Name())
	})
}

// clashes reports whether a name for an import is declared in the package or the file.
func (l *lifter) clashes(name string) bool {
	return l.Pkg.Types.Scope().Lookup(name) != nil ||
		l.info.Scopes[l.File] != nil && l.info.Scopes[l.File].Lookup(name) != nil
}

// nameable refuses a type of which a declaration at package level cannot name a part.
func (l *lifter) nameable(n ast.Node, t types.Type, seen map[types.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	object := func(o *types.TypeName, args *types.TypeList) {
		switch {
		case o.Pkg() == nil:
		case o.Parent() != o.Pkg().Scope():
			l.refuse(n, "the type %s is declared in a function; declare it at package level", o.Name())
		case o.Pkg() != l.Pkg.Types && !o.Exported():
			l.refuse(n, "the type %s.%s is not exported", o.Pkg().Name(), o.Name())
		}
		for i := range args.Len() {
			l.nameable(n, args.At(i), seen)
		}
	}
	switch t := t.(type) {
	case *types.Alias:
		object(t.Obj(), t.TypeArgs())
	case *types.Named:
		object(t.Obj(), t.TypeArgs())
	case *types.TypeParam:
		l.refuse(n, "it depends on the type parameter %s", t.Obj().Name())
	case *types.Pointer:
		l.nameable(n, t.Elem(), seen)
	case *types.Slice:
		l.nameable(n, t.Elem(), seen)
	case *types.Array:
		l.nameable(n, t.Elem(), seen)
	case *types.Map:
		l.nameable(n, t.Key(), seen)
		l.nameable(n, t.Elem(), seen)
	case *types.Struct:
		for f := range t.Fields() {
			l.nameable(n, f.Type(), seen)
		}
	}
}
