package adjoint_test

import (
	"flag"
	"go/types"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/internal/randprog"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/tangent"
)

var (
	programs  = flag.Int("programs", 25, "how many random programs are differentiated, with other options than the usual ones a fifth")
	firstSeed = flag.Uint64("seed", 1, "of the first random program")
	variant   = flag.String("variant", "all", "which options random programs are differentiated with")
)

// run runs an adjoint on an input.
func run(a *adjoint.Adjoint, ws ir.Value, c *randprog.Case, in *randprog.Input, seeds []float64) (values, adjoints []float64, err error) {
	n := len(c.Sig.Params())
	plain := in.Values(c.Sig)
	first, err := (&ir.Machine{Globals: randprog.Globals()}).Eval(c.F, plain[:n])
	if err != nil {
		return nil, nil, err
	}
	args := in.Values(c.Sig)
	seedOf, shadows := in.Seeds(c.Sig, first, seeds)
	all := slices.Clone(args[:n])
	for i := range n {
		if a.Shadows.Has(i) {
			all = append(all, shadows[i])
		}
	}
	for i := range c.Sig.Results() {
		if a.Seeds.Has(i) {
			all = append(all, seedOf[i])
		}
	}
	all = append(all, ws)
	results, err := (&ir.Machine{Globals: randprog.Globals(), Steps: 1 << 18}).Eval(a.Func, all)
	if err != nil {
		return nil, nil, err
	}
	values = randprog.Outputs(c.Sig, results[:len(c.Sig.Results())], args)[:len(seeds)]
	bars := make([]ir.Value, n)
	has := make([]bool, n)
	k := len(c.Sig.Results())
	for i := range n {
		if a.Bars.Has(i) {
			bars[i], has[i] = results[k], true
			k++
		}
	}
	return values, in.Adjoints(c.Sig, shadows, bars, has), nil
}

// adjoints asks the oracles about the adjoints of a random program, after they have been
// changed.
func adjoints(o adjoint.Options, change func(f *ir.Func)) func(c *randprog.Case, tally *randprog.Tally) error {
	return func(c *randprog.Case, tally *randprog.Tally) error {
		t := tangent.New()
		build := func(f *ir.Func, mask uint64) (randprog.Tangent, error) {
			g, facts, err := t.Of(f, activity.Mask(mask))
			if err != nil {
				return randprog.Tangent{}, err
			}
			return randprog.Tangent{F: g, Params: uint64(facts.Params), Results: uint64(facts.Results)}, nil
		}
		type state struct {
			a  *adjoint.Adjoint
			ws ir.Value
		}
		p := adjoint.New(types.NewPackage("w", "w"), "Work", o)
		o := o
		o.Overlap = true
		q := adjoint.New(types.NewPackage("w", "w"), "Work", o)
		known := map[uint64]*state{}
		return c.CheckAdjoint(build, func(c *randprog.Case, in *randprog.Input, mask uint64, seeds []float64) ([]float64, []float64, error) {
			k, from := mask<<1, p
			if in.Aliased {
				k, from = k|1, q
			}
			s := known[k]
			if s == nil {
				a, err := from.Of(c.F, activity.Mask(mask))
				if err != nil {
					return nil, nil, err
				}
				if change != nil {
					change(a.Func)
				}
				if err := ir.Check(a.Func); err != nil {
					return nil, nil, err
				}
				s = &state{a, ir.NewValue(a.Func.Params[len(a.Func.Params)-1].Type)}
				known[k] = s
			}
			return run(s.a, s.ws, c, in, seeds)
		}, tally)
	}
}

// TestRandom asks oracles about the adjoints of random programs, and of those that have
// failed once.
func TestRandom(t *testing.T) {
	for name, o := range variants {
		if *variant != "all" && *variant != name {
			continue
		}
		t.Run(name, func(t *testing.T) {
			randprog.Files(t, "testdata/failures", adjoints(o, nil))
			many := *programs
			if testing.Short() {
				many /= 5
			}
			if name != "" && *variant == "all" {
				many /= 5
			}
			randprog.Test(t, many, *firstSeed, "testdata/failures", adjoints(o, nil))
		})
	}
}
