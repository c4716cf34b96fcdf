package main

import (
	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/internal/bench"
)

// engines are those of this module. In tasks with sparse derivatives the sparse ones
// stand beside those that they are made of.
func engines() []bench.Engine {
	compiled := reversediff.Backend{Compile: true}
	second := nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: compiled}
	all := []bench.Engine{
		bench.OfPlain(finitediff.Backend{}),
		bench.Of(forwarddiff.Backend{}),
		bench.Of(reversediff.Backend{}),
		bench.Of(compiled),
		bench.Of(tracker.Backend{}),
		bench.Of(second),
		bench.OfSource(source.Forward{}),
		bench.OfSource(source.Reverse{}),
		bench.OfSparse(nabla.AutoSparse{Dense: forwarddiff.Backend{}}),
		bench.OfSparse(nabla.AutoSparse{Dense: compiled}),
		bench.OfSparse(nabla.AutoSparse{Dense: second}),
	}
	for _, i := range []int{0, 2, 4} { // of no sparse one, and slow
		all[i].SkipSparse = true
	}
	return all
}
