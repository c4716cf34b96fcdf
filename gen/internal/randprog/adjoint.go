package randprog

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Adjoint runs an adjoint on an input: from a seed for each of [Outputs], but for those
// that a slice in a struct shows, it gives those values and the adjoints of the numbers
// of the input, [Input.Floats]. Only those of parameters in the mask count.
type Adjoint func(c *Case, in *Input, mask uint64, seeds []float64) (values, adjoints []float64, err error)

// CheckAdjoint asks the oracles about an adjoint of the case: build makes a tangent of a
// function with the parameters in a mask active, which has been asked about by [Case.Check].
func (c *Case) CheckAdjoint(build func(f *ir.Func, mask uint64) (Tangent, error), adjoint Adjoint, tally *Tally) error {
	for k, in := range c.Inputs {
		mask := c.mask(k)
		t, err := build(c.F, mask)
		if err != nil {
			return &Failure{"build", k, err.Error()}
		}
		tally.Samples++
		r := rand.New(rand.NewPCG(uint64(k), 6))
		dir := in.direction(r, c.Sig, mask)
		want, err := c.tangent(c.F, t, k, dir)
		if errors.Is(err, errPanic) {
			tally.Panics++
			continue
		}
		if err != nil {
			return err
		}
		seeds := make([]float64, want.seeded)
		for i := range seeds {
			seeds[i] = r.NormFloat64()
		}
		if err := c.transposed(want, adjoint, k, mask, dir, seeds); err != nil {
			return err
		}
	}
	return nil
}

// transposed runs an adjoint twice and compares it with a tangent.
func (c *Case) transposed(want *moment, adjoint Adjoint, k int, mask uint64, dir, seeds []float64) error {
	var before []float64
	for _, oracle := range []string{"value", "repeat"} {
		values, xbar, err := adjoint(c, c.Inputs[k], mask, seeds)
		if err != nil {
			return &Failure{oracle, k, fmt.Sprintf("the adjoint gives %v", err)}
		}
		if !same(values, want.out[:want.seeded]) {
			return &Failure{oracle, k, fmt.Sprintf("value %v, want %v", values, want.out[:want.seeded])}
		}
		if len(xbar) != len(dir) {
			return &Failure{oracle, k, fmt.Sprintf("%d adjoints of %d numbers", len(xbar), len(dir))}
		}
		if before != nil && !same(xbar, before) {
			return &Failure{oracle, k, fmt.Sprintf("adjoint %v, and %v before", xbar, before)}
		}
		before = xbar
	}
	left, size := inner(seeds, want.dot[:want.seeded])
	right, size2 := inner(before, dir)
	tolerance := 1e-10
	if c.Wide != c.F {
		tolerance = 1e-4 // of float32
	}
	if !(math.Abs(left-right) <= tolerance*(1+size+size2)) {
		return &Failure{"transpose", k, fmt.Sprintf("⟨seeds, J·direction⟩ is %v, ⟨adjoints, direction⟩ is %v", left, right)}
	}
	return nil
}

// inner is an inner product, and the sum of the sizes of its terms.
func inner(a, b []float64) (sum, size float64) {
	for i := range a {
		sum += a[i] * b[i]
		size += math.Abs(a[i] * b[i])
	}
	return sum, size
}
