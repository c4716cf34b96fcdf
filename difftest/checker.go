package difftest

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
)

// A checker runs the checks of one scenario on one backend and reports failures.
type checker struct {
	r        Reporter
	b        nabla.Backend
	o        *Options
	scenario string
	failures int

	s *Scenario
	// brief is set for scenarios with modifiers: checks that do not depend on where the function has its data from are
	// left out.
	brief bool
	f     function
	// point of the scenario
	x []float64
	// its first tangent, nil without one
	t []float64
}

// maxFailures is the number of failures of one scenario that are reported in full.
const maxFailures = 8

// failf reports a failure of a check; variant may be empty.
func (c *checker) failf(check, variant, format string, args ...any) {
	c.failures++
	switch {
	case c.failures == maxFailures+1:
		c.r.Errorf("difftest: %s: more failures are not shown", c.scenario)
	case c.failures <= maxFailures:
		if variant != "" {
			variant += ": "
		}
		c.r.Errorf("[%s] %s on %s: %s%s", check, c.scenario, c.b.Name(), variant, fmt.Sprintf(format, args...))
	}
}

// run makes all checks of scenario s, each on prepared objects of its own where that matters.
func (c *checker) run(s *Scenario) {
	if !c.setScenario(s) {
		return
	}
	c.brief = len(s.wrappers) > 0
	c.x, c.t = s.X, s.tangent()
	want := s.want()
	if len(s.prepX()) != len(s.X) {
		c.checkSmallerPreparation(want)
		return
	}
	sub := subjectOf(s, c.b, c.f.f)
	c.after()
	if s.otherBranch && c.o.NoBranches {
		c.checkRefusal(sub)
		return
	}
	for i, v := range sub.unprepared {
		if i == len(sub.unprepared)-1 || !c.brief {
			c.call("unprepared", v, c.x, c.t, want)
		}
	}
	p := c.prepare(sub, s.prepX())
	if p == nil {
		return
	}
	if s.light {
		c.checkLarge(p, want)
		return
	}
	last := len(p.variants) - 1
	for i := range p.variants {
		if i == last || !c.brief {
			c.checkVariant(sub, i, want)
		}
	}
	c.checkShared(p, want)
	c.checkBatch(p)
	if !c.brief {
		c.checkWrongLengths(p, want)
		c.checkInvalidDestinations(p, want)
		c.checkPlan(p)
	}
	c.checkClones(p, want)
	c.checkRebind(p, want)
	c.checkSamePoint(p, want)
	if !c.brief {
		c.checkResize(sub, p, want)
	}
	c.checkAllocations(p)
}

// setScenario makes s the scenario of c and obtains its function. It reports whether there is one; otherwise the
// scenario is skipped.
func (c *checker) setScenario(s *Scenario) bool {
	c.s = s
	if c.o.Function == nil {
		c.f = s.function(c.b, c.o.Plain)
		return true
	}
	f := c.o.Function(s)
	if f == nil {
		c.r.Skipf("there is no function of this scenario for such engines")
		return false
	}
	c.f = function{f: f.F, before: f.Before, after: f.After, own: f.Own, other: f.Other, otherFactor: 1,
		shared: f.Shared}
	for _, context := range s.Contexts {
		c.f.otherFactor *= context.Other / context.Run
	}
	return true
}

// mayMakeFunction reports whether a check may create a function of its own, and skips it otherwise: with
// Options.Function the engine takes only functions that code was generated from.
func (c *checker) mayMakeFunction() bool {
	if c.o.Function != nil {
		c.r.Skipf("its function is made where it is checked, and such engines take others only")
	}
	return c.o.Function == nil
}

// before sets the contexts of the function to those of preparation.
func (c *checker) before() {
	if c.f.before != nil {
		c.f.before()
	}
}

// after sets the contexts of the function to those of calls.
func (c *checker) after() {
	if c.f.after != nil {
		c.f.after()
	}
}

// prepare prepares at x, with the contexts of preparation. It reports a failure and returns nil if that fails.
func (c *checker) prepare(sub subject, x []float64) *prepared {
	at := append([]float64(nil), x...)
	c.before()
	p, err := sub.prepare(at)
	c.after()
	if err != nil {
		c.failf("prepare", "", "prepared at %v: %v", x, err)
		return nil
	}
	if !identical(at, x) {
		c.failf("inputs", "Prepare", "changed its x from %v to %v", x, at)
	}
	return p
}

// call makes one call of v and compares its results with want. It returns nil if either fails.
func (c *checker) call(check string, v variant, x, t []float64, want Results) *outcome {
	o := c.invoke(check, v, x, t)
	if o != nil && !c.compare(check, v, o, x, t, want) {
		return nil
	}
	return o
}

// invoke makes one call of v and checks everything that needs no reference: errors, unchanged arguments and the use of
// destinations. It returns nil on failure.
func (c *checker) invoke(check string, v variant, x, t []float64) *outcome {
	o := new(outcome)
	xs, ts := append([]float64{}, x...), append([]float64{}, t...)
	if err := v.start(o, xs, ts)(); err != nil {
		if c.isExpectedPatternError(err) {
			return nil
		}
		c.failf(check, v.name, "error: %v\n\tx = %v\n\tt = %v", err, x, t)
		return nil
	}
	if !identical(xs, x) {
		c.failf("inputs", v.name, "changed x from %v to %v", x, xs)
	}
	if len(t) > 0 && !identical(ts, t) {
		c.failf("inputs", v.name, "changed t from %v to %v", t, ts)
	}
	for _, p := range []*part{&o.value, &o.first, &o.second} {
		if s := p.destinationMisuse(); s != "" {
			c.failf("destination", v.name, "%s\n\tx = %v", s, x)
			return nil
		}
	}
	return o
}

// compare compares the results in o with want and reports whether they agree. Results that o or want lacks are not
// compared.
func (c *checker) compare(check string, v variant, o *outcome, x, t []float64, want Results) bool {
	ok := true
	part := func(name string, p *part, want []float64, tol, least float64, batch bool) {
		got := p.got()
		if got == nil || want == nil {
			return
		}
		if batch {
			want = columns(want, v.scales)
		}
		if d := difference(got, want, tol, least); d != "" {
			if p.given != nil || p.into != nil {
				name += ", in a given destination that was full of NaN,"
			}
			c.failf(check, v.name, "the %s is wrong: %s\n\tx = %v\n\tt = %v", name, d, x, t)
			ok = false
		}
		if k, known := stored(p.m); known && c.s.NNZ > 0 && len(x) == len(c.s.X) && k != c.s.NNZ {
			c.failf("sparsity", v.name, "the %s stores %d elements, want %d\n\tx = %v", name, k, c.s.NNZ, x)
			ok = false
		}
	}
	batch := v.scales != nil
	part("value", &o.value, want.Value, exactTol, 0, false)
	switch {
	case c.s.secondOrder():
		part("first derivative", &o.first, want.First, c.o.SecondTol, 0, false)
		part("second derivative", &o.second, want.Second, c.o.SecondTol, size(want.Value), batch)
	default:
		part("derivative", &o.first, want.First, c.o.Tol, 0, batch)
	}
	return ok
}

// thirdPoint returns a point of length n, which may differ from that of the scenario's, and a direction there, or nil
// for an operator without directions. Both differ from those of the scenario.
func (c *checker) thirdPoint(n int) (x, t []float64) {
	for i := range n {
		v := 0.5
		if i < len(c.x) {
			v = c.x[i]
		}
		x = append(x, 0.75*v+0.125*float64(1+i%3))
	}
	if c.t == nil {
		return x, nil
	}
	m := n
	if c.s.Operator == "pullback" {
		m = c.s.outputs(n)
	}
	t = []float64{}
	for i := range m {
		t = append(t, float64(i%5)-1.5)
	}
	return x, t
}

// numbers returns a copy of the results.
func (o *outcome) numbers() Results {
	return Results{scaled(1, o.value.got()), scaled(1, o.first.got()), scaled(1, o.second.got())}
}

// size returns the magnitude of the value y of a function with one output, otherwise 0. The rounding error of second
// differences is proportional to it.
func size(y []float64) float64 {
	if len(y) != 1 || y[0] != y[0] {
		return 0
	}
	return math.Abs(y[0])
}

// stored returns the number of elements that a matrix stores, if it reports it. A matrix that stores a triangle counts
// as a whole.
func stored(m mat.Matrix) (int, bool) {
	if s, ok := m.(*sparse.SymCSC); ok && s.Uplo() != blas.All {
		return sparsity.FromMatrix(s).NNZ(), true
	}
	if s, ok := m.(interface{ NNZ() int }); ok {
		return s.NNZ(), true
	}
	return 0, false
}

// expectedAt returns the expected results of variant i at (x, t): those of the closed form or, without one, those of an
// object prepared there.
func (c *checker) expectedAt(sub subject, i int, v variant, x, t []float64) (Results, bool) {
	if c.s.At == nil {
		return c.resultsPreparedAt(sub, i, x, t)
	}
	want := c.s.At(x, t)
	if v.scales != nil {
		if c.s.secondOrder() {
			want.Second = columns(want.Second, v.scales)
		} else {
			want.First = columns(want.First, v.scales)
		}
	}
	return want, true
}

// resultsPreparedAt returns the results of variant i at (x, t) of an object prepared there.
func (c *checker) resultsPreparedAt(sub subject, i int, x, t []float64) (Results, bool) {
	p, err := sub.prepare(append([]float64{}, x...))
	if err != nil {
		c.failf("prepare", "", "prepared at %v: %v", x, err)
		return Results{}, false
	}
	o := c.invoke("prepare", p.variants[i], x, t)
	if o == nil {
		return Results{}, false
	}
	return o.numbers(), true
}

// compareVariant compares o with want, the results of the same variant: those of a batch are not scaled.
func (c *checker) compareVariant(check string, v variant, o *outcome, x, t []float64, want Results) {
	v.scales = nil
	c.compare(check, v, o, x, t, want)
}

// checkVariant calls variant i on a prepared object of its own: twice, at another point, and again at the first.
func (c *checker) checkVariant(sub subject, i int, want Results) {
	p := c.prepare(sub, c.s.prepX())
	if p == nil {
		return
	}
	v := p.variants[i]
	first := c.call("prepared", v, c.x, c.t, want)
	c.call("second call", v, c.x, c.t, want)
	x3, t3 := c.thirdPoint(len(c.x))
	if there, ok := c.expectedAt(sub, i, v, x3, t3); ok {
		if o := c.invoke("third point", v, x3, t3); o != nil {
			c.compareVariant("third point", v, o, x3, t3, there)
		}
	}
	c.call("back again", v, c.x, c.t, want)
	if first != nil {
		c.compare("earlier", v, first, c.x, c.t, want)
	}
}

// checkShared makes all variants of calls on one prepared object, here and at another point, twice.
func (c *checker) checkShared(p *prepared, want Results) {
	x3, t3 := c.thirdPoint(len(c.x))
	for range 2 {
		for _, v := range p.variants {
			c.call("shared", v, c.x, c.t, want)
		}
		if c.brief {
			return
		}
		for _, v := range p.variants {
			c.invoke("shared", v, x3, t3)
		}
	}
}

// checkWrongLengths makes calls with one argument too long or too short, for each argument.
func (c *checker) checkWrongLengths(p *prepared, want Results) {
	for _, tr := range p.tries {
		for _, delta := range []int{1, -1} {
			err := tr.run(append([]float64{}, c.x...), append([]float64{}, c.t...), delta)
			var shape *nabla.ShapeError
			switch {
			case err == errSkip:
				continue
			case err == nil:
				c.failf("wrong length", tr.arg, "%+d element is accepted, want a *nabla.ShapeError", delta)
			case !errors.As(err, &shape):
				c.failf("wrong length", tr.arg, "%+d element gives %T (%v), want a *nabla.ShapeError", delta, err, err)
			}
			c.call("after error", p.variants[0], c.x, c.t, want)
		}
	}
}

// checkClones calls a clone beside its original, and then two clones in parallel.
func (c *checker) checkClones(p *prepared, want Results) {
	x3, t3 := c.thirdPoint(len(c.x))
	q := p.clone()
	for i, v := range q.variants {
		c.invoke("clone", p.variants[i], x3, t3)
		c.call("clone", v, c.x, c.t, want)
	}
	if c.f.shared {
		return
	}
	r := q.clone()
	const calls = 3
	type made struct {
		o   *outcome
		err error
	}
	var got [2][calls]made
	var wg sync.WaitGroup
	for g, p := range []*prepared{q, r} {
		wg.Go(func() {
			for k := range calls {
				v := p.variants[k%len(p.variants)]
				o := new(outcome)
				err := v.start(o, append([]float64{}, c.x...), append([]float64{}, c.t...))()
				got[g][k] = made{o, err}
			}
		})
	}
	wg.Wait()
	for g, p := range []*prepared{q, r} {
		for k, m := range got[g] {
			v := p.variants[k%len(p.variants)]
			if m.err != nil && c.isExpectedPatternError(m.err) {
				continue
			}
			if m.err != nil {
				c.failf("clone", v.name, "in parallel with another clone: %v", m.err)
				continue
			}
			c.compare("clone", v, m.o, c.x, c.t, want)
		}
	}
	c.call("clone", p.variants[0], c.x, c.t, want)
}

// checkRebind binds another struct and then the first one again.
func (c *checker) checkRebind(p *prepared, want Results) {
	if c.f.other == nil {
		return
	}
	for _, s := range []struct {
		to   any
		want Results
	}{{c.f.other, want.scaled(c.f.otherFactor)}, {c.f.own, want}} {
		if err := p.rebind(s.to); err != nil {
			c.failf("rebind", "Rebind", "%v", err)
			return
		}
		for _, v := range p.variants {
			c.call("rebind", v, c.x, c.t, s.want)
		}
	}
}

// checkSamePoint calls the operator at x between calls of its origin at other points.
func (c *checker) checkSamePoint(p *prepared, want Results) {
	if p.at == nil {
		return
	}
	vs, err := p.at(append([]float64{}, c.x...))
	if err != nil {
		c.failf("same point", "At", "%v", err)
		return
	}
	for range 2 {
		for _, v := range vs {
			c.call("same point", v, c.x, c.t, want)
		}
		x3, t3 := c.thirdPoint(len(c.x))
		c.invoke("same point", p.variants[0], x3, t3)
	}
}

// checkResize changes the number of inputs, compares with new preparations, and changes it back. A function with a
// fixed number of outputs cannot be right at another size; its calls must return an error then.
func (c *checker) checkResize(sub subject, p *prepared, want Results) {
	n := len(c.x)
	if p.resize == nil || c.s.XShape.Number || n == 0 || c.x[0] != c.x[0] {
		return
	}
	if c.s.countedForm != nil { // the sizes that a function of Of accepts are not known
		return
	}
	fixed := c.s.fixed()
	for _, k := range []int{n + 2, n - 1} {
		if k < 2 {
			continue
		}
		x, t := c.thirdPoint(k)
		if fixed {
			if err := p.resize(x); err == nil && p.variants[0].start(new(outcome), x, t)() == nil {
				c.failf("resize", "Resize",
					"to %d inputs from %d: the function, with %d outputs, does not fit, but there is no error", k, n,
					c.s.M())
			}
		} else if err := p.resize(x); err != nil {
			c.failf("resize", "Resize", "to %d inputs from %d: %v", k, n, err)
		} else {
			for i, v := range p.variants {
				there, ok := c.expectedAt(sub, i, v, x, t)
				if o := c.invoke("resize", v, x, t); ok && o != nil {
					c.compareVariant("resize", v, o, x, t, there)
				}
			}
		}
		if err := p.resize(append([]float64{}, c.x...)); err != nil {
			c.failf("resize", "Resize", "back to %d inputs from %d: %v", n, k, err)
			return
		}
		for _, v := range p.variants {
			c.call("resize", v, c.x, c.t, want)
		}
	}
}

// checkLarge makes the checks that are affordable for many inputs.
func (c *checker) checkLarge(p *prepared, want Results) {
	x3, t3 := c.thirdPoint(len(c.x))
	for _, v := range p.variants {
		if !v.hot || v.scales != nil {
			continue
		}
		c.call("prepared", v, c.x, c.t, want)
		if o := c.invoke("third point", v, x3, t3); o != nil {
			c.compareVariant("third point", v, o, x3, t3, c.s.At(x3, t3))
		}
		c.call("back again", v, c.x, c.t, want)
	}
}

// checkBatch applies the operator to all tangents of the scenario in one call.
func (c *checker) checkBatch(p *prepared) {
	k := len(c.s.Tangents)
	if k < 2 || p.batch == nil {
		return
	}
	for _, how := range []destination{noDestination, filledDestination} {
		o, T := new(outcome), sideBySide(c.s.Tangents)
		if err := p.batch(o, how, c.x, T)(); err != nil {
			c.failf("batch", "", "error: %v\n\tx = %v", err, c.x)
			continue
		}
		got, want, tol := o.first.got(), c.s.First, c.o.Tol
		if c.s.secondOrder() {
			got, want, tol = o.second.got(), c.s.Second, c.o.SecondTol
		}
		if d := difference(got, transposed(want, k), tol, 0); d != "" {
			c.failf("batch", "", "of %d tangents is wrong: %s\n\tx = %v", k, d, c.x)
		}
	}
}

// checkSmallerPreparation prepares at half of x: calls at x must be refused, and be right after Resize. An in-place
// function may refuse the preparation.
func (c *checker) checkSmallerPreparation(want Results) {
	sub := subjectOf(c.s, c.b, c.f.f)
	half := c.s.prepX()
	p, err := sub.prepare(append([]float64{}, half...))
	if err != nil {
		if !c.s.InPlace {
			c.failf("prepare", "", "prepared at %v: %v", half, err)
		}
		return
	}
	var shape *nabla.ShapeError
	for _, v := range p.variants {
		err := v.start(new(outcome), append([]float64{}, c.x...), append([]float64{}, c.t...))()
		if !errors.As(err, &shape) {
			c.failf("smaller", v.name, "prepared for %d inputs and called with %d gives %v, want a *nabla.ShapeError",
				len(half), len(c.x), err)
		}
	}
	if err := p.resize(append([]float64{}, c.x...)); err != nil {
		c.failf("smaller", "Resize", "%v", err)
		return
	}
	for _, v := range p.variants {
		c.call("smaller", v, c.x, c.t, want)
	}
}

// checkAllocations requires that calls with destinations do not allocate, in the scenarios where that is possible:
// under a modifier, functions that are not in place allocate their output.
func (c *checker) checkAllocations(p *prepared) {
	if !c.o.AllocFree || c.brief && !c.s.InPlace {
		return
	}
	if c.s.Group != "allocfree" &&
		!(c.s.Group == "sparse" && p.plan != nil && p.plan() != nil && (c.s.InPlace || c.s.scalar())) {
		return
	}
	for _, v := range p.variants {
		if !v.hot {
			continue
		}
		run := v.start(new(outcome), append([]float64{}, c.x...), append([]float64{}, c.t...))
		var err error
		n := testing.AllocsPerRun(20, func() {
			if e := run(); e != nil {
				err = e
			}
		})
		switch {
		case err != nil:
			c.failf("allocation", v.name, "error: %v", err)
		case n > 0:
			c.failf("allocation", v.name, "%v allocations in each call, want none", n)
		}
	}
}
