package ir

import (
	"go/types"
	"strings"
)

// Importable reports whether Go lets the package with path by import pkg: that is no program,
// and internal packages are for those beside them.
func Importable(pkg *types.Package, by string) bool {
	path := pkg.Path()
	switch {
	case path == by:
		return true
	case pkg.Name() == "main" || strings.HasPrefix(path, "vendor/"): // of the standard library
		return false
	}
	const internal = "/internal/"
	i := strings.LastIndex("/"+path+"/", internal)
	if i < 0 {
		return true
	}
	parent := path[:max(i-1, 0)] // without the slash
	return parent != "" && (by == parent || strings.HasPrefix(by, parent+"/"))
}

// Names reports whether the package with path by may name an object: its own, or one that
// another package exports, which it can import if the name belongs to the package.
func Names(o types.Object, by string) bool {
	if o.Pkg() == nil || o.Pkg().Path() == by {
		return true
	}
	return o.Exported() && (o.Parent() != o.Pkg().Scope() || Importable(o.Pkg(), by))
}
