package gen

import (
	"fmt"
	"slices"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// seedsBuild returns the build of adjoints in vector mode of width n: one forward sweep and a reverse sweep for n
// seeds.
func seedsBuild(n int) *build {
	b := &build{name: fmt.Sprintf("adjoint%d", n), suffix: fmt.Sprintf("Adjoint%d", n), part: pullbacks | batches,
		make: func(u *unit, t *target) (*built, error) { return makeSeeds(u, t, n) }}
	if n == 4 {
		b.code = "Adjoint4"
	}
	return b
}

// makeSeeds builds the adjoint of t for n seeds by vectorising the scalar adjoint. It returns nil if the function has a
// single number as output, or if neither an engine nor the options ask for it.
func makeSeeds(u *unit, t *target, n int) (*built, error) {
	asked := slices.Contains(u.program.opts.Lanes, n)
	if !asked && (t.shape == nil || !t.shape.registers() || t.shape.scalar || u.cyclic) {
		return nil, nil
	}
	one, err := u.adjointOf(t)
	if err != nil {
		return nil, err
	}
	if seeds := one.seeds(); len(seeds) == 1 && one.facts.Written.Empty() &&
		ir.IsFloat(one.fn.Params[seeds[0]].Type) {
		return nil, nil // a single output
	}
	var params, results activity.Mask
	b := &built{facts: one.facts, lanes: n}
	for i, r := range one.params {
		width := 1
		if r.slot == bar {
			params = params.With(i)
			if ir.IsFloat(one.fn.Params[i].Type) {
				width = n
			}
		}
		for r.lane = range width {
			b.params = append(b.params, r)
		}
	}
	for i, r := range one.results {
		width := 1
		if r.slot == bar {
			results = results.With(i)
			if ir.IsFloat(one.fn.Results[i].Type) {
				width = n
			}
		}
		for r.lane = range width {
			b.results = append(b.results, r)
		}
	}
	if b.fn, err = u.lanes(n).Build(one.fn, params, results); err != nil {
		return nil, err
	}
	b.doc = fmt.Sprintf("is %s%s for %d seeds in one call, from %s.\nEach array holds %d numbers, one for each seed.",
		t.base, adjointBuild.suffix, n, t.where(), n)
	return b, nil
}

// seeds returns the indices of the parameters that are seeds of results.
func (b *built) seeds() (list []int) {
	for i, r := range b.params {
		if r.result && r.slot == bar && !r.work {
			list = append(list, i)
		}
	}
	return list
}
