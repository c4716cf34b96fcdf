package print

import (
	"go/types"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// own reports whether a type is declared in the file: it belongs to the package but
// stands in no scope.
func (f *file) own(o *types.TypeName) bool {
	return o.Parent() == nil && o.Pkg() != nil && o.Pkg().Path() == f.pkg.Path()
}

// findTypes finds the types that are declared in the file, in the order in which
// functions need them.
func (f *file) findTypes() {
	seen := map[types.Type]bool{}
	var find func(t types.Type)
	find = func(t types.Type) {
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		if n, ok := types.Unalias(t).(*types.Named); ok {
			if !f.own(n.Obj()) {
				return
			}
			f.types = append(f.types, n)
		}
		switch t := t.Underlying().(type) {
		case *types.Slice:
			find(t.Elem())
		case *types.Array:
			find(t.Elem())
		case *types.Pointer:
			find(t.Elem())
		case *types.Struct:
			for v := range t.Fields() {
				find(v.Type())
			}
		}
	}
	for _, fn := range f.list {
		for _, v := range ir.Vars(fn.Func) {
			find(v.Type)
		}
		ir.Walk(fn.Func.Body, func(s ir.Stmt) bool {
			for _, e := range ir.Exprs(s) {
				ir.WalkExpr(e, func(e ir.Expr) bool {
					find(e.Type())
					return true
				})
			}
			return true
		})
	}
	names := map[string]bool{}
	for _, t := range f.types {
		name := t.Obj().Name()
		if names[name] || f.pkg.Scope().Lookup(name) != nil {
			panic(&Error{name, "the name of the type is taken"})
		}
		names[name] = true
	}
}

// declare prints them.
func (f *file) declare(b *strings.Builder) {
	for _, t := range f.types {
		p := &printer{file: f, f: &ir.Func{Name: "type " + t.Obj().Name()}}
		b.WriteString("\n// " + t.Obj().Name() + " holds numbers that are traced.\n")
		b.WriteString("type " + t.Obj().Name() + " ")
		s, ok := t.Underlying().(*types.Struct)
		if !ok {
			b.WriteString(p.typ(t.Underlying()) + "\n")
			continue
		}
		b.WriteString("struct {\n")
		for v := range s.Fields() {
			b.WriteString(v.Name() + " " + p.typ(v.Type()) + "\n")
		}
		b.WriteString("}\n")
	}
}
