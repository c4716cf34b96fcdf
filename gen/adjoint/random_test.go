package adjoint_test

import (
	"flag"
	"fmt"
	"go/types"
	"maps"
	"reflect"
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

// built is the adjoint of a case for its k-th input, and which options matter for it.
func built(c *randprog.Case, o adjoint.Options, k int) (*randprog.Adjoint, adjoint.Options, error) {
	mask, overlap := c.Mask(k)
	o.Overlap = overlap
	pkg := c.F.Object.Pkg()
	if len(c.Inputs[k].Mem)%4 == 0 {
		pkg = types.NewPackage("w", "w") // which cannot name all functions, so that fewer are inlined
	}
	a, err := adjoint.New(pkg, "Work", o).Of(c.F, activity.Mask(mask))
	if err != nil {
		return nil, o, &randprog.Failure{Oracle: "build", Input: k, Text: err.Error()}
	}
	return &randprog.Adjoint{
		F: a.Func, Mask: mask, Overlap: overlap, Shadows: uint64(a.Shadows), Seeds: uint64(a.Seeds), Bars: uint64(a.Bars),
	}, a.Matter, nil
}

// matters reports whether one of two sets of options has something set that the other has
// too.
func matters(o, p adjoint.Options) bool {
	x, y := reflect.ValueOf(o), reflect.ValueOf(p)
	for i := range x.NumField() {
		if x.Field(i).Bool() && y.Field(i).Bool() {
			return true
		}
	}
	return false
}

// asked asks the oracles about the adjoint of a case for its k-th input, about second
// derivatives if twice is set.
func asked(c *randprog.Case, s *randprog.Adjoints, a *randprog.Adjoint, twice bool, tally *randprog.Tally) error {
	if err := s.Check(a, tally); err != nil {
		return err
	}
	if twice {
		return s.Second(a, tally)
	}
	return nil
}

// adjoints asks the oracles about the adjoints of a random program under the named
// variants, all for one of its inputs; each is asked about the inputs that it fits, and one
// about second derivatives. Where a variant matters not it is the same adjoint, which some
// programs show.
func adjoints(names []string) func(c *randprog.Case, tally *randprog.Tally) error {
	return func(c *randprog.Case, tally *randprog.Tally) error {
		turn := uint64(len(c.Source()))
		if c.Program != nil {
			turn = c.Program.Seed
		}
		s := c.Adjoints(tangents())
		k := int(turn % uint64(len(c.Inputs)))
		plain, matter, err := built(c, adjoint.Options{}, k)
		if err != nil {
			return err
		}
		for i, name := range names {
			twice := c.Program == nil || turn%uint64(len(names)) == uint64(i)
			if name != "" && !twice && turn%32 != 0 && !matters(variants[name], matter) {
				continue
			}
			a, _, err := built(c, variants[name], k)
			if err == nil {
				err = asked(c, s, a, twice, tally)
			}
			if err == nil && !matters(variants[name], matter) && a.F.String() != plain.F.String() {
				err = &randprog.Failure{Oracle: "matter", Input: k, Text: "another adjoint, though no option matters"}
			}
			if err == nil {
				continue
			}
			f := named(err, name)
			f.Again = again(name, twice)
			return f
		}
		return nil
	}
}

// again asks about one variant, for all inputs.
func again(name string, twice bool) func(c *randprog.Case, tally *randprog.Tally) error {
	return func(c *randprog.Case, tally *randprog.Tally) error {
		for k := range c.Inputs {
			a, _, err := built(c, variants[name], k)
			if err != nil {
				return err
			}
			if err := asked(c, c.Adjoints(tangents()), a, twice, tally); err != nil {
				return named(err, name)
			}
		}
		return nil
	}
}

// named is a failure that says under which variant it is one.
func named(err error, name string) *randprog.Failure {
	f := err.(*randprog.Failure)
	f.Text = fmt.Sprintf("variant %q: %s", name, f.Text)
	return f
}

// variantNames are in an order that is always the same.
func variantNames() []string { return slices.Sorted(maps.Keys(variants)) }

// TestRandom asks oracles about the adjoints of random programs, and of those that have
// failed once.
func TestRandom(t *testing.T) {
	names := []string{*variant}
	if *variant == "all" {
		names = variantNames()
	}
	randprog.Files(t, "testdata/failures", adjoints(names))
	many := *programs
	if testing.Short() {
		many /= 5
	}
	randprog.Test(t, many, *firstSeed, 4, "testdata/failures", adjoints(names))
}
