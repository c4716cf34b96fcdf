// Package timing times several things in turn, in rounds that each begin with another
// one, so that a machine whose speed changes changes all of them alike.
package timing

import (
	"context"
	"time"
)

// Rounds is how often all that is timed takes turns.
const Rounds = 11

// Samples are times of one call in nanoseconds, each the mean of Calls calls.
type Samples struct {
	Calls int
	NS    []float64
}

// A Timing is something that is timed in turn with others.
type Timing struct {
	f     func() error
	per   int       // how many of what is timed f does
	calls int       // of f, for one sample
	turns int       // of the rounds, in how many it takes part
	ns    []float64 // a sample each: the time of one of the calls
	err   error     // that of f, which ends its timing
}

// New returns the timing of f, which does per times what is timed.
func New(f func() error, per int) *Timing { return &Timing{f: f, per: per} }

// Err is the first error of f, which ended its timing.
func (t *Timing) Err() error { return t.err }

// Samples are those taken so far.
func (t *Timing) Samples() Samples {
	s := Samples{Calls: t.calls * t.per}
	for _, ns := range t.ns {
		s.NS = append(s.NS, ns/float64(t.per))
	}
	return s
}

// Calibrate finds how many calls fill a round's share of the budget. What takes
// longer than that is called once in fewer rounds.
func (t *Timing) Calibrate(budget time.Duration) {
	slice := budget / Rounds
	once := time.Duration(0)
	for n := 1; ; n *= 2 {
		per, err := repeat(t.f, n)
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
	case once > 10*budget:
		t.turns = 1
	case once > slice:
		t.turns = int(min(max(budget/once, 3), Rounds))
	}
}

// takesPart spreads the turns evenly over the rounds, the first one included.
func (t *Timing) takesPart(round int) bool { return round*t.turns%Rounds < t.turns }

// TakeTurns takes a sample of everything that takes part in a round. Each round
// begins with another one. The error is that of ctx.
func TakeTurns(ctx context.Context, timings []*Timing, round int) error {
	for i := range timings {
		t := timings[(round+i)%len(timings)]
		if t.err != nil || !t.takesPart(round) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		ns, err := repeat(t.f, t.calls)
		if t.err = err; err == nil {
			t.ns = append(t.ns, ns)
		}
	}
	return ctx.Err()
}

// repeat is the time of one of n calls.
func repeat(f func() error, n int) (float64, error) {
	start := time.Now()
	for range n {
		if err := f(); err != nil {
			return 0, err
		}
	}
	return float64(time.Since(start)) / float64(n), nil
}
