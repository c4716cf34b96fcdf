package export_test

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/rules"
)

var (
	programs  = flag.Int("programs", 0, "`number` of random programs of TestHunt and TestLoopsAgree; 0 for the usual")
	firstSeed = flag.Uint64("seed", 0, "`seed` of the first random program")
)

// built is the number of random programs that TestHunt compiles together.
const built = 250

// TestHunt exports random programs as Go, C and JSON, compiles them, and compares what they compute with machines:
//
//	go test ./program/export -run TestHunt -v -timeout 0 -programs 100000 -seed 1
func TestHunt(t *testing.T) {
	if *programs == 0 {
		longtest.Skip(t, "compiles thousands of programs")
	}
	n := longtest.Cases(*programs, 0, 0, built)
	// The sign of a NaN, which copysign reads, is that which the processor or the compiler gives it.
	without := func(list []rules.Op) []rules.Op {
		return slices.DeleteFunc(slices.Clone(list), func(op rules.Op) bool { return op == rules.Copysign })
	}
	inGo, inC := without(all), without(exact)
	defer func(level string) { optimisation = level }(optimisation)
	start := time.Now()
	evaluations, failed := 0, 0
	for first := 0; first < n; first += built {
		if optimisation = "-O1"; first/built%4 > 0 {
			optimisation = "-O0"
		}
		for _, g := range targets {
			ops := inGo
			if g.name == "c" {
				ops = inC
			}
			var jobs []job
			for k := range min(built, n-first) {
				list := randomJobs(t, *firstSeed+uint64(first+k), ops)
				for _, j := range list {
					checkJSON(t, j.p)
				}
				jobs = append(jobs, list...)
			}
			e, f := compareAll(t, g, jobs, sameBits)
			evaluations, failed = evaluations+e, failed+f
			if t.Failed() {
				return
			}
		}
		if done := first + built; done%(10*built) == 0 && done < n {
			t.Logf("%d of %d programs agree, %v", done, n, time.Since(start).Round(time.Second))
		}
	}
	t.Logf("%d programs from seed %d, each as it is and scheduled, as Go, C and JSON: %d evaluations agree, a guard "+
		"fails in %d of them; %v", n, *firstSeed, evaluations, failed, time.Since(start).Round(time.Second))
}
