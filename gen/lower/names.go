package lower

import (
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// A namer generates unique names of variables and labels.
type namer struct{ n *ir.Namer }

// newNamer returns a namer without names in use.
func newNamer() *namer { return &namer{ir.NewNamer()} }

// fresh returns base, or base with a number if it is in use; a blank base becomes t.
func (n *namer) fresh(base string) string {
	if base == "" || base == "_" {
		base = "t"
	}
	return n.n.Name(base)
}

// functionName returns a name that no other function of a package has, and reserves it; nil stands for functions that
// are made for others. Functions of packages with the same name may have the same name: code does not depend on the
// packages that are generated with it.
func (p *Program) functionName(pkg *types.Package, base string) string {
	path := ""
	if pkg != nil {
		path = pkg.Path()
	}
	name := base
	for i := 1; p.taken[[2]string{path, name}]; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	p.taken[[2]string{path, name}] = true
	return name
}

// function returns a function without a body, with a name that no other function of a package has.
func (p *Program) function(pkg *types.Package, base string, pos token.Position) *ir.Func {
	return &ir.Func{Name: p.functionName(pkg, base), Package: pkg, Pos: pos}
}

// copyName is functionName for a copy of f.
func (p *Program) copyName(f *ir.Func) string { return p.functionName(f.Package, f.Name) }

// mangle returns an identifier derived from s; different strings may give the same.
func mangle(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r > 127:
			b.WriteRune(r)
		case r == '*':
			b.WriteString("ptr_")
		case r == '[' || r == '.' || r == ',' || r == '{':
			b.WriteByte('_')
		}
	}
	return strings.TrimRight(b.String(), "_")
}

// byName qualifies types by the name of their package.
func byName(p *types.Package) string { return p.Name() }

// baseName returns the name of a function in the text form, without type arguments.
func baseName(fn *types.Func) string {
	sig := fn.Signature()
	if sig.Recv() == nil {
		if fn.Pkg() == nil {
			return fn.Name()
		}
		return fn.Pkg().Name() + "." + fn.Name()
	}
	t, star := sig.Recv().Type(), ""
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t, star = p.Elem(), "*"
	}
	name := "?"
	if n, ok := types.Unalias(t).(*types.Named); ok {
		name = n.Obj().Name()
		if n.Obj().Pkg() != nil {
			name = n.Obj().Pkg().Name() + "." + name
		}
	}
	return "(" + star + name + ")." + fn.Name()
}
