package engine

import (
	"fmt"
	"math"

	"github.com/nabla-ad/nabla/internal/page"
	"github.com/nabla-ad/nabla/internal/recheck"
)

// Prepared objects compute by programs that were made from the function: recordings, which hold captured data as
// constants, and generated code, which is of the source at another time. Both are stale once they compute something
// else than the function. [Comparison] compares recordings with the function at points near those of the calls, and
// its Due, Agrees and constant between choose the calls and the points (comparison.go); [Watch] compares values of
// generated code. Both count calls by a [recheck.Schedule]. This file has Watch, the largest difference of values that
// count as equal (disagreement), and the errors of failed comparisons (StaleError, StaleCodeError).

// agreement is the largest relative difference of values that count as equal.
const agreement = 1e-9

// faintest is a difference that never counts: values about as small are not told apart.
const faintest = 1e-300

// A disagreement compares values of a program with those of the function.
type disagreement struct {
	at, near, slack []float64 // buffers
}

// first returns the index of the first element of got, computed by a program made from f, that is not that of want,
// computed by f itself at x, or -1. NaN equals NaN. The values are the last outputs of f; see Function.comparable.
//
// A recording of a function over Reals performs the same operations as the function. Code made from a plain function
// may fuse or reorder them, and where terms cancel, the value is rounding error alone, in which two ways to compute it
// have no digit in common. So such values may also differ by as much as f changes if x does by a relative agreement,
// which takes two evaluations of f, made only if the values differ otherwise.
func (d *disagreement) first(f *Function, got, want, x []float64) int {
	i := differs(got, want, nil)
	if sameOperations := f.def.Plain == nil && !f.def.TracedPlain && f.def.Generated == nil; i < 0 || sameOperations {
		return i
	}
	if d.near == nil {
		d.at, d.near, d.slack = make([]float64, f.def.N), make([]float64, f.def.M), make([]float64, f.def.M)
	}
	slack := d.slack[:len(want)]
	clear(slack)
	for _, turn := range [...]uint{0, 1} {
		for i, v := range x {
			d.at[i] = v * (1 + agreement)
			if uint(i)*2654435761>>7&1 != turn { // no direction in which f is likely constant
				d.at[i] = v * (1 - agreement)
			}
		}
		near, err := f.comparable(d.near, d.at)
		if err != nil {
			continue // f need not be defined there
		}
		for i, v := range near {
			if change := math.Abs(v - want[i]); change > slack[i] && !math.IsInf(change, 1) {
				slack[i] = change
			}
		}
	}
	return differs(got, want, slack)
}

// differs returns the index of the first element of got that is not that of want, or -1. Elements may be apart by a
// relative agreement and, unless it is nil, by slack.
func differs(got, want, slack []float64) int {
	for i, v := range want {
		g := got[i]
		if g == v || g != g && v != v {
			continue
		}
		tol := agreement*math.Abs(v) + faintest
		if slack != nil {
			tol = max(tol, slack[i])
		}
		if math.IsInf(v, 0) || !(math.Abs(g-v) <= tol) {
			return i
		}
	}
	return -1
}

// comparedOutputs returns the number of outputs, the last ones, that are compared. Of a derived function these are the
// outputs of the function it was derived from.
func (f *Function) comparedOutputs() int {
	if f.def.Checked > 0 {
		return f.def.Checked
	}
	return f.def.M
}

// comparable stores the outputs of f at x that are compared in the last elements of y, which has room for all outputs,
// and returns these elements. They are computed by the function itself.
func (f *Function) comparable(y, x []float64) ([]float64, error) {
	k := f.comparedOutputs()
	if f.def.checked != nil {
		return y[len(y)-k:], f.def.checked(y[len(y)-k:], x)
	}
	return y[len(y)-k:], f.Value(y, x)
}

// A Watch compares values that generated code computed with those of the function. The zero value is ready for use.
type Watch struct {
	schedule recheck.Schedule
	differ   disagreement
	want     []float64
	at, got  []float64 // a point near the last one, and the values of generated code there
}

// An Evaluator is generated code that is compared with its function.
type Evaluator interface {
	// Evaluate writes the outputs at x to y and reports whether the code has returned.
	Evaluate(y, x []float64) bool
}

// Next reports whether the next call of f is compared, without counting it. Due then returns the same.
func (w *Watch) Next(f *Function) bool {
	next := w.schedule
	next.Count()
	return next.Due() && !f.policy.NoStaleCheck
}

// Due counts a call of f and reports whether it is compared: calls 1, 2, 4, 8, …, all calls after Check has found a
// difference, and none if the policy forbids it. If it returns true, the caller
// then calls Check.
func (w *Watch) Due(f *Function) bool {
	w.schedule.Count()
	return w.schedule.Due() && !f.policy.NoStaleCheck
}

// Check returns a *[StaleCodeError] if y, computed at x, is not the value of f, or the error of evaluating f.
func (w *Watch) Check(f *Function, y, x []float64) error {
	if w.want == nil {
		w.want = make([]float64, f.def.M)
	}
	want, err := f.comparable(w.want, x)
	if err != nil {
		return err
	}
	got := y[len(y)-len(want):]
	i := w.differ.first(f, got, want, x)
	if i < 0 {
		return nil
	}
	w.schedule.Failed = true
	return &StaleCodeError{Function: f.def.Name, Output: i + len(y) - len(want), Got: got[i], Want: want[i]}
}

// CheckNear compares the code with f at a point near x, and returns a *[StaleCodeError] if they differ. A function and
// its older version often have the same value at a special point, such as 0 or a minimum, and other derivatives there.
// Where f has no value near x, nothing is compared.
func (w *Watch) CheckNear(f *Function, x []float64, code Evaluator) error {
	if w.at == nil {
		w.at, w.got = make([]float64, f.def.N), make([]float64, f.def.M)
	}
	h := uint64(w.schedule.Calls)
	for i, v := range x {
		h = h*6364136223846793005 + 1442695040888963407 // a random number for each coordinate and call
		d := float64(int64(h>>11)-1<<52) / (1 << 52) / 64
		if w.at[i] = v + d*v; v == 0 {
			w.at[i] = d
		}
	}
	want, err := f.comparable(w.want, w.at)
	if err != nil || !code.Evaluate(w.got, w.at) {
		return nil
	}
	got := w.got[len(w.got)-len(want):]
	i := w.differ.first(f, got, want, w.at)
	if i < 0 {
		return nil
	}
	w.schedule.Failed = true
	return &StaleCodeError{Function: f.def.Name, Output: i + len(w.got) - len(want), Got: got[i], Want: want[i]}
}

// StaleError reports that a recording no longer computes the function, because data that the function captures has
// changed. It matches ErrStale.
type StaleError struct {
	Function string
	// Unchecked is the number of calls directly before this one that may have returned results for the old data,
	// because they were not compared with the function, or by their values only.
	Unchecked int
	values    bool // the unchecked calls were compared by their values
}

func (e *StaleError) Error() string {
	s := fmt.Sprintf("nabla: function %s: %v", e.Function, ErrStale)
	if e.Unchecked == 0 {
		return page.Named("nabla.StaleError", s)
	}
	s += "; the call before this one"
	if e.Unchecked > 1 {
		s = fmt.Sprintf("nabla: function %s: %v; the last %d calls", e.Function, ErrStale, e.Unchecked)
	}
	switch {
	case e.values && e.Unchecked == 1:
		return page.Named("nabla.StaleError", s+" was compared by its value only, and its derivatives may be wrong")
	case e.values:
		return page.Named("nabla.StaleError",
			s+" were compared by their values only, and their derivatives may be wrong")
	case e.Unchecked == 1:
		return page.Named("nabla.StaleError", s+" was not compared, and may be wrong")
	}
	return page.Named("nabla.StaleError", s+" were not compared, and may be wrong")
}

// Is reports whether target is ErrStale.
func (e *StaleError) Is(target error) bool { return target == ErrStale }

// StaleCodeError reports that generated code computes something else than the function it was generated from. It
// matches ErrStale.
type StaleCodeError struct {
	Function  string
	Output    int
	Got, Want float64 // by the generated code and by the function
}

func (e *StaleCodeError) Error() string {
	return page.Namef("nabla.StaleCodeError",
		"nabla: the generated code of %s is out of date: output %d is %v and the function's %v; run "+
			"go tool nabla gen (or go generate) in its package, and build again",
		e.Function, e.Output, e.Got, e.Want)
}

// Is reports whether target is ErrStale.
func (e *StaleCodeError) Is(target error) bool { return target == ErrStale }
