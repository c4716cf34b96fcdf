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
	"github.com/nabla-ad/nabla/gen/simplify"
	"github.com/nabla-ad/nabla/gen/tangent"
	"github.com/nabla-ad/nabla/internal/longtest"
)

var (
	programs = flag.Int("programs", 0,
		"how many random programs are differentiated; 0 is as many as the length of the tests asks for")
	firstSeed = flag.Uint64("seed", 1, "of the first random program")
	variant   = flag.String("variant", "all",
		"the variant, a key of variants, that random programs are differentiated with, or all")
	variantsOf = flag.Int("variants", 0,
		"under how many variants each program is differentiated, one after the other, besides none; "+
			"0 is 3, or in the long form of the tests all with an effect")
)

// tangents returns a cached constructor of tangents.
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
		g, facts, err := p.Build(f, activity.Bits(mask))
		if err != nil {
			return randprog.Tangent{}, err
		}
		t := randprog.Tangent{F: g, Params: facts.Params.Uint64(), Results: facts.Results.Uint64()}
		known[key{f, mask}] = t
		return t, nil
	}
}

// buildAdjoint returns the adjoint of c with respect to the parameters of its k-th input, without the disabled
// optimizations. It also returns the optimizations that are possible for it.
func buildAdjoint(
	c *randprog.Case,
	disabled adjoint.Optimization,
	k int,
) (*randprog.Adjoint, adjoint.Optimization, error) {
	return buildWithMistake(c, disabled, k, func(*adjoint.Program) {})
}

// buildWithMistake is built with a Program that mistake has modified.
func buildWithMistake(c *randprog.Case, disabled adjoint.Optimization, k int,
	mistake func(p *adjoint.Program)) (_ *randprog.Adjoint, _ adjoint.Optimization, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &randprog.Failure{Oracle: "panic", Input: k, Text: fmt.Sprint(r)}
		}
	}()
	mask, overlap := c.Mask(k)
	pkg := c.F.Object.Pkg()
	if len(c.Inputs[k].Mem)%4 == 0 {
		pkg = types.NewPackage("w", "w") // cannot refer to all functions: fewer are inlined
	}
	p := adjoint.New(pkg, "Work", adjoint.Options{Overlap: overlap})
	p.Disable(disabled)
	applicable := p.Applicable()
	mistake(p)
	if c.Also != nil { // shares functions with F, and its adjoint is modified first
		a, err := p.Of(c.Also, activity.Bits(1))
		if err != nil {
			return nil, 0, &randprog.Failure{Oracle: "build", Input: k, Text: err.Error()}
		}
		source := reached(c.Also)
		for _, f := range reached(a.Func) {
			if !slices.Contains(source, f) {
				simplify.Dead(f)
			}
		}
	}
	a, err := p.Of(c.F, activity.Bits(mask))
	if err != nil {
		return nil, 0, &randprog.Failure{Oracle: "build", Input: k, Text: err.Error()}
	}
	return &randprog.Adjoint{
		F: a.Func, Mask: mask, Overlap: overlap, Shadows: a.Shadows.Uint64(), Seeds: a.Seeds.Uint64(),
		Bars: a.Bars.Uint64(),
	}, *applicable, nil
}

// reached returns f and the functions that it calls, each once.
func reached(f *ir.Func) []*ir.Func {
	list := []*ir.Func{f}
	for i := 0; i < len(list); i++ {
		ir.Walk(list[i].Body, func(s ir.Stmt) bool {
			if c, ok := s.(*ir.Call); ok && c.Callee.Func != nil && !slices.Contains(list, c.Callee.Func) {
				list = append(list, c.Callee.Func)
			}
			return true
		})
	}
	return list
}

// checkCase checks the adjoint a of a case, its second derivatives if twice is set.
func checkCase(c *randprog.Case, s *randprog.Adjoints, a *randprog.Adjoint, twice bool, tally *randprog.Tally) error {
	if err := s.Check(a, tally); err != nil {
		return err
	}
	if twice {
		return s.Second(a, tally)
	}
	return nil
}

// adjoints returns a check of the adjoints of a random program under the named variants, for one of its inputs. Second
// derivatives are checked under one of them. The adjoint of a variant that disables no applicable optimization must
// equal that with all of them, which is checked for some programs.
func adjoints(names []string) func(c *randprog.Case, tally *randprog.Tally) error {
	few := longtest.Cases(*variantsOf, 3, 3, 0)
	return func(c *randprog.Case, tally *randprog.Tally) error {
		turn := uint64(len(c.Source()))
		if c.Program != nil {
			turn = c.Program.Seed
		}
		s := c.Adjoints(tangents())
		k := int(turn % uint64(len(c.Inputs)))
		plain, applicable, err := buildAdjoint(c, 0, k)
		if err != nil {
			return err
		}
		for i, name := range names {
			twice := c.Program == nil || turn%uint64(len(names)) == uint64(i)
			if name != "" && !twice && turn%32 != 0 && variants[name]&applicable == 0 {
				continue
			}
			if n := uint64(len(names)); few > 0 && name != "" && (uint64(i)+n-turn%n)%n >= uint64(few) {
				continue
			}
			a, _, err := buildAdjoint(c, variants[name], k)
			if err == nil {
				err = checkCase(c, s, a, twice, tally)
			}
			if err == nil && variants[name]&applicable == 0 && a.F.String() != plain.F.String() {
				err = &randprog.Failure{Oracle: "applicable", Input: k,
					Text: "another adjoint without optimizations that are not applicable"}
			}
			if err == nil {
				continue
			}
			f := withVariant(err, name)
			f.Again = checkVariant(name, twice)
			return f
		}
		return nil
	}
}

// checkVariant returns a check of one variant with all inputs.
func checkVariant(name string, twice bool) func(c *randprog.Case, tally *randprog.Tally) error {
	return func(c *randprog.Case, tally *randprog.Tally) error {
		for k := range c.Inputs {
			a, _, err := buildAdjoint(c, variants[name], k)
			if err != nil {
				return err
			}
			if err := checkCase(c, c.Adjoints(tangents()), a, twice, tally); err != nil {
				return withVariant(err, name)
			}
		}
		return nil
	}
}

// withVariant adds the name of the variant to a failure.
func withVariant(err error, name string) *randprog.Failure {
	f := err.(*randprog.Failure)
	f.Text = fmt.Sprintf("variant %q: %s", name, f.Text)
	return f
}

// variantNames returns the names of the variants in sorted order.
func variantNames() []string { return slices.Sorted(maps.Keys(variants)) }

// TestRandom checks adjoints of random programs, and of those that failed once.
func TestRandom(t *testing.T) {
	names := []string{*variant}
	if *variant == "all" {
		names = variantNames()
	}
	randprog.Files(t, "testdata/failures", adjoints(names))
	randprog.Test(t, longtest.Cases(*programs, 6, 6, 60), *firstSeed, 4, "testdata/failures", adjoints(names))
}

// TestRandomComplex does the same with programs that compute with complex numbers.
func TestRandomComplex(t *testing.T) {
	names := []string{*variant}
	if *variant == "all" {
		names = variantNames()
	}
	randprog.TestWith(t, randprog.Options{Complex: true}, longtest.Cases(*programs, 3, 3, 30), *firstSeed, 4,
		"testdata/failures", adjoints(names))
}

// TestRandomContainers does the same with programs that have maps, interface values, package variables and sorting with
// closures.
func TestRandomContainers(t *testing.T) {
	names := []string{*variant}
	if *variant == "all" {
		names = variantNames()
	}
	randprog.TestWith(t, randprog.Options{Containers: true}, longtest.Cases(*programs, 3, 3, 30), *firstSeed, 4,
		"testdata/failures", adjoints(names))
}
