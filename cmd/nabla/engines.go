package main

import (
	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/internal/bench"
)

// engines are those of this module.
func engines() []bench.Engine {
	compiled := reversediff.Backend{Compile: true}
	return []bench.Engine{
		bench.OfPlain(finitediff.Backend{}),
		bench.Of(forwarddiff.Backend{}),
		bench.Of(reversediff.Backend{}),
		bench.Of(compiled),
		bench.Of(tracker.Backend{}),
		bench.Of(nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: compiled}),
	}
}
