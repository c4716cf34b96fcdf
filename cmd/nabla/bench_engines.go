package main

import (
	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/bench"
	"github.com/nabla-ad/nabla/internal/engines"
)

// measured returns the engines that bench measures, first those of package engines, then sparse ones made of them.
func measured() []bench.Engine {
	var dense, sparse []bench.Engine
	for _, e := range engines.All() {
		of, ofSparse := bench.Of, bench.OfSparse
		switch e.Functions {
		case engines.BlackBox:
			of = bench.OfPlain
		case engines.Generated:
			of, ofSparse = bench.OfSource, bench.OfSparseSource
		}
		b := of(e.Backend)
		b.SkipSparse = !e.Sparse
		dense = append(dense, b)
		if e.Sparse {
			sparse = append(sparse, ofSparse(nabla.AutoSparse{Dense: e.Backend}))
		}
	}
	return append(dense, sparse...)
}
