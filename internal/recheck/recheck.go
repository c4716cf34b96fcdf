// Package recheck chooses the calls of a prepared object in which its results are checked.
//
// A prepared object relies on facts that were found when it was prepared: a recording computes the function, generated
// code is of the same source, a sparsity pattern has all entries. A check in every call would cost as much as the call.
// The input of a [Schedule] is a count of calls and the failure of a check; the output is whether the current call is
// checked.
package recheck

// A Schedule chooses calls 1, 2, 4, 8, …, so that the cost of checks vanishes in the long run, and all calls after a
// check has failed. The zero value is at the start.
type Schedule struct {
	Calls  int  // calls counted so far
	Failed bool // a check has failed
}

// Count counts a call.
func (s *Schedule) Count() { s.Calls++ }

// Due reports whether the call counted last is checked.
func (s *Schedule) Due() bool { return s.Failed || s.PowerOfTwo() }

// PowerOfTwo reports whether the call counted last is one of 1, 2, 4, 8, …
func (s *Schedule) PowerOfTwo() bool { return s.Calls&(s.Calls-1) == 0 }
