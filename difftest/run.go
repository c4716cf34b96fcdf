package difftest

import (
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/engine"
)

// Options configures Run. The zero value, and nil, ask of an engine that it be
// exact and support everything.
type Options struct {
	// Skip leaves out the scenarios whose name begins with a key. The value says
	// why, and is shown.
	Skip map[string]string

	// Tol is the relative tolerance for first derivatives: a component may be off
	// by Tol times its size and by Tol/1000 times the size of the largest, or by
	// Tol where all are zero. Zero means 1e-12, for an engine without truncation
	// error.
	Tol float64

	// SecondTol is Tol for second derivatives and the first derivatives that come
	// with them. The value of the function counts among the sizes of second
	// derivatives. Zero means Tol.
	SecondTol float64

	// NoFirstOrder leaves out the operators of first order, for a
	// nabla.SecondOrder whose parts are tested on their own.
	NoFirstOrder bool

	// NoSecondOrder leaves out SecondDerivative, HVP and Hessian.
	NoSecondOrder bool

	// AllocFree asks for no allocation by prepared calls with given destinations.
	AllocFree bool

	// Plain passes functions over float64 in place of functions over nabla.Real,
	// for engines that need values only.
	Plain bool

	// Function gives the functions of scenarios in place of the kit's own, to engines
	// that do not take functions in general, such as those for generated code; package
	// difftest/coded has one. A scenario for which it gives nil is skipped, as are the
	// checks whose functions are made where they run.
	Function func(s *Scenario) *Function

	// Scenarios are run in place of the catalogue: a part of it, modified or not,
	// or one's own. No modifiers are added.
	Scenarios []Scenario

	// NoModifiers leaves out the scenarios with a modifier.
	NoModifiers bool

	// Calls says how often the engine evaluates a function of n inputs and m outputs,
	// and whether that is known. Nil counts nothing.
	Calls func(operator string, n, m int) (Calls, bool)

	short bool // leaves out what takes long
}

// A Function is the function of a scenario in another form.
type Function struct {
	// F is one of the types that operators take.
	F any
	// Before and After set what F reads besides x, Context by Context, to that of Prep and
	// to that of Run; nil where there is nothing.
	Before, After func()
	// Own is the struct that is bound and Other one for a Rebind, at that of Other. Nil where
	// none is bound.
	Own, Other any
	// Shared says that clones must not run in parallel, as they write to one struct.
	Shared bool
}

// exactTol is the tolerance for engines without truncation error. The worst of
// the catalogue, a Hessian with entries of 1e3 to 1e8, loses three digits.
const exactTol = 1e-12

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

// Reporter is what the kit needs of a *testing.T. Skipf may return.
type Reporter interface {
	Errorf(format string, args ...any)
	Skipf(format string, args ...any)
	Run(name string, f func(Reporter))
}

// Run checks that b is a correct backend, one subtest for each scenario. With
// go test -short it leaves out the modifiers and what has many inputs.
func Run(t *testing.T, b nabla.Backend, o *Options) {
	t.Helper()
	opts := o.resolved()
	opts.short = testing.Short()
	opts.NoModifiers = opts.NoModifiers || opts.short
	Check(tested{t}, b, &opts)
}

// Check is Run with a reporter of the caller's, for use outside of a test. Counting
// allocations needs package testing to run alone: no other goroutine may allocate.
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

// job is one subtest.
type job struct {
	name string
	run  func(c *checker)
}

// jobs are the subtests that o asks for of b.
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
		s = s.measured()
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
		if s.light && (o.short || s.twin) { // the light checks are the same for both twins
			continue
		}
		add(s)
		if o.NoModifiers || s.twin || s.light || s.Group == "behaviour" {
			continue
		}
		for _, m := range modifiers {
			if m.fits == nil || m.fits(&s) {
				add(m.apply(s))
			}
		}
	}
	if !o.NoFirstOrder {
		js = append(js, failures()...)
		js = append(js, misuses()...)
	}
	return append(js, callCounts(o)...)
}

// fits reports whether s is a fair thing to ask of b: not a derivative of its own
// differences, and not one of many inputs by the dearer mode.
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

// tested reports to a *testing.T.
type tested struct{ t *testing.T }

func (r tested) Errorf(format string, args ...any) { r.t.Helper(); r.t.Errorf(format, args...) }
func (r tested) Skipf(format string, args ...any)  { r.t.Helper(); r.t.Skipf(format, args...) }
func (r tested) Run(name string, f func(Reporter)) {
	r.t.Helper()
	r.t.Run(name, func(t *testing.T) { f(tested{t}) })
}
