package ir

import (
	"go/types"
	"strings"
)

// Importable reports whether the package with path by may import pkg: not a main package, a
// vendored one of the standard library, nor an internal package of another tree.
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

// CanName reports whether code of the package with path by may refer to o: an object of its own, an
// exported field or method, or an exported package-level object of an importable package.
func CanName(o types.Object, by string) bool {
	if o.Pkg() == nil || o.Pkg().Path() == by {
		return true
	}
	return o.Exported() && (o.Parent() != o.Pkg().Scope() || Importable(o.Pkg(), by))
}
