package randprog

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// An Adjoint is an adjoint of F with respect to the parameters in Mask. It takes the parameters of F, shadows of those
// in Shadows, seeds of the results in Seeds (bit i for result i) and a workspace. It returns the results of F and the
// cotangents of the parameters in Bars.
type Adjoint struct {
	F                    *ir.Func
	Mask                 uint64
	Overlap              bool // arguments may overlap
	Shadows, Seeds, Bars uint64

	work *ir.Value // workspace, reused by all calls
}

// An Adjoints checks adjoints of one case. build returns a tangent of a function with respect to the parameters in a
// mask, which [Case.Check] must have accepted.
type Adjoints struct {
	c     *Case
	build func(f *ir.Func, mask uint64) (Tangent, error)
	// by mask and input
	evaluations map[[2]uint64]*evaluation
}

// Adjoints returns a checker for adjoints of the case.
func (c *Case) Adjoints(build func(f *ir.Func, mask uint64) (Tangent, error)) *Adjoints {
	return &Adjoints{c, build, map[[2]uint64]*evaluation{}}
}

// Mask returns the active parameters for input k, and whether its arguments overlap.
func (c *Case) Mask(k int) (mask uint64, overlap bool) { return c.mask(k), c.Inputs[k].Aliased }

// direction returns the random direction of input k in the given stream of random numbers.
func (c *Case) direction(k int, stream uint64, mask uint64) []float64 {
	return c.Inputs[k].direction(rand.New(rand.NewPCG(uint64(k), stream)), c.Sig, mask)
}

// evaluation returns the results of the tangent with respect to mask for input k, nil if the program panics.
func (s *Adjoints) evaluation(mask uint64, k int) (*evaluation, error) {
	key := [2]uint64{mask, uint64(k)}
	m, ok := s.evaluations[key]
	if !ok {
		t, err := s.build(s.c.F, mask)
		if err != nil {
			return nil, fail("build", k, "%v", err)
		}
		m, err = s.c.tangent(s.c.F, t, k, s.c.direction(k, 6, mask))
		if err != nil && !errors.Is(err, errPanic) {
			return nil, err
		}
		s.evaluations[key] = m
	}
	return m, nil
}

// seeds returns random seeds of the outputs that an adjoint has seeds of.
func (m *evaluation) seeds(k int) []float64 {
	r := rand.New(rand.NewPCG(uint64(k), 7))
	out := make([]float64, m.seededOutputs)
	for i := range out {
		out[i] = r.NormFloat64()
	}
	return out
}

// each calls visit for the inputs that an adjoint accepts and on which the program does not panic.
func (s *Adjoints) each(mask uint64, overlap bool, tally *Tally, visit func(k int, m *evaluation) error) error {
	for k, in := range s.c.Inputs {
		if in.Aliased && !overlap {
			continue
		}
		tally.Samples++
		m, err := s.evaluation(mask, k)
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

// Check runs an adjoint twice on each input that it accepts. Its values must be those of the function, its cotangents
// equal both times, and ⟨seeds, J·direction⟩ must equal ⟨cotangents, direction⟩.
func (s *Adjoints) Check(a *Adjoint, tally *Tally) error {
	if err := ir.Check(a.F); err != nil {
		return fail("form", 0, "%v", err)
	}
	return s.CheckRun(a.Mask, a.Overlap, tally,
		func(in *Input, results []ir.Value, seeds []float64) (values, adjoints []float64, err error) {
			return a.run(s.c, in, results, seeds)
		})
}

// CheckRun is Check for a function that runs an adjoint with respect to mask. results are those of the function.
func (s *Adjoints) CheckRun(mask uint64, overlap bool, tally *Tally,
	run func(in *Input, results []ir.Value, seeds []float64) (values, adjoints []float64, err error)) error {
	return s.each(mask, overlap, tally, func(k int, want *evaluation) error {
		seeds, dir := want.seeds(k), s.c.direction(k, 6, mask)
		var before []float64
		for _, oracle := range []string{"value", "repeat"} {
			values, bar, err := run(s.c.Inputs[k], want.results, seeds)
			if err != nil {
				return fail(oracle, k, "the adjoint gives %v", err)
			}
			if !sameBits(values, want.out[:want.seededOutputs]) {
				return fail(oracle, k, "value %v, want %v", values, want.out[:want.seededOutputs])
			}
			if before != nil && !sameBits(bar, before) {
				return fail(oracle, k, "adjoint %v, and %v before", bar, before)
			}
			before = bar
		}
		left, size := inner(seeds, want.dot[:want.seededOutputs])
		right, size2 := inner(before, dir)
		if !s.agree(left, right, size, size2, 1e-10) {
			return fail("transpose", k, "⟨seeds, J·direction⟩ is %v, ⟨adjoints, direction⟩ is %v", left, right)
		}
		return nil
	})
}

// huge and hugeSingle are the sizes, in double and single precision, above which sums are not compared, since another
// order of operations may overflow.
const huge, hugeSingle = 1e100, 1e30

// agree reports whether the sums left and right agree, whose terms have magnitudes that add up to size and size2. If
// the reference, the first, is huge, they do.
func (s *Adjoints) agree(left, right, size, size2, tolerance float64) bool {
	if size >= huge || size >= hugeSingle && s.c.Wide != s.c.F {
		return true
	}
	return !math.IsInf(size2, 0) && math.Abs(left-right) <= s.tolerance(tolerance)*(1+size+size2)
}

// tolerance returns x, or a tolerance for float32 if the program uses it.
func (s *Adjoints) tolerance(x float64) float64 {
	if s.c.Wide != s.c.F {
		return 1e-4
	}
	return x
}

// inner returns an inner product, and the sum of the magnitudes of its terms.
func inner(a, b []float64) (sum, size float64) {
	for i := range a {
		sum += a[i] * b[i]
		size += math.Abs(a[i] * b[i])
	}
	return sum, size
}

// args returns the arguments of F, those of the adjoint, and shadows of all parameters. seeds are those of [Outputs],
// without the elements of a slice in a struct; results are those of F.
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

// run runs the adjoint, and returns the values that have seeds and the cotangents of the numbers of the input.
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
