// Package longtest says how long tests may take.
//
//	go test -short ./...       # what the race detector runs: no test builds programs
//	go test ./...              # a sample of everything, in two minutes
//	NABLA_LONG=1 go test ./... # what hunts: many random programs, whole libraries, all combinations of options
//
// A claim has a test in the second form that fails where the claim is broken; the third looks for mistakes that nobody
// thought
// of. Tests ask while they run and not before, so that the go command knows that a result depends on the variable, and
// does not
// take a cached one.
package longtest

import (
	"os"
	"runtime/debug"
	"testing"
)

// Variable is the environment variable that asks for the long form. Empty or 0 is none.
const Variable = "NABLA_LONG"

// Long reports whether tests hunt.
func Long() bool {
	v := os.Getenv(Variable)
	return v != "" && v != "0" && !testing.Short()
}

// Skip skips a test that only hunts.
func Skip(t testing.TB, reason string) {
	t.Helper()
	if !Long() {
		t.Skipf("%s; %s=1 asks for it", reason, Variable)
	}
}

// Cases returns how many cases a test looks at: given if it is not 0, as by a flag of the test, otherwise few, usual or
// many.
func Cases(given, few, usual, many int) int {
	switch {
	case given != 0:
		return given
	case testing.Short():
		return few
	case Long():
		return many
	}
	return usual
}

// Sample returns all of list in the long form, otherwise n elements of it at even distances.
func Sample[T any](list []T, n int) []T {
	if Long() || n >= len(list) {
		return list
	}
	sample := make([]T, n)
	for i := range sample {
		sample[i] = list[(2*i+1)*len(list)/(2*n)]
	}
	return sample
}

// Main is the TestMain of a package most of whose memory lives as long as a test, such as what packages are loaded to:
// it
// collects garbage seldom, unless GOGC says how often.
func Main(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
