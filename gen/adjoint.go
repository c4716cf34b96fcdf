package gen

import (
	"cmp"
	"errors"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/ir"
)

// workspaceName is the name of the workspace type in a file without build constraint.
const workspaceName = "AdjointWork"

// Comments of the workspace type.
const (
	workspaceDoc          = `holds the values that the forward sweeps of the adjoints in this file` + workspaceRest
	workspaceDocPerSource = `holds the values that the forward sweeps of adjoints` + workspaceRest
	workspaceRest         = ` record for
their reverse sweeps. Its zero value is ready to use. It must not be used by two goroutines at the same time.
Adjoints that use it again do not allocate.`
)

var (
	adjointBuild = &build{name: "adjoint", suffix: "Adjoint", code: "Adjoint", part: pullbacks, essential: true,
		make: makeAdjoint}
	tracedBuild = &build{name: "traced", suffix: "Traced", code: "Traced", make: makeTraced}
)

// adjointOf builds the adjoint of t. Adjoints of callees are shared in the file. Because a refusal could leave them
// incomplete, the adjoint is first built and printed in a program of its own.
func (u *unit) adjointOf(t *target) (*built, error) {
	a := u.adjoints[t]
	if a == nil {
		f, err := u.complete(t, false)
		if err != nil {
			return nil, err
		}
		alone, err := adjoint.New(u.scope, u.workspace, adjoint.Options{}).Of(f, t.mask)
		if err != nil {
			return nil, err
		}
		if err := t.checkWellFormed("adjoint", alone.Func); err != nil {
			return nil, err
		}
		if err := u.printable(alone.Func); err != nil {
			return nil, err
		}
		if a, err = u.adjoint.Of(f, t.mask); err != nil {
			return nil, err
		}
		nameResults(t, a.Func)
		u.adjoints[t] = a
	}
	b := &built{fn: a.Func, facts: a.Facts}
	each := func(list []role, has func(i int) bool, n int, r role) []role {
		for r.of = range n {
			if has(r.of) {
				list = append(list, r)
			}
		}
		return list
	}
	all := func(int) bool { return true }
	params, results := len(t.f.Params), len(t.f.Results)
	b.params = each(nil, all, params, role{})
	b.params = each(b.params, a.Shadows.Has, params, role{slot: bar})
	b.params = each(b.params, a.Seeds.Has, results, role{slot: bar, result: true})
	b.params = append(b.params, role{work: true})
	b.results = each(nil, all, results, role{result: true})
	b.results = each(b.results, a.Bars.Has, params, role{slot: bar})
	return b, nil
}

// nameResults gives the first results of a derivative, those of the primal, the names that they have in the primal. A
// variable that has such a name gets that of the result.
func nameResults(t *target, f *ir.Func) {
	vars := ir.Vars(f)
	for i, r := range t.f.Results {
		v := f.Results[i]
		if k := slices.IndexFunc(vars, func(v *ir.Var) bool { return v.Name == r.Name }); k >= 0 {
			vars[k].Name = v.Name
		}
		v.Name = r.Name
	}
}

func makeAdjoint(u *unit, t *target) (*built, error) {
	b, err := u.adjointOf(t)
	if err != nil {
		return nil, err
	}
	b.doc = adjointDoc(t, b)
	for _, n := range u.adjoints[t].Remarks {
		if n.Ignored {
			u.problem(&Problem{Pos: n.Pos, Reason: "the loop " + n.Text,
				Remedy: cmp.Or(n.Remedy, "let iterations pass values on in memory that is allocated before the loop") +
					", or remove the directive",
				Severity: Warning})
		}
	}
	return b, nil
}

// makeTraced builds the primal over nabla.Real.
func makeTraced(u *unit, t *target) (*built, error) {
	if u.cyclic {
		return nil, errors.New("package nabla imports its package")
	}
	fn, facts, err := u.traced.Build(t.f, t.mask)
	if err != nil {
		return nil, err
	}
	b := &built{fn: fn, facts: facts, doc: "is " + t.of + " over Reals, from " + t.where() + "."}
	for i := range fn.Params {
		b.params = append(b.params, role{of: i})
	}
	for i := range fn.Results {
		b.results = append(b.results, role{result: true, of: i})
	}
	return b, nil
}

// namesOf returns the names of the parameters whose roles are wanted.
func (b *built) namesOf(wanted func(r role) bool) (names []string) {
	for i, r := range b.params {
		if wanted(r) {
			names = append(names, b.fn.Params[i].Name)
		}
	}
	return names
}

// resultNames returns the names of the results whose roles are wanted.
func (b *built) resultNames(wanted func(r role) bool) (names []string) {
	for i, r := range b.results {
		if wanted(r) {
			names = append(names, b.fn.Results[i].Name)
		}
	}
	return names
}

// scopeOf returns a copy of pkg without the declarations of generated files. New names are chosen with respect to it,
// so that they do not depend on the previous output.
func scopeOf(pkg *types.Package, replaced func(o types.Object) bool) *types.Package {
	out := types.NewPackage(pkg.Path(), pkg.Name())
	for _, name := range pkg.Scope().Names() {
		if o := pkg.Scope().Lookup(name); !replaced(o) {
			out.Scope().Insert(o)
		}
	}
	return out
}
