// Package engines lists the engines of this module. The command, tests of all engines, and the tests
// that compare the tables of README.md, doc.go and CONTRIBUTING.md with the engines take them from
// here.
package engines

import (
	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
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
		{forwarddiff.Backend{}, OverReals, true, difftest.Options{AllocFree: true}},
		{reversediff.Backend{}, OverReals, false, difftest.Options{AllocFree: true}},
		{compiled, OverReals, true, difftest.Options{AllocFree: true}},
		{tracker.Backend{}, OverReals, false, difftest.Options{}},
		{nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: compiled}, OverReals, true, difftest.Options{}},
		{source.Forward{}, Generated, true, code},
		{source.Reverse{}, Generated, true, code},
	}
}

// Exact returns the engines that differentiate functions over Reals, without composites.
func Exact() (list []nabla.Backend) {
	for _, e := range All() {
		if _, composite := e.Backend.(nabla.SecondOrder); e.Functions == OverReals && !composite {
			list = append(list, e.Backend)
		}
	}
	return list
}
