package bench

import (
	"math"
	"slices"
	"testing"
)

func TestStatistics(t *testing.T) {
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

func TestGeometricMean(t *testing.T) {
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
