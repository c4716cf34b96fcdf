package print

import (
	"go/types"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Private copies of package-level variables of other packages that the file cannot name.

// nameCopies finds the variables that the functions of the file mention, directly or in the initial values of others,
// and names their copies.
func (f *file) nameCopies() {
	var find func(fn *ir.Func)
	find = func(fn *ir.Func) {
		for _, v := range ir.Vars(fn) {
			if v.Kind == ir.Global && v.Init != nil && !f.visible(v.Object) && f.copies[v.Object] == "" {
				f.copied = append(f.copied, v)
				f.copies[v.Object] = f.freshName(copyName(v) + f.suffix)
				find(v.Init)
			}
		}
	}
	for _, fn := range f.list {
		find(fn.Func)
	}
}

// copyName returns the name of the copy of a variable; that of an error begins with err.
func copyName(v *ir.Var) string {
	name := privateName(v.Object)
	if types.Identical(v.Type, types.Universe.Lookup("error").Type()) {
		r, n := utf8.DecodeRuneInString(name)
		return "err" + string(unicode.ToUpper(r)) + strings.TrimPrefix(name[n:], "Err")
	}
	return name
}

// initialValue returns the expression that is the whole body of the initialiser of a variable, nil for a zero value. It
// reports false if the body has other statements.
func initialValue(init *ir.Func) (ir.Expr, bool) {
	body := slices.Clone(init.Body)
	if n := len(body); n > 0 {
		if l, ok := body[n-1].(*ir.Leave); ok && l.L == init.Exit {
			body = body[:n-1]
		}
	}
	if len(body) == 0 {
		return nil, true
	}
	s, ok := body[0].(*ir.Set)
	if !ok || len(body) > 1 || len(s.P.Path) > 0 || s.P.Root != init.Results[0] {
		return nil, false
	}
	return s.E, true
}

// copyDeclarations returns the declarations of the copies.
func (f *file) copyDeclarations() string {
	var b strings.Builder
	for _, v := range f.copied {
		name := f.copies[v.Object]
		p := f.declarer(name)
		p.names, p.vars, p.addressed = ir.NamerOf(v.Init), map[*ir.Var]string{}, map[*ir.Var]bool{}
		b.WriteString("// " + name + " is a copy of " + v.Object.Pkg().Path() + "." + v.Object.Name() + ".\nvar " +
			name)
		e, ok := initialValue(v.Init)
		if !ok || e == nil || !types.Identical(e.Type(), v.Type) || isOpaque(e) || constantExpr(e) {
			b.WriteString(" " + p.typ(v.Type))
		}
		switch {
		case !ok:
			b.WriteString(" = " + f.names[v.Init] + "()")
		case e != nil:
			b.WriteString(" = " + p.expr(e, v.Type))
		}
		b.WriteString("\n\n")
	}
	return b.String()
}

func isOpaque(e ir.Expr) bool {
	_, ok := e.(*ir.Opaque)
	return ok
}
