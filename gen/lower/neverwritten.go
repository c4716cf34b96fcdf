package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Package-level variables that are never written after their initialisation. All uses of an unexported variable are in
// its package. Each is followed along selectors, indices and aliases in local variables and parameters; a use through
// which its memory could be written, or leave the package, counts as a write. Functions are analysed from their syntax,
// insensitive to control flow.

// A usage holds the uses of the objects of one package, and the parents of its nodes.
type usage struct {
	pkg     *packages.Package
	uses    map[types.Object][]*ast.Ident
	defs    map[types.Object]*ast.Ident
	parents map[ast.Node]ast.Node
}

// usageOf indexes a package, once.
func (p *Program) usageOf(pkg *packages.Package) *usage {
	if u := p.usages[pkg]; u != nil {
		return u
	}
	u := &usage{pkg, map[types.Object][]*ast.Ident{}, map[types.Object]*ast.Ident{}, map[ast.Node]ast.Node{}}
	p.usages[pkg] = u
	for _, f := range pkg.Syntax {
		var stack []ast.Node
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil {
				stack = stack[:len(stack)-1]
				return true
			}
			if len(stack) > 0 {
				u.parents[n] = stack[len(stack)-1]
			}
			stack = append(stack, n)
			if id, ok := n.(*ast.Ident); ok {
				if o := pkg.TypesInfo.Uses[id]; o != nil {
					if fn, ok := o.(*types.Func); ok {
						o = fn.Origin()
					}
					u.uses[o] = append(u.uses[o], id)
				} else if o := pkg.TypesInfo.Defs[id]; o != nil {
					u.defs[o] = id
				}
			}
			return true
		})
	}
	return u
}

// written returns where a package-level variable of pkg may be written, "" if that is nowhere.
func (p *Program) written(o *types.Var, pkg *packages.Package) string {
	if why, ok := p.writtenAt[o]; ok {
		return why
	}
	why := ""
	if o.Exported() {
		why = "other packages may write it"
	} else {
		w := &writeSearch{p: p, seen: map[types.Object]bool{}}
		if at := w.variable(o, pkg); at != nil {
			why = fmt.Sprintf("it %s at %s", at.how, position(p.fset.Position(at.pos)))
		}
	}
	p.writtenAt[o] = why
	return why
}

// position returns a position with the last two elements of the path, which do not depend on the machine.
func position(pos token.Position) string {
	return fmt.Sprintf("%s/%s:%d", filepath.Base(filepath.Dir(pos.Filename)), filepath.Base(pos.Filename), pos.Line)
}

// A possibleWrite is a use of memory that may write it.
type possibleWrite struct {
	pos token.Pos
	how string // verb phrase
}

// A writeSearch looks for writes. seen holds the variables and parameters under examination or examined, so that
// recursion ends.
type writeSearch struct {
	p    *Program
	seen map[types.Object]bool
}

// variable returns a use of o through which o, or memory that o refers to, may be written, or nil.
func (w *writeSearch) variable(o types.Object, pkg *packages.Package) *possibleWrite {
	if w.seen[o] {
		return nil
	}
	w.seen[o] = true
	u := w.p.usageOf(pkg)
	for _, id := range u.uses[o] {
		if at := w.use(u, id, id.Pos()); at != nil {
			return at
		}
	}
	return nil
}

// use examines one use e of the memory. at is the position of the first mention, for messages.
func (w *writeSearch) use(u *usage, e ast.Expr, at token.Pos) *possibleWrite {
	info := u.pkg.TypesInfo
	for {
		parent := u.parents[e]
		switch x := parent.(type) {
		case *ast.ParenExpr, *ast.StarExpr:
			e = x.(ast.Expr)
			continue
		case *ast.IndexExpr:
			if x.X == e {
				e = x
				continue
			}
			return nil // an index, which is read
		case *ast.SliceExpr:
			if x.X == e {
				e = x
				continue
			}
			return nil
		case *ast.KeyValueExpr:
			if x.Key == e {
				return nil // the key of a map or an array
			}
		case *ast.SelectorExpr:
			if x.Sel == e { // qualified by a package
				e = x
				continue
			}
			s := info.Selections[x]
			if s == nil {
				return nil
			}
			if s.Kind() == types.FieldVal {
				e = x
				continue
			}
			return w.method(u, x, s, at)
		case *ast.UnaryExpr:
			if x.Op == token.AND {
				return w.reference(u, x, at)
			}
			return nil
		case *ast.IncDecStmt:
			return &possibleWrite{x.Pos(), "is written"}
		case *ast.AssignStmt:
			for _, l := range x.Lhs {
				if l == e {
					return &possibleWrite{x.Pos(), "is written"}
				}
			}
		case *ast.RangeStmt:
			if x.Key == e || x.Value == e {
				return &possibleWrite{x.Pos(), "is written"}
			}
			if x.X == e {
				return w.ranged(u, x, at)
			}
		}
		t := info.TypeOf(e)
		if t == nil || !ir.HasRefs(t) || types.Identical(t, types.Universe.Lookup("error").Type()) {
			return nil // a copy of the value
		}
		return w.reference(u, e, at)
	}
}

// ranged examines a loop over the memory: its value variable may refer to memory too.
func (w *writeSearch) ranged(u *usage, s *ast.RangeStmt, at token.Pos) *possibleWrite {
	for _, v := range []ast.Expr{s.Key, s.Value} {
		if v == nil || isBlank(v) || u.pkg.TypesInfo.TypeOf(v) == nil || !ir.HasRefs(u.pkg.TypesInfo.TypeOf(v)) {
			continue
		}
		id, ok := v.(*ast.Ident)
		if !ok {
			return &possibleWrite{at, "is stored"}
		}
		if found := w.variable(u.pkg.TypesInfo.ObjectOf(id), u.pkg); found != nil {
			return found
		}
	}
	return nil
}

// method examines the receiver of a method call or a method value.
func (w *writeSearch) method(u *usage, x *ast.SelectorExpr, s *types.Selection, at token.Pos) *possibleWrite {
	fn, ok := s.Obj().(*types.Func)
	if !ok {
		return nil
	}
	recv := fn.Signature().Recv()
	if recv == nil || !isPointer(recv.Type()) && !ir.HasRefs(recv.Type()) {
		return nil
	}
	return w.parameter(fn, recv, at, "is the receiver of "+fn.Name())
}

// parameter examines a parameter or the receiver of a declared function that the memory is passed to.
func (w *writeSearch) parameter(fn *types.Func, v *types.Var, at token.Pos, how string) *possibleWrite {
	fn = fn.Origin()
	d := w.p.decls[fn]
	if d == nil || d.node.Body == nil {
		return &possibleWrite{at, how + ", whose source is not available,"}
	}
	// The parameter of the declaration, which is generic if v belongs to an instance.
	sig := fn.Signature()
	if v == sig.Recv() || sig.Recv() != nil && v.Origin() == sig.Recv() {
		return w.variable(sig.Recv(), d.pkg)
	}
	return w.variable(v.Origin(), d.pkg)
}

// reference examines a use of a value e that refers to the memory.
func (w *writeSearch) reference(u *usage, e ast.Expr, at token.Pos) *possibleWrite {
	info := u.pkg.TypesInfo
	for {
		switch x := u.parents[e].(type) {
		case *ast.ParenExpr:
			e = x
			continue
		case *ast.StarExpr, *ast.IndexExpr, *ast.SliceExpr, *ast.SelectorExpr:
			return w.use(u, e, at)
		case *ast.BinaryExpr, *ast.ExprStmt, *ast.SwitchStmt, *ast.IfStmt, *ast.CaseClause:
			return nil
		case *ast.CallExpr:
			return w.argument(u, x, e, at)
		case *ast.AssignStmt:
			if len(x.Lhs) != len(x.Rhs) {
				return &possibleWrite{at, "is stored"}
			}
			for i, r := range x.Rhs {
				if r == e {
					return w.alias(u, info.ObjectOf(identifier(x.Lhs[i])), x.Lhs[i], at)
				}
			}
		case *ast.ValueSpec:
			for i, r := range x.Values {
				if r == e && len(x.Names) == len(x.Values) {
					return w.alias(u, info.ObjectOf(x.Names[i]), x.Names[i], at)
				}
			}
		case *ast.ReturnStmt:
			return &possibleWrite{at, "is returned"}
		}
		return &possibleWrite{at, "is stored"}
	}
}

// identifier returns e as an identifier, or nil.
func identifier(e ast.Expr) *ast.Ident {
	id, _ := ast.Unparen(e).(*ast.Ident)
	return id
}

// alias examines the variable o, denoted by to, that the memory is assigned to.
func (w *writeSearch) alias(u *usage, o types.Object, to ast.Expr, at token.Pos) *possibleWrite {
	if isBlank(to) {
		return nil
	}
	v, ok := o.(*types.Var)
	if !ok || v.Parent() == v.Pkg().Scope() && v.Exported() {
		return &possibleWrite{at, "is stored"}
	}
	// The assignment of the alias itself is no write to the memory.
	if w.seen[v] {
		return nil
	}
	w.seen[v] = true
	for _, id := range u.uses[v] {
		if s, ok := u.parents[id].(*ast.AssignStmt); ok && assigned(s, id) {
			continue
		}
		if found := w.use(u, id, at); found != nil {
			return found
		}
	}
	return nil
}

// assigned reports whether s assigns to the variable that id denotes as a whole.
func assigned(s *ast.AssignStmt, id *ast.Ident) bool {
	for _, l := range s.Lhs {
		if l == id {
			return true
		}
	}
	return false
}

// argument examines a value that refers to the memory and is an argument of a call.
func (w *writeSearch) argument(u *usage, call *ast.CallExpr, e ast.Expr, at token.Pos) *possibleWrite {
	info := u.pkg.TypesInfo
	if call.Fun == e {
		return nil // a function, which is called
	}
	if info.Types[call.Fun].IsType() { // a conversion
		if t := info.TypeOf(call); t != nil && !ir.HasRefs(t) {
			return nil
		}
		return w.reference(u, call, at)
	}
	index := -1
	for i, a := range call.Args {
		if a == e {
			index = i
		}
	}
	fun := ast.Unparen(call.Fun)
	if x, ok := fun.(*ast.IndexExpr); ok {
		fun = x.X
	}
	var id *ast.Ident
	switch x := fun.(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		id = x.Sel
	}
	if id == nil || index < 0 {
		return &possibleWrite{at, "is passed to an unknown function"}
	}
	switch fn := info.Uses[id].(type) {
	case *types.Builtin:
		switch fn.Name() {
		case "len", "cap":
			return nil
		case "copy", "append":
			if t, ok := info.TypeOf(e).Underlying().(*types.Slice); index > 0 && (!ok || !ir.HasRefs(t.Elem())) {
				return nil
			}
		}
		return &possibleWrite{at, "is an argument of " + fn.Name()}
	case *types.Func:
		params := fn.Signature().Params()
		if fn.Signature().Variadic() && index >= params.Len()-1 && !call.Ellipsis.IsValid() {
			return &possibleWrite{at, "is passed to " + fn.Name()}
		}
		if s := info.Selections[selector(fun)]; s != nil && types.IsInterface(s.Recv()) {
			return &possibleWrite{at, "is passed to an interface method"}
		}
		return w.parameter(fn, params.At(index), at, "is passed to "+fn.Name())
	}
	return &possibleWrite{at, "is passed to an unknown function"}
}

// selector returns e as a selector, or nil.
func selector(e ast.Expr) *ast.SelectorExpr {
	x, _ := e.(*ast.SelectorExpr)
	return x
}
