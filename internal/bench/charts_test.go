package bench

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestDecades(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   Decades
		ok     bool
	}{
		{[]float64{10, 1000}, Decades{1, 3}, true},
		{[]float64{9, 1001}, Decades{0, 4}, true},
		{[]float64{100}, Decades{2, 3}, true},
		{[]float64{5, math.Inf(1), math.NaN(), 0, -1}, Decades{0, 1}, true},
		{nil, Decades{0, 1}, false},
		{[]float64{math.Inf(1)}, Decades{0, 1}, false},
	} {
		if got, ok := decades(tt.values); got != tt.want || ok != tt.ok {
			t.Errorf("decades(%v) = %v, %v, want %v, %v", tt.values, got, ok, tt.want, tt.ok)
		}
	}
	for from := -2; from < 3; from++ {
		for n := 1; n < 12; n++ {
			ticks := Decades{from, from + n}.Ticks(5)
			if len(ticks) > 6 || ticks[0] != math.Pow10(from) || n <= 5 && len(ticks) != n+1 {
				t.Errorf("ticks of %d decades: %v", n, ticks)
			}
		}
	}
}

func TestCharts(t *testing.T) {
	var titles []string
	for _, c := range Charts(sample().Rows) {
		titles = append(titles, c.Section+": "+c.Title)
		if c.X.From >= c.X.To || len(c.Engines) != 5 || (c.Curves == nil) == (c.Dots == nil) {
			t.Errorf("%s: %+v", c.Title, c)
		}
		for _, d := range c.Dots {
			if d.Line >= len(c.Lines) || d.Engine < 0 || d.Engine >= len(c.Engines) || d.Text == "" {
				t.Errorf("%s: dot %+v", c.Title, d)
			}
			if c.Engines[d.Engine] == "liar" {
				t.Errorf("%s: a wrong derivative is plotted", c.Title)
			}
		}
	}
	want := []string{
		"Time against n: T1, sum of squares: Prepared call", "Time against n: T1, sum of squares: Unprepared call",
		"Ratio to the plain function: Prepared call", "Ratio to the plain function: Unprepared call",
		"Preparation: Preparation time", "Preparation: Break-even",
	}
	if !slices.Equal(titles, want) {
		t.Errorf("charts %q, want %q", titles, want)
	}
	if got := Charts(nil); got != nil {
		t.Errorf("charts of nothing: %v", got)
	}
	if got := Charts(sample().Rows[4:6]); got != nil {
		t.Errorf("charts without a time: %v", got)
	}
}

// TestCurves checks that curves are in the order of n, whatever the order of the rows, and omit failed rows.
func TestCurves(t *testing.T) {
	rows := []Row{
		timedRow(
			"T3",
			"Rosenbrock",
			100,
			"one",
			2,
			20,
			200,
			1,
		), timedRow("T3", "Rosenbrock", 100, "two", 2, 30, 300, 1),
		timedRow("T3", "Rosenbrock", 10, "one", 1, 10, 100, 1), timedRow("T3", "Rosenbrock", 10, "two", 1, 15, 150, 1),
	}
	rows[3].OK = false
	rows[0].Hessian = true
	c := Charts(rows)[0]
	if len(c.Curves) != 3 || !slices.Equal(c.Curves[0].N, []int{10, 100}) || c.Curves[0].Engine != -1 ||
		!slices.Equal(c.Curves[1].NS, []float64{10, 20}) || !slices.Equal(c.Curves[2].N, []int{100}) {
		t.Errorf("%+v", c.Curves)
	}
	if !strings.HasPrefix(c.Note, "A Hessian") {
		t.Errorf("note %q", c.Note)
	}
	if c.X != (Decades{1, 2}) || c.Y != (Decades{0, 3}) {
		t.Errorf("axes %v and %v: both charts have the same", c.X, c.Y)
	}
}

// TestGlances compares engines in the same tasks alone: one that lacks a task has no mean, and says which.
func TestGlances(t *testing.T) {
	all := glances(sample().Rows)
	if len(all) != 1 || len(all[0].tasks) != 5 || len(all[0].lines) != 5 {
		t.Fatalf("%+v", all)
	}
	for _, l := range all[0].lines {
		if !math.IsNaN(l.mean) {
			t.Errorf("%s has the mean %v without all tasks", l.engine, l.mean)
		}
	}
	both := glances(sample().Rows[:4])[0]
	r, f := both.lines[0], both.lines[1]
	if f.engine != "forwarddiff" || f.fastest != 0 || r.fastest != 2 {
		t.Errorf("%+v\n%+v", f, r)
	}
	if want := math.Sqrt(4 * 61.25e6 / 8123.456789); math.Abs(f.mean/want-1) > 1e-12 {
		t.Errorf("mean %v, want %v", f.mean, want)
	}
	without := glances(sample().Rows[:3])[0]
	if missing := without.missing(without.lines[1]); without.lines[1].engine != "reversediff(compile)" ||
		!slices.Equal(missing, []string{"T1 n=10000"}) {
		t.Errorf("%s lacks %q", without.lines[1].engine, missing)
	}
	sparse := glances(sparseSample().Rows)
	if len(sparse) != 2 || len(sparse[1].tasks) != 1 || sparse[1].lines[0].engine != "sparse(reversediff(compile))" {
		t.Errorf("%+v", sparse)
	}
}

// TestPlacement: labels keep their order and distance within the limits, and marks in one lane do not touch.
func TestPlacement(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		n := 1 + rng.IntN(15)
		at := make([]float64, n)
		for i := range at {
			at[i] = 10 + 180*rng.Float64()*rng.Float64()
		}
		got := spread(at, 12, 10, 200)
		for i := range got {
			if got[i] < 10-1e-9 || got[i] > 200+1e-9 {
				t.Fatalf("%v spread to %v", at, got)
			}
			for j := range got {
				if i != j && (math.Abs(got[i]-got[j]) < 12-1e-9 || (at[i] < at[j]) != (got[i] < got[j])) {
					t.Fatalf("%v spread to %v", at, got)
				}
			}
		}
		lane := lanes(at, 3, 9)
		for i := range lane {
			before, same := 0, false // marks less than 9 before this one
			for j := range lane {
				if i != j && at[j] <= at[i] && at[i]-at[j] < 9 {
					before++
					same = same || lane[i] == lane[j]
				}
			}
			if before <= 2 && same {
				t.Fatalf("marks at %v are in lanes %v", at, lane)
			}
		}
	}
	if got := lanes([]float64{5, 50, 52, 54}, 3, 9); got[0] != 1 || got[1] != 1 || got[2] == got[3] {
		t.Errorf("lanes %v", got)
	}
	if got := spread([]float64{1, 1, 1}, 10, 0, 10); !slices.Equal(got, []float64{0, 5, 10}) {
		t.Errorf("without room: %v", got)
	}
}
