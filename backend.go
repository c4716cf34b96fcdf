package nabla

import (
	"fmt"
	"reflect"

	"github.com/nabla-ad/nabla/engine"
)

// Backend is an engine with its settings: a value such as forwarddiff.Backend{}
// or reversediff.Backend{Compile: true}, or a composite of them.
type Backend = engine.Backend

// SecondOrder differentiates with Inner and then with Outer. First-order operators
// use Inner alone. Forward over reverse, SecondOrder{forwarddiff.Backend{},
// reversediff.Backend{Compile: true}}, is the best choice for most functions.
type SecondOrder struct{ Outer, Inner Backend }

// Name is the names of both, "outer over inner".
func (s SecondOrder) Name() string { return nameOf(s.Outer) + " over " + nameOf(s.Inner) }

// GuardPolicy says what a replay does where the function would take another branch
// than the one that was recorded.
type GuardPolicy uint8

const (
	// Retrace records the function again at the new point. Programs of branches
	// seen before are kept.
	Retrace GuardPolicy = iota
	// Fail returns ErrGuard, or a *StaleError wherever captured data has changed.
	Fail
)

// Policy is Backend with a say in how recordings are kept right, and in memory.
//
// Data that a function captures is not seen by guards. So a recording is compared with the
// function itself, evaluated over numbers without a trace: at every call if it is a
// function literal, a method value or anything else that may capture variables, and at
// calls 1, 2, 4, 8, … if it is a function at package level, which can only see package
// variables.
//
// A comparison at a point near x shows nearly every change. It is made where x is that of
// the last one, at calls 1, 2, 4, 8, …, and after 15 others of the recording; there it
// costs an evaluation, and a replay of the value where x is another one. In between, the
// value at x is compared, for an evaluation, as it is at every call if values may jump. A
// change that leaves the values at all these points alone, and the derivatives not, is found
// within 16 calls of the recording; at a kink, where the values nearby may be those of
// another piece, it may take some more.
//
// A change that is found is reported. With OnGuard: Fail it is always a *[StaleError].
// Otherwise the function is recorded again, as where a guard fails, which Recordings
// counts, and this call is right; where results of earlier calls may have been those of old
// data it returns a *[StaleError] all the same, with the number of calls in question.
// (Where the value at the call before this one shows that the data changed after it, there
// are none; this takes for granted that it changed once.) After a change every call is
// compared near its point, until the operator is prepared again.
type Policy struct {
	Backend Backend
	OnGuard GuardPolicy
	// FixedCaptures says that what the function captures does not change after the
	// operator is prepared: it is compared as one at package level.
	FixedCaptures bool
	// NoStaleCheck turns all comparisons off.
	NoStaleCheck bool
	// Memory is the number of bytes that a matrix which is allocated may take, or what
	// a sparse plan needs beside it; more is a *LimitError. 0 is the limit of the Go
	// runtime (GOMEMLIMIT) where that is set, and 8 GiB otherwise.
	Memory int64
}

// Name is that of the backend with the policy's settings that are not the default.
func (p Policy) Name() string {
	s := nameOf(p.Backend)
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
	if p.Memory != 0 {
		s += fmt.Sprintf("+memory=%d", p.Memory)
	}
	return s
}

func nameOf(b Backend) string {
	if b == nil || nilValue(b) {
		return "<nil>"
	}
	return b.Name()
}

// resolved is a backend with its composites taken apart.
type resolved struct {
	outer, inner Backend
	second       bool // outer and inner come from a SecondOrder
	mixed        bool // they come from a MixedMode: forward and reverse
	sparse       *AutoSparse
	policy       engine.Policy
}

// also makes p hold beside what holds already.
func (r *resolved) also(p engine.Policy) {
	r.policy.FailOnGuard = r.policy.FailOnGuard || p.FailOnGuard
	r.policy.NoStaleCheck = r.policy.NoStaleCheck || p.NoStaleCheck
	r.policy.FixedCaptures = r.policy.FixedCaptures || p.FixedCaptures
	if r.policy.Task == nil {
		r.policy.Task = p.Task
	}
	if p.Memory > 0 && (r.policy.Memory == 0 || p.Memory < r.policy.Memory) {
		r.policy.Memory = p.Memory
	}
}

func resolve(op string, b Backend) (resolved, error) {
	var r resolved
	within := "the backend"
	for {
		b = pointed(b)
		switch c := b.(type) {
		case nil:
			return r, &UnsupportedError{What: op + ": " + within + " is nil",
				Remedy: "pass an engine such as forwarddiff.Backend{}"}
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
			r.also(engine.Policy{FailOnGuard: c.OnGuard == Fail, NoStaleCheck: c.NoStaleCheck,
				FixedCaptures: c.FixedCaptures, Memory: c.Memory})
			b = c.Backend
			continue
		case Preparation:
			within = "Preparation.Backend"
			r.also(engine.Policy{Task: &engine.Task{Context: c.Context, Progress: c.Progress}})
			b = c.Backend
			continue
		case SecondOrder:
			if c.Outer == nil || c.Inner == nil {
				return r, half(op, b, "SecondOrder.Outer", c.Outer, "SecondOrder.Inner")
			}
			outer, err := resolve(op, c.Outer)
			if err != nil {
				return r, err
			}
			inner, err := resolve(op, c.Inner)
			if err != nil {
				return r, err
			}
			switch {
			case outer.second || inner.second:
				return r, &UnsupportedError{
					What:   fmt.Sprintf("%s: %s nests SecondOrder in SecondOrder", op, b.Name()),
					Remedy: "differentiate a function that uses nabla.GradientFunc for third order",
				}
			case outer.sparse != nil || inner.sparse != nil:
				return r, &UnsupportedError{
					What:   fmt.Sprintf("%s: %s has an AutoSparse inside of a SecondOrder", op, b.Name()),
					Remedy: "put it around: AutoSparse{Dense: SecondOrder{…}}",
				}
			case outer.mixed || inner.mixed:
				return r, &UnsupportedError{
					What:   fmt.Sprintf("%s: %s has a MixedMode inside of a SecondOrder", op, b.Name()),
					Remedy: "a MixedMode is one already: Forward over Reverse",
				}
			}
			r.outer, r.inner, r.second = outer.outer, inner.inner, true
			r.also(outer.policy)
			r.also(inner.policy)
			return r, nil
		case AutoSparse:
			if r.sparse != nil {
				return r, &UnsupportedError{What: op + ": an AutoSparse inside of an AutoSparse", Remedy: "use one"}
			}
			within = "AutoSparse.Dense"
			r.sparse, b = &c, c.Dense
			continue
		case MixedMode:
			if c.Forward == nil || c.Reverse == nil {
				return r, half(op, b, "MixedMode.Forward", c.Forward, "MixedMode.Reverse")
			}
			forward, err := resolve(op, c.Forward)
			if err != nil {
				return r, err
			}
			reverse, err := resolve(op, c.Reverse)
			if err != nil {
				return r, err
			}
			for _, one := range []resolved{forward, reverse} {
				if one.second || one.mixed || one.sparse != nil {
					return r, &UnsupportedError{
						What:   fmt.Sprintf("%s: %s has a composite inside of a MixedMode", op, b.Name()),
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
			return r, nil
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

// half is the error for a composite of two of which one is nil.
func half(op string, b Backend, first string, c Backend, second string) error {
	if c == nil {
		second = first
	}
	return &UnsupportedError{What: fmt.Sprintf("%s: %s of %s is nil", op, second, b.Name()),
		Remedy: "set it to an engine such as forwarddiff.Backend{}"}
}

// pointed is b, or the composite that it points to.
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

// nilValue reports whether b is a nil pointer to a backend whose methods are those
// of its value, so that calling one panics.
func nilValue(b Backend) bool {
	v := reflect.ValueOf(b)
	return v.Kind() == reflect.Pointer && v.IsNil() && v.Type().Elem().Implements(reflect.TypeFor[Backend]())
}

// once is b for an operator of first order that is asked for a single time.
func once(b Backend) Backend {
	switch c := pointed(b).(type) {
	case Policy:
		c.Backend = once(c.Backend)
		return c
	case Preparation:
		c.Backend = once(c.Backend)
		return c
	case SecondOrder:
		c.Inner = once(c.Inner)
		return c
	case AutoSparse:
		c.Dense = once(c.Dense)
		return c
	case MixedMode:
		c.Forward, c.Reverse = once(c.Forward), once(c.Reverse)
		return c
	case engine.OneShotter:
		if !nilValue(b) {
			return c.OneShot()
		}
	}
	return b
}
