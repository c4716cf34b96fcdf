package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

func TestStatistics(t *testing.T) {
	for _, tt := range []struct {
		v    []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 100}, 3.5}} {
		if got := median(tt.v); got != tt.want {
			t.Errorf("median(%v) = %v, want %v", tt.v, got, tt.want)
		}
	}
	if !math.IsNaN(median(nil)) {
		t.Error("the median of nothing is a number")
	}
	for _, tt := range []struct {
		got, want []float64
		err       float64
	}{
		{[]float64{1, 2}, []float64{1, 2}, 0},
		{[]float64{1, 5}, []float64{2, 4}, 0.25},
		{[]float64{0, 0}, []float64{0, 0}, 0},
		{[]float64{0, 0.5}, []float64{0, 0}, 0.5},
		{[]float64{math.NaN(), 4}, []float64{2, 4}, math.NaN()},
		{[]float64{math.Inf(1), 4}, []float64{2, 4}, math.Inf(1)},
	} {
		if got := relative(tt.got, tt.want); got != tt.err && !(math.IsNaN(got) && math.IsNaN(tt.err)) {
			t.Errorf("relative(%v, %v) = %v, want %v", tt.got, tt.want, got, tt.err)
		}
	}
}

func TestQuantiles(t *testing.T) {
	ten := []float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}
	for _, tt := range []struct {
		v       []float64
		q, want float64
	}{
		{ten, 0, 1}, {ten, 0.25, 3.25}, {ten, 0.5, 5.5}, {ten, 0.75, 7.75}, {ten, 1, 10},
		{[]float64{7}, 0.25, 7}, {[]float64{1, 2}, 0.25, 1.25}, {nil, 0.5, math.NaN()},
	} {
		if got := quantile(tt.v, tt.q); got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)) {
			t.Errorf("quantile(%v, %v) = %v, want %v", tt.v, tt.q, got, tt.want)
		}
	}
	if ten[0] != 10 {
		t.Error("the samples were sorted in place")
	}
	for _, tt := range []struct {
		v    []float64
		want float64
	}{
		{ten, 4.5 / 5.5},
		{[]float64{2, 2, 2}, 0},
		{[]float64{100, 100, 100, 100, 1e9}, 0}, // one outlier
		{[]float64{5}, math.NaN()},
		{nil, math.NaN()},
	} {
		if got := spread(tt.v); got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)) {
			t.Errorf("spread(%v) = %v, want %v", tt.v, got, tt.want)
		}
	}
	if got := geometricMean([]float64{1, math.NaN(), 100}); math.Abs(got-10) > 1e-12 {
		t.Errorf("the geometric mean of 1 and 100 is %v", got)
	}
	if got := geometricMean(nil); !math.IsNaN(got) {
		t.Errorf("the geometric mean of nothing is %v", got)
	}
}

func TestBreakEven(t *testing.T) {
	nan, never := math.NaN(), math.Inf(1)
	row := func(prepare, call, once float64) Row {
		return Row{PrepareNS: prepare, DerivativeNS: call, UnpreparedNS: once, OK: true}
	}
	approximate := func(r Row) Row { r.Approximate = true; return r }
	wrong := func(r Row) Row { r.OK = false; return r }
	for _, tt := range []struct {
		name string
		rows []Row
		want []float64
	}{
		{"against itself", []Row{row(100, 10, 30)}, []float64{5}},
		{"between two calls", []Row{row(101, 10, 30)}, []float64{6}},
		{"at once", []Row{row(5, 10, 30)}, []float64{1}},
		{"free", []Row{row(0, 10, 30)}, []float64{1}},
		{"against another", []Row{row(100, 10, 500), row(1, 60, 60)}, []float64{2, never}},
		{"never", []Row{row(100, 30, 30)}, []float64{never}},
		{"approximations are no alternative", []Row{row(100, 10, 500), approximate(row(1, 8, 20))}, []float64{1, 1}},
		{"but have one", []Row{row(100, 10, 20), approximate(row(30, 10, 500))}, []float64{10, 3}},
		{"wrong ones are none", []Row{row(100, 10, 60), wrong(row(1, 1, 1))}, []float64{2, nan}},
		{"not measured", []Row{row(100, 10, nan)}, []float64{nan}},
	} {
		rows := slices.Clone(tt.rows)
		breakEven(rows)
		for i, want := range tt.want {
			got := rows[i].BreakEven
			if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%s: row %d breaks even after %v calls, want %v", tt.name, i, got, want)
			}
			// The definition, in other words.
			if k := got; k >= 1 && !math.IsInf(k, 1) {
				alternative := tt.rows[i].UnpreparedNS
				for _, r := range tt.rows {
					if r.OK && (tt.rows[i].Approximate || !r.Approximate) {
						alternative = min(alternative, r.UnpreparedNS)
					}
				}
				pays := func(k float64) bool { return rows[i].PrepareNS+k*rows[i].DerivativeNS <= k*alternative }
				if !pays(k) || k > 1 && pays(k-1) {
					t.Errorf("%s: row %d: %v is not the smallest number of calls", tt.name, i, k)
				}
			}
		}
	}
}

// TestTurns looks at who is timed when.
func TestTurns(t *testing.T) {
	var order []string
	named := func(name string, turns int) *timing {
		return &timing{calls: 2, per: 1, turns: turns, f: func() error { order = append(order, name); return nil }}
	}
	a, b, c := named("a", rounds), named("b", rounds), named("c", 3)
	broken := &timing{calls: 1, per: 1, turns: rounds, f: func() error { return errBroken }}
	for round := range rounds {
		before := len(order)
		if err := takeTurns(t.Context(), []*timing{a, b, c, broken}, round); err != nil {
			t.Fatal(err)
		}
		if first := []string{"a", "b", "c", "a"}[round%4]; order[before] != first && !(first == "c" && !c.takesPart(round)) {
			t.Errorf("round %d begins with %s, want %s", round, order[before], first)
		}
	}
	if len(a.ns) != rounds || len(b.ns) != rounds || len(c.ns) != 3 || len(broken.ns) != 0 || !errors.Is(broken.err, errBroken) {
		t.Errorf("%d, %d, %d and %d samples, error %v", len(a.ns), len(b.ns), len(c.ns), len(broken.ns), broken.err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := takeTurns(ctx, []*timing{a}, 0); !errors.Is(err, context.Canceled) || len(a.ns) != rounds {
		t.Errorf("after an interruption: %v, %d samples", err, len(a.ns))
	}
	for turns := 1; turns <= rounds; turns++ {
		n := 0
		for round := range rounds {
			if (&timing{turns: turns}).takesPart(round) {
				n++
			}
		}
		if n != turns || !(&timing{turns: turns}).takesPart(0) {
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
		{50 * time.Microsecond, 110 * time.Millisecond, false, rounds},
		{4 * time.Millisecond, 11 * time.Millisecond, true, 3},
		{12 * time.Millisecond, time.Millisecond, true, 1},
	} {
		t.Run(fmt.Sprint(tt.sleep), func(t *testing.T) {
			s := &timing{per: 1, f: func() error { time.Sleep(tt.sleep); return nil }}
			s.calibrate(tt.budget)
			if s.err != nil || s.turns != tt.turns || tt.few != (s.calls == 1) {
				t.Errorf("%d calls in %d rounds, error %v, want %d rounds", s.calls, s.turns, s.err, tt.turns)
			}
		})
	}
	s := &timing{f: func() error { return errBroken }}
	if s.calibrate(time.Millisecond); !errors.Is(s.err, errBroken) {
		t.Errorf("error %v", s.err)
	}
}

// TestSamples divides by the derivatives that one call computes.
func TestSamples(t *testing.T) {
	s := (&timing{per: 1000, calls: 3, ns: []float64{2000, 4000}}).samples()
	if s.Calls != 3000 || !slices.Equal(s.NS, []float64{2, 4}) {
		t.Errorf("%+v", s)
	}
}
