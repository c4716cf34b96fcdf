package print

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Types and opaque expressions as Go source. Both may refer only to names that the package may use.

// builtin returns a predeclared name, which the package must not redeclare.
func (p *printer) builtin(name string) string {
	if p.inPackage(name) {
		panic(redeclared(p.f.Name, name, p.pkg))
	}
	return name
}

// Redeclared returns an *Error if the files refer to a declaration of pkg by a predeclared name, as they do where they
// mean the predeclared one. A name in parentheses means the declaration, and so does a type in files that compile: in
// the place of a predeclared function or type it is an error. uses are the objects of identifiers.
func Redeclared(pkg *types.Package, uses map[*ast.Ident]types.Object, files []*ast.File, compile bool) error {
	for _, f := range files {
		meant := map[*ast.Ident]bool{}
		for n := range ast.Preorder(f) {
			switch n := n.(type) {
			case *ast.ParenExpr:
				if id, ok := n.X.(*ast.Ident); ok {
					meant[id] = true
				}
			case *ast.Ident:
				o := uses[n]
				if o == nil || o.Parent() != pkg.Scope() || types.Universe.Lookup(n.Name) == nil || meant[n] {
					continue
				}
				if _, isType := o.(*types.TypeName); !isType || !compile {
					return redeclared("", n.Name, pkg)
				}
			}
		}
	}
	return nil
}

func redeclared(function, name string, pkg *types.Package) *Error {
	return &Error{function, fmt.Sprintf("the predeclared %s, which package %s declares", name, pkg.Name()), true}
}

// typ returns the text of a type whose names can all be used in the package.
func (p *printer) typ(t types.Type) string {
	p.check(t)
	return types.TypeString(p.renamedType(t), p.qualifier)
}

// typeCall returns a type before the parenthesis of a conversion.
func (p *printer) typeCall(t types.Type) string {
	s := p.typ(t)
	if strings.ContainsAny(s[:1], "*<") || strings.HasPrefix(s, "func") || strings.HasPrefix(s, "chan") {
		return "(" + s + ")"
	}
	return s
}

// check refuses types that cannot be written in the package.
func (p *printer) check(t types.Type) {
	switch t := t.(type) {
	case *types.Basic:
		if t.Kind() == types.UnsafePointer {
			p.refuse("the type %s", t)
		}
		p.builtin(t.Name())
	case *types.Alias:
		if !p.nameable(t) {
			p.check(types.Unalias(t))
			return
		}
		p.named(t, t.Obj(), t.TypeArgs())
	case *types.Named:
		p.named(t, t.Obj(), t.TypeArgs())
	case *types.Pointer:
		p.check(t.Elem())
	case *types.Slice:
		p.check(t.Elem())
	case *types.Array:
		p.check(t.Elem())
	case *types.Map:
		p.refuseHidden(t)
		p.check(t.Key())
		p.check(t.Elem())
	case *types.Chan:
		p.refuseHidden(t)
		p.check(t.Elem())
	case *types.Struct: // whose fields get names of this package
		for f := range t.Fields() {
			p.check(f.Type())
		}
	case *types.Signature:
		p.refuseHidden(t)
		for v := range t.Params().Variables() {
			p.check(v.Type())
		}
		for v := range t.Results().Variables() {
			p.check(v.Type())
		}
	case *types.Interface:
		if t.NumMethods() > 0 || !t.IsMethodSet() {
			p.refuse("the type %s", t)
		}
	default:
		p.refuse("the type %s", t)
	}
}

// refuseHidden refuses a type that contains a private copy of another: values of it come from other packages.
func (p *printer) refuseHidden(t types.Type) {
	if p.hidden(t) {
		p.refuse("the type %s, which cannot be named in package %s", t, p.pkg.Name())
	}
}

// nameable reports whether the file can name an alias; otherwise it names the aliased type.
func (f *file) nameable(t *types.Alias) bool {
	o := t.Obj()
	return o.Pkg() == nil || f.visible(o) && o.Parent() == o.Pkg().Scope()
}

// named checks that a named type and its type arguments can be named.
func (p *printer) named(t types.Type, o *types.TypeName, args *types.TypeList) {
	if n, ok := t.(*types.Named); ok && p.declares(n) {
		return
	}
	if o.Pkg() == nil {
		p.builtin(o.Name())
	} else if !p.visible(o) || o.Parent() != o.Pkg().Scope() {
		p.refuse("the type %s, which cannot be named in package %s", t, p.pkg.Name())
	}
	for i := range args.Len() {
		p.check(args.At(i))
	}
}

// opaque returns an opaque expression: its format with the arguments inserted and its package
// qualified.
func (p *printer) opaque(e *ir.Opaque) (string, int) {
	// The format is just the argument.
	if e.Format == "%v" && len(e.Args) == 1 {
		return p.text(e.Args[0], nil)
	}
	var text strings.Builder
	n := 0
	for i := 0; i < len(e.Format); i++ {
		switch {
		case strings.HasPrefix(e.Format[i:], "%%"):
			text.WriteByte('%')
			i++
		case strings.HasPrefix(e.Format[i:], "%v") && n < len(e.Args):
			text.WriteString(argumentMark + strconv.Itoa(n) + "_")
			n++
			i++
		default:
			text.WriteByte(e.Format[i])
		}
	}
	x, err := parser.ParseExpr(text.String())
	if err != nil || n != len(e.Args) {
		p.refuse("the expression %s", e.Format)
	}
	var b bytes.Buffer
	if err := format.Node(&b, token.NewFileSet(), p.qualifyCall(x, e.Format)); err != nil {
		p.refuse("the expression %s", e.Format)
	}
	s := b.String()
	for i, a := range e.Args {
		s = strings.ReplaceAll(s, argumentMark+strconv.Itoa(i)+"_", p.operand(a))
	}
	return s, unary
}

// argumentMark begins the identifiers that stand for arguments while the format is parsed.
const argumentMark = "argument_"

// operand returns an argument of an opaque expression; a constant has its default type there.
func (p *printer) operand(e ir.Expr) string {
	s := p.prec(e, nil, postfix)
	if strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") {
		if _, ok := e.(*ir.Addr); ok {
			return s[1 : len(s)-1]
		}
	}
	return s
}

// runtimeCalls are the formats of calls of package rt.
var runtimeCalls = []string{ir.UnknownTypeCall, ir.ShadowCall, ir.IsFunctionCall, ir.UnknownFunctionCall}

// qualifyCall replaces the path of the package in a call by its name in the file, and imports it:
// the file's package need not import it, and may use its name for another package.
func (p *printer) qualifyCall(x ast.Expr, format string) ast.Expr {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		p.refuse("the expression %s", format)
	}
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !fun.Sel.IsExported() {
		p.refuse("the expression %s", format)
	}
	pkg, ok := fun.X.(*ast.Ident)
	if !ok {
		p.refuse("the expression %s", format)
	}
	for _, a := range call.Args {
		if id, ok := a.(*ast.Ident); !ok || !strings.HasPrefix(id.Name, argumentMark) {
			p.refuse("the expression %s", format)
		}
	}
	name := pkg.Name + "." + fun.Sel.Name + "("
	if slices.ContainsFunc(runtimeCalls, func(format string) bool { return strings.HasPrefix(format, name) }) {
		call.Fun = ast.NewIdent(p.runtime(fun.Sel.Name))
		return call
	}
	call.Fun = ast.NewIdent(p.qualified(types.NewPackage(pkg.Name, pkg.Name), fun.Sel.Name))
	return call
}
