package randprog

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Failure is what an oracle objects to.
type Failure struct {
	Oracle string
	Input  int
	Text   string
	// Again asks only the oracles that object.
	Again func(*Case, *Tally) error
}

func (f *Failure) Error() string {
	return fmt.Sprintf("oracle %s, input %d: %s", f.Oracle, f.Input, f.Text)
}

func fail(oracle string, k int, format string, args ...any) *Failure {
	return &Failure{Oracle: oracle, Input: k, Text: fmt.Sprintf(format, args...)}
}

// Tangent is a derivative in a direction: a function with the parameters of F and then
// shadows of those in Params, and with the results of F and then the derivatives of those
// in Results, bit i for the i-th.
type Tangent struct {
	F       *ir.Func
	Params  uint64
	Results uint64
}

// Tally counts samples.
type Tally struct {
	Samples int // inputs of programs
	Panics  int // that the program panics on
	Skipped int // where differences disagree among themselves
}

// Add adds what another has counted.
func (t *Tally) Add(u Tally) {
	t.Samples += u.Samples
	t.Panics += u.Panics
	t.Skipped += u.Skipped
}

func (t Tally) String() string {
	return fmt.Sprintf("%d samples, %d panics, %d without differences (%.2g%%)", t.Samples, t.Panics, t.Skipped,
		100*float64(t.Skipped)/float64(max(1, t.Samples)))
}

// Check asks all oracles about the tangents of the case: build makes that of a function
// with the parameters in a mask active.
func (c *Case) Check(build func(f *ir.Func, mask uint64) (Tangent, error), tally *Tally) error {
	for k := range c.Inputs {
		mask := c.mask(k)
		t, err := build(c.F, mask)
		if err != nil {
			return fail("build", k, "%v", err)
		}
		if err := ir.Check(t.F); err != nil {
			return fail("form", k, "%v", err)
		}
		tally.Samples++
		dir := c.Inputs[k].direction(rand.New(rand.NewPCG(uint64(k), 5)), c.Sig, mask)
		got, err := c.tangent(c.F, t, k, dir)
		if errors.Is(err, errPanic) {
			tally.Panics++
			continue
		}
		if err != nil {
			return err
		}
		if c.Wide != c.F {
			u, err := build(c.Wide, mask)
			if err != nil {
				return fail("build", k, "%v", err)
			}
			exact, err := c.tangent(c.Wide, u, k, dir)
			if err != nil {
				return err
			}
			if err := c.rounded(got, exact, k); err != nil {
				return err
			}
			got = exact
		}
		if c.Inputs[k].Round {
			continue // where kinks are
		}
		ok, err := c.differences(got.dot, k, dir)
		if err != nil {
			return err
		}
		if !ok {
			tally.Skipped++
		}
	}
	return nil
}

// mask is which parameters are active for an input: all of them where slices overlap.
func (c *Case) mask(k int) uint64 {
	n := len(c.Sig.Params())
	all := uint64(1)<<n - 1
	if c.Inputs[k].Aliased || k%3 == 0 {
		return all
	}
	return rand.New(rand.NewPCG(uint64(k), uint64(n))).Uint64()&all | 1
}

var errPanic = errors.New("the program panics")

// moment is what a function and its derivative give.
type moment struct {
	results  []ir.Value // of the function
	out, dot []float64
	seeded   int // how many an adjoint has seeds of
	ints     []int
}

// tangent runs a tangent, twice, and compares its values with those of f.
func (c *Case) tangent(f *ir.Func, t Tangent, k int, dir []float64) (*moment, error) {
	in := c.Inputs[k]
	args := in.Values(c.Sig)
	results, err := eval(f, args[:len(args)-1])
	var m *moment
	for _, oracle := range []string{"value", "repeat"} {
		next, nextErr := c.run(t, in, dir)
		if (err != nil) != (nextErr != nil) {
			return nil, fail(oracle, k, "the function gives %v, its tangent %v", err, nextErr)
		}
		if err != nil {
			return nil, errPanic
		}
		if want := Outputs(c.Sig, results, args); !same(next.out, want) {
			return nil, fail(oracle, k, "value %v, want %v", next.out, want)
		}
		if want := integers(c.Sig, results, args); !slices.Equal(next.ints, want) {
			return nil, fail(oracle, k, "integers %v, want %v", next.ints, want)
		}
		if m != nil && !same(next.dot, m.dot) {
			return nil, fail(oracle, k, "derivative %v, and %v before", next.dot, m.dot)
		}
		m = next
		m.results = results
	}
	return m, nil
}

// run runs a tangent.
func (c *Case) run(t Tangent, in *Input, dir []float64) (*moment, error) {
	n := len(c.Sig.Params())
	args := in.Values(c.Sig)
	shadows := in.With(slices.Clone(dir)).Values(c.Sig)
	all := slices.Clone(args[:n])
	for i := range n {
		if t.Params>>i&1 == 1 {
			all = append(all, shadows[i])
		}
	}
	results, err := eval(t.F, all)
	if err != nil {
		return nil, err
	}
	dots := make([]ir.Value, len(c.Sig.Results()))
	next := len(dots)
	for i, r := range c.Sig.Results() {
		switch {
		case t.Results>>i&1 == 1:
			dots[i] = results[next]
			next++
		case r.Kind == Slice:
			dots[i] = ir.ValueOf(make([]float64, len(ir.As[[]float64](results[i]))))
		default:
			dots[i] = ir.ValueOf(0.0)
		}
	}
	m := &moment{
		out:  Outputs(c.Sig, results, args),
		dot:  Outputs(c.Sig, dots, shadows),
		ints: integers(c.Sig, results, args),
	}
	m.seeded = seeded(c.Sig, len(m.out), args)
	return m, nil
}

// RunTangent is what a tangent gives of an input and a direction: [Outputs], and their
// derivatives.
func (c *Case) RunTangent(t Tangent, in *Input, dir []float64) (out, dot []float64, err error) {
	m, err := c.run(t, in, dir)
	if err != nil {
		return nil, nil, err
	}
	return m.out, m.dot, nil
}

// same compares bit for bit; all that are no numbers are one.
func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool {
		return math.Float64bits(x) == math.Float64bits(y) || math.IsNaN(x) && math.IsNaN(y)
	})
}

// rounded compares what is computed with float32 with what is computed without. Where
// rounding decides what the program does, there is nothing to compare.
func (c *Case) rounded(got, exact *moment, k int) error {
	if len(got.out) != len(exact.out) || !slices.Equal(got.ints, exact.ints) {
		return nil
	}
	for i := range got.out {
		if !(math.Abs(got.out[i]-exact.out[i]) < 1e-5*(1+math.Abs(exact.out[i]))) {
			return nil
		}
	}
	if len(got.dot) != len(exact.dot) {
		return fail("rounded", k, "derivative %v, and %v with float64 for float32", got.dot, exact.dot)
	}
	size := 1.0
	for _, d := range exact.dot {
		size = max(size, math.Abs(d))
	}
	for i, d := range got.dot {
		if !(math.Abs(d-exact.dot[i]) < 1e-3*size) {
			return fail("rounded", k, "derivative %d is %v, and %v with float64 for float32", i, d, exact.dot[i])
		}
	}
	return nil
}

// steps are those of the differences. Where they disagree by more than agreement, the
// program has a jump or a kink there, or is not tame.
var steps = []float64{1e-4, 2e-5, 4e-6}

const (
	agreement = 1e-5
	closeness = 1e-5
)

// differences compares a derivative with the best of three central differences. It is
// false where they disagree among themselves.
func (c *Case) differences(dot []float64, k int, dir []float64) (bool, error) {
	in := c.Inputs[k]
	at := func(h float64) ([]float64, error) {
		x := in.Floats()
		for i := range x {
			x[i] += h * dir[i]
		}
		args := in.With(x).Values(c.Sig)
		results, err := eval(c.Wide, args[:len(args)-1])
		if err != nil {
			return nil, err
		}
		return Outputs(c.Sig, results, args), nil
	}
	var quotients [][]float64
	for _, h := range steps {
		up, err := at(h)
		if err != nil {
			return false, nil
		}
		down, err := at(-h)
		if err != nil || len(up) != len(down) {
			return false, nil
		}
		q := make([]float64, len(up))
		for i := range q {
			q[i] = (up[i] - down[i]) / (2 * h)
		}
		quotients = append(quotients, q)
	}
	size := 1.0
	for _, q := range quotients {
		if len(q) != len(quotients[0]) {
			return false, nil
		}
		for _, d := range q {
			size = max(size, math.Abs(d))
		}
	}
	if len(dot) != len(quotients[0]) {
		return true, fail("differences", k, "%d derivatives of %d numbers", len(dot), len(quotients[0]))
	}
	for i := range dot {
		lo, hi, best := math.Inf(1), math.Inf(-1), math.Inf(1)
		for _, q := range quotients {
			lo, hi = min(lo, q[i]), max(hi, q[i])
			best = min(best, math.Abs(q[i]-dot[i]))
		}
		if !(hi-lo < agreement*size) {
			return false, nil
		}
		if !(best < closeness*size) {
			return true, fail("differences", k, "derivative %d is %v, differences are %v to %v", i, dot[i], lo, hi)
		}
	}
	return true, nil
}
