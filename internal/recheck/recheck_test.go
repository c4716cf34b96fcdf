package recheck_test

import (
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/internal/recheck"
)

// TestSchedule: calls 1, 2, 4, 8, … are checked and, once a check has failed, all calls.
func TestSchedule(t *testing.T) {
	var s recheck.Schedule
	var due []int
	for call := range 70 {
		if s.Count(); s.Due() {
			due = append(due, call+1)
		}
	}
	if want := []int{1, 2, 4, 8, 16, 32, 64}; !slices.Equal(due, want) {
		t.Errorf("calls %v are checked, want %v", due, want)
	}
	s.Failed = true
	for range 10 {
		if s.Count(); !s.Due() || s.PowerOfTwo() {
			t.Errorf("call %d: after a failed check due is %v, want true; a power of two is %v, want false", s.Calls,
				s.Due(), s.PowerOfTwo())
		}
	}
}
