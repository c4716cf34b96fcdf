package gen

import (
	"cmp"
	"fmt"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/internal/license"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lanes"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/gen/simplify"
	"github.com/nabla-ad/nabla/gen/tangent"
	"github.com/nabla-ad/nabla/gen/traced"
)

// MostLanes is the largest width of a derivative in vector mode.
const MostLanes = 64

// Options configure the generation. The zero value selects the defaults.
type Options struct {
	// Lanes lists widths of vector mode in addition to the default ones. For each there is a tangent of that width and,
	// for functions with several outputs, an adjoint with as many seeds.
	Lanes []int
	// SIMD asks for nabla_gen_simd.go, with SIMD variants of functions of width 4, which are used if the package is
	// built with GOEXPERIMENT=simd for a processor that supports them, and for nabla_gen_vector.go and
	// nabla_gen_vector.s, with forms of other functions whose loops are in assembly. If one of them exists already,
	// they are kept up to date even if SIMD is false.
	SIMD bool
	// Test asks for nabla_gen_test.go, with a test that fails if the generated code is out of date. A file of that name
	// that exists already is kept up to date even if Test is false, by programs of a Survey.
	Test bool
	// Layout divides the generated code of a package into files.
	Layout Layout
	// Load configures how packages are found and loaded.
	Load lower.LoadOptions
}

// A Layout is a way to divide the generated code of a package into files. It has no influence on the declarations.
type Layout int

const (
	// KeepLayout is the layout that the package has, and OnePerPackage if nothing was generated yet.
	KeepLayout Layout = iota
	// OnePerPackage writes one file, nabla_gen.go.
	OnePerPackage
	// OnePerSource writes a file for each source file that declares a differentiated function, such as loss_nabla.go
	// for loss.go. Types and functions that several of them use are in nabla_gen.go.
	OnePerSource
)

// A Program is a set of packages for whose functions derivatives are generated. It must not be used concurrently.
type Program struct {
	dir      string
	patterns []string

	opts   Options
	builds []*build
	pkgs   []*packages.Package
	lower  *lower.Program

	lowering lower.Options
	tidied   map[*ir.Func]bool // see tidy
	faults   map[task]*fault   // internal errors so far, by task

	extra  map[string]*types.Package // packages imported by generated code only, by path
	sought map[string]bool           // paths that load has tried

	licenses map[string]license.License // by directory
	// underNabla holds the paths of package nabla and of the packages that it imports, directly or not, on demand.
	underNabla map[string]bool

	survey *Survey // of the packages before they were loaded, nil if hashes are not recorded
	times  []Time  // see Times
}

// Load loads the packages that match patterns, relative to dir. A nil opts selects the defaults. Hashes are recorded in
// generated files only by programs that Survey.Load returns.
func Load(dir string, patterns []string, opts *Options) (*Program, error) {
	p, began := &Program{dir: dir, patterns: patterns}, time.Now()
	if opts != nil {
		p.opts = *opts
	}
	if l := p.opts.Layout; l < KeepLayout || l > OnePerSource {
		return nil, fmt.Errorf("layout %d: want KeepLayout, OnePerPackage or OnePerSource", l)
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
	p.timed("load", began)
	began = time.Now()
	p.pkgs, p.lower, p.builds = pkgs, lower.New(pkgs, p.lowering), buildsOf(p.opts)
	p.timed("lower", began)
	return p, nil
}

// tidy removes dead code and comparisons with known results from a lowered function and its callees, which generated
// code may contain copies of.
func (p *Program) tidy(f *ir.Func) {
	if p.tidied == nil {
		p.tidied = map[*ir.Func]bool{}
	}
	for _, g := range reached(f) {
		if !p.tidied[g] {
			p.tidied[g] = true
			simplify.DeadCode(g, nil)
		}
	}
}

// A Report is the result of a generation, ordered by the IDs of the packages.
type Report struct {
	Packages []*Package

	survey *Survey // see Program.survey
}

// A Package is the result for one package.
type Package struct {
	Path string
	// Files are the generated files that this build of the package has or is to have, ordered by constraint and then by
	// source file. Generated files of other builds are not listed and stay unchanged.
	Files     []*File
	Functions []Function
	Problems  []*Problem
	// SourceLines counts the lines of the source files of the package, FollowedLines those of the functions that were
	// differentiated and of their callees, in this package and in others, and GeneratedLines those of Files.
	SourceLines, FollowedLines, GeneratedLines int
	// Rewrites holds the source that [Program.Fix] makes of functions that get no code, by their problems: new
	// declarations, and the call.
	Rewrites map[*Problem]string

	kept      bool // leave the files unchanged
	perSource bool // the layout is OnePerSource
	// tested reports whether there is to be a test file.
	tested bool
	name   string // of the package clause
}

// A File is a generated file. It holds the derivatives of the functions whose source is the same in all builds that its
// constraint selects, of those declared in one source file if Source is set.
type File struct {
	Name       string // path of nabla_gen.go
	Constraint string // expression after //go:build, empty for all builds
	// Source is the source file of the functions, without directory. With OnePerSource it is empty for the file with
	// declarations that several source files share, otherwise always.
	Source string
	// Text is the new content of the file, nil if it is to be removed.
	Text []byte
	// SIMD is the new content of the SIMD file beside it, nil if there is to be none.
	SIMD []byte
	// Vectors and Kernels are those of the file with forms of functions that call kernels, and of that with the kernels
	// in assembly.
	Vectors, Kernels []byte
	// Licenses is the new content of the file beside it with the licences of the modules from which code was derived,
	// nil if there is to be none.
	Licenses []byte
}

// A Function is a generated function.
type Function struct {
	Name  string // LossTangent
	Of    string // Loss, (*Model).Loss or Norm[float64]
	Build string // tangent, …
	// Unregistered is the reason why engines do not find the function, empty if they do.
	Unregistered string
}

// Generate generates the files of all packages in memory. Functions that cannot be differentiated are problems in the
// report; the error is one of reading files or packages.
func (p *Program) Generate() (*Report, error) {
	r := &Report{survey: p.survey}
	targets, began := map[*types.Package][]lower.Target{}, time.Now()
	for _, t := range p.lower.Targets() {
		targets[t.In] = append(targets[t.In], t)
	}
	p.timed("lower", began)
	for _, pkg := range p.pkgs {
		out, err := p.generateContained(pkg, targets[pkg.Types])
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
	h.badTables()
	began := time.Now()
	for _, t := range targets {
		h.add(t)
	}
	p.timed("lower", began)
	for _, list := range [][]*target{h.targets, h.ungenerated} {
		slices.SortStableFunc(list, func(a, b *target) int {
			return cmp.Or(comparePositions(a.pos, b.pos), strings.Compare(a.base, b.base))
		})
	}
	units, err := h.units()
	if err != nil {
		return nil, err
	}
	began = time.Now()
	for _, u := range units {
		for _, t := range u.targets {
			u.build(t)
		}
		u.errorsLast()
		u.makeEntries()
	}
	p.timed("derive", began)
	h.unfollowed()
	h.unmatched(targets)
	h.usedTables()
	for _, u := range units {
		if err := u.print(); err != nil {
			return nil, err
		}
		h.out.Files = append(h.out.Files, u.file)
		h.out.Files = append(h.out.Files, u.parts...)
	}
	if err := h.outdated(); err != nil {
		return nil, err
	}
	h.out.SourceLines = h.sourceLines()
	h.out.Problems = sortedProblems(h.out.Problems)
	return h.out, h.tested()
}

// A home is a package that files are generated for.
type home struct {
	program *Program
	pkg     *packages.Package
	scope   *types.Package  // scope of the package without the declarations of generated files
	others  map[string]bool // names declared in other builds
	cyclic  bool            // package nabla imports it
	// perSource reports whether the layout is OnePerSource.
	perSource bool
	targets   []*target // functions to differentiate
	// ungenerated are targets that were refused as a whole, but have a shape that operators take.
	ungenerated []*target
	names       map[string]string // name of a generated function → its primal
	idents      map[string]bool   // see identifiers
	out         *Package
}

// home returns the home of a package, with nothing generated yet.
func (p *Program) home(pkg *packages.Package) (*home, error) {
	h := &home{
		program: p, pkg: pkg, scope: scopeOf(pkg.Types, p.lower.Generated), others: otherNames(pkg),
		names: map[string]string{}, out: &Package{Path: pkg.PkgPath, Rewrites: map[*Problem]string{}},
	}
	var err error
	if h.cyclic, err = h.cycle(); err == nil {
		h.perSource, err = h.dividesBySource()
	}
	return h, err
}

// units returns the units of the package, one for each build constraint of its targets, in the order of the
// constraints.
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
	return list, nil
}

// outdated adds generated files that have no contents any more to the report, for removal: those for constraints and
// source files without targets, and those of another layout.
func (h *home) outdated() error {
	for _, name := range h.pkg.GoFiles {
		text, err := present(name, false)
		if err != nil {
			return err
		}
		known := slices.ContainsFunc(h.out.Files, func(f *File) bool {
			forms, _ := f.vectorNames()
			return f.Name == name || f.simdName() == name || forms == name
		})
		if !known && lower.IsOutput(name, text) {
			h.out.Files = append(h.out.Files, &File{Name: name})
		}
	}
	return nil
}

// unit returns the unit for a build constraint, with nothing generated yet.
func (h *home) unit(constraint string, targets []*target) (*unit, error) {
	output := lower.OutputFor(constraint)
	u := &unit{
		home: h, file: &File{Name: filepath.Join(directory(h.pkg), output.Name), Constraint: constraint},
		output: output, targets: targets,
		tangents: map[int]*tangent.Program{}, vectorizers: map[int]*lanes.Program{},
		adjoints:  map[*target]*adjoint.Adjoint{},
		workspace: workspaceName,
	}
	if constraint != "" && len(targets) > 0 { // files of exclusive builds get equal names
		var bases []string
		for _, t := range targets {
			bases = append(bases, t.base)
		}
		u.workspace = slices.Min(bases) + workspaceName
	}
	u.simd = h.program.opts.SIMD
	forms, _ := u.file.vectorNames()
	for _, name := range []string{u.file.simdName(), forms} {
		text, err := present(name, false)
		if err != nil {
			return nil, err
		}
		u.simd = u.simd || isOurs(text)
	}
	u.adjoint, u.traced = adjoint.New(u.scope, u.workspace, adjoint.Options{}), traced.New(u.scope)
	return u, nil
}

// directory returns the directory of a package's files.
func directory(pkg *packages.Package) string {
	if len(pkg.GoFiles) > 0 {
		return filepath.Dir(pkg.GoFiles[0])
	}
	return pkg.Dir
}
