package gen

import (
	"cmp"
	"fmt"
	"go/types"
	"maps"
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

	lowering lower.Options
	faults   map[task]*fault // that were found up to now

	extra  map[string]*types.Package // that only generated code imports
	sought map[string]bool           // paths that were looked for
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
	p.pkgs, p.lower, p.builds = pkgs, lower.New(pkgs, p.lowering), buildsOf(p.opts)
	return p, nil
}

// Report is what was generated for the packages, in the order of their paths.
type Report struct{ Packages []*Package }

// Package is what was generated for one package.
type Package struct {
	Path string
	// Files are those that this build of the package has or is to have, in the order of
	// their constraints. Files for other builds stay as they are.
	Files     []*File
	Functions []Function
	Problems  []*Problem

	kept bool // the files stay as they are
}

// File is a generated file. It has the functions whose source is the same in all builds that
// its constraint selects.
type File struct {
	Name       string // nabla_gen.go with its directory
	Constraint string // as behind //go:build, empty for all builds
	// Text is what the file is to hold, nil where no function is left to differentiate.
	Text []byte
	// Twin is what the file beside it with functions in vectors is to hold, nil where there
	// is to be none.
	Twin []byte
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
		out, err := p.whole(pkg, targets[pkg.Types])
		if err != nil {
			return nil, err
		}
		r.Packages = append(r.Packages, out)
	}
	return r, nil
}

// generate generates the files of one package.
func (p *Program) generate(pkg *packages.Package, targets []lower.Target) (*Package, error) {
	h, err := p.home(pkg)
	if err != nil {
		return nil, err
	}
	if h.unreadable() {
		h.out.kept = true
		return h.out, nil
	}
	h.misplaced()
	for _, t := range targets {
		h.add(t)
	}
	for _, list := range [][]*target{h.targets, h.ungenerated} {
		slices.SortStableFunc(list, func(a, b *target) int {
			return cmp.Or(comparePositions(a.pos, b.pos), strings.Compare(a.base, b.base))
		})
	}
	units, err := h.units()
	if err != nil {
		return nil, err
	}
	for _, u := range units {
		for _, t := range u.targets {
			u.build(t)
		}
	}
	h.unfollowed()
	h.unmatched(targets)
	for _, u := range units {
		if err := u.print(); err != nil {
			return nil, err
		}
	}
	h.out.Problems = sortedProblems(h.out.Problems)
	return h.out, nil
}

// home is a package for which files are generated.
type home struct {
	program *Program
	pkg     *packages.Package
	scope   *types.Package  // of the package, without what is replaced
	others  map[string]bool // names that it declares in other builds
	cyclic  bool            // package nabla imports it
	targets []*target       // that are found
	// ungenerated are those that were refused as a whole, but have a type that operators take.
	ungenerated []*target
	names       map[string]string // of functions that are generated: of what
	out         *Package
}

// home is a package with nothing generated for it yet.
func (p *Program) home(pkg *packages.Package) (*home, error) {
	h := &home{
		program: p, pkg: pkg, scope: scopeOf(pkg.Types, p.lower.Generated), others: otherNames(pkg),
		names: map[string]string{}, out: &Package{Path: pkg.PkgPath},
	}
	var err error
	h.cyclic, err = h.cycle()
	return h, err
}

// units are the files of the package: one for each build constraint of the targets, and
// those that have nothing to hold any longer.
func (h *home) units() (list []*unit, err error) {
	type group struct{ targets, refusals []*target }
	groups := map[string]*group{"": {}}
	of := func(t *target) *group {
		text := h.program.lower.Constraint(t.Target)
		if groups[text] == nil {
			groups[text] = &group{}
		}
		return groups[text]
	}
	for _, t := range h.targets {
		g := of(t)
		g.targets = append(g.targets, t)
	}
	for _, t := range h.ungenerated {
		g := of(t)
		g.refusals = append(g.refusals, t)
	}
	for _, text := range slices.Sorted(maps.Keys(groups)) {
		u, err := h.unit(text, groups[text].targets)
		if err != nil {
			return nil, err
		}
		u.refusals = groups[text].refusals
		list = append(list, u)
	}
	for _, name := range h.pkg.GoFiles {
		text, err := current(name, false)
		if err != nil {
			return nil, err
		}
		known := slices.ContainsFunc(h.out.Files, func(f *File) bool { return f.Name == name || f.twin() == name })
		if !known && lower.IsOutput(name, text) {
			h.out.Files = append(h.out.Files, &File{Name: name})
		}
	}
	return list, nil
}

// unit is a file with nothing generated for it yet.
func (h *home) unit(constraint string, targets []*target) (*unit, error) {
	output := lower.OutputFor(constraint)
	u := &unit{
		home: h, file: &File{Name: filepath.Join(directory(h.pkg), output.Name), Constraint: constraint},
		suffix: output.Suffix, targets: targets,
		tangents: map[int]*tangent.Program{}, sides: map[int]*lanes.Program{}, adjoints: map[*target]*adjoint.Adjoint{},
		workspace: workspaceName,
	}
	h.out.Files = append(h.out.Files, u.file)
	if constraint != "" && len(targets) > 0 { // the same name in files of which a build has one
		var bases []string
		for _, t := range targets {
			bases = append(bases, t.base)
		}
		u.workspace = slices.Min(bases) + workspaceName
	}
	twin, err := current(u.file.twin(), false)
	if err != nil {
		return nil, err
	}
	u.simd = h.program.opts.SIMD || isOurs(twin)
	u.adjoint, u.traced = adjoint.New(u.scope, u.workspace, adjoint.Options{}), traced.New(u.scope)
	return u, nil
}

// directory is where the files of a package are.
func directory(pkg *packages.Package) string {
	if len(pkg.GoFiles) > 0 {
		return filepath.Dir(pkg.GoFiles[0])
	}
	return pkg.Dir
}
