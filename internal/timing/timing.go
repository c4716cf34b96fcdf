// Package timing times several functions in turns. Each round begins with another one, so that a change of the
// machine's speed affects all alike.
package timing

import (
	"context"
	"time"
)

// Rounds is the number of rounds of a measurement.
const Rounds = 11

// Samples holds times of one call in nanoseconds, each the mean of Calls calls.
type Samples struct {
	Calls int
	NS    []float64
}

// A Timing is a function that is timed in turns with others.
type Timing struct {
	f           func() error
	derivatives int       // number of timed operations in one call of f
	calls       int       // calls of f in one sample
	turns       int       // number of rounds in which it is called
	ns          []float64 // samples: time of one operation
	err         error     // error of f, which ends its timing
}

// New returns a timing of f, one call of which performs per of the timed operations.
func New(f func() error, per int) *Timing { return &Timing{f: f, derivatives: per} }

// Err returns the first error of f, which ended its timing.
func (t *Timing) Err() error { return t.err }

// Samples returns the samples taken so far.
func (t *Timing) Samples() Samples {
	s := Samples{Calls: t.calls * t.derivatives}
	for _, ns := range t.ns {
		s.NS = append(s.NS, ns/float64(t.derivatives))
	}
	return s
}

// Calibrate determines the number of calls that takes a round's share of the budget. A function that takes longer is
// called once, in fewer rounds; one that takes more than a hundred budgets has the call of Calibrate as its only
// sample.
func (t *Timing) Calibrate(budget time.Duration) {
	slice := budget / Rounds
	once := time.Duration(0)
	for n := 1; ; n *= 2 {
		per, err := meanTime(t.f, n)
		if err != nil {
			t.err = err
			return
		}
		if took := time.Duration(per * float64(n)); took >= slice/4 || n >= 1<<24 {
			t.calls, once = max(1, int(float64(slice)/max(per, 1))), time.Duration(per)
			break
		}
	}
	t.turns = Rounds
	switch {
	case once > 100*budget:
		t.turns, t.ns = 0, append(t.ns, float64(once))
	case once > 10*budget:
		t.turns = 1
	case once > slice:
		t.turns = int(min(max(budget/once, 3), Rounds))
	}
}

// participates reports whether f is called in a round. Its turns are spread evenly over the rounds, beginning with the
// first.
func (t *Timing) participates(round int) bool { return round*t.turns%Rounds < t.turns }

// TakeTurns takes a sample of every timing that participates in a round. The first one changes from round to round. The
// error is that of ctx.
func TakeTurns(ctx context.Context, timings []*Timing, round int) error {
	for i := range timings {
		t := timings[(round+i)%len(timings)]
		if t.err != nil || !t.participates(round) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		ns, err := meanTime(t.f, t.calls)
		if t.err = err; err == nil {
			t.ns = append(t.ns, ns)
		}
	}
	return ctx.Err()
}

// meanTime returns the mean time of n calls.
func meanTime(f func() error, n int) (float64, error) {
	start := time.Now()
	for range n {
		if err := f(); err != nil {
			return 0, err
		}
	}
	return float64(time.Since(start)) / float64(n), nil
}
