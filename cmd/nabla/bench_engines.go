package main

import (
	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/bench"
	"github.com/nabla-ad/nabla/internal/engines"
)

// measured returns the engines that bench measures: those of package engines, sparse ones made of them, exported code,
// and derivatives written by hand.
func measured() []bench.Engine {
	var dense, sparse []bench.Engine
	for _, e := range engines.All() {
		b := measure(e)
		b.SkipSparse = !e.Sparse
		dense = append(dense, b)
		if e.Sparse {
			e.Backend = nabla.AutoSparse{Dense: e.Backend}
			sparse = append(sparse, measure(e))
		}
	}
	return append(append(dense, sparse...), bench.Exported(), bench.ByHand())
}

// measure returns e as an engine of bench, by the form of its functions.
func measure(e engines.Engine) bench.Engine {
	s, sparse := e.Backend.(nabla.AutoSparse)
	switch {
	case sparse && e.Functions == engines.Generated:
		return bench.OfSparseSource(s)
	case sparse:
		return bench.OfSparse(s)
	case e.Functions == engines.BlackBox:
		return bench.OfPlain(e.Backend)
	case e.Functions == engines.Generated:
		return bench.OfSource(e.Backend)
	}
	return bench.Of(e.Backend)
}
