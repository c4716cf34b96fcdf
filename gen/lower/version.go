package lower

import (
	"go/ast"
	"go/version"

	"golang.org/x/tools/go/packages"
)

// noVersion is the language version of a module without a go directive.
const noVersion = "go1.16"

// languageVersion returns the language version, such as go1.21, that applies to n: that of its
// file, which a build constraint may change, or of its module. It is empty for the latest version.
func languageVersion(pkg *packages.Package, n ast.Node) string {
	for _, f := range pkg.Syntax {
		if n.Pos() < f.FileStart || n.Pos() >= f.FileEnd {
			continue
		}
		v := pkg.TypesInfo.FileVersions[f]
		if pkg.Module != nil && pkg.Module.GoVersion == "" { // not passed to the type checker
			v = noVersion
			if version.Compare(f.GoVersion, v) > 0 {
				v = f.GoVersion
			}
		}
		return version.Lang(v)
	}
	return ""
}
