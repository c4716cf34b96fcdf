package print

import (
	"go/types"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Types that the file declares: those without a package, such as the workspaces of adjoints, and
// types declared in functions of the source, and private copies of types of other packages (mirror.go).

// declares reports whether the file declares a named type: one that belongs to no package, one of
// the file's package without a scope, one that the source declares in a function, or one that cannot be named.
func (f *file) declares(t *types.Named) bool {
	o := t.Obj()
	switch {
	case o.Pkg() == nil:
		return types.Universe.Lookup(o.Name()) != o
	case o.Parent() == nil:
		return o.Pkg().Path() == f.pkg.Path()
	}
	return o.Parent() != o.Pkg().Scope() || f.hidden(t)
}

// A declaredType is a type that the file declares.
type declaredType struct {
	// t is the type in the functions.
	t  *types.Named
	as *types.Named // stands for t in the printed text, under its name there
}

// typesOf adds the types of the variables and expressions of fn that the file declares.
func (f *file) typesOf(fn *ir.Func) {
	for _, v := range ir.Vars(fn) {
		f.findTypes(v.Type, map[types.Type]bool{})
	}
	ir.Walk(fn.Body, func(s ir.Stmt) bool {
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				if t := e.Type(); t != nil {
					f.findTypes(t, map[types.Type]bool{})
				}
				return true
			})
		}
		return true
	})
}

// findTypes adds the types in t that the file declares. seen ends the recursion for recursive
// types.
func (f *file) findTypes(t types.Type, seen map[types.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if !f.declares(t) {
			return
		}
		for _, d := range f.types {
			if types.Identical(d.t, t) {
				return
			}
		}
		name := t.Obj().Name()
		if f.hidden(t) {
			name = privateName(t.Obj())
		}
		// The names of other types are chosen by the file, so they get its suffix.
		if _, promised := f.typeDocs[t]; !promised {
			name += f.suffix
		}
		obj := types.NewTypeName(t.Obj().Pos(), nil, f.freshName(name), nil)
		as := types.NewNamed(obj, types.NewStruct(nil, nil), nil)
		f.types = append(f.types, declaredType{t, as})
		if st, ok := t.Underlying().(*types.Struct); ok {
			f.declaredStructs[st] = true
		}
		f.findTypes(t.Underlying(), seen)
	case *types.Pointer:
		f.findTypes(t.Elem(), seen)
	case *types.Slice:
		f.findTypes(t.Elem(), seen)
	case *types.Array:
		f.findTypes(t.Elem(), seen)
	case *types.Struct:
		for v := range t.Fields() {
			f.findTypes(v.Type(), seen)
		}
	}
}

// renamedType returns t with declared types replaced by those with their names in the file.
func (f *file) renamedType(t types.Type) types.Type {
	switch t := t.(type) {
	case *types.Alias:
		if !f.nameable(t) {
			return f.renamedType(types.Unalias(t))
		}
	case *types.Named:
		for _, d := range f.types {
			if types.Identical(d.t, t) {
				return d.as
			}
		}
	case *types.Pointer:
		if of := f.renamedType(t.Elem()); of != t.Elem() {
			return types.NewPointer(of)
		}
	case *types.Slice:
		if of := f.renamedType(t.Elem()); of != t.Elem() {
			return types.NewSlice(of)
		}
	case *types.Array:
		if of := f.renamedType(t.Elem()); of != t.Elem() {
			return types.NewArray(of, t.Len())
		}
	case *types.Struct:
		changed := false
		var fields []*types.Var
		for v := range t.Fields() {
			of := f.renamedType(v.Type())
			changed = changed || of != v.Type()
			fields = append(fields, types.NewField(v.Pos(), v.Pkg(), v.Name(), of, v.Embedded()))
		}
		if changed {
			return types.NewStruct(fields, nil)
		}
	}
	return t
}

// declarations returns the type declarations of the current part.
func (f *file) declarations() string {
	where := "functions in this file"
	if len(f.parts) > 1 {
		where = "generated functions"
	}
	var b strings.Builder
	for _, d := range f.types {
		if f.partOf[d.t] != f.part {
			continue
		}
		p := f.declarer(d.as.Obj().Name())
		name := d.as.Obj().Name()
		doc, ok := f.typeDocs[d.t]
		if !ok {
			doc = "is a type of values that " + where + " record or pass to each other."
			if f.hidden(d.t) {
				doc = "is a private copy of " + types.TypeString(d.t, (*types.Package).Name) + "."
			}
		}
		b.WriteString("// " + name + " " + strings.ReplaceAll(doc, "\n", "\n// ") + "\n")
		st, ok := d.t.Underlying().(*types.Struct)
		if !ok {
			b.WriteString("type " + name + " " + p.typ(d.t.Underlying()) + "\n\n")
			continue
		}
		b.WriteString("type " + name + " struct {\n" + p.fields(st) + "}\n\n")
	}
	if f.part == "" {
		b.WriteString(f.mirrorDeclarations() + f.copyDeclarations())
	}
	return b.String()
}
