package gen

import (
	"cmp"
	"errors"
	"go/types"
	"strings"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
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
	adjointBuild = &build{name: "adjoint", suffix: "Adjoint", code: "Adjoint", essential: true, make: makeAdjoint}
	secondBuild  = &build{name: "adjointTangent", suffix: "AdjointTangent", code: "AdjointTangent", make: makeSecond}
	tracedBuild  = &build{name: "traced", suffix: "Traced", code: "Traced", make: makeTraced}
)

// adjointOf builds the adjoint of t. Adjoints of callees are shared in the file. Because a refusal could leave them
// incomplete, the adjoint is first built and printed in a program of its own.
func (u *unit) adjointOf(t *target) (*built, error) {
	alone, err := adjoint.New(u.scope, u.workspace, adjoint.Options{}).Of(t.f, t.mask)
	if err != nil {
		return nil, err
	}
	if err := t.checkWellFormed("adjoint", alone.Func); err != nil {
		return nil, err
	}
	if err := u.printable(alone.Func); err != nil {
		return nil, err
	}
	a := u.adjoints[t]
	if a == nil {
		if a, err = u.adjoint.Of(t.f, t.mask); err != nil {
			return nil, err
		}
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

// makeSecond builds the tangent of the adjoint with constant seeds: second-order derivatives, forward over reverse.
func makeSecond(u *unit, t *target) (*built, error) {
	first, err := u.adjointOf(t)
	if err != nil {
		return nil, err
	}
	var m activity.Mask
	for i, r := range first.params {
		if !r.work && !r.result && (r.slot == bar || t.mask.Has(r.of)) && activity.HasFloats(first.fn.Params[i].Type) {
			m = m.With(i)
		}
	}
	fn, facts, err := u.tangent(1).Build(first.fn, m)
	if err != nil {
		return nil, err
	}
	b := &built{fn: fn, facts: first.facts}
	b.params = withDots(first.params, facts.Params)
	b.results = withDots(first.results, facts.Results)
	b = b.withoutResults(
		func(r role) bool { return r.result && r.slot == dot },
	) // a tangent computes them at lower cost
	fn.Name += "_second"
	b.doc = "computes " + t.base + adjointBuild.suffix +
		" and the derivatives of its bars in the direction " +
		tuple(b.namesOf(directions(t))) + ",\nfor constant seeds, from " + t.where() + "."
	return b, nil
}

// directions returns a predicate that reports whether a role is that of the tangent of an active parameter.
func directions(t *target) func(r role) bool {
	return func(r role) bool { return !r.work && r.slot == dot && t.mask.Has(r.of) && !r.result }
}

// withDots returns the roles followed by those of the tangents of active ones.
func withDots(list []role, active activity.Mask) []role {
	out := append([]role(nil), list...)
	for i, r := range list {
		if active.Has(i) {
			r.slot += dot - value
			if list[i].slot == bar {
				r.slot = barDot
			}
			out = append(out, r)
		}
	}
	return out
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

// adjointDoc returns the doc comment of an adjoint.
func adjointDoc(t *target, b *built) string {
	seeds := b.namesOf(func(r role) bool { return r.result && r.slot == bar && !r.work })
	shadows := b.namesOf(func(r role) bool { return !r.result && r.slot == bar && !r.work && t.mask.Has(r.of) })
	written := func(r role) bool { return t.shape == nil && b.facts.Written.Has(r.of) }
	scratch := b.namesOf(
		func(r role) bool { return !r.result && r.slot == bar && !r.work && !t.mask.Has(r.of) && !written(r) },
	)
	work := b.namesOf(func(r role) bool { return r.work })
	weighted := ""
	if len(seeds) > 0 {
		weighted = ", weighted by " + strings.Join(seeds, ", ") + ","
	}
	var parts []string
	if len(shadows) > 0 {
		parts = append(parts, "adds the derivatives of the outputs"+weighted+" to "+strings.Join(shadows, ", "))
	}
	if names := b.resultNames(func(r role) bool { return !r.result && r.slot == bar }); len(names) > 0 {
		derivatives := "those"
		if len(shadows) == 0 {
			derivatives = "the derivatives of the outputs" + weighted
		}
		parts = append(
			parts,
			"returns "+derivatives+" with respect to arguments passed by value as "+strings.Join(names, ", "),
		)
	}
	text := "returns " + t.call()
	if len(t.f.Results) == 0 {
		text = "computes " + t.call()
	}
	text += ", from " + t.where() + "."
	if len(parts) > 0 {
		text += "\nIt " + strings.Join(parts, ", and ") + "."
	}
	if !b.facts.Written.Empty() {
		text += "\nThe bars of memory that it writes hold the weights of the values written."
	}
	for _, name := range scratch {
		text += "\n" + name + " must hold zeros initially, in the shape of the argument that it is named after."
	}
	text += dataDoc(t, b)
	text += "\nThe zero value of " + strings.Join(work, ", ") + " is ready to use."
	if len(disjointChecks(b)) > 0 {
		text += " It panics with a *rt.OverlapError if slices share memory."
	}
	return text
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
