package nabla

import (
	"fmt"
	"reflect"

	"github.com/nabla-ad/nabla/engine"
)

// Backend is an engine with its settings: a value such as forwarddiff.Backend{} or
// reversediff.Backend{Compile: true}, or a composite of engines such as [SecondOrder] or
// [AutoSparse]. Nil is [Auto].
type Backend = engine.Backend

// SecondOrder differentiates with Inner and the result with Outer. First-order operators use Inner
// alone. Forward over reverse, SecondOrder{forwarddiff.Backend{}, reversediff.Backend{Compile:
// true}}, is the best choice for most functions.
type SecondOrder struct{ Outer, Inner Backend }

// Name returns "outer over inner", with the names of the two backends, in parentheses if they are
// such pairs themselves.
func (s SecondOrder) Name() string { return operandName(s.Outer) + " over " + operandName(s.Inner) }

// operandName returns the name of b, in parentheses if it is a SecondOrder.
func operandName(b Backend) string {
	switch c := pointed(b).(type) {
	case Preparation:
		return operandName(c.Backend)
	case Policy:
		if c.settings() == "" {
			return operandName(c.Backend)
		}
	case SecondOrder:
		return "(" + c.Name() + ")"
	}
	return nameOf(b)
}

// GuardPolicy selects the reaction of a replay to a failed guard: at the new point the function
// would take another branch than the recorded one.
type GuardPolicy uint8

const (
	// Retrace records the function again at the new point. Programs of branches seen before are
	// kept.
	Retrace GuardPolicy = iota
	// Fail returns ErrGuard, or a *StaleError if captured data has changed.
	Fail
)

// Policy is Backend with settings for the validity of recordings and a limit on memory.
//
// Guards do not see data that a function captures. A recording is therefore compared with the
// function itself, evaluated over untraced numbers: at every call if the function is a function
// literal, a method value or anything else that may capture variables, and at calls 1, 2, 4, 8, …
// if it is a function at package level, which can only read package variables.
//
// Nearly every change shows in a comparison at a point near x. Such a comparison is made if x
// equals the point of the last one, at calls 1, 2, 4, 8, …, and after 15 other calls of the
// recording. It costs an evaluation of the function, and a replay of the value if x has changed. At
// the calls between, the value at x is compared, which costs an evaluation; so it is at every call
// if values may jump. A change that alters the derivatives but none of the values at these points
// is found within 16 calls of the recording. It may take a few more calls at a kink, where the
// values nearby may belong to another piece of the function.
//
// A detected change is reported. With OnGuard: Fail the call always returns a *[StaleError].
// Otherwise the function is recorded again, as after a failed guard, which Recordings counts, and
// the result of this call is correct. If earlier calls may have returned results for the old data,
// the call returns a *[StaleError] nevertheless, with the number of calls in question. (There are
// none if the value at the preceding call shows that the data changed after it; this assumes that
// it changed once.) After a change every call is compared near its point, until the operator is
// prepared again.
type Policy struct {
	Backend Backend
	OnGuard GuardPolicy
	// FixedCaptures states that the data captured by the function does not change after the
	// operator is prepared. The function is then compared as seldom as one at package level.
	FixedCaptures bool
	// NoStaleCheck disables all comparisons.
	NoStaleCheck bool
	// Interpret runs recordings in the interpreter where they would be compiled to machine code.
	// Results are the same, bit for bit.
	Interpret bool
	// Workers is the number of goroutines that divide the sweeps of a dense Jacobian or Hessian, or
	// the products of an [AutoSparse], where that is worth it: a call whose sweeps take less than 0.2
	// milliseconds on one goroutine has one. Each has its own prepared engine; f must be safe for
	// concurrent calls. Other derivatives by recordings that are compiled divide the iterations of
	// their loops, where that is estimated to save a fifth of the time, and a quarter of a
	// millisecond. 0 means 1. Engines and composites with Workers of their own take the larger number.
	Workers int
	// Memory is the largest number of bytes that an allocated matrix, or the additional memory of a
	// sparse plan, may take; a larger request is a *LimitError. 0 selects the memory limit of the
	// Go runtime (GOMEMLIMIT) if it is set, and 8 GiB otherwise.
	Memory int64
}

// Name returns the name of the backend, in parentheses if that is a SecondOrder or ends in settings
// of a Policy, followed by the settings that differ from the default.
func (p Policy) Name() string {
	settings := p.settings()
	if settings == "" {
		return nameOf(p.Backend)
	}
	name := operandName(p.Backend)
	if q, ok := pointed(p.Backend).(Policy); ok && q.settings() != "" {
		name = "(" + name + ")"
	}
	return name + settings
}

// settings returns the settings that differ from the default.
func (p Policy) settings() (s string) {
	switch {
	case p.OnGuard == Fail:
		s += "+fail"
	case p.OnGuard > Fail:
		s += fmt.Sprintf("+onguard=%d", p.OnGuard)
	}
	if p.FixedCaptures {
		s += "+fixedcaptures"
	}
	if p.NoStaleCheck {
		s += "+nostalecheck"
	}
	if p.Interpret {
		s += "+interpret"
	}
	if p.Workers != 0 {
		s += fmt.Sprintf("+workers=%d", p.Workers)
	}
	if p.Memory != 0 {
		s += fmt.Sprintf("+memory=%d", p.Memory)
	}
	return s
}

// nameOf returns the name of b, "<nil>" for a pointer that is nil.
func nameOf(b Backend) string {
	switch {
	case b == nil:
		return Auto{}.Name()
	case nilValue(b):
		return "<nil>"
	}
	return b.Name()
}

// A resolved is a backend without its composites: the engines, and the settings of all composites
// around them.
type resolved struct {
	outer, inner Backend
	second       bool // outer and inner come from a SecondOrder
	mixed        bool // outer and inner are the Forward and the Reverse of a MixedMode
	sparse       *AutoSparse
	policy       engine.Policy
}

// also merges p into r.policy. Switches that are set in either are set; of two memory limits the
// smaller one holds, of two numbers of workers the larger one, and of two tasks the outer one.
func (r *resolved) also(p engine.Policy) {
	r.policy.FailOnGuard = r.policy.FailOnGuard || p.FailOnGuard
	r.policy.NoStaleCheck = r.policy.NoStaleCheck || p.NoStaleCheck
	r.policy.FixedCaptures = r.policy.FixedCaptures || p.FixedCaptures
	r.policy.Interpret = r.policy.Interpret || p.Interpret
	r.policy.Workers = max(r.policy.Workers, p.Workers)
	if r.policy.Task == nil {
		r.policy.Task = p.Task
	}
	if p.Memory > 0 && (r.policy.Memory == 0 || p.Memory < r.policy.Memory) {
		r.policy.Memory = p.Memory
	}
}

// resolve takes the composites off b, which has no Auto in it. op names the operator in errors.
func resolve(op string, b Backend) (resolved, error) {
	var r resolved
	within := "the backend"
	for {
		b = pointed(b)
		switch c := b.(type) {
		case Policy:
			within = "Policy.Backend"
			if c.OnGuard > Fail {
				return r, &UnsupportedError{
					What:   fmt.Sprintf("%s: Policy.OnGuard is %d", op, c.OnGuard),
					Remedy: "use nabla.Retrace or nabla.Fail",
				}
			}
			if c.Memory < 0 {
				return r, &UnsupportedError{What: fmt.Sprintf("%s: Policy.Memory is %d", op, c.Memory),
					Remedy: "use a number of bytes; 0 is the default"}
			}
			if c.Workers < 0 {
				return r, &UnsupportedError{What: fmt.Sprintf("%s: Policy.Workers is %d", op, c.Workers),
					Remedy: "use a number of goroutines; 0 means 1"}
			}
			r.also(engine.Policy{FailOnGuard: c.OnGuard == Fail, NoStaleCheck: c.NoStaleCheck,
				FixedCaptures: c.FixedCaptures, Interpret: c.Interpret, Workers: c.Workers, Memory: c.Memory})
			b = c.Backend
			continue
		case Preparation:
			within = "Preparation.Backend"
			r.also(engine.Policy{Task: &engine.Task{Context: c.Context, Progress: c.Progress}})
			b = c.Backend
			continue
		case SecondOrder:
			err := r.addSecondOrder(op, c)
			return r, err
		case AutoSparse:
			if r.sparse != nil {
				return r, &UnsupportedError{What: op + ": an AutoSparse inside of an AutoSparse", Remedy: "use one"}
			}
			within = "AutoSparse.Dense"
			r.sparse, b = &c, c.Dense
			continue
		case MixedMode:
			err := r.addMixedMode(op, c)
			return r, err
		}
		if nilValue(b) {
			return r, &UnsupportedError{What: fmt.Sprintf("%s: %s is nil (a %T)", op, within, b),
				Remedy: "pass an engine such as forwarddiff.Backend{}"}
		}
		if l, ok := b.(engine.Limiter); ok && l.RecordLimit() < 0 {
			return r, &UnsupportedError{
				What:   fmt.Sprintf("%s: %s has a Limit of %d", op, b.Name(), l.RecordLimit()),
				Remedy: "use the number of operations that a recording may have; 0 is the default",
			}
		}
		r.outer, r.inner = b, b
		return r, nil
	}
}

// addSecondOrder adds the engines of c, and their policies, to r.
func (r *resolved) addSecondOrder(op string, c SecondOrder) error {
	outer, err := resolve(op, c.Outer)
	if err != nil {
		return err
	}
	inner, err := resolve(op, c.Inner)
	if err != nil {
		return err
	}
	switch {
	case outer.second || inner.second:
		return &UnsupportedError{
			What:   fmt.Sprintf("%s: %s nests SecondOrder in SecondOrder", op, c.Name()),
			Remedy: "differentiate a function that uses nabla.GradientFunc for third order",
		}
	case outer.sparse != nil || inner.sparse != nil:
		return &UnsupportedError{
			What:   fmt.Sprintf("%s: %s has an AutoSparse inside of a SecondOrder", op, c.Name()),
			Remedy: "put it around: AutoSparse{Dense: SecondOrder{…}}",
		}
	case outer.mixed || inner.mixed:
		return &UnsupportedError{
			What:   fmt.Sprintf("%s: %s has a MixedMode inside of a SecondOrder", op, c.Name()),
			Remedy: "a MixedMode is one already: Forward over Reverse",
		}
	}
	r.outer, r.inner, r.second = outer.outer, inner.inner, true
	r.also(outer.policy)
	r.also(inner.policy)
	return nil
}

// addMixedMode adds the engines of c, and their policies, to r.
func (r *resolved) addMixedMode(op string, c MixedMode) error {
	forward, err := resolve(op, c.Forward)
	if err != nil {
		return err
	}
	reverse, err := resolve(op, c.Reverse)
	if err != nil {
		return err
	}
	for _, one := range []resolved{forward, reverse} {
		if one.second || one.mixed || one.sparse != nil {
			return &UnsupportedError{
				What:   fmt.Sprintf("%s: %s has a composite inside of a MixedMode", op, c.Name()),
				Remedy: "use an engine for each of Forward and Reverse",
			}
		}
	}
	r.outer, r.inner, r.mixed = forward.inner, reverse.inner, true
	r.also(forward.policy)
	r.also(reverse.policy)
	switch op {
	case "Pushforward", "Derivative", "CurveDerivative":
		r.inner = r.outer
	}
	return nil
}

// pointed returns the composite that b points to, or b itself if it is no pointer to a composite.
func pointed(b Backend) Backend {
	switch c := b.(type) {
	case *Policy:
		if c != nil {
			return *c
		}
	case *Preparation:
		if c != nil {
			return *c
		}
	case *SecondOrder:
		if c != nil {
			return *c
		}
	case *AutoSparse:
		if c != nil {
			return *c
		}
	case *MixedMode:
		if c != nil {
			return *c
		}
	}
	return b
}

// nilValue reports whether b is a nil pointer to a type that implements Backend by value, so that
// calling a method of b panics.
func nilValue(b Backend) bool {
	v := reflect.ValueOf(b)
	return v.Kind() == reflect.Pointer && v.IsNil() && v.Type().Elem().Implements(reflect.TypeFor[Backend]())
}
