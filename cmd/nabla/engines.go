package main

import (
	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/difftest/coded"
	"github.com/nabla-ad/nabla/internal/bench"
)

// A shipped is an engine of this module: a row of [shippedEngines].
type shipped struct {
	backend   nabla.Backend
	functions functions
	// sparse reports whether the engine is also measured under AutoSparse. The others take no part in tasks with sparse
	// derivatives, in which they are slow.
	sparse  bool
	conform difftest.Options // requirements of the conformance kit
}

// A functions is the form of the functions that an engine is measured with.
type functions int

const (
	overReals functions = iota
	blackBox            // plain functions
	generated           // plain functions with generated code
)

// shippedEngines lists the engines of this module. All commands take them from here.
func shippedEngines() []shipped {
	compiled := reversediff.Backend{Compile: true}
	code := difftest.Options{Function: coded.Function, AllocFree: true}
	return []shipped{
		{finitediff.Backend{}, blackBox, false, difftest.Options{Tol: 1e-8, SecondTol: 1e-5, AllocFree: true}},
		{forwarddiff.Backend{}, overReals, true, difftest.Options{AllocFree: true}},
		{reversediff.Backend{}, overReals, false, difftest.Options{AllocFree: true}},
		{compiled, overReals, true, difftest.Options{AllocFree: true}},
		{tracker.Backend{}, overReals, false, difftest.Options{}},
		{nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: compiled}, overReals, true, difftest.Options{}},
		{source.Forward{}, generated, true, code},
		{source.Reverse{}, generated, true, code},
	}
}

// engines returns the engines that bench measures, first those of [shippedEngines], then sparse ones made of them.
func engines() []bench.Engine {
	var dense, sparse []bench.Engine
	for _, s := range shippedEngines() {
		of, ofSparse := bench.Of, bench.OfSparse
		switch s.functions {
		case blackBox:
			of = bench.OfPlain
		case generated:
			of, ofSparse = bench.OfSource, bench.OfSparseSource
		}
		e := of(s.backend)
		e.SkipSparse = !s.sparse
		dense = append(dense, e)
		if s.sparse {
			sparse = append(sparse, ofSparse(nabla.AutoSparse{Dense: s.backend}))
		}
	}
	return append(dense, sparse...)
}
