package gen

import (
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lanes"
	"github.com/nabla-ad/nabla/gen/print"
	"github.com/nabla-ad/nabla/gen/simplify"
	"github.com/nabla-ad/nabla/gen/tangent"
	"github.com/nabla-ad/nabla/gen/traced"
)

// A build is one kind of derivative. What is registered follows from the roles that it
// gives to the parameters and results of what it builds.
type build struct {
	name   string // in reports
	suffix string // of the functions
	code   string // the field of nabla.Code, or Traced; empty if it is not registered
	// essential builds are missed where they are refused; what the others compute can be
	// had by them.
	essential bool
	// make gives nil where there is no use for it.
	make func(u *unit, t *target) (*built, error)
}

// built is the derivative of one function.
type built struct {
	build *build
	fn    *ir.Func
	// params and results say what those of fn are.
	params, results []role
	facts           *activity.Facts
	lanes           int    // of numbers that are there for several
	doc             string // what the name does, the name left out
}

// slot says which of the numbers that belong to a variable are meant.
type slot uint8

const (
	value  slot = iota
	dot         // their derivative in a direction
	bar         // the derivative of the outputs by them, summed with weights
	barDot      // the derivative of that in a direction
)

// role says what a parameter or a result of a derivative is.
type role struct {
	slot   slot
	result bool // it belongs to a result of the function, else to a parameter
	of     int  // to which
	lane   int  // the direction, of numbers that are there for several
	work   bool // it is the workspace, and nothing of the above
}

// builds are the kinds of derivatives that are always there.
func builds() []*build {
	return []*build{tangentBuild(1), tangentBuild(4), adjointBuild, seedsBuild(4), onlyBuild, secondBuild, productBuild,
		tracedBuild}
}

// tangentBuild is the build of tangents in n directions at once.
func tangentBuild(n int) *build {
	b := &build{name: "tangent", suffix: "Tangent",
		make: func(u *unit, t *target) (*built, error) { return makeTangent(u, t, n) }}
	if n > 1 {
		b.name, b.suffix = fmt.Sprintf("tangent%d", n), fmt.Sprintf("Tangent%d", n)
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
	fn, facts, err := u.tangent(n).Build(u.simple(t), t.mask)
	if err != nil {
		return nil, err
	}
	b := &built{fn: fn, facts: facts, lanes: n}
	// shadows has a role for each lane of a number, and one for anything else.
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

// tangent makes tangents in n directions.
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

// lanes makes functions for n directions or sets of weights.
func (u *unit) lanes(n int) *lanes.Program {
	if u.sides[n] == nil {
		w := u.adjoint.Workspace()
		u.sides[n] = lanes.New(lanes.NewTypes(n), &lanes.Workspace{Type: w.Type, Field: w.Like})
		if u.simd {
			u.sides[n].EnableVectors()
		}
	}
	return u.sides[n]
}

// trusts finds what is known to be as long as what else is accessed: the workspace, and
// derivatives of parameters, each like its parameter.
func (u *unit) trusts(b *built) func(v *ir.Var) bool {
	return func(v *ir.Var) bool {
		i := slices.Index(b.fn.Params, v)
		return i >= 0 && (b.params[i].slot == dot || b.params[i].slot == barDot) || u.isWorkspace(v)
	}
}

// isWorkspace reports whether a variable is the workspace of adjoints, or its shadow: what
// is taken from its stacks was put there.
func (u *unit) isWorkspace(v *ir.Var) bool {
	p, ok := v.Type.Underlying().(*types.Pointer)
	return ok && types.Identical(p.Elem(), u.adjoint.Workspace().Type)
}

// simple is the function without short calls, loops and arrays.
func (u *unit) simple(t *target) *ir.Func {
	if t.simple == nil {
		t.simple, _ = ir.Clone(t.f, nil)
		simplify.Primal(t.simple, u.scope)
	}
	return t.simple
}

// unit is a file that is generated.
type unit struct {
	*home
	file      *File
	suffix    string // of names that are not promised
	workspace string // the name of its type
	targets   []*target
	refusals  []*target                // that have nothing but the reason
	simd      bool                     // functions in vectors are asked for
	tangents  map[int]*tangent.Program // by lanes; functions called by several are there once
	sides     map[int]*lanes.Program   // by lanes
	adjoint   *adjoint.Program
	adjoints  map[*target]*adjoint.Adjoint
	traced    *traced.Program
}

// buildsOf are the builds of a run.
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

// build makes all derivatives of a function. Each is printed once alone, so that what
// cannot be written in the package is refused where it belongs.
func (u *unit) build(t *target) {
	for _, kind := range u.program.builds {
		severity := Note
		if kind.essential {
			severity = t.severity()
		}
		var b *built
		err := u.program.contained(t, kind.name, func() (err error) {
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
			t.lacks(kind, u.refused(t, severity, err)...)
			continue
		}
		name := t.base + kind.suffix
		if other := u.taken(name); other != "" {
			p := &Problem{t.pos, t.of, "its " + kind.name + " is to be called " + name + ", which is " + other,
				"rename one of them", severity}
			u.problem(p)
			t.lacks(kind, p)
			continue
		}
		u.names[name] = t.of
		t.built = append(t.built, b)
	}
}

// lacks notes why there is no derivative of a kind, for the error at run time.
func (t *target) lacks(kind *build, list ...*Problem) {
	if t.why == nil {
		t.why = map[string]string{}
	}
	t.why[kind.code] = words(list)
}

// make makes one derivative of a function and tries it, nil if there is no use for it.
func (u *unit) make(t *target, kind *build) (*built, error) {
	b, err := kind.make(u, t)
	if b == nil || err != nil {
		return nil, err
	}
	b.build = kind
	source := reached(t.f)
	for _, f := range reached(b.fn) {
		if !slices.Contains(source, f) {
			simplify.DeadCode(f, u.trusts(b))
		}
	}
	err = t.sound(kind.name, b.fn)
	if err == nil {
		err = u.checkVectors(b.fn)
	}
	if err == nil {
		err = u.printable(b.fn)
	}
	var refusal Refusal
	if err != nil && !errors.As(err, &refusal) {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return nil, &fault{task{t.pos, t.of, kind.name}, first}
	}
	return b, err
}

// unprintable says which function cannot be written in the package.
type unprintable struct {
	pos                    token.Position
	function, what, remedy string
}

func (e *unprintable) Error() string            { return e.function + ": " + e.what }
func (e *unprintable) Position() token.Position { return e.pos }
func (e *unprintable) Refused() (function, reason, remedy string) {
	return e.function, e.what, e.remedy
}

// printable prints f and what it calls for the package.
func (u *unit) printable(f *ir.Func) error {
	_, err := u.source(print.Func{Func: f}).Print()
	var e *print.Error
	if !errors.As(err, &e) {
		return err
	}
	out := &unprintable{pos: f.Pos, function: e.Func, what: "its derivative cannot be written here: " + e.Reason}
	for _, g := range reached(f) {
		if g.Name == e.Func {
			out.pos = g.Pos
		}
	}
	for _, kind := range []string{"_tangent", "_adjoint", "_traced"} {
		out.function, _, _ = strings.Cut(out.function, kind)
	}
	if filepath.Dir(out.pos.Filename) != directory(u.pkg) {
		out.remedy = "export what it names, or move the function that is to be differentiated to its package"
	}
	return out
}

// reached are f and the functions that it calls, each once.
func reached(f *ir.Func) []*ir.Func {
	list := []*ir.Func{f}
	for i := 0; i < len(list); i++ {
		ir.Walk(list[i].Body, func(s ir.Stmt) bool {
			if c, ok := s.(*ir.Call); ok && c.Callee.Func != nil && !slices.Contains(list, c.Callee.Func) {
				list = append(list, c.Callee.Func)
			}
			return true
		})
	}
	return list
}

// taken says what has a name already, if something has.
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

// source is the file with some functions.
func (u *unit) source(funcs ...print.Func) print.Source {
	return print.Source{
		Pkg: u.pkg.Types, Funcs: funcs, Replaced: u.program.lower.Generated,
		Constraint: u.file.Constraint, Suffix: u.suffix, Others: u.others,
	}
}

// print writes the file. What it cannot be written with is left out.
func (u *unit) print() error {
	err := caught(u.write)
	if err == nil {
		return nil
	}
	return u.culprits(err)
}

// write writes the file, if anything was built.
func (u *unit) write() error {
	u.file.Text, u.file.Twin = nil, nil
	var funcs []print.Func
	for _, t := range u.targets {
		for _, b := range t.built {
			name := t.base + b.build.suffix
			funcs = append(funcs,
				print.Func{Func: b.fn, Name: name, Doc: b.doc + skipDoc(b.fn), Disjoint: apart(b),
					Shadows:    t.shadows(b),
					Workspaces: b.workspaces()})
		}
	}
	if len(funcs) == 0 && (len(u.refusals) == 0 || u.cyclic) {
		return nil
	}
	src := u.source(funcs...)
	src.Types = map[*types.Named]string{u.adjoint.Workspace().Type: workspaceDoc}
	if !u.cyclic {
		src.Rest = func(s *print.Scope) string { return registration(s, slices.Concat(u.targets, u.refusals)) }
	}
	src.SIMD = u.vector
	text, twin, err := src.PrintSIMD()
	if err != nil {
		return fmt.Errorf("%s: %w; this is a mistake of nabla gen", u.file.Name, err)
	}
	texts := map[string][]byte{u.file.Name: text}
	if twin != nil {
		texts[u.file.twin()] = twin
	}
	if err := u.typeCheck(texts); err != nil {
		return fmt.Errorf("what is generated does not compile: %w", err)
	}
	u.file.Text, u.file.Twin = text, twin
	for _, t := range u.targets {
		for _, b := range t.built {
			u.out.Functions = append(u.out.Functions,
				Function{t.base + b.build.suffix, t.of, b.build.name, unregistered(t, b, u.cyclic)})
		}
	}
	return nil
}

// cycle reports whether the package cannot import package nabla, because that imports it.
func (u *home) cycle() (bool, error) {
	if u.pkg.PkgPath != nablaPath && !strings.HasPrefix(u.pkg.PkgPath, nablaPath+"/") {
		return false, nil
	}
	load := u.program.opts.Load
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps,
		Dir:  directory(u.pkg), Env: load.Env, BuildFlags: load.Flags,
	}, nablaPath)
	if err != nil {
		return false, err
	}
	found := false
	packages.Visit(pkgs, nil, func(p *packages.Package) { found = found || p.PkgPath == u.pkg.PkgPath })
	return found, nil
}

const (
	nablaPath = "github.com/nabla-ad/nabla"
	rtPath    = nablaPath + "/gen/rt"
)
