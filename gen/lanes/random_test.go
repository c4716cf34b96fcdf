package lanes_test

import (
	"errors"
	"flag"
	"fmt"
	"go/types"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/internal/randprog"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lanes"
	"github.com/nabla-ad/nabla/gen/tangent"
	"github.com/nabla-ad/nabla/internal/longtest"
)

var (
	programs = flag.Int("programs", 0,
		"how many random programs are differentiated; 0 is as many as the length of the tests asks for")
	firstSeed = flag.Uint64("seed", 1, "of the first random program")
)

// A sided is an adjoint with one seed and its lane form for several.
type sided struct {
	one  *adjoint.Adjoint
	all  *ir.Func
	in   *lanes.Program
	work ir.Value // of both
}

// side returns a with its lane form.
func side(p *lanes.Program, a *adjoint.Adjoint) (*sided, error) {
	n, k := len(a.Facts.Func.Params), len(a.Facts.Func.Results)
	var params, results activity.Mask
	for i := n; i < len(a.Func.Params)-1; i++ {
		params = params.With(i)
	}
	for i := k; i < len(a.Func.Results); i++ {
		results = results.With(i)
	}
	g, err := p.Build(a.Func, params, results)
	if err != nil {
		return nil, fmt.Errorf("%w\n%v", err, a.Func)
	}
	for _, f := range append(reached(a.Func), reached(g)...) {
		if err := ir.Check(f); err != nil {
			return nil, fmt.Errorf("%w\n%v", err, f)
		}
	}
	return &sided{one: a, all: g, in: p, work: ir.NewValue(a.Func.Params[len(a.Func.Params)-1].Type)}, nil
}

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

// run runs the lane form, and the adjoint once per lane, and compares them bit for bit. It returns the results of the
// first lane.
func (s *sided) run(c *randprog.Case, in *randprog.Input,
	seeds [randprog.Lanes][]float64) (values, adjoints []float64, err error) {
	a, sig := s.one, c.Sig
	n, results := len(sig.Params()), len(sig.Results())
	machine := &ir.Machine{Globals: randprog.Globals(), Steps: 1 << 20}
	first, err := machine.Eval(c.F, in.Values(sig)[:n])
	if err != nil {
		return nil, nil, err
	}
	args := in.Values(sig)
	of, shadows := in.LanedSeeds(sig, first, seeds)
	all := slices.Clone(args[:n])
	for i := range n {
		if a.Shadows.Has(i) {
			all = append(all, shadows[i])
		}
	}
	for i := range results {
		if a.Seeds.Has(i) {
			all = append(all, of[i]...)
		}
	}
	out, err := machine.Eval(s.all, append(all, s.work))
	if err != nil {
		return nil, nil, err
	}
	values = randprog.Outputs(sig, out[:results], args)[:len(seeds[0])]
	if err := s.inVectors(machine, c, in, first, seeds, args, shadows, out); err != nil {
		return nil, nil, err
	}
	bars := make([][]ir.Value, n)
	at := results
	for i, p := range sig.Params() {
		if !a.Bars.Has(i) {
			continue
		}
		width := 1
		if p.Kind == randprog.Float {
			width = randprog.Lanes
		}
		bars[i] = out[at : at+width]
		at += width
	}
	for k := range randprog.Lanes {
		args := in.Values(sig)
		of, single := in.Seeds(sig, first, seeds[k])
		all := slices.Clone(args[:n])
		for i := range n {
			if a.Shadows.Has(i) {
				all = append(all, single[i])
			}
		}
		for i := range results {
			if a.Seeds.Has(i) {
				all = append(all, of[i])
			}
		}
		out, err := machine.Eval(a.Func, append(all, s.work))
		if err != nil {
			return nil, nil, err
		}
		if want := randprog.Outputs(sig, out[:results], args)[:len(values)]; !same(values, want) {
			return nil, nil, fmt.Errorf("values %v, and %v for one lane", values, want)
		}
		one, has := make([]ir.Value, n), make([]bool, n)
		at := results
		for i := range n {
			if a.Bars.Has(i) {
				one[i], has[i] = out[at], true
				at++
			}
		}
		got, want := in.LanedAdjoints(sig, shadows, bars, k), in.Adjoints(sig, single, one, has)
		if !same(got, want) {
			return nil, nil, fmt.Errorf("lane %d has the adjoints %v, and alone %v\n%v", k, got, want, s.all)
		}
		if k == 0 {
			adjoints = got
		}
	}
	return values, adjoints, nil
}

// inVectors runs the lane form with vector forms in place of the functions that have them, and compares results and
// final contents of arguments with those of the lane form.
func (s *sided) inVectors(machine *ir.Machine, c *randprog.Case, in *randprog.Input, first []ir.Value,
	seeds [randprog.Lanes][]float64, args, shadows, out []ir.Value) error {
	back := useVectors(s.in, s.all)
	if back == nil {
		return nil
	}
	defer back()
	a, sig := s.one, c.Sig
	own := in.Values(sig)
	of, mine := in.LanedSeeds(sig, first, seeds)
	all := slices.Clone(own[:len(sig.Params())])
	for i := range sig.Params() {
		if a.Shadows.Has(i) {
			all = append(all, mine[i])
		}
	}
	for i := range sig.Results() {
		if a.Seeds.Has(i) {
			all = append(all, of[i]...)
		}
	}
	got, err := machine.Eval(s.all, append(all, s.work))
	if err != nil {
		return err
	}
	text := func(out, args, shadows []ir.Value) (list []string) {
		for i, v := range s.all.Results {
			list = append(list, out[i].Text(v.Type))
		}
		for i, v := range c.F.Params {
			list = append(list, args[i].Text(v.Type))
			if a.Shadows.Has(i) {
				list = append(list, shadows[i].Text(s.in.LaneType(v.Type)))
			}
		}
		return list
	}
	if got, want := text(got, own, mine), text(out, args, shadows); !slices.Equal(got, want) {
		return fmt.Errorf("%v in vectors, want %v\n%v", got, want, s.all)
	}
	return nil
}

// useVectors replaces the bodies of f and its callees by their vector forms and returns a function that undoes this, or
// nil if there are none.
func useVectors(p *lanes.Program, f *ir.Func) (back func()) {
	for _, g := range reached(f) {
		v := p.Vector(g)
		if v == nil {
			continue
		}
		body, outer := g.Body, back
		back = func() {
			g.Body = body
			if outer != nil {
				outer()
			}
		}
		call := &ir.Call{Callee: &ir.Callee{Func: v.Func}, Results: g.Results}
		for _, x := range g.Params {
			call.Args = append(call.Args, x.Load())
		}
		g.Body = ir.Block{call}
		vectors.Add(1)
	}
	return back
}

// same compares numbers bit for bit; all NaNs are equal.
func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool {
		return math.Float64bits(x) == math.Float64bits(y) || math.IsNaN(x) && math.IsNaN(y)
	})
}

// cases counts adjoints, and refused those that have no lanes: engines use one seed then.
// vectors counts the functions that were run in vectors.
var cases, refused, vectors atomic.Int64

// lanesAgree returns a check of the lane form of the adjoints of a random program: the lanes agree with single runs,
// and the first lane with the oracles. Change, if not nil, breaks the lane form.
func lanesAgree(o adjoint.Options, change func(f *ir.Func)) func(c *randprog.Case, tally *randprog.Tally) error {
	return func(c *randprog.Case, tally *randprog.Tally) error {
		t := tangent.New()
		build := func(f *ir.Func, mask uint64) (randprog.Tangent, error) {
			g, facts, err := t.Build(f, activity.Bits(mask))
			if err != nil {
				return randprog.Tangent{}, err
			}
			return randprog.Tangent{F: g, Params: facts.Params.Uint64(), Results: facts.Results.Uint64()}, nil
		}
		from := map[bool]*adjoint.Program{}
		side4 := map[bool]*lanes.Program{}
		for _, aliased := range []bool{false, true} {
			o.Overlap = aliased
			from[aliased] = adjoint.New(types.NewPackage("w", "w"), "Work", o)
			w := from[aliased].Workspace()
			side4[aliased] = lanes.New(lanes.NewTypes(randprog.Lanes), &lanes.Workspace{Type: w.Type, Field: w.Like})
			side4[aliased].EnableVectors()
		}
		ask, asked := c.Adjoints(build), [][2]any{}
		for k := range c.Inputs {
			mask, overlap := c.Mask(k)
			if slices.Contains(asked, [2]any{mask, overlap}) {
				continue
			}
			asked = append(asked, [2]any{mask, overlap})
			a, err := from[overlap].Of(c.F, activity.Bits(mask))
			if err != nil {
				return err
			}
			s, err := side(side4[overlap], a)
			var no *lanes.Error
			if cases.Add(1); errors.As(err, &no) {
				refused.Add(1)
				continue
			}
			if err != nil {
				return err
			}
			if change != nil {
				change(s.all)
			}
			if err := ask.CheckRun(mask, overlap, tally,
				func(in *randprog.Input, _ []ir.Value, seeds []float64) ([]float64, []float64, error) {
					r := rand.New(rand.NewPCG(mask, 8))
					several := [randprog.Lanes][]float64{seeds}
					for k := 1; k < randprog.Lanes; k++ {
						several[k] = make([]float64, len(seeds))
						for i := range several[k] {
							if k != 2 && r.IntN(3) > 0 { // one has no seeds, others have few
								several[k][i] = r.NormFloat64()
							}
						}
					}
					return s.run(c, in, several)
				}); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestRandom compares lane forms of adjoints of random programs with the adjoints.
func TestRandom(t *testing.T) {
	for name, o := range map[string]adjoint.Options{"": {}, "unsimplified": {Unsimplified: true}} {
		t.Run(name, func(t *testing.T) {
			randprog.Files(t, "../adjoint/testdata/failures", lanesAgree(o, nil))
			n := longtest.Cases(*programs, 5, 8, 100)
			if name != "" {
				n = max(n/5, 5)
			}
			randprog.Test(t, n, *firstSeed, 4, "testdata/failures", lanesAgree(o, nil))
			if refused.Load()*20 > cases.Load() {
				t.Errorf("%d of %d adjoints are refused", refused.Load(), cases.Load())
			}
			t.Logf("%d functions in vectors", vectors.Load())
		})
	}
}
