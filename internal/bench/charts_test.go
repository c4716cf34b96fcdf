package bench

import (
	"math"
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

func TestSummaries(t *testing.T) {
	got := engineFigures(sample().Rows)
	if len(got) != 5 {
		t.Fatalf("%d engines", len(got))
	}
	f, r, liar := got[0], got[1], got[2]
	if f.engine != "forwarddiff" || f.rows != 2 || f.ok != 2 || f.fastest != 0 || f.firstOnce != 1 || r.fastest != 2 ||
		r.firstOnce != 1 {
		t.Errorf("%+v\n%+v", f, r)
	}
	if want := math.Sqrt(4 * 61.25e6 / 8123.456789); math.Abs(f.ratio/want-1) > 1e-12 || f.least != 4 {
		t.Errorf("ratio %v, want %v; smallest %v", f.ratio, want, f.least)
	}
	if liar.ok != 0 || liar.rows != 1 || !math.IsNaN(liar.ratio) {
		t.Errorf("%+v", liar)
	}
}
