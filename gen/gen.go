package gen

import (
	"cmp"
	"fmt"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/lanes"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/gen/tangent"
	"github.com/nabla-ad/nabla/gen/traced"
)

// MostLanes is how many directions a tangent may have.
const MostLanes = 64

// Options of a generation. The zero value asks for the defaults.
type Options struct {
	// Lanes are numbers of directions for which there is a tangent of its own, and of
	// seeds for which functions of several outputs have an adjoint of its own, besides
	// those that are always there.
	Lanes []int
	// SIMD asks for a second file, nabla_gen_simd.go, with functions for four directions or
	// seeds in vectors, which are used where the package is built with GOEXPERIMENT=simd for
	// a processor that has them. Where there is such a file it is kept up to date anyway.
	SIMD bool
	// Load says how packages are found.
	Load lower.LoadOptions
}

// Program is packages for whose functions derivatives are generated.
type Program struct {
	opts   Options
	builds []*build
	pkgs   []*packages.Package
	lower  *lower.Program
}

// Load loads the packages that match patterns, seen from dir.
func Load(dir string, patterns []string, opts *Options) (*Program, error) {
	p := &Program{}
	if opts != nil {
		p.opts = *opts
	}
	for _, n := range p.opts.Lanes {
		if n < 1 || n > MostLanes {
			return nil, fmt.Errorf("tangents in %d directions: want 1 to %d", n, MostLanes)
		}
	}
	pkgs, err := lower.Load(dir, patterns, p.opts.Load)
	if err != nil {
		return nil, err
	}
	if len(pkgs) == 0 {
		return nil, fmt.Errorf("no packages match %s", strings.Join(patterns, " "))
	}
	slices.SortFunc(pkgs, func(a, b *packages.Package) int { return strings.Compare(a.ID, b.ID) })
	p.pkgs, p.lower, p.builds = pkgs, lower.New(pkgs, lower.Options{}), buildsOf(p.opts)
	return p, nil
}

// Report is what was generated for the packages, in the order of their paths.
type Report struct{ Packages []*Package }

// Package is the file of one package.
type Package struct {
	Path string
	File string // its nabla_gen.go
	// Text is what the file is to hold, nil where no function is left to differentiate.
	Text []byte
	// Twin is what nabla_gen_simd.go beside it is to hold, nil where there is to be none.
	Twin      []byte
	Functions []Function
	Problems  []*Problem

	kept bool // the file stays as it is
}

// Function is a function that was generated.
type Function struct {
	Name  string // LossTangent
	Of    string // Loss, (*Model).Loss or Norm[float64]
	Build string // tangent, …
	// Unregistered is why engines do not find it; empty if they do.
	Unregistered string
}

// Generate generates the files of all packages and writes none of them.
func (p *Program) Generate() (*Report, error) {
	r := &Report{}
	targets := map[*types.Package][]lower.Target{}
	for _, t := range p.lower.Targets() {
		targets[t.In] = append(targets[t.In], t)
	}
	for _, pkg := range p.pkgs {
		out, err := p.generate(pkg, targets[pkg.Types])
		if err != nil {
			return nil, err
		}
		r.Packages = append(r.Packages, out)
	}
	return r, nil
}

// generate generates the file of one package.
func (p *Program) generate(pkg *packages.Package, targets []lower.Target) (*Package, error) {
	u, err := p.unit(pkg)
	if err != nil {
		return nil, err
	}
	if u.unreadable() {
		u.out.kept = true
		return u.out, nil
	}
	u.misplaced()
	for _, t := range targets {
		u.add(t)
	}
	slices.SortStableFunc(u.targets, func(a, b *target) int {
		return cmp.Or(comparePositions(a.pos, b.pos), strings.Compare(a.base, b.base))
	})
	for _, t := range u.targets {
		u.build(t)
	}
	u.unfollowed()
	if err := u.print(); err != nil {
		return nil, err
	}
	u.out.Problems = sortedProblems(u.out.Problems)
	return u.out, nil
}

// unit is a package with nothing generated for it yet.
func (p *Program) unit(pkg *packages.Package) (*unit, error) {
	u := &unit{
		program: p, pkg: pkg, scope: scopeOf(pkg.Types, p.lower.Generated), names: map[string]string{},
		tangents: map[int]*tangent.Program{}, sides: map[int]*lanes.Program{}, adjoints: map[*target]*adjoint.Adjoint{},
		out: &Package{Path: pkg.PkgPath, File: filepath.Join(directory(pkg), lower.Output)},
	}
	twin, err := current(u.out.twin(), false)
	if err != nil {
		return nil, err
	}
	u.simd = p.opts.SIMD || isOurs(twin)
	u.adjoint, u.traced = adjoint.New(u.scope, workspaceName, adjoint.Options{}), traced.New(u.scope)
	u.cyclic, err = u.cycle()
	return u, err
}

// directory is where the files of a package are.
func directory(pkg *packages.Package) string {
	if len(pkg.GoFiles) > 0 {
		return filepath.Dir(pkg.GoFiles[0])
	}
	return pkg.Dir
}
