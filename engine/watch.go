package engine

import (
	"fmt"
	"math"
)

// Watch compares the values that a prepared object computes by code made from a
// function with those of the function itself, at calls 1, 2, 4, 8, … The zero value
// is ready.
type Watch struct {
	calls      uint64
	suspicious bool // a comparison failed: from then on there is one at each call
	want, near []float64
	at         []float64
}

// Next reports whether the next call of f is one to compare.
func (w *Watch) Next(f *Function) bool {
	return (w.calls&(w.calls+1) == 0 || w.suspicious) && !f.policy.NoStaleCheck
}

// Due counts a call of f and reports whether it is one to compare.
func (w *Watch) Due(f *Function) bool {
	due := w.Next(f)
	w.calls++
	return due
}

// Check reports a value y at x that is not that of f: a *StaleCodeError, or what
// goes wrong when f is evaluated. Of a derived function the outputs are compared
// that come from the function itself.
func (w *Watch) Check(f *Function, y, x []float64) error {
	if w.want == nil {
		w.want, w.near = make([]float64, f.def.M), make([]float64, f.def.M)
		w.at = make([]float64, f.def.N)
	}
	want, err := f.comparable(w.want, x)
	if err != nil {
		return err
	}
	got := y[len(y)-len(want):]
	i := differs(got, want, nil)
	if i < 0 {
		return nil
	}
	// Where terms cancel the value is rounding and nothing else, and two ways to
	// compute it agree in no digit. Stale code is farther off than f moves when x
	// does by as much as is asked of the value.
	var slack []float64
	for _, turn := range [...]uint{0, 1} {
		for i, v := range x {
			w.at[i] = v * (1 + agreement)
			if uint(i)*2654435761>>7&1 != turn { // no direction in which f is likely constant
				w.at[i] = v * (1 - agreement)
			}
		}
		near, err := f.comparable(w.near, w.at)
		if err != nil {
			continue // f need not be defined there
		}
		if slack == nil {
			slack = make([]float64, len(want))
		}
		for i, v := range near {
			if d := math.Abs(v - want[i]); d > slack[i] && !math.IsInf(d, 1) {
				slack[i] = d
			}
		}
	}
	if i = differs(got, want, slack); i < 0 {
		return nil
	}
	w.suspicious = true
	return &StaleCodeError{Function: f.def.Name, Output: i + len(y) - len(want), Got: got[i], Want: want[i]}
}

// agreement is how far values by generated code may be from those of the function,
// relatively.
const agreement = 1e-9

// differs is the first element of got that is not that of want, or -1. NaN is equal
// to NaN.
func differs(got, want, slack []float64) int {
	for i, v := range want {
		g := got[i]
		if g == v || g != g && v != v {
			continue
		}
		tol := agreement*math.Abs(v) + 1e-300
		if slack != nil {
			tol = max(tol, slack[i])
		}
		if math.IsInf(v, 0) || !(math.Abs(g-v) <= tol) {
			return i
		}
	}
	return -1
}

// comparedOutputs is how many outputs, the last ones, a replay is compared by.
func (f *Function) comparedOutputs() int {
	if f.def.Checked > 0 {
		return f.def.Checked
	}
	return f.def.M
}

// comparable writes the outputs of f that a replay is compared by to y, computed by
// the function itself, and returns them.
func (f *Function) comparable(y, x []float64) ([]float64, error) {
	k := f.comparedOutputs()
	if f.def.checked != nil {
		return y[len(y)-k:], f.def.checked(y[len(y)-k:], x)
	}
	return y[len(y)-k:], f.Value(y, x)
}

// StaleCodeError says that generated code computes something else than the function
// it was generated from. It matches ErrStale.
type StaleCodeError struct {
	Function  string
	Output    int
	Got, Want float64 // by the generated code and by the function
}

func (e *StaleCodeError) Error() string {
	return fmt.Sprintf("nabla: the generated code of %s is out of date: output %d is %v and the function's %v; run "+
		"go tool nabla gen (or go generate) in its package, and build again",
		e.Function, e.Output, e.Got, e.Want)
}

// Is reports whether target is ErrStale.
func (e *StaleCodeError) Is(target error) bool { return target == ErrStale }
