package main

import (
	"errors"
	"fmt"
	"go/types"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/nabla-ad/nabla/gen/internal/natives"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/library"
)

// A verdict is the outcome of comparing the derivatives of a function with differences.
type verdict struct {
	outcome string // one of outcomes
	points  int    // number of points that agreed
	err     error  // of a disagreement
}

// The outcomes. For all but the first two, nothing was compared.
const (
	agreed      = "agreed"
	disagreed   = "disagreed"
	noArguments = "no arguments can be made"
	panics      = "panics with all arguments tried"
	tooLong     = "takes too long or reads data that the evaluator lacks"
	noNumber    = "NaN or infinite"
	rough       = "differences disagree among themselves"
	nothing     = "has no floats in or out"
)

// outcomes lists the outcomes in the order of the report.
var outcomes = []string{agreed, disagreed, noArguments, panics, tooLong, noNumber, rough, nothing}

const (
	requiredPoints = 3       // points that must agree
	requiredZeros  = 9       // the same for functions of packages that leave out zeros, half of them with zeros
	maxPoints      = 60      // points tried at most
	maxSteps       = 400_000 // steps of the function at most
)

// A checker compares the derivatives of a function at one point.
type checker struct {
	t       *transformed
	globals map[string]ir.Value
	in      *instance
	seed    uint64
	// compared[i] is set if output i is finite at the point, so that it is compared.
	compared []bool
	precision
}

// check compares the tangent with differences and the adjoint with the tangent, at random points.
func (t *transformed) check(g *globals) verdict {
	globals, err := g.bind(slices.Concat(reachable(t.f), reachable(t.tangent), reachable(t.adjoint.Func)))
	if err != nil {
		return verdict{outcome: noArguments, err: err}
	}
	points, required := 0, requiredPoints
	if t.skipsZeros() {
		required = requiredZeros
	}
	count := map[string]int{}
	for seed := range uint64(maxPoints) {
		c := &checker{t: t, globals: globals, seed: seed, precision: t.precision()}
		outcome, err := c.point()
		count[outcome]++
		switch outcome {
		case disagreed:
			return verdict{outcome, points, fmt.Errorf("%s, point %d: %w", t.fn.FullName(), seed, err)}
		case noArguments:
			return verdict{outcome: outcome, err: err}
		case agreed:
			if points++; points == required {
				return verdict{outcome: agreed, points: points}
			}
		}
		if count[tooLong] == 3 {
			break
		}
	}
	best := agreed
	if points == 0 {
		best = panics
		for _, o := range []string{nothing, tooLong, noNumber, rough} {
			if count[o] > 0 {
				best = o
			}
		}
	}
	return verdict{outcome: best, points: points}
}

// An outputs holds the outputs of a function: the numbers of its results, and those in the memory of its arguments.
type outputs struct{ results, memory []float64 }

// all returns the results followed by memory.
func (m *outputs) all() []float64 { return slices.Concat(m.results, m.memory) }

// point compares at one point.
func (c *checker) point() (outcome string, err error) {
	defer func() {
		if r := recover(); r != nil {
			outcome, err = disagreed, fmt.Errorf("it crashes: %v", r)
		}
	}()
	r := rand.New(rand.NewPCG(c.seed, 7))
	m := &argMaker{r: r, n: 1 + r.IntN(6), matrix: r.IntN(2) == 0, sorted: r.IntN(2) == 0, magnitude: int(c.seed % 4)}
	if c.in, err = m.instance(c.t.f); err != nil {
		return noArguments, err
	}
	x := c.in.numbers()
	v := make([]float64, len(x))
	for i := range v {
		v[i] = r.NormFloat64()
	}
	if c.t.skipsZeros() && c.seed%2 == 1 {
		special(r, x, v)
	}
	if len(x) == 0 {
		return nothing, nil
	}
	at, first, outcome, err := c.primal(x)
	if at == nil {
		return outcome, err
	}
	if len(at.all()) == 0 {
		return nothing, nil
	}
	if c.compared = finite(at.all()); !slices.Contains(c.compared, true) {
		return noNumber, nil
	}
	dot, err := c.tangent(x, v, at, first)
	var p *ir.PanicError
	if errors.As(err, &p) && c.t.skipsZeros() && c.seed%2 == 1 { // by what the function left out
		return panics, nil
	}
	if err != nil {
		return disagreed, err
	}
	for i, ok := range finite(dot.all()) {
		if c.compared[i] && !ok {
			return noNumber, nil
		}
	}
	differing, err := c.differences(x, v, at.all(), dot.all())
	if c.t.made && differing != agreed { // such as the vectors of equal singular values
		return differing, err
	}
	if err := c.adjoint(r, x, v, at, dot, first); err != nil {
		if errors.Is(err, errNaN) {
			return noNumber, nil
		}
		return disagreed, err
	}
	return differing, err
}

// skipsZeros reports whether the function is of a package that leaves out terms that are zero. Its derivatives are
// compared at zeros, too, where other functions distinguish cases.
func (t *transformed) skipsZeros() bool { return library.SkipsZeros(t.fn.Pkg().Path()) }

// special makes some numbers of x equal to 0 or 1, as the scalars of BLAS and elements of matrices often are, and some
// of the direction v zero.
func special(r *rand.Rand, x, v []float64) {
	zeros, still := r.IntN(4), r.IntN(3)
	for i := range x {
		switch k := r.IntN(6); {
		case k <= zeros:
			x[i] = 0
		case k == 5:
			x[i] = 1
		}
		if r.IntN(4) < still {
			v[i] = 0
		}
	}
}

// finite reports for each number whether it is finite.
func finite(x []float64) []bool {
	out := make([]bool, len(x))
	for i, v := range x {
		out[i] = !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return out
}

// zeroUncompared sets the components of x that are not compared to 0, and returns x.
func (c *checker) zeroUncompared(x []float64) []float64 {
	for i := range x {
		if !c.compared[i] {
			x[i] = 0
		}
	}
	return x
}

// eval evaluates f, with a larger limit of steps for derivatives.
func (c *checker) eval(f *ir.Func, args []ir.Value) ([]ir.Value, error) {
	m := ir.Machine{Steps: maxSteps, Globals: c.globals, Rules: natives.Rules()}
	if f != c.t.f {
		m.Steps = 20 * maxSteps
	}
	return m.Eval(f, args)
}

// primal runs the function at x. It returns its outputs and its results as Go values, or an outcome if it fails.
func (c *checker) primal(x []float64) (*outputs, []reflect.Value, string, error) {
	args, memory := c.in.values(x)
	results, err := c.eval(c.t.f, args)
	var limit *ir.LimitError
	var p *ir.PanicError
	switch {
	case errors.As(err, &limit):
		return nil, nil, tooLong, err
	case errors.As(err, &p):
		return nil, nil, panics, err
	case err != nil:
		return nil, nil, disagreed, err
	}
	m := &outputs{memory: c.in.read(memory)}
	var shown []reflect.Value
	for i, v := range c.t.f.Results {
		p, err := goValue(results[i], v.Type)
		if err != nil {
			return nil, nil, noArguments, err
		}
		shown = append(shown, p)
		m.results = append(m.results, gatherFrom(p).numbers()...)
	}
	return m, shown, "", nil
}

// goValue returns a pointer to the Go value of v, a value of the evaluator.
func goValue(v ir.Value, t types.Type) (reflect.Value, error) {
	of, err := goType(t, map[types.Type]bool{})
	if err != nil {
		return reflect.Value{}, err
	}
	p := reflect.New(of)
	if of != reflect.TypeFor[any]() {
		v.Into(p.Interface())
	}
	return p, nil
}

// gatherFrom returns all floats reachable from *p.
func gatherFrom(p reflect.Value) *instance {
	in := &instance{args: []reflect.Value{p}}
	in.gather()
	return in
}

// tangent runs the tangent in direction v, and returns the derivatives of the outputs at. first are the results of the
// function.
func (c *checker) tangent(x, v []float64, at *outputs, first []reflect.Value) (*outputs, error) {
	t := c.t
	args, memory := c.in.values(x)
	shadows, dots := c.in.values(v)
	all := slices.Clone(args)
	for i := range args {
		if t.facts.Params.Has(i) {
			all = append(all, shadows[i])
		}
	}
	results, err := c.eval(t.tangent, all)
	if err != nil {
		return nil, fmt.Errorf("the tangent: %w", err)
	}
	if err := c.checkValues("tangent", at, results, memory); err != nil {
		return nil, err
	}
	m := &outputs{memory: c.in.read(dots)}
	next := len(t.f.Results)
	for i, r := range t.f.Results {
		if !t.facts.Results.Has(i) {
			m.results = append(m.results, make([]float64, len(gatherFrom(first[i]).numbers()))...)
			continue
		}
		p, err := goValue(results[next], r.Type)
		if err != nil {
			return nil, err
		}
		next++
		m.results = append(m.results, gatherFrom(p).numbers()...)
	}
	if len(m.results) != len(at.results) || len(m.memory) != len(at.memory) {
		return nil, fmt.Errorf("the tangent has %d and %d derivatives of %d and %d numbers", len(m.results),
			len(m.memory), len(at.results), len(at.memory))
	}
	return m, nil
}

// checkValues compares the values that a derivative computes with those of the function.
func (c *checker) checkValues(what string, at *outputs, results, memory []ir.Value) error {
	got := &outputs{memory: c.in.read(memory)}
	for i, r := range c.t.f.Results {
		p, err := goValue(results[i], r.Type)
		if err != nil {
			return err
		}
		got.results = append(got.results, gatherFrom(p).numbers()...)
	}
	a, b := got.all(), at.all()
	if len(a) != len(b) {
		return fmt.Errorf("the %s gives %d numbers, the function %d", what, len(a), len(b))
	}
	for i := range a {
		if c.compared[i] && !(math.Abs(a[i]-b[i]) <= 1e-13*math.Abs(b[i])) {
			return fmt.Errorf("the %s gives %v, the function %v", what, a, b)
		}
	}
	return nil
}

// errNaN is returned if the zero seed of a number that is not finite was multiplied by its derivative.
var errNaN = errors.New("adjoints are NaN")

// adjoint compares the adjoint with the tangent dot in direction v, for random seeds w: wᵀ·(J·v) must equal (Jᵀ·w)ᵀ·v.
func (c *checker) adjoint(r *rand.Rand, x, v []float64, at, dot *outputs, first []reflect.Value) error {
	a := c.t.adjoint
	given := c.zeroUncompared(random(r, len(c.compared)))
	seeds := &outputs{results: given[:len(at.results)], memory: given[len(at.results):]}
	args, memory := c.in.values(x)
	own := len(slices.Concat(c.in.direct...))
	shadows, bars := c.in.values(slices.Concat(make([]float64, own), seeds.memory))
	all := slices.Clone(args)
	for i := range args {
		if a.Shadows.Has(i) {
			all = append(all, shadows[i])
		}
	}
	next := 0
	for i, p := range first {
		in := gatherFrom(p)
		n := len(in.numbers())
		seed := in.withNumbers(seeds.results[next : next+n])
		next += n
		if a.Seeds.Has(i) {
			all = append(all, seed)
		}
	}
	all = append(all, ir.NewValue(a.Func.Params[len(a.Func.Params)-1].Type))
	results, err := c.eval(a.Func, all)
	if err != nil {
		return fmt.Errorf("the adjoint: %w", err)
	}
	if err := c.checkValues("adjoint", at, results, memory); err != nil {
		return err
	}
	var xbar []float64
	k := len(first)
	for i, p := range c.t.f.Params {
		n := len(c.in.direct[i])
		if !a.Bars.Has(i) {
			xbar = append(xbar, make([]float64, n)...)
			continue
		}
		p, err := goValue(results[k], p.Type)
		if err != nil {
			return err
		}
		k++
		xbar = append(xbar, gatherFrom(p).numbers()[:n]...)
	}
	xbar = append(xbar, c.in.read(bars)...)
	left, size := inner(given, c.zeroUncompared(dot.all()))
	right, size2 := inner(xbar, v)
	// A factorisation that made returned may have no derivative at the point, and no result need show it.
	if math.IsNaN(right) && (c.t.made || slices.Contains(c.compared, false)) {
		return errNaN
	}
	if !(math.Abs(left-right) <= c.transpose*(1+size+size2)) {
		return fmt.Errorf("⟨seeds, J·direction⟩ is %v, ⟨adjoints, direction⟩ is %v", left, right)
	}
	return nil
}

// random returns n normally distributed numbers.
func random(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
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
