package tangent_test

import (
	"flag"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/internal/randprog"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/tangent"
	"github.com/nabla-ad/nabla/internal/longtest"
)

var (
	programs = flag.Int("programs", 0,
		"how many random programs are differentiated; 0 is as many as the length of the tests asks for")
	firstSeed = flag.Uint64("seed", 1, "of the first random program")
)

// tangents asks the oracles about the tangents of a random program.
func tangents(c *randprog.Case, tally *randprog.Tally) error {
	p := tangent.New()
	return c.Check(func(f *ir.Func, mask uint64) (randprog.Tangent, error) {
		t, facts, err := p.Build(f, activity.Bits(mask))
		if err != nil {
			return randprog.Tangent{}, err
		}
		return randprog.Tangent{F: t, Params: facts.Params.Uint64(), Results: facts.Results.Uint64()}, nil
	}, tally)
}

// TestRandom asks oracles about the tangents of random programs, and of those that have
// failed once.
func TestRandom(t *testing.T) {
	randprog.Files(t, "testdata/failures", tangents)
	randprog.Test(t, longtest.Cases(*programs, 40, 40, 250), *firstSeed, 3, "testdata/failures", tangents)
}

// TestRandomComplex does the same with programs that compute with complex numbers.
func TestRandomComplex(t *testing.T) {
	randprog.TestWith(t, randprog.Options{Complex: true}, longtest.Cases(*programs, 10, 10, 150), *firstSeed, 3,
		"testdata/failures", tangents)
}

// TestRandomContainers does the same with programs that have maps, interface values, package variables and sorting with
// closures.
func TestRandomContainers(t *testing.T) {
	randprog.TestWith(t, randprog.Options{Containers: true}, longtest.Cases(*programs, 10, 10, 150), *firstSeed, 3,
		"testdata/failures", tangents)
}
