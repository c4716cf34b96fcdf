// Package longtest determines how long tests take.
//
//	go test -short ./...       # under the race detector: no test builds programs
//	go test ./...              # a sample of everything, in a few minutes
//	NABLA_LONG=1 go test ./... # all: many random programs, whole libraries, all combinations of options
//
// Where all combinations would take minutes, the long form has a part of them, which the number selects, so that runs
// with consecutive numbers have all; NABLA_LONG=all has all at once.
//
// Most claims have a test in the second form that fails if the claim is broken. What generates code many times or
// compiles much of it, and the search for unknown mistakes, belong to the third, which the gate runs. Tests read the
// variable while they run, not in initialisers, so that the go command does not use a cached result for another length.
package longtest

import (
	"os"
	"runtime/debug"
	"strconv"
	"testing"
)

// Variable is the environment variable that selects the long form, unless it is empty or 0.
const Variable = "NABLA_LONG"

// Long reports whether the long form is selected.
func Long() bool {
	v := os.Getenv(Variable)
	return v != "" && v != "0" && !testing.Short()
}

// Skip skips a test that belongs to the long form, unless that is selected.
func Skip(t testing.TB, reason string) {
	t.Helper()
	if !Long() {
		t.Skipf("%s; %s=1 asks for it", reason, Variable)
	}
}

// Serial skips a test in the short form, since neither the test nor the code that it runs starts goroutines that share
// memory: there is no race to detect.
func Serial(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts no goroutine")
	}
}

// Cases returns the number of cases of a test: given if it is not 0, as by a flag of the test, otherwise few with
// -short, usual, or many in the long form.
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

// Sample returns all of list in the long form, otherwise n elements of it at equal distances.
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

// Part returns each of-th element of list in the long form, beginning with one that the number in NABLA_LONG selects,
// and all of them if it is no number. In the other forms it is Sample.
func Part[T any](list []T, n, of int) []T {
	number, err := strconv.ParseUint(os.Getenv(Variable), 10, 64)
	if !Long() || err != nil {
		return Sample(list, n)
	}
	var part []T
	for i := int(number % uint64(of)); i < len(list); i += of {
		part = append(part, list[i])
	}
	return part
}

// Main is the TestMain of a package that allocates much, or whose memory mostly lives as long as the test, such as
// loaded packages: it makes garbage collections rare up to 3 GiB of memory, unless GOGC is set.
func Main(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(3 << 30)
	}
	os.Exit(m.Run())
}
