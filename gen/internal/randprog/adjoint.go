package randprog

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Adjoint is a reverse sweep with the parameters in Mask active: a function with the
// parameters of F; shadows of those in Shadows; seeds of the results in Seeds, bit i for
// the i-th; and a workspace. Its results are those of F and the adjoints of the parameters
// in Bars.
type Adjoint struct {
	F                    *ir.Func
	Mask                 uint64
	Overlap              bool // arguments may overlap
	Shadows, Seeds, Bars uint64

	work *ir.Value // kept from call to call
}

// Adjoints asks the oracles about adjoints of one case. Build makes a tangent of a
// function with the parameters in a mask active, which has been asked about by
// [Case.Check].
type Adjoints struct {
	c       *Case
	build   func(f *ir.Func, mask uint64) (Tangent, error)
	moments map[[2]uint64]*moment
}

// Adjoints is ready to ask about adjoints of the case.
func (c *Case) Adjoints(build func(f *ir.Func, mask uint64) (Tangent, error)) *Adjoints {
	return &Adjoints{c, build, map[[2]uint64]*moment{}}
}

// Mask is which parameters are active for an input, and whether they overlap.
func (c *Case) Mask(k int) (mask uint64, overlap bool) { return c.mask(k), c.Inputs[k].Aliased }

// direction is one of the numbers of an input.
func (c *Case) direction(k int, stream uint64, mask uint64) []float64 {
	return c.Inputs[k].direction(rand.New(rand.NewPCG(uint64(k), stream)), c.Sig, mask)
}

// moment is what the tangent with the parameters in mask active gives for input k, nil if
// the program panics.
func (s *Adjoints) moment(mask uint64, k int) (*moment, error) {
	key := [2]uint64{mask, uint64(k)}
	m, ok := s.moments[key]
	if !ok {
		t, err := s.build(s.c.F, mask)
		if err != nil {
			return nil, fail("build", k, "%v", err)
		}
		m, err = s.c.tangent(s.c.F, t, k, s.c.direction(k, 6, mask))
		if err != nil && !errors.Is(err, errPanic) {
			return nil, err
		}
		s.moments[key] = m
	}
	return m, nil
}

// seeds are random seeds of what a moment gives.
func (m *moment) seeds(k int) []float64 {
	r := rand.New(rand.NewPCG(uint64(k), 7))
	out := make([]float64, m.seeded)
	for i := range out {
		out[i] = r.NormFloat64()
	}
	return out
}

// each visits the inputs that an adjoint is for and the program does not panic on.
func (s *Adjoints) each(mask uint64, overlap bool, tally *Tally, visit func(k int, m *moment) error) error {
	for k, in := range s.c.Inputs {
		if in.Aliased && !overlap {
			continue
		}
		tally.Samples++
		m, err := s.moment(mask, k)
		if err != nil {
			return err
		}
		if m == nil {
			tally.Panics++
			continue
		}
		if err := visit(k, m); err != nil {
			return err
		}
	}
	return nil
}

// Check runs an adjoint twice on each input that it is for: values are those of the
// function, adjoints the same both times, and ⟨seeds, J·direction⟩ is ⟨adjoints, direction⟩.
func (s *Adjoints) Check(a *Adjoint, tally *Tally) error {
	if err := ir.Check(a.F); err != nil {
		return fail("form", 0, "%v", err)
	}
	return s.CheckRun(a.Mask, a.Overlap, tally,
		func(in *Input, results []ir.Value, seeds []float64) (values, adjoints []float64, err error) {
			return a.run(s.c, in, results, seeds)
		})
}

// CheckRun is Check for whatever runs an adjoint with the parameters in mask active, where
// the function gives results.
func (s *Adjoints) CheckRun(mask uint64, overlap bool, tally *Tally,
	run func(in *Input, results []ir.Value, seeds []float64) (values, adjoints []float64, err error)) error {
	return s.each(mask, overlap, tally, func(k int, want *moment) error {
		seeds, dir := want.seeds(k), s.c.direction(k, 6, mask)
		var before []float64
		for _, oracle := range []string{"value", "repeat"} {
			values, bar, err := run(s.c.Inputs[k], want.results, seeds)
			if err != nil {
				return fail(oracle, k, "the adjoint gives %v", err)
			}
			if !same(values, want.out[:want.seeded]) {
				return fail(oracle, k, "value %v, want %v", values, want.out[:want.seeded])
			}
			if before != nil && !same(bar, before) {
				return fail(oracle, k, "adjoint %v, and %v before", bar, before)
			}
			before = bar
		}
		left, size := inner(seeds, want.dot[:want.seeded])
		right, size2 := inner(before, dir)
		if !s.agree(left, right, size, size2, 1e-10) {
			return fail("transpose", k, "⟨seeds, J·direction⟩ is %v, ⟨adjoints, direction⟩ is %v", left, right)
		}
		return nil
	})
}

// huge is from where on other orders of operations may overflow, hugeSingle where some are
// in single precision.
const huge, hugeSingle = 1e100, 1e30

// agree compares the sums left and right of terms of the sizes given. Where those of the
// first, which is the reference, are huge there is nothing to compare.
func (s *Adjoints) agree(left, right, size, size2, tolerance float64) bool {
	if size >= huge || size >= hugeSingle && s.c.Wide != s.c.F {
		return true
	}
	return !math.IsInf(size2, 0) && math.Abs(left-right) <= s.tolerance(tolerance)*(1+size+size2)
}

// tolerance is a tolerance, or that of float32.
func (s *Adjoints) tolerance(x float64) float64 {
	if s.c.Wide != s.c.F {
		return 1e-4
	}
	return x
}

// inner is an inner product, and the sum of the sizes of its terms.
func inner(a, b []float64) (sum, size float64) {
	for i := range a {
		sum += a[i] * b[i]
		size += math.Abs(a[i] * b[i])
	}
	return sum, size
}

// args are the arguments of an adjoint: from seeds of [Outputs], but for those that a slice
// in a struct shows, where the function gives results. Shadows are those of all parameters.
func (a *Adjoint) args(c *Case, in *Input, results []ir.Value, seeds []float64) (args, all, shadows []ir.Value) {
	args = in.Values(c.Sig)
	n := len(args) - 1
	of, shadows := in.Seeds(c.Sig, results, seeds)
	all = slices.Clone(args[:n])
	for i := range n {
		if a.Shadows>>i&1 == 1 {
			all = append(all, shadows[i])
		}
	}
	for i, s := range of {
		if a.Seeds>>i&1 == 1 {
			all = append(all, s)
		}
	}
	if a.work == nil {
		ws := ir.NewValue(a.F.Params[len(a.F.Params)-1].Type)
		a.work = &ws
	}
	return args, append(all, *a.work), shadows
}

// run gives the values that have seeds and the adjoints of the numbers of the input.
func (a *Adjoint) run(c *Case, in *Input, results []ir.Value, seeds []float64) (values, adjoints []float64, err error) {
	args, all, shadows := a.args(c, in, results, seeds)
	out, err := eval(a.F, all)
	if err != nil {
		return nil, nil, err
	}
	values = Outputs(c.Sig, out[:len(results)], args)[:len(seeds)]
	bars := make([]ir.Value, len(args)-1)
	has := make([]bool, len(bars))
	next := len(results)
	for i := range bars {
		if a.Bars>>i&1 == 1 {
			bars[i], has[i] = out[next], true
			next++
		}
	}
	return values, in.Adjoints(c.Sig, shadows, bars, has), nil
}
