package lower

import (
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

// functionName returns a name that no other function has, and reserves it.
func (p *Program) functionName(base string) string {
	name := base
	for i := 1; p.taken[name]; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	p.taken[name] = true
	return name
}

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
