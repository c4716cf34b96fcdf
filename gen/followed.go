package gen

import (
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/library"
	"github.com/nabla-ad/nabla/gen/lower"
)

// followedDirs says of the packages of a survey, by directory, whether a function that is differentiated may call their
// functions: of those that files import which are not generated, directly or not. The others are loaded for the types
// in generated declarations, and would not be loaded at all before the first generation.
//
// Of the packages of nabla, those that compute with float64 are followed, and those that take functions without their
// imports: their bodies say which operators get the functions. The engines and what they need are not followed, nor
// is what they import, except in the module of nabla itself.
type followedDirs map[string]bool

// bodies implements lower.LoadOptions.Bodies. Directories that are not known are followed.
func (f followedDirs) bodies(dir string) bool {
	is, known := f[dir]
	return is || !known
}

// followed returns which packages of the survey are followed.
func (s *Survey) followed() followedDirs {
	f := followedDirs{}
	packages.Visit(s.roots, nil, func(pkg *packages.Package) {
		if dir := directory(pkg); dir != "" {
			f[dir] = false
		}
	})
	seen := map[*packages.Package]bool{}
	var follow func(pkg *packages.Package)
	follow = func(pkg *packages.Package) {
		if seen[pkg] {
			return
		}
		seen[pkg] = true
		m := pkg.Module
		takes := false
		if m != nil && m.Path == nablaPath && !m.Main && !computes(pkg.PkgPath) {
			if takes = slices.Contains(takers, pkg.PkgPath); !takes {
				return
			}
		}
		if dir := directory(pkg); dir != "" {
			f[dir] = true
		}
		if takes {
			return
		}
		for _, path := range written(pkg) {
			if in := pkg.Imports[path]; in != nil {
				follow(in)
			}
		}
	}
	for _, pkg := range s.roots {
		follow(pkg)
	}
	return f
}

// computes reports whether functions over float64 may call those of a package of nabla.
func computes(path string) bool {
	return strings.HasPrefix(path, library.Path+"/") || slices.Contains(computing, path)
}

// computing are the packages of nabla, beside those of the library, whose functions over float64 are differentiated
// where they are called.
var computing = []string{nablaPath + "/constrain", nablaPath + "/linalg", nablaPath + "/sparse"}

// takers are the packages of nabla, beside its own, that pass functions on to operators.
var takers = []string{nablaPath + "/fd", nablaPath + "/implicit", nablaPath + "/ode", nablaPath + "/optim",
	nablaPath + "/optim/gonumopt", nablaPath + "/sums"}

// written returns the paths that the files of a package import, without generated files.
func written(pkg *packages.Package) (paths []string) {
	named := func(name string) bool { return lower.IsOutput(name, []byte(lower.Header)) }
	if !slices.ContainsFunc(pkg.GoFiles, named) {
		for path := range pkg.Imports {
			paths = append(paths, path)
		}
		return paths
	}
	for _, name := range pkg.GoFiles {
		text, err := os.ReadFile(name)
		if err != nil || lower.IsOutput(name, text) {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		if err != nil {
			continue // the load reports it
		}
		for _, i := range f.Imports {
			if path, err := strconv.Unquote(i.Path.Value); err == nil {
				paths = append(paths, path)
			}
		}
	}
	return paths
}
