package gen

import (
	"go/token"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/library"
	"github.com/nabla-ad/nabla/internal/linetable"
)

// linePlace returns the place of a position of a statement for the table of lines: no name of a directory of this
// machine goes into generated files. The place of a function that nabla has for its users is that of its caller.
func (u *unit) linePlace(pos token.Position) linetable.Place {
	pkg, function, line := u.program.lower.Declaration(pos)
	if pkg == nil || pkg.PkgPath != u.pkg.PkgPath &&
		(strings.HasPrefix(pkg.PkgPath, library.Path+"/") || pkg.PkgPath == nablaPath+"/linalg") {
		return linetable.Place{}
	}
	p := linetable.Place{Function: pkg.PkgPath + "." + function, Line: pos.Line, Declared: line}
	if pkg.PkgPath == u.pkg.PkgPath {
		p.Function = "." + function
	}
	base := filepath.Base(pos.Filename)
	switch from := directory(u.pkg); {
	case filepath.Dir(pos.Filename) == from || pkg.PkgPath == u.pkg.PkgPath:
		p.File = base
	case sameModule(pkg, u.pkg):
		rel, err := filepath.Rel(from, directory(pkg))
		if err != nil {
			return linetable.Place{}
		}
		if p.File = filepath.ToSlash(rel) + "/" + base; p.File[0] != '.' {
			p.File = "./" + p.File
		}
	default:
		p.File = pkg.PkgPath + "/" + base
	}
	return p
}

// sameModule reports whether two packages belong to one module.
func sameModule(a, b *packages.Package) bool {
	return a.Module != nil && b.Module != nil && a.Module.Path == b.Module.Path
}
