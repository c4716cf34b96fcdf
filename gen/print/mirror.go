package print

import (
	"go/types"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Types and fields of other packages that the file cannot name.
//
// A type that cannot be named, since it is unexported or its package is internal, is declared in the file once more;
// its values have the private type wherever the generated code has them in variables of its own. A type that can be
// named keeps its name; where a field of it is needed that cannot be named, the address of the value is converted to a
// pointer to a private struct of the same layout, its mirror. Package-level variables whose types cannot be named are
// converted likewise. The layouts are compared when the program starts (package rt) and, as far as the compiler can,
// when it is compiled.

// A mirror is a private struct type with the layout of a type that the file can name.
type mirror struct {
	of   types.Type // the type that can be named
	name string     // of the private struct
}

// A boundary is a package-level variable whose type cannot be named.
type boundary struct {
	v    *types.Var
	name string // of the result of the comparison of layouts
}

// hidden reports whether the file can write t only as a private copy.
func (f *file) hidden(t types.Type) bool {
	switch t := t.(type) {
	case *types.Alias:
		return !f.nameable(t) && f.hidden(types.Unalias(t))
	case *types.Named:
		o := t.Obj()
		if o.Pkg() != nil && o.Parent() == o.Pkg().Scope() && !f.visible(o) {
			return true
		}
		for i := range t.TypeArgs().Len() {
			if f.hidden(t.TypeArgs().At(i)) {
				return true
			}
		}
	case *types.Pointer:
		return f.hidden(t.Elem())
	case *types.Slice:
		return f.hidden(t.Elem())
	case *types.Array:
		return f.hidden(t.Elem())
	case *types.Chan:
		return f.hidden(t.Elem())
	case *types.Map:
		return f.hidden(t.Key()) || f.hidden(t.Elem())
	case *types.Struct:
		for v := range t.Fields() {
			if !f.visible(v) || f.hidden(v.Type()) {
				return true
			}
		}
	case *types.Signature:
		return f.hidden(t.Params()) || f.hidden(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			if f.hidden(v.Type()) {
				return true
			}
		}
	}
	return false
}

// mirrored reports whether field i of a value of type t, or a value of t that sets it, has to be accessed through the
// mirror of t.
func (f *file) mirrored(t types.Type, i int) bool {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || f.declares(n) {
		return false
	}
	v := n.Underlying().(*types.Struct).Field(i)
	return !f.visible(v) || f.hidden(v.Type())
}

// findMirrors adds the mirrors and boundaries that fn needs.
func (f *file) findMirrors(fn *ir.Func) {
	path := func(p *ir.Place) {
		if v, ok := p.Root.Object.(*types.Var); ok && p.Root.Kind == ir.Global && f.visible(v) && f.hidden(v.Type()) {
			f.addBoundary(v)
		}
		for i, s := range p.Path {
			if s.Field < 0 {
				continue
			}
			if t := (&ir.Place{Root: p.Root, Path: p.Path[:i]}).Type(); t != nil && f.mirrored(t, s.Field) {
				f.addMirror(t)
			}
		}
	}
	ir.Walk(fn.Body, func(s ir.Stmt) bool {
		if p := ir.Target(s); p != nil {
			path(p)
		}
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				if p := ir.PlaceOf(e); p != nil {
					path(p)
				}
				if l, ok := e.(*ir.Literal); ok {
					if _, ok := l.T.Underlying().(*types.Struct); ok &&
						slices.ContainsFunc(l.Keys, func(k int) bool { return f.mirrored(l.T, k) }) {
						f.addMirror(l.T)
					}
				}
				return true
			})
		}
		return true
	})
}

// addMirror declares the mirror of t, unless it is declared.
func (f *file) addMirror(t types.Type) {
	if f.mirrorOf(t) != nil {
		return
	}
	n := types.Unalias(t).(*types.Named)
	f.mirrors = append(f.mirrors, &mirror{t, f.freshName(privateName(n.Obj()) + f.suffix)})
	for v := range n.Underlying().(*types.Struct).Fields() {
		f.findTypes(v.Type(), map[types.Type]bool{})
	}
}

// mirrorOf returns the mirror of t, or nil.
func (f *file) mirrorOf(t types.Type) *mirror {
	for _, m := range f.mirrors {
		if types.Identical(m.of, t) {
			return m
		}
	}
	return nil
}

// addBoundary notes a variable whose type cannot be named.
func (f *file) addBoundary(v *types.Var) {
	if f.boundaryOf(v) != nil {
		return
	}
	f.boundaries = append(f.boundaries, &boundary{v, f.freshName(privateName(v) + "Layout" + f.suffix)})
	f.findTypes(v.Type(), map[types.Type]bool{})
}

// boundaryOf returns the boundary at v, or nil.
func (f *file) boundaryOf(v types.Object) *boundary {
	for _, b := range f.boundaries {
		if b.v == v {
			return b
		}
	}
	return nil
}

// privateName returns a name for a private copy of o: s2Cap for Cap of package s2.
func privateName(o types.Object) string {
	if o.Pkg() == nil {
		return o.Name()
	}
	r, n := utf8.DecodeRuneInString(o.Name())
	return o.Pkg().Name() + string(unicode.ToUpper(r)) + o.Name()[n:]
}

// mirrorDeclarations returns the mirrors with the comparisons of their layouts.
func (f *file) mirrorDeclarations() string {
	var b strings.Builder
	for _, m := range f.mirrors {
		p := f.declarer(m.name)
		of := p.typ(m.of)
		b.WriteString("// " + m.name + " has the layout of " + of + ", whose fields cannot all be named here.\ntype " +
			m.name +
			" struct {\n" + p.fields(m.of.Underlying().(*types.Struct)) + "}\n\n")
		sizeof := p.qualified(types.Unsafe, "Sizeof")
		comparison := " // an error here says that " + of + " has changed: run nabla gen again\n"
		b.WriteString("var (\n" +
			"_ [" + sizeof + "(" + of + "{}) - " + sizeof + "(" + m.name + "{})]struct{}" + comparison +
			"_ [" + sizeof + "(" + m.name + "{}) - " + sizeof + "(" + of + "{})]struct{}" + comparison +
			m.layout() + " = " + p.runtime("Mirror") + "((*" + of + ")(nil), (*" + m.name + ")(nil))\n)\n\n")
	}
	for _, v := range f.boundaries {
		p := f.declarer(v.name)
		name := p.qualified(v.v.Pkg(), v.v.Name())
		b.WriteString("// " + v.name + " is an error if the type of " + name + " has changed.\nvar " + v.name + " = " +
			p.runtime("Mirror") + "(&" + name + ", (*" + p.typ(v.v.Type()) + ")(nil))\n\n")
	}
	return b.String()
}

// layout returns the name of the result of the comparison of layouts.
func (m *mirror) layout() string { return m.name + "Layout" }

// declarer returns a printer for a declaration.
func (f *file) declarer(name string) *printer {
	return &printer{file: f, f: &ir.Func{Name: "the declaration of " + name}}
}

// fields returns the fields of a struct that the file declares. A field of a type that cannot be written becomes words
// that the garbage collector treats alike.
func (p *printer) fields(t *types.Struct) string {
	var b strings.Builder
	for v := range t.Fields() {
		b.WriteString(v.Name() + " " + p.fieldType(v.Type()) + "\n")
	}
	return b.String()
}

// fieldType returns the text of the type of a field.
func (p *printer) fieldType(t types.Type) (text string) {
	if !p.writable(t) {
		word := p.qualified(types.Unsafe, "Pointer")
		switch t := t.Underlying().(type) {
		case *types.Pointer, *types.Map, *types.Chan, *types.Signature:
			return word
		case *types.Interface:
			return "[2]" + word
		case *types.Slice:
			return "struct { data " + word + "; n, c int }"
		case *types.Array:
			if !p.writable(t.Elem()) {
				return strings.TrimSuffix(p.typ(types.NewArray(types.Typ[types.Int], t.Len())), "int") +
					p.fieldType(t.Elem())
			}
		}
	}
	return p.typ(t)
}

// writable reports whether the file can write t, with private copies of types that it cannot name.
func (p *printer) writable(t types.Type) (ok bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, refused := r.(*Error); !refused {
				panic(r)
			}
			ok = false
		}
	}()
	p.typ(t)
	return !p.unwritten(t, map[types.Type]bool{})
}

// unwritten reports whether the declaration of a private type in t cannot be written.
func (p *printer) unwritten(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if !p.declares(t) {
			return false
		}
		if _, ok := t.Underlying().(*types.Struct); ok {
			return false // fields that cannot be written become words
		}
		return !p.writable(t.Underlying())
	case *types.Pointer:
		return p.unwritten(t.Elem(), seen)
	case *types.Slice:
		return p.unwritten(t.Elem(), seen)
	case *types.Array:
		return p.unwritten(t.Elem(), seen)
	}
	return false
}

// asMirror returns a value of type t, of which s is the text, as a value of its mirror. If pointer is set, s denotes a
// pointer to the value.
func (p *printer) asMirror(t types.Type, s string, pointer bool) string {
	m := p.mirrorOf(t)
	if m == nil {
		p.refuse("the fields of %s", t)
	}
	p.usesLayout(m.layout())
	switch {
	case pointer:
	case strings.HasPrefix(s, "*"):
		s = s[1:]
	default:
		s = "&" + s
	}
	return "(*" + m.name + ")(" + p.qualified(types.Unsafe, "Pointer") + "(" + s + "))"
}

// unmirrored returns the text of a literal of the mirror of t, as a value of type t.
func (p *printer) unmirrored(t types.Type, fields string) string {
	m := p.mirrorOf(t)
	if m == nil {
		p.refuse("the fields of %s", t)
	}
	p.usesLayout(m.layout())
	return "*(*" + p.typ(t) + ")(" + p.qualified(types.Unsafe, "Pointer") + "(&" + m.name + "{" + fields + "}))"
}

// converted returns the variable at a boundary, of which s is the text, as one of the private type.
func (p *printer) converted(b *boundary, s string) string {
	p.usesLayout(b.name)
	return "*(*" + p.typ(b.v.Type()) + ")(" + p.qualified(types.Unsafe, "Pointer") + "(&" + s + "))"
}

// convertHidden returns a conversion from or to a type that cannot be named, "" if it is written as others.
func (p *printer) convertHidden(e *ir.Convert) string {
	from := e.X.Type()
	if !p.hidden(from) && !p.hidden(e.T) {
		return ""
	}
	if types.IsInterface(e.T) {
		if types.IsInterface(from) {
			return ""
		}
		// A variable of the other package, such as an error, keeps its type.
		if l, ok := e.X.(*ir.Load); ok && len(l.P.Path) == 0 && p.boundaryOf(l.P.Root.Object) != nil {
			return p.typeCall(e.T) + "(" + p.name(l.P.Root) + ")"
		}
		p.refuse("a value of type %s as an interface value, which would lose its methods here", from)
	}
	if p.hidden(from) == p.hidden(e.T) {
		return ""
	}
	switch u := e.T.Underlying().(type) {
	case *types.Basic:
		return ""
	case *types.Array:
		if _, ok := u.Elem().Underlying().(*types.Basic); ok {
			return ""
		}
	case *types.Slice:
		if _, ok := u.Elem().Underlying().(*types.Basic); ok {
			return ""
		}
	}
	p.refuse("a conversion of %s to %s", from, e.T)
	return ""
}

// usesLayout notes that the function depends on the outcome of a comparison of layouts.
func (p *printer) usesLayout(name string) {
	used := p.layouts[p.f]
	if !slices.Contains(used, name) {
		p.layouts[p.f] = append(used, name)
	}
}

// layoutsOf returns the comparisons of layouts that fn and its printed callees depend on, in order of their names.
func (f *file) layoutsOf(fn *ir.Func) []string {
	if len(f.mirrors)+len(f.boundaries) == 0 {
		return nil
	}
	var list []string
	for _, g := range f.reachable([]Func{{Func: fn}}) {
		list = append(list, f.layouts[g.Func]...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
