package timing

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

var errBroken = errors.New("broken")

// TestTurns checks which functions are called in each round, and in which order.
func TestTurns(t *testing.T) {
	var order []string
	named := func(name string, turns int) *Timing {
		return &Timing{
			calls:       2,
			derivatives: 1,
			turns:       turns,
			f:           func() error { order = append(order, name); return nil },
		}
	}
	a, b, c := named("a", Rounds), named("b", Rounds), named("c", 3)
	broken := &Timing{calls: 1, derivatives: 1, turns: Rounds, f: func() error { return errBroken }}
	for round := range Rounds {
		before := len(order)
		if err := TakeTurns(t.Context(), []*Timing{a, b, c, broken}, round); err != nil {
			t.Fatal(err)
		}
		if first := []string{"a", "b", "c", "a"}[round%4]; order[before] != first &&
			!(first == "c" && !c.participates(round)) {
			t.Errorf("round %d begins with %s, want %s", round, order[before], first)
		}
	}
	if len(a.ns) != Rounds || len(b.ns) != Rounds || len(c.ns) != 3 || len(broken.ns) != 0 ||
		!errors.Is(broken.err, errBroken) {
		t.Errorf("%d, %d, %d and %d samples, error %v", len(a.ns), len(b.ns), len(c.ns), len(broken.ns), broken.err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := TakeTurns(ctx, []*Timing{a}, 0); !errors.Is(err, context.Canceled) || len(a.ns) != Rounds {
		t.Errorf("after an interruption: %v, %d samples", err, len(a.ns))
	}
	for turns := 1; turns <= Rounds; turns++ {
		n := 0
		for round := range Rounds {
			if (&Timing{turns: turns}).participates(round) {
				n++
			}
		}
		if n != turns || !(&Timing{turns: turns}).participates(0) {
			t.Errorf("%d turns of %d", n, turns)
		}
	}
}

// TestCalibrate times sleeps: how often and in how many rounds they are called.
func TestCalibrate(t *testing.T) {
	for _, tt := range []struct {
		sleep, budget time.Duration
		few           bool
		turns         int
	}{
		{50 * time.Microsecond, 110 * time.Millisecond, false, Rounds},
		{4 * time.Millisecond, 11 * time.Millisecond, true, 3},
		{12 * time.Millisecond, time.Millisecond, true, 1},
		{120 * time.Millisecond, time.Millisecond, true, 0},
	} {
		synctest.Test(t, func(t *testing.T) { // whose clock is that of the sleeps alone
			s := &Timing{derivatives: 1, f: func() error { time.Sleep(tt.sleep); return nil }}
			s.Calibrate(tt.budget)
			if s.err != nil || s.turns != tt.turns || tt.few != (s.calls == 1) {
				t.Errorf("%v: %d calls in %d rounds, error %v, want %d rounds", tt.sleep, s.calls, s.turns, s.err,
					tt.turns)
			}
			if samples := len(s.Samples().NS); samples > 0 != (tt.turns == 0) {
				t.Errorf("%v: %d samples before the first round", tt.sleep, samples)
			}
		})
	}
	s := &Timing{f: func() error { return errBroken }}
	if s.Calibrate(time.Millisecond); !errors.Is(s.err, errBroken) {
		t.Errorf("error %v", s.err)
	}
}

// TestSamples checks that samples are divided by the number of operations of one call.
func TestSamples(t *testing.T) {
	s := (&Timing{derivatives: 1000, calls: 3, ns: []float64{2000, 4000}}).Samples()
	if s.Calls != 3000 || !slices.Equal(s.NS, []float64{2, 4}) {
		t.Errorf("%+v", s)
	}
}
