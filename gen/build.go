package gen

import (
	"bytes"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lanes"
	"github.com/nabla-ad/nabla/gen/library"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/gen/print"
	"github.com/nabla-ad/nabla/gen/shortcut"
	"github.com/nabla-ad/nabla/gen/simplify"
	"github.com/nabla-ad/nabla/gen/tangent"
	"github.com/nabla-ad/nabla/gen/traced"
)

// A build is a kind of derivative, such as the tangent. The registration of a derivative follows from the roles of its
// parameters and results.
type build struct {
	name   string // in reports
	suffix string // of the functions
	code   string // the field of nabla.Code, or Traced; empty if it is not registered
	part   demand // that asks for it; 0 for every demand
	// essential reports whether a refusal is a problem of the target's severity. The results of other builds can
	// be computed with the essential ones, so their refusals are notes.
	essential bool
	// make builds the derivative of t. It returns nil, nil if that derivative has no use.
	make func(u *unit, t *target) (*built, error)
}

// A built is one derivative of one function.
type built struct {
	build *build
	fn    *ir.Func
	// params and results are the roles of the parameters and results of fn, by index.
	params, results []role
	facts           *activity.Facts
	lanes           int    // width of the vector mode; 0 and 1 are scalar
	doc             string // doc comment without the leading name
	overwriting     *overwriting
	of              *built // the derivative that entries are made of
}

// A slot selects the primal value of a variable or one of its derivatives.
type slot uint8

const (
	value  slot = iota
	dot         // tangent
	bar         // cotangent
	barDot      // tangent of the cotangent
)

// A role relates a parameter or result of a derivative to the primal: it is the value, tangent or cotangent of a
// parameter or result of the primal, or the workspace.
type role struct {
	slot   slot
	result bool   // it belongs to a result of the primal, otherwise to a parameter
	of     int    // index of that result or parameter
	lane   int    // component of a number in vector mode
	work   bool   // it is the workspace; the other fields except slot are unused
	name   string // of what belongs to the entries of a sparse derivative; the other fields are unused
}

// builds returns the builds that every run makes.
func builds() []*build {
	return []*build{tangentBuild(1), tangentBuild(4), adjointBuild, seedsBuild(4), gradientBuild, secondBuild, hvpBuild,
		tracedBuild}
}

// tangentBuild returns the build of tangents in vector mode of width n.
func tangentBuild(n int) *build {
	b := &build{name: "tangent", suffix: "Tangent", part: pushforwards,
		make: func(u *unit, t *target) (*built, error) { return makeTangent(u, t, n) }}
	if n > 1 {
		b.name, b.suffix = fmt.Sprintf("tangent%d", n), fmt.Sprintf("Tangent%d", n)
		b.part |= batches
	}
	switch n {
	case 1:
		b.code, b.essential = "Tangent", true
	case 4:
		b.code = "Tangent4"
	}
	return b
}

func makeTangent(u *unit, t *target, n int) (*built, error) {
	f, err := u.complete(t, n > 1)
	if err != nil {
		return nil, err
	}
	fn, facts, err := u.tangent(n).Build(u.simple(t, f), t.mask)
	if err != nil {
		return nil, err
	}
	b := &built{fn: fn, facts: facts, lanes: n}
	// shadows appends one role per lane for a number, and one role for a variable of another type.
	shadows := func(list []role, v *ir.Var, r role) []role {
		r.slot = dot
		if n == 1 || !ir.IsFloat(v.Type) {
			return append(list, r)
		}
		for r.lane = range n {
			list = append(list, r)
		}
		return list
	}
	for i := range t.f.Params {
		b.params = append(b.params, role{of: i})
	}
	for i, v := range t.f.Params {
		if facts.Params.Has(i) {
			b.params = shadows(b.params, v, role{of: i})
		}
	}
	for i := range t.f.Results {
		b.results = append(b.results, role{result: true, of: i})
	}
	for i, v := range t.f.Results {
		if facts.Results.Has(i) {
			b.results = shadows(b.results, v, role{result: true, of: i})
		}
	}
	b.doc = tangentDoc(t, b, n)
	return b, nil
}

// tangent returns the program that builds the tangents of width n of this file, creating it if needed.
func (u *unit) tangent(n int) *tangent.Program {
	if u.tangents[n] == nil {
		if n == 1 {
			u.tangents[n] = tangent.New()
		} else {
			u.tangents[n] = tangent.NewWith(u.lanes(n))
		}
	}
	return u.tangents[n]
}

// lanes returns the program that vectorises functions for n lanes, creating it if needed.
func (u *unit) lanes(n int) *lanes.Program {
	if u.vectorizers[n] == nil {
		w := u.adjoint.Workspace()
		u.vectorizers[n] = lanes.New(lanes.NewTypes(n), &lanes.Workspace{Type: w.Type, Field: w.Like})
		if u.simd {
			u.vectorizers[n].EnableVectors()
		}
	}
	return u.vectorizers[n]
}

// trusts returns a predicate that reports whether accesses to memory reachable from v cannot panic: v is the workspace,
// or a shadow in slot dot or barDot, which has the shape of its primal.
func (u *unit) trusts(b *built) func(v *ir.Var) bool {
	return func(v *ir.Var) bool {
		i := slices.Index(b.fn.Params, v)
		return i >= 0 && (b.params[i].slot == dot || b.params[i].slot == barDot) || u.isWorkspace(v)
	}
}

// isWorkspace reports whether v has the type of the workspace of adjoints, as the workspace and its shadow have. Their
// tape stacks are popped only after matching pushes, so accesses to them cannot panic.
func (u *unit) isWorkspace(v *ir.Var) bool {
	p, ok := v.Type.Underlying().(*types.Pointer)
	return ok && types.Identical(p.Elem(), u.adjoint.Workspace().Type)
}

// complete returns the primal with complete branches, see package shortcut, for derivatives in one direction or in
// several.
func (u *unit) complete(t *target, lanes bool) (*ir.Func, error) {
	p := &u.shortcuts
	var source func(*ir.Rule) *ir.Func
	if lanes {
		p, source = &u.laneShortcuts, tangent.SourceInLanes
	}
	if *p == nil {
		*p = shortcut.New(source, library.SkipsZeros)
		u.values.Programs = append(u.values.Programs, *p)
	}
	return (*p).Complete(t.f, t.mask)
}

// simple returns a copy of f, the primal of t with complete branches or without, that is simplified for
// differentiation: short calls are inlined, short loops unrolled and arrays replaced by scalars. The copy is made once
// and must not be modified.
func (u *unit) simple(t *target, f *ir.Func) *ir.Func {
	if t.simple[f] == nil {
		g, _ := ir.Clone(f, nil)
		simplify.Primal(g, u.scope)
		if t.simple == nil {
			t.simple = map[*ir.Func]*ir.Func{}
		}
		t.simple[f] = g
	}
	return t.simple[f]
}

// A unit is the generated code of a package for one build constraint, which is in one file or several.
type unit struct {
	*home
	file          *File            // the file with all of it, or with the declarations that the parts share
	parts         []*File          // files for source files, in the layout OnePerSource
	output        lower.OutputFile // name of file, and suffix of unexported names, distinct for each unit
	workspace     string           // name of the workspace type
	targets       []*target
	refusals      []*target                // targets that are only registered with the reason of their refusal
	simd          bool                     // SIMD variants are generated
	tangents      map[int]*tangent.Program // by width; derivatives of shared callees are built once
	vectorizers   map[int]*lanes.Program   // vectorisers by width
	adjoint       *adjoint.Program
	adjoints      map[*target]*adjoint.Adjoint
	traced        *traced.Program
	shortcuts     *shortcut.Program // for derivatives in one direction
	laneShortcuts *shortcut.Program // for tangents in several directions
	values        shortcut.Values
	notice        string // comment that names the modules from which code was derived
	licenses      []byte // contents of the file of licences
}

// buildsOf returns the builds of a run: those of builds and those of the widths in opts.Lanes.
func buildsOf(opts Options) []*build {
	list := builds()
	for _, n := range opts.Lanes {
		more := []*build{tangentBuild(n)}
		if n > 1 {
			more = append(more, seedsBuild(n))
		}
		for _, b := range more {
			if !slices.ContainsFunc(list, func(have *build) bool { return have.name == b.name }) {
				list = append(list, b)
			}
		}
	}
	return list
}

// build makes all derivatives of t. Each is also printed alone, so that code that cannot be written in this package is
// refused for the derivative it belongs to.
func (u *unit) build(t *target) {
	for _, kind := range u.program.builds {
		if !t.wants(kind) {
			t.lacks(kind, t.unasked(kind))
			continue
		}
		severity := Note
		if kind.essential {
			severity = t.severity()
		}
		var b *built
		err := u.program.contain(t, kind.name, func() (err error) {
			b, err = u.make(t, kind)
			return err
		})
		if b == nil && err == nil {
			continue
		}
		if err != nil {
			if f := (*fault)(nil); errors.As(err, &f) {
				severity = max(severity, Warning)
			}
			t.lacks(kind, words(u.refused(t, severity, err)))
			continue
		}
		name := t.base + kind.suffix
		if other := u.taken(name); other != "" {
			p := &Problem{t.pos, t.of, "its " + kind.name + " is to be called " + name + ", which is " + other,
				"rename one of them", severity}
			u.problem(p)
			t.lacks(kind, words([]*Problem{p}))
			continue
		}
		u.names[name] = t.of
		t.built = append(t.built, b)
	}
	u.nameShadow(t)
	if len(t.built) > 0 {
		u.searched(t)
	}
}

// lacks stores the reason why t has no derivative of a kind, for the error at run time.
func (t *target) lacks(kind *build, why string) {
	if t.why == nil {
		t.why = map[string]string{}
	}
	t.why[kind.code] = why
}

// make builds one derivative of t, eliminates dead code in it and checks that it is well-formed and printable. It
// returns nil, nil if the derivative has no use. An error that is no [Refusal] is returned as a *fault.
func (u *unit) make(t *target, kind *build) (*built, error) {
	b, err := kind.make(u, t)
	if b == nil || err != nil {
		return nil, err
	}
	b.build = kind
	b.fn = u.values.Of(b.fn)
	source := reached(t.f)
	for _, f := range reached(b.fn) {
		if !slices.Contains(source, f) {
			simplify.DeadCode(f, u.trusts(b))
		}
	}
	for _, f := range reached(b.fn) {
		if !slices.Contains(source, f) && simplify.Calls(f) {
			simplify.DeadCode(f, u.trusts(b))
		}
	}
	b.joinWorkspaces(u)
	err = t.checkWellFormed(kind.name, b.fn)
	if err == nil {
		err = u.checkSIMDVariants(b.fn)
	}
	if err == nil {
		err = u.printable(b.fn)
	}
	var refusal Refusal
	if err != nil && !errors.As(err, &refusal) {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return nil, &fault{task: task{t.pos, t.of, kind.name}, what: first}
	}
	return b, err
}

// Parts of refusals of functions whose derivatives cannot be written in their packages.
const (
	unwritable   = "its derivative cannot be written here: "
	renameRemedy = "rename what the package declares, or move the function to another package"
)

// An unprintable is the refusal of a function whose derivative refers to something that its package cannot name.
type unprintable struct {
	pos                    token.Position
	function, what, remedy string
}

func (e *unprintable) Error() string            { return e.function + ": " + e.what }
func (e *unprintable) Position() token.Position { return e.pos }
func (e *unprintable) Refused() (function, reason, remedy string) {
	return e.function, e.what, e.remedy
}

// printable returns an *unprintable if f and its callees cannot be printed as code of the package.
func (u *unit) printable(f *ir.Func) error {
	err := u.source(print.Func{Func: f}).Check()
	var e *print.Error
	if !errors.As(err, &e) {
		return err
	}
	out := &unprintable{pos: f.Pos, function: e.Func, what: unwritable + e.Reason}
	if e.Predeclared {
		out.remedy = renameRemedy
	}
	for _, g := range reached(f) {
		if g.Name == e.Func {
			out.pos = g.Pos
		}
	}
	for _, kind := range []string{"_tangent", "_adjoint", "_traced"} {
		out.function, _, _ = strings.Cut(out.function, kind)
	}
	if filepath.Dir(out.pos.Filename) != directory(u.pkg) {
		out.remedy = "export the objects that it uses, or move the function to be differentiated to its package"
	}
	return out
}

// reached returns f and its direct and indirect callees, each once, in breadth-first order.
func reached(f *ir.Func) []*ir.Func {
	list := []*ir.Func{f}
	for i := 0; i < len(list); i++ {
		ir.Walk(list[i].Body, func(s ir.Stmt) bool {
			if c, ok := s.(*ir.Call); ok {
				for _, g := range c.Callee.Funcs() {
					if !slices.Contains(list, g) {
						list = append(list, g)
					}
				}
			}
			return true
		})
	}
	return list
}

// taken describes the declaration that has a name already, or returns "" if the name is free.
func (u *home) taken(name string) string {
	if of := u.names[name]; of != "" {
		return "the name of a derivative of " + of + " already"
	}
	if o := u.pkg.Types.Scope().Lookup(name); o != nil && !u.program.lower.Generated(o) {
		pos := u.pkg.Fset.Position(o.Pos())
		return fmt.Sprintf("declared at %s:%d already", filepath.Base(pos.Filename), pos.Line)
	}
	return ""
}

// source returns the description of this file for package print, with the given functions.
func (u *unit) source(funcs ...print.Func) print.Source {
	return print.Source{
		Pkg: u.pkg.Types, Funcs: funcs, Replaced: u.program.lower.Generated,
		Constraint: u.file.Constraint, Suffix: u.output.Suffix, Others: u.others, Notice: u.notice,
		Origin: u.linePlace,
	}
}

// print writes the text of the file. If that fails, the derivatives responsible are blamed and the package is begun
// again without them.
func (u *unit) print() error {
	err := runRecovered(u.write)
	if err == nil {
		return nil
	}
	if of := new(importsError); errors.As(err, &of) {
		return of
	}
	return u.blameWrite(err)
}

// write prints and type-checks the files of the unit and its SIMD file, and stores their texts. It leaves them nil if
// there is nothing to write.
func (u *unit) write() error {
	u.file.Text, u.file.SIMD, u.file.Licenses, u.parts = nil, nil, nil, nil
	u.file.Vectors, u.file.Kernels = nil, nil
	if err := u.findLicenses(); err != nil {
		return err
	}
	if err := u.overwrite(); err != nil {
		return err
	}
	u.finishLoops()
	forms, err := u.vectorForms()
	if err != nil {
		return err
	}
	var funcs []print.Func
	for _, t := range u.targets {
		for _, b := range t.built {
			name := t.base + b.build.suffix
			funcs = append(
				funcs,
				print.Func{
					Func:       b.fn,
					Name:       name,
					Doc:        b.doc + skipDoc(b.fn),
					Part:       u.part(t),
					Disjoint:   disjointChecks(b),
					Shadows:    t.shadows(b),
					Workspaces: b.workspaces(),
				},
			)
			if o := b.overwriting; o != nil {
				funcs = append(funcs, o.source(u, t, b))
			}
		}
		funcs = append(funcs, u.entriesSource(t)...)
	}
	if len(funcs) == 0 && (len(u.refusals) == 0 || u.cyclic) {
		return nil
	}
	src := u.source(funcs...)
	doc := workspaceDoc
	if u.perSource {
		doc = workspaceDocPerSource
	}
	src.Types = map[*types.Named]string{u.adjoint.Workspace().Type: doc}
	if !u.cyclic {
		u.register(&src)
	}
	src.SIMD = u.simdVariant
	src.Vectors = func(f *ir.Func) *print.VectorForm { return forms[f] }
	began := time.Now()
	printed, err := src.PrintParts()
	u.program.timed("print", began)
	if err != nil {
		return fmt.Errorf("%s: %w; this is a bug in nabla gen", u.file.Name, err)
	}
	texts := map[string][]byte{}
	if printed.SIMD != nil {
		texts[u.file.simdName()] = printed.SIMD
	}
	if printed.Vectors != nil {
		name, _ := u.file.vectorNames()
		texts[name] = printed.Vectors
	}
	var files []*File
	for _, part := range slices.Sorted(maps.Keys(printed.Parts)) {
		f := u.fileFor(part)
		texts[f.Name] = printed.Parts[part]
		files = append(files, f)
	}
	began = time.Now()
	err = u.typeCheck(texts)
	u.program.timed("type-check", began)
	if err != nil {
		return fmt.Errorf("the generated code does not compile: %w", err)
	}
	for _, f := range files {
		f.Text = texts[f.Name]
		if f != u.file {
			u.parts = append(u.parts, f)
		}
	}
	u.file.SIMD, u.file.Licenses = printed.SIMD, u.licenses
	u.file.Vectors, u.file.Kernels = printed.Vectors, printed.Kernels
	u.count(texts)
	for _, t := range u.targets {
		for _, b := range t.built {
			u.out.Functions = append(u.out.Functions,
				Function{t.base + b.build.suffix, t.of, b.build.name, unregistered(t, b, u.cyclic)})
		}
	}
	return nil
}

// count adds the lines of the functions that the unit follows, and of its files, to the report.
func (u *unit) count(texts map[string][]byte) {
	counted := map[*types.Func]bool{}
	for _, t := range u.targets {
		for _, f := range reached(t.f) {
			if f.Object != nil && !counted[f.Object.Origin()] {
				counted[f.Object.Origin()] = true
				u.out.FollowedLines += u.program.lower.Lines(f.Object)
			}
		}
	}
	for _, text := range texts {
		u.out.GeneratedLines += bytes.Count(text, []byte("\n"))
	}
}

// sourceLines returns the number of lines in the source files of the package, without generated ones.
func (u *home) sourceLines() (n int) {
	for _, f := range u.pkg.Syntax {
		if file := u.pkg.Fset.File(f.FileStart); !u.program.lower.IsStub(file.Name()) {
			n += file.LineCount() - 1 // the last line feed begins a line
		}
	}
	return n
}

// register makes src print an init function in each part that has targets to register, and the functions that return
// shadows.
func (u *unit) register(src *print.Source) {
	of, shadows := map[string][]*target{}, map[string][]*target{}
	for _, t := range slices.Concat(u.targets, u.refusals) {
		part := u.part(t)
		if t.registers() && (len(t.built) > 0 || t.why["Adjoint"] != "") {
			of[part] = append(of[part], t)
		}
		if t.shadow != "" {
			shadows[part] = append(shadows[part], t)
		}
	}
	parts := maps.Clone(of)
	maps.Copy(parts, shadows)
	src.Rests = slices.Sorted(maps.Keys(parts))
	src.Rest = func(s *print.Scope, part string) string {
		text := ""
		for _, t := range shadows[part] {
			text += t.shadowFunc(s)
		}
		return text + registration(s, of[part])
	}
}

// cycle reports whether package nabla imports the package, which therefore cannot import nabla. It loads the import
// graph of nabla for packages of this module only, once.
func (u *home) cycle() (bool, error) {
	if u.pkg.PkgPath != nablaPath && !strings.HasPrefix(u.pkg.PkgPath, nablaPath+"/") {
		return false, nil
	}
	p := u.program
	if p.underNabla == nil {
		pkgs, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps,
			Dir:  directory(u.pkg), Env: p.opts.Load.Env, BuildFlags: p.opts.Load.Flags,
		}, nablaPath)
		if err != nil {
			return false, err
		}
		p.underNabla = map[string]bool{}
		packages.Visit(pkgs, nil, func(pkg *packages.Package) { p.underNabla[pkg.PkgPath] = true })
	}
	return p.underNabla[u.pkg.PkgPath], nil
}

const (
	nablaPath = "github.com/nabla-ad/nabla"
	rtPath    = nablaPath + "/gen/rt"
)
