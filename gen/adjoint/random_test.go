package adjoint_test

import (
	"flag"
	"fmt"
	"go/types"
	"maps"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/internal/randprog"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/tangent"
)

var (
	programs  = flag.Int("programs", 60, "how many random programs are differentiated")
	firstSeed = flag.Uint64("seed", 1, "of the first random program")
	variant   = flag.String("variant", "all", "which options random programs are differentiated with")
)

// tangents builds tangents of functions, each once.
func tangents() func(f *ir.Func, mask uint64) (randprog.Tangent, error) {
	p := tangent.New()
	type key struct {
		f    *ir.Func
		mask uint64
	}
	known := map[key]randprog.Tangent{}
	return func(f *ir.Func, mask uint64) (randprog.Tangent, error) {
		if t, ok := known[key{f, mask}]; ok {
			return t, nil
		}
		g, facts, err := p.Of(f, activity.Mask(mask))
		if err != nil {
			return randprog.Tangent{}, err
		}
		t := randprog.Tangent{F: g, Params: uint64(facts.Params), Results: uint64(facts.Results)}
		known[key{f, mask}] = t
		return t, nil
	}
}

// built is the adjoint of a case for its k-th input.
func built(c *randprog.Case, o adjoint.Options, k int) (*randprog.Adjoint, error) {
	mask, overlap := c.Mask(k)
	o.Overlap = overlap
	pkg := types.NewPackage("w", "w")
	if mask%2 == 0 || overlap {
		pkg = c.F.Object.Pkg() // which can name all functions, so that more are inlined
	}
	a, err := adjoint.New(pkg, "Work", o).Of(c.F, activity.Mask(mask))
	if err != nil {
		return nil, &randprog.Failure{Oracle: "build", Input: k, Text: err.Error()}
	}
	return &randprog.Adjoint{
		F: a.Func, Mask: mask, Overlap: overlap, Shadows: uint64(a.Shadows), Seeds: uint64(a.Seeds), Bars: uint64(a.Bars),
	}, nil
}

// asked asks the oracles about the adjoint of a case for its k-th input, about second
// derivatives if twice is set.
func asked(c *randprog.Case, s *randprog.Adjoints, o adjoint.Options, k int, twice bool, tally *randprog.Tally) error {
	a, err := built(c, o, k)
	if err != nil {
		return err
	}
	if err := s.Check(a, tally); err != nil {
		return err
	}
	if twice {
		return s.Second(a, tally)
	}
	return nil
}

// adjoints asks the oracles about the adjoints of a random program under the named
// variants: each is built for one input, all of them for all, and one is asked about
// second derivatives.
func adjoints(names []string) func(c *randprog.Case, tally *randprog.Tally) error {
	return func(c *randprog.Case, tally *randprog.Tally) error {
		turn := 0
		if c.Program != nil {
			turn = int(c.Program.Seed % 1000)
		}
		s := c.Adjoints(tangents())
		for i, name := range names {
			k, twice := (turn+i)%len(c.Inputs), turn%len(names) == i
			if c.Program == nil {
				twice = true
			}
			if err := asked(c, s, variants[name], k, twice, tally); err != nil {
				f := err.(*randprog.Failure)
				f.Text = fmt.Sprintf("variant %q: %s", name, f.Text)
				f.Again = func(c *randprog.Case, tally *randprog.Tally) error {
					for k := range c.Inputs {
						if err := asked(c, c.Adjoints(tangents()), variants[name], k, twice, tally); err != nil {
							return err
						}
					}
					return nil
				}
				return f
			}
		}
		return nil
	}
}

// TestRandom asks oracles about the adjoints of random programs, and of those that have
// failed once.
func TestRandom(t *testing.T) {
	names := []string{*variant}
	if *variant == "all" {
		names = slices.Sorted(maps.Keys(variants))
	}
	randprog.Files(t, "testdata/failures", adjoints(names))
	many := *programs
	if testing.Short() {
		many /= 5
	}
	randprog.Test(t, many, *firstSeed, 4, "testdata/failures", adjoints(names))
}
