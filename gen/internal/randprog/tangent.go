package randprog

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// A Failure is the violation of an oracle.
type Failure struct {
	Oracle string
	Input  int
	Text   string
	// Again applies only the oracles that failed.
	Again func(*Case, *Tally) error
}

func (f *Failure) Error() string {
	return fmt.Sprintf("oracle %s, input %d: %s", f.Oracle, f.Input, f.Text)
}

// fail returns a failure of an oracle for input k.
func fail(oracle string, k int, format string, args ...any) *Failure {
	return &Failure{Oracle: oracle, Input: k, Text: fmt.Sprintf(format, args...)}
}

// A Tangent is a directional derivative of F: a function with the parameters of F and then shadows of those in Params,
// and with the results of F and then the derivatives of those in Results (bit i for number i).
type Tangent struct {
	F       *ir.Func
	Params  uint64
	Results uint64
}

// A Tally counts samples.
type Tally struct {
	Samples int // inputs of programs
	Panics  int // inputs on which the program panics
	Skipped int // inputs where differences disagree among themselves
}

// Add adds the counts of u.
func (t *Tally) Add(u Tally) {
	t.Samples += u.Samples
	t.Panics += u.Panics
	t.Skipped += u.Skipped
}

func (t Tally) String() string {
	return fmt.Sprintf("%d samples, %d panics, %d without differences (%.2g%%)", t.Samples, t.Panics, t.Skipped,
		100*float64(t.Skipped)/float64(max(1, t.Samples)))
}

// Check applies all oracles to the tangents of the case; build returns the tangent of a function with respect to the
// parameters in a mask.
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
			if err := c.compareRounded(got, exact, k); err != nil {
				return err
			}
			got = exact
		}
		if c.Inputs[k].Round {
			continue // near a kink
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

// mask returns the active parameters for an input: all of them if slices overlap.
func (c *Case) mask(k int) uint64 {
	n := len(c.Sig.Params())
	all := uint64(1)<<n - 1
	if c.Inputs[k].Aliased || k%3 == 0 {
		return all
	}
	return rand.New(rand.NewPCG(uint64(k), uint64(n))).Uint64()&all | 1
}

// errPanic is returned if the program panics, for which there is no derivative.
var errPanic = errors.New("the program panics")

// An evaluation holds the results of a function and of its tangent.
type evaluation struct {
	results       []ir.Value // of the function
	out, dot      []float64
	seededOutputs int // number of outputs that an adjoint has seeds of
	ints          []int
}

// tangent runs a tangent twice, and compares its values with those of f.
func (c *Case) tangent(f *ir.Func, t Tangent, k int, dir []float64) (*evaluation, error) {
	in := c.Inputs[k]
	args := in.Values(c.Sig)
	results, err := eval(f, args[:len(args)-1])
	var m *evaluation
	for _, oracle := range []string{"value", "repeat"} {
		next, nextErr := c.run(t, in, dir)
		if (err != nil) != (nextErr != nil) {
			return nil, fail(oracle, k, "the function gives %v, its tangent %v", err, nextErr)
		}
		if err != nil {
			return nil, errPanic
		}
		if want := Outputs(c.Sig, results, args); !sameBits(next.out, want) {
			return nil, fail(oracle, k, "value %v, want %v", next.out, want)
		}
		if want := integers(c.Sig, results, args); !slices.Equal(next.ints, want) {
			return nil, fail(oracle, k, "integers %v, want %v", next.ints, want)
		}
		if m != nil && !sameBits(next.dot, m.dot) {
			return nil, fail(oracle, k, "derivative %v, and %v before", next.dot, m.dot)
		}
		m = next
		m.results = results
	}
	return m, nil
}

// run runs a tangent.
func (c *Case) run(t Tangent, in *Input, dir []float64) (*evaluation, error) {
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
	m := &evaluation{
		out:  Outputs(c.Sig, results, args),
		dot:  Outputs(c.Sig, dots, shadows),
		ints: integers(c.Sig, results, args),
	}
	m.seededOutputs = countSeeded(c.Sig, len(m.out), args)
	return m, nil
}

// RunTangent returns [Outputs] and their derivatives, computed by a tangent for an input and a direction.
func (c *Case) RunTangent(t Tangent, in *Input, dir []float64) (out, dot []float64, err error) {
	m, err := c.run(t, in, dir)
	if err != nil {
		return nil, nil, err
	}
	return m.out, m.dot, nil
}

// sameBits reports whether a and b are equal bit for bit, except that all NaN are equal.
func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool {
		return math.Float64bits(x) == math.Float64bits(y) || math.IsNaN(x) && math.IsNaN(y)
	})
}

// compareRounded compares results computed with float32 with those computed without. If rounding changes the control
// flow, it compares nothing.
func (c *Case) compareRounded(got, exact *evaluation, k int) error {
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

// steps are those of differences. If the differences disagree by more than agreement, the point is near a jump or a
// kink.
var steps = []float64{1e-4, 2e-5, 4e-6}

const (
	agreement = 1e-5
	closeness = 1e-5
)

// differences compares a derivative with the closest of three central differences. It returns false if these disagree
// among themselves.
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
