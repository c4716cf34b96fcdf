package difftest

import (
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/engine"
)

// Options configures Run. Nil and the zero value require that the engine is exact and supports all operators.
type Options struct {
	// Skip leaves out scenarios whose name begins with a key. The value is the reported reason.
	Skip map[string]string

	// Tol is the relative tolerance for first derivatives: a component may be off by Tol times its size and by Tol/1000
	// times the size of the largest, or by Tol if all are zero. Zero means 1e-12, for an engine without truncation
	// error.
	Tol float64

	// SecondTol is the tolerance for second derivatives and the first derivatives that are returned with them. The
	// value of the function counts among the sizes of second derivatives. Zero means Tol.
	SecondTol float64

	// NoFirstOrder leaves out the operators of first order, for a nabla.SecondOrder whose parts are tested separately.
	NoFirstOrder bool

	// NoSecondOrder leaves out SecondDerivative, HVP and Hessian.
	NoSecondOrder bool

	// NoBranches requires that functions that compare numbers are refused in preparation and in calls without one,
	// with a *sparsity.BranchError that names the line and matches nabla.ErrUnsupported.
	NoBranches bool

	// AllocFree requires that prepared calls with given destinations do not allocate.
	AllocFree bool

	// Plain passes functions over float64 instead of functions over nabla.Real, for engines that need values only.
	Plain bool

	// Function returns the functions of scenarios for engines that accept only certain functions, such as those for
	// generated code; package difftest/coded has one. A scenario for which it returns nil is skipped, and so are the
	// checks that create functions.
	Function func(s *Scenario) *Function

	// Scenarios replaces the catalogue: a part of it, modified or not, or other scenarios. No modifiers are added.
	Scenarios []Scenario

	// NoModifiers leaves out the scenarios with a modifier.
	NoModifiers bool

	// Calls returns how often the engine evaluates a function of n inputs and m outputs, and whether that is known. Nil
	// disables the check.
	Calls func(operator string, n, m int) (Calls, bool)

	short bool // leaves out slow checks
}

// A Function is the function of a scenario as [Options.Function] supplies it.
type Function struct {
	// F is one of the types that operators take.
	F any
	// Before and After set the data that F reads besides x, one part per Context, to its state in preparation and in
	// calls; nil if there is none.
	Before, After func()
	// Own is the bound struct, and Other another one for a Rebind, whose data is that of Context.Other. Nil if none is
	// bound.
	Own, Other any
	// Shared is set if clones must not run in parallel, since they write to one struct.
	Shared bool
}

// exactTol is the tolerance for engines without truncation error. The least accurate result of the catalogue, a Hessian
// with entries of 1e3 to 1e8, loses three digits.
const exactTol = 1e-12

// resolved returns the options with defaults filled in; o may be nil.
func (o *Options) resolved() Options {
	var r Options
	if o != nil {
		r = *o
	}
	if r.Tol == 0 {
		r.Tol = exactTol
	}
	if r.SecondTol == 0 {
		r.SecondTol = r.Tol
	}
	return r
}

// Reporter is the part of *testing.T that the kit uses. Skipf may return.
type Reporter interface {
	Errorf(format string, args ...any)
	Skipf(format string, args ...any)
	Run(name string, f func(Reporter))
}

// Run checks that b is a correct backend, with one subtest for each scenario. With go test -short it leaves out the
// modifiers and scenarios with many inputs.
func Run(t *testing.T, b nabla.Backend, o *Options) {
	t.Helper()
	opts := o.resolved()
	opts.short = testing.Short()
	opts.NoModifiers = opts.NoModifiers || opts.short
	Check(testReporter{t}, b, &opts)
}

// Check is Run with another reporter, for use outside of tests. Allocations are counted by package testing, so that no
// other goroutine may allocate meanwhile.
func Check(r Reporter, b nabla.Backend, o *Options) {
	opts := o.resolved()
	for _, j := range jobs(b, &opts) {
		r.Run(j.name, func(r Reporter) {
			for prefix, reason := range opts.Skip {
				if strings.HasPrefix(j.name, prefix) {
					r.Skipf("%s", reason)
					return
				}
			}
			j.run(&checker{r: r, b: b, o: &opts, scenario: j.name})
		})
	}
}

// A job is one subtest.
type job struct {
	name string
	run  func(c *checker)
}

// jobs returns the subtests of b with options o.
func jobs(b nabla.Backend, o *Options) []job {
	var js []job
	wanted := func(operator string) bool {
		switch operator {
		case "second_derivative", "hvp", "hessian":
			return !o.NoSecondOrder
		}
		return !o.NoFirstOrder
	}
	add := func(s Scenario) {
		s = s.withOutputs()
		if wanted(s.Operator) && fits(&s, b, o) {
			js = append(js, job{s.Name, func(c *checker) { c.run(&s) }})
		}
	}
	if o.Scenarios != nil {
		for _, s := range o.Scenarios {
			add(s)
		}
		return js
	}
	for _, s := range catalogue {
		if s.light && (o.short || s.hasInForm) { // light checks do not differ between the two forms of results
			continue
		}
		add(s)
		if o.NoModifiers || s.hasInForm || s.light || s.Group == "behaviour" {
			continue
		}
		for _, m := range modifiers {
			if m.fits == nil || m.fits(&s) {
				add(m.apply(s))
			}
		}
	}
	if !o.NoFirstOrder {
		js = append(js, failureJobs()...)
		js = append(js, misuseJobs()...)
	}
	return append(js, callCountJobs(o)...)
}

// fits reports whether b can pass s: not if s differentiates differences again, nor if s has many inputs and b lacks
// the mode that is cheap for it.
func fits(s *Scenario, b nabla.Backend, o *Options) bool {
	if s.OnBackend != nil && max(o.Tol, o.SecondTol) > exactTol {
		return false
	}
	if len(s.X) < largeSize {
		return true
	}
	if c, ok := b.(nabla.Policy); ok {
		b = c.Backend
	}
	if s.Operator == "pushforward" {
		_, ok := b.(engine.Pusher)
		return ok
	}
	_, ok := b.(engine.Puller)
	return ok
}

// A testReporter reports to a *testing.T.
type testReporter struct{ t *testing.T }

func (r testReporter) Errorf(format string, args ...any) { r.t.Helper(); r.t.Errorf(format, args...) }
func (r testReporter) Skipf(format string, args ...any)  { r.t.Helper(); r.t.Skipf(format, args...) }
func (r testReporter) Run(name string, f func(Reporter)) {
	r.t.Helper()
	r.t.Run(name, func(t *testing.T) { f(testReporter{t}) })
}
