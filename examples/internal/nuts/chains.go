package nuts

import (
	"sync"

	"github.com/nabla-ad/nabla"
)

// Chains draws chains of n samples each, side by side, of the density whose logarithm prep differentiates. Each chain
// has a clone of prep, since a prepared object is for one goroutine.
func Chains(prep *nabla.GradientPrep, start []float64, chains, n int) ([]*Chain, error) {
	list, errs := make([]*Chain, chains), make([]error, chains)
	var group sync.WaitGroup
	for i := range list {
		p := prep.Clone()
		group.Go(func() {
			list[i], errs[i] = Sample(func(gradient, x []float64) (float64, error) {
				value, _, err := p.ValueAndGradient(gradient, x)
				return value, err
			}, start, n, uint64(i))
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}
