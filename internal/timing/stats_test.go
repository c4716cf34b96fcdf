package timing

import (
	"math"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		v    []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 100}, 3.5}} {
		if got := Median(tt.v); got != tt.want {
			t.Errorf("Median(%v) = %v, want %v", tt.v, got, tt.want)
		}
	}
	if !math.IsNaN(Median(nil)) {
		t.Error("the median of nothing is a number")
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
		if got := Quantile(tt.v, tt.q); got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)) {
			t.Errorf("Quantile(%v, %v) = %v, want %v", tt.v, tt.q, got, tt.want)
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
		if got := Spread(tt.v); got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)) {
			t.Errorf("Spread(%v) = %v, want %v", tt.v, got, tt.want)
		}
	}
}
