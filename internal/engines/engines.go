// Package engines lists the engines of this module. The command, tests of all engines, and the tests
// that compare the tables of README.md, doc.go and CONTRIBUTING.md with the engines take them from
// here. Parse returns the backend with a name.
package engines

import (
	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/backend/symbolic"
	"github.com/nabla-ad/nabla/backend/taylor"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/difftest/coded"
)

// An Engine is a row of the list: an engine with one setting.
type Engine struct {
	Backend nabla.Backend
	// Functions is the form of the functions that it is measured with.
	Functions Form
	// Sparse reports whether it is also measured under AutoSparse. The others take no part in tasks with sparse
	// derivatives, in which they are slow.
	Sparse bool
	// Conform holds the requirements of the conformance kit.
	Conform difftest.Options
}

// A Form is a form of functions.
type Form int

const (
	OverReals Form = iota // functions over nabla.Real
	BlackBox              // plain functions
	Generated             // plain functions with generated code
)

// All returns the engines in the order of reports. Composites are among them if they are measured by themselves.
func All() []Engine {
	compiled := reversediff.Backend{Compile: true}
	code := difftest.Options{Function: coded.Function, AllocFree: true}
	return []Engine{
		{finitediff.Backend{}, BlackBox, false, difftest.Options{Tol: 1e-8, SecondTol: 1e-5, AllocFree: true}},
		{finitediff.Adaptive{}, BlackBox, false, difftest.Options{Tol: 1e-10, SecondTol: 1e-7, AllocFree: true}},
		{forwarddiff.Backend{}, OverReals, true, difftest.Options{AllocFree: true}},
		{forwarddiff.Hyper{}, OverReals, true, difftest.Options{AllocFree: true}},
		{reversediff.Backend{}, OverReals, false, difftest.Options{AllocFree: true}},
		{compiled, OverReals, true, difftest.Options{AllocFree: true}},
		{tracker.Backend{}, OverReals, false, difftest.Options{}},
		{taylor.Backend{}, OverReals, false, difftest.Options{AllocFree: true}},
		{symbolic.Backend{}, OverReals, true, difftest.Options{AllocFree: true, NoBranches: true}},
		{nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: compiled}, OverReals, true, difftest.Options{}},
		{source.Forward{}, Generated, true, code},
		{source.Reverse{}, Generated, true, code},
	}
}

// Single returns the engines that are no composites.
func Single() (list []Engine) {
	for _, e := range All() {
		if _, composite := e.Backend.(nabla.SecondOrder); !composite {
			list = append(list, e)
		}
	}
	return list
}

// Exact returns the engines that differentiate functions over Reals, without composites.
func Exact() (list []nabla.Backend) {
	for _, e := range Single() {
		if e.Functions == OverReals {
			list = append(list, e.Backend)
		}
	}
	return list
}

// Branching returns those of Exact that differentiate functions with branches.
func Branching() (list []nabla.Backend) {
	for _, e := range Single() {
		if e.Functions == OverReals && !e.Conform.NoBranches {
			list = append(list, e.Backend)
		}
	}
	return list
}

// A Run is a run of the conformance kit: a backend on functions of one form, OverReals or Generated.
type Run struct {
	Backend   nabla.Backend
	Functions Form
	Options   difftest.Options
}

// Name returns the name of the backend and the form of the functions.
func (r Run) Name() string {
	if r.Functions == Generated {
		return r.Backend.Name() + "/generated"
	}
	return r.Backend.Name() + "/reals"
}

// Runs returns the runs of the kit on both forms of functions: of each of the engines, which are no composites, and of
// all pairs of two of them as a SecondOrder, as an AutoSparse of that, and as the halves of a MixedMode. Runs that
// cannot be are left out: those of engines of generated code as the only or outer one on functions over Reals, which
// have none, and those of finitediff, which evaluates, over such an engine.
func Runs(single []Engine) (runs []Run) {
	for _, form := range []Form{OverReals, Generated} {
		for _, e := range single {
			if form == OverReals && e.Functions == Generated {
				continue
			}
			o := e.Conform
			o.Function = functions(form, e, e)
			runs = append(runs, Run{e.Backend, form, o})
		}
		for _, outer := range single {
			for _, inner := range single {
				if form == Generated || outer.Functions == OverReals ||
					outer.Functions == BlackBox && inner.Functions != Generated {
					runs = append(runs, pair(form, outer, inner)...)
				}
			}
		}
	}
	return runs
}

// pair returns the runs of two engines on functions of a form.
func pair(form Form, outer, inner Engine) []Run {
	second := nabla.SecondOrder{Outer: outer.Backend, Inner: inner.Backend}
	o := difftest.Options{
		NoFirstOrder: true, Function: functions(form, outer, inner),
		Tol:        max(outer.Conform.Tol, inner.Conform.Tol),
		SecondTol:  max(outer.Conform.SecondTol, inner.Conform.SecondTol),
		NoBranches: outer.Conform.NoBranches || inner.Conform.NoBranches,
	}
	o.Skip = map[string]string{}
	if form == OverReals && inner.Functions == Generated {
		o.Skip["behaviour/boxed"] = "the inner engine alone has no first derivatives of functions over Reals"
	}
	if slow := nabla.Backend(finitediff.Adaptive{}); outer.Backend == slow || inner.Backend == slow {
		o.Skip["sparse/squarequadraticform_band"] = "takes seconds"
	}
	sparse, mixed := o, o
	sparse.Scenarios = difftest.Scenarios("sparse")
	mixed.Scenarios, mixed.NoFirstOrder, mixed.NoSecondOrder = sparse.Scenarios, false, true
	runs := []Run{{second, form, o}, {nabla.AutoSparse{Dense: second}, form, sparse}}
	if form == Generated || outer.Functions != Generated && inner.Functions != Generated {
		both := nabla.MixedMode{Forward: outer.Backend, Reverse: inner.Backend}
		runs = append(runs, Run{nabla.AutoSparse{Dense: both}, form, mixed})
	}
	return runs
}

// functions returns the source of functions of a form for two engines, nil for those of the scenarios themselves. If
// one of the engines runs functions over Reals, it leaves out those that have no such form.
func functions(form Form, a, b Engine) func(s *difftest.Scenario) *difftest.Function {
	switch {
	case form != Generated:
		return nil
	case a.Functions != OverReals && b.Functions != OverReals:
		return coded.Function
	}
	return func(s *difftest.Scenario) *difftest.Function {
		if f := coded.Function(s); f != nil && !f.Shared {
			return f
		}
		return nil
	}
}
